"""Finding one's way in a function's tree: what is around a node, what a statement is, what a call is given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import libcst as cst

from pt2lint.rule import FunctionCode
from pt2lint.rule.tree import parameters_in, walk

Statement: TypeAlias = "cst.SimpleStatementLine | cst.BaseCompoundStatement"


def arguments(call: cst.Call) -> tuple[list[cst.BaseExpression], dict[str, cst.BaseExpression]] | None:
    """What a call is given by place, and by name; None where arguments are unpacked."""
    if any(one.star for one in call.args):
        return None
    placed = [one.value for one in call.args if one.keyword is None]
    return placed, {one.keyword.value: one.value for one in call.args if one.keyword is not None}


def named_argument(name: str, value: cst.BaseExpression) -> cst.Arg:
    """`name=value`"""
    equal = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    return cst.Arg(value, cst.Name(name), equal)


def ancestors(function: FunctionCode, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The nodes around the node, the innermost first."""
    here = function.parent(node)
    while here is not None:
        yield here
        here = function.parent(here)


def enclosing_function(function: FunctionCode, node: cst.CSTNode) -> cst.FunctionDef | None:
    """The innermost function around the node, not the node itself."""
    return next((n for n in ancestors(function, node) if isinstance(n, cst.FunctionDef)), None)


def statement_of(function: FunctionCode, node: cst.CSTNode) -> Statement | None:
    """The statement line or compound statement that holds the node."""
    here: cst.CSTNode | None = node
    while here is not None and not isinstance(here, cst.SimpleStatementLine | cst.BaseCompoundStatement):
        here = function.parent(here)
    return here


def small_of(statement: cst.CSTNode | None) -> cst.BaseSmallStatement | None:
    """The one statement of a line, or of what follows a colon."""
    if (
        not isinstance(statement, cst.SimpleStatementLine | cst.SimpleStatementSuite)
        or len(statement.body) != 1
    ):
        return None
    return statement.body[0]


def assigned(statement: cst.CSTNode | None) -> tuple[str, cst.BaseExpression] | None:
    """The name and the value of a line that is `name = value` and nothing else."""
    only = small_of(statement)
    name = name_in(only)
    return (name.value, only.value) if isinstance(only, cst.Assign) and name is not None else None


def name_in(assign: cst.CSTNode | None) -> cst.Name | None:
    """The name in `name = value`; None where that binds more, or anything else."""
    if not isinstance(assign, cst.Assign) or len(assign.targets) != 1:
        return None
    target = assign.targets[0].target
    return target if isinstance(target, cst.Name) else None


def only_of(body: cst.BaseSuite) -> cst.BaseSmallStatement | None:
    """The one simple statement that a body is, in a line of its own or behind the colon."""
    only: Any = body.body[0] if len(body.body) == 1 else None
    return only if isinstance(body, cst.SimpleStatementSuite) else small_of(only)


def block_of(function: FunctionCode, statement: cst.CSTNode) -> tuple[Sequence[cst.CSTNode], int] | None:
    """The statements of the block that holds the statement, and its place among them."""
    parent = function.parent(statement)
    if not isinstance(parent, cst.IndentedBlock | cst.Module):
        return None
    for index, one in enumerate(parent.body):
        if one is statement:
            return parent.body, index
    return None


def parameters(node: cst.FunctionDef) -> list[cst.Param]:
    """All parameters of the function, starred ones too."""
    given = node.params
    stars = [star for star in (given.star_arg, given.star_kwarg) if isinstance(star, cst.Param)]
    return [*parameters_in(given), *stars]


def breaking(function: FunctionCode, *nodes: cst.CSTNode) -> cst.BaseExpression | None:
    """The first expression at or below the nodes that breaks the graph."""
    parts = (part for node in nodes for part in walk(node) if isinstance(part, cst.BaseExpression))
    return next((part for part in parts if function.range(part) in function.breaks), None)
