"""Reading LibCST trees.

LibCST's own `visit` and `children` build every node anew on the way: a hundred times the work of looking.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from typing import TypeGuard

import libcst as cst

Place = tuple[int, int, int, int]

# Where LibCST lists the fields in another order than they have in the source.
_ORDERS = {
    "Arg": "keyword value",
    "ClassDef": "decorators name type_parameters bases keywords body",
    "CompFor": "asynchronous target iter ifs inner_for_in",
    "ExceptHandler": "type name body",
    "ExceptStarHandler": "type name body",
    "For": "asynchronous target iter body orelse",
    "FunctionDef": "decorators asynchronous name type_parameters params returns body",
    "IfExp": "body test orelse",
    "MatchCase": "pattern guard body",
    "Parameters": "posonly_params posonly_ind params star_arg kwonly_params star_kwarg",
    "With": "asynchronous items body",
}
_PUNCTUATION = frozenset(
    "lpar rpar lbracket rbracket lbrace rbrace comma semicolon colon first_colon second_colon dot equal "
    "leading_lines lines_after_decorators lines_after_module_docstring header footer newline indent "
    "separator trailing_whitespace relative".split()
)
_PLAIN = (str, bool, type(None))


class TooMuch(Exception):
    """A repair looked at more nodes than a function is worth."""


class _Effort(threading.local):
    """Each thread has its own: an editor's documents are linted side by side."""

    left = sys.maxsize


_effort = _Effort()


@contextmanager
def effort(most: int) -> Iterator[Callable[[], int]]:
    """Inside of it TooMuch is raised once `most` nodes were looked at; gives a function that tells what is left."""
    before, _effort.left = _effort.left, most
    try:
        yield lambda: _effort.left
    finally:
        _effort.left = before


def spend(nodes: int) -> None:
    """Count work that is not done by `children`: `nodes` of LibCST written out, visited or built."""
    _effort.left -= nodes
    if _effort.left < 0:
        raise TooMuch


_fields: dict[type[cst.CSTNode], tuple[str, ...]] = {}


def _names(kind: type[cst.CSTNode]) -> tuple[str, ...]:
    names = [f.name for f in fields(kind) if f.name not in _PUNCTUATION and "whitespace" not in f.name]
    order = _ORDERS.get(kind.__name__, "").split()
    found = _fields[kind] = tuple(sorted(names, key=lambda name: order.index(name) if name in order else -1))
    return found


def children(node: cst.CSTNode) -> list[cst.CSTNode]:
    """The nodes right below, in the order of the source; neither white space nor punctuation."""
    _effort.left -= 1
    if _effort.left < 0:
        raise TooMuch
    found: list[cst.CSTNode] = []
    kind = node.__class__
    names = _fields.get(kind)
    for name in _names(kind) if names is None else names:
        value = getattr(node, name)
        below = value.__class__
        if below is tuple or below is list:
            found += value
        elif below in _fields or (below not in _PLAIN and isinstance(value, cst.CSTNode)):
            found.append(value)
    return found


def walk(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The node and all below it, in the order of the source."""
    pending = [node]
    while pending:
        node = pending.pop()
        yield node
        below = children(node)
        below.reverse()
        pending += below


def placed(given: cst.Parameters) -> list[cst.Param]:
    """The parameters that a call can fill by their place."""
    return [*given.posonly_params, *given.params]


def parameters_in(given: cst.Parameters) -> list[cst.Param]:
    """The parameters that have a place or a name of their own: all but `*args` and `**kwargs`."""
    return [*placed(given), *given.kwonly_params]


def is_name(node: object, name: str) -> TypeGuard[cst.Name]:
    """The name itself, as it stands in code: `self`, `None`."""
    return isinstance(node, cst.Name) and node.value == name


def callee(node: cst.Call) -> str:
    """The last part of what is called."""
    func = node.func
    if isinstance(func, cst.Attribute):
        return func.attr.value
    return func.value if isinstance(func, cst.Name) else ""


def conjuncts(node: cst.BaseExpression) -> list[cst.BaseExpression]:
    """`a`, `b` and `c` of `a and b and c`."""
    if isinstance(node, cst.BooleanOperation) and isinstance(node.operator, cst.And):
        return [*conjuncts(node.left), *conjuncts(node.right)]
    return [node]


def disjuncts(node: cst.BaseExpression) -> list[cst.BaseExpression]:
    """`a`, `b` and `c` of `a or b or c`."""
    if isinstance(node, cst.BooleanOperation) and isinstance(node.operator, cst.Or):
        return [*disjuncts(node.left), *disjuncts(node.right)]
    return [node]


def says_none(node: object) -> bool:
    """`None`, as it stands in code."""
    return is_name(node, "None")


def indented(module: cst.Module, indent: str) -> cst.Module:
    """The same code, in which a new block is indented by `indent`."""
    before = module.default_indent
    if before == indent:
        return module

    class Keep(cst.CSTTransformer):
        def leave_IndentedBlock(
            self, original_node: cst.IndentedBlock, updated_node: cst.IndentedBlock
        ) -> cst.IndentedBlock:
            own = before if updated_node.indent is None else updated_node.indent
            return updated_node.with_changes(indent=None if own == indent else own)

    return module.visit(Keep()).with_changes(default_indent=indent)


def parents(root: cst.CSTNode) -> Mapping[cst.CSTNode, cst.CSTNode]:
    """Each node's parent."""
    found: dict[cst.CSTNode, cst.CSTNode] = {}
    pending = [root]
    while pending:
        node = pending.pop()
        below = children(node)
        for child in below:
            found[child] = node
        pending += below
    return found


def positions(module: cst.Module) -> Mapping[cst.CSTNode, Place]:
    """What LibCST's PositionProvider gives, but for plain white space, as (line, column, end line, end column), lines
    from 1 and columns from 0: without the visit of the whole tree that resolving metadata makes for nothing."""
    from pt2lint.rule.positions import Positions

    return Positions().of(module)
