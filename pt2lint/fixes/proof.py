"""Proof of fixes: each is laid over its files in a child process, run, and compared with the code as it was.

Proven means, on every sample input and on what was made of it (negated, zeros, larger, smaller, with a NaN
and an infinity, masks switched, with gradients, other seeds), as far as there is time: the same results,
gradients, changes in place, buffers, prints and errors, in eager mode and compiled; no graph break left where
the finding was; none in the lines that the fix wrote; and none in a line that Dynamo traced without a break
before. A break that a frame given up as a whole hid until then does not count against the fix.
"""

from __future__ import annotations

import difflib
import os
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from pt2lint.dynamic import nursery
from pt2lint.dynamic.child.log_listener import under
from pt2lint.dynamic.events import Break, Events, Run, run_from
from pt2lint.dynamic.options import VerifyOptions
from pt2lint.dynamic.plan import Job, find_files, plan
from pt2lint.dynamic.process import Around, run_child
from pt2lint.dynamic.run import find_python, limits_of, read_sources
from pt2lint.finding import Edit, Finding, Fix
from pt2lint.fixes.edit import TAKEN, EditError, apply_edits, check_source, checked, choose
from pt2lint.fixes.recount import SILENT, UNSEEN, Recounter, moved_to
from pt2lint.fixes.repairs.disable import last_resort

NOT_FINITE = ("one NaN", "one infinity", "all NaN", "all infinite")  # labels of changed inputs
NUMBERS = ("whole numbers reversed", "whole numbers alike")
ATTEMPTS = 4  # fixes of one finding that are tried, at most
RETRIES = 3  # changed inputs that may end the process before the observation is given up

Place = tuple[str, int]


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


@dataclass(frozen=True)
class _Failed:
    """Why fixes that were tried together are not proven; `at` are those whose fault it plainly is, by their place
    among them; `random` where it may be that compiled code merely draws other random numbers, `rounding` where a run in
    a wider dtype may tell that numbers differ no more than they have to."""

    why: str
    at: frozenset[int] = frozenset()
    random: bool = False
    rounding: bool = False


@dataclass
class _Seen:
    """What one child said: runs in default mode, comparisons, truth values of tests, and what went wrong.

    `step` is what it did last: (mode, label of the call, in which way); `left` counts calls that there was no time for;
    `noise` is the largest difference between two runs of the unchanged code, `deterministic` whether they agree
    better with deterministic algorithms.
    """

    runs: dict[tuple[str, str], Run] = field(default_factory=dict)
    step: tuple[str, str, str] | None = None
    observed: set[tuple[str, str]] = field(default_factory=set)
    left: int = 0
    deterministic: bool = False
    noise: float = 0.0
    program_failed: bool = False
    compared: list[Mapping[str, Any]] = field(default_factory=list)
    timed: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    sides: dict[int, set[bool]] = field(default_factory=dict)
    trouble: str | None = None

    def hear(self, message: dict[str, Any]) -> None:
        kind = message.get("event")
        if kind == "run" and message["probe"] == "default":
            self.runs[message["target"], message["mode"]] = run_from(message)
        elif kind == "compared":
            self.compared.append(message)
        elif kind == "timed":
            self.timed[message["target"]] = message
        elif kind == "step":
            self.step = (message["mode"], message["label"], message["what"])
        elif kind == "left":
            self.left += message["number"]
        elif kind == "observed":
            self.observed.add((message["target"], message["mode"]))
            self.deterministic |= message["deterministic"]
            self.noise = max(self.noise, message["noise"])
            self.left += message["left"]
            for number, values in message["sides"].items():
                self.sides.setdefault(int(number), set()).update(values)
        elif kind in ("bad_inputs", "no_torch"):
            self.trouble = message["message"]
        elif kind in ("load_failed", "program_failed"):
            self.trouble = f"{message['error']['type']}: {message['error']['message']}"
            self.program_failed = kind == "program_failed"


