"""Verify a zoo: plan its tasks, reuse what is known, do the rest, and say of it what `--verify` says."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from pt2lint import __version__
from pt2lint.dynamic import nursery
from pt2lint.dynamic.events import Events, Run
from pt2lint.dynamic.files import Files
from pt2lint.dynamic.options import VerifyOptions
from pt2lint.dynamic.plan import Job, find_files, plan, worth_inputs
from pt2lint.dynamic.process import interruptible
from pt2lint.dynamic.run import (
    NO_INPUTS,
    Collected,
    Session,
    VerifyResult,
    find_python,
    judged,
    read_sources,
    roots_of,
)
from pt2lint.finding import Finding, Fix, Problem
from pt2lint.zoo import shards, sources
from pt2lint.zoo.crew import Crew, executor_maker
from pt2lint.zoo.plan import tasks
from pt2lint.zoo.record import from_record
from pt2lint.zoo.results import Header, Keeper, Results, read
from pt2lint.zoo.summary import models
from pt2lint.zoo.task import Proving, Task
from pt2lint.zoo.torch_version import versions

Understand = Callable[[Sequence[Finding]], list[Finding]]
# Of the options, what says where and how fast, not what.
NO_SETTINGS = ("jobs", "gpus", "python")


@dataclass(frozen=True)
class ZooOptions:
    """What a run over many targets can be told.

    results: the file that results are kept in and reused from; None: none is.
    shard: (part, of how many) of the targets to run.
    durations: a file of results whose times make the parts even; else those of `results`.
    executor: MODULE:CALLABLE that returns who does the tasks.
    timing: the backend to time calls with.
    settings: what else decides what is found, as plain data.
    arguments: what `pt2lint merge` needs to judge again: the paths, and what the command line said.
    """

    results: str | None = None
    shard: tuple[int, int] | None = None
    durations: str | None = None
    executor: str | None = None
    timing: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    arguments: Mapping[str, Any] = field(default_factory=dict)


def verify_zoo(
    findings: Sequence[Finding],
    paths: Sequence[str],
    options: VerifyOptions,
    zoo: ZooOptions,
    on_progress: Callable[[str], None] | None,
    understood: Understand,
    linted: Sequence[str] | None,
) -> VerifyResult:
    """Run the code under `paths` target by target, and judge each finding by what Dynamo did, fixes tried.

    `linted` are the files under the paths that were linted, and no others are run; None for all.
    `understood` adds to judged findings what is to be said of those that no rule foresaw.

    This RUNS the user's code, here or where the executor's workers are. Raises ValueError, worded for the user, for
    an executor or a file that cannot be used.
    """
    return _Run(
        findings, paths, options, zoo, on_progress or (lambda text: None), understood, linted
    ).result()


class _Run:
    def __init__(
        self,
        findings: Sequence[Finding],
        paths: Sequence[str],
        options: VerifyOptions,
        zoo: ZooOptions,
        progress: Callable[[str], None],
        understood: Understand,
        linted: Sequence[str] | None,
    ) -> None:
        self.understood = understood
        self.findings, self.paths, self.options, self.zoo = findings, paths, options, zoo
        self.progress = progress
        self.folder = os.getcwd()
        self.shown = find_files(paths if linted is None else linted, (finding.path for finding in findings))
        texts = read_sources(self.shown)
        self.files = Files({path: self.shown[path] for path in texts}, texts)
        self.roots = tuple(roots_of(paths, texts))
        self.wanted = worth_inputs(findings, paths)
        self.stop = threading.Event()
        self.notes: list[str] = []
        self.problems: list[Problem] = []

    @nursery.kept()
    def result(self) -> VerifyResult:
        make = executor_maker(self.zoo.executor) if self.zoo.executor else None
        python, trouble = find_python(self.options.python, self.paths)
        if python is None:
            return judged(self.findings, Collected(problems=[Problem(None, trouble)]), self.files)
        self.torch, self.python = versions(python)
        session = Session(
            python, self.options, self.shown, self.roots, self.wanted, self.progress, {}, stop=self.stop
        )
        with interruptible(self.stop):
            jobs = plan(self.files.sources, self.wanted, self.options)
            planned, notes = tasks(jobs, session, self._task, self.folder, self.options.jobs)
            self.notes += notes
            if not planned:
                self.notes.append(NO_INPUTS)
            self.results, keeper = self._open([task.key for task in planned])
            mine = self._mine([task.key for task in planned])
            self.tasks = {task.key: task for task in planned}
            self._do([task for task in planned if task.key in mine], keeper, make)
        found = result_of(
            self.findings, self.files, self.results, [task.key for task in planned], self.folder
        )
        return replace(found, problems=[*self.problems, *found.problems], notes=[*self.notes, *found.notes])

    def _task(self, key: str, job: Job, only: tuple[str, ...]) -> Task:
        covered = {path for one in (job, *job.otherwise) for path in one.covers}
        return Task(
            key, job, only, tuple(os.path.abspath(path) for path in self.paths), self.folder, self.options, self.roots,
            {path: self.shown[path] for path in covered if path in self.shown}, self.wanted & covered, self.torch,
            self.code if self.zoo.executor else "",
        )  # fmt: skip

    @property
    def code(self) -> str:
        if not hasattr(self, "_code"):
            self._code = sources.digest(self._digests)
        return self._code

    @property
    def _digests(self) -> dict[str, str]:
        if not hasattr(self, "_files"):
            self._files = sources.digests(self.paths, self.folder)
        return self._files

    def _open(self, planned: Sequence[str]) -> tuple[Results, Keeper]:
        """What is known already, and the file that goes on from there."""
        zoo = self.zoo
        given = {one.name: getattr(self.options, one.name) for one in fields(VerifyOptions)}
        settings = {name: _plain(value) for name, value in given.items() if name not in NO_SETTINGS}
        beside = sources.beside([*self.options.inputs, *self.options.targets])
        header = Header(
            __version__, self.torch, self.python, sources.commit(self.folder),
            {**self._digests, **sources.digests(beside, self.folder)}, {**settings, **zoo.settings, "time": zoo.timing},
            list(planned), zoo.arguments, "/".join(map(str, zoo.shard)) if zoo.shard else "",
        )  # fmt: skip
        results = Results(header)
        keeper = Keeper(zoo.results, self.folder, header)
        self.seconds: Mapping[str, float] = read(zoo.durations, self.folder).seconds if zoo.durations else {}
        if zoo.results and os.path.exists(zoo.results) and os.path.getsize(zoo.results):
            before = read(zoo.results, self.folder)
            self.seconds = self.seconds or before.seconds
            misfit = header.misfit(before.header)
            if misfit:
                os.replace(zoo.results, zoo.results + ".old")
                self.notes.append(
                    f"nothing of {zoo.results} is used, for it is of another run: {misfit}; it is now {zoo.results}.old"
                )
            else:
                results.add(before.records.values())
                reused = [key for key in planned if ("target", key) in results.records]
                if reused:
                    count = f"{len(reused)} of {len(planned)} targets"
                    self.notes.append(f"reused from {zoo.results}, where they were kept before: {count}")
        keeper.start(results.records.values())
        return results, keeper

    def _mine(self, planned: Sequence[str]) -> set[str]:
        if self.zoo.shard is None:
            return {*planned}
        number, of = self.zoo.shard
        mine = shards.part(planned, self.seconds, number, of)
        self.notes.append(f"shard {number}/{of}: {len(mine)} of {len(planned)} targets")
        return {*mine}

    def _do(self, mine: Sequence[Task], keeper: Keeper, make: Callable[[], Any] | None) -> None:
        records = self.results.records
        first: list[Task] = []
        for task in mine:
            if ("target", task.key) not in records:
                first.append(task)
            else:
                first += self._proving(task)
        done = len(mine) - sum(task.proving is None for task in first)

        def ended(task: Task, record: dict[str, Any]) -> Iterable[Task]:
            nonlocal done
            if not self._fits(task, record):
                return []
            if record.get("stopped"):
                return []
            self._sum_up(task, record)
            self.results.add([record])
            if "lost" not in record:  # that is to be tried again by the next run
                keeper.keep(record)
            if task.proving is not None:
                return []
            done += 1
            self.progress(f"{done} of {len(mine)}: {task.key} ({record.get('seconds', 0):.0f} s)")
            return self._proving(task)

        if first:
            crew = Crew(make, self.options.jobs, self.stop, self.progress)
            try:
                crew.do(first, ended)
            except ValueError as error:
                self.problems.append(Problem(None, f"--executor {self.zoo.executor}: {error}"))
            if crew.lost:
                times = f"{crew.lost} time{'s' if crew.lost > 1 else ''}"
                self.notes.append(f"a worker was lost {times}; what it had not ended was run again")

    def _sum_up(self, task: Task, record: dict[str, Any]) -> None:
        """Add what a table says of the target: another run is compared with that, where this code is not at hand."""
        target = record if task.proving is None else self.results.records["target", task.key]
        collected = from_record(target)
        after = from_record(record["after"]).runs if task.proving and record["after"] else []
        times = record["times"] if task.proving else {}
        found = judged(self.findings, collected, self.files).findings
        texts = {self.files.shown[path]: text for path, text in self.files.sources.items()}
        failed = {}
        if collected.failures:
            failed = {(task.only or (task.key,))[0]: str(collected.failures[0][1])}
        elif collected.problems:
            failed = {(task.only or (task.key,))[0]: collected.problems[0].message}
        summary = models(collected.runs, found, texts, after, times, failed)
        record["models"] = [asdict(model) for model in summary]

    def _fits(self, task: Task, record: Mapping[str, Any]) -> bool:
        """Whether a worker ran the code and the torch that are here."""
        host = f"{task.key}: not run by {record.get('host')}"
        if record.get("differs") is not None:
            named = sources.difference(self._digests, record["differs"])
            self._trouble(Problem(None, f"{host}, whose files are not those here: {named}"))
            return False
        if record.get("trouble"):
            self._trouble(Problem(None, f"{host}: {record['trouble']}"))
            return False
        torch = record.get("torch")
        if torch and torch.partition("+")[0] != self.torch.partition("+")[0]:
            self._trouble(Problem(None, f"{host}, which has torch {torch}, and here it is {self.torch}"))
            return False
        return True

    def _trouble(self, problem: Problem) -> None:
        self.problems.append(problem)

    def _proving(self, task: Task) -> list[Task]:
        """What is to be proven of one target: the fixes of what is confirmed by its own runs."""
        records = self.results.records
        if ("proof", task.key) in records or task.job.kind == "program":
            return []
        collected = from_record(records["target", task.key])
        found = self.understood(judged(self.findings, collected, self.files).findings)
        absolute = [_absolute(f) for f in found if f.verdict == "confirmed" and any(x.edits for x in f.fixes)]
        timed = self.zoo.timing and any(run.probe == "default" for run in collected.runs)
        if not absolute and not timed:
            return []
        runs = tuple(run for run in collected.runs if run.probe == "default")
        events = Events(runs, (), tuple(collected.jobs))
        return [replace(task, proving=Proving(tuple(absolute), events, self.zoo.timing))]


def _plain(value: Any) -> Any:
    """As JSON gives it back."""
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def _absolute(finding: Finding) -> Finding:
    fixes = tuple(
        replace(fix, edits=tuple(replace(edit, path=os.path.realpath(edit.path)) for edit in fix.edits))
        for fix in finding.fixes
    )
    return replace(finding, path=os.path.realpath(finding.path), fixes=fixes)


def result_of(
    findings: Sequence[Finding],
    files: Files,
    results: Results,
    keys: Sequence[str],
    folder: str,
    understood: Understand = list,
) -> VerifyResult:
    """What is to be said of the findings, of all records of these keys together."""
    collected = Collected()
    after: list[Run] = []
    times: dict[str, Mapping[str, float]] = {}
    notes: list[str] = []
    tried: dict[tuple[str, int, int, str], list[list[bool | None]]] = {}
    for key in keys:
        record = results.records.get(("target", key))
        if record is None:
            continue
        collected.add(from_record(record))
        proof = results.records.get(("proof", key))
        if proof is None:
            continue
        if "lost" in proof:
            collected.problems.append(Problem(**proof["lost"]))
        for one in proof["fixes"]:
            place = (
                os.path.realpath(os.path.join(folder, one["path"])),
                one["line"],
                one["column"],
                one["code"],
            )
            tried.setdefault(place, []).append(one["proven"])
        notes += [note for note in proof["notes"] if note not in notes]
        times |= proof["times"]
        if proof["after"]:
            after += from_record(proof["after"]).runs
    found = judged(findings, collected, files)
    proven = [of_all_targets(finding, tried) for finding in understood(found.findings)]
    notes = [*found.notes, *notes]
    return replace(found, findings=proven, notes=notes, after=after, times=times, models=results.models(keys))


def of_all_targets(
    finding: Finding, tried: Mapping[tuple[str, int, int, str], Sequence[Sequence[bool | None]]]
) -> Finding:
    """The finding, its fixes marked: proven is what every target that tried the finding's fixes has proven."""
    place = (os.path.realpath(finding.path), finding.line, finding.column, finding.code)
    votes = [one for one in tried.get(place, ()) if len(one) >= len(finding.fixes)]
    if not votes:
        return finding

    def joined(fix: Fix, said: Sequence[bool | None]) -> Fix:
        if False in said:
            return replace(fix, proven=False)
        return replace(fix, proven=True) if all(said) else fix

    said = [joined(fix, [one[at] for one in votes]) for at, fix in enumerate(finding.fixes)]
    return replace(finding, fixes=tuple(said))
