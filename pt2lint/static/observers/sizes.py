"""Whether an expression is made of a tensor's size, as the text of the functions around it tells."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from pt2lint.static.source.nodes import FunctionNode, placed, walk

MAX_DEPTH = 3
KEEPS = ("int", "str", "tuple", "max", "min")  # functions that give another value for another size


def from_shape(
    expression: ast.expr, function: FunctionNode, methods: Sequence[FunctionNode], depth: int = 0
) -> bool:
    """Whether it is `x.shape`, `x.size()` or `x.numel()`, or made of one so that another size gives another value:
    an item of it, a sum, a text, a tuple; a name that the function binds to one, or a parameter that another of the
    class's methods passes one for."""
    if depth > MAX_DEPTH:
        return False

    def made(*parts: ast.expr) -> bool:
        return any(from_shape(part, function, methods, depth) for part in parts)

    if isinstance(expression, ast.Attribute):
        return expression.attr == "shape"
    if isinstance(expression, ast.Call):
        callee = expression.func
        if isinstance(callee, ast.Attribute) and callee.attr in ("size", "numel"):
            return True
        return isinstance(callee, ast.Name) and callee.id in KEEPS and made(*expression.args)
    if isinstance(expression, ast.Subscript):
        return made(expression.value)
    if isinstance(expression, (ast.Tuple, ast.List)):
        return made(*expression.elts)
    if isinstance(expression, ast.JoinedStr):
        return made(*(p.value for p in expression.values if isinstance(p, ast.FormattedValue)))
    if isinstance(expression, ast.BinOp):
        plain = isinstance(expression.op, (ast.Add, ast.Sub, ast.Mult))
        return plain and made(expression.left, expression.right)
    return isinstance(expression, ast.Name) and _bound(expression.id, function, methods, depth)


def _bound(name: str, function: FunctionNode, methods: Sequence[FunctionNode], depth: int) -> bool:
    for part in walk(function):
        if isinstance(part, ast.Assign):
            for target in part.targets:
                value = _given(target, part.value, name)
                if value is not None and from_shape(value, function, methods, depth + 1):
                    return True
    parameters = [p.arg for p in placed(function.args)]
    if name not in parameters[1:]:
        return False
    place = parameters.index(name) - 1
    for method in methods:
        for part in walk(method):
            if not isinstance(part, ast.Call) or not isinstance(part.func, ast.Attribute):
                continue
            if part.func.attr != function.name or not isinstance(part.func.value, ast.Name):
                continue
            passed = [k.value for k in part.keywords if k.arg == name] or part.args[place : place + 1]
            if any(from_shape(value, method, methods, depth + 1) for value in passed):
                return True
    return False


def _given(target: ast.expr, value: ast.expr, name: str) -> ast.expr | None:
    """What an assignment gives the name: its value, or the element at the name's place."""
    if isinstance(target, ast.Name):
        return value if target.id == name else None
    if isinstance(target, (ast.Tuple, ast.List)):
        same = isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts)
        for i, one in enumerate(target.elts):
            inner = one.value if isinstance(one, ast.Starred) else one
            found = _given(inner, value.elts[i] if same else value, name)  # type: ignore[attr-defined]
            if found is not None:
                return found
    return None
