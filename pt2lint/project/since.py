"""Which lines changed since a git revision."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence

from pt2lint.finding import Finding
from pt2lint.report.place import Place

_HUNK = re.compile(r"^@@ -\S+ \+(\d+)(?:,(\d+))? @@")


def changed(
    findings: Iterable[Finding], revision: str, cells: Mapping[str, Sequence[Place]]
) -> list[Finding]:
    """The findings on lines that differ from the revision (from where this branch left it), or are new.

    Raises ValueError, worded for the user, where git does not know the revision or there is no repository.
    """
    lines: dict[str, set[int] | None] = {}
    kept = []
    for finding in findings:
        if finding.path not in lines:
            lines[finding.path] = _changed_lines(finding.path, revision)
        found = lines[finding.path]
        places = cells.get(finding.path)
        spanned = range(finding.line, finding.end_line + 1)
        numbers = [places[line - 1].file_line for line in spanned] if places else list(spanned)
        if found is None or found.intersection(numbers):
            kept.append(finding)
    return kept


def _changed_lines(path: str, revision: str) -> set[int] | None:
    """Numbers of the changed lines; None: git does not track the file, so all of it is new."""
    folder = os.path.dirname(os.path.realpath(path))
    name = os.path.basename(os.path.realpath(path))
    if revision.startswith("-"):
        raise ValueError("is no git revision")
    _git(
        folder, "rev-parse", "--verify", "--quiet", revision + "^{commit}", told="git knows no such revision"
    )
    base = _git(folder, "merge-base", revision, "HEAD", told=None).strip() or revision
    if not _git(folder, "ls-files", "--", name, told=None):
        return None
    diff = _git(
        folder, "diff", "--no-color", "--no-ext-diff", "-U0", base, "--", name, told="git diff failed"
    )
    numbers: set[int] = set()
    for line in diff.splitlines():
        if match := _HUNK.match(line):
            first, count = int(match[1]), int(match[2] or 1)
            numbers.update(range(first, first + count))
    return numbers


def _git(folder: str, *arguments: str, told: str | None) -> str:
    """git's answer; where it fails, ValueError with `told`, or "" if that is None."""
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=folder, capture_output=True, text=True, errors="replace", check=False
        )
    except FileNotFoundError:
        raise ValueError("git is not installed") from None
    if done.returncode and told:
        if "not a git repository" in done.stderr:
            told = f"{folder} is in no git repository"
        raise ValueError(told)
    return "" if done.returncode else done.stdout
