"""An analysis of many groups of files, in child processes where that is worth it."""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import Any

from pt2lint.finding import Problem
from pt2lint.static import workers
from pt2lint.static.analysis import Analysis
from pt2lint.static.facts import Facts, from_plain, joined, to_plain

SHARE = (
    10  # groups that one process takes, if there are enough: what one of them has parsed, the others need not
)
TOGETHER = 16  # files whose findings a process looks at once more, with what other groups know of them


class Parallel:
    """Shares out what is to be analysed, and puts together what the processes found."""

    def __init__(self, analysis: Analysis) -> None:
        self.analysis = analysis
        self._read: dict[str, set[Any]] = {}  # what some of them read of a file (Facts.functions_read)
        self._room = 8_000_000  # bytes of text; bound, it takes ten times as much, and children share it

    def groups(self, groups: Sequence[Sequence[str]]) -> Iterator[Facts]:
        """The facts of each group."""
        work = self.analysis
        small = len(groups) == 1 and len(groups[0]) < 8  # not worth a process
        _ = work.target, work.models, small or work.rules  # once, before there are children
        size = min(SHARE, -(-len(groups) // workers.children()))
        # What the first of them parse, the others find parsed.
        first = min(workers.children(), len(groups)) if size > 1 else 0
        shares = [groups[at : at + 1] for at in range(first)]
        shares += [groups[at : at + size] for at in range(first, len(groups), size)]
        if small or not workers.can_fork():
            for i, share in enumerate(shares):
                if i:
                    gc.collect()  # what the groups before left
                work.start(in_memory=True)
                made = [work.facts(group) for group in share]
                work.keep_parsed(made)
                yield from made
            return
        self._load_all()
        work.start()
        for share, sent in zip(shares, workers.spread(self._packed, shares), strict=True):
            if sent is not None:
                made = [from_plain(json.loads(each)) for each in sent]
                self._parse_what_others_read(made)
                yield from made
                continue
            # A file that kills its reader shall not cost the others' findings.
            for group in share:
                alone = workers.spread(work.facts, [[path] for path in group])
                yield reduce(joined, map(_died_or, group, alone))

    def files(self, analyse: Callable[[str], Facts], paths: Sequence[str]) -> Iterator[tuple[str, Facts]]:
        """What `analyse` says of each file."""
        shares = [paths[at : at + TOGETHER] for at in range(0, len(paths), TOGETHER)]
        if len(shares) < 2 or not workers.can_fork():
            for share in shares:
                gc.collect(0)  # trees refer to their parents, and the command line collects nothing by itself
                yield from ((path, analyse(path)) for path in share)
            return
        self._load_all()

        def packed(share: Sequence[str]) -> list[tuple[str, str]]:
            return [(facts.name, json.dumps(to_plain(facts))) for facts in map(analyse, share)]

        for share, sent in zip(shares, workers.spread(packed, shares), strict=True):
            for path, (name, text) in zip(share, sent or (), strict=False):
                facts = from_plain(json.loads(text))
                facts.name = name
                yield path, facts
            yield from ((path, Facts(complete=False)) for path in share[len(sent or ()) :])  # it died of it

    def _packed(self, groups: Sequence[Sequence[str]]) -> list[str]:
        """Facts as texts: who puts hundreds of them together needs little of each."""
        return [json.dumps(to_plain(self.analysis.facts(group))) for group in groups]

    def _load_all(self) -> None:
        """Once, before there are children, each of which would: the interpreter, and what makes fixes."""
        repairs = {name for rule in self.analysis.rules for name in getattr(rule, "repairs", ())}
        # The first of them load LibCST.
        fixing = ("rule.positions", "fixes.replace", *(f"fixes.repairs.{repair}" for repair in repairs))
        for name in ("static.interpret", "static.interpreter.kinds", *fixing):
            with contextlib.suppress(Exception):  # told of where it is needed
                importlib.import_module(f"pt2lint.{name}")

    def _parse_what_others_read(self, share: Sequence[Facts]) -> None:
        """What a process has parsed beyond its own files, the children still to come may read too: they find it
        parsed, and share the memory that it takes. Of each file, the functions that were read."""
        project = self.analysis.parsed
        assert project is not None
        parsed = {path for facts in share for path in facts.parsed}
        for path in sorted(parsed - project.parsed()):
            if self._room > 0:
                with contextlib.suppress(OSError, SyntaxError, ValueError, RecursionError, MemoryError):
                    self._room -= len(project.load(path, whole=False).text)
        there = project.parsed()
        for facts in share:
            for path, lines, asked in facts.functions_read():
                read = self._read.setdefault(path, set())
                if path in there and not read.issuperset(lines | asked):
                    with contextlib.suppress(OSError, SyntaxError, ValueError, RecursionError, MemoryError):
                        project.load(path, whole=False).parse_ahead(lines - read, asked - read)
                    read |= lines | asked


def _died_or(path: str, facts: Facts | None) -> Facts:
    """What a process of its own found out about a file, which may have killed it."""
    told = "could not be followed: the process that read it died; exclude it"
    return Facts(problems=[Problem(path, told)], complete=False) if facts is None else facts
