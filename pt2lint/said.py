"""Line numbers in texts, marked: lines move where what stands in them does not change, and a text that was kept is then
told anew. Nobody sees the marks but who keeps findings; `plain` takes them out."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

# Noncharacters of Unicode: no text has them.
_FIRST, _PATH, _LAST = "\ufdd0", "\ufdd1", "\ufdd2"
_MARKED = re.compile(f"{_FIRST}(?:([^{_FIRST}{_PATH}{_LAST}]*){_PATH})?([0-9]+){_LAST}")
_MARKED_IN_JSON = re.compile(r"\\ufdd0(?:([^\\]*(?:\\(?!ufdd)[^\\]*)*)\\ufdd1)?([0-9]+)\\ufdd2")


def told_line(number: int | str) -> str:
    """A line of the file that the text is about."""
    return f"{_FIRST}{number}{_LAST}"


def told_place(path: str, number: int | str) -> str:
    """A line of any file, "PATH:LINE"."""
    return f"{_FIRST}{path}{_PATH}{number}{_LAST}"


def plain(text: str, named: Callable[[str | None, int], str] | None = None) -> str:
    """The text as it is shown; `named` says how a line of a path is called (None: of the text's own file)."""
    if _FIRST not in text:
        return text
    if named is not None:
        return _MARKED.sub(lambda m: named(m[1], int(m[2])), text)
    return _MARKED.sub(lambda m: m[2] if m[1] is None else f"{m[1]}:{m[2]}", text)


def plain_json(text: str) -> str:
    """The same of texts in JSON, as `json.dumps` writes it: thousands at once."""
    if "\\ufdd0" not in text:
        return text
    if "\\\\ufdd" in text:  # somebody's code spells such a character
        return json.dumps(_plain_within(json.loads(text)))
    return _MARKED_IN_JSON.sub(lambda m: m[2] if m[1] is None else f"{m[1]}:{m[2]}", text)


def _plain_within(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _plain_within(value) for key, value in data.items()}
    if isinstance(data, list):
        return [*map(_plain_within, data)]
    return plain(data) if isinstance(data, str) else data


def place_in(text: str) -> tuple[str, int] | None:
    """The path and the line of "PATH:LINE", marked or not; None where it is no place."""
    path, _, line = plain(text).rpartition(":")
    return (path, int(line)) if path and line.isdigit() else None


def places(text: str) -> set[str]:
    """The other files of which the text tells a line."""
    return {m[1] for m in _MARKED.finditer(text) if m[1] is not None} if _FIRST in text else set()


def moved(text: str, path: str, move: Callable[[str, int], int | str]) -> str:
    """The text with each line as `move` has it, of a path and a line; `path` is the file that the text is about."""
    if _FIRST not in text:
        return text
    return _MARKED.sub(
        lambda m: (
            told_line(move(path, int(m[2]))) if m[1] is None else told_place(m[1], move(m[1], int(m[2])))
        ),
        text,
    )
