"""From findings and events to verdicts: a pure function, which needs no torch."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Any, NamedTuple

from pt2lint.conditions import outcome
from pt2lint.dynamic.events import Break, Events, Failure, Run, about
from pt2lint.dynamic.files import Files
from pt2lint.dynamic.installing import to_install_for
from pt2lint.dynamic.recompilations import DEFAULT_MODE, Recompilations, called_often
from pt2lint.dynamic.sites import COMPILED_PER_CALL, seen_at_sites
from pt2lint.dynamic.statements import Statements, identifiers
from pt2lint.finding import MAX_TOLD, Finding, Verdict

FULLGRAPH = ("fullgraph", "capture")
ONWARD = "onward"
NOBODY_CAME = "no run came here"
BEHIND = "once the loop has no break before it"


@dataclass
class Site:
    """All that was seen to break at one statement."""

    breaks: list[tuple[Run, Break]] = field(default_factory=list)
    line: int = 0


def judge(findings: Sequence[Finding], events: Events, files: Files) -> list[Finding]:
    """Give each finding its verdict and evidence, and add what no rule foresaw (PTB900, PTR900).

    confirmed: Dynamo broke at the finding's statement (for PTR codes: recompiled for its reason).
    refuted: Dynamo traced the finding's line in default mode, in a frame that it kept, and never broke there.
    failed: what would have reached it could not be run. unreached: nothing reached it. dynamic/sites.py says what
    a run can show of PTS findings.
    """
    real = {shown: path for path, shown in files.shown.items()}
    sites = _sites((run for run in events.runs if run.probe != ONWARD), files)
    behind = _sites((run for run in events.runs if run.probe == ONWARD), files)
    lines = _lines(events.runs)
    traced, gave_up, ran = lines
    recompilations = Recompilations(events.runs, files)
    judged: list[Finding] = []
    known_sites: set[tuple[str, int]] = set()
    for finding in findings:
        path = real.get(finding.path, os.path.realpath(finding.path))
        unit = files.unit(path, finding.line)
        verdict: Verdict = "unreached"
        evidence: dict[str, Any] | None = None
        own = _own_lines(finding, files.statements(path))
        if finding.is_graph_break and unit in sites:
            known_sites.add(unit)
            verdict, evidence = "confirmed", _evidence(sites[unit], unit, events.runs, ran, files)
        elif finding.is_graph_break:
            verdict, evidence = _not_seen_to_break(finding, path, own, lines, events.runs, files)
            if verdict == "unreached" and unit in behind and not _goes_on(unit, files):
                verdict, evidence = "confirmed", _evidence(behind[unit], unit, events.runs, ran, files)
                evidence["reason"] += f" ({BEHIND})"
        elif finding.code.startswith("PTS") or finding.code in COMPILED_PER_CALL:
            verdict, evidence = seen_at_sites(finding, path, about(finding, path, events.runs))
        elif finding.code.startswith("PTR"):
            near = about(finding, path, events.runs)
            evidence = recompilations.foretold_by(finding, path, near)
            if evidence is not None:
                verdict = "confirmed"
            elif called_often(path, finding, events.runs):
                verdict, evidence = "refuted", {"reason": "further calls compiled nothing again"}
            elif own & traced.get(path, frozenset()):
                evidence = {"reason": "the line was compiled, and no further call compiled it again for this"}
            elif own & gave_up.get(path, frozenset()):
                evidence = {"reason": "Dynamo gave up this part of the function, for a graph break in it"}
            elif any(run.probe == "program" for run in near):
                evidence = {"reason": "the program was run, and nothing was compiled again for this"}
        else:  # a rule of the user's own
            evidence = {"reason": "nothing that Dynamo does shows it"}
        if verdict == "unreached":
            failure = _failure_for(finding, path, events.failures, files)
            if failure is not None:
                verdict, evidence = "failed", {"reason": str(failure), "kind": failure.kind}
            elif (evidence is None or evidence["reason"].startswith(NOBODY_CAME)) and (
                left := _left(finding, path, events.left, files)
            ):
                evidence = {"reason": left}
            if evidence is not None and (command := to_install_for(evidence["reason"])):
                evidence = {**evidence, "reason": f"{evidence['reason']} ({command})", "install": command}
        judged.append(replace(finding, verdict=verdict, evidence=evidence))
    for unit, site in sites.items():
        compiled = traced.get(unit[0], frozenset()) | gave_up.get(unit[0], frozenset())
        if unit not in known_sites and (site.line in compiled or not _is_meant(site)):
            judged.append(_unforeseen_break(unit, site, events.runs, ran, files))
    judged += recompilations.unforeseen()
    return sorted(judged, key=lambda finding: finding.sort_key)


def _not_seen_to_break(
    finding: Finding, path: str, own: set[int], lines: _Lines, runs: Sequence[Run], files: Files
) -> tuple[Verdict, dict[str, Any] | None]:
    """The verdict on a graph break at whose statement none was seen: it is refuted, or why it is not."""
    traced, gave_up, ran = lines
    reason = None
    if own & traced.get(path, frozenset()):
        never = _other_mode(finding, own, path, runs) or _never_met(finding, path, lines, files)
        if never:
            reason = f"the line was traced, but no run met `{never}`"
        elif unknown := _unknown(finding, path, files):
            reason = f"the line was traced, but nothing tells whether `{unknown}` held"
        elif len(finding.when) >= MAX_TOLD:
            reason = "the line was traced, but it may need more than the conditions that are told"
        elif _maybe_not_evaluated(finding, files.statements(path)):
            reason = "Dynamo traced the line, but may not have evaluated this part of it"
        elif (at := files.statements(path)) and at.makes_constant(finding.line, finding.end_line):
            reason = "Dynamo traced the line, and a tensor of one number is a constant to it: more of them may not be"
        elif at and (way := at.chosen(finding.line, finding.end_line)):
            reason = f"Dynamo traced the line, but `{way}` may be made in another way"
        else:
            return "refuted", _refutation(own, path, runs)
    elif own & gave_up.get(path, frozenset()):
        reason = "Dynamo gave up this part of the function, for another break in it"
    elif own & set(ran.get(path, {})):
        reason = "the line ran, but not in code that Dynamo compiled"
    elif finding.when:
        reason = f"{NOBODY_CAME}; it happens {finding.only_where}"
    return "unreached", None if reason is None else {"reason": reason}


def _goes_on(unit: tuple[str, int], files: Files) -> bool:
    """Whether the statement is the head of a loop, which Dynamo would not go on with in user's code."""
    statements = files.statements(unit[0])
    return statements is not None and isinstance(statements.node(unit[1]), (ast.For, ast.AsyncFor, ast.While))


