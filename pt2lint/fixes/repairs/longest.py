"""How many a mask sets in the row that has most: a bound of it is known while Dynamo traces, the row's length."""

from __future__ import annotations

import libcst as cst

from pt2lint.fixes.condition import definition, read_of
from pt2lint.fixes.kinds import Kind
from pt2lint.fixes.purity import number
from pt2lint.fixes.text import cut, in_parentheses, source
from pt2lint.rule import FunctionCode
from pt2lint.rule.tree import callee

_WHOLE = ("int", "int32", "int64", "long")


def bound(function: FunctionCode, node: cst.CSTNode, kind: Kind) -> str:
    """`mask.shape[-1]` of `mask.sum(-1).max().item()`, whole or with names in between; "" of any other number.

    What is summed has to be a mask: of bools, or of what is counted in whole numbers.
    """
    most = read_of(node) if isinstance(node, cst.Call) else None
    most = _named(function, most)
    if not isinstance(most, cst.Call) or callee(most) != "max" or most.args:
        return ""
    rows = _named(function, most.func.value) if isinstance(most.func, cst.Attribute) else None
    if not isinstance(rows, cst.Call) or callee(rows) != "sum" or not isinstance(rows.func, cst.Attribute):
        return ""
    given = {arg.keyword.value if arg.keyword else "dim": arg.value for arg in rows.args}
    mask, dim = rows.func.value, given.pop("dim", None)
    along = number(dim) if dim is not None else None
    dtype = given.pop("dtype", None)
    if along is None or given or len(rows.args) > 2:
        return ""
    counts = dtype is not None and source(function, dtype).rpartition(".")[2] in _WHOLE
    if not counts and kind(mask) != "tensor:bool" and not isinstance(mask, cst.Comparison):
        return ""
    return cut(f"{in_parentheses(source(function, mask))}.shape[{int(along)}]")


def _named(function: FunctionCode, node: cst.BaseExpression | None) -> cst.BaseExpression | None:
    """The expression, or what a name stands for."""
    return definition(function, node) if isinstance(node, cst.Name) else node
