"""What the expressions of one function are, for whoever asks once the file was interpreted.

Nobody asks unless a fix is to be made, so nothing is written down meanwhile but what the function was called with.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence

from pt2lint.op import Range
from pt2lint.static.interpreter.core import Core
from pt2lint.static.interpreter.frame import Env, Frame
from pt2lint.static.source.modules import Module
from pt2lint.static.source.nodes import Unit
from pt2lint.static.values import Func, Value, join

Calls = Mapping[tuple[str, Unit], Sequence[tuple[Func, Env]]]


def kinds_of(core: Core, module: Module, unit: Unit) -> Mapping[Range, str]:
    """The word of Op.args for each expression of the function at these lines: interpreted again as it was called,
    with what it calls answering as before, and nothing noted."""
    found: dict[tuple[int, int, int, int], Value] = {}
    traced, anywhere, evaluate = core.traced, core.anywhere, core.eval
    core.traced = core.anywhere = frozenset()
    try:
        for func, env in core.calls.get((module.path, unit), ()):
            frame = Frame(
                func.module, unit, "", region=True, cls=func.defined_in, me=func.bound, closure=func.env
            )
            core.eval = _recorder(evaluate, frame, found)  # type: ignore[method-assign, assignment]
            core.block(list(func.node.body), dict(env), frame)  # type: ignore[arg-type]
    finally:
        core.traced, core.anywhere = traced, anywhere
        vars(core).pop("eval", None)  # never set where no call of the function was noted
    return {
        (line, module.column(line, start), end_line, module.column(end_line, end)): core.sort(value)
        for (line, start, end_line, end), value in found.items()
    }


def _recorder(
    evaluate: Callable[[ast.expr, Env, Frame], Value],
    mine: Frame,
    found: dict[tuple[int, int, int, int], Value],
) -> Callable[[ast.expr, Env, Frame], Value]:
    def recording(node: ast.expr, env: Env, frame: Frame) -> Value:
        value = evaluate(node, env, frame)
        if frame is mine:
            key = (node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0)
            found[key] = join(found[key], value) if key in found else value
        return value

    return recording