def _sites(runs: Iterable[Run], files: Files) -> dict[tuple[str, int], Site]:
    sites: dict[tuple[str, int], Site] = {}
    for run in runs:
        # A repeated record has no stack: Dynamo gave it with the first record of the same place.
        first = {(each.path, each.line): each for each in reversed(run.breaks) if each.stack}
        for break_ in run.breaks:
            place = files.place(break_ if break_.stack else first.get((break_.path, break_.line), break_))
            if place is None:
                continue
            site = sites.setdefault(files.unit(*place), Site(line=place[1]))
            site.breaks.append((run, break_))
    return sites


class _Lines(NamedTuple):
    """By file: lines traced in frames that were kept, in frames that were given up, how often lines ran in a call."""

    traced: dict[str, frozenset[int]]
    gave_up: dict[str, frozenset[int]]
    ran: dict[str, dict[int, int]]


def _lines(runs: Iterable[Run]) -> _Lines:
    traced: dict[str, frozenset[int]] = {}
    gave_up: dict[str, frozenset[int]] = {}
    ran: dict[str, dict[int, int]] = {}
    for run in runs:
        if run.probe in DEFAULT_MODE and not (
            run.error and run.error.kind in ("internal error", "backend failure")
        ):
            for path, lines in run.traced.items():
                traced[path] = traced.get(path, frozenset()) | lines
        for path, lines in run.gave_up.items():
            gave_up[path] = gave_up.get(path, frozenset()) | lines
        for path, counts in run.ran.items():
            most = ran.setdefault(path, {})
            for line, count in counts.items():
                most[line] = max(most.get(line, 0), count)
    return _Lines(traced, gave_up, ran)


def _never_met(finding: Finding, path: str, seen: _Lines, files: Files) -> str:
    """The first of the finding's conditions under which nothing ran, in the files on the way to it: the line was
    reached by another way. "" where each may have been met."""
    real = {shown: path for path, shown in files.shown.items()}
    way = {path, *(real.get(step.path, step.path) for step in finding.flow)}
    reached = {place: set[int]().union(*(lines.get(place, ()) for lines in seen)) for place in way}
    for text in finding.when:
        under = [(p, lines) for p in way if (own := files.statements(p)) for lines in own.under(text)]
        if under and not any(reached[p] & set(lines) for p, lines in under):
            return text
    return ""


def _other_mode(finding: Finding, own: set[int], path: str, runs: Sequence[Run]) -> str:
    """The first of the finding's conditions on the mode that each run which traced the line was not in; "" for none."""
    able = {
        run.mode.partition(" ")[0]
        for run in runs
        if run.probe in DEFAULT_MODE and own & run.traced.get(path, frozenset())
    }
    for text in finding.when:
        met = [
            outcome(text, [("training", mode == "train")]) is not False for mode in able & {"train", "eval"}
        ]
        if met and not any(met) and able <= {"train", "eval"}:
            return text
    return ""


