"""Which lines run, and how often, in the files that are judged."""

from __future__ import annotations

import os
import sys
import threading
from typing import Any

from .log_listener import under

MONITORING: Any = getattr(sys, "monitoring", None)


class Lines:
    """Count the lines that run inside a `with` block, in files under the roots only.

    sys.monitoring (Python 3.12 on) costs nothing elsewhere; before, a trace function that leaves other
    files alone.
    """

    tool: int | None

    def __init__(self, roots: list[str]) -> None:
        self.roots = roots
        self.counts: dict[str, dict[int, int]] = {}
        self._known: dict[str, dict[int, int] | None] = {}

    def wanted(self, path: str) -> dict[int, int] | None:
        if path not in self._known:
            real = os.path.realpath(path)
            self._known[path] = self.counts.setdefault(real, {}) if under(real, self.roots) else None
        return self._known[path]

    def __enter__(self) -> Lines:
        if MONITORING is not None:
            self._monitor()
        else:
            sys.settrace(self._enter_frame)
            threading.settrace(self._enter_frame)
        return self

    def __exit__(self, *error: object) -> None:
        if MONITORING is not None:
            if self.tool is not None:
                MONITORING.set_events(self.tool, 0)
                MONITORING.free_tool_id(self.tool)
        else:
            sys.settrace(None)
            threading.settrace(None)

    def _monitor(self) -> None:
        self.tool = next((number for number in (3, 4, 2) if MONITORING.get_tool(number) is None), None)
        if self.tool is None:
            return
        MONITORING.use_tool_id(self.tool, "pt2lint")
        MONITORING.register_callback(self.tool, MONITORING.events.LINE, self._on_line)
        MONITORING.set_events(self.tool, MONITORING.events.LINE)
        MONITORING.restart_events()

    def _on_line(self, code: Any, line: int) -> Any:
        counts = self.wanted(code.co_filename)
        if counts is None:
            return MONITORING.DISABLE
        counts[line] = counts.get(line, 0) + 1
        return None

    def _enter_frame(self, frame: Any, event: str, arg: Any) -> Any:
        return self._trace_line if self.wanted(frame.f_code.co_filename) is not None else None

    def _trace_line(self, frame: Any, event: str, arg: Any) -> Any:
        counts = self.wanted(frame.f_code.co_filename) if event == "line" else None
        if counts is not None:
            counts[frame.f_lineno] = counts.get(frame.f_lineno, 0) + 1
        return self._trace_line

    def result(self) -> dict[str, dict[int, int]]:
        """{path: {line: times}}, files that ran only."""
        return {path: counts for path, counts in self.counts.items() if counts}