@nursery.kept()
def prove(
    findings: Sequence[Finding],
    events: Events,
    paths: Sequence[str],
    options: VerifyOptions | None = None,
    on_progress: Callable[[str], None] | None = None,
    texts: Mapping[str, str] | None = None,
    timing: str | None = None,
    folder: str | None = None,
) -> Proof:
    """Try the fixes of every confirmed finding, the first first, until one is proven: of graph breaks, of
    recompilations, and of what silently does nothing.

    `timing` names a backend: how long calls take is measured too, eager and compiled with it, before and with all
    proven fixes. `folder` is where the children run (None: here).

    `events` are those of the `VerifyResult` that confirmed the findings: they say which targets break where.
    `texts` holds what stands in place of a file, by path as findings name it. This RUNS the user's code, and
    writes nothing to the user's files. Never raises for what the user's code does: a fix that cannot be tried
    keeps `proven` None, and a note says why.
    """
    options = options or VerifyOptions()
    progress = on_progress or (lambda text: None)
    shown = find_files(paths, (finding.path for finding in findings))
    sources = {os.path.realpath(path): text for path, text in read_sources(shown).items()}
    sources |= {os.path.realpath(path): text for path, text in (texts or {}).items()}
    folders = [os.path.realpath(path) for path in paths if os.path.isdir(path)]
    roots = folders + [path for path in sources if not under(path, folders)]

    @cache
    def last(number: int) -> Fix | None:
        return _last(findings[number], sources, events)

    reach = {
        number: found
        for number, finding in enumerate(findings)
        if finding.code.startswith("PTB") and (_to_try(finding) or last(number) is not None)
        if (found := _targets_that_break(finding, events, roots))
    }
    others = [
        number
        for number, finding in enumerate(findings)
        if not finding.code.startswith("PTB") and _to_try(finding)
    ]
    moved = [
        number
        for number in reach
        if _to_try(findings[number]) and any(fix.compiles_elsewhere for fix in findings[number].fixes)
    ]
    if not reach and not others and not timing:
        return Proof(list(findings))
    python, trouble = find_python(options.python, paths)
    if python is None:
        return Proof(list(findings), [trouble])
    with tempfile.TemporaryDirectory(prefix="pt2lint-proof-") as scratch:
        known = _default_runs(events)
        around = Around(folder, options.environment)
        prover = _Prover(python, options, sources, roots, Path(scratch), progress, known, events, around)
        proved = list(findings)
        # Calls of what is compiled again are compared like those of what breaks.
        called = {number: _called(findings[number], events) for number in others}
        called = {number: targets for number, targets in called.items() if targets}
        prover.in_a_row = bool(called)
        if moved:
            proved = prover.prove_again(proved, moved, {}, events)
            reach = {
                number: by for number, by in reach.items() if not any(f.proven for f in proved[number].fixes)
            }
        if reach or called:
            prover.observe(proved, reach | called)
        if reach:
            proved = prover.prove(proved, reach, last)
        if others:
            proved = prover.prove_again(proved, others, called, events)
        if timing:
            prover.time(proved, timing, sorted({run.target for run in events.runs if run.probe == "default"}))
        return Proof(proved, prover.notes, prover.gone, prover.times)


def _to_try(finding: Finding) -> bool:
    return finding.verdict == "confirmed" and any(fix.proven is None and fix.edits for fix in finding.fixes)


def _last(finding: Finding, sources: Mapping[str, str], events: Events) -> Fix | None:
    """What is left to try where nothing else helps: to run the function outside of the graph, unless it is what is
    compiled."""
    path = os.path.realpath(finding.path)
    if finding.verdict != "confirmed" or path not in sources:
        return None
    if any(fix.is_way_round and not fix.is_setting for fix in finding.fixes):
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


def places(breaks: Iterable[Break], roots: Sequence[str]) -> list[Place]:
    """Where breaks are in the user's code: the innermost line there of each."""
    found = []
    for one in breaks:
        frames = [(frame[0], frame[1]) for frame in one.stack] + [(one.path, one.line)]
        inner = [frame for frame in frames if under(frame[0], list(roots))]
        found += inner[-1:]
    return found


