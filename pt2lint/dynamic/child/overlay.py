"""Other text in place of files, for this process alone: how a fix is tried without touching a file."""

from __future__ import annotations

import builtins
import contextlib
import importlib.machinery
import linecache
import os
from typing import Any


class Sides:
    """What `_pt2lint_side(number, value)`, put around a test, has seen: which truth values came up.

    Off while Dynamo traces, since asking for the truth of a tensor would break the graph.
    """

    def __init__(self) -> None:
        self.on = False
        self.seen: dict[int, set[bool]] = {}

    def __call__(self, number: int, value: Any) -> Any:
        if self.on:
            with contextlib.suppress(Exception):  # more than one element: no test
                self.seen.setdefault(number, set()).add(bool(value))
        return value


sides = Sides()


def install(files: dict[str, str]) -> None:
    """Make imports and scripts of these real paths use the text given; tracebacks and `inspect` show it."""
    builtins._pt2lint_side = sides  # type: ignore[attr-defined]
    if not files:
        return
    real_code = importlib.machinery.SourceFileLoader.get_code
    real_data = importlib.machinery.SourceFileLoader.get_data

    def get_data(self: Any, path: str) -> bytes:
        text = files.get(os.path.realpath(path))
        if text is None:
            return real_data(self, path)
        show(path, text)
        return text.encode("utf-8")

    def get_code(self: Any, fullname: str) -> Any:
        if os.path.realpath(self.path) not in files:
            return real_code(self, fullname)
        return compile(self.get_data(self.path), self.path, "exec", dont_inherit=True)

    importlib.machinery.SourceFileLoader.get_data = get_data  # type: ignore[method-assign]
    importlib.machinery.SourceFileLoader.get_code = get_code  # type: ignore[method-assign]


def show(path: str, text: str) -> None:
    # No time of change: linecache then does not look at the file.
    entry = (len(text), None, text.splitlines(keepends=True), path)
    linecache.cache[path] = linecache.cache[os.path.abspath(path)] = entry
