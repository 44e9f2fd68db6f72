"""From jobs to tasks: a job whose function names its targets is one task a target, any other is one task."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from pt2lint.dynamic.plan import Job
from pt2lint.dynamic.run import Session
from pt2lint.zoo.sources import relative
from pt2lint.zoo.task import Task

FEW = 8  # targets that may be built anew for each of them without a word


def tasks(
    jobs: Sequence[Job],
    session: Session,
    make: Callable[[str, Job, tuple[str, ...]], Task],
    here: str,
    at_once: int,
) -> tuple[list[Task], list[str]]:
    """The tasks, in the order of the jobs, and notes. Asks a child which targets the functions for inputs have."""
    found: list[Task] = []
    notes: list[str] = []
    asked = [job for job in jobs if job.kind == "inputs"]
    with ThreadPoolExecutor(max_workers=max(1, at_once)) as pool:
        answers: Mapping[str, tuple[list[str], bool]] = dict(
            zip([job.what for job in asked], pool.map(session.targets, asked), strict=True)
        )
    for job in jobs:
        names, later = answers.get(job.what, ([], True)) if job.kind == "inputs" else ([], True)
        found += [make(f"{job.what}[{name}]", job, (name,)) for name in names]
        if not names:
            found.append(make(key_of(job, here), job, ()))
        if not later and len(names) > FEW:
            notes.append(
                f"{job.what} builds all of its {len(names)} targets for each one that is run: let it return "
                "{name: function}, and each is built alone"
            )
    return found, notes


def key_of(job: Job, here: str) -> str:
    what = relative(job.what, here) if os.path.isabs(job.what) else job.what
    return {
        "run": f"run of {what}",
        "program": f"compiled run of {what}",
        "made_up": f"{what}, made-up inputs",
    }.get(job.kind, what)
