"""Functions that a loop gives the rows of a batch, one after the other."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from pt2lint.static.interpreter.frame import Env, Frame
from pt2lint.static.interpreter.guard_syntax import is_name
from pt2lint.static.interpreter.guards import BY_ROW, Guard, Path
from pt2lint.static.interpreter.syntax import dotted
from pt2lint.static.source.nodes import parts, walk
from pt2lint.static.values import Func, Value, tensor_of

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context


def of_rows(at: Context, func: Value, call: ast.Call, env: Env, frame: Frame) -> Path:
    """What is said of a function that is given rows of several tensors, which a loop over how many there are picks:
    `for i in range(len(x)): found.append(summary(x[i], y[i]))`. A loop that calls a part of the object computes."""
    if frame.inside != "loop" or not isinstance(func, Func) or func.bound is not None:
        return ()
    running = at.functions.running()
    for loop in parts(running, ast.For) if running is not None else ():
        if not isinstance(loop.target, ast.Name) or not loop.lineno < call.lineno <= (loop.end_lineno or 0):
            continue
        over = loop.iter
        if not isinstance(over, ast.Call) or not is_name(over.func, "range") or len(over.args) != 1:
            continue
        if _calls_own(loop):
            continue
        given = [*call.args, *(word.value for word in call.keywords)]
        picked = [
            one.value for one in given if isinstance(one, ast.Subscript) and _picks(one.slice, loop.target.id)
        ]
        batches = [each for each in picked if not (dotted(each) or "").startswith("self.")]
        if sum(tensor_of(at.expressions.again(each, env, frame)) is not None for each in batches) > 1:
            return (Guard("", BY_ROW),)
    return ()


def _calls_own(loop: ast.For) -> bool:
    calls = (part.func for part in walk(loop) if isinstance(part, ast.Call))
    return any((dotted(func) or "").startswith("self.") for func in calls)


def _picks(index: ast.expr, name: str) -> bool:
    """`x[i]`, `x[i : i + 1]`"""
    return is_name(index.lower if isinstance(index, ast.Slice) and index.lower else index, name)
