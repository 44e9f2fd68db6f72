"""An assertion on rows or numbers that no graph holds: made in eager mode alone."""

from __future__ import annotations

import libcst as cst

from pt2lint.finding import Fix
from pt2lint.fixes.imports import torch_name
from pt2lint.fixes.nodes import ancestors
from pt2lint.fixes.purity import effect
from pt2lint.fixes.repaired import Refusal, Repaired, accepted, fix
from pt2lint.fixes.rewrite import rewrite
from pt2lint.rule import FunctionCode


def fixes(function: FunctionCode, node: cst.CSTNode) -> tuple[Fix, ...]:
    """The assertion that the node is in, left to eager mode."""
    inner = node
    for outer in ancestors(function, node):
        if isinstance(outer, cst.Assert):
            return accepted(assert_in_eager(function, outer)) if outer.test is inner else ()
        if isinstance(outer, cst.BaseStatement):
            return ()
        inner = outer
    return ()


def assert_in_eager(function: FunctionCode, node: cst.Assert) -> Repaired:
    """`assert t.unique().numel() == n` as `assert torch.compiler.is_compiling() or t.unique().numel() == n`.

    Refused where the test has an effect, or somebody may catch the error in the function.
    """
    if effect(node.test):
        return Refusal("the test has an effect")
    if any(isinstance(outer, cst.Try) for outer in ancestors(function, node)):
        return Refusal("the error may be caught in the function")
    compiling, imports = torch_name(function, "torch.compiler.is_compiling")
    test = node.test
    both = isinstance(test, cst.BooleanOperation) and isinstance(test.operator, cst.And)
    if (both or isinstance(test, cst.IfExp | cst.Lambda | cst.NamedExpr)) and not test.lpar:
        test = test.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    either = cst.BooleanOperation(cst.parse_expression(f"{compiling}()"), cst.Or(), test)
    return fix(
        "Assert in eager mode alone: compiled code goes without the check, as `python -O` does.",
        (*imports, *rewrite(function, {node.test: either})),
    )
