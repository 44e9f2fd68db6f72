"""What a run of the user's program shows of the places that call torch.compile, and of the findings there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pt2lint.dynamic.events import Run
from pt2lint.finding import Finding, Verdict

# Findings that say that a torch.compile at their place compiles nothing.
COMPILES_NOTHING = ("PTS301", "PTS308", "PTS309")
# Findings that say that torch.compile is called there again and again.
COMPILED_PER_CALL = ("PTR205",)
NO_PROGRAM = (
    'only a run of the program shows this: give --run "train.py --steps 2", or a file with a '
    "`__main__` of its own"
)
UNSEEN = "running the code gives no verdict on findings of this kind: read the rule's page"


def seen_at_sites(finding: Finding, path: str, runs: Sequence[Run]) -> tuple[Verdict, dict[str, Any] | None]:
    """Verdict and evidence of a PTS finding, or one of COMPILED_PER_CALL, in the file of that real path.

    confirmed: the program ran to its end, and the torch.compile at the finding's place gave no graph, though
    what it compiled was called, or nothing ever called what it returned; or it ran more than once. refuted: it
    gave graphs; or it ran once.
    """
    if finding.code not in (*COMPILES_NOTHING, *COMPILED_PER_CALL):
        return "unreached", {"reason": UNSEEN}
    recorded = [run for run in runs if run.probe == "recorded"]
    compiled = [run for run in runs if run.probe == "program"]
    if not recorded or not compiled:
        return "unreached", {"reason": NO_PROGRAM}
    sites = _at(finding, path, recorded)
    graphs = sum(site["graphs"] for site in _at(finding, path, compiled))
    made, calls = sum(site["made"] for site in sites), sum(site["calls"] for site in sites)
    if not made:
        return "unreached", {"reason": "the program ran, but not this line"}
    found: dict[str, Any] = {"made": made, "calls": calls, "graphs": graphs}
    if finding.code in COMPILED_PER_CALL:
        reason = f"the program called torch.compile here {_times(made, 'time')}"
        return ("confirmed" if made > 1 else "refuted"), {"reason": reason, **found}
    once = "torch.compile was called here" + (f" {made} times" if made > 1 else "")
    if calls and graphs:
        return "refuted", {"reason": f"what is compiled here gave {_times(graphs, 'graph')}", **found}
    if any(run.error for run in (*recorded, *compiled)):
        return "unreached", {"reason": "the program failed before its end", **found}
    if calls:
        reason = f"{once}, what it compiled was called {_times(calls, 'time')}, and not one graph came of it"
        return "confirmed", {"reason": reason, **found}
    if any(site["in_place"] for site in sites):
        return "unreached", {"reason": f"{once}, but what it compiles was never called", **found}
    # Graphs of the same code come from another place that compiles it.
    reason = f"{once}, and the program ended without calling what it returned"
    return "confirmed", {"reason": reason, **found, "graphs": 0}


def _at(finding: Finding, path: str, runs: Sequence[Run]) -> list[dict[str, Any]]:
    """The sites of torch.compile on the finding's lines."""
    return [
        site
        for run in runs
        for site in run.details.get("sites", ())
        if site["path"] == path and finding.line <= site["line"] <= max(finding.line, finding.end_line)
    ]


def _times(count: int, what: str) -> str:
    return f"{count} {what}" + ("" if count == 1 else "s")
