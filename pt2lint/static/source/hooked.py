"""Which names of a function, or of a script, are of modules that it compiles itself: what adds a hook to a part of one
adds it to what is compiled."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from pt2lint.static.source.nodes import walk

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def statements(root: ast.AST) -> Iterator[ast.AST]:
    """What runs where `root` does: not what the functions and classes in it hold."""
    pending: list[ast.AST] = list(ast.iter_child_nodes(root))
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, _SCOPES):
            pending += ast.iter_child_nodes(node)


def compiled_names(root: ast.AST, is_compiler: Callable[[ast.expr], bool]) -> set[str]:
    """`model` of `torch.compile(model)`, `torch.compile(model.net)` and `model.compile()`."""
    found: set[str] = set()
    for node in statements(root):
        if isinstance(node, ast.Call) and isinstance(node.func, (ast.Name, ast.Attribute)):
            if node.args and is_compiler(node.func):
                found |= head(node.args[0])
            elif isinstance(node.func, ast.Attribute) and node.func.attr == "compile":
                found |= head(node.func.value)
    return found


def head(node: ast.expr) -> set[str]:
    """The first name of what an expression goes into: `model` of `model.layers[1]` and `model.modules()`."""
    while not isinstance(node, ast.Name):
        if isinstance(node, (ast.Attribute, ast.Subscript)):
            node = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            node = node.func
        elif isinstance(node, ast.Call) and node.args:  # `enumerate(model.layers)`
            node = node.args[-1]
        else:
            return set()
    return {node.id}


def is_part_of(node: ast.expr, root: ast.AST, names: set[str]) -> bool:
    """Whether an expression is one of the names, a part of it, or what a loop over its parts binds."""
    (name,) = head(node) or {""}
    line = getattr(node, "lineno", 0)
    if name in names:
        return True
    loops = (each for each in statements(root) if isinstance(each, ast.For))
    return any(
        bool(head(loop.iter) & names)
        for loop in loops
        if any(isinstance(part, ast.Name) and part.id == name for part in walk(loop.target))
        and loop.lineno <= line <= (loop.end_lineno or loop.lineno)
    )
