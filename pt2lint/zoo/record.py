"""What jobs brought, as plain data that a line of JSON holds, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from pt2lint.dynamic.events import Failure, run_from
from pt2lint.dynamic.plan import Job
from pt2lint.dynamic.run import Collected
from pt2lint.finding import Problem


def as_record(collected: Collected) -> dict[str, Any]:
    return {
        "runs": collected.said,
        "jobs": [asdict(job) for job in collected.jobs],
        "failures": [[list(paths), asdict(failure)] for paths, failure in collected.failures],
        "problems": [asdict(problem) for problem in collected.problems],
        "notes": collected.notes,
        "torch": collected.torch,
    }


def from_record(record: Mapping[str, Any]) -> Collected:
    return Collected(
        runs=[run_from(message) for message in record["runs"]],
        said=list(record["runs"]),
        jobs=[_job(fields) for fields in record["jobs"]],
        failures=[(tuple(paths), _failure(fields)) for paths, fields in record["failures"]],
        problems=[Problem(**fields) for fields in record["problems"]],
        notes=list(record["notes"]),
        torch=record["torch"],
    )


def _job(fields: Mapping[str, Any]) -> Job:
    otherwise = tuple(_job(other) for other in fields["otherwise"])
    return Job(fields["kind"], fields["what"], tuple(fields["covers"]), otherwise)


def _failure(fields: Mapping[str, Any]) -> Failure:
    places = {name: tuple(fields[name]) if fields[name] else None for name in ("place", "target")}
    return Failure(**{**fields, **places})
