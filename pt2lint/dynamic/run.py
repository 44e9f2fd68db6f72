"""Verify findings: plan the child runs, run them with limits, and judge by what they saw."""

from __future__ import annotations

import json
import logging
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pt2lint.dynamic import nursery
from pt2lint.dynamic.asked import Ask, answer
from pt2lint.dynamic.child.log_listener import under
from pt2lint.dynamic.events import Events, Failure, Run, failure_from, run_from
from pt2lint.dynamic.files import Files
from pt2lint.dynamic.installing import how_to_install
from pt2lint.dynamic.names import qualified
from pt2lint.dynamic.options import VerifyOptions
from pt2lint.dynamic.plan import Job, asked_for, breaking, find_files, plan, worth_inputs
from pt2lint.dynamic.process import STOPPED, Around, Limits, interruptible, run_child
from pt2lint.dynamic.verdict import judge
from pt2lint.finding import Finding, Problem
from pt2lint.machine import machine_memory
from pt2lint.report.models import Model

SLOW = 5.0  # seconds after which it is told that a program runs
_log = logging.getLogger(__name__)

NO_INPUTS = (
    "nothing was run, since no inputs were found: give --inputs MODULE:FUNCTION (a function that returns "
    '(callable, args, kwargs)), an example_inputs() in the file, or --run "train.py --steps 2"'
)

MISSING = "ModuleNotFoundError"
NAME_ANOTHER = "name the interpreter that has it: --python PATH"
INSTALL = re.compile(f"; install .*, or {re.escape(NAME_ANOTHER)}")

GIVE = "give it some, by --inputs MODULE:FUNCTION or by an example_inputs() in the file"

CANNOT = (
    'run a script that calls {it} (--run "SCRIPT.py"), give --inputs, or write into the file: '
    "def example_inputs(): return {example}"
)

NO_CALL = "nothing that torch.compile could take was called in its own process"


@dataclass(frozen=True)
class VerifyResult:
    """What the dynamic pass has to say.

    findings: those given, with verdict and evidence, and PTB900 and PTR900 for what no rule foresaw; sorted
    by place.
    problems: what could not be run, one line each in the user's words; they make the exit status 2.
    notes: sentences for the report: what was run and how, what was missing.
    events: what the probes saw, for tests and benchmarks.
    after: what they saw with the proven fixes, as far as that was run; times: seconds of a call by target
    (pt2lint.fixes.proof.Proof); models: a line for each that was run, where it is known already.
    """

    findings: list[Finding]
    problems: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    events: Events = field(default_factory=Events)
    after: Sequence[Run] = ()
    times: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    models: Sequence[Model] = ()


@nursery.kept()
def verify(
    findings: Sequence[Finding],
    paths: Sequence[str],
    options: VerifyOptions | None = None,
    on_progress: Callable[[str], None] | None = None,
    overlay: Mapping[str, str] | None = None,
    linted: Sequence[str] | None = None,
) -> VerifyResult:
    """Run the code under `paths` in child processes and judge each finding by what Dynamo did.

    This RUNS the user's code (imports the files, calls what they define). `paths` are files or folders as the
    user gave them; findings name files the same way, or relative to the working folder. `linted` are the
    files under them that were linted, and no others are run; None for all. `on_progress` gets a
    line of text at each step, from any thread; without it only a program that runs for long is told, by a warning
    of `logging` (on standard error, where no logging is set up). `overlay` (real path -> text) stands in place of
    files. Never raises for what the user's code does: what fails becomes a Problem, and the verdict `failed` of
    the findings it would have judged. Returns at the latest when the limits of all targets have run out, with no
    process left behind.
    """
    options = options or VerifyOptions()
    progress = on_progress or (lambda text: None)
    shown = find_files(paths if linted is None else linted, (finding.path for finding in findings))
    sources = read_sources(shown)
    sources |= {path: text for path, text in (overlay or {}).items() if path in shown}
    files = Files({path: shown[path] for path in sources}, sources)
    collected = Collected()
    python, trouble = find_python(options.python, paths)
    if python is None:
        collected.problems.append(Problem(None, trouble))
        collected.failures.append(((), Failure("no torch", trouble)))
        return judged(findings, collected, files)
    roots = roots_of(paths, sources)
    wanted = worth_inputs(findings, paths)
    jobs = plan(sources, wanted, options, asked_for(findings), breaking(findings))
    slow = on_progress or _log.warning
    session = Session(python, options, shown, roots, wanted, progress, overlay or {}, slow=slow)
    with ThreadPoolExecutor(max_workers=max(1, options.jobs)) as pool, interruptible(session.stop):
        for done in pool.map(session.do, jobs):
            collected.add(done)
    if sources and not (collected.runs or collected.failures or collected.notes):
        collected.notes.append(NO_INPUTS)
    result = judged(findings, collected, files)

    def as_asked(way: Ask, targets: set[str]) -> list[Run]:
        """The runs of the targets that further conditions ask for; what goes wrong there is no news to the user."""
        with interruptible(session.stop):
            return session.asked(way, targets, [job for job in collected.jobs if job.kind != "program"])

    return replace(result, findings=answer(result.findings, collected.runs, files, options.modes, as_asked))


