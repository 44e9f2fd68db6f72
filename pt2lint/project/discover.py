"""Which files to read: the paths given, folders walked, without what is excluded or ignored by git."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence

from pt2lint.finding import Problem
from pt2lint.project import patterns
from pt2lint.project.config import Configs, matches

SUFFIXES = (".py", ".ipynb")
SKIPPED = frozenset({
    ".bzr", ".cache", ".direnv", ".eggs", ".git", ".hg", ".hypothesis", ".ipynb_checkpoints", ".mypy_cache",
    ".nox", ".pytest_cache", ".ruff_cache", ".svn", ".tox", ".venv", "__pycache__",
    "__pypackages__", "_build", "buck-out", "build", "dist", "node_modules", "site-packages", "venv",
})  # fmt: skip

Decide = Callable[[Sequence[patterns.Pattern], Sequence[str], bool], "bool | None"]


class Discovery:
    """The files found under the paths, in order and without repetition, as the user would write them.

    `problems` says which paths led nowhere, `notes` which lines of a .gitignore are no patterns; `watched` lists
    every file and folder that decided the answer.
    """

    def __init__(self, paths: Iterable[str], configs: Configs, force_exclude: bool = False) -> None:
        self.files: list[str] = []
        self.problems: list[Problem] = []
        self.notes: list[str] = []
        self.watched: list[str] = []
        self._configs = configs
        found = (file for path in paths for file in self._under(path, force_exclude))
        self.files += dict.fromkeys(found)

    def _under(self, given: str, force_exclude: bool) -> list[str]:
        if not given:
            self.problems.append(
                Problem(None, "one of the paths is empty: name a file or a folder (. is the working folder)")
            )
            return []
        path = os.path.normpath(given)
        if os.path.isdir(path):
            files = sorted(self._walk(path))
            if not files:
                self.problems.append(
                    Problem(given, "no Python file here (or all are excluded or ignored by git)")
                )
            return files
        self.watched.append(path)
        if not os.path.exists(path):
            self.problems.append(Problem(given, f"no such file or folder{_meant(given)}"))
            return []
        if not os.path.isfile(path):  # reading a pipe would wait for who writes into it
            self.problems.append(
                Problem(
                    given, "is neither a file nor a folder; to read from a pipe, give - for standard input"
                )
            )
            return []
        settings = self._configs.of(os.path.dirname(path) or ".")
        # A file that is named is wanted, unless a caller that names all files (pre-commit) says otherwise.
        if force_exclude and settings.exclude and matches(settings.exclude, path, settings.root):
            return []
        return [path]

    def _walk(self, top: str) -> list[str]:
        found: list[str] = []
        ignores = _Ignores(top, self.watched, self.notes)
        pending = [top]
        while pending:
            folder = pending.pop()
            settings = self._configs.of(folder)
            self.watched.append(folder)
            try:
                entries = list(os.scandir(folder))
            except OSError as error:
                self.problems.append(Problem(folder, f"cannot be listed: {error.strerror or error}"))
                continue
            if settings.respect_gitignore:
                ignores.read(folder, entries)
            names = {entry.name for entry in entries}
            if "pyvenv.cfg" in names and folder != top:
                continue
            for entry in entries:
                if not _is_readable(entry):
                    continue
                path = os.path.join(folder, entry.name) if folder != "." else entry.name
                is_folder = entry.is_dir(follow_symlinks=False)
                if is_folder:
                    if entry.name in SKIPPED:
                        continue
                if settings.exclude and matches(settings.exclude, path, settings.root, is_folder):
                    continue
                if settings.respect_gitignore and ignores.ignored(path, is_folder):
                    continue
                (pending if is_folder else found).append(path)
        self.watched += found
        return found


def _meant(given: str) -> str:
    """What to say of a word that is no path, but what other linters' commands begin with, or one of our codes."""
    if given in ("check", "explain", "lint", "rules"):
        return "; to lint, name the paths alone: pt2lint src"
    if re.fullmatch(r"PT[A-Z]\d+", given):
        return f"; pt2lint rule {given} says what a code means"
    return ""


def _is_readable(entry: os.DirEntry[str]) -> bool:
    """Whether it is a folder, or a file of ours to read; a link that leads nowhere or round is not."""
    try:
        if entry.is_dir(follow_symlinks=False):
            return True
        return entry.name.endswith(SUFFIXES) and entry.is_file()
    except OSError:
        return False


class _Ignores:
    """The .gitignore files from the repository's root down to the folders walked."""

    def __init__(self, top: str, watched: list[str], notes: list[str]) -> None:
        self._watched, self._notes = watched, notes
        self._patterns: dict[str, list[patterns.Pattern]] = {}
        self._top = os.path.abspath(top)
        above: list[str] = []
        folder = self._top
        while not os.path.exists(os.path.join(folder, ".git")):
            parent = os.path.dirname(folder)
            if parent == folder:
                above = []  # no repository: a .gitignore further up says nothing
                break
            above.append(parent)
            folder = parent
        for folder in reversed(above):
            self._read(folder)
        # Whoever names a folder that git ignores wants it read.
        if above and self._decide(self._top, True, patterns.decide_under):
            self._patterns.clear()

    def read(self, folder: str, entries: Sequence[os.DirEntry[str]]) -> None:
        if any(entry.name == ".gitignore" for entry in entries):
            self._read(os.path.abspath(folder))

    def _read(self, folder: str) -> None:
        path = os.path.join(folder, ".gitignore")
        self._watched.append(path)
        if not os.path.isfile(path):
            return
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                lines = file.read().split("\n")
        except OSError:
            return
        found = []
        for number, line in enumerate(lines, 1):
            try:
                pattern = patterns.parse(line)
            except ValueError as error:  # git says nothing and matches nothing
                self._notes.append(f"{path}:{number}: `{line}` matches nothing: {error}")
            else:
                found += [pattern] if pattern else []
        if found:
            self._patterns[folder] = found

    def ignored(self, path: str, folder: bool) -> bool:
        """Whether the file or folder itself is ignored; what is above it was asked about before."""
        return bool(self._patterns) and self._decide(os.path.abspath(path), folder, patterns.decide)

    def _decide(self, path: str, folder: bool, decide: Decide) -> bool:
        """The nearest .gitignore that has a word on the path decides, as in git."""
        here = os.path.dirname(path)
        while True:
            if here in self._patterns:
                parts = os.path.relpath(path, here).split(os.sep)
                answer = decide(self._patterns[here], parts, folder)
                if answer is not None:
                    return answer
            parent = os.path.dirname(here)
            if parent == here:
                return False
            here = parent
