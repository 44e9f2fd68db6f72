"""The SARIF 2.1.0 report, as GitHub code scanning reads it.

What GitHub requires, ignores and limits is in its documentation, "SARIF support for code scanning".
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attr
import sarif_om as om

from pt2lint.finding import Edit, Finding, Fix, RulePage, Step
from pt2lint.report import Report
from pt2lint.report.line_hash import line_hashes
from pt2lint.report.page import markdown, registry_link

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

# GitHub refuses a run with more results and a larger file (gzipped); of a flow it keeps 1,000 steps.
MAX_RESULTS = 25_000
MAX_BYTES = 10_000_000
MAX_FLOW = 1_000
MAX_TEXT = 1_024
MAX_NAME = 255

FAMILIES = {"PTB": "graph-break", "PTR": "recompilation", "PTS": "silent"}
LEVELS = {"error": 0, "warning": 1, "note": 2}


def render(report: Report) -> str:
    """One run with the findings that count, as many as GitHub takes; a note in it says what was left out.

    What Dynamo refuted is left out too, unless suppressed findings are shown, and notes of code that no model calls,
    unless notes are asked for: GitHub would open an alert for each.
    """
    asked = [finding for finding in report.findings if report.show_notes or not finding.is_of_uncalled]
    kept = [finding for finding in asked if finding.counts or report.suppressed]
    found = len(kept) + len(report.suppressed)
    limit = MAX_RESULTS
    while True:
        room = worst(kept, limit)
        silenced = worst(report.suppressed, limit - len(room))
        text = _log(report, room, silenced, found - len(room) - len(silenced))
        if len(text) < MAX_BYTES or len(gzip.compress(text.encode(errors="backslashreplace"), 6)) < MAX_BYTES:
            return text
        limit = (len(room) + len(silenced)) // 2


def worst(findings: Sequence[Finding], limit: int) -> list[Finding]:
    """At most `limit` findings: confirmed ones first, then by severity and confidence; in the order given."""
    ranked = sorted(
        range(len(findings)),
        key=lambda i: (
            findings[i].verdict != "confirmed",
            LEVELS[findings[i].severity],
            findings[i].confidence == "low",
            i,
        ),
    )
    return [findings[i] for i in sorted(ranked[:limit])]


def _log(report: Report, findings: Sequence[Finding], suppressed: Sequence[Finding], dropped: int) -> str:
    codes = sorted({*report.pages, *(finding.code for finding in (*findings, *suppressed))})
    names = {finding.code: finding for finding in (*findings, *suppressed)}
    pages = [report.pages.get(code) or _page(names[code]) for code in codes]
    driver = om.ToolComponent(
        name="pt2lint",
        version=report.version,
        semantic_version=report.version,
        rules=[_rule(page) for page in pages],
    )
    hashes = {
        path: line_hashes(report.sources[path])
        for path in {finding.path for finding in (*findings, *suppressed)} & report.sources.keys()
    }
    index = {code: i for i, code in enumerate(codes)}
    results = [_result(report, finding, index, hashes) for finding in findings]
    results += [_result(report, finding, index, hashes, suppressed=True) for finding in suppressed]
    notes = [_notification("error", str(problem)) for problem in report.problems]
    notes += [_notification("note", note) for note in report.notes]
    if dropped:
        notes.append(
            _notification("warning", f"{dropped} findings left out: over the limits of code scanning")
        )
    run = om.Run(
        tool=om.Tool(driver=driver),
        results=results,
        automation_details=om.RunAutomationDetails(id="pt2lint/"),
        column_kind="unicodeCodePoints",
        invocations=[
            om.Invocation(
                execution_successful=not report.problems, tool_execution_notifications=notes or None
            )
        ],
        original_uri_base_ids={
            "%SRCROOT%": om.ArtifactLocation(description=om.Message(text="The root of the repository."))
        },
    )
    log = om.SarifLog(version="2.1.0", schema_uri=SCHEMA, runs=[run])
    return json.dumps(_plain(log), indent=1, ensure_ascii=False) + "\n"


def _plain(value: Any) -> Any:
    """sarif-om's objects as JSON data, without what holds the schema's default.

    Not jschema_to_python.to_json: it drops a result's level "warning", and the rule's level holds then.
    """
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if not attr.has(type(value)):
        return value
    plain = {}
    for field in attr.fields(type(value)):
        item = getattr(value, field.name)
        default = field.default.factory() if hasattr(field.default, "factory") else field.default
        if item is not None and (field.name in ("level", "version") or item != default):
            plain[field.metadata["schema_property_name"]] = _plain(item)
    return plain


def _rule(page: RulePage) -> om.ReportingDescriptor:
    tags = ["torch.compile", "performance", FAMILIES.get(page.code[:3], "pt2lint")]
    return om.ReportingDescriptor(
        id=page.code,
        name=_pascal(page.name)[:MAX_NAME],
        short_description=om.MultiformatMessageString(text=_sentence(_unmarked(page.summary), MAX_TEXT)),
        full_description=om.MultiformatMessageString(text=_sentence(_first_section(page), MAX_TEXT)),
        help=om.MultiformatMessageString(text=markdown(page), markdown=markdown(page)),
        help_uri=registry_link(page.graph_breaks[0]) if page.graph_breaks else None,
        default_configuration=om.ReportingConfiguration(level=page.severity),
        properties={
            "tags": tags,
            "precision": "very-high" if page.code.startswith("PTB9") else "high",
            "problem.severity": {"note": "recommendation"}.get(page.severity, page.severity),
        },
    )


def _page(finding: Finding) -> RulePage:
    """What can be said of a code that came without a page."""
    text = finding.name.replace("-", " ").capitalize()
    return RulePage(finding.code, finding.name, text, text + ".", finding.severity)


def _first_section(page: RulePage) -> str:
    """The summary and the page's first section, as plain text."""
    body = page.help.split("\n## ", 2)
    section = body[1].split("\n", 1)[1] if len(body) > 1 and "\n" in body[1] else ""
    return _unmarked(page.summary + " " + section)