def roots_of(paths: Sequence[str], sources: Iterable[str]) -> list[str]:
    """The real paths of what the user named: folders, and files (of `sources`) that lie in none of these."""
    folders = [os.path.realpath(path) for path in paths if os.path.isdir(path)]
    return folders + [path for path in sources if not under(path, folders)]


@dataclass
class Collected:
    """What the jobs brought, in the order of the plan. `said` are the children's messages that `runs` are made of,
    `torch` the version that they ran, `left` what had no inputs (Events)."""

    runs: list[Run] = field(default_factory=list)
    said: list[Mapping[str, Any]] = field(default_factory=list)
    jobs: list[Job] = field(default_factory=list)
    failures: list[tuple[tuple[str, ...], Failure]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    torch: str = ""
    left: dict[tuple[str, str], str] = field(default_factory=dict)

    def add(self, other: Collected) -> None:
        self.torch = self.torch or other.torch
        self.runs += other.runs
        self.said += other.said
        self.jobs += other.jobs
        self.left |= other.left
        self.failures += other.failures
        told = {(problem.path, _without_way(problem.message)) for problem in self.problems}
        told |= {(problem.path, _place_told(problem.message)) for problem in self.problems}
        self.problems += [
            p
            for p in other.problems
            if (p.path, _without_way(p.message)) not in told
            # Compiled, it fails where it failed before: what Dynamo says of it is no news.
            and not (p.message.startswith("the program ") and (p.path, _place_told(p.message)) in told)
        ]
        self.notes += [note for note in other.notes if note not in self.notes]


def _without_way(message: str) -> str:
    """A problem without the way in which a file was run or imported when it came: recorded, compiled and as a module of
    which inputs are made up it is the same, told with what to do or without."""
    message = INSTALL.sub("", message)
    return re.sub(
        r"^(made-up inputs|its own inputs|(recording|the program|running) .+?( compiled)?): ", "", message
    )


def _place_told(message: str) -> str:
    return message.rpartition(" (at ")[2] if message.endswith(")") else ""


def _advice(failure: Failure | None, tried: Job) -> str:
    """What to do where a way to inputs failed, after a semicolon; "" where nobody can say."""
    inputs = "give inputs: --inputs MODULE:FUNCTION"
    if failure is None or tried.kind != "run":
        return ""
    if failure.kind == "exit" or failure.message.endswith(", in sys.argv"):
        wants = (
            "give it the arguments"
            if failure.kind != "exit" or "): " in failure.message
            else "if it wants arguments, give them"
        )
        return f'; {wants}: --run "{tried.what} ARGUMENTS"'
    return {
        "FileNotFoundError": f"; run pt2lint in the folder where the program runs, or {inputs}",
        "EOFError": f"; standard input is empty here: {inputs}",
        MISSING: _how_to_have(failure),
    }.get(failure.type, "")


# What to do about a part that an installed package lacks.
FITTING = "install the version of {} that the code was written for"


def _how_to_have(failure: Failure) -> str:
    """What to do about a module that cannot be found, after a semicolon. A part of a package is looked for where the
    package is there: it is of another version."""
    found = re.search(r"named '(\w+)(\.?)", failure.message)
    if found and found[2]:
        return f"; {FITTING.format(found[1])}, or {NAME_ANOTHER}"
    command = how_to_install([found[1]] if found else [])
    return f"; install it{command and f' ({command})'}, or {NAME_ANOTHER}"


def judged(findings: Sequence[Finding], collected: Collected, files: Files) -> VerifyResult:
    """What is to be said of the findings, of all that was collected."""
    events = Events(tuple(collected.runs), tuple(collected.failures), tuple(collected.jobs), collected.left)
    judged = judge(findings, events, files)
    return VerifyResult(judged, collected.problems, collected.notes, events)


def read_sources(shown: dict[str, str]) -> dict[str, str]:
    """The text of each file that can be read as UTF-8."""
    sources = {}
    for path in shown:
        try:
            sources[path] = Path(path).read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError):
            continue  # the static pass has said so
    return sources


