"""What the rules say of the functions that hold an operation they listen to."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from functools import lru_cache, partial
from itertools import pairwise
from typing import TYPE_CHECKING

from pt2lint.finding import Finding, Fix, Problem, Step
from pt2lint.op import Range
from pt2lint.static.facts import Notes
from pt2lint.static.interpreter.guards import BESIDE, BY_HAND, ONCE, RARE
from pt2lint.static.source.data import SMALL
from pt2lint.static.source.modules import Module
from pt2lint.static.source.nodes import Unit

if TYPE_CHECKING:
    from pt2lint.op import Op
    from pt2lint.rule import FunctionCode, Rule
    from pt2lint.rule.written import Shelf

Place = tuple[str, int]
KindsIn = Callable[[tuple[int, int]], Mapping[Range, str]]
Listeners = dict[str, list["type[Rule]"]]


def findings_in(
    module: Module,
    notes: Mapping[str, Notes],
    rules: Sequence[type[Rule]],
    target: tuple[int, int],
    problems: list[Problem],
    left: set[Place],
    cut: dict[Place, int],
    ends: dict[Place, list[Finding]],
    kinds: KindsIn | None = None,
    go_on: Callable[[], None] = lambda: None,
    shelf: Shelf | None = None,
) -> Iterator[Finding]:
    """Run the rules over each function of the module that holds an operation they accept.

    `left` are the functions that Dynamo leaves to Python, `cut` those that a break cuts in two, or what they call, with
    the line of their own first such break: such a function is no part of its caller's graph. `ends` has the breaks by
    the lines that hold them or lead to them. The rules about breaks add to all three. `kinds` says of the expressions
    of the function at some lines what they are; fixes ask for it. `shelf` keeps what was parsed.

    A rule that raises loses what it has not yet reported and nothing else; `problems` gets a line that says so.
    """
    from pt2lint.rule import FunctionCode, GraphBreak

    listening = listeners(tuple(rules))
    for (first, last), ops in notes.get(module.path, {}).items():
        go_on()
        wanted = [*to_read(listening, ops, module, problems)]
        if not wanted:
            continue
        told: set[tuple[object, ...]] = set()  # an object of either of two classes is one to who reads
        text = module.as_written(first, last)
        code = FunctionCode(module.path, text, first, tuple(ops), target, module.imports, module.import_line)
        code.functions, code.source, code.indent = module.functions, module.text, module.indent
        code.breaks = frozenset(op.range for rule, op in wanted if issubclass(rule, GraphBreak))
        code.broken = partial(_broken, code, wanted, listening)
        code.left, code.cut, code.ends, code.shelf = left, cut, ends, shelf
        code.file_tree = module.tree if len(module.text) < SMALL else None
        code.kinds = partial(kinds, (first, last)) if kinds is not None else None
        for rule, op in wanted:
            if rule.about_guards and code.leaves(op):
                continue
            try:
                instance = rule(code)
                if not instance.concerns(op):
                    continue
            except Exception as e:
                problems.append(_failed(rule, op, module, e))
                continue
            try:
                node = code.node_at(op.range)
            except Exception:  # LibCST has its own error, and may go too deep
                problems.append(
                    Problem(module.path, "LibCST cannot read this function, and nothing is said of it", first)
                )
                break
            if node is not None:
                try:
                    instance.check(node, op)
                except Exception as e:
                    problems.append(_failed(rule, op, module, e))
                found = instance.findings
                if found and issubclass(rule, GraphBreak):
                    left.update(_left(op, module.path, (first, last), notes))
                    for place, line in _cut(op, module.path, (first, last), notes):
                        cut[place] = min(line, cut.get(place, sys.maxsize))
                    for place in _ends(op, module.path):
                        ends.setdefault(place, []).append(found[0])
                for f in found:
                    same = (f.code, f.line, f.column, f.message, f.when, f.confidence)
                    if same not in told and not any(_has(module, fix) for fix in f.fixes):
                        told.add(same)
                        yield f


def _broken(code: FunctionCode, wanted: Iterable[tuple[type[Rule], Op]], listening: Listeners) -> set[int]:
    """The lines of the function where the graph breaks: where rules of breaks report, however an operation is called;
    what no rule that runs listens to breaks as it was measured."""
    from pt2lint.rule import EFFORT, GraphBreak, breaks_on, measured
    from pt2lint.rule.tree import effort

    known = measured()[1]
    unheard = (op for op in code.ops if op.name in known and op.name not in listening)
    found = {op.line for op in unheard if breaks_on(op.name, code.target, op.whole)}
    bare = copy(code)  # with the trees that are parsed
    bare.effort, bare.memo = 0, {}  # no fixes
    for rule, op in wanted:
        if op.line not in found and issubclass(rule, GraphBreak):
            with suppress(Exception), effort(EFFORT):  # it fails once more where it is reported
                instance, node = rule(bare), bare.node_at(op.range)
                if node is not None and instance.concerns(op):
                    instance.check(node, op)
                    found |= {op.line} if instance.findings else set()
    return found


def _left(op: Op, path: str, lines: Unit, notes: Mapping[str, Notes]) -> Iterator[Place]:
    """The function, by path and first line, that a break has Dynamo leave to Python, if it stands in a loop, a `try` or
    a `with`, or is called from there: what it calls is compiled by itself. In a checkpoint nothing is."""
    if (op.inside or op.within) and op.sure and not op.rare:
        yield path, lines[0]
    elif op.caller and op.sure and not op.rare:
        yield from _caller(op, notes)


def _cut(op: Op, path: str, lines: Unit, notes: Mapping[str, Notes]) -> Iterator[tuple[Place, int]]:
    """The function in which a break stands, with its line if it cuts the function in two, and those on the way."""
    once = op.rare == RARE[ONCE]  # it does at the first call
    if op.sure and (once or not op.rare):
        yield (path, lines[0]), sys.maxsize if op.inside or op.within else op.line
        for step in () if once else op.flow[1:]:
            for place in _around(step, notes):
                yield place, sys.maxsize


def _ends(op: Op, path: str) -> Iterator[Place]:
    """The line of a break, and those of the calls that lead to it; one in a `backward` is met by all who train."""
    if op.sure and op.rare in ("", BESIDE[BY_HAND]):
        yield path, op.line
        for step in op.flow[1:]:
            yield step.path, step.line


def _around(step: Step, notes: Mapping[str, Notes]) -> Iterator[Place]:
    """The function whose lines hold the step's."""
    for first, last in notes.get(step.path, ()):
        if first <= step.line <= last:
            yield step.path, first


