"""Small questions about syntax: the dotted name of an expression, a function's parameters, imports above a line."""

from __future__ import annotations

import ast
from collections.abc import Set

from pt2lint.static.source.nodes import placed
from pt2lint.static.values import Func

_BY_ELEMENT = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def dotted(node: ast.expr) -> str | None:
    """`a.b.c` as text, or None if the expression is anything else."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([node.id, *reversed(names)]) if names else node.id


def source_of(node: ast.expr, passing: Set[str]) -> ast.expr:
    """What a loop goes over in the end: `items` of `enumerate(tqdm(items))`."""
    while isinstance(node, ast.Call) and node.args:
        callee = node.func
        if (callee.id if isinstance(callee, ast.Name) else getattr(callee, "attr", "")) not in passing:
            break
        node = node.args[0]
    return node


def parameters_of(func: Func) -> list[str]:
    """The names that positional arguments of a call fill."""
    return [p.arg for p in placed(func.node.args)][1 if func.bound is not None else 0 :]


def imported_above(library: str, tree: ast.Module, line: int) -> bool:
    """Whether a top-level import of the library stands above the line."""
    for statement in tree.body:
        if statement.lineno >= line:
            return False
        if isinstance(statement, ast.Import):
            names = [alias.name for alias in statement.names]
        else:
            names = [statement.module or ""] if isinstance(statement, ast.ImportFrom) else []
        if any(name.split(".")[0] == library for name in names):
            return True
    return False


def compares_elements(node: ast.expr) -> bool:
    """Whether it is one comparison by `==`, `<` or the like with no text: where it chooses of a tensor, what it
    compares is one, as a choice by `True` or `False` is of no use."""
    if not isinstance(node, ast.Compare) or len(node.ops) != 1 or not isinstance(node.ops[0], _BY_ELEMENT):
        return False
    sides = (node.left, node.comparators[0])
    return not any(isinstance(s, ast.Constant) and not isinstance(s.value, (int, float)) for s in sides)
