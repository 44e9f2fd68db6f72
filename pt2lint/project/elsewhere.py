"""What another file of the linted code has done already, so that a finding is but a note: it turns a setting of
torch._dynamo on, or takes off the prefix that torch.compile puts before names."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from dataclasses import replace

from pt2lint.finding import Finding
from pt2lint.packages import package_of

MADE = re.compile(rb"\bconfig\.(\w+)[ \t]*=[ \t]*True\b")
# `config.patch(name=True)`, `config.patch("name", True)` and `config.patch({"name": True})`
PATCHED = re.compile(rb"\bconfig\.patch\(((?:[^()]|\([^()]*\))*)\)")
PATCHES = re.compile(rb"(\w+)[\"']?\s*[=:,]\s*True\b")
FOR_A_WHILE = " for a while"  # after the name of what a patch makes, which holds where it stands
PREFIX, PREFIXED = "_orig_mod.", "PTS303"  # and what is said of states that have it
TAKEN_OFF = re.compile(rb"_orig_mod(?:\.[\"'{]|\\\.)")  # a text that ends so is looked for in names
OFFERED = re.compile(r"\bconfig\.(\w+) = True\b")


def done_in(data: bytes) -> list[str]:
    """The settings that a file's text turns on, and the prefix that it takes off."""
    done: list[str] = []
    if b"dynamo" in data:
        done = sorted({name.decode() for name in MADE.findall(data)})
        patched = {name.decode() for made in PATCHED.findall(data) for name in PATCHES.findall(made)}
        done += sorted(name + FOR_A_WHILE for name in patched)
    return [*done, PREFIX] if TAKEN_OFF.search(data) else done


def weighed(
    findings: Iterable[Finding], files: Iterable[str], done: Callable[[str], list[str]]
) -> list[Finding]:
    """The findings, those a note for whose code a file does what they ask for (`done`): it makes the setting that they
    offer, or takes the prefix off. Its code is its package, or what lies below its folder; for a while, itself."""
    places: dict[str, list[tuple[str, str]]] | None = None
    result = []
    for finding in findings:
        counts = finding.severity != "note" and not finding.note and finding.verdict is None
        if counts and (names := _asked(finding)):
            if places is None:  # few runs ask
                places = {}
                for path in files:
                    for name in done(path):
                        places.setdefault(name.removesuffix(FOR_A_WHILE), []).append(
                            (where(path, name), path)
                        )
            here = os.path.abspath(finding.path)
            by = next(
                (path for n in names for home, path in places.get(n, ()) if here.startswith(home)), None
            )
            if by is not None:
                it = "the file itself" if by == finding.path else by
                why = f"where a setting is not made that {it} makes"
                if finding.code == PREFIXED:
                    why = f"of what {by} does not load, which takes the prefix off"
                    # It may load into a compiled module too, and then needs the names that are saved today.
                    told = (replace(fix, edits=(), by_hand=True) for fix in finding.fixes)
                    finding = replace(finding, fixes=tuple(told))
                finding = replace(finding, note=why)
        result.append(finding)
    return result


def _asked(finding: Finding) -> list[str]:
    if finding.code == PREFIXED:
        return [PREFIX]
    texts = [
        text
        for fix in finding.fixes
        if fix.is_setting
        for text in (fix.description, *(edit.text for edit in fix.edits))
    ]
    return [name for text in texts for name in OFFERED.findall(text)]


def where(path: str, done: str) -> str:
    """What the paths start with for which it counts that a file has done that: its home, or what a patch stands in."""
    return os.path.abspath(path) if done.endswith(FOR_A_WHILE) else home(path)


def home(path: str) -> str:
    """The folder of the package that a file is in, of the outermost one, else the file's own."""
    folder = os.path.dirname(os.path.abspath(path))
    names, above = package_of(folder)
    return os.path.join(above, names[0], "") if names else os.path.join(folder, "")
