"""What the probes saw, as plain data. Paths are real paths; lines count from 1."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pt2lint.dynamic.plan import Job
from pt2lint.finding import Finding

Frame = tuple[str, int, str, "int | None", "int | None"]


@dataclass(frozen=True, slots=True)
class Break:
    """One record of a graph break.

    `path` and `line` are where Dynamo broke, perhaps inside the standard library; `stack` the frames that led
    there, outermost first: (path, line, function, column, end column). `skipped` says that Dynamo gave up
    the whole frame, `rest_skipped` what follows the break in it. `before` and `after` count the operators of
    the graphs next to it, None where there is no such graph.
    """

    path: str
    line: int
    reason: str
    graph_break: str | None = None
    explanation: str = ""
    hints: tuple[str, ...] = ()
    stack: tuple[Frame, ...] = ()
    skipped: bool = False
    why_skipped: str = ""
    rest_skipped: bool = False
    before: int | None = None
    after: int | None = None


@dataclass(frozen=True, slots=True)
class Recompile:
    """Dynamo compiled a function again (`line` is its `def`), since these guards failed.

    `limit` is the setting whose limit was hit ("recompile_limit"), after which the function runs eagerly.
    """

    path: str
    line: int
    function: str
    guards: tuple[str, ...] = ()
    limit: str | None = None
    limit_value: int | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a run, a target or a whole job gave no answer. `place` is the innermost line under the paths, `target`
    where what failed is defined (its `def`)."""

    kind: str
    message: str
    type: str = ""
    place: tuple[str, int] | None = None
    target: tuple[str, int] | None = None

    def __str__(self) -> str:
        named = self.type and self.kind not in ("exit", "crash", "timeout", "memory", "no fake kernel")
        return f"{self.type}: {self.message}" if named else self.message


@dataclass(frozen=True, slots=True)
class Run:
    """One probe of one target in one mode ("train", "eval", or "call" for what is no module).

    Probes: "recorded" (the program run eagerly, its calls recorded), "eager", "explain", "default", "again" (same
    inputs once more), "given" (further inputs of the user's), "varied" (further inputs of our own), "fullgraph",
    "capture" (default mode with what fullgraph=True captures), "onward" (default mode that goes on after a break in
    a loop), "program" (the user's program as it stands), "trace" (the logs of a job that ran elsewhere). `graphs`
    counts the operators of each graph, and `graph_lines` holds the lines traced into it. `traced` holds the lines
    Dynamo traced in frames that it kept, `gave_up` those in frames it gave up, `ran` how often each line ran
    eagerly. `details` of "recorded" and "program" hold `sites`: the lines that called torch.compile, with what came
    of it, and of "recorded" `reads`: what the program's lines read from modules that torch.compile returned
    (child/harvest.py); of all, `defined` is the path and line where the target is defined, `model` what it is
    called across runs (names.py), `covers` the files whose own way to inputs it is (plan.Job).
    """

    target: str
    probe: str
    mode: str
    breaks: tuple[Break, ...] = ()
    recompiles: tuple[Recompile, ...] = ()
    graphs: tuple[int, ...] = ()
    graph_lines: tuple[Mapping[str, frozenset[int]], ...] = ()
    traced: Mapping[str, frozenset[int]] = field(default_factory=dict)
    gave_up: Mapping[str, frozenset[int]] = field(default_factory=dict)
    ran: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    error: Failure | None = None
    explain: Mapping[str, int] | None = None
    seconds: float | None = None
    rank: int | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Events:
    """All that was seen: the runs, and what failed for which files (empty: for all that is judged); `jobs` are those
    that led to calls; `left` what no inputs could be made up for: (real path, name) and why."""

    runs: tuple[Run, ...] = ()
    failures: tuple[tuple[tuple[str, ...], Failure], ...] = ()
    jobs: tuple[Job, ...] = ()
    left: Mapping[tuple[str, str], str] = field(default_factory=dict)


