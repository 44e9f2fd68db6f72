"""Children that run the code for a proof: as it is, and with fixes laid over its files."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pt2lint.dynamic.events import Run, run_from
from pt2lint.dynamic.options import VerifyOptions
from pt2lint.dynamic.plan import Job, plan
from pt2lint.dynamic.process import Around, run_child
from pt2lint.dynamic.run import limits_of
from pt2lint.finding import Edit, Finding, Fix
from pt2lint.fixes.edit import EditError, apply_edits, check_source, checked

NOT_FINITE = ("one NaN", "one infinity", "all NaN", "all infinite")  # labels of changed inputs
NUMBERS = ("whole numbers reversed", "whole numbers alike")
RETRIES = 3  # changed inputs that may end the process before the observation is given up


@dataclass
class Seen:
    """What one child said: runs in default mode, comparisons, truth values of tests, and what went wrong.

    `step` is what it did last: (mode, label of the call, in which way); `left` counts calls that there was no time for;
    `noise` is the largest difference between two runs of the unchanged code, `deterministic` whether they agree
    better with deterministic algorithms; `ending` is what a program raised that was run to record its calls.
    """

    runs: dict[tuple[str, str], Run] = field(default_factory=dict)
    step: tuple[str, str, str] | None = None
    observed: set[tuple[str, str]] = field(default_factory=set)
    left: int = 0
    deterministic: bool = False
    noise: float = 0.0
    ending: str | None = None
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
        elif kind == "load_failed":
            self.trouble = _raised(message["error"])
        elif kind == "program_failed":
            self.ending = _raised(message["error"])


def _raised(error: Mapping[str, Any]) -> str:
    return f"{error['type']}: {error['message']}"


class Bench:
    """Runs jobs in children, and keeps what was observed of the code as it is.

    `before` is what each job showed: with dropout (False) and, once it is asked for, without (True); `exact` says for
    which of the two it was observed in float64 as well. `sides` are the truth values of the tests that fixes rewrite.
    """

    def __init__(
        self,
        python: str,
        options: VerifyOptions,
        sources: dict[str, str],
        roots: list[str],
        folder: Path,
        progress: Callable[[str], None],
        known: Mapping[tuple[str, str], Run],
        ways: Sequence[Job],
        around: Around,
    ) -> None:
        self.known, self.ways, self.around = known, ways, around
        self.python, self.options, self.sources, self.roots = python, options, sources, roots
        self.folder, self.progress = folder, progress
        self.notes: list[str] = []
        self.before: dict[bool, list[tuple[Job, Path, Seen]]] = {}
        self.sides: dict[int, set[bool]] = {}
        self.exact: set[bool] = set()
        self.in_a_row = self.numbers = False
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
    ) -> Seen:
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
        trouble = seen.trouble or (None if seen.runs else seen.ending)
        if trouble:
            here = f" in {seen.step[0]} mode" if seen.step and seen.observed else ""
            self.notes.append(f"{job.label}: no fix was tried{here}, since it ended early: {trouble}")
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
                fix.takes is not None
                or fix.is_of_branch
                or (fix.draws_otherwise and finding.code == "PTB110")
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
        enough: Callable[[Seen, Mapping[str, Any]], bool] = lambda seen, message: False,
        leave: Mapping[str, Sequence[str]] | None = None,
        calm: bool = False,
        more_buffers: bool = False,
        in_tensors: bool = False,
    ) -> Seen:
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
        enough: Callable[[Seen, Mapping[str, Any]], bool] = lambda seen, message: False,
    ) -> Seen:
        options, seen, stop = self.options, Seen(), threading.Event()

        def hear(message: dict[str, Any]) -> None:
            seen.hear(message)
            if enough(seen, message):
                stop.set()

        limits = limits_of(options)
        spec = {
            "kind": job.kind, "what": job.what, "roots": self.roots, "skip": [], "further": False,
            "captures": job.captures, "names": job.names,
            "modes": list(options.modes), "backend": options.backend, "device": options.device,
            "memory": limits.memory, "overlay": dict(overlay), **more,
        }  # fmt: skip
        ended = run_child(self.python, spec, limits, hear, stop, self.around)
        if ended is not None and seen.trouble is None and not stop.is_set():
            seen.trouble = str(ended)
        return seen

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
