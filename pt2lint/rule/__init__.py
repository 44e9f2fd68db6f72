"""What a rule is: one class, one file in `rules/`, and all that it needs to know about the code it reads.

The engine interprets each function that Dynamo will trace and notes *operations* in it: "`torch.Tensor.item` is
called here", "a tensor is tested for truth here" (pt2lint/op.py lists them). A rule names the operations it
listens to, and its `check` is handed each one with the LibCST node at that place. So a rule matches by meaning,
never by spelling, and its fixes keep the user's formatting.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import re
import sys
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import libcst as cst

from pt2lint.finding import (
    ASIDE,
    BY_ROW,
    EDGE,
    NESTED,
    OPTIONAL,
    RECORDED,
    Applicability,
    Confidence,
    Edit,
    Finding,
    Fix,
    Price,
    RulePage,
    Severity,
    Step,
)
from pt2lint.op import ARRAY, DREW, Op, Range
from pt2lint.rule import tree
from pt2lint.rule.records import ends_in_records
from pt2lint.rule.rows import counts_turns, is_nested, is_row_by_row, reads_row
from pt2lint.rule.written import Shelf, Written
from pt2lint.said import place_in

EFFORT = (
    500_000  # nodes that the repairs of one function may look at, ten times what they do in ordinary code
)
BLOCKS = (
    "inside a `try`",
    "inside a `with`",
)  # how it is said of a call from where Dynamo leaves only what follows
CAPTURED = "where `fullgraph=True` captures it"  # the note of what is no break there
QUOTED = 72  # characters of code that a message repeats


@dataclass
class FunctionCode:
    """One function as rules see it: its LibCST tree, positions in the file, and the operations in it.

    `text` is the function's source, whole lines from `first_line` on, at any indentation.
    """

    path: str
    text: str
    first_line: int
    ops: tuple[Op, ...]
    target: tuple[int, int]
    imports: Mapping[str, str] = field(default_factory=dict)
    import_line: int = 1
    functions: Container[str] = ()  # names of functions that the file defines at its top
    source: str = ""  # the whole file
    file_tree: ast.Module | None = None  # of it, where somebody has parsed it
    memo: dict[str, Any] = field(default_factory=dict)  # what repairs found out, for the next one
    effort: int = EFFORT
    kinds: Callable[[], Mapping[Range, str]] | None = (
        None  # the interpreter's words (Op.args) for expressions
    )
    indent: str = ""  # of a block of the file, "" where it has none
    breaks: frozenset[Range] = frozenset()  # where rules are told that the graph breaks
    broken: Callable[[], set[int]] = set  # the lines where they say so
    # Functions of any file that Dynamo leaves to Python, by path and first line: a break stands in a loop there.
    left: Container[tuple[str, int]] = ()
    # Those that a break cuts in two, or what they call, with the line of their own first such break: no part of their
    # caller's graph.
    cut: Mapping[tuple[str, int], int] = field(default_factory=dict)
    # The breaks by path and line: where they stand, and each call that leads there.
    ends: Mapping[tuple[str, int], list[Finding]] = field(default_factory=dict)
    shelf: Shelf | None = None  # keeps trees from one lint to the next

    @property
    def is_left(self) -> bool:
        """Whether Dynamo leaves the function to Python, and compiles by itself what it calls."""
        return (self.path, self.first_line) in self.left

    def leaves(self, op: Op) -> bool:
        """Whether Dynamo leaves the function to Python before it compiles what the operation is about."""
        place = (self.path, self.first_line)
        return self.is_left and not op.line <= self.cut.get(place, sys.maxsize) < sys.maxsize

    @cached_property
    def written(self) -> Written:
        """The function's tree, with positions."""
        if self.shelf is not None:
            return self.shelf.written(self.text, self.indent)
        return Written(self.text, self.indent)

    @property
    def code(self) -> str:
        """The text as a module of its own, which a header line makes of source at any indentation."""
        return self.written.code

    @property
    def module(self) -> cst.Module:
        return self.written.module

    @cached_property
    def _ops_at(self) -> Mapping[Range, list[Op]]:
        ops: dict[Range, list[Op]] = {}
        for op in self.ops:
            ops.setdefault(op.range, []).append(op)
        return ops

    def range(self, node: cst.CSTNode) -> Range:
        """Where the node stands in the file."""
        line, column, end_line, end_column = self.written.positions[node]
        shift = self.first_line - 2
        return (line + shift, column + 1, end_line + shift, end_column + 1)

    def node_at(self, place: Range) -> cst.CSTNode | None:
        line, column, end_line, end_column = place
        shift = self.first_line - 2
        return self.written.nodes.get((line - shift, column - 1, end_line - shift, end_column - 1))

    def ops_at(self, node: cst.CSTNode) -> list[Op]:
        """All operations noted at a node, whichever rule listens to them."""
        return self._ops_at.get(self.range(node), [])

    def parent(self, node: cst.CSTNode) -> cst.CSTNode | None:
        return self.written.parents.get(node)