def about(finding: Finding, path: str, runs: Sequence[Run]) -> list[Run]:
    """The runs that may say something of what happens between calls to a finding in the file of that real path: not
    those of another file's program that never came to this file, nor to one on the way to the finding."""

    def came_to(run: Run, paths: set[str]) -> bool:
        seen = (run.details.get("covers", ()), run.ran, run.traced, run.gave_up)
        return not run.details.get("covers") or any(paths & set(each) for each in seen)

    own = [run for run in runs if came_to(run, {path})]
    if any(path in run.details.get("covers", ()) for run in own):
        return own
    way = {path, *(os.path.realpath(step.path) for step in finding.flow)}
    return [run for run in runs if came_to(run, way)]


def run_from(message: Mapping[str, Any]) -> Run:
    """A Run from the child's "run" message."""
    breaks: list[Break] = []
    recompiles: list[Recompile] = []
    said = message.get("events") or []
    for number, (kind, fields) in enumerate(said):
        if kind == "break":
            breaks.append(_break(fields, said[number + 1 :]))
        elif kind == "recompile":
            recompiles.append(
                Recompile(fields["path"], fields["line"], fields["function"], tuple(fields["guards"]))
            )
        elif kind == "limit":
            recompiles.append(
                Recompile(
                    fields["path"], fields["line"], fields["function"],
                    limit=fields["limit"], limit_value=fields["value"],
                )
            )  # fmt: skip
    return Run(
        target=message["target"],
        probe=message["probe"],
        mode=message["mode"],
        breaks=tuple(breaks),
        recompiles=tuple(recompiles),
        graphs=tuple(fields["operators"] for kind, fields in said if kind == "graph"),
        graph_lines=tuple(_lines(lines) for lines in message.get("graph_lines") or ()),
        traced=_lines(message.get("traced")),
        gave_up=_lines(message.get("gave_up")),
        ran={
            path: {int(line): n for line, n in counts.items()}
            for path, counts in (message.get("ran") or {}).items()
        },
        error=failure_from(message.get("error")),
        explain=message.get("explain"),
        seconds=message.get("seconds"),
        rank=message.get("rank"),
        details={
            key: message[key]
            for key in ("call", "dims", "sites", "reads", "stopped", "defined", "model")
            if key in message
        },
    )


def failure_from(fields: Mapping[str, Any] | None) -> Failure | None:
    if not fields:
        return None
    place = fields.get("place")
    return Failure(fields["kind"], fields["message"], fields.get("type", ""), tuple(place) if place else None)


def _lines(found: Mapping[str, Iterable[int]] | None) -> dict[str, frozenset[int]]:
    return {path: frozenset(lines) for path, lines in (found or {}).items()}


def _break(fields: Mapping[str, Any], later: list[tuple[str, Mapping[str, Any]]]) -> Break:
    """The break with its cost: Dynamo logs it, compiles the graph up to it, then what follows it.

    What follows it up to another break is compiled after that one is logged, as the graph up to that.
    """
    before = after = None
    own, ends_at = fields.get("compile_id"), None
    for kind, other in later if not fields["skipped"] else ():
        if kind == "break" and (other["path"], other["line"]) != (fields["path"], fields["line"]):
            if ends_at is not None:
                break
            ends_at = other.get("compile_id")
        elif kind == "graph" and other["compile_id"] == own and before is None and ends_at is None:
            before = other["operators"]
        elif kind == "graph" and ends_at in (None, other["compile_id"]):
            after = other["operators"]
            break
    return Break(
        path=fields["path"],
        line=fields["line"],
        reason=fields["reason"],
        graph_break=fields["graph_break"],
        explanation=fields["explanation"],
        hints=tuple(fields["hints"]),
        stack=tuple((f[0], f[1], f[2], f[3], f[4]) for f in fields["stack"]),
        skipped=fields["skipped"],
        why_skipped=fields["why_skipped"],
        rest_skipped=fields.get("rest_skipped", False),
        before=before,
        after=after,
    )
