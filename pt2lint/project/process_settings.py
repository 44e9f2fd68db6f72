"""Settings of torch._dynamo that the linted code makes itself, and what they keep in the graph."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from dataclasses import replace

from pt2lint.finding import Finding
from pt2lint.packages import package_of

MADE = re.compile(rb"\bconfig\.(\w+)[ \t]*=[ \t]*True\b")
OFFERED = re.compile(r"\bconfig\.(\w+) = True\b")


def made_in(data: bytes) -> list[str]:
    """The settings that a file's text turns on."""
    return sorted({name.decode() for name in MADE.findall(data)}) if b"dynamo" in data else []


def weighed(
    findings: Iterable[Finding], files: Iterable[str], made: Callable[[str], list[str]]
) -> list[Finding]:
    """The findings, those a note that offer a setting which a file makes (`made`) for the code that they stand in: its
    package, or what lies below its folder."""
    places: dict[str, list[tuple[str, str]]] | None = None
    result = []
    for finding in findings:
        counts = finding.severity != "note" and not finding.note and finding.verdict is None
        if counts and (names := _offered(finding)):
            if places is None:  # few runs ask
                places = {}
                for path in files:
                    for name in made(path):
                        places.setdefault(name, []).append((_home(path), path))
            here = os.path.abspath(finding.path)
            by = next(
                (path for n in names for home, path in places.get(n, ()) if here.startswith(home)), None
            )
            if by is not None:
                finding = replace(finding, note=f"where a setting is not made that {by} makes")
        result.append(finding)
    return result


def _offered(finding: Finding) -> list[str]:
    texts = [
        text
        for fix in finding.fixes
        if fix.is_setting
        for text in (fix.description, *(edit.text for edit in fix.edits))
    ]
    return [name for text in texts for name in OFFERED.findall(text)]


def _home(path: str) -> str:
    """The folder of the package that a file is in, of the outermost one, else the file's own."""
    folder = os.path.dirname(os.path.abspath(path))
    names, above = package_of(folder)
    return os.path.join(above, names[0], "") if names else os.path.join(folder, "")
