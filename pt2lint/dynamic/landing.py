"""From what the probes saw to where each line landed, for the HTML report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from pt2lint.report import Traced

COMPILED = ("default", "program", "trace")


def traced(runs: Iterable[Any], shown: Mapping[str, str]) -> list[Traced]:
    """One for each compiled run of a target (`runs` are those of pt2lint.dynamic.events), in their order.

    `shown` maps the real paths of the files to show to the paths that findings have. Runs that put every line in
    the same place are one, named after all of them.
    """
    runs = list(runs)
    ran = {(run.target, run.mode): run.ran for run in runs if run.ran}
    found: list[Traced] = []
    for run in runs:
        if run.probe not in COMPILED or not (run.graphs or run.traced or run.gave_up):
            continue
        lines: dict[str, dict[int, list[int]]] = {}
        for number, files in enumerate(run.graph_lines, 1):
            for path, numbers in files.items():
                for line in numbers:
                    if path in shown:
                        lines.setdefault(shown[path], {}).setdefault(line, []).append(number)
        if not run.graph_lines:  # logs of a job tell that a line is in a graph, not in which
            for path, numbers in run.traced.items():
                if path in shown:
                    lines[shown[path]] = {line: [0] for line in numbers}
        eager: dict[str, set[int]] = {}
        for path, name in shown.items():
            given_up = run.gave_up.get(path, frozenset()) | set(
                ran.get((run.target, run.mode), {}).get(path, ())
            )
            outside = given_up - run.traced.get(path, frozenset()) - set(lines.get(name, ()))
            if outside:
                eager[name] = outside
        places = {(break_.path, break_.line) for break_ in run.breaks}
        name = run.target if run.mode == "call" else f"{run.target} ({run.mode})"
        one = Traced(name, run.graphs, len(places), lines, eager)
        same = next((other for other in found if replace(other, name=name) == one), None)
        if same is None:
            found.append(one)
        else:
            found[found.index(same)] = replace(same, name=_joined(same.name, name))
    return found


def _joined(one: str, other: str) -> str:
    """ "Net (train)" and "Net (eval)" as "Net (train, eval)"."""
    head, _, mode = other.partition(" (")
    if mode and one.startswith(f"{head} (") and one.endswith(")"):
        return f"{one[:-1]}, {mode}"
    return f"{one}; {other}"
