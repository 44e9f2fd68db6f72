"""Which lines run, and how often, in the files that are judged."""

import os
import sys
import threading

from .taps import under


class Lines:
    """Count the lines that run inside a `with` block, in files under the roots only.

    sys.monitoring (Python 3.12 on) costs nothing elsewhere; before, a trace function that leaves other
    files alone.
    """

    def __init__(self, roots):
        self.roots = roots
        self.counts = {}
        self._known = {}

    def wanted(self, path):
        if path not in self._known:
            real = os.path.realpath(path)
            self._known[path] = self.counts.setdefault(real, {}) if under(real, self.roots) else None
        return self._known[path]

    def __enter__(self):
        if hasattr(sys, "monitoring"):
            self._monitor()
        else:
            sys.settrace(self._enter_frame)
            threading.settrace(self._enter_frame)
        return self

    def __exit__(self, *error):
        if hasattr(sys, "monitoring"):
            if self.tool is not None:
                sys.monitoring.set_events(self.tool, 0)
                sys.monitoring.free_tool_id(self.tool)
        else:
            sys.settrace(None)
            threading.settrace(None)

    def _monitor(self):
        monitoring = sys.monitoring
        self.tool = next((number for number in (3, 4, 2) if monitoring.get_tool(number) is None), None)
        if self.tool is None:
            return
        monitoring.use_tool_id(self.tool, "pt2lint")
        monitoring.register_callback(self.tool, monitoring.events.LINE, self._on_line)
        monitoring.set_events(self.tool, monitoring.events.LINE)
        monitoring.restart_events()

    def _on_line(self, code, line):
        counts = self.wanted(code.co_filename)
        if counts is None:
            return sys.monitoring.DISABLE
        counts[line] = counts.get(line, 0) + 1
        return None

    def _enter_frame(self, frame, event, arg):
        return self._trace_line if self.wanted(frame.f_code.co_filename) is not None else None

    def _trace_line(self, frame, event, arg):
        if event == "line":
            counts = self.wanted(frame.f_code.co_filename)
            counts[frame.f_lineno] = counts.get(frame.f_lineno, 0) + 1
        return self._trace_line

    def result(self):
        """{path: {line: times}}, files that ran only."""
        return {path: counts for path, counts in self.counts.items() if counts}
