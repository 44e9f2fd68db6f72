"""How long calls take: eager, compiled as the code is, and compiled with the fixes that were proven."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from pt2lint.finding import Edit, Finding
from pt2lint.fixes.bench import Bench
from pt2lint.fixes.edit import apply_edits, choose


def timed(
    bench: Bench, findings: Sequence[Finding], backend: str, targets: Sequence[str]
) -> dict[str, dict[str, float]]:
    """The seconds of a call by target, and a note for each: eager, compiled before and with all proven fixes that do
    not touch each other."""
    found: dict[str, dict[str, float]] = {}
    chosen = choose(findings, "unsafe", proven_only=True)
    overlay = {
        path: apply_edits(bench.sources[path], edits)
        for path, edits in _by_real_path(chosen.edits).items()
        if path in bench.sources
    }
    wanted = {"time": {"backend": backend, "only": list(targets)}}
    for job in bench.ways:
        if job.kind == "program":
            continue
        bench.progress(f"{job.label}: timing it")
        before = bench.child(job, {}, wanted)
        after = bench.child(job, overlay, wanted) if overlay else before
        for target in targets:
            one, other = before.timed.get(target), after.timed.get(target)
            trouble = before.trouble or after.trouble
            for said in (one, other):
                if said is not None and said["error"]:
                    trouble = f"{said['error']['type']}: {said['error']['message']}"
            if trouble or one is None or other is None:
                if trouble:
                    bench.notes.append(f"{target}: not timed: {trouble}")
                continue
            mode = "" if one["mode"] == "call" else f" in {one['mode']} mode"
            bench.notes.append(
                f"{target}: a call {_took(one, other, overlay)} (median{mode}, backend {backend})"
            )
            if one["step"] and other["step"]:
                step = _took(one["step"], other["step"], overlay)
                bench.notes.append(f"{target}: forward and backward {step} (median in train mode)")
            times = {"eager": one["eager"], "cold": one["cold"], "warm": one["compiled"]}
            found[target] = times | ({"fixed": other["compiled"]} if overlay else {})
    return found


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