def _caller(op: Op, notes: Mapping[str, Notes]) -> Iterator[Place]:
    """The function that `op.caller` names, which stands on the way from the root."""
    wanted = op.caller.rpartition(" of ")[2].rpartition(" made in ")[2]
    for step, after in pairwise(op.flow):
        if (
            f"{step.message} ".partition("calls ")[2].strip() == wanted
            or step.message == f"{wanted} is compiled"
        ):
            yield from _around(after, notes)


def _has(module: Module, fix: Fix) -> bool:
    """Whether all that the fix would do is to insert lines that the file has: a setting that is made already."""
    wanted = [line for edit in fix.edits for line in edit.text.split("\n") if line]
    inserts = all((edit.line, edit.column) == (edit.end_line, edit.end_column) for edit in fix.edits)
    # A setting holds for the whole file, a decorator for the function that it stands on.
    plain = not any(line.lstrip().startswith("@") for line in wanted)
    return inserts and plain and bool(wanted) and all(module.holds(line) for line in wanted)


@lru_cache(maxsize=16)  # each file asks for the same
def listeners(rules: tuple[type[Rule], ...]) -> Listeners:
    """The rules by the operations that they listen to."""
    found: Listeners = {}
    for rule in rules:
        for name in dict.fromkeys(rule.ops):
            found.setdefault(name, []).append(rule)
    return found


def to_read(
    listening: Listeners, ops: Iterable[Op], module: Module, problems: list[Problem]
) -> Iterator[tuple[type[Rule], Op]]:
    """The operations that a rule is to read."""
    for op in ops:
        for rule in listening.get(op.name, ()):
            if (op.region or rule.anywhere) and _accepts(rule, op, module, problems):
                yield rule, op


def _accepts(rule: type[Rule], op: Op, module: Module, problems: list[Problem]) -> bool:
    try:
        return rule.accepts(op)
    except Exception as e:
        problems.append(_failed(rule, op, module, e))
        return False


def _failed(rule: type[Rule], op: Op, module: Module, error: Exception) -> Problem:
    return Problem(module.path, f"rule {rule.code} failed here ({error_in(error)})", op.line)


def error_in(error: Exception) -> str:
    """An unexpected error in one line, with the place in pt2lint that a report of it needs."""
    import traceback

    last = traceback.extract_tb(error.__traceback__)[-1]
    text = str(error).split("\n", 1)[0]
    return f"{type(error).__name__}: {text}, at {os.path.basename(last.filename)}:{last.lineno}; please report it"
