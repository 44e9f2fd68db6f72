"""The number that once stood before the tensors, `x.add_(0.1, y)`, named behind them."""

from __future__ import annotations

import libcst as cst

from pt2lint.finding import Fix
from pt2lint.fixes.nodes import named_argument
from pt2lint.fixes.repaired import Refusal, Repaired, accepted, fix
from pt2lint.fixes.rewrite import rewrite
from pt2lint.fixes.text import source
from pt2lint.rule import FunctionCode

NUMBERS = {"add_": "alpha", "addcmul_": "value", "addcdiv_": "value"}  # what the number is called today


def fixes(function: FunctionCode, node: cst.CSTNode) -> tuple[Fix, ...]:
    """The one repair, where the number and the tensors are given by position."""
    return accepted(named(function, node))


def named(function: FunctionCode, node: cst.CSTNode) -> Repaired:
    """`x.add_(0.1, y)` as `x.add_(y, alpha=0.1)`: the same call in words of today."""
    if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute):
        return Refusal("no method is called")
    name = NUMBERS.get(node.func.attr.value)
    if name is None or len(node.args) != (2 if name == "alpha" else 3):
        return Refusal("no number stands before the tensors")
    if any(given.keyword is not None or given.star for given in node.args):
        return Refusal("not all is given by position")
    if "#" in source(function, node):
        return Refusal("a comment would stand beside another argument")
    number, *tensors = (given.value for given in node.args)
    last = named_argument(name, number)
    # The commas, and with them the lines, stay where they are.
    moved = [
        given.with_changes(value=each.value, keyword=each.keyword, equal=each.equal)
        for given, each in zip(node.args, (*map(cst.Arg, tensors), last), strict=True)
    ]
    return fix(
        "Name the number, behind the tensors; eager mode does the same.",
        rewrite(function, {node: node.with_changes(args=moved)}),
    )