def limits_of(options: VerifyOptions) -> Limits:
    """Those of a child: by default it may take most of the machine's memory."""
    if options.memory:
        return Limits(options.timeout, options.memory * 2**20)
    machine = machine_memory()
    return Limits(options.timeout, int(machine * 0.8) if machine else None)


@dataclass(frozen=True)
class Session:
    """What all jobs of one verification share. `shown` maps real paths to what the user calls them, `only` names the
    targets to look at (none: all), `folder` is where the children run (None: here), `cast` is what modules and inputs
    are run in (asked.Ask; "": as they are)."""

    python: str
    options: VerifyOptions
    shown: Mapping[str, str]
    roots: Sequence[str]
    wanted: frozenset[str]
    progress: Callable[[str], None]
    overlay: Mapping[str, str]
    only: tuple[str, ...] = ()
    folder: str | None = None
    stop: threading.Event = field(default_factory=threading.Event)
    cast: str = ""
    slow: Callable[[str], None] = _log.info  # is told that a program takes its time

    @property
    def limits(self) -> Limits:
        return limits_of(self.options)

    def targets(self, job: Job) -> tuple[list[str], bool]:
        """The names of the targets that a job has, and whether each is made alone; none where they cannot be had."""
        found: list[str] = []
        later = False

        def hear(message: dict[str, Any]) -> None:
            nonlocal later
            if message.get("event") == "listed":
                found.extend(message["targets"])
                later = message["later"]

        self.progress(f"{job.label}: which targets there are")
        spec = {**self._specification(job, []), "list": True}
        run_child(
            self.python, spec, self.limits, hear, self.stop, Around(self.folder, self.options.environment)
        )
        return found, later

    def asked(self, way: Ask, targets: set[str], jobs: Iterable[Job]) -> list[Run]:
        """The runs of the targets in a way that findings ask for: eager and in default mode, no others."""
        options = replace(self.options, modes=way.modes, further=False)
        session = replace(self, options=options, only=tuple(sorted(targets)), cast=way.cast or "as it is")
        runs = [run for job in jobs for run in session._do(job).runs if run.probe != "recorded"]
        return [
            replace(run, mode=way.words if run.mode == "call" else f"{run.mode} {way.words}")
            if way.cast
            else run
            for run in runs
        ]

    def do(self, job: Job) -> Collected:
        """Run one job; where it leads to no call, the ways that are left, and say why."""
        out = self._do(job)
        before, tried = out, job
        for other in job.otherwise:
            if before.jobs:
                break
            if other.kind == "made_up" and not self.wanted >= set(other.covers):
                continue
            failure = next((failure for _, failure in before.failures), None)
            why = failure or (NO_CALL if tried.kind == "run" else "it led to no call")
            shown = self.shown.get(job.covers[0], job.covers[0])
            instead = self._do(other)
            if instead.jobs:
                done = f"verified with {other.way}, not with {tried.way}: {why}"
            else:
                done = f"not verified with {tried.way}, nor with {other.way}"
                done += "" if failure else f": {why}"  # a failure is the findings' verdict
            out.notes = [note for note in out.notes if not note.endswith(NO_CALL)]
            out.notes.append(f"{shown}: {done}{_advice(failure, tried)}")
            before, tried = instead, other
            out.add(before)
        return out

    def _do(self, job: Job) -> Collected:
        """Run one job, and say what inputs were made up."""
        where = self.shown.get(job.covers[0]) if job.covers else None
        out, told = Collected(), _Told(where, job)
        self._run(job, out, told)
        out.notes += told.notes()
        for each in told.left if job.covers else ():
            none = f"no inputs could be made up for `{each['name']}` ({each['why']}): {GIVE}"
            given = each["example"] and "not installed" not in each["why"]
            why = none if given else f"`{each['name']}` is not run: {each['why']}"
            out.left[job.covers[0], each["name"]] = why
        return out

    def _run(self, job: Job, out: Collected, told: _Told) -> None:
        """When a target brings the child down, go on with the next one in a new child."""
        skip: list[str] = []
        where = told.where
        while True:
            state = _State(job, told, self.progress, self.slow)
            self.progress(str(Problem(where, f"{job.label}: loading")))
            spec = self._specification(job, skip)
            around = Around(self.folder, self.options.environment)
            try:
                ended = run_child(self.python, spec, self.limits, state.hear, self.stop, around)
            finally:
                state.clock.cancel()
            early = ended is not None and ended is not STOPPED and not state.greeted
            if early and ended and ended.kind != "timeout" and self.options.memory:
                ended = Failure(
                    "memory", f"--memory of {self.options.memory} MiB is too little to load torch"
                )
                state.out = Collected()  # what a CUDA build's import said of it before the end
            out.add(state.out)
            if job not in out.jobs and any(run.probe != "recorded" for run in state.out.runs):
                out.jobs.append(job)
            if ended is None or ended is STOPPED:
                return
            out.problems.append(Problem(where, f"{state.current or job.label}: {ended}"))
            out.failures.append((state.covers, state.at_target(ended)))
            if state.current is None:
                return
            skip = [*skip, *state.finished, state.current]
            if not set(state.targets) - set(skip):
                return

    def _specification(self, job: Job, skip: list[str]) -> dict[str, Any]:
        options = self.options
        return {
            "kind": job.kind, "what": job.what, "roots": self.roots, "skip": skip, "memory": self.limits.memory,
            "modes": options.modes, "backend": options.backend, "device": options.device, "further": options.further,
            "overlay": dict(self.overlay), "only": self.only, "cast": self.cast, "captures": job.captures,
            "given": job.given, "names": job.names,
        }  # fmt: skip