def _unmarked(text: str) -> str:
    text = re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", text)
    return " ".join(re.sub(r"`+|\*\*", "", text).split())


def _sentence(text: str, limit: int) -> str:
    text = text if not text or text.endswith((".", "!", "?")) else text + "."
    return text if len(text) <= limit else text[: limit - 3].rsplit(" ", 1)[0] + "..."


def _pascal(name: str) -> str:
    return "".join(part.capitalize() for part in re.split(r"[^A-Za-z0-9]+", name))


def _result(
    report: Report,
    finding: Finding,
    index: Mapping[str, int],
    hashes: Mapping[str, list[str]],
    suppressed: bool = False,
) -> om.Result:
    related, message = _message(report, finding)
    related += _also(report, finding)
    fingerprints = hashes.get(finding.path, [])
    properties: dict[str, Any] = {"confidence": finding.confidence}
    if finding.when:
        properties["when"] = list(finding.when)
    if finding.note:
        properties["note"] = finding.note
    if finding.also:
        properties["also"] = list(finding.also)
    if finding.verdict:
        properties |= {"verdict": finding.verdict, "evidence": finding.evidence}
    if told := [fix.description for fix in finding.fixes if fix.by_hand]:
        properties["byHand"] = told  # what a reader may do, and no tool by itself
    result = om.Result(
        rule_id=finding.code,
        rule_index=index[finding.code],
        level=finding.severity if finding.counts else "none",
        kind="fail" if finding.counts else "pass",
        message=om.Message(text=message),
        locations=[_location(report, finding)],
        related_locations=related or None,
        partial_fingerprints={"primaryLocationLineHash": fingerprints[finding.line - 1]}
        if finding.line <= len(fingerprints)
        else None,
        code_flows=[_flow(report, finding)] if finding.flow else None,
        fixes=[_fix(report, fix) for fix in finding.fixes if fix.is_usable and not fix.waits_for_proof]
        or None,
        properties=properties,
    )
    if suppressed:
        # A plain object: sarif-om's Suppression would write `state`, which 2.1.0 calls `status`.
        result.suppressions = [{"kind": "inSource", "status": "accepted"}]
    return result


