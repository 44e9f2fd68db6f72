"""A setting of the process belongs to a project once: of the fixes that would make it in several files one is written,
and the others are told."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from pt2lint.finding import Finding, Fix
from pt2lint.fixes.file import File

_STATEMENT = re.compile(r"_dynamo\.config\.(.+)")


def settings_once(
    findings: Iterable[Finding],
    files: Sequence[str],
    text_of: Callable[[str], str],
    project_of: Callable[[str], object],
) -> list[Finding]:
    """The findings, with each setting offered as an edit in one file of its project: where a program starts and
    compiles, else in the first that compiles; in none, where a file makes it already.

    `files` are all that belong together, `text_of` gives what stands in one, `project_of` what tells projects apart.
    """
    found = [*findings]
    offered: dict[tuple[object, str], list[str]] = {}
    for finding in found:
        for fix in finding.fixes:
            if made := _setting(fix):
                offered.setdefault((project_of(finding.path), made), []).append(finding.path)
    if not offered:
        return found
    told: dict[tuple[object, str], tuple[str, str]] = {}  # where it stays an edit, and what the others say
    for (project, made), paths in offered.items():
        mine = [path for path in files if project_of(path) == project]
        line = re.compile(rf"^[^#\n]*_dynamo\.config\.{re.escape(made)}", re.MULTILINE)
        has = next((path for path in mine if line.search(text_of(path))), None)
        place = min({*paths}, key=lambda path: (_rank(path, text_of(path)), path)) if has is None else ""
        said = f"`{has}` makes it already" if has is not None else f"The fix in `{place}` makes it"
        told[project, made] = place, f" {said}; what runs without that file has to make it, too."

    def settled(path: str, fix: Fix) -> Fix:
        place, said = told.get((project_of(path), _setting(fix)), (path, ""))
        return fix if place == path else replace(fix, description=fix.description + said, by_hand=True)

    return [
        replace(finding, fixes=tuple(settled(finding.path, fix) for fix in finding.fixes))
        if any(_setting(fix) for fix in finding.fixes)
        else finding
        for finding in found
    ]


def _setting(fix: Fix) -> str:
    """What the fix would set, as it stands after `torch._dynamo.config.`; "" where it sets nothing, or only tells."""
    if not fix.is_setting or fix.by_hand:
        return ""
    found = [match for edit in fix.edits if (match := _STATEMENT.search(edit.text))]
    return found[0][1].strip() if found else ""


def _rank(path: str, text: str) -> int:
    try:
        file = File(path, text)
    except (SyntaxError, ValueError, RecursionError):
        return 2
    return 0 if file.is_script else 1
