"""One index read out of a tensor: the row is selected by the tensor itself."""

from __future__ import annotations

import libcst as cst

from pt2lint.finding import Fix
from pt2lint.fixes.condition import is_scalar
from pt2lint.fixes.kinds import Kind, guess
from pt2lint.fixes.purity import effect
from pt2lint.fixes.rewrite import (
    Refusal,
    Repaired,
    accepted,
    ancestors,
    fix,
    in_parentheses,
    rewrite,
    source,
)
from pt2lint.rule import FunctionCode


def fixes(function: FunctionCode, node: cst.CSTNode, kind: Kind | None = None) -> tuple[Fix, ...]:
    """The repair of the subscript that the node is, or is the index of."""
    for outer in (node, *ancestors(function, node)):
        if isinstance(outer, cst.Subscript):
            return accepted(select_row(function, outer, kind))
        if isinstance(outer, cst.BaseStatement | cst.Call):
            return ()
    return ()


def select_row(function: FunctionCode, node: cst.Subscript, kind: Kind | None = None) -> Repaired:
    """`x[:, k]` as `x[:, k.reshape(1)].squeeze(1)`, where `k` is a whole number in a tensor.

    Indexing by a tensor without dimensions reads the number out of it, indexing by one of one dimension does not.
    Refused where `x` is not known to be a tensor (a list must be told which), where an ellipsis or None stands before
    the index, and where the subscript is assigned to. Unsafe: `k` must have one element.
    """
    kind = kind or guess(function)
    if not kind(node.value).startswith("tensor"):
        return Refusal("what is indexed is not known to be a tensor")
    if isinstance(function.parent(node), cst.AssignTarget | cst.AugAssign | cst.Del):
        return Refusal("the element is assigned to")
    chosen: list[int] = []
    for at, element in enumerate(node.slice):
        if isinstance(element.slice, cst.Index):
            chosen.append(at)
        elif effect(element.slice):
            return Refusal("a bound has an effect")
    if len(chosen) != 1:
        return Refusal("not one index among slices")
    index = node.slice[chosen[0]].slice
    assert isinstance(index, cst.Index)
    word = kind(index.value)
    if not word.startswith("tensor") or word == "tensor:bool" or index.star:
        return Refusal("the index is not known to be a number in a tensor")
    if not is_scalar(function, index.value):
        return Refusal("the index may have dimensions")
    one = cst.parse_expression(f"{in_parentheses(source(function, index.value))}.reshape(1)")
    text = source(function, node.with_deep_changes(index, value=one))
    edits = rewrite(function, {node: cst.parse_expression(f"{text}.squeeze({chosen[0]})")})
    return fix(
        f"Select by the tensor itself instead of the number in it. It assumes that "
        f"`{source(function, index.value)}` has one element.",
        edits,
    )
