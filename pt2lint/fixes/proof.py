"""Proof of fixes: each is laid over its files in a child process, run, and compared with the code as it was.

Proven means, on every sample input and on what was made of it (negated, zeros, larger, smaller, with a NaN
and an infinity, masks switched, with gradients, other seeds), as far as there is time: the same results,
gradients, changes in place, buffers, prints and errors, in eager mode and compiled; no graph break left where
the finding was; none in the lines that the fix wrote; and none in a line that Dynamo traced without a break
before. A break that a frame given up as a whole hid until then does not count against the fix.
"""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from pt2lint.dynamic import nursery
from pt2lint.dynamic.child.log_listener import under
from pt2lint.dynamic.events import Events, Run
from pt2lint.dynamic.options import VerifyOptions
from pt2lint.dynamic.plan import Job, find_files
from pt2lint.dynamic.process import Around
from pt2lint.dynamic.run import find_python, read_sources
from pt2lint.finding import Finding, Fix
from pt2lint.fixes.attempt import Attempts, Failed, Place, line_map, places
from pt2lint.fixes.bench import Bench, Seen
from pt2lint.fixes.edit import EditError, choose
from pt2lint.fixes.recount import NOISY, SILENT, UNSEEN, Recounter, moved_to
from pt2lint.fixes.repairs.disable import last_resort
from pt2lint.fixes.timing import timed

ATTEMPTS = 4  # fixes of one finding that are tried, at most


@dataclass
class Proof:
    """The findings with `Fix.proven` set where a fix was tried, and sentences for the report.

    `gone` are the lines that broke before, and with proven fixes are traced and no longer do, those of other findings
    included: (real path, line) and whether these fixes were all repairs. `times` are the seconds of a call by target:
    "eager", "cold" (the first compiled one), "warm", and "fixed", warm with the proven fixes.
    """

    findings: list[Finding]
    notes: list[str] = field(default_factory=list)
    gone: dict[Place, bool] = field(default_factory=dict)
    times: dict[str, dict[str, float]] = field(default_factory=dict)


@nursery.kept()
def prove(
    findings: Sequence[Finding],
    events: Events,
    paths: Sequence[str],
    options: VerifyOptions | None = None,
    on_progress: Callable[[str], None] | None = None,
    timing: str | None = None,
    folder: str | None = None,
) -> Proof:
    """Try the fixes of every confirmed finding, the first first, until one is proven: of graph breaks, of
    recompilations, and of what silently does nothing.

    `timing` names a backend: how long calls take is measured too, eager and compiled with it, before and with all
    proven fixes. `folder` is where the children run (None: here).

    `events` are those of the `VerifyResult` that confirmed the findings: they say which targets break where.
    This RUNS the user's code, and writes nothing to the user's files. Never raises for what the user's code does: a
    fix that cannot be tried keeps `proven` None, and a note says why.
    """
    options = options or VerifyOptions()
    progress = on_progress or (lambda text: None)
    shown = find_files(paths, (finding.path for finding in findings))
    sources = {os.path.realpath(path): text for path, text in read_sources(shown).items()}
    folders = [os.path.realpath(path) for path in paths if os.path.isdir(path)]
    roots = folders + [path for path in sources if not under(path, folders)]

    @cache
    def last(number: int) -> Fix | None:
        return _last(findings[number], sources, events)

    reach = {
        number: found
        for number, finding in enumerate(findings)
        if finding.is_graph_break and (_to_try(finding) or last(number) is not None)
        if (found := _targets_that_break(finding, events, roots))
    }
    others = [
        number for number, finding in enumerate(findings) if not finding.is_graph_break and _to_try(finding)
    ]
    if not reach and not others and not timing:
        return Proof(list(findings))
    python, trouble = find_python(options.python, paths)
    if python is None:
        return Proof(list(findings), [trouble])
    with tempfile.TemporaryDirectory(prefix="pt2lint-proof-") as scratch:
        known = _default_runs(events)
        around = Around(folder, options.environment)
        bench = Bench(python, options, sources, roots, Path(scratch), progress, known, events.jobs, around)
        prover = _Prover(bench)
        proved = prover.prove_all(findings, reach, others, last, events)
        times = {}
        if timing:
            targets = sorted({run.target for run in events.runs if run.probe == "default"})
            times = timed(bench, proved, timing, targets)
        return Proof(proved, bench.notes, prover.attempts.gone, times)