class Rule:
    """Base of all rules. The docstring is the rule's page: a first line, then the sections

    `## What happens`, `## Example` and `## Use instead` (a python block each, both run under Dynamo by the
    tests) and `## Versions`.
    """

    code: ClassVar[str]
    name: ClassVar[str]
    ops: ClassVar[tuple[str, ...]]
    anywhere: ClassVar[bool] = False  # also hear of operations in code that Dynamo does not trace
    about_guards: ClassVar[bool] = False  # of the function's own: nothing is said where it is left to Python
    asks_what_is_left: ClassVar[bool] = False  # to Python (FunctionCode.left): run once all breaks are known
    asks_kinds: ClassVar[bool] = True  # of expressions (FunctionCode.kinds), as most repairs do
    # About what no graph holds, however it is written: see `is_aside`.
    aside: ClassVar[Literal["", "always", "row by row"]] = ""
    uncompiled: ClassVar[str] = ""  # why every finding is a note where nothing says that it is compiled
    severity: Severity = "warning"
    graph_breaks: ClassVar[tuple[str, ...]] = ()
    # What to write by hand where nothing repairs it, by how the operation's name begins ("" for any): a clause.
    instead: ClassVar[Mapping[str, str]] = MappingProxyType({})

    def __init__(self, function: FunctionCode) -> None:
        self.function = function
        self.findings: list[Finding] = []

    @classmethod
    def accepts(cls, op: Op) -> bool:
        """Whether an operation that the rule listens to can lead to a finding: asked before LibCST parses
        anything, so what `op.args` can decide is best decided here."""
        return True

    def concerns(self, op: Op) -> bool:
        """Whether `check` may report the operation, as far as that shows without the function's tree: where no rule is
        concerned, the function is not parsed."""
        return True

    def is_aside(self, node: cst.CSTNode, op: Op) -> bool:
        """Whether no graph holds the operation, however it is written, so that it is a note where nothing says that it
        is compiled and no repair is offered."""
        if op.why.startswith(DREW) or ARRAY in op.why or op.name.startswith("call numpy."):
            return True
        return self.aside == "always" or (
            self.aside == "row by row" and is_row_by_row(self.function, node, op)
        )

    def beside(self, node: cst.CSTNode, op: Op, repaired: bool) -> str:
        """Why the finding is a note where nothing says that the operation is compiled, "" if it is none; `repaired`: a
        repair is offered that an editor can write."""
        return self.uncompiled or (ASIDE if self.is_aside(node, op) and not repaired else "")

    def led_to(self, op: Op, place: str, message: str) -> Op:
        """The operation with one more step in its flow, at that place ("PATH:LINE"), where one is named."""
        at = place_in(place)
        return op if at is None else op._replace(flow=(*op.flow, Step(*at, message)))

    @classmethod
    def page(cls) -> RulePage:
        text = inspect.cleandoc(cls.__doc__ or "")
        return RulePage(
            cls.code, cls.name, text.split("\n", 1)[0], text, cls.severity, tuple(cls.graph_breaks)
        )

    def check(self, node: cst.CSTNode, op: Op) -> None:
        """Look at an operation that the rule listens to, and report it if it is what the rule is about."""
        raise NotImplementedError

    def text(self, node: cst.CSTNode) -> str:
        """The node's source as it stands."""
        return self.function.module.code_for_node(node)

    def quote(self, node: cst.CSTNode) -> str:
        """The node's source for a message: one line, in backticks, cut where it is long."""
        text = one_line(self.text(node))
        return f"`{text if len(text) <= QUOTED else text[: QUOTED - 3] + '...'}`"

    def local_name(self, qualified: str) -> str | None:
        """How this file spells an imported name ("torch" may be `t`), or None if it does not import it."""
        for local, target in self.function.imports.items():
            if target == qualified:
                return local
            if qualified.startswith(target + "."):
                return local + qualified[len(target) :]
        return None

    def statement(self, node: cst.CSTNode) -> cst.CSTNode:
        """The simple statement line or compound statement that holds the node."""
        here: cst.CSTNode | None = node
        while here is not None and not isinstance(here, cst.SimpleStatementLine | cst.BaseCompoundStatement):
            here = self.function.parent(here)
        return here if here is not None else node

    def edit(self, node: cst.CSTNode, text: str) -> Edit:
        """Replace the node (without the parentheses around it) by `text`."""
        return Edit(self.function.path, *self.function.range(node), text)

    def import_edit(self, statement: str) -> Edit:
        """Add an import statement after the file's other imports."""
        line = self.function.import_line
        return Edit(self.function.path, line, 1, line, 1, statement + "\n")

    def fix(
        self,
        description: str,
        *edits: Edit,
        applicability: Applicability = "unsafe",
        by_hand: bool = False,
    ) -> Fix:
        from pt2lint.fixes.rewrite import laid_out

        return Fix(description, applicability, laid_out(self.function, edits), by_hand=by_hand)

    def price(self, op: Op) -> Price | None:
        """What the finding costs, as far as reading tells; None where there is nothing to say."""
        return None

    def report(
        self,
        node: cst.CSTNode,
        op: Op,
        message: str,
        *,
        fixes: Iterable[Fix] = (),
        severity: Severity | None = None,
    ) -> None:
        """Add a finding at the node. `message` is one sentence with the offending code in backticks.

        A repair that raises does so once the finding is added: it costs the fixes and nothing else.
        """
        trouble: Exception | None = None
        offered: list[Fix] = []
        with tree.effort(self.function.effort) as left:
            try:
                if self.function.effort > 0:
                    offered.extend(self._or_by_hand(op, fixes))
            except tree.TooMuch:
                pass  # the finding stands, with the fixes that were ready
            except Exception as e:
                trouble = e
            self.function.effort = left()
        offered.sort(key=lambda each: each.is_setting)  # which hold for the whole process
        repaired = any(f.edits and not f.is_workaround for f in offered)
        confidence: Confidence = "high" if op.sure else "low"
        line, column, end_line, end_column = self.function.range(node)
        self.findings.append(
            Finding(
                code=self.code,
                name=self.name,
                message=message,
                path=self.function.path,
                line=line,
                column=column,
                end_line=end_line,
                end_column=end_column,
                severity=severity or self.severity,
                confidence=confidence,
                flow=op.flow,
                fixes=tuple(offered),
                when=op.when,
                note=op.rare or (self.beside(node, op, repaired) if op.open else ""),
                price=self.price(op),
            )
        )
        if trouble is not None:
            raise trouble

    def _or_by_hand(self, op: Op, fixes: Iterable[Fix]) -> Iterator[Fix]:
        """The fixes; where they are workarounds alone, first what to write by hand."""
        rounds = []
        stays = False
        for fix in fixes:
            if fix.is_workaround:
                rounds.append(fix)
            else:
                stays = True
                yield fix
        words = max((key for key in self.instead if op.name.startswith(key)), key=len, default=None)
        # A function that does it elsewhere may do more than that: what to do at its call nobody can tell. Of a message
        # the guard is what people write.
        known = "elsewhere" in op.details or ("says" in op.details and rounds)
        if not stays and words is not None and not known:
            yield importlib.import_module("pt2lint.fixes.by_hand").told(self.instead[words])
        yield from rounds


