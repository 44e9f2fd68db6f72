"""Proof of fixes for recompilations and for what silently does nothing: the runs that showed them, run again with the
fix, and judged anew.

Proven means: what was confirmed no longer is, Dynamo compiles nothing more often and breaks nowhere else, and the code
does the same: its calls as `proof` compares them where there are calls, and what the program prints where only a run
of the program showed it, or, where it prints nothing, the gradients and parameters of each step that it takes.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pt2lint.dynamic.events import Events, Run, run_from
from pt2lint.dynamic.files import Files
from pt2lint.dynamic.plan import Job
from pt2lint.dynamic.recompilations import CALLED_AGAIN
from pt2lint.dynamic.verdict import judge
from pt2lint.finding import Finding

NUMBER = re.compile(r"(-?\d+\.\d+(?:[eE][+-]?\d+)?|-?\d+[eE][+-]?\d+)")
ANY_NUMBER = re.compile(r"(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)")
RELATIVE = 1e-3  # by which printed numbers may differ: a compiler may add in another order
COUNTED = (*CALLED_AGAIN, "varied")
# Why a fix is neither proven nor disproved.
SILENT = "the program prints nothing by which to tell that it does the same"
NOISY = "what the program prints is another each time it runs, so nothing tells that it does the same"
UNSEEN = "only a run of the program could tell, and none was made"


@dataclass
class Heard:
    """What one child said when the runs were made again."""

    runs: list[Run] = field(default_factory=list)
    printed: str | None = None

    def hear(self, message: Mapping[str, Any]) -> None:
        if message.get("event") == "run":
            self.runs.append(run_from(message))
        elif message.get("event") == "printed":
            self.printed = message["text"]


# Runs a job's child over texts that are laid over files; hears its messages; returns what went wrong, None if nothing.
Runner = Callable[
    [Job, Mapping[str, str], Mapping[str, Any], Callable[[Mapping[str, Any]], None]], "str | None"
]


class _NotProven(Exception):
    """Why a fix is not proven."""


class Recounter:
    """Runs jobs again with fixes laid over the files; `events` are those that confirmed the findings."""

    def __init__(self, run: Runner, events: Events, jobs: Sequence[Job], sources: Mapping[str, str]) -> None:
        self.run_child, self.events, self.jobs, self.sources = run, events, jobs, sources
        self.before: dict[Job, Heard] = {}
        self.twice: dict[Job, tuple[Heard, str | None]] = {}
        self.after: dict[tuple[Job, frozenset[tuple[str, str]]], tuple[Heard, str | None]] = {}
        self.silent: set[Job] = set()  # programs that print nothing, and whose steps are looked at

    def in_program(self, finding: Finding) -> bool:
        """Whether only a run of the program as it stands showed it."""
        by = (finding.evidence or {}).get("targets") or ()
        return (
            not finding.code.startswith("PTR") or not by or any(one.startswith("the program ") for one in by)
        )

    def again(
        self, finding: Finding, moved: Finding, overlay: Mapping[str, str], targets: set[str]
    ) -> tuple[str | None, str]:
        """Why the fix is not proven (None: it is), and what was counted. `moved` is the finding where it stands in the
        text with the fix."""
        program = self.in_program(finding)
        jobs = [job for job in self.jobs if (job.kind == "program") == program]
        if program:
            jobs += [job for job in self.jobs if job.kind == "run"]
        if finding.is_graph_break and not any(job.kind == "program" for job in jobs):
            return UNSEEN, ""
        try:
            old, new = self._runs(finding, jobs, overlay, targets)
            self._check(finding, moved, overlay, old, new)
            said = self._counted(finding, jobs, old, new)
        except _NotProven as no:
            return str(no), ""
        return None, said

    def _runs(
        self, finding: Finding, jobs: Sequence[Job], overlay: Mapping[str, str], targets: set[str]
    ) -> tuple[list[Run], list[Run]]:
        """The runs before and with the fix, in which the program does the same."""
        program, breaks = self.in_program(finding), finding.is_graph_break
        old: list[Run] = []
        new: list[Run] = []
        for job in jobs:
            only = () if program else sorted(targets)
            if breaks and job.kind == "program":
                self.look_at_steps(job)
            tried = (job, frozenset(overlay.items()))
            if breaks and tried not in self.after:  # what several findings of one function have in common
                self.after[tried] = self.heard(job, overlay, only)
            after, trouble = self.after[tried] if breaks else self.heard(job, overlay, only)
            if trouble:
                raise _NotProven(f"with it the code ends early: {trouble}")
            new += after.runs
            if program:
                before, trouble = self.as_it_was(job)
                if trouble:
                    raise _NotProven(f"the code as it is ended early when it was run again: {trouble}")
                old += before.runs
                if job.kind == "program":
                    difference = self.said_otherwise(job, before, after)
                    if difference:
                        raise _NotProven(difference)
        return old if program else [run for run in self.events.runs if run.target in targets], new

    def _check(
        self,
        finding: Finding,
        moved: Finding,
        overlay: Mapping[str, str],
        old: Sequence[Run],
        new: Sequence[Run],
    ) -> None:
        """That it runs with the fix, and no longer does what the finding says."""
        failed = next((run for run in new if run.error and run.probe != "fullgraph"), None)
        if failed is not None and not any(run.error for run in old if run.probe == failed.probe):
            raise _NotProven(f"with it the code fails: {failed.error}")
        if finding.is_graph_break and self.judged(finding, old, {}) is None:
            raise _NotProven("the program as it stands does not show it")
        still = self.judged(moved, new, overlay)
        if still is not None:
            raise _NotProven(still)

    def _counted(self, finding: Finding, jobs: Sequence[Job], old: Sequence[Run], new: Sequence[Run]) -> str:
        """What became less, of recompilations and breaks; nothing may be more."""
        counts = [sum(len(run.recompiles) for run in runs if run.probe in COUNTED) for runs in (old, new)]
        broken = [len({(one.path, one.line) for run in runs for one in run.breaks}) for runs in (old, new)]
        times = f"{counts[0]} time{'s' * (counts[0] != 1)}"
        if counts[1] > counts[0]:
            raise _NotProven(f"with it more is compiled again: {times} before, {counts[1]} with it")
        if broken[1] > broken[0]:
            raise _NotProven(f"with it Dynamo breaks at {broken[1]} places, at {broken[0]} before")
        if finding.code.startswith("PTR") and finding.code != "PTR205" and counts[1] == counts[0]:
            raise _NotProven(f"with it as much is compiled again: {counts[0]} times")
        graphs = [
            sum(site.get("graphs", 0) for run in runs for site in run.details.get("sites", ()))
            for runs in (old, new)
        ]
        what = f"compiled again {times} before, {counts[1]} with it"
        if finding.is_graph_break:
            if not graphs[1]:
                raise _NotProven("with it nothing is compiled any more")
            trains = self.silent.intersection(jobs)
            same = "trains to the same gradients and parameters" if trains else "prints the same"
            what = f"the program breaks at {broken[0]} places before, at {broken[1]} with it, and {same}"
        return what + (f"; graphs {graphs[0]} to {graphs[1]}" if self.in_program(finding) else "")

    def heard(self, job: Job, overlay: Mapping[str, str], only: Sequence[str]) -> tuple[Heard, str | None]:
        found = Heard()
        recount = {"calls": bool(only), "steps": job in self.silent}
        more = {"recount": recount, "further": True, "only": list(only)}
        return found, self.run_child(job, overlay, more, found.hear)

    def look_at_steps(self, job: Job) -> None:
        """Where a program prints nothing, have it tell the steps of its optimizers instead."""
        before, trouble = self.as_it_was(job)
        if trouble is None and job not in self.silent and not (before.printed or "").strip():
            self.silent.add(job)
            del self.before[job]

    def as_it_was(self, job: Job) -> tuple[Heard, str | None]:
        if job not in self.before:
            found, trouble = self.heard(job, {}, ())
            if trouble:
                return found, trouble
            self.before[job] = found
        return self.before[job], None

    def said_otherwise(self, job: Job, before: Heard, after: Heard) -> str | None:
        """How what the program prints differs; what differs between two runs of it as it is, does not count."""
        if not (before.printed or "").strip():
            return SILENT
        if printed_alike(before.printed or "", after.printed or ""):
            return None
        if job not in self.twice:  # what all fixes have in common
            self.twice[job] = self.heard(job, {}, ())
        twice, trouble = self.twice[job]
        if trouble is None:
            if not is_steady(before.printed or "", twice.printed):
                return NOISY
            if printed_alike(before.printed or "", after.printed or "", twice.printed):
                return None
        if job in self.silent:
            return "its optimizers are given other gradients"
        return f"the program printed {(before.printed or '')[-60:]!r} before, {(after.printed or '')[-60:]!r} with it"

    def judged(self, moved: Finding, runs: Sequence[Run], overlay: Mapping[str, str]) -> str | None:
        """Why the finding still holds, as these runs show it; None where it does not."""
        sources = {**self.sources, **overlay}
        files = Files({path: path for path in sources}, sources)
        path = os.path.realpath(moved.path)
        for one in judge([replace(moved, path=path)], Events(tuple(runs)), files):
            if one.code != moved.code:
                continue
            if one.verdict == "confirmed":
                return f"it still happens: {(one.evidence or {}).get('reason')}"
            if one.verdict == "failed":
                return f"it could not be run: {(one.evidence or {}).get('reason')}"
        return None


def printed_alike(one: str, other: str, again: str | None = None) -> bool:
    """Whether two texts say the same, their numbers up to rounding. What differs between `one` and `again`, two runs of
    the same program, is left out: numbers, or lines whose words differ. Something has to be left."""
    lines, others = one.splitlines(), other.splitlines()
    twice = lines if again is None else again.splitlines()
    if not len(lines) == len(others) == len(twice):
        return False
    return is_steady(one, again) and all(map(_alike, lines, others, twice))


def is_steady(one: str, again: str | None) -> bool:
    """Whether what a program prints can tell anything: a line, or a number with a point in it, is the same twice."""
    if again is None or one == again:
        return True
    return any(
        a.strip() and (a == b or _steady(a, b))
        for a, b in zip(one.splitlines(), again.splitlines(), strict=False)
    )


def _steady(one: str, again: str) -> bool:
    ones, agains = ANY_NUMBER.split(one), ANY_NUMBER.split(again)
    if ones[::2] != agains[::2]:
        return False
    return any(NUMBER.fullmatch(a) and a == b for a, b in zip(ones[1::2], agains[1::2], strict=True))


def _alike(one: str, other: str, again: str) -> bool:
    """Whether two lines say the same, but for what differs between the first one and `again`."""
    pattern = (
        NUMBER if one == again else ANY_NUMBER
    )  # elsewhere whole numbers say the same or not, as words do
    ones, others, agains = pattern.split(one), pattern.split(other), pattern.split(again)
    if ones[::2] != agains[::2]:
        return True
    if ones[::2] != others[::2]:
        return False
    return all(a != c or _close(a, b) for a, b, c in zip(ones[1::2], others[1::2], agains[1::2], strict=True))


def _close(one: str, other: str) -> bool:
    if not NUMBER.fullmatch(one):
        return one == other
    a, b = float(one), float(other)
    return abs(a - b) <= RELATIVE * max(abs(a), abs(b)) + 1e-6


def moved_to(finding: Finding, lines: Mapping[int, int]) -> Finding:
    """The finding where it stands in the text with a fix; `lines` maps lines of that text to those of the old one.

    A line that the fix wrote anew is found by the last line before it that stayed.
    """
    counts = Counter(lines.values())
    new = {old: at for at, old in lines.items() if counts[old] == 1}

    def place(line: int) -> int:
        if line in new:
            return new[line]
        above = max((old for old in new if old < line), default=0)
        return (new[above] if above else 0) + (line - above)

    first, last = place(finding.line), place(finding.end_line)
    below = min((new[old] for old in new if old > finding.end_line), default=max(first, last) + 1)
    flow = tuple(
        replace(step, line=place(step.line)) if step.path == finding.path else step for step in finding.flow
    )
    return replace(finding, line=first, end_line=max(first, last, below - 1), flow=flow)