class _Told:
    """What the children of one job said of the inputs that are made up."""

    def __init__(self, where: str | None, job: Job) -> None:
        self.where, self.captures = where, job.captures
        self.ran = False  # whether anything was run
        self.made: list[str] = []  # for what inputs were made up, and which
        self.left: list[Mapping[str, str]] = []  # what has none, why, and what to write
        self.lacking: list[str] = []  # packages that are not installed, and parts that installed ones lack

    def notes(self) -> list[str]:
        """What became of the things in a file, each note of all of them."""
        found = [f"{self.where}: verified with made-up inputs: {', '.join(self.made)}"] if self.made else []
        if self.lacking:
            parts = dict.fromkeys(one.partition(".")[0] for one in self.lacking if "." in one)
            ways = [
                *filter(None, [how_to_install(self.lacking)]),
                *map(FITTING.format, parts),
                "--python PATH names another interpreter",
            ]
            found.append(
                f"{self.where}: not installed: {', '.join(self.lacking)} ({'; '.join(ways)}); what uses that is not run"
            )
        if self.left:
            reasons: dict[str, list[str]] = {}
            for each in self.left:
                reasons.setdefault(each["why"], []).append(each["name"])
            told = "; ".join(f"{', '.join(names)} ({why})" for why, names in reasons.items())
            example = next((each["example"] for each in self.left if each["example"]), "")
            advice = CANNOT.format(it="them" if len(self.left) > 1 else "it", example=example)
            what = f"no inputs could be made up for {told}; {advice}" if example else f"not run: {told}"
            found.append(f"{self.where}: {what}")
        if self.captures and self.ran:
            found.append(f"{self.where}: run with {', '.join(self.captures)} turned on, as its project does")
        return found


