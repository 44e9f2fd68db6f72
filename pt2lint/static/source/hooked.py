"""Which names of a function, or of a script, are of modules that it compiles itself: what adds a hook to a part of one
adds it to what is compiled."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator

from pt2lint.static.source.nodes import LOOPS, assigned_once, goes_over, walk

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


def made_of(given: ast.expr, root: ast.AST) -> ast.expr | None:
    """`Stats` of `Stats()`, and of `stats` where `stats = Stats()`: the class of an object that is added as a hook."""
    made = assigned_once(given, root) if isinstance(given, ast.Name) else given
    return made.func if isinstance(made, ast.Call) else None


def classes_added(tree: ast.AST, adders: Collection[str]) -> set[str]:
    """The names of the classes of which a file adds objects as hooks."""
    functions = [node for node in walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return {
        cls.id
        for root in (tree, *functions)
        for call in statements(root)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in adders
        if call.args and isinstance(cls := made_of(call.args[0], root), ast.Name)
    }


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
    return any(
        bool(head(over) & names)
        for loop in statements(root)
        if isinstance(loop, LOOPS) and loop.lineno <= line <= (loop.end_lineno or loop.lineno)
        for over, to in goes_over(loop)
        if any(isinstance(part, ast.Name) and part.id == name for part in walk(to))
    )