def _to_try(finding: Finding) -> bool:
    return finding.verdict == "confirmed" and any(fix.proven is None and fix.edits for fix in finding.fixes)


def _last(finding: Finding, sources: Mapping[str, str], events: Events) -> Fix | None:
    """What is left to try where nothing else helps: to run the function outside of the graph, unless it is what is
    compiled."""
    path = os.path.realpath(finding.path)
    if finding.verdict != "confirmed" or path not in sources:
        return None
    if any(fix.is_workaround and not fix.is_setting for fix in finding.fixes):
        return None
    entries = {place[1] for run in events.runs if (place := run.details.get("defined")) and place[0] == path}
    return last_resort(finding.path, sources[path], finding.line, entries)


def _called(finding: Finding, events: Events) -> set[str]:
    """The targets whose further calls compiled again what the finding is about; none where a program showed it."""
    by = set((finding.evidence or {}).get("targets") or ())
    return {run.target for run in events.runs if run.target in by and run.probe == "default"}


def _default_runs(events: Events) -> dict[tuple[str, str], Run]:
    """Runs in default mode by (target, mode), where no two targets have one name."""
    runs = [run for run in events.runs if run.probe == "default"]
    counts = Counter((run.target, run.mode) for run in runs)
    return {key: run for run in runs if counts[key := (run.target, run.mode)] == 1}


def _targets_that_break(finding: Finding, events: Events, roots: Sequence[str]) -> set[str]:
    path = os.path.realpath(finding.path)
    return {
        run.target
        for run in events.runs
        if run.probe == "default"
        and any(
            place[0] == path and finding.line <= place[1] <= finding.end_line
            for place in places(run.breaks, roots)
        )
    }


