"""What Python calls for objects of the project: for operators, `a + b`, `a in b`, `if a:`, and to go over them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from pt2lint.static.interpreter.frame import Frame
from pt2lint.static.values import Instance, Seq, Value

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context

OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.MatMult: "matmul",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.BitXor: "xor",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
}
COMPARISONS: dict[type[ast.AST], str] = {
    ast.Eq: "__eq__",
    ast.NotEq: "__ne__",
    ast.Lt: "__lt__",
    ast.LtE: "__le__",
    ast.Gt: "__gt__",
    ast.GtE: "__ge__",
}


def special(
    at: Context, owner: Value, name: str, given: list[Value], node: Any, frame: Frame
) -> Value | None:
    """What a method that Python itself calls returns; None where the owner's class has none of its own."""
    if not isinstance(owner, Instance) or owner.cls is None:
        return None
    found = at.classes.find_method(owner.cls, name)
    if found is None:
        return None
    return at.calls.apply(at.classes.method_value(*found, owner), given, {}, node, frame)


def items(at: Context, owner: Value, node: Any, frame: Frame) -> Value | None:
    """What traced code goes over in an object of the project, whose own `__iter__` and `__next__` Dynamo traces."""
    if not frame.region or not isinstance(owner, Instance) or at.classes.loader(owner.cls):
        return None
    made = special(at, owner, "__iter__", [], node, frame)
    if isinstance(made, Instance):
        drawn = special(at, made, "__next__", [], node, frame)
        return None if drawn is None else Seq(None, drawn, "generator")
    return made


def operated(
    at: Context, left: Value, right: Value, op: ast.operator, node: Any, frame: Frame
) -> Value | None:
    """`left + right`, of which one is an object of the project; None where neither has a method for it."""
    name = OPERATORS[op.__class__]
    sides = [(left, f"__{name}__", right), (right, f"__r{name}__", left)]
    if isinstance(node, ast.AugAssign):
        sides.insert(0, (left, f"__i{name}__", right))
    for owner, method, other in sides:
        value = special(at, owner, method, [other], node, frame)
        if value is not None:
            return value
    return None


def compared(at: Context, left: Value, right: Value, op: ast.cmpop, node: Any, frame: Frame) -> Value | None:
    """`left == right` and `left in right`, where a class of the project says what that is."""
    if isinstance(op, (ast.In, ast.NotIn)):
        return special(at, right, "__contains__", [left], node, frame)
    name = COMPARISONS.get(op.__class__)
    if name is None:
        return None
    value = special(at, left, name, [right], node, frame)
    if value is None and name == "__ne__":
        value = special(at, left, "__eq__", [right], node, frame)
    return value


def truth_asked(at: Context, value: Value, node: Any, frame: Frame) -> None:
    """`if value:` calls `__bool__`, or where there is none `__len__`."""
    if special(at, value, "__bool__", [], node, frame) is None:
        special(at, value, "__len__", [], node, frame)
