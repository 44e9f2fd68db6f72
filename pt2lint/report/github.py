"""GitHub Actions workflow commands: an annotation on the changed line, without uploading anything."""

from __future__ import annotations

from pt2lint.finding import Finding
from pt2lint.report import Report
from pt2lint.report.place import shown

COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}


def render(report: Report) -> str:
    """One command a line. What Dynamo refuted is left out: an annotation would be a false alarm."""
    return "".join(_command(report, finding) + "\n" for finding in report.told if finding.counts)


def _command(report: Report, finding: Finding) -> str:
    start = report.place(finding.path, finding.line)
    end = report.place(finding.path, finding.end_line)
    fields = {
        "title": f"pt2lint {finding.code} ({finding.name})" + (f", cell {start.cell}" if start.cell else ""),
        "file": shown(report.uri(finding.path)),
        "line": start.file_line,
        "endLine": end.file_line,
    }
    # GitHub shows a column only on a range within one line, and a notebook's columns are those of its JSON.
    if start.cell is None and finding.line == finding.end_line:
        fields |= {"col": finding.column, "endColumn": finding.end_column}
    text = finding.told
    if finding.verdict == "confirmed":
        reason = (finding.evidence or {}).get("reason")
        text += "\nConfirmed by Dynamo" + (f": {reason}" if reason else ".")
    described = ",".join(f"{key}={_escape_property(str(value))}" for key, value in fields.items())
    return f"::{COMMANDS[finding.severity]} {described}::{_escape(text)}"


def _escape(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escape_property(text: str) -> str:
    return _escape(text).replace(":", "%3A").replace(",", "%2C")