def _unknown(finding: Finding, path: str, files: Files) -> str:
    """The first of the finding's conditions that no file on the way asks for, and that no mode or dtype decides: it
    is asked in code that was not read here, and a line that was traced says nothing of it."""
    real = {shown: path for path, shown in files.shown.items()}
    way = {path, *(real.get(step.path, step.path) for step in finding.flow)}
    asked = [own.asked for place in way if (own := files.statements(place))]
    for text in finding.when:
        decided = (
            outcome(text, [("training", True)]),
            outcome(text, [("dtype", "float16"), ("autocast", True)]),
        )
        try:
            names = identifiers(ast.parse(text)) - {"self"}
        except SyntaxError:
            continue  # words, no code
        if decided == (None, None) and not any(names <= each for each in asked):
            return text
    return ""


def _own_lines(finding: Finding, statements: Statements | None) -> set[int]:
    """The lines of the flagged expression; of a compound statement only its header's."""
    last = finding.end_line if finding.end_column > 1 else max(finding.line, finding.end_line - 1)
    if statements:
        last = min(last, max(finding.line, statements.span(finding.line)[1]))
    return set(range(finding.line, last + 1))


def _maybe_not_evaluated(finding: Finding, statements: Statements | None) -> bool:
    place = (finding.line, finding.column, finding.end_line, finding.end_column)
    return statements is not None and statements.is_conditional(*place)


def _evidence(
    site: Site,
    unit: tuple[str, int],
    runs: Sequence[Run],
    ran: Mapping[str, Mapping[int, int]],
    files: Files,
) -> dict[str, Any]:
    """What Dynamo said of one statement, and what it costs; the keys are listed in docs/verify.md."""
    # The fullest record: one with a registry id, a reason and a stack.
    _, first = max(
        site.breaks, key=lambda each: (bool(each[1].stack), bool(each[1].reason), bool(each[1].graph_break))
    )
    default = [(run_, break_) for run_, break_ in site.breaks if run_.probe in DEFAULT_MODE]
    broken = {(run_.target, run_.mode) for run_, _ in site.breaks}
    modes = (["default"] if default else []) + (["fullgraph"] if _breaks_fullgraph(site, runs) else [])
    graphs = max(
        (
            len(run_.graphs)
            for run_ in runs
            if run_.probe in ("default", "program", "trace") and (run_.target, run_.mode) in broken
        ),
        default=0,
    )
    statements = files.statements(unit[0])
    last = statements.span(unit[1])[1] if statements else unit[1]
    executed = max((ran.get(unit[0], {}).get(line, 0) for line in range(unit[1], last + 1)), default=0)
    skips = [break_ for _, break_ in site.breaks if break_.skipped]
    costs = [break_ for _, break_ in default if break_.before is not None or break_.after is not None]
    evidence: dict[str, Any] = {
        "graph_break": first.graph_break,
        "reason": first.reason,
        "explanation": first.explanation,
        "hints": list(first.hints),
        "modes": modes,
        "graphs": graphs,
        "hits": executed or max(1, len(default)),
        "operators_before": costs[0].before if costs else None,
        "operators_after": costs[0].after if costs else None,
        "skipped_frame": bool(skips),
        "skipped_rest": not skips and any(break_.rest_skipped for _, break_ in site.breaks),
        "why_skipped": next((break_.why_skipped for break_ in skips if break_.why_skipped), None),
        "targets": sorted({f"{target} ({mode})" if mode != "call" else target for target, mode in broken}),
        "stack": [
            f"{files.shown.get(f[0], f[0])}:{f[1]} in {f[2]}" for f in first.stack if not _plumbing(f[0])
        ],
    }
    others = {(b.graph_break, b.reason) for _, b in site.breaks if b.reason} - {
        (first.graph_break, first.reason)
    }
    if others:
        evidence["other_breaks"] = [
            {"graph_break": gb, "reason": reason} for gb, reason in sorted(others, key=str)
        ]
    ranks = sorted({run_.rank for run_, _ in site.breaks if run_.rank is not None})
    if ranks:
        evidence["ranks"] = ranks
    return evidence


def _plumbing(path: str) -> bool:
    """Frames that say nothing to the reader: nn.Module's call machinery and our own child."""
    parts = path.replace("\\", "/")
    return (
        parts.endswith("torch/nn/modules/module.py")
        or "/torch/_dynamo/" in parts
        or "/dynamic/child/" in parts
    )


