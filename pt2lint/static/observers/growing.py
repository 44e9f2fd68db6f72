"""Lists that outlive a call and become longer at each: who makes them shorter again, and when."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from pt2lint.static.source.nodes import FunctionNode, walk


def stays_long(
    trees: Iterable[ast.AST], place: ast.Name | ast.Attribute, by: set[str], shrinks: frozenset[str]
) -> bool:
    """Whether the list at that place is still longer at the next call of the functions `by` that append to it.

    So it is where nothing empties it, and where a loop calls them and what empties it stands behind the loop, as after
    the steps of an episode.
    """
    trees = list(trees)
    places = [found for tree in trees for found in _emptied(tree, place, shrinks)]
    if not places:
        return True
    if any(isinstance(place, ast.Name) and isinstance(p, ast.Global) for p in places):
        return False
    # Whatever calls what empties it empties it as well.
    functions = [f for tree in trees for f in walk(tree) if isinstance(f, FunctionNode)]
    emptying = {f.name for f in functions if any(p in walk(f) for p in places)}
    if emptying & by:
        return False
    loops = [part for tree in trees for part in walk(tree) if isinstance(part, (ast.For, ast.While))]
    around = [loop for loop in loops if _calls(loop.body) & by]
    innermost = [loop for loop in around if not any(o is not loop and o in walk(loop) for o in around)]
    return bool(innermost) and not any(
        _calls(loop.body) & (emptying | _callers(functions, emptying)) or any(p in walk(loop) for p in places)
        for loop in innermost
    )


def _callers(functions: list[ast.FunctionDef | ast.AsyncFunctionDef], names: set[str]) -> set[str]:
    found: set[str] = set()
    while more := {f.name for f in functions if _calls(f.body) & (names | found)} - found:
        found |= more
    return found


def _calls(body: list[ast.stmt]) -> set[str]:
    """The last words of what a body calls."""
    return {
        part.func.attr if isinstance(part.func, ast.Attribute) else part.func.id
        for statement in body
        for part in walk(statement)
        if isinstance(part, ast.Call) and isinstance(part.func, (ast.Attribute, ast.Name))
    }


def _emptied(tree: ast.AST, place: ast.Name | ast.Attribute, shrinks: frozenset[str]) -> Iterator[ast.AST]:
    """Where the list of that name is emptied, or assigned through another object, anywhere in the file."""
    name = place.id if isinstance(place, ast.Name) else place.attr
    local = {name} if isinstance(place, ast.Name) else _names_of(tree, name)

    def is_it(node: ast.AST) -> bool:
        if isinstance(node, ast.Subscript):
            node = node.value
        return (isinstance(node, ast.Attribute) and node.attr == name) or (
            isinstance(node, ast.Name) and node.id in local
        )

    for node in walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in shrinks and is_it(node.func.value):
                yield node
        elif isinstance(node, (ast.Delete, ast.Assign)):
            for target in node.targets:
                inner = target.value if isinstance(target, ast.Subscript) else target
                if is_it(inner):
                    if isinstance(target, ast.Subscript) or (
                        isinstance(inner, ast.Attribute) and not _is_self(inner)
                    ):
                        yield node
        elif isinstance(node, ast.Global) and name in node.names:
            yield node


def _names_of(tree: ast.AST, attribute: str) -> set[str]:
    """The local names that are given an attribute of that name, or one of a name that stands nowhere."""
    return {
        target.id
        for part in walk(tree)
        if isinstance(part, ast.Assign)
        for target in part.targets
        if isinstance(target, ast.Name)
        and (
            (isinstance(part.value, ast.Attribute) and part.value.attr == attribute)
            or (isinstance(part.value, ast.Call) and getattr(part.value.func, "id", "") == "getattr")
        )
    }


def _is_self(node: ast.Attribute) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id == "self"
