"""Numbers that are made of what counts, and numbers of an object that its methods advance."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator, Mapping

from pt2lint.op import RECOMPILE_LIMIT
from pt2lint.static.interpreter.syntax import dotted
from pt2lint.static.source.nodes import FunctionNode, is_name, last_word, own_name, walk
from pt2lint.static.values import UNKNOWN, Py, Value, options

WHOLE = ("ceil", "floor", "int", "round")  # the same number for some turns
STEPS = (ast.Add, ast.Sub, ast.Mult, ast.Div)


def advanced(method: FunctionNode, held: Mapping[str, Value]) -> Iterator[tuple[str, str]]:
    """The numbers in attributes, `held`, that each run of a method makes another, of what they were: `self.depth += 1`,
    `self.rate = max(0.1, self.rate * 0.9)`; or of one of these (`self.rate = 0.1 * self.turn`); and by what type of
    number. None that soon stays as it is."""
    before: set[str] = set()
    for part in method.body:
        if not isinstance(part, (ast.Assign, ast.AugAssign)):
            continue
        target = part.target if isinstance(part, ast.AugAssign) else part.targets[0]
        if not isinstance(target, ast.Attribute) or not is_name(target.value, own_name(method)):
            continue
        now = options(held.get(target.attr, UNKNOWN))
        types = {one.type for one in now if isinstance(one, Py)}
        if len(types) != 1 or not types <= {"int", "float"} or not all(isinstance(one, Py) for one in now):
            continue
        if isinstance(part, ast.AugAssign):
            advances = isinstance(part.op, STEPS) and type(getattr(part.value, "value", None)) in (int, float)
        else:
            name = dotted(target) or ""
            advances = dotted(part.value) != name and counts(part.value, {name, *before})
            advances = advances and not _ends_soon(part.value, target.attr, held)
        if advances:
            before.add(dotted(target) or "")
            divides = any(
                isinstance(p, ast.Div) or type(getattr(p, "value", None)) is float for p in walk(part)
            )
            yield target.attr, "float" if divides else types.pop()


def _ends_soon(value: ast.expr, attribute: str, held: Mapping[str, Value]) -> bool:
    """Whether a whole number has fewer values than Dynamo compiles for: `min(self.n + 1, self.most)` of a small limit,
    `max(1, self.n - 1)` of a small number."""

    def small(name: str) -> bool:
        known = [one.const for one in options(held.get(name, UNKNOWN)) if isinstance(one, Py)]
        return any(type(n) is int and n < RECOMPILE_LIMIT for n in known)

    if not isinstance(value, ast.Call):
        return False
    if dotted(value.func) == "max":
        return small(attribute)
    return any(isinstance(a, ast.Attribute) and small(a.attr) for a in value.args)


def counts(value: ast.expr, counted: Container[str]) -> bool:
    """`n`, `n + 1`, `1 - n / total`, `min(1.0, n / total)`, `math.cos(n)`: another number at each turn."""
    if isinstance(value, ast.BinOp):
        if isinstance(value.op, (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow)):
            sides = (value.left, value.right)
            return any(counts(s, counted) and stays(o, counted) for s, o in (sides, sides[::-1]))
        return False
    if isinstance(value, ast.Call) and not value.keywords:
        name = dotted(value.func) or ""
        if name in ("min", "max"):
            moving = [a for a in value.args if not stays(a, counted)]
            return len(moving) == 1 and counts(moving[0], counted) and not _caps(value)
        computes = isinstance(value.func, ast.Attribute) and dotted(value.func.value) == "math"
        if name == "float" or (computes and last_word(value.func) not in WHOLE):
            return any(counts(a, counted) for a in value.args)
    return isinstance(value, (ast.Name, ast.Attribute)) and dotted(value) in counted


def stays(value: ast.expr, counted: Container[str]) -> bool:
    """Whether it is a number that no count is in: `2`, `total`, `self.total - 1`."""
    if isinstance(value, ast.BinOp):
        return stays(value.left, counted) and stays(value.right, counted)
    if isinstance(value, ast.UnaryOp):
        return stays(value.operand, counted)
    if isinstance(value, ast.Constant):
        return isinstance(value.value, (int, float))
    if isinstance(value, ast.Call) and dotted(value.func) == "len" and len(value.args) == 1:
        return stays(value.args[0], counted)
    name = dotted(value)
    return name is not None and name not in counted


def _caps(call: ast.Call) -> bool:
    """`min(n, 3)`: so few that Dynamo may compile for each."""
    return any(
        isinstance(a, ast.Constant) and type(a.value) is int and a.value < RECOMPILE_LIMIT for a in call.args
    ) and (dotted(call.func) == "min" and not any(isinstance(p, ast.Div) for p in walk(call)))
