"""One finding a line, whole: for readers that pay by the word, and for grep."""

from __future__ import annotations

from pt2lint.finding import Finding
from pt2lint.report import Report
from pt2lint.report.next_step import next_command
from pt2lint.report.text import also, costliest_first, place_of, reason, standing, summary


def render(report: Report) -> str:
    """`place: CODE verdict: message [| reason] [| fix (standing): what it does] [| next: command]`, then notes and
    the sum.

    Confirmed findings come first, the costliest of them before the others, as in the text report.
    """
    lines = [_line(report, finding) for finding in costliest_first(report.told)]
    lines += [_line(report, finding) + " | suppressed" for finding in report.suppressed]
    lines += [f"note: {_one_line(note)}" for note in report.notes]
    return "".join(line + "\n" for line in [*lines, summary(report)])


def _line(report: Report, finding: Finding) -> str:
    place = place_of(report, finding.path, finding.line, finding.column)
    verdict = f" {finding.verdict}" if finding.verdict else ""
    parts = [f"{place}: {finding.code}{verdict}: {finding.told}"]
    if others := also(report, finding):
        parts.append(others)
    if finding.verdict:
        parts.append(reason(finding))
    if finding.fixes:
        # A repair before what only avoids the cost, and what is proven before all but what --fix never writes.
        first = min(
            finding.fixes,
            key=lambda fix: (fix.proven is False, fix.by_hand, not fix.proven, fix.is_workaround),
        )
        parts.append(f"fix ({standing(first)}): {first.description}")
    command = next_command(finding, report.asked)
    if command:
        parts.append(f"next: {command}")
    return " | ".join(_one_line(part) for part in parts)


def _one_line(text: str) -> str:
    return " ".join(text.split())
