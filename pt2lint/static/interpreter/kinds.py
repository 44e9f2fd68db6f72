"""What the expressions of one function are, for whoever asks once the file was interpreted.

Nobody asks unless a fix is to be made, so nothing is written down meanwhile but what the function was called with.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from typing import Any

from pt2lint.op import Range, either
from pt2lint.static.interpreter.context import Context
from pt2lint.static.interpreter.frame import Env, Frame
from pt2lint.static.source.modules import Module
from pt2lint.static.source.nodes import Unit
from pt2lint.static.values import UNKNOWN, Func, Value, join

Calls = Mapping[tuple[str, Unit], Sequence[tuple[Func, Env]]]


def kinds_of(at: Context, module: Module, unit: Unit) -> Mapping[Range, str]:
    """The word of Op.args for each expression of the function at these lines: interpreted again as it was called,
    with what it calls answering as before, and nothing noted."""
    found: dict[tuple[int, int, int, int], list[Value]] = {}
    notebook, expressions = at.notebook, at.expressions
    traced, anywhere, handlers = notebook.traced, notebook.anywhere, expressions.handlers
    notebook.traced = notebook.anywhere = frozenset()
    at.start_anew()
    try:
        for func, env in at.functions.calls.get((module.path, unit), ()):
            frame = Frame(
                func.module, unit, "", region=True, cls=func.defined_in, me=func.bound, closure=func.env
            )
            one: dict[tuple[int, int, int, int], Value] = {}
            expressions.handlers = _recording(handlers, frame, one)
            at.statements.block(list(func.node.body), dict(env), frame)  # type: ignore[arg-type]
            for key, value in one.items():
                found.setdefault(key, []).append(value)
    finally:
        notebook.traced, notebook.anywhere = traced, anywhere
        expressions.handlers = handlers
    values = {
        (line, module.column(line, start), end_line, module.column(end_line, end)): each
        for (line, start, end_line, end), each in found.items()
    }
    return _Words(values, at.types.sort)


class _Words(Mapping[Range, str]):
    """The words for values: made for those that are asked about, which are few. Those of calls are put together as
    words, as those of groups of files are."""

    def __init__(self, values: dict[Range, list[Value]], word: Callable[[Value], str]) -> None:
        self._values, self._word = values, word

    def __getitem__(self, place: Range) -> str:
        return reduce(either, dict.fromkeys(map(self._word, self._values[place])))

    def __iter__(self) -> Iterator[Range]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


def _recording(
    handlers: Mapping[type[ast.AST], Any], mine: Frame, found: dict[tuple[int, int, int, int], Value]
) -> dict[type[ast.AST], Any]:
    """The handlers of expressions; what those in one frame give is written down."""

    def recording(handler: Any) -> Any:
        def record(node: ast.expr, env: Env, frame: Frame) -> Value:
            value: Value = UNKNOWN if handler is None else handler(node, env, frame)
            if frame is mine:
                key = (node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0)
                found[key] = join(found[key], value) if key in found else value
            return value

        return record

    return {kind: recording(handlers.get(kind)) for kind in ast.expr.__subclasses__()}
