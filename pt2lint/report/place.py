"""Where a finding stands for its reader: in a notebook's cell, and relative to the repository's root."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import quote


class Place(NamedTuple):
    """The place of one line of a notebook's joined code (of any other file: cell None, line unchanged).

    `cell` counts code and other cells from 1, `line` lines in the cell. `file_line` is the line of the
    .ipynb file, `file_column` the column there of the code's first character (None where the file keeps
    several lines of code on one of its own).
    """

    cell: int | None
    line: int
    file_line: int
    file_column: int | None


def repository_root(paths: Iterable[str]) -> str:
    """The real path of the git repository around the files, else of the working folder or their common one.

    The working folder does not decide: a run from anywhere gives the same relative paths.
    """
    folders = {os.path.dirname(os.path.realpath(path)) for path in paths}
    here = os.path.realpath(os.getcwd())
    if not folders:
        folders = {here}
    try:
        common = os.path.commonpath(sorted(folders))
    except ValueError:  # on several Windows drives
        return here
    folder = common
    while True:
        if os.path.exists(os.path.join(folder, ".git")):
            return folder
        parent = os.path.dirname(folder)
        if parent == folder:
            break
        folder = parent
    return here if os.path.commonpath([here, common]) == here else common


def uris(paths: Iterable[str], root: str) -> dict[str, str]:
    """Each path relative to the root, `/` separated, symbolic links resolved.

    A file outside the root gets an absolute `file://` URI: there is no honest relative one.
    """
    root = os.path.realpath(root)
    found: dict[str, str] = {}
    for path in paths:
        real = os.path.realpath(path)
        inside = real.startswith(root.rstrip(os.sep) + os.sep)
        relative = os.path.relpath(real, root) if inside else real
        relative = relative.replace(os.sep, "/")
        found[path] = relative if inside else "file:///" + quote(relative.lstrip("/"))
    return found
