"""From what the probes saw to a line for each model: graphs, breaks, recompilations, times."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

from pt2lint.dynamic.events import Run
from pt2lint.finding import Finding
from pt2lint.report.models import Model, Place

COMPILED = ("default", "program", "trace")
AGAIN = ("again", "given", "program", "trace")


def models(
    runs: Iterable[Run],
    findings: Sequence[Finding],
    sources: Mapping[str, str],
    after: Iterable[Run] = (),
    times: Mapping[str, Mapping[str, float]] | None = None,
    failed: Mapping[str, str] | None = None,
) -> list[Model]:
    """One for each model that was run, in the order of the runs; `failed` are those that could not be, and why.

    `findings` are judged, `sources` texts by path as findings have it.
    """
    by_name: dict[str, list[Run]] = {}
    for run in runs:
        if run.probe not in ("recorded", "explain"):
            by_name.setdefault(name_of(run), []).append(run)
    fixed: dict[str, list[Run]] = {}
    for run in after:
        fixed.setdefault(name_of(run), []).append(run)
    found = [
        _model(name, own, fixed.get(name), findings, sources, times or {}) for name, own in by_name.items()
    ]
    return found + [Model(name, trouble=why) for name, why in (failed or {}).items() if name not in by_name]


def name_of(run: Run) -> str:
    return str(run.details.get("model") or run.target)


def _model(
    name: str,
    runs: Sequence[Run],
    after: Sequence[Run] | None,
    findings: Sequence[Finding],
    sources: Mapping[str, str],
    times: Mapping[str, Mapping[str, float]],
) -> Model:
    labels = {label(run) for run in runs} | {run.target for run in runs}
    own = [
        f for f in findings if f.verdict == "confirmed" and labels & {*(f.evidence or {}).get("targets", ())}
    ]
    most = max(
        (run for run in runs if run.probe in COMPILED),
        key=lambda run: (len(run.graphs), sum(run.graphs)),
        default=None,
    )
    then = [run for run in after or () if run.probe in COMPILED and not run.error]
    best = max(then, key=lambda run: len(run.graphs), default=None)
    first = [run.seconds for run in runs if run.probe == "default" and run.seconds]
    seconds = {"compile": round(max(first), 4)} if first else {}
    seconds |= next((dict(times[run.target]) for run in runs if run.target in times), {})
    errors = [run.error for run in runs if run.error and run.probe in ("eager", "default", "program")]
    defined = next((run.details["defined"] for run in runs if run.details.get("defined")), None)
    return Model(
        name,
        most.graphs if most else (),
        tuple(_place(f, sources) for f in own if f.is_graph_break),
        max((_recompilations(run) for run in runs if run.probe in AGAIN), default=0),
        tuple(_place(f, sources) for f in own if f.code.startswith("PTR")),
        best.graphs if best else None,
        len({(b.path, b.line) for run in then for b in run.breaks}),
        seconds,
        (defined[0], defined[1]) if defined else None,
        str(errors[0]) if errors else "",
    )


def label(run: Run) -> str:
    """A run as the evidence of findings names it."""
    return run.target if run.mode == "call" else f"{run.target} ({run.mode})"


def _recompilations(run: Run) -> int:
    return sum(recompile.limit is None for recompile in run.recompiles)


def _place(finding: Finding, sources: Mapping[str, str]) -> Place:
    lines = sources.get(finding.path, "").splitlines()
    text = lines[finding.line - 1].strip() if finding.line <= len(lines) else ""
    evidence = finding.evidence or {}
    reason = " ".join(str(evidence.get("reason") or finding.message).split())[:200]
    path = finding.path.replace(os.sep, "/")
    return Place(finding.code, path, finding.line, text, reason, str(evidence.get("graph_break") or ""))
