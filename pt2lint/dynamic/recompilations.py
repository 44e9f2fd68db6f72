"""Which recompilations a run showed, for what reason, and which finding foretold them."""

from __future__ import annotations

import ast
import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from pt2lint.dynamic.dynamic_shapes import mark_dynamic
from pt2lint.dynamic.events import Recompile, Run
from pt2lint.dynamic.files import Files
from pt2lint.dynamic.statements import identifiers
from pt2lint.finding import Finding

# Runs in which torch.compile works as users have it.
DEFAULT_MODE = ("default", "again", "given", "varied", "program", "trace")
# Runs that call again what was compiled, as the user's own program or inputs do.
CALLED_AGAIN = ("again", "given", "program", "trace")
# Findings that say that compiled code makes a constant of a size.
KEEPS_SIZES = ("PTR214",)
# What guards call in Dynamo's own words, where what is compiled again is torch's code: a module's arguments and
# parameters, the optimizer.
SHOWN_BY = {
    "PTR212": re.compile(r"tensor 'args\[\d+\]' size mismatch at index 0"),
    "PTR223": re.compile(r"___check_obj_id\(.*type=<class '.*\boptim\b"),
    "PTR227": re.compile(r"tensor 'args\[\d+\]' size mismatch at index [1-9]"),
    "PTR228": re.compile(r"_parameters\[.*requires_grad mismatch"),
}
# And that what a graph break reads out is one for the code behind it, or that a method which waits for that is.
READ_BY_BREAK = ("PTR221", "PTR232")
LEFT_BY_BREAK = re.compile(r"___stack\d+")  # Dynamo's name for it
# Where compiled code reads what each of the blocks that a loop compiles has of its own.
READ_IN_BLOCK = re.compile(r"`\w+\.(\w+)` is read here")
# Guards that show nothing of a finding, though they are on what its statement names: of a smaller batch the sizes of
# other dimensions, of another way to call the same any size.
_OTHER_SIZE = re.compile(r"size mismatch at index [1-9]|\.size\(\)\[[1-9]")
_OF_TENSOR = re.compile(r"^tensor '|\.(?:size|stride)\(\)")
SHOWS_NOTHING = {"PTR212": _OTHER_SIZE, "PTR222": re.compile(r"size mismatch at index|\.size\(\)\[")}
# What is said of numbers, texts and keys of Python: the tensor that they are read out of has guards of its own.
SHOWS_NOTHING |= dict.fromkeys(("PTR202", "PTR203", "PTR209", "PTR210", "PTR218", "PTR221"), _OF_TENSOR)
# A method that was bound anew is gone by the next call; a number that waits beside it is another thing.
SHOWS_NOTHING["PTR232"] = re.compile(r"^(?!.* got deallocated).")
# What `with torch.no_grad():` around a call changes is no argument's, and what is detached has any name.
_GRADIENTS = re.compile(r"GLOBAL_STATE changed:.*\bgrad_mode\b|requires_grad mismatch")


@dataclass
class Group:
    """Recompilations of one function for one reason."""

    subject: str
    events: list[tuple[Run, Recompile]] = field(default_factory=list)
    shapes: bool = False

    @property
    def first(self) -> Recompile:
        return self.events[0][1]

    @property
    def limit(self) -> Recompile | None:
        return next((recompile for _, recompile in self.events if recompile.limit), None)

    @property
    def count(self) -> int:
        """The most recompilations of one piece of code that one run saw."""
        counts: dict[tuple[int, int], int] = {}
        for run, recompile in self.events:
            if not recompile.limit:
                key = (id(run), recompile.line)
                counts[key] = counts.get(key, 0) + 1
        return max(counts.values(), default=0)

    def fitting(self, runs: Collection[int], guards: re.Pattern[str] | None) -> Group:
        """The recompilations in runs of these ids, for which another guard failed than these."""
        events = [
            each
            for each in self.events
            if id(each[0]) in runs and not (guards and guards.search(self.guard(each[1])))
        ]
        return Group(self.subject, events, self.shapes)

    def guard(self, recompile: Recompile) -> str:
        """The guard about the group's subject that failed last."""
        own = (guard for guard in recompile.guards if guard_subject(guard) == self.subject)
        return next(own, recompile.guards[0] if recompile.guards else "")


