"""Hear what Dynamo logs while a block runs, whatever the verified code does to logging."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from . import logs
from .resumed_lines import told_right


class Records:
    """What was heard: breaks, recompilations, limits and graphs in order; lines traced by compile id.

    Dynamo traces a frame anew when it finds that it has to end earlier: what only an attempt before the last one
    traced is `abandoned`, not in any graph.
    """

    def __init__(self, roots: list[str]) -> None:
        self.roots = roots
        self.events: list[tuple[str, dict[str, Any]]] = []
        self.traced: dict[str | None, dict[str, set[int]]] = {}
        self.abandoned: dict[str, set[int]] = {}
        self.attempts: dict[str | None, int] = {}
        self.unresumable: list[dict[str, Any]] = []
        self.skipped: set[str | None] = set()
        self.last_compile: str | None = None
        self._known: dict[str, str | None] = {}

    def here(self, path: str) -> str | None:
        """The file's real path if it is one of those to judge, else None."""
        if path not in self._known:
            real = os.path.realpath(path)
            self._known[path] = real if under(real, self.roots) else None
        return self._known[path]

    def on_traced(self, text: str, error: str) -> None:
        record = logs.read_traced(text)
        compile_id = self.last_compile = current_compile_id()
        attempt = current_attempt()
        if attempt > self.attempts.setdefault(compile_id, attempt):
            self.attempts[compile_id] = attempt
            for file, lines in self.traced.pop(compile_id, {}).items():
                self.abandoned.setdefault(file, set()).update(lines)
        path = self.here(record[0]) if record else None
        if record and path:
            self.traced.setdefault(compile_id, {}).setdefault(path, set()).add(record[1])

    def on_break(self, text: str, error: str) -> None:
        record = logs.read_break(text, error)
        if record is None:
            return
        record["compile_id"] = compile_id = current_compile_id() or self.last_compile
        if record["skipped"]:
            self.skipped.add(compile_id)
        self.events.append(("break", real_places(record)))

    def on_recompile(self, text: str, error: str) -> None:
        record = logs.read_recompile(text)
        if record:
            self.events.append(("recompile", real_places(record)))

    def on_warning(self, text: str, error: str) -> None:
        record = logs.read_limit(text)
        if record:
            self.events.append(("limit", real_places(record)))

    def on_skip(self, text: str, error: str) -> None:
        """Up to 2.8 that a frame is skipped whole is said apart from the break."""
        if not logs.read_skip(text):
            return
        self.skipped.add(current_compile_id() or self.last_compile)
        if self.events and self.events[-1][0] == "break":
            self.events[-1][1].update(skipped=True, why_skipped=text.splitlines()[0])

    def on_unresumable(self, text: str, error: str) -> None:
        """A break that Dynamo cannot resume from: up to 2.9 there is no record of it, only the exception."""
        if not logs.read_unresumable(text):
            return
        raised = sys.exc_info()[1]
        frames = getattr(raised, "real_stack", None) or ()
        record = logs.read_error(str(raised), [[each.filename, each.lineno, each.name] for each in frames])
        if record:
            record.update(rest_skipped=True, compile_id=current_compile_id() or self.last_compile)
            self.unresumable.append(real_places(record))

    def all_events(self) -> list[tuple[str, dict[str, Any]]]:
        """The events, and the breaks of which only an exception told."""
        known = {(fields["path"], fields["line"]) for kind, fields in self.events if kind == "break"}
        untold = [each for each in self.unresumable if (each["path"], each["line"]) not in known]
        return [*self.events, *(("break", each) for each in untold)]

    def on_graph(self, operators: int) -> None:
        """A graph was handed to the backend."""
        graph = {"operators": operators, "compile_id": current_compile_id() or self.last_compile}
        self.events.append(("graph", graph))

    def graph_lines(self) -> list[dict[str, list[int]]]:
        """{path: lines} traced into each graph, in the order of the "graph" events."""
        ids = [fields["compile_id"] for kind, fields in self.events if kind == "graph"]
        return [{path: sorted(lines) for path, lines in self.traced.get(id, {}).items()} for id in ids]

    def lines(self, skipped: bool) -> dict[str, list[int]]:
        """{path: lines} traced in frames that Dynamo gave up (skipped=True), or kept (False)."""
        found = {path: set(lines) for path, lines in self.abandoned.items()} if skipped else {}
        for compile_id, files in self.traced.items():
            if (compile_id in self.skipped) == skipped:
                for path, lines in files.items():
                    found.setdefault(path, set()).update(lines)
        return {path: sorted(lines) for path, lines in found.items()}