class _Prover:
    """Chooses what is tried together and what next, until each finding has a fix that is proven or none left."""

    def __init__(self, bench: Bench) -> None:
        self.bench, self.notes, self.progress = bench, bench.notes, bench.progress
        self.attempts = Attempts(bench)

    def prove_all(
        self,
        findings: Sequence[Finding],
        reach: Mapping[int, set[str]],
        others: Sequence[int],
        last: Callable[[int], Fix | None],
        events: Events,
    ) -> list[Finding]:
        """The findings, their fixes marked as far as they were tried: first those that compile something else instead,
        then those of graph breaks (`reach`: in which targets each breaks), then the `others`."""
        proved = list(findings)
        # Calls of what is compiled again are compared like those of what breaks.
        called = {number: _called(findings[number], events) for number in others}
        called = {number: targets for number, targets in called.items() if targets}
        self.bench.in_a_row = bool(called)
        moved = [
            number
            for number in reach
            if _to_try(findings[number]) and any(fix.compiles_elsewhere for fix in findings[number].fixes)
        ]
        if moved:
            proved = self.prove_again(proved, moved, {}, events)
            reach = {
                number: by for number, by in reach.items() if not any(f.proven for f in proved[number].fixes)
            }
        if reach or called:
            self.bench.observe(proved, {**reach, **called})
        if reach:
            proved = self.prove(proved, reach, last)
        if others:
            proved = self.prove_again(proved, others, called, events)
        return proved

    def prove(
        self, findings: Sequence[Finding], reach: Mapping[int, set[str]], last: Callable[[int], Fix | None]
    ) -> list[Finding]:
        """The findings, their fixes marked as far as they were tried: of each the first that is proven ends
        the search. Fixes that do not touch each other are tried together, and apart where that fails."""
        fixes = {number: list(findings[number].fixes) for number in reach}
        for index in range(ATTEMPTS):
            open_ = [
                number
                for number, given in fixes.items()
                if index < len(given)
                and given[index].is_to_try
                and not given[index].compiles_elsewhere
                and given[index].proven is None
                and not any(fix.proven for fix in given)
                and not self.mended_with_another(findings[number])
            ]
            while open_:
                # What is compared otherwise is tried apart.
                kind = _kind(fixes[open_[0]][index])
                ones = {
                    id(one): (number, one)
                    for number in open_
                    if _kind(fixes[number][index]) == kind
                    for one in [replace(findings[number], fixes=(fixes[number][index],))]
                }
                chosen = choose([one for _, one in ones.values()], "unsafe", to_prove=True)
                group = [ones[id(one)] for one, _ in chosen.taken]
                if not group:
                    break  # what only imports cannot be tried by itself
                for number, proven in self.prove_group(group, reach, kind[0]).items():
                    fixes[number][index] = replace(fixes[number][index], proven=proven)
                tried = {number for number, _ in group}
                open_ = [number for number in open_ if number not in tried]
        self.all_together(findings, fixes)
        left = {
            number: one
            for number, given in fixes.items()
            if not any(fix.proven for fix in given)
            and not self.mended_with_another(findings[number])
            and (one := last(number))
        }
        group = [(number, replace(findings[number], fixes=(one,))) for number, one in left.items()]
        for number, proven in (self.prove_group(group, reach, False) if group else {}).items():
            if proven:
                fixes[number].append(replace(left[number], proven=True))
        self.notes += [
            f"{finding.path}:{finding.line}: {finding.code}: gone with the repair of another finding"
            for number, finding in enumerate(findings)
            if number in fixes
            and not any(fix.proven for fix in fixes[number])
            and self.mended_with_another(finding)
        ]
        return [
            replace(finding, fixes=tuple(fixes[number])) if number in fixes else finding
            for number, finding in enumerate(findings)
        ]

    def mended_with_another(self, finding: Finding) -> bool:
        """Whether a repair of another finding was proven after which the graph no longer breaks in this one's line."""
        return bool(self.attempts.gone.get((os.path.realpath(finding.path), finding.line)))

    def prove_group(
        self, group: Sequence[tuple[int, Finding]], reach: Mapping[int, set[str]], calm: bool
    ) -> dict[int, bool]:
        """Whether each of these findings' only fix is proven; those that no observed call reaches are left.

        Where the fixes fail together and it is plain whose fault it is, the others are tried without these, else in
        halves.
        """
        targets = set().union(*(reach[number] for number, _ in group))
        if calm not in self.bench.before:
            self.bench.look_at_all({}, set().union(*reach.values()), calm)
        jobs = [one for one in self.bench.before[calm] if targets & {target for target, _ in one[2].runs}]
        if not jobs:
            return {}
        vain = [
            number
            for number, finding in group
            if (taken := finding.fixes[0].takes) is not None and taken not in self.bench.sides.get(number, ())
        ]
        if vain:
            self.notes += [
                _not_proven(finding, why="it was never taken") for number, finding in group if number in vain
            ]
            left = [one for one in group if one[0] not in vain]
            return dict.fromkeys(vain, False) | (self.prove_group(left, reach, calm) if left else {})
        self.progress(f"trying {len(group)} fix{'es' if len(group) > 1 else ''}")
        failed, summary = self.attempts.attempt([finding for _, finding in group], jobs, targets, calm)
        if failed is not None and failed.rounding and calm not in self.bench.exact:
            self.bench.exact.add(calm)
            self.bench.look_at_all({}, set().union(*reach.values()), calm)
            return self.prove_group(group, reach, calm)
        if failed is not None and len(group) > 1:
            half = len(group) // 2
            first = [one for at, one in enumerate(group) if (at not in failed.at if failed.at else at < half)]
            if not failed.at:
                return self.prove_group(first, reach, calm) | self.prove_group(group[half:], reach, calm)
            for at in sorted(failed.at):
                self.notes.append(_not_proven(group[at][1], why=failed.why))
            guilty = {group[at][0]: False for at in failed.at}
            return guilty | (self.prove_group(first, reach, calm) if first else {})
        if failed is not None and failed.random and not calm:
            again = self.prove_group(group, reach, calm=True)
            if again:
                return again
        for number, finding in group:
            if failed is None:
                where = f"{finding.path}:{finding.line}: {finding.code}"
                without = ", with dropout turned off" if calm else ""
                self.notes.append(f"{where}: proven{without}: {_title(finding)}{self.seen_sides(number)}")
            else:
                self.notes.append(_not_proven(finding, why=failed.why))
        if failed is None:
            self.notes.append(f"with {'these fixes' if len(group) > 1 else 'this fix'}: {summary}")
        return {number: failed is None for number, _ in group}

    def all_together(self, findings: Sequence[Finding], fixes: Mapping[int, list[Fix]]) -> None:
        """Try the repairs that were proven in several groups once more, all at once: they go into one file, and what
        breaks only because Dynamo resumed after them is gone then. What failed alone is tried beside them: a repair
        may need another one."""
        repairs = {
            number: fix
            for number, given in fixes.items()
            for fix in given
            if fix.proven and not fix.is_workaround
        }
        alone = {
            number: replace(given[0], proven=None)
            for number, given in fixes.items()
            if given
            and given[0].proven is False
            and not given[0].is_workaround
            and not any(fix.proven for fix in given)
            and not self.mended_with_another(findings[number])
        }
        while repairs and alone:
            taken, failed, said = self.together(findings, repairs | alone)
            if failed is None and taken:
                for number in alone.keys() & set(taken):
                    fixes[number][0] = replace(alone[number], proven=True)
                    finding = replace(findings[number], fixes=(alone[number],))
                    where = f"{finding.path}:{finding.line}: {finding.code}"
                    self.notes.append(f"{where}: proven with the other repairs: {_title(finding)}")
                self.notes.append(f"with all {len(taken)} repairs together: {said}")
                return
            guilty = {taken[at] for at in failed.at} if failed is not None else set()
            if not guilty & alone.keys():
                break
            alone = {number: fix for number, fix in alone.items() if number not in guilty}
        if self.attempts.repaired > 1:
            taken, failed, said = self.together(findings, repairs)
            if taken:
                why = said if failed is None else f"not proven: {failed.why}"
                self.notes.append(f"with all {len(taken)} repairs together: {why}")

    def together(
        self, findings: Sequence[Finding], fixes: Mapping[int, Fix]
    ) -> tuple[list[int], Failed | None, str]:
        """The findings whose fixes do not touch each other, why these are not proven (None: they are), and what was
        measured; no findings where there is nothing to try."""
        ones = {
            id(one): (number, one)
            for number, fix in fixes.items()
            for one in [replace(findings[number], fixes=(fix,))]
        }
        chosen = choose([one for _, one in ones.values()], "unsafe", to_prove=True)
        group = [ones[id(one)] for one, _ in chosen.taken]
        # As one by one: with dropout turned off where random numbers may be why they fail.
        draws = any(one.fixes[0].draws_otherwise for _, one in group)
        for calm in (True,) if draws else (False, True):
            jobs = self.bench.before.get(calm, [])
            targets = {target for _, _, seen in jobs for target, _ in seen.runs}
            if len(group) < 2 or not targets:
                continue
            self.progress(f"trying all {len(group)} repairs together")
            failed, summary = self.attempts.attempt([one for _, one in group], jobs, targets, calm)
            without = ", with dropout turned off" if calm else ""
            if failed is None or not failed.random or calm or True not in self.bench.before:
                return [number for number, _ in group], failed, f"{summary}{without}"
        return [], None, ""

    def prove_again(
        self,
        findings: Sequence[Finding],
        numbers: Sequence[int],
        called: Mapping[int, set[str]],
        events: Events,
    ) -> list[Finding]:
        """The findings, their fixes for recompilations and for what silently does nothing, and those of graph breaks
        after which something else is compiled, marked as far as they were tried, one after the other."""
        recounter = Recounter(self.child_again, events, self.bench.ways, self.bench.sources)
        found = list(findings)
        refused: dict[tuple[str, str, str], list[Finding]] = {}  # one fix of many findings is told once
        for number in numbers:
            fixes = list(findings[number].fixes)
            for index, one in enumerate(fixes[:ATTEMPTS]):
                if not one.edits or one.proven is not None:
                    continue
                if findings[number].is_graph_break and not one.compiles_elsewhere:
                    continue
                finding = replace(findings[number], fixes=(one,))
                self.progress(f"trying a fix of {finding.code}")
                why, said = self.try_again(finding, called.get(number, set()), recounter)
                if why is None:
                    where = f"{finding.path}:{finding.line}: {finding.code}"
                    self.notes.append(f"{where}: proven: {_title(finding)}: {said}")
                else:
                    refused.setdefault((finding.path, _title(finding), why), []).append(finding)
                fixes[index] = replace(one, proven=None if why in (NOISY, SILENT, UNSEEN) else why is None)
                if why is None:
                    break
            found[number] = replace(findings[number], fixes=tuple(fixes))
        self.notes += [_not_proven(*those, why=why) for (_, _, why), those in refused.items()]
        return found

    def try_again(self, finding: Finding, targets: set[str], recounter: Recounter) -> tuple[str | None, str]:
        """Why the finding's only fix is not proven (None: it is), and what was counted."""
        try:
            overlay = self.bench.laid_over(finding.fixes)
        except (EditError, KeyError) as error:
            return f"it cannot be applied: {error}", ""
        said = ""
        if targets:
            jobs = [
                one for one in self.bench.before[False] if targets & {target for target, _ in one[2].runs}
            ]
            if not jobs:
                return "its calls could not be observed", ""
            failed, summary = self.attempts.attempt([finding], jobs, targets, calm=False)
            if failed is not None:
                return failed.why, ""
            said = f"; {summary}"
        path = os.path.realpath(finding.path)
        lines = line_map(self.bench.sources[path], overlay[path]) if path in overlay else {}
        moved = moved_to(finding, lines) if lines else finding
        why, counted = recounter.again(finding, moved, overlay, targets)
        return why, counted + said

    def child_again(
        self,
        job: Job,
        overlay: Mapping[str, str],
        more: Mapping[str, Any],
        hear: Callable[[Mapping[str, Any]], None],
    ) -> str | None:
        """Run one job's child, hand over its messages, and return what went wrong."""

        def listen(seen: Seen, message: Mapping[str, Any]) -> bool:
            hear(message)
            return False

        return self.bench.child(job, overlay, more, listen).trouble

    def seen_sides(self, number: int) -> str:
        sides = self.bench.sides.get(number)
        if not sides:
            return ""
        if len(sides) == 2:
            return "; both sides were taken"
        return f"; only one side was seen: the test was always {'true' if True in sides else 'false'}"


def _kind(fix: Fix) -> tuple[bool, bool]:
    """How a fix is compared: with dropout turned off, without what is printed."""
    return fix.draws_otherwise, fix.tells_otherwise


def _title(finding: Finding) -> str:
    return finding.fixes[0].description.partition(". ")[0].rstrip(".")


def _not_proven(finding: Finding, *others: Finding, why: str) -> str:
    lines = sorted({each.line for each in others} - {finding.line})
    also = f" (and of line {', '.join(map(str, lines))})" if lines else ""
    return f"{finding.path}:{finding.line}: {finding.code}{also}: not proven: {_title(finding)}: {why}"