class Recompilations:
    """What the runs compiled again, and what of it findings had foretold."""

    def __init__(self, runs: Iterable[Run], files: Files) -> None:
        self._files = files
        self._groups, self._also = _groups(runs)
        self._foretold: set[int] = set()

    def foretold_by(self, finding: Finding, path: str, runs: Iterable[Run]) -> dict[str, Any] | None:
        """Evidence for a PTR finding, None where nothing was compiled again for its reason in these runs.

        A guard of an older cache entry counts where that of the newest says nothing of the finding: where layers
        differ in a guard that comes before, the newest entry is that of another layer.
        """
        shows_nothing = SHOWS_NOTHING.get(finding.code)
        near = {id(run) for run in runs}
        for groups in (self._groups, self._also):
            fitting = [each.fitting(near, shows_nothing) for each in groups.values()]
            matches = [
                each for each in fitting if each.events and _concerns(finding, path, each, self._files)
            ]
            if matches:
                self._foretold.update(id(recompile) for group in matches for _, recompile in group.events)
                return _evidence(matches, self._files)
        return None

    def unforeseen(self) -> list[Finding]:
        """A PTR900 for each function that was compiled again for what no finding foretold."""
        left = []
        for group in self._groups.values():
            events = [each for each in group.events if id(each[1]) not in self._foretold]
            rest = Group(group.subject, events, group.shapes)
            if events and _worth_telling(rest):
                left.append(rest)
        return [
            _unforeseen(group, self._files)
            for group in _by_function(left)
            if group.first.path in self._files.sources
        ]


_TENSOR = re.compile(r"tensor '(?P<name>.+?)' ")
_GONE = re.compile(r"^Cache line invalidated because (.+) got deallocated$")
_SHAPE = re.compile(r"tensor '.+?' (?:size|stride|rank|shape)|size mismatch|\.size\(\)|\.stride\(\)")


def guard_subject(guard: str) -> str:
    """What a guard is about: the last name in its left side ("L['self'].step == 1" gives "step")."""
    guard = _GONE.sub(r"\1", guard)
    tensor = _TENSOR.search(guard)
    left = (
        tensor["name"]
        if tensor
        else re.split(r", type=<|\s(?:==|!=|<=|>=|<|>|is|in)\s", guard, maxsplit=1)[0]
    )
    names = [name for pair in re.findall(r"\['([^']+)'\]|([A-Za-z_]\w*)", left) for name in pair if name]
    ignored = {
        "L",
        "G",
        "len",
        "type",
        "id",
        "not",
        "size",
        "stride",
        "self",
        "dict",
        "list",
        "keys",
        "values",
    }
    return next((name for name in reversed(names) if name not in ignored), names[-1] if names else guard)


Groups = dict[tuple[str, int, str], Group]


def _groups(runs: Iterable[Run]) -> tuple[Groups, Groups]:
    """Recompilations by function and by what the guard of the newest cache entry is about, and by what those of the
    older ones are about."""
    groups: Groups = {}
    also: Groups = {}
    for run in runs:
        if run.probe not in DEFAULT_MODE:
            continue
        last: dict[tuple[str, int], list[str]] = {}
        for recompile in run.recompiles:
            where = (recompile.path, recompile.line)
            # Dynamo names the newest cache entry first: as a rule its guard is the one that just failed.
            subjects = list(dict.fromkeys(map(guard_subject, recompile.guards))) or last.get(where, [""])
            last[where] = subjects
            for subject, known in zip(subjects, (groups, *[also] * (len(subjects) - 1)), strict=True):
                group = known.setdefault((*where, subject), Group(subject))
                group.events.append((run, recompile))
                group.shapes = group.shapes or bool(known is groups and _SHAPE.search(group.guard(recompile)))
    return groups, also


def _concerns(finding: Finding, path: str, group: Group, files: Files) -> bool:
    """Whether a recompilation is what a PTR finding foretold: its guard names the parameter of the recompiled
    function that the finding's flow names ("`n` of `f`"), else something that the statement names."""
    own = files.statements(group.first.path)
    function = own.compiled(group.first.line, group.first.function) if own else None
    there = [
        step.path == files.shown.get(group.first.path) or os.path.realpath(step.path) == group.first.path
        for step in finding.flow
    ]
    named = [
        step.message
        for step, here in zip(finding.flow, there, strict=True)
        if here and function is not None and step.line == function.lineno and "` of `" in step.message
    ]
    theirs = any(run.probe in CALLED_AGAIN for run, _ in group.events)
    if named or any("` of `" in step.message for step in finding.flow):
        if not theirs:
            return False  # said of a call: inputs that we varied ourselves show nothing of it
    read = [found[1] for step in finding.flow if (found := READ_IN_BLOCK.fullmatch(step.message))]
    if read:
        guarded = {name for each in group.first.guards for name in re.findall(r"\w+", each)}
        return theirs and not guarded.isdisjoint(read)
    own_words = SHOWN_BY.get(finding.code)
    if own_words and theirs and own_words.search(group.guard(group.first)):
        return True
    if finding.code in READ_BY_BREAK and LEFT_BY_BREAK.fullmatch(group.subject):
        break_ = files.statements(path)
        first, last = break_.span(finding.line) if break_ else (finding.line, finding.line)
        return group.first.path == path and first <= group.first.line <= last
    if named:
        return any(message.startswith(f"`{group.subject}` of ") for message in named)
    begins = [
        here and own is not None and function is not None and own.function(step.line) is function
        for step, here in zip(finding.flow, there, strict=True)
    ]
    if "gradients" in finding.message and _GRADIENTS.search(group.guard(group.first)):
        return any(begins)
    if finding.code in KEEPS_SIZES and group.shapes and group.count > 1 and any(begins[:1]):
        return True  # one would make the size dynamic: what is compiled yet again was kept from being so
    statements = files.statements(path)
    node = statements.node(finding.line) if statements else None
    if node is None:
        return False
    header = (
        part
        for name, value in ast.iter_fields(node)
        if name not in ("body", "orelse", "handlers", "finalbody")
        for part in (value if isinstance(value, list) else [value])
        if isinstance(part, ast.AST)
    )
    return any(group.subject in identifiers(part) for part in header)


