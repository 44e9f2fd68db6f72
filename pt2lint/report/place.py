"""Where a finding stands for its reader: in a notebook's cell, and relative to the repository's root."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple
from urllib.parse import quote

# Control characters, line and paragraph ends, marks that turn the reading order round, halves of characters.
_UNSHOWN = "[\0-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
_UNSHOWN_IN_LINE = _UNSHOWN.replace("\0-\x1f", "\0-\x08\x0a-\x1f")


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


def shown(text: str) -> str:
    """A file's name or other text of the user's as a terminal may show it: what would steer the terminal, turn the
    order of characters round or be no character at all is written as an escape."""
    return text if text.isascii() and text.isprintable() else re.sub(_UNSHOWN, _escaped, text)


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    if 0xDC80 <= code <= 0xDCFF:  # a byte of a file's name that is not UTF-8
        code -= 0xDC00
    return {9: "\\t", 10: "\\n", 13: "\\r"}.get(code) or (
        f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"
    )


def shown_line(code: str) -> str:
    """A line of source as a terminal may show it; every character keeps its place, tabs stay."""
    return code if code.isascii() and code.isprintable() else re.sub(_UNSHOWN_IN_LINE, _pictured, code)


def _pictured(match: re.Match[str]) -> str:
    code = ord(match[0])
    return chr(0x2400 + code) if code < 32 else "\u2421" if code == 127 else "\ufffd"


def repository_root(paths: Iterable[str]) -> str:
    """The real path of the git repository around the files, else of the working folder or their common one.

    The working folder does not decide: a run from anywhere gives the same relative paths.
    """
    folders = {os.path.dirname(real) for _, real in _real(paths)}
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


def _real(paths: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Each path, and where it is without symbolic links; each folder is asked about once."""
    folders: dict[str, str] = {}
    for path in paths:
        folder, name = os.path.split(path)
        if folder not in folders:
            folders[folder] = os.path.realpath(folder)
        real = os.path.join(folders[folder], name)
        yield path, os.path.realpath(path) if name in ("", ".", "..") or os.path.islink(real) else real


def uris(paths: Iterable[str], root: str) -> dict[str, str]:
    """Each path relative to the root, `/` separated, symbolic links resolved.

    A file outside the root gets an absolute `file://` URI: there is no honest relative one.
    """
    root = os.path.realpath(root)
    found: dict[str, str] = {}
    for path, real in _real(paths):
        inside = real.startswith(root.rstrip(os.sep) + os.sep)
        relative = real[len(root.rstrip(os.sep)) + 1 :] if inside else real
        relative = relative.replace(os.sep, "/")
        found[path] = (
            relative if inside else "file:///" + quote(relative.lstrip("/"), errors="surrogateescape")
        )
    return found