class _Prover:
    def __init__(
        self,
        python: str,
        options: VerifyOptions,
        sources: dict[str, str],
        roots: list[str],
        folder: Path,
        progress: Callable[[str], None],
        known: Mapping[tuple[str, str], Run],
        events: Events,
        around: Around,
    ) -> None:
        self.known, self.ways, self.around = known, events.jobs, around
        self.times: dict[str, dict[str, float]] = {}
        self.python, self.options, self.sources, self.roots = python, options, sources, roots
        self.folder, self.progress = folder, progress
        self.notes: list[str] = []
        # What was observed as it is; with dropout (False) and, once it is asked for, without (True).
        self.before: dict[bool, list[tuple[Job, Path, _Seen]]] = {}
        self.sides: dict[int, set[bool]] = {}
        self.gone: dict[Place, bool] = {}
        self.exact: set[bool] = set()  # of `before`: what was observed in float64 as well
        self.in_a_row = self.numbers = False
        self.repaired = 0  # how many groups of repairs were proven
        self.jobs: list[Job] = []

    def observe(self, findings: Sequence[Finding], reach: Mapping[int, set[str]]) -> None:
        """Run the code as it is, once a job, with the tests that fixes rewrite wrapped to see their
        values."""
        self.numbers = any(fix.asks_for_numbers for number in reach for fix in findings[number].fixes)
        flagged = {os.path.realpath(findings[number].path) for number in reach}
        overlay = self.wrapped([(number, findings[number]) for number in reach])
        targets = set().union(*reach.values())
        self.jobs = [
            job
            for job in self.ways or plan(self.sources, flagged, self.options)
            if job.kind != "program" and (not job.covers or flagged & set(job.covers))
        ]
        self.look_at_all(overlay, targets, calm=False)

    def look_at_all(self, overlay: Mapping[str, str], targets: set[str], calm: bool) -> None:
        found = self.before[calm] = []
        for number, job in enumerate(self.jobs):
            file = self.folder / f"{number}{'-calm' if calm else ''}.pt"
            how = ", with dropout turned off" if calm else ""
            self.progress(f"{job.label}: observing what it does now{how}")
            seen = self.look(job, overlay, file, targets, calm)
            if seen.runs:
                found.append((job, file, seen))
                for finding, values in seen.sides.items():
                    self.sides.setdefault(finding, set()).update(values)

    def look(
        self, job: Job, overlay: Mapping[str, str], file: Path, targets: Iterable[str], calm: bool
    ) -> _Seen:
        """What one job does now. Changed inputs that bring it down (a size that comes of them takes all memory) are
        left out; where nothing helps, no runs are returned, or those of the modes that could be observed."""
        # What is selected by torch.where has a gradient of zero only for finite values, as such fixes say.
        left = [*(NOT_FINITE if calm else ()), *(() if self.numbers else NUMBERS)]
        leave = {mode: [*left] for mode in ("call", *self.options.modes)}
        for _ in range(RETRIES + 1):
            seen = self.run(job, overlay, file, True, targets, leave=leave, calm=calm)
            if seen.trouble is None or seen.step is None or seen.step[1] == "call 1":
                break
            mode, label, _ = seen.step
            self.notes.append(f"{job.label}: left out `{label}`, with which it ended early: {seen.trouble}")
            leave.setdefault(mode, []).append(label)
        if not calm:
            seen.runs |= {key: run for key, run in self.known.items() if key in seen.observed}
        if seen.trouble:
            here = f" in {seen.step[0]} mode" if seen.step and seen.observed else ""
            self.notes.append(f"{job.label}: no fix was tried{here}, since it ended early: {seen.trouble}")
            seen.runs = {key: run for key, run in seen.runs.items() if key in seen.observed}
        if seen.left:
            self.notes.append(f"{job.label}: {seen.left} changed inputs were left out for want of time")
        return seen

    def wrapped(self, findings: Sequence[tuple[int, Finding]]) -> dict[str, str]:
        texts: dict[str, str] = {}
        wraps: dict[str, list[Edit]] = {}
        for number, finding in findings:
            path = os.path.realpath(finding.path)
            branch = any(
                fix.description.startswith(tuple(TAKEN))
                or (fix.draws_otherwise and finding.code == "PTB110")
                or "branch" in fix.description.lower()
                for fix in finding.fixes
            )
            if not branch or path not in self.sources:
                continue
            first = Edit(path, finding.line, finding.column, finding.line, finding.column, "")
            last = Edit(path, finding.end_line, finding.end_column, finding.end_line, finding.end_column, "")
            wrap = [replace(first, text=f"_pt2lint_side({number}, ("), replace(last, text="))")]
            try:
                text = apply_edits(self.sources[path], [*wraps.get(path, []), *wrap])
                check_source(path, text)
            except EditError:
                continue  # not an expression by itself: nothing can be asked of it
            texts[path] = text
            wraps.setdefault(path, []).extend(wrap)
        return texts

    def run(
        self,
        job: Job,
        overlay: Mapping[str, str],
        file: Path,
        save: bool,
        only: Iterable[str],
        says_runtime_error: bool = False,
        prints: bool = True,
        enough: Callable[[_Seen, Mapping[str, Any]], bool] = lambda seen, message: False,
        leave: Mapping[str, Sequence[str]] | None = None,
        calm: bool = False,
        more_buffers: bool = False,
        in_tensors: bool = False,
    ) -> _Seen:
        """What the child says; it is ended early once `enough` is known. `leave`: labels of calls by mode; `calm`:
        with dropout turned off; `prints`: whether compiled code has to print the same."""
        observe = {
            "file": str(file), "save": save, "only": sorted(only), "runtime_error": says_runtime_error,
            "in_tensors": in_tensors, "prints": prints, "in_a_row": self.in_a_row, "more_buffers": more_buffers,
            "leave": dict(leave or {}), "seconds": self.options.timeout, "calm": calm, "exact": calm in self.exact,
            "known": [] if calm else [list(key) for key in self.known],
        }  # fmt: skip
        return self.child(job, overlay, {"observe": observe}, enough)

    def child(
        self,
        job: Job,
        overlay: Mapping[str, str],
        more: Mapping[str, Any],
        enough: Callable[[_Seen, Mapping[str, Any]], bool] = lambda seen, message: False,
    ) -> _Seen:
        options, seen, stop = self.options, _Seen(), threading.Event()

        def hear(message: dict[str, Any]) -> None:
            seen.hear(message)
            if enough(seen, message):
                stop.set()

        limits = limits_of(options)
        spec = {
            "kind": job.kind, "what": job.what, "roots": self.roots, "skip": [], "further": False,
            "modes": list(options.modes), "backend": options.backend, "device": options.device,
            "memory": limits.memory, "overlay": dict(overlay), **more,
        }  # fmt: skip
        ended = run_child(self.python, spec, limits, hear, stop, self.around)
        if ended is not None and seen.trouble is None and not stop.is_set():
            seen.trouble = str(ended)
        return seen

    def prove(
        self,
        findings: Sequence[Finding],
        reach: Mapping[int, set[str]],
        last: Callable[[int], Fix | None],
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
        return bool(self.gone.get((os.path.realpath(finding.path), finding.line)))

    def prove_group(
        self, group: Sequence[tuple[int, Finding]], reach: Mapping[int, set[str]], calm: bool
    ) -> dict[int, bool]:
        """Whether each of these findings' only fix is proven; those that no observed call reaches are left.

        Where the fixes fail together and it is plain whose fault it is, the others are tried without these, else in
        halves.
        """
        targets = set().union(*(reach[number] for number, _ in group))
        if calm not in self.before:
            self.look_at_all({}, set().union(*reach.values()), calm)
        jobs = [one for one in self.before[calm] if targets & {target for target, _ in one[2].runs}]
        if not jobs:
            return {}
        vain = [
            number
            for number, finding in group
            for start, taken in TAKEN.items()
            if finding.fixes[0].description.startswith(start) and taken not in self.sides.get(number, ())
        ]
        if vain:
            self.notes += [
                _not_proven(finding, "it was never taken") for number, finding in group if number in vain
            ]
            left = [one for one in group if one[0] not in vain]
            return dict.fromkeys(vain, False) | (self.prove_group(left, reach, calm) if left else {})
        self.progress(f"trying {len(group)} fix{'es' if len(group) > 1 else ''}")
        failed, summary = self.attempt([finding for _, finding in group], jobs, targets, calm)
        if failed is not None and failed.rounding and calm not in self.exact:
            self.exact.add(calm)
            self.look_at_all({}, set().union(*reach.values()), calm)
            return self.prove_group(group, reach, calm)
        if failed is not None and len(group) > 1:
            half = len(group) // 2
            first = [one for at, one in enumerate(group) if (at not in failed.at if failed.at else at < half)]
            if not failed.at:
                return self.prove_group(first, reach, calm) | self.prove_group(group[half:], reach, calm)
            for at in sorted(failed.at):
                self.notes.append(_not_proven(group[at][1], failed.why))
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
                self.notes.append(_not_proven(finding, failed.why))
        if failed is None:
            self.notes.append(f"with {'these fixes' if len(group) > 1 else 'this fix'}: {summary}")
        return {number: failed is None for number, _ in group}

    def all_together(self, findings: Sequence[Finding], fixes: Mapping[int, Sequence[Fix]]) -> None:
        """Try the repairs that were proven in several groups once more, all at once: they go into one file, and what
        breaks only because Dynamo resumed after them is gone then."""
        if self.repaired < 2:
            return
        ones = [
            replace(findings[number], fixes=(fix,))
            for number, given in fixes.items()
            for fix in given
            if fix.proven and not fix.is_way_round
        ]
        draws = any(one.fixes[0].draws_otherwise for one in ones)
        taken = [one for one, _ in choose(ones, "unsafe", to_prove=True).taken]
        if len(taken) < 2:
            return
        # As one by one: with dropout turned off where random numbers may be why they fail.
        for calm in (True,) if draws else (False, True):
            jobs = self.before.get(calm, [])
            targets = {target for _, _, seen in jobs for target, _ in seen.runs}
            if not targets:
                continue
            self.progress(f"trying all {len(taken)} repairs together")
            failed, summary = self.attempt(taken, jobs, targets, calm)
            without = ", with dropout turned off" if calm else ""
            said = f"{summary}{without}" if failed is None else f"not proven: {failed.why}"
            if failed is None or not failed.random or calm or True not in self.before:
                self.notes.append(f"with all {len(taken)} repairs together: {said}")
                return

    def prove_again(
        self,
        findings: Sequence[Finding],
        numbers: Sequence[int],
        called: Mapping[int, set[str]],
        events: Events,
    ) -> list[Finding]:
        """The findings, their fixes for recompilations and for what silently does nothing, and those of graph breaks
        after which something else is compiled, marked as far as they were tried, one after the other."""
        recounter = Recounter(self.child_again, events, self.ways, self.sources)
        found = list(findings)
        for number in numbers:
            fixes = list(findings[number].fixes)
            for index, one in enumerate(fixes[:ATTEMPTS]):
                if not one.edits or one.proven is not None:
                    continue
                if findings[number].code.startswith("PTB") and not one.compiles_elsewhere:
                    continue
                finding = replace(findings[number], fixes=(one,))
                self.progress(f"trying a fix of {finding.code}")
                why, said = self.try_again(finding, called.get(number, set()), recounter)
                if why is None:
                    where = f"{finding.path}:{finding.line}: {finding.code}"
                    self.notes.append(f"{where}: proven: {_title(finding)}: {said}")
                else:
                    self.notes.append(_not_proven(finding, why))
                fixes[index] = replace(one, proven=None if why in (SILENT, UNSEEN) else why is None)
                if why is None:
                    break
            found[number] = replace(findings[number], fixes=tuple(fixes))
        return found

    def try_again(self, finding: Finding, targets: set[str], recounter: Recounter) -> tuple[str | None, str]:
        """Why the finding's only fix is not proven (None: it is), and what was counted."""
        try:
            overlay = self.laid_over(finding.fixes)
        except (EditError, KeyError) as error:
            return f"it cannot be applied: {error}", ""
        said = ""
        if targets:
            jobs = [one for one in self.before[False] if targets & {target for target, _ in one[2].runs}]
            if not jobs:
                return "its calls could not be observed", ""
            failed, summary = self.attempt([finding], jobs, targets, calm=False)
            if failed is not None:
                return failed.why, ""
            said = f"; {summary}"
        path = os.path.realpath(finding.path)
        lines = line_map(self.sources[path], overlay[path]) if path in overlay else {}
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

        def listen(seen: _Seen, message: Mapping[str, Any]) -> bool:
            hear(message)
            return False

        seen = self.child(job, overlay, more, listen)
        return None if seen.program_failed else seen.trouble  # its run says so

    def laid_over(self, fixes: Sequence[Fix]) -> dict[str, str]:
        """The texts of the files with these fixes; raises EditError, KeyError."""
        edits: dict[str, list[Edit]] = {}
        for fix in fixes:
            for edit in fix.edits:
                edits.setdefault(os.path.realpath(edit.path), []).append(edit)
        return {
            path: checked(path, self.sources[path], list(dict.fromkeys(given)))
            for path, given in edits.items()
        }

    def time(self, findings: Sequence[Finding], backend: str, targets: Sequence[str]) -> None:
        """A note for each target: eager, compiled before and with all proven fixes that do not touch each other."""
        chosen = choose(findings, "unsafe", proven_only=True)
        overlay = {
            path: apply_edits(self.sources[path], edits)
            for path, edits in _by_real_path(chosen.edits).items()
            if path in self.sources
        }
        wanted = {"time": {"backend": backend, "only": list(targets)}}
        for job in self.ways:
            if job.kind == "program":
                continue
            self.progress(f"{job.label}: timing it")
            before = self.child(job, {}, wanted)
            after = self.child(job, overlay, wanted) if overlay else before
            for target in targets:
                one, other = before.timed.get(target), after.timed.get(target)
                trouble = before.trouble or after.trouble
                for said in (one, other):
                    if said is not None and said["error"]:
                        trouble = f"{said['error']['type']}: {said['error']['message']}"
                if trouble or one is None or other is None:
                    if trouble:
                        self.notes.append(f"{target}: not timed: {trouble}")
                    continue
                mode = "" if one["mode"] == "call" else f" in {one['mode']} mode"
                self.notes.append(
                    f"{target}: a call {_took(one, other, overlay)} (median{mode}, backend {backend})"
                )
                if one["step"] and other["step"]:
                    step = _took(one["step"], other["step"], overlay)
                    self.notes.append(f"{target}: forward and backward {step} (median in train mode)")
                times = {"eager": one["eager"], "cold": one["cold"], "warm": one["compiled"]}
                self.times[target] = times | ({"fixed": other["compiled"]} if overlay else {})

    def seen_sides(self, number: int) -> str:
        sides = self.sides.get(number)
        if not sides:
            return ""
        if len(sides) == 2:
            return "; both sides were taken"
        return f"; only one side was seen: the test was always {'true' if True in sides else 'false'}"

    def attempt(
        self,
        findings: Sequence[Finding],
        jobs: Sequence[tuple[Job, Path, _Seen]],
        targets: set[str],
        calm: bool,
    ) -> tuple[_Failed | None, str]:
        """Why the fixes (one each) are not proven (None: they are), and what was measured."""
        fixes = [finding.fixes[0] for finding in findings]
        doubtful = frozenset(at for at, fix in enumerate(fixes) if "NaN" in fix.description)
        if doubtful:
            return _Failed("its gradient may be NaN for values that no sample shows", doubtful), ""
        try:
            overlay = self.laid_over(fixes)
        except (EditError, KeyError) as error:
            return _Failed(f"it cannot be applied: {error}"), ""
        old_lines = {path: line_map(self.sources[path], text) for path, text in overlay.items()}
        calls, left, numbers = 0, 0, [0, 0, 0, 0]
        judged: list[tuple[_Seen, _Seen]] = []
        pairs: list[tuple[Run, Run]] = []
        way_round = any(fix.is_way_round for fix in fixes)
        says_so = any("RuntimeError" in fix.description for fix in fixes)
        for job, file, before in jobs:

            def failure(
                seen: _Seen, message: Mapping[str, Any], runs: Mapping[tuple[str, str], Run] = before.runs
            ) -> _Failed | None:
                if message.get("event") == "compared" and message["difference"]:
                    return _Failed(
                        f"{message['label']}: {message['difference']}",
                        random=message["random"],
                        rounding=message["rounding"],
                    )
                key = (message.get("target", ""), message.get("mode", ""))
                if message.get("event") == "run" and message["probe"] == "default" and key[0] in targets:
                    if key in runs:
                        return self.still_breaks(findings, runs[key], seen.runs[key], old_lines, way_round)
                return None

            failures: list[_Failed] = []

            def enough(seen: _Seen, message: Mapping[str, Any]) -> bool:
                failures.extend(filter(None, [failure(seen, message)]))  # noqa: B023 -- called in this turn
                return bool(failures)  # noqa: B023

            after = self.run(
                job, overlay, file, False, targets, says_so, not fixes[0].tells_otherwise, enough, calm=calm,
                more_buffers=findings[0].code.startswith("PTR"), in_tensors=fixes[0].keeps_in_tensor,
            )  # fmt: skip
            if failures:
                return failures[0], ""
            if after.trouble:
                return _Failed(f"with it the code ends early: {after.trouble}"), ""
            for key, old in before.runs.items():
                if key[0] not in targets:
                    continue
                new = after.runs.get(key)
                if new is None:
                    return _Failed(f"with it {key[0]} no longer runs"), ""
                if way_round and old.graphs and not new.graphs:
                    return _Failed(f"with it nothing of {key[0]} is compiled any more"), ""
                pairs.append((old, new))
                for at, count in enumerate((old.graphs, new.graphs, old.breaks, new.breaks)):
                    numbers[at] += len(count)
            calls, left = calls + len(after.compared), left + after.left
            judged.append((before, after))
            if not after.compared:
                return _Failed("no call could be compared"), ""
        self.repaired += not way_round
        came_of = {path: line_map(self.sources[path], text, changed=True) for path, text in overlay.items()}
        for place in mended(pairs, came_of, self.roots):
            self.gone[place] = self.gone.get(place, False) or not way_round
        graphs = f"graphs {numbers[0]} to {numbers[1]}, breaks {numbers[2]} to {numbers[3]}"
        late = f", {left} more left out for want of time" if left else ""
        return None, f"{graphs}; the same on {calls} calls{late}{_grounds(judged)}"

    def still_breaks(
        self,
        findings: Sequence[Finding],
        old: Run,
        new: Run,
        old_lines: Mapping[str, dict[int, int]],
        way_round: bool,
    ) -> _Failed | None:
        if new.error is not None and (old.error is None or old.error.type != new.error.type):
            return _Failed(f"compiling then fails: {new.error}")
        known = set(places(old.breaks, self.roots))
        guilty: dict[int, str] = {}
        other: str | None = None
        for one in new.breaks:
            for path, line in places([one], self.roots):
                before = old_lines[path].get(line) if path in old_lines else line
                if before is None:
                    other = other or f"the graph then breaks in the fix itself (line {line}): {one.reason}"
                    wrote = _written(findings, path, line, old_lines[path])
                    if len(wrote) == 1:
                        guilty.setdefault(wrote.pop(), other)
                    continue
                for at, finding in enumerate(findings):
                    here = os.path.realpath(finding.path) == path
                    if here and finding.line <= before <= finding.end_line:
                        guilty.setdefault(at, f"the graph still breaks there: {one.reason}")
                traced = before in old.traced.get(path, ())
                if (path, before) not in known and traced and not way_round:
                    other = other or f"the graph then breaks in line {before}: {one.reason}"
        if guilty:
            return _Failed(next(iter(guilty.values())), frozenset(guilty))
        return _Failed(other) if other else None


def _kind(fix: Fix) -> tuple[bool, bool]:
    """How a fix is compared: with dropout turned off, without what is printed."""
    return fix.draws_otherwise, fix.tells_otherwise


def _written(findings: Sequence[Finding], path: str, line: int, old_lines: Mapping[int, int]) -> set[int]:
    """Whose fix wrote a line of the new text: those with an edit between the nearest lines that stayed."""
    first = next((old_lines[n] for n in range(line, 0, -1) if n in old_lines), 0)
    last = min((old for new, old in old_lines.items() if new > line), default=10**9)
    found = set()
    for at, finding in enumerate(findings):
        for edit in finding.fixes[0].edits:
            end = edit.end_line if edit.end_column > 1 else edit.end_line - 1
            within = edit.line < last and end > first if end >= edit.line else first < edit.line <= last
            if os.path.realpath(edit.path) == path and within:
                found.add(at)
    return found


def _grounds(runs: Sequence[tuple[_Seen, _Seen]]) -> str:
    """On what other ground than equality, up to rounding, calls were held to be the same."""
    said = ""
    if any(before.deterministic for before, _ in runs):
        said += "; with deterministic algorithms, as two runs of the code as it was differ without"
    noise = max((before.noise for before, _ in runs), default=0.0)
    if noise:
        apart = max((one["noise"] for _, after in runs for one in after.compared), default=0.0)
        said += f"; two runs of the code as it was differ by up to {noise:.2g}"
        said += f", with the fix by up to {apart:.2g}" if apart else ", which the comparison did not need"
    half = max((one["half"] for _, after in runs for one in after.compared), default=0.0)
    if half:
        said += f"; in half precision up to {half:.2g} apart, but no further from a run in a wider dtype than before"
    single = max((one["single"] for _, after in runs for one in after.compared), default=0.0)
    if single:
        said += f"; up to {single:.2g} apart, but no further from a run in float64 than before"
    if any(one["drawn_dtype"] for _, after in runs for one in after.compared):
        said += "; whole numbers of one dtype, where the code as it was gives one or another by what it draws"
    return said


def _by_real_path(edits: Mapping[str, list[Edit]]) -> dict[str, list[Edit]]:
    found: dict[str, list[Edit]] = {}
    for path, given in edits.items():
        found.setdefault(os.path.realpath(path), []).extend(given)
    return found


def _took(before: Mapping[str, Any], after: Mapping[str, Any], fixed: Mapping[str, str]) -> str:
    """Steady state and cold start in words; `fixed` are the texts with fixes, empty where there are none."""
    said = f"takes {_time(before['eager'])} eager, {_time(before['compiled'])} compiled"
    if not fixed:
        return f"{said}, the first one {_time(before['cold'])}"
    return (
        f"{said} before the proven fixes, {_time(after['compiled'])} compiled with them; the first one "
        f"{_time(before['cold'])} before, {_time(after['cold'])} with them"
    )


def _time(seconds: float) -> str:
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def _title(finding: Finding) -> str:
    return finding.fixes[0].description.partition(". ")[0].rstrip(".")


def _not_proven(finding: Finding, why: str) -> str:
    return f"{finding.path}:{finding.line}: {finding.code}: not proven: {_title(finding)}: {why}"


def mended(
    runs: Iterable[tuple[Run, Run]], old_lines: Mapping[str, Mapping[int, int]], roots: Sequence[str]
) -> set[Place]:
    """Lines of the old text that broke in a run before the fix, and that the runs with it trace and break nowhere."""

    def old(path: str, line: int) -> Place:
        return (path, old_lines[path].get(line, 0) if path in old_lines else line)

    broken, left, traced = set[Place](), set[Place](), set[Place]()
    for before, after in runs:
        broken |= set(places(before.breaks, roots))
        left |= {old(path, line) for path, line in places(after.breaks, roots)}
        traced |= {old(path, line) for path, lines in after.traced.items() for line in lines}
    return (broken & traced) - left


def line_map(old: str, new: str, changed: bool = False) -> dict[int, int]:
    """{line in the new text: the same line in the old one}; with `changed` also the line that it was made of, where as
    many lines took the place of others."""
    matcher = difflib.SequenceMatcher(None, old.splitlines(), new.splitlines(), autojunk=False)
    return {
        at + offset + 1: first + offset + 1
        for tag, first, last, at, end in matcher.get_opcodes()
        if tag == "equal" or (changed and tag == "replace" and last - first == end - at)
        for offset in range(end - at)
    }
