"""A branch on a tensor's value: all repairs of it, the best first."""

from __future__ import annotations

import libcst as cst

from pt2lint.finding import Fix
from pt2lint.fixes.kinds import Kind, guess
from pt2lint.fixes.nodes import ancestors
from pt2lint.fixes.repaired import accepted
from pt2lint.fixes.repairs import clip, shortcut, skip
from pt2lint.fixes.repairs.attributes import select_attributes
from pt2lint.fixes.repairs.cond import to_cond
from pt2lint.fixes.repairs.presence import asked_for_none, given_or_default
from pt2lint.fixes.repairs.rate import ask_rate_first
from pt2lint.fixes.repairs.where import safest_first, to_where
from pt2lint.rule import FunctionCode


def branch_of(function: FunctionCode, node: cst.CSTNode) -> cst.If | cst.IfExp | None:
    """The branch that an expression is (part of) the test of, or the `if` statement that it is."""
    inner = node
    for outer in (node, *ancestors(function, node)):
        if isinstance(outer, cst.If | cst.IfExp):
            # A conditional expression is noted where another branch tests what it gives.
            return outer if outer.test is inner or (outer is node and isinstance(node, cst.If)) else None
        if isinstance(outer, cst.BaseStatement):
            return None
        inner = outer
    return None


def fixes(function: FunctionCode, node: cst.CSTNode, kind: Kind | None = None) -> tuple[Fix, ...]:
    """All repairs that fit of the branch whose test the node is, or is part of, the best first."""
    kind = kind or guess(function)
    branch = branch_of(function, node)
    if branch is None:
        tried = [given_or_default(function, node)]
        if isinstance(node, cst.BaseExpression):
            tried.append(ask_rate_first(function, node, kind))
        return accepted(*tried)
    present = accepted(asked_for_none(function, node))
    if present:
        return present  # both sides do not run where there is none
    asked, node = node, branch
    return (
        *accepted(ask_rate_first(function, node.test, kind)),
        *clip.fixes(function, node, kind),
        *skip.fixes(function, asked, kind),
        *shortcut.fixes(function, asked, kind),
        *safest_first(to_where(function, node, kind), to_cond(function, node, kind)),
        *accepted(select_attributes(function, node, kind)),
    )
