"""What one file of the linted code does for others: settings of torch._dynamo, and what they keep in the graph; the
names of what torch.compile wraps, from which it takes the prefix off."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from dataclasses import replace

from pt2lint.finding import Finding
from pt2lint.packages import package_of

MADE = re.compile(rb"\bconfig\.(\w+)[ \t]*=[ \t]*True\b")
PREFIX, PREFIXED = "_orig_mod.", "PTS303"  # and what is said of states that have it
TAKEN_OFF = re.compile(rb"_orig_mod(?:\.[\"'{]|\\\.)")  # a text that ends so is looked for in names
OFFERED = re.compile(r"\bconfig\.(\w+) = True\b")


def made_in(data: bytes) -> list[str]:
    """The settings that a file's text turns on, and the prefix that it takes off."""
    made = sorted({name.decode() for name in MADE.findall(data)}) if b"dynamo" in data else []
    return [*made, PREFIX] if TAKEN_OFF.search(data) else made


def weighed(
    findings: Iterable[Finding], files: Iterable[str], made: Callable[[str], list[str]]
) -> list[Finding]:
    """The findings, those a note that offer a setting which a file makes (`made`) for the code that they stand in: its
    package, or what lies below its folder. So are those of a prefix that a file takes off."""
    places: dict[str, list[tuple[str, str]]] | None = None
    result = []
    for finding in findings:
        counts = finding.severity != "note" and not finding.note and finding.verdict is None
        if counts and (names := _offered(finding)):
            if places is None:  # few runs ask
                places = {}
                for path in files:
                    for name in made(path):
                        places.setdefault(name, []).append((home(path), path))
            here = os.path.abspath(finding.path)
            by = next(
                (path for n in names for home, path in places.get(n, ()) if here.startswith(home)), None
            )
            if by is not None:
                why = f"where a setting is not made that {by} makes"
                if finding.code == PREFIXED:
                    why = f"of what {by} does not load, which takes the prefix off"
                finding = replace(finding, note=why)
        result.append(finding)
    return result


def _offered(finding: Finding) -> list[str]:
    if finding.code == PREFIXED:
        return [PREFIX]
    texts = [
        text
        for fix in finding.fixes
        if fix.is_setting
        for text in (fix.description, *(edit.text for edit in fix.edits))
    ]
    return [name for text in texts for name in OFFERED.findall(text)]


def home(path: str) -> str:
    """The folder of the package that a file is in, of the outermost one, else the file's own."""
    folder = os.path.dirname(os.path.abspath(path))
    names, above = package_of(folder)
    return os.path.join(above, names[0], "") if names else os.path.join(folder, "")
