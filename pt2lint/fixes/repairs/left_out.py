"""A call that does nothing but end the graph, left out."""

from __future__ import annotations

import libcst as cst

from pt2lint.finding import Fix
from pt2lint.fixes.imports import qualified
from pt2lint.fixes.nodes import block_of, statement_of
from pt2lint.fixes.repaired import Refusal, Repaired, accepted, fix
from pt2lint.fixes.rewrite import New, rewrite
from pt2lint.rule import FunctionCode


def fixes(function: FunctionCode, node: cst.CSTNode) -> tuple[Fix, ...]:
    """The one repair, where the node is a statement of its own."""
    return accepted(remove_break(function, node))


def remove_break(function: FunctionCode, node: cst.CSTNode) -> Repaired:
    """`torch._dynamo.graph_break()` taken out.

    Unsafe: it changes nothing in eager mode, but somebody put it there, perhaps around a defect of the compiler.
    """
    if not isinstance(node, cst.Call) or qualified(function, node.func) != "torch._dynamo.graph_break":
        return Refusal("no explicit break")
    statement = statement_of(function, node)
    if not isinstance(statement, cst.SimpleStatementLine) or not isinstance(function.parent(node), cst.Expr):
        return Refusal("the break is no statement of its own")
    if len(statement.body) != 1:
        return Refusal("the line holds other statements")
    block = block_of(function, statement)
    alone = block is None or len(block[0]) == 1
    gone: New = statement.with_changes(body=[cst.Pass()]) if alone else None
    return fix(
        "Leave the break out; eager mode does the same. It assumes that nothing in the compiler needs it any more.",
        rewrite(function, {statement: gone}),
    )