def _message(report: Report, finding: Finding) -> tuple[list[om.Location], str]:
    """The message, what Dynamo said, and where the compiled code starts, as a link that GitHub shows."""
    text = finding.told.replace("](", "]\\(")
    text = text if text.endswith((".", "!", "?")) else text + "."
    evidence = finding.evidence or {}
    if finding.verdict == "confirmed":
        text += " Confirmed by Dynamo"
        if evidence.get("graph_break"):
            text += f" ([{evidence['graph_break']}]({registry_link(evidence['graph_break'])}))"
        text += f": {' '.join(str(evidence['reason']).split())}" if evidence.get("reason") else "."
    if not finding.flow:
        return [], text
    root = finding.flow[0]
    location = om.Location(
        id=1, physical_location=_step_place(report, root), message=om.Message(text=root.message)
    )
    return [location], text + f" Compiled from [{root.message.translate(_NO_BRACKETS)}](1)."


def _also(report: Report, finding: Finding) -> list[om.Location]:
    """The other lines that the finding tells, and those of the same function in other files."""
    others = [(finding.path, line) for line in finding.also]
    others += [(each.path, each.line) for each in report.pasted.get(finding.place, ())]
    steps = [Step(path, line, "told with this finding") for path, line in others]
    return [
        om.Location(physical_location=_step_place(report, step), message=om.Message(text=step.message))
        for step in steps
    ]


_NO_BRACKETS = str.maketrans({"[": "\\[", "]": "\\]"})


def _location(report: Report, finding: Finding) -> om.Location:
    region = _region(report, finding)
    code = report.lines(finding.path)[finding.line - 1 : finding.end_line]
    if any(code):
        region.snippet = om.ArtifactContent(text="\n".join(code))
    return om.Location(
        physical_location=om.PhysicalLocation(
            artifact_location=_artifact(report, finding.path), region=region
        )
    )


def _artifact(report: Report, path: str) -> om.ArtifactLocation:
    uri = report.uri(path)
    return om.ArtifactLocation(
        uri=_quoted(uri), uri_base_id=None if uri.startswith("file:///") else "%SRCROOT%"
    )


def _quoted(uri: str) -> str:
    from urllib.parse import quote

    return uri if uri.startswith("file:///") else quote(uri, errors="surrogateescape")


def _region(report: Report, item: Finding | Edit) -> om.Region:
    """All four of a region's fields; in a notebook those of the line of the .ipynb file."""
    start, end = report.place(item.path, item.line), report.place(item.path, item.end_line)
    shift = 0 if start.cell is None else (start.file_column or 1) - 1
    end_shift = 0 if end.cell is None else (end.file_column or 1) - 1
    return om.Region(
        start_line=start.file_line,
        start_column=item.column + shift,
        end_line=end.file_line,
        end_column=item.end_column + end_shift,
    )


def _step_place(report: Report, step: Step) -> om.PhysicalLocation:
    lines = report.lines(step.path)
    text = lines[step.line - 1] if step.line <= len(lines) else ""
    place = report.place(step.path, step.line)
    start = len(text) - len(text.lstrip()) + 1
    shift = (place.file_column or 1) - 1
    return om.PhysicalLocation(
        artifact_location=_artifact(report, step.path),
        region=om.Region(
            start_line=place.file_line,
            start_column=start + shift,
            end_line=place.file_line,
            end_column=max(len(text) + 1, start + 1) + shift,
        ),
    )


def _flow(report: Report, finding: Finding) -> om.CodeFlow:
    last = _location(report, finding)
    last.message = om.Message(text=finding.message)
    steps: Iterable[Step] = finding.flow[: MAX_FLOW - 1]
    locations = [
        om.Location(physical_location=_step_place(report, step), message=om.Message(text=step.message))
        for step in steps
    ]
    flow = [om.ThreadFlowLocation(location=location) for location in (*locations, last)]
    return om.CodeFlow(thread_flows=[om.ThreadFlow(locations=flow)])


def _fix(report: Report, fix: Fix) -> om.Fix:
    changes: dict[str, list[om.Replacement]] = {}
    for edit in fix.edits:
        replacement = om.Replacement(
            deleted_region=_region(report, edit),
            inserted_content=om.ArtifactContent(text=edit.text) if edit.text else None,
        )
        changes.setdefault(edit.path, []).append(replacement)
    return om.Fix(
        description=om.Message(text=_sentence(fix.description, MAX_TEXT)),
        artifact_changes=[
            om.ArtifactChange(artifact_location=_artifact(report, path), replacements=replacements)
            for path, replacements in changes.items()
        ],
        properties={"applicability": fix.applicability, "proven": fix.proven},
    )


def _notification(level: str, text: str) -> om.Notification:
    return om.Notification(level=level, message=om.Message(text=text))