def called_often(path: str, finding: Finding, runs: Sequence[Run]) -> bool:
    """Whether the finding's line was compiled, and the same callable then called with further inputs."""
    reached = {
        run.target
        for run in runs
        if run.probe in ("default", "program") and finding.line in run.traced.get(path, frozenset())
    }
    again = {run.target for run in runs if run.probe == "again" and run.error is None}
    given = {run.target for run in runs if run.probe == "given" and run.error is None}
    return bool(reached & again & given)


def _worth_telling(group: Group) -> bool:
    """Whether an unforeseen recompilation costs users anything.

    Not one within a first call, where code that runs several times meets arguments of several kinds: it ends
    there. Not the one that makes a shape dynamic, on inputs that we varied ourselves (three times).
    """
    if group.limit or any(run.probe in CALLED_AGAIN for run, _ in group.events):
        return True
    return Group(group.subject, [each for each in group.events if each[0].probe == "varied"]).count > 2


def _evidence(groups: Sequence[Group], files: Files) -> dict[str, Any]:
    group = max(groups, key=lambda each: each.count)
    guards: list[str] = []
    for _, recompile in group.events:
        guard = group.guard(recompile)
        guards += [guard] if guard and guard not in guards else []
    often = Counter(guard_subject(group.guard(recompile)) for _, recompile in group.events)
    guards.sort(key=lambda guard: -often[guard_subject(guard)])  # what repeats before what failed once
    limit = group.limit
    shown = files.shown.get(group.first.path, group.first.path)
    return {
        "graph_break": None,
        "reason": f"recompiled because {guards[0]} no longer held" if guards else "recompiled",
        "guards": guards[:10],
        "function": f"{group.first.function} ({shown}:{group.first.line})",
        "hits": group.count,
        "limit": limit.limit if limit else None,
        "targets": sorted({run.target for run, _ in group.events}),
    }


def _by_function(groups: Sequence[Group]) -> list[Group]:
    """One group a function: what graph breaks split off it is recompiled for the same cause."""
    merged: dict[tuple[str, str], Group] = {}
    for group in sorted(groups, key=lambda each: (each.subject.startswith("___"), -each.count)):
        key = (group.first.path, group.first.function)
        if key in merged:
            merged[key].events += group.events
            merged[key].shapes |= group.shapes
        else:
            merged[key] = Group(group.subject, list(group.events), group.shapes)
    return list(merged.values())


def _unforeseen(group: Group, files: Files) -> Finding:
    recompile = group.first
    evidence = _evidence([group], files)
    times = f"{group.count} times" if group.count > 1 else "once"
    limit, end = group.limit, ""
    if limit and limit.limit_value:
        # The first compilation counts, and so do those for guards that another finding names.
        others = " with what else it was compiled for" if group.count + 1 < limit.limit_value else ""
        end = f"; it hit the limit of {limit.limit_value}{others} and then ran eagerly"
    guard = evidence["guards"][0] if evidence["guards"] else "a guard failed"
    left = LEFT_BY_BREAK.search(guard)
    end += f"; `{left[0]}` is what a graph break left for the code behind it: mend that first" if left else ""
    statements = files.statements(recompile.path)
    function = statements.compiled(recompile.line, recompile.function) if statements else None
    line = function.lineno if function else recompile.line
    text = files.sources[recompile.path].splitlines()[line - 1]
    indent = len(text) - len(text.lstrip())
    fixes = mark_dynamic(recompile, evidence["guards"], files.sources, files.shown) if group.shapes else ()
    return Finding(
        code="PTR900",
        name="unforeseen-recompilation",
        message=f"`{recompile.function}` was recompiled {times}: `{guard}` no longer held{end}",
        path=files.shown[recompile.path],
        line=line,
        column=indent + 1,
        end_line=line,
        end_column=len(text.rstrip()) + 1,
        severity="warning" if limit or group.count > 1 else "note",
        verdict="confirmed",
        evidence=evidence,
        fixes=fixes,
    )