class _State:
    """What one child said."""

    def __init__(
        self, job: Job, told: _Told, progress: Callable[[str], None], slow: Callable[[str], None]
    ) -> None:
        self.job, self.told, self.where, self.progress = job, told, told.where, progress
        waits = f"{job.label}: it is stopped when nothing new comes of it, or at the end of --timeout"
        self.clock = threading.Timer(SLOW, slow, [waits])
        self.clock.daemon = True
        self.out = Collected()
        self.targets: list[str] = []
        self.finished: list[str] = []
        self.greeted = False  # whether torch was loaded
        self.current: str | None = None
        self.path: str | None = None
        self.line: int | None = None
        self.model: str | None = None

    def at_target(self, failure: Failure) -> Failure:
        """The failure with the place of the target that is being probed."""
        if self.current is None or not self.path or not self.line:
            return failure
        return replace(failure, target=(self.path, self.line))

    @property
    def covers(self) -> tuple[str, ...]:
        """The files for which a failure leaves findings unanswered: that of the target, else the job's."""
        return (self.path,) if self.current is not None and self.path else self.job.covers

    def hear(self, message: dict[str, Any]) -> None:
        kind = message.get("event")
        if kind == "hello":
            self.greeted = True
            if self.job.kind in ("run", "program"):
                self.clock.start()
            self.out.torch = message["torch"]
        elif kind == "making":
            self.current, self.path, self.line, self.model = message["name"], None, None, message["name"]
        elif kind == "no_torch":
            self._fail(Failure("no torch", f"torch cannot be imported: {message['message']}"), self.job.label)
        elif kind == "bad_inputs":
            self._fail(Failure("inputs", message["message"]), None)
        elif kind in ("load_failed", "program_failed"):
            failure = failure_from(message["error"])
            assert failure is not None
            self._fail(failure, self.current or self.job.label)
        elif kind == "loaded":
            self.clock.cancel()
            self.targets = message["targets"]
            if not self.targets and self.job.kind == "run" and not self.out.failures:
                self.out.notes.append(f"{self.job.what}: {NO_CALL}")
        elif kind == "target":
            self._hear_of_target(message)
        elif kind == "target_done":
            self.finished.append(message["name"])
            self.current = None
        elif kind == "run":
            self._hear_of_run(message)
        elif kind == "layer":
            failure = failure_from(message["error"])
            assert failure is not None
            said = (message["target"], message["mode"], message["layer"], failure.kind, message.get("cause"))
            self._fail(failure, compile_trouble(*said))
        elif kind == "note":
            self.out.notes.append(message["text"])
        elif kind == "unmade":
            self.told.left.append(message)
        elif kind == "lacking":
            self.told.lacking += [each for each in message["packages"] if each not in self.told.lacking]

    def _hear_of_target(self, message: dict[str, Any]) -> None:
        name, how = message["name"], message["how"]
        self.current, self.told.ran = name, True
        self.path, self.line = message["path"], message["line"]
        self.model = name if message.get("named") else qualified(name, message["path"])
        self.progress(f"{name}: {how}")
        if self.job.kind == "made_up":
            self.told.made.append(f"{name} ({how.partition(': ')[2]})")

    def _hear_of_run(self, message: dict[str, Any]) -> None:
        if self.path:
            message["defined"] = [self.path, self.line]
        if self.model:
            message["model"] = self.model
        run = run_from(message)
        run = replace(run, details={**run.details, "covers": self.job.covers})
        self.out.runs.append(run)
        self.out.said.append(message)
        if run.probe == "recorded":
            return
        mode = f" ({run.mode})" if run.mode != "call" else ""
        self.progress(f"{run.target}{mode}: {run.probe}")
        if run.error and (run.probe in ("eager", "program") or run.error.kind in ("exit", "out of memory")):
            self._fail(run.error, f"{run.target}{mode}")

    def _fail(self, failure: Failure, what: str | None) -> None:
        place = failure.place
        text = f"{what}: {failure}" if what else str(failure)
        if failure.type == MISSING and self.job.kind != "run":  # of a script the way that is left tells it
            text += _how_to_have(failure)
        if place:
            text += f" (at {os.path.relpath(place[0])}:{place[1]})"
        self.out.problems.append(Problem(self.where, text))
        self.out.failures.append((self.covers, self.at_target(failure)))


