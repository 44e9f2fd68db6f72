"""Which parameters a function gives back longer than it was given them: a list of what each call adds."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from pt2lint.op import SHRINKS
from pt2lint.static.source.nodes import FunctionNode, is_name, parts, walk

ADD = ("append", "extend", "insert")


def lengthened(function: FunctionNode, names: set[str]) -> set[str]:
    """`past` of `past = past + [k]` and `return y, past`, wherever the function ends."""
    longer, unpacked = _longer(function, names), _unpacked(function, names)
    found: set[str] = set()
    for end in parts(function, ast.Return):
        if end.value is None:
            continue
        elements = end.value.elts if isinstance(end.value, ast.Tuple) else []
        for one in (end.value, *elements):
            if isinstance(one, ast.Name) and one.id in longer:
                found.add(longer[one.id])
            found |= {name for name in names if _is_longer(one, name)}
            if isinstance(one, ast.Starred) and isinstance(one.value, ast.Name):
                of, beside = unpacked.get(one.value.id, ("", len(elements)))
                found |= {of} if len(elements) - 1 > beside else set()
    return found


def added_to(function: FunctionNode, names: set[str]) -> dict[str, int]:
    """The names to which a function that neither binds nor shortens them adds in any case, or to a list in them, and
    the lines: `losses.append(x)`, `stats["loss"].append(x)`, `stats.setdefault("loss", []).append(x)`."""
    found: dict[str, int] = {}
    for part in _always(function.body):
        place = None
        if isinstance(part, ast.Expr) and isinstance(part.value, ast.Call):
            callee = part.value.func
            place = callee.value if isinstance(callee, ast.Attribute) and callee.attr in ADD else None
        elif isinstance(part, ast.AugAssign) and isinstance(part.op, ast.Add) and _holds_any(part.value):
            place = part.target
        if place is not None and (name := _within(place)) in names:
            found.setdefault(name, part.lineno)
    for each in walk(function) if found else ():
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and each.func.attr in SHRINKS:
            found.pop(_within(each.func.value), None)
        elif isinstance(each, ast.Name) and isinstance(each.ctx, ast.Del):
            found.pop(each.id, None)
        elif isinstance(each, (ast.Assign, ast.Delete)):
            for target in each.targets:
                found.pop(_within(target), None)
    return found


def _within(place: ast.expr) -> str:
    """`stats` of `stats["loss"]`, of `stats.setdefault("loss", [])` and of itself."""
    while not isinstance(place, ast.Name):
        if isinstance(place, ast.Subscript):
            place = place.value
        elif isinstance(place, ast.Call) and isinstance(place.func, ast.Attribute):
            if place.func.attr != "setdefault":
                return ""
            place = place.func.value
        else:
            return ""
    return place.id


def _longer(function: FunctionNode, names: set[str]) -> dict[str, str]:
    """The names that hold a longer one, and which of `names` that was."""
    longer: dict[str, str] = {}
    for part in _always(function.body):
        if isinstance(part, ast.Assign) and len(part.targets) == 1:
            if isinstance(target := part.targets[0], ast.Name):
                longer.update((target.id, name) for name in names if _is_longer(part.value, name))
        elif isinstance(part, ast.AugAssign) and isinstance(part.target, ast.Name):
            if part.target.id in names and isinstance(part.op, ast.Add) and _holds_any(part.value):
                longer[part.target.id] = part.target.id
        elif isinstance(part, ast.Expr) and isinstance(part.value, ast.Call):
            callee = part.value.func
            if (
                isinstance(callee, ast.Attribute)
                and callee.attr in ADD
                and isinstance(callee.value, ast.Name)
            ):
                if callee.value.id in names:
                    longer[callee.value.id] = callee.value.id
    return longer


def _unpacked(function: FunctionNode, names: set[str]) -> dict[str, tuple[str, int]]:
    """`rest` of `first, *rest = inputs`: of which of `names`, and how many stand beside it."""
    return {
        element.value.id: (part.value.id, len(target.elts) - 1)
        for part in _always(function.body)
        if isinstance(part, ast.Assign) and isinstance(part.value, ast.Name) and part.value.id in names
        for target in part.targets
        if isinstance(target, ast.Tuple)
        for element in target.elts
        if isinstance(element, ast.Starred) and isinstance(element.value, ast.Name)
    }


def _always(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that run in any case, those of loops included."""
    for statement in body:
        yield statement
        if isinstance(statement, (ast.For, ast.While, ast.With)):
            yield from _always(statement.body)


def _is_longer(value: ast.expr, name: str) -> bool:
    """`past + [k]`, `(*past, k)`"""
    if isinstance(value, ast.IfExp):
        return _is_longer(value.body, name) or _is_longer(value.orelse, name)
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
        sides = (value.left, value.right)
        return any(is_name(s, name) for s in sides) and any(map(_holds_any, sides))
    if not isinstance(value, (ast.List, ast.Tuple)) or len(value.elts) < 2:
        return False
    return any(isinstance(e, ast.Starred) and is_name(e.value, name) for e in value.elts)


def _holds_any(value: ast.expr) -> bool:
    return isinstance(value, (ast.List, ast.Tuple)) and bool(value.elts)
