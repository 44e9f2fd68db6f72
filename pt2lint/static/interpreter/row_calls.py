"""Functions that a loop gives the rows of a batch, one after the other."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from pt2lint.static.interpreter.frame import Env, Frame
from pt2lint.static.interpreter.guards import BY_ROW, Guard, Path
from pt2lint.static.interpreter.syntax import dotted
from pt2lint.static.source.nodes import is_name, parts, walk
from pt2lint.static.values import Func, Instance, Value, tensor_of

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context


def of_rows(at: Context, func: Value, call: ast.Call, env: Env, frame: Frame) -> Path:
    """What is said of a function that is given rows of several tensors, which a loop over how many there are picks:
    `for i in range(len(x)): found.append(summary(x[i], y[i]))`. A loop that calls a part of the object computes.

    So is a method of an object that is no module, which a loop over a tensor gives its rows: `for row in x:
    self.crop(row)`, as who augments a batch does."""
    if frame.inside != "loop" or not isinstance(func, Func):
        return ()
    if func.bound is not None:
        return (Guard("", BY_ROW),) if _is_given_rows(at, func.bound, call, env, frame) else ()
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


def _is_given_rows(at: Context, bound: Value, call: ast.Call, env: Env, frame: Frame) -> bool:
    """Whether a loop around the call goes over a tensor, or over what it writes back (`for i, row in enumerate(x):
    x[i] = self.crop(row)`), and gives the object each row of it."""
    running = at.functions.running()
    if not isinstance(bound, Instance) or bound.cls is None or at.classes.is_module(bound.cls):
        return False
    for loop in parts(running, ast.For) if running is not None else ():
        row, over, turn = loop.target, loop.iter, ""
        if isinstance(over, ast.Call) and is_name(over.func, "enumerate") and len(over.args) == 1:
            over = over.args[0]
            if isinstance(row, ast.Tuple) and len(row.elts) == 2 and isinstance(row.elts[0], ast.Name):
                turn, row = row.elts[0].id, row.elts[1]
        if not isinstance(row, ast.Name) or not loop.lineno < call.lineno <= (loop.end_lineno or 0):
            continue
        named = {part.id for arg in call.args for part in walk(arg) if isinstance(part, ast.Name)}
        if row.id not in named:
            continue
        if _writes_back(loop, over, turn) or tensor_of(at.expressions.again(over, env, frame)) is not None:
            return True
    return False


def _writes_back(loop: ast.For, over: ast.expr, turn: str) -> bool:
    return isinstance(over, ast.Name) and any(
        isinstance(part, ast.Subscript)
        and isinstance(part.ctx, ast.Store)
        and is_name(part.value, over.id)
        and is_name(part.slice, turn)
        for part in walk(loop)
    )


def _calls_own(loop: ast.For) -> bool:
    calls = (part.func for part in walk(loop) if isinstance(part, ast.Call))
    return any((dotted(func) or "").startswith("self.") for func in calls)


def _picks(index: ast.expr, name: str) -> bool:
    """`x[i]`, `x[i : i + 1]`"""
    return is_name(index.lower if isinstance(index, ast.Slice) and index.lower else index, name)
