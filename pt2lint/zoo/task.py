"""One target as a task: plain data that any process can be sent, and what that process does with it."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from pt2lint.dynamic import nursery
from pt2lint.dynamic.events import Events
from pt2lint.dynamic.options import VerifyOptions
from pt2lint.dynamic.plan import Job
from pt2lint.dynamic.run import Collected, Session, find_python
from pt2lint.finding import Finding, Problem
from pt2lint.zoo import gpus, sources
from pt2lint.zoo.record import as_record


@dataclass(frozen=True)
class Proving:
    """The fixes to try: those of `findings` (paths absolute), which `events` confirm. `timing` names a backend."""

    findings: tuple[Finding, ...]
    events: Events
    timing: str | None


@dataclass(frozen=True)
class Task:
    """What is to be run, where, and within which limits.

    `key` names it in every run of the same settings. `only` is the target of the job, none for all of it. `paths` are
    absolute, `shown` says what the user calls the job's files; `code` is the digest of what lies under the paths, ""
    where nothing has to be compared. Without `proving` it is to be seen what Dynamo does.
    """

    key: str
    job: Job
    only: tuple[str, ...]
    paths: tuple[str, ...]
    folder: str
    options: VerifyOptions
    roots: tuple[str, ...] = ()
    shown: Mapping[str, str] = field(default_factory=dict)
    wanted: frozenset[str] = frozenset()
    torch: str = ""
    code: str = ""
    proving: Proving | None = None


@nursery.kept()
def perform(
    task: Task, stop: threading.Event | None = None, progress: Callable[[str], None] | None = None
) -> dict[str, Any]:
    """The task's result as plain data; raises nothing for what the user's code does. `differs` are the digests of the
    files here, where they are others than those of who sent the task: then nothing was run."""
    start = time.monotonic()
    done: dict[str, Any] = {"event": "proof" if task.proving else "target", "key": task.key}
    done |= {"host": socket.gethostname()}
    differs = sources.differing(task.paths, task.folder, task.code) if task.code else None
    if differs is not None:
        return done | {"differs": differs}
    stop = stop or threading.Event()
    with gpus.one_of(task.options.gpus, stop) as gpu:
        options = task.options
        if gpu is not None:
            environment = (*options.environment, ("CUDA_VISIBLE_DEVICES", gpu))
            options = replace(options, environment=environment, gpus=())
            done["gpu"] = gpu
        python, trouble = find_python(options.python, task.paths)
        if python is None:
            return done | {"trouble": trouble}
        session = Session(
            python, options, task.shown, task.roots, task.wanted, progress or _silent, {}, task.only, task.folder, stop
        )  # fmt: skip
        found = _prove(task, task.proving, session) if task.proving else as_record(session.do(task.job))
    return done | found | {"seconds": round(time.monotonic() - start, 2), "stopped": stop.is_set()}


def _silent(text: str) -> None:
    """Nobody looks."""


def _prove(task: Task, proving: Proving, session: Session) -> dict[str, Any]:
    """Which fixes are proven, how long calls take, and what Dynamo does with all that are."""
    from pt2lint.fixes.proof import prove

    proof = prove(
        proving.findings, proving.events, task.paths, session.options, session.progress,
        timing=proving.timing, folder=task.folder,
    )  # fmt: skip
    folder = os.path.realpath(task.folder).rstrip(os.sep) + os.sep
    after = _with_fixes(task, session, proof.findings)
    return {
        "fixes": [
            {"path": f.path, "line": f.line, "column": f.column, "code": f.code, "proven": [x.proven for x in f.fixes]}
            for f in proof.findings
            if any(fix.proven is not None for fix in f.fixes)
        ],
        "notes": [note.replace(folder, "") for note in proof.notes],
        "times": proof.times,
        "after": as_record(after) if after is not None else None,
    }  # fmt: skip


def _with_fixes(task: Task, session: Session, findings: list[Finding]) -> Collected | None:
    from pt2lint.dynamic.run import read_sources
    from pt2lint.fixes.edit import EditError, apply_edits, choose

    overlay: dict[str, str] = {}
    for path, edits in choose(findings, "unsafe", proven_only=True).edits.items():
        real = os.path.realpath(path)
        text = read_sources({real: real}).get(real)
        try:
            if text is not None:
                overlay[real] = apply_edits(text, edits)
        except EditError:
            continue
    if not overlay:
        return None
    options = replace(session.options, further=False)
    return replace(session, overlay=overlay, options=options).do(task.job)


def lost(task: Task, why: str) -> dict[str, Any]:
    """The result of a task that no worker could end."""
    problem = Problem(None, f"{task.key}: {why}")
    collected = Collected(problems=[problem])
    record = (
        as_record(collected)
        if task.proving is None
        else {"fixes": [], "notes": [], "times": {}, "after": None}
    )
    return {
        "event": "proof" if task.proving else "target",
        "key": task.key,
        "lost": asdict(problem),
        **record,
    }