def one_line(text: str) -> str:
    """Code without its line breaks, nor what stands beside them within brackets."""
    text = re.sub(r"([(\[{])\s*\n\s*", r"\1", text.replace("\\\n", "\n"))
    text = re.sub(r",?\s*\n\s*([)\]}])", r"\1", text)
    return " ".join(text.split())


def calls(owner: str, names: str) -> tuple[str, ...]:
    """The operations that calls of several functions of a module, or methods of a type, are."""
    return tuple(f"call {owner}.{name}" for name in names.split())


@cache
def measured() -> tuple[list[tuple[int, int]], dict[str, str]]:
    """The versions of torch that were measured, oldest first, and what each operation did on them: a sign for each,
    "B" if it broke the graph in default mode, "." if not, "-" where it does not exist.

    matrix/evidence.py writes this down from the results of the matrix.
    """
    data = json.loads((Path(__file__).parent / "measured.json").read_bytes())
    return [(major, minor) for major, minor in data["torch"]], data["operations"]


def breaks_on(name: str, target: tuple[int, int], whole: bool = False) -> bool:
    """Whether an operation breaks the graph on that torch: as on the newest measured version that is not newer;
    `whole`: under `fullgraph=True`, which has Dynamo capture more, and raises.

    What was not measured is taken to break, and so is what did not exist.
    """
    versions, operations = measured()
    signs = operations.get(name, "B" * len(versions))
    older = sum(version <= target for version in versions)
    return signs[max(older, 1) - 1] not in (".b" if whole else ".")