# What PyTorch's troubleshooting guide says to try next, by kind of failure and by layer.
_NEXT = {
    "graph break": 'TORCH_LOGS="graph_breaks"',
    "recompile limit": 'TORCH_LOGS="recompiles"',
    "backend failure": "TORCHDYNAMO_REPRO_AFTER=dynamo",
    "eager": 'TORCHDYNAMO_VERBOSE=1 TORCH_LOGS="+dynamo"',
    "aot_eager": 'TORCHDYNAMO_REPRO_AFTER=dynamo TORCH_LOGS="+aot"',
    "aot_eager_decomp_partition": 'TORCHDYNAMO_REPRO_AFTER=dynamo TORCH_LOGS="+aot"',
    "inductor": 'TORCHDYNAMO_REPRO_AFTER=aot TORCH_LOGS="+inductor"',
}
# The minifier bisects the graph, and in the layer `eager` the graph's operators are those of eager mode.
_NOT_THE_GRAPH = {
    "fast_path": "what differs is the kernels that torch's own encoder chooses for inference, in places that a mask "
    "leaves out (with `torch.backends.mha.set_fastpath_enabled(False)` both give the same)",
    "is_compiling": "what differs is Python, not the graph: the code asks `torch.compiler.is_compiling()` and takes "
    "another path where it is true (run eagerly with that answer, it gives the compiled result)",
    "python": "what differs is Python, not the graph: look for what Dynamo does once where Python does it at each "
    "call, or not at all (caches, globals and attributes that the code writes, hooks), and halve the code with "
    "`torch.compiler.disable`",
}


def compile_trouble(target: str, mode: str, layer: str, kind: str, cause: str | None = None) -> str:
    """The words before the error: what failed, in which layer, and what to do next.

    `cause` is what differs where results do in the layer `eager`: a key of _NOT_THE_GRAPH.
    """
    named = target if mode == "call" else f"{target} ({mode})"
    if kind == "no fake kernel":
        return f"{named}: does not compile"
    failed = f"{named}: {kind} when compiling with the layer `{layer}`, "
    if kind == "accuracy mismatch":
        if layer == "eager":
            return failed + _NOT_THE_GRAPH[cause or "python"]
        after = "aot" if layer == "inductor" else "dynamo"
        return f"{failed}next try TORCHDYNAMO_REPRO_AFTER={after} TORCHDYNAMO_REPRO_LEVEL=4"
    hint = _NEXT.get(layer if kind == "backend failure" else kind) or _NEXT.get(kind) or _NEXT["eager"]
    return f"{failed}next try {hint}"


def find_python(given: str | None, paths: Sequence[str] = ()) -> tuple[str | None, str]:
    """(interpreter, "") to verify with, or (None, what is wrong in one line).

    --python if given; else the running interpreter if it has torch; else the first environment that is
    active or lies beside the project (VIRTUAL_ENV, CONDA_PREFIX, .venv, venv) and has torch.
    """
    if given:
        if has_torch(given):
            return given, ""
        return None, f"--python {given}: this interpreter has no torch, or cannot be run"
    if has_torch(sys.executable):
        return sys.executable, ""
    for python in _environments(paths):
        if has_torch(python):
            return python, ""
    return None, (
        "--verify needs an interpreter with torch: neither this one nor an environment beside the project "
        "has it. Name one with --python PATH."
    )


def _environments(paths: Sequence[str]) -> list[str]:
    folders = [os.environ.get("VIRTUAL_ENV"), os.environ.get("CONDA_PREFIX")]
    starts = [Path.cwd(), *(Path(os.path.realpath(path)) for path in paths)]
    for start in starts:
        for folder in (start, *start.parents):
            folders += [str(folder / ".venv"), str(folder / "venv")]
    pythons = [os.path.join(folder, "bin", "python") for folder in folders if folder]
    return [python for python in dict.fromkeys(pythons) if os.access(python, os.X_OK)]


def has_torch(python: str) -> bool:
    """Whether an interpreter finds a torch package (it is not imported: that takes seconds)."""
    code = "import importlib.util, json; print(json.dumps(importlib.util.find_spec('torch') is not None))"
    try:
        done = subprocess.run([python, "-c", code], capture_output=True, text=True, timeout=60, check=False)
        return bool(done.returncode == 0 and json.loads(done.stdout or "false"))
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return False