def _breaks_fullgraph(site: Site, runs: Sequence[Run]) -> bool:
    """Whether the statement breaks under fullgraph=True.

    That run stops at its first break. For the others it is what default mode does with fullgraph's captures
    on (the "capture" runs), or, on a torch whose fullgraph captures nothing more, what default mode does.
    """
    if any(run.probe in FULLGRAPH for run, _ in site.breaks):
        return True
    for target, mode in {(run.target, run.mode) for run, _ in site.breaks}:
        same = [other for other in runs if other.target == target]
        captured = any(other.probe == "capture" for other in same)
        stopped = any(other.probe == "fullgraph" and other.mode == mode and other.error for other in same)
        if stopped and not captured:
            return True
    return False


def _refutation(own: set[int], path: str, runs: Sequence[Run]) -> dict[str, Any]:
    by = {
        f"{run.target} ({run.mode})" if run.mode != "call" else run.target
        for run in runs
        if run.probe in DEFAULT_MODE and own & run.traced.get(path, frozenset())
    }
    return {"reason": "Dynamo traced this line and did not break the graph", "targets": sorted(by)}


def _failure_for(
    finding: Finding, path: str, failures: Iterable[tuple[tuple[str, ...], Failure]], files: Files
) -> Failure | None:
    """What failed of what would have reached a finding: what is defined around it, else the first for its file that is
    not known to be of something else in it, which does not lead to the finding either."""
    concerned = [failure for paths, failure in failures if not paths or path in paths]
    real = {shown: each for each, shown in files.shown.items()}
    way = [(real.get(step.path, step.path), step.line) for step in finding.flow]

    def is_of(failure: Failure, place: tuple[str, int]) -> bool:
        statements = files.statements(place[0])
        if failure.target is None or failure.target[0] != place[0] or statements is None:
            return False
        return statements.same_definition(place[1], failure.target[1])

    for failure in concerned:
        if is_of(failure, (path, finding.line)):
            return failure
    for failure in concerned:
        if failure.target is None or failure.target[0] != path or any(is_of(failure, each) for each in way):
            return failure
    return None


def _left(finding: Finding, path: str, left: Mapping[tuple[str, str], str], files: Files) -> str:
    """Why nothing came to a finding: what it lies in, or what leads to it, had no inputs; "" where it is not known."""
    real = {shown: each for each, shown in files.shown.items()}
    for place, line in [(path, finding.line), *((real.get(s.path, s.path), s.line) for s in finding.flow)]:
        statements = files.statements(place)
        name = statements.definition(line) if statements else ""
        if (place, name) in left:
            return left[place, name]
    return ""


def _is_meant(site: Site) -> bool:
    """Whether torch itself asks for the break, around an optimizer's step that is compiled by itself: it keeps
    gradients out of the graph, and costs nothing."""
    return all(
        "graph_break()" in break_.reason and PurePath(break_.path).parts[-3:-1] == ("torch", "optim")
        for _, break_ in site.breaks
    )


def _unforeseen_break(
    unit: tuple[str, int],
    site: Site,
    runs: Sequence[Run],
    ran: Mapping[str, Mapping[int, int]],
    files: Files,
) -> Finding:
    path, line = unit[0], site.line
    evidence = _evidence(site, unit, runs, ran, files)
    column, end_line, end_column = _columns(path, line, site, files)
    inner = next((b for _, b in site.breaks if b.stack and (b.path, b.line) != (path, b.line)), None)
    inside = ""
    if inner is not None and files.place(inner) != (inner.path, inner.line):
        inside = f" (inside {os.path.basename(inner.path)}:{inner.line}, called from here)"
    reason = evidence["reason"].rstrip(".") or "no reason given"
    what = "Dynamo breaks the graph here"
    if evidence["modes"] == ["fullgraph"]:
        what = "fullgraph=True stops here, where default mode was not seen to break the graph"
    return Finding(
        code="PTB900",
        name="unforeseen-graph-break",
        message=f"{what}: {reason}{inside}",
        path=files.shown[path],
        line=line,
        column=column,
        end_line=end_line,
        end_column=end_column,
        verdict="confirmed",
        evidence=evidence,
    )


def _columns(path: str, line: int, site: Site, files: Files) -> tuple[int, int, int]:
    """(column, end line, end column) of what Dynamo marked in the line, else of the statement."""
    source = files.sources[path].splitlines()
    text = source[line - 1] if line <= len(source) else ""
    indent = len(text) - len(text.lstrip())
    for _, break_ in site.breaks:
        for frame in reversed(break_.stack):
            if (frame[0], frame[1]) == (path, line) and frame[3] is not None and frame[4] is not None:
                column, limit = indent + frame[3] + 1, indent + frame[4] + 1
                statements = files.statements(path)
                end = statements.expression_end(line, column, limit) if statements else None
                if end is not None:
                    return column, line, end
                break
    return indent + 1, line, max(len(text.rstrip()) + 1, indent + 2)