def is_tensor(word: str) -> bool:
    """Whether a word of Op.args names a tensor, or an array, which Dynamo takes for one."""
    return any(part.startswith(("tensor", "array")) for part in word.split(" | "))


class GraphBreak(Rule):
    """A rule about what ends Dynamo's graph (codes PTB1xx).

    `says` is the message, in which `{code}` stands for the offending code. `repairs` are modules of
    pt2lint.fixes.repairs whose `fixes(function, node)` are offered, the best first, and `advice` is what
    pt2lint.fixes.by_hand tells where none repairs it. On which torch an operation breaks
    is read from what was measured (`breaks_on`); where it depends on more than the operation's name, the rule says what
    was measured by another name: `variant`.

    `INVALID` and `VALID` are code that the rule must report and must not: a module that defines `f`, or
    the body of `f(x, m, i)`, where x are floats, m is a mask and i are whole numbers. The tests lint
    each, and run it under Dynamo, where it has to break at the places reported, or nowhere. `args = None`
    says that it cannot run.
    """

    says: ClassVar[str] = ""
    repairs: ClassVar[tuple[str, ...]] = ()
    advice: ClassVar[str] = ""
    step: ClassVar[bool] = False  # what models do as a step of theirs, worth a minute whatever leads there
    waits: ClassVar[bool] = False  # Python needs a value that the device has yet to compute
    VALID: ClassVar[tuple[str, ...]] = ()
    INVALID: ClassVar[tuple[str, ...]] = ()

    def check(self, node: cst.CSTNode, op: Op) -> None:
        self.breaks(node, op, self.says)

    def breaks(self, node: cst.CSTNode, op: Op, message: str, variant: str = "") -> None:
        """Report what breaks the graph on the targeted torch: `message`, with `{code}` in it, then where the
        tensor came from, and what the break costs where it stands.

        Measured: Dynamo resumes after a break, but not into the middle of a loop, of a `try` or of most `with`
        blocks. For a loop it leaves the whole function to Python, for the others what comes from there on; so it does
        where the function that breaks is called.
        """
        target = self.function.target
        name = variant or op.name
        if not breaks_on(name, target):
            return
        runner = f"`{op.within.rpartition('.')[2]}`"
        captured = op.whole and not breaks_on(name, target, whole=True)
        message = message.replace("{code}", self.quote(node))
        if op.why:
            message += f": {op.why}"
        if captured:
            message += "; `fullgraph=True` captures it, and fails where what follows needs to know its value"
            op = op._replace(rare=op.rare or CAPTURED)
        elif op.whole:
            message += "; `fullgraph=True` makes this an error when it is compiled"
        elif op.insists:
            message += f"; inside of what {runner} runs, which raises when it is compiled"
        elif op.inside:
            where = "a loop" if op.inside == "loop" else f"a `{op.inside}`"
            part = "whole" if op.inside == "loop" else "rest of the"
            message += f"; inside {where} Dynamo then gives up the {part} function"
        elif op.caller:
            rest = op.caller.startswith(BLOCKS)
            gives = (
                "the rest of which Dynamo then gives up" if rest else "which Dynamo then gives up as a whole"
            )
            message += f"; called {op.caller}, {gives}"
        if op.within and not (op.whole or op.insists):
            parted = op.inside or op.caller
            message += (
                f", and all of what {runner} runs"
                if parted
                else f"; Dynamo then leaves all of what {runner} runs to Python"
            )
        severity: Severity | None = None
        if captured:
            severity = "note"
        elif (op.whole or op.within or op.inside or op.caller or op.layers) and self.severity != "note":
            severity = "error"  # what is meant stays meant
        # The function that does it elsewhere may do more than that: what to do at its call nobody can tell.
        fixes = () if "elsewhere" in op.details else self.fixes(node)
        self.report(node, op, message, fixes=fixes, severity=severity)

    def beside(self, node: cst.CSTNode, op: Op, repaired: bool) -> str:
        if why := super().beside(node, op, repaired):
            return why
        if not (op.parts or op.inside or (self.step and repaired)):
            return EDGE
        if not repaired and is_nested(self.function, node, op):
            return NESTED
        if not repaired and self.waits:
            if reads_row(self.function, node, op) or counts_turns(self.function, node, op):
                return BY_ROW
        if self.waits and len(op.flow) == 1 and ends_in_records(self.function, node):
            return RECORDED
        return OPTIONAL if op.optional and not self.step else ""

    def price(self, op: Op) -> Price | None:
        gives_up = "function" if op.inside or op.within else "caller" if op.caller else ""
        left = op.flow[-1].message if (op.inside or op.within) and op.flow else op.caller
        return Price(
            gives_up, op.layers, op.before, op.after, max(op.roots, 1), self.waits, op.why, _named(left)
        )

    def fixes(self, node: cst.CSTNode) -> Iterable[Fix]:
        """What to suggest at the node, the best first: workarounds after all repairs."""
        repairs = [importlib.import_module(f"pt2lint.fixes.repairs.{name}") for name in self.repairs]
        # Two repairs may hand on to a third.
        found = list(dict.fromkeys(fix for repair in repairs for fix in repair.fixes(self.function, node)))
        if self.advice and all(fix.is_workaround for fix in found):
            module, _, name = self.advice.partition(".")
            by_hand = importlib.import_module(f"pt2lint.fixes.by_hand.{module}")
            found += getattr(by_hand, name)(self.function, node)
        yield from sorted(found, key=lambda fix: fix.is_workaround)


def _named(text: str) -> str:
    """The function that a text names: "calls `M.forward`", "a `try` of `M.forward`"."""
    return text.rpartition("`")[0].rpartition("`")[2] if not text.startswith("`") else text.split("`")[1]
