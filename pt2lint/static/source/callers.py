"""Files beside those that are linted which may make and compile what these are given: an editor and a commit hook lint
one file of a project, and `train.py`, which imports it, says what it is called with."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable
from functools import lru_cache
from typing import NamedTuple

LINTED = 16  # files, beyond which a program is linted, and not a part of it
ABOVE = 4  # folders above a file's own
FILES = 200  # that are looked through
SMALL = 6_000  # bytes: a short program may leave compiling to what it imports
LARGE = 200_000
TOPS = (".git", "pyproject.toml", "setup.py", "setup.cfg", "requirements.txt")


class Callers(NamedTuple):
    """The files that may call what is linted, and the files and folders on which it depends which these are."""

    paths: list[str]
    looked_at: list[str]


def callers(linted: Collection[str]) -> Callers:
    """The files in the folders of the linted ones, and in those above them up to the project's own, that import one of
    these and may compile something; none where many are linted."""
    found = Callers([], [])
    if not 0 < len(linted) <= LINTED:
        return found
    known = {os.path.abspath(path) for path in linted}
    # What has no name cannot be imported.
    stems = frozenset(stem for stem in map(_stem, linted) if stem.isidentifier())
    looked = 0
    for folder in _folders(linted):
        found.looked_at.append(folder)
        for entry in _files(folder):
            if looked == FILES:
                return found
            if os.path.abspath(entry.path) not in known:
                looked += 1
                found.looked_at.append(entry.path)
                if _may_call(entry, stems):
                    found.paths.append(entry.path)
    return found


def _stem(path: str) -> str:
    stem = os.path.splitext(os.path.basename(path))[0]
    return stem if stem != "__init__" else os.path.basename(os.path.dirname(os.path.abspath(path)))


def _folders(linted: Iterable[str]) -> list[str]:
    found: dict[str, None] = {}
    for path in linted:
        folder = os.path.dirname(path) or "."
        for _ in range(ABOVE):
            found.setdefault(folder)
            if any(os.path.exists(os.path.join(folder, top)) for top in TOPS):
                break
            above = os.path.dirname(folder) if os.path.isabs(folder) else os.path.join(folder, "..")
            if os.path.abspath(above) == os.path.abspath(folder):
                break
            folder = os.path.normpath(above)
        else:
            # No folder says that it is the project's: the file's own may be among strangers.
            for stranger in [*found][1:]:
                del found[stranger]
    return [*found]


def _files(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(
                (e for e in entries if e.name.endswith(".py") and e.is_file()), key=lambda e: e.name
            )
    except OSError:
        return []


def _may_call(entry: os.DirEntry[str], stems: frozenset[str]) -> bool:
    try:
        stat = entry.stat()
        return stat.st_size <= LARGE and _imports(entry.path, stat.st_mtime_ns, stat.st_size, stems)
    except OSError:
        return False


@lru_cache(maxsize=4 * FILES)
def _imports(path: str, changed: int, size: int, stems: frozenset[str]) -> bool:
    """Whether the file, as it was changed last, imports one of these names, and says that it compiles or is short."""
    with open(path, "rb") as file:
        data = file.read()
    if b"compile" not in data and size > SMALL:
        return False
    return any(  # to look for the name first is a hundred times faster
        name in data and re.search(rb"(?m)^\s*(?:from|import)\b.*\b" + re.escape(name) + rb"\b", data)
        for name in (stem.encode() for stem in stems)
    )
