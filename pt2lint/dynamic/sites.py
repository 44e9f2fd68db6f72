"""What a run of the user's program shows of the places that call torch.compile, and of the findings there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pt2lint.dynamic.events import Run
from pt2lint.finding import Finding, Verdict

# Findings that say that a torch.compile at their place compiles nothing.
COMPILES_NOTHING = ("PTS301", "PTS308", "PTS309")
# Findings about what a line reads from a module that torch.compile returned: the names, or None for any other.
READS: dict[str, tuple[str, ...] | None] = {
    "PTS302": None,
    "PTS303": ("state_dict",),
    "PTS304": ("__class__",),
    "PTS317": (
        "named_parameters",
        "named_modules",
        "named_buffers",
        "children",
        "named_children",
        "state_dict",
    ),
}
# Findings about what torch.compile refuses, and about the None that Module.compile returns.
REFUSED = ("PTS313",)
RETURNS_NONE = "PTS312"
# Findings about torch.compile being turned off for all of the process.
TURNED_OFF = ("PTS305", "PTS306", "PTS322")
# Findings that say that torch.compile is called there again and again.
COMPILED_PER_CALL = ("PTR205",)
NO_PROGRAM = (
    'only a run of the program shows this: give --run "train.py --steps 2", or a file with a '
    "`__main__` of its own"
)
STOPPED = "the program was stopped before its end, which it takes to know this"
UNSEEN = "running the code gives no verdict on findings of this kind: read the rule's page"


def seen_at_sites(finding: Finding, path: str, runs: Sequence[Run]) -> tuple[Verdict, dict[str, Any] | None]:
    """Verdict and evidence of a PTS finding, or one of COMPILED_PER_CALL, in the file of that real path.

    What takes the program's end to know is said of none that was stopped.
    confirmed: the program ran to its end, and the torch.compile at the finding's place gave no graph, though
    what it compiled was called, or nothing ever called what it returned; or it ran more than once. refuted: it
    gave graphs; or it ran once.
    """
    seen = (*COMPILES_NOTHING, *COMPILED_PER_CALL, *READS, *TURNED_OFF, *REFUSED, RETURNS_NONE)
    if finding.code not in seen:
        return "unreached", {"reason": UNSEEN}
    recorded = [run for run in runs if run.probe == "recorded"]
    compiled = [run for run in runs if run.probe == "program"]
    if not recorded or not compiled:
        return "unreached", {"reason": NO_PROGRAM}
    if finding.code in READS:
        return _read(finding, path, recorded)
    stopped = any(run.details.get("stopped") for run in (*recorded, *compiled))
    if finding.code in TURNED_OFF:
        return (
            _stopped(_turned_off(recorded, compiled), "confirmed")
            if stopped
            else _turned_off(recorded, compiled)
        )
    sites = _at(finding, path, recorded)
    graphs = sum(site["graphs"] for site in _at(finding, path, compiled))
    made, calls = sum(site["made"] for site in sites), sum(site["calls"] for site in sites)
    if not made:
        return "unreached", {"reason": "the program ran, but not this line"}
    found: dict[str, Any] = {"made": made, "calls": calls, "graphs": graphs}
    if finding.code in COMPILED_PER_CALL:
        reason = f"the program called torch.compile here {_times(made, 'time')}"
        judged: tuple[Verdict, dict[str, Any]] = (
            "confirmed" if made > 1 else "refuted",
            {"reason": reason, **found},
        )
        return _stopped(judged, "refuted") if stopped else judged
    if finding.code == RETURNS_NONE:
        return "confirmed", {"reason": f"it ran here {_times(made, 'time')}, and gave None", **found}
    if finding.code in REFUSED:
        raised = next((run.error for run in recorded if run.error and run.error.place), None)
        if raised is not None and raised.place is not None and raised.place[1] in _lines(finding):
            return "confirmed", {"reason": f"it raised {raised}", **found}
        return "refuted", {"reason": "it ran here and raised nothing", **found}
    once = "torch.compile was called here" + (f" {made} times" if made > 1 else "")
    if calls and graphs:
        return "refuted", {"reason": f"what is compiled here gave {_times(graphs, 'graph')}", **found}
    if any(run.error for run in (*recorded, *compiled)):
        return "unreached", {"reason": "the program failed before its end", **found}
    if stopped:
        return "unreached", {"reason": STOPPED, **found}
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
        if site["path"] == path and site["line"] in _lines(finding)
    ]


def _lines(finding: Finding) -> range:
    return range(finding.line, max(finding.line, finding.end_line) + 1)


def _read(finding: Finding, path: str, recorded: Sequence[Run]) -> tuple[Verdict, dict[str, Any] | None]:
    """What a line read from a compiled module."""
    wanted = READS[finding.code]
    others = {name for names in READS.values() for name in names or ()}
    hits = 0
    for read in (read for run in recorded for read in run.details.get("reads", ())):
        if read["path"] != path or read["line"] not in _lines(finding):
            continue
        name = read["name"]
        if name in wanted if wanted is not None else (name not in others and f".{name}" in finding.message):
            hits += read["count"]
    if not hits:
        return "unreached", {"reason": "the program asked nothing of a compiled module here that a run shows"}
    if finding.code == "PTS304":
        reason = f"it was False of what torch.compile had returned, {_times(hits, 'time')}"
    else:
        reason = f"the program asked it of what torch.compile had returned, {_times(hits, 'time')}"
    return "confirmed", {"reason": reason, "times": hits}


def _turned_off(recorded: Sequence[Run], compiled: Sequence[Run]) -> tuple[Verdict, dict[str, Any] | None]:
    """Whether anything that the program compiled and called gave a graph."""
    calls = sum(site["calls"] for run in recorded for site in run.details.get("sites", ()))
    graphs = sum(site["graphs"] for run in compiled for site in run.details.get("sites", ()))
    if calls and not graphs:
        reason = f"what the program compiled was called {_times(calls, 'time')}, and not one graph came of it"
        return "confirmed", {"reason": reason, "calls": calls, "graphs": 0}
    if not calls:
        return "unreached", {"reason": "the program called nothing that it had compiled"}
    reason = f"what the program compiled gave {_times(graphs, 'graph')}: it was not off all the time"
    return "unreached", {"reason": reason, "calls": calls, "graphs": graphs}


def _stopped(
    judged: tuple[Verdict, dict[str, Any] | None], open_: Verdict
) -> tuple[Verdict, dict[str, Any] | None]:
    """The judgement of a program that was stopped: one that more of the program could overturn is none."""
    verdict, evidence = judged
    return ("unreached", {**(evidence or {}), "reason": STOPPED}) if verdict == open_ else judged


def _times(count: int, what: str) -> str:
    return f"{count} {what}" + ("" if count == 1 else "s")
