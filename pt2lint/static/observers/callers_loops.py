"""Numbers that a loop of a caller counts, or makes of that, and gives to a function: `train(model, epoch)` of
`for epoch in range(n)`, and `rate = 1 - epoch / n`, then `set_rate(model, rate)`; and texts that it goes over or picks:
`switch(model, name)` of `for name in names`, `switch(model, names[i])`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from pt2lint.op import RECOMPILE_LIMIT
from pt2lint.static.interpreter.frame import TEXT, Env, Frame
from pt2lint.static.interpreter.syntax import parameters_of
from pt2lint.static.observers.counts import counts
from pt2lint.static.source.nodes import binds, is_range, last_word, walk
from pt2lint.static.values import NO_CONST, UNKNOWN, Func, Py, Seq, Value

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context


class CallersLoops:
    """Writes into `frame.counted` what the loops of code that is not compiled count, and what parameters take of it."""

    def __init__(self, at: Context) -> None:
        self.at = at

    def looped(self, node: ast.For | ast.While, over: Value, env: Env, frame: Frame) -> None:
        if not frame.region:
            frame.counted |= self.counted_by(node)
            frame.counted |= _made(node, frame.counted)
            if isinstance(node, ast.For) and isinstance(node.target, ast.Name) and (type_ := _type_of(over)):
                frame.counted |= {node.target.id + (TEXT if type_ == "str" else "")}

    def entered(self, func: Func, node: Any, frame: Frame, callee: Frame) -> None:
        if not frame.counted or callee.region or not isinstance(node, ast.Call):
            return
        given = [
            *zip(parameters_of(func), node.args, strict=False),
            *((k.arg, k.value) for k in node.keywords if k.arg),
        ]
        own = binds(func.node)
        given = [(name, value) for name, value in given if name not in own]
        taken = {name for name, value in given if counts(value, frame.counted)}
        taken |= {name + TEXT for name, value in given if self._is_text(value, frame)}
        if taken:
            callee.counted = frozenset(taken)

    def _is_text(self, value: ast.expr, frame: Frame) -> bool:
        """`name` of a loop over texts, or `names[i]`, `names[i % n]` of a global list of them."""
        if isinstance(value, ast.Name):
            return value.id + TEXT in frame.counted
        if not isinstance(value, ast.Subscript):
            return False
        at = value.slice
        at = at.left if isinstance(at, ast.BinOp) and isinstance(at.op, ast.Mod) else at
        return (
            counts(at, frame.counted)
            and _type_of(self.at.expressions.quietly(value.value, {}, frame)) == "str"
        )

    def counted_by(self, loop: ast.For | ast.While) -> set[str]:
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


def _type_of(value: Value) -> str:
    """The type of the numbers or texts of a list of more of them than Dynamo compiles for each, as far as is known; ""
    for others."""
    if not isinstance(value, Seq):
        return ""
    each = value.elem if value.elts is None else value.elts[0] if value.elts else UNKNOWN
    if value.elts is not None:
        known = {repr(e.const) for e in value.elts if isinstance(e, Py) and e.const is not NO_CONST}
        if len(value.elts) <= RECOMPILE_LIMIT or 0 < len(known) <= RECOMPILE_LIMIT:
            return ""
    # Whole numbers of unknown number may be a `range(3)`, which `counts` looks at.
    types = ("float", "str") if value.elts is None else ("int", "float", "str")
    return each.type if isinstance(each, Py) and each.type in types else ""


def _is_short(call: ast.Call) -> bool:
    """`range(3)`"""
    numbers = [a.value for a in call.args if isinstance(a, ast.Constant) and type(a.value) is int]
    if len(numbers) != len(call.args) or not 0 < len(numbers) <= 3 or numbers[2:] == [0]:
        return False
    return last_word(call.func) != "count" and len(range(*numbers)) <= RECOMPILE_LIMIT


def _made(loop: ast.For | ast.While, counted: frozenset[str]) -> set[str]:
    """The names that each turn gives, once, a number that it makes of what counts: `rate = 1 - epoch / n`."""
    found = {
        part.targets[0].id
        for part in (loop.body if counted else ())
        if isinstance(part, ast.Assign)
        and len(part.targets) == 1
        and isinstance(part.targets[0], ast.Name)
        and not isinstance(part.value, ast.Name)
        and counts(part.value, counted)
    }
    stores = [p.id for p in (walk(loop) if found else ()) if isinstance(p, ast.Name) and not _is_load(p)]
    return {name for name in found if stores.count(name) == 1}


def _is_load(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Load)
