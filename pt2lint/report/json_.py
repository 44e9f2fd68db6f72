"""The JSON report: a list of objects, described by findings.schema.json."""

from __future__ import annotations

import json
from typing import Any

from pt2lint.finding import Finding
from pt2lint.report import Report
from pt2lint.report.next_step import next_command


def render(report: Report) -> str:
    rows = [_row(report, finding) for finding in report.findings]
    rows += [{**_row(report, finding), "suppressed": True} for finding in report.suppressed]
    return json.dumps(rows, indent=2, ensure_ascii=False, default=str) + "\n"


def _row(report: Report, finding: Finding) -> dict[str, Any]:
    row = {**finding.as_json(), "next": next_command(finding, report.asked)}
    for fix in row["fixes"]:
        del fix["traits"]
        for edit in fix["edits"]:
            del edit["replaces"]
    if finding.path not in report.cells:
        return row
    _put_in_cell(report, row)
    for step in row["flow"]:
        if step["path"] in report.cells:
            step["cell"], step["line"] = report.place(step["path"], step["line"])[:2]
    for fix in row["fixes"]:
        for edit in fix["edits"]:
            if edit["path"] in report.cells:
                _put_in_cell(report, edit)
    return row


def _put_in_cell(report: Report, item: dict[str, Any]) -> None:
    item["cell"], item["line"] = report.place(item["path"], item["line"])[:2]
    item["end_line"] = report.place(item["path"], item["end_line"]).line
