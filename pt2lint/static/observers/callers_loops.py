"""Numbers that a loop of a caller counts and gives to a function: `for epoch in range(n): train(model, epoch)`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from pt2lint.static.interpreter.frame import Env, Frame
from pt2lint.static.interpreter.syntax import parameters_of
from pt2lint.static.observers.uses import LIMIT
from pt2lint.static.source.nodes import binds, is_range, last_word
from pt2lint.static.values import Func, Value

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context


class CallersLoops:
    """Writes into `frame.counted` what the loops of code that is not compiled count, and what parameters take of it."""

    def __init__(self, at: Context) -> None:
        self.at = at

    def looped(self, node: ast.For | ast.While, over: Value, env: Env, frame: Frame) -> None:
        if not frame.region:
            frame.counted |= self.counts(node)

    def entered(self, func: Func, node: Any, frame: Frame, callee: Frame) -> None:
        if not frame.counted or callee.region or not isinstance(node, ast.Call):
            return
        given = [
            *zip(parameters_of(func), node.args, strict=False),
            *((k.arg, k.value) for k in node.keywords),
        ]
        taken = {name for name, value in given if name and _counts(value, frame.counted)}
        if taken:
            callee.counted = frozenset(taken - binds(func.node))

    def counts(self, loop: ast.For | ast.While) -> set[str]:
        """The names of whole numbers that are another at each turn; none of a loop that turns so seldom that Dynamo
        may compile for each."""
        found = {
            part.target.id
            for part in loop.body
            if isinstance(part, ast.AugAssign)
            and isinstance(part.target, ast.Name)
            and isinstance(part.op, (ast.Add, ast.Sub))
            and isinstance(part.value, ast.Constant)
            and type(part.value.value) is int
        }
        if isinstance(loop, ast.While):
            return found
        source, words = loop.iter, self.at.models.last_words
        while isinstance(source, ast.Call) and source.args and not is_range(source):
            word = last_word(source.func)
            if word in words("counts items") and isinstance(loop.target, ast.Tuple):
                return found | {n.id for n in loop.target.elts[:1] if isinstance(n, ast.Name)}
            if word not in words("passes items") | {"reversed", "trange", "count"}:
                return found
            if word in ("trange", "count"):
                break
            source = source.args[0]
        if isinstance(source, ast.Call) and isinstance(loop.target, ast.Name) and not _is_short(source):
            if last_word(source.func) in ("range", "trange", "count"):
                return found | {loop.target.id}
        return found


def _is_short(call: ast.Call) -> bool:
    """`range(3)`"""
    numbers = [a.value for a in call.args if isinstance(a, ast.Constant) and type(a.value) is int]
    if len(numbers) != len(call.args) or not 0 < len(numbers) <= 3 or numbers[2:] == [0]:
        return False
    return last_word(call.func) != "count" and len(range(*numbers)) <= LIMIT


def _counts(value: ast.expr, counted: frozenset[str]) -> bool:
    """`n`, `n + 1`, `2 * n`: another whole number at each turn."""
    if isinstance(value, ast.BinOp) and isinstance(value.op, (ast.Add, ast.Sub, ast.Mult)):
        sides = [value.left, value.right]
        return any(_counts(s, counted) and isinstance(o, ast.Constant) for s, o in (sides, sides[::-1]))
    return isinstance(value, ast.Name) and value.id in counted
