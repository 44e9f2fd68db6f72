"""Which lines changed since a git revision."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from pt2lint.finding import Finding
from pt2lint.report.place import Place

_HUNK = re.compile(r"^@@ -\S+ \+(\d+)(?:,(\d+))? @@")


class Since:
    """What differs from a git revision, or from where this branch left it.

    Raises ValueError, worded for the user, where `folder` is in no repository or git does not know the revision.
    `notes` says what the answer rests on where that is not what was asked for.
    """

    def __init__(self, revision: str, folder: str) -> None:
        self.notes: list[str] = []
        self._revision = revision
        self._repositories: dict[str, _Repository] = {}
        self._by_folder: dict[str, _Repository] = {}
        self._of(folder)

    def _of(self, folder: str) -> _Repository:
        folder = os.path.realpath(folder)
        if folder not in self._by_folder:
            top = _git(folder, "rev-parse", "--show-toplevel", told="git failed").removesuffix("\n")
            if top not in self._repositories:
                self._repositories[top] = _Repository(top, self._revision)
                self.notes += self._repositories[top].notes
            self._by_folder[folder] = self._repositories[top]
        return self._by_folder[folder]

    def changed(self, findings: Iterable[Finding], cells: Mapping[str, Sequence[Place]]) -> list[Finding]:
        """The findings on lines that differ, or in files that are new."""
        lines: dict[str, set[int] | None] = {}
        kept = []
        for finding in findings:
            if finding.path not in lines:
                path = os.path.realpath(finding.path)
                lines[finding.path] = self._of(os.path.dirname(path)).changed_lines(path)
            found = lines[finding.path]
            places = cells.get(finding.path)
            spanned = range(finding.line, finding.end_line + 1)
            numbers = [places[line - 1].file_line for line in spanned] if places else list(spanned)
            if found is None or found.intersection(numbers):
                kept.append(finding)
        return kept


class _Repository:
    def __init__(self, top: str, revision: str) -> None:
        self._top = top
        self.notes: list[str] = []
        shallow = _git(top, "rev-parse", "--is-shallow-repository", told=None).strip() == "true"
        deepen = "git fetch --unshallow, or fetch-depth: 0 of actions/checkout"
        unknown = "git knows no such revision"
        if shallow:
            unknown += f" here, and this clone is shallow: deepen it ({deepen})"
        if revision.startswith("-"):
            raise ValueError("is no git revision")
        _git(top, "rev-parse", "--verify", "--quiet", revision + "^{commit}", told=unknown)
        self._base = _git(top, "merge-base", revision, "HEAD", told=None).strip()
        if not self._base:
            self._base = revision
            if shallow:
                self.notes.append(
                    f"this clone is shallow, so where the branch left {revision} is not known: all that differs from "
                    f"{revision} counts as changed; deepen it ({deepen})"
                )

    @cached_property
    def _old_names(self) -> dict[str, str]:
        """Of each renamed file, by its path from the top, the path it had."""
        listed = _git(
            self._top, "diff", "--no-ext-diff", "--name-status", "-z", "-M", "--diff-filter=R", self._base,
            told="git diff failed",
        ).split("\0")  # fmt: skip
        return {new: old for old, new in zip(listed[1::3], listed[2::3], strict=False)}

    def changed_lines(self, path: str) -> set[int] | None:
        """Numbers of the changed lines; None: git does not track the file, so all of it is new."""
        name = os.path.relpath(path, os.path.realpath(self._top)).replace(os.sep, "/")
        if not _git(self._top, "ls-files", "-z", "--", name, told=None):
            return None
        old = self._old_names.get(name)
        diff = _git(
            self._top, "diff", "--no-color", "--no-ext-diff", "--no-textconv", "--text", "-M", "-U0", self._base,
            "--", *([old] if old else []), name, told="git diff failed",
        )  # fmt: skip
        numbers: set[int] = set()
        for line in diff.split("\n"):
            if match := _HUNK.match(line):
                first, count = int(match[1]), int(match[2] or 1)
                numbers.update(range(first, first + count))
        return numbers


def _git(folder: str, *arguments: str, told: str | None) -> str:
    """git's answer; where it fails, ValueError with `told`, or "" if that is None. Names are no patterns."""
    try:
        done = subprocess.run(
            ["git", "--literal-pathspecs", *arguments],
            cwd=folder, capture_output=True, encoding="utf-8", errors="surrogateescape", check=False,
        )  # fmt: skip
    except FileNotFoundError:
        raise ValueError("git is not installed") from None
    if done.returncode and told:
        if "not a git repository" in done.stderr:
            told = f"{folder} is in no git repository"
        elif "dubious ownership" in done.stderr:
            told = f"git refuses {folder}, which another user owns: git config --global --add safe.directory {folder}"
        raise ValueError(told)
    return "" if done.returncode else done.stdout