def under(path: str, roots: Sequence[str]) -> bool:
    """Whether a real path is one of the roots, or lies in one."""
    return any(path == root or path.startswith(root + os.sep) for root in roots)


def real_places(record: dict[str, Any]) -> dict[str, Any]:
    """The record with real paths, as the parent compares them."""
    if os.path.exists(record["path"]):
        record["path"] = os.path.realpath(record["path"])
    for frame in record.get("stack", ()):
        if os.path.exists(frame[0]):
            frame[0] = os.path.realpath(frame[0])
    return record


def current_compile_id() -> str | None:
    """Dynamo's name of the frame being compiled, as "0/1"; None outside compilation."""
    import torch._guards

    try:
        compile_id = torch._guards.CompileContext.current_compile_id()
    except Exception:
        return None
    return None if compile_id is None else str(compile_id)


def current_attempt() -> int:
    """How often Dynamo has started to trace the frame anew, 0 where it does not say."""
    import torch._guards

    context = torch._guards.CompileContext.try_get()
    return getattr(context, "attempt", 0) or 0


@contextlib.contextmanager
def listening(roots: list[str]) -> Iterator[Records]:
    """Record Dynamo's graph_breaks, trace_source and recompiles logs and its limit warnings.

    The loggers' own methods are replaced, since the verified code may remove handlers, call
    logging.disable() or load a configuration. Levels and handlers stay as they are.
    """
    import torch._dynamo  # noqa: F401 -- makes its loggers

    records = Records(roots)
    before = _switch_on("graph_breaks", "trace_source", "recompiles")
    loggers = {name: logging.getLogger(name) for name in list(logging.root.manager.loggerDict)}
    ends = {
        "__graph_breaks": records.on_break,
        "__trace_source": records.on_traced,
        "__recompiles": records.on_recompile,
    }
    tapped = []
    for name, logger in loggers.items():
        if name.startswith("torch.") and name.rsplit(".", 1)[-1] in ends:
            tap(logger, "debug", ends[name.rsplit(".", 1)[-1]], records)
            tapped.append(logger)
    logger = logging.getLogger("torch._dynamo.convert_frame")
    tap(logger, "warning", records.on_warning, records)
    tapped.append(logger)
    logger = logging.getLogger("torch._dynamo.symbolic_convert")
    tap(logger, "info", records.on_skip, records)
    tap(logger, "debug", records.on_unresumable, records)
    tapped.append(logger)
    try:
        with told_right(), each_with_its_stack():
            yield records
    finally:
        for logger in tapped:
            for name in ("debug", "info", "warning", "isEnabledFor"):
                logger.__dict__.pop(name, None)
        _switch_on(*before, only=True)


@contextlib.contextmanager
def each_with_its_stack() -> Iterator[None]:
    """Of breaks at one line of a library (the steps of two optimizers), Dynamo gives only the first its stack."""
    import torch._dynamo.utils

    told = torch._dynamo.utils.graph_break_dup_warning_checker
    told.__dict__["add"] = lambda key: True
    try:
        yield
    finally:
        told.__dict__.pop("add", None)


def _switch_on(*artifacts: str, only: bool = False) -> tuple[str, ...]:
    """Let Dynamo make these records (`only`: and no others); returns what it made before.

    torch._logging.set_logs() would put handlers of its own in the place of those that are there.
    """
    import torch._logging._internal

    names = torch._logging._internal.log_state.artifact_names
    before = tuple(names)
    if only:
        names.clear()
    names.update(artifacts)
    return before


def tap(logger: logging.Logger, method: str, hear: Callable[[str, str], None], records: Records) -> None:
    """Replace one method of one logger by a function that hands over the text."""

    def heard(message: object, *args: Any, **kwargs: Any) -> None:
        try:
            text = str(message) % args if args else str(message)
            hear(text, exception_text(kwargs.get("exc_info")))
        except RecursionError:
            raise
        except Exception as error:  # never let our reading disturb Dynamo
            records.events.append(("unread", {"message": f"{type(error).__name__}: {error}"}))

    logger.__dict__[method] = heard
    if logger.name.rsplit(".", 1)[-1].startswith("__"):  # an artifact of its own: on
        logger.__dict__["isEnabledFor"] = lambda level: True


def exception_text(exc_info: Any) -> str:
    """The message of the exception that a record carries."""
    if not exc_info:
        return ""
    error = exc_info if isinstance(exc_info, BaseException) else sys.exc_info()[1]
    return str(error) if error is not None else ""
