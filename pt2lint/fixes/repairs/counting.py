"""Lists of numbers that only pass through a tensor: `range` instead."""

from __future__ import annotations

import libcst as cst

from pt2lint.finding import Fix
from pt2lint.fixes.kinds import Kind, guess
from pt2lint.fixes.rewrite import (
    Refusal,
    Repaired,
    accepted,
    binds,
    fix,
    qualified,
    rewrite,
    source,
)
from pt2lint.rule import FunctionCode

_WHOLE = {f"torch.{name}" for name in ("int8", "int16", "int32", "int64", "short", "int", "long")}


def fixes(function: FunctionCode, node: cst.CSTNode, kind: Kind | None = None) -> tuple[Fix, ...]:
    """The one repair, where the node is `torch.arange(...).tolist()`."""
    return accepted(list_of_range(function, node, kind))


def list_of_range(function: FunctionCode, node: cst.CSTNode, kind: Kind | None = None) -> Repaired:
    """`torch.arange(2, x.dim()).tolist()` as `list(range(2, x.dim()))`, for whole numbers of Python.

    Unsafe: where the end lies before the start, `torch.arange` raises and `range` is empty.
    """
    kind = kind or guess(function)
    if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute) or node.args:
        return Refusal("not `.tolist()`")
    made = node.func.value
    if node.func.attr.value != "tolist" or not isinstance(made, cst.Call):
        return Refusal("not `.tolist()` of a call")
    if qualified(function, made.func) != "torch.arange":
        return Refusal("the list is not counted by torch.arange")
    numbers = [arg.value for arg in made.args if arg.keyword is None and not arg.star]
    named = {arg.keyword.value: arg.value for arg in made.args if arg.keyword is not None}
    dtype = named.get("dtype")
    if len(numbers) + len(named) != len(made.args) or not named.keys() <= {"dtype", "device"} or not numbers:
        return Refusal("arguments that `range` does not have")
    if dtype is not None and qualified(function, dtype) not in _WHOLE:
        return Refusal("the numbers are not whole")
    if any(kind(one) not in ("int", "bool") for one in numbers):
        return Refusal("an argument is not known to be a whole number of Python")
    if {"list", "range"} & {*function.imports, *binds(function.module)}:
        return Refusal("`list` or `range` has another meaning here")
    text = f"list(range({', '.join(source(function, one) for one in numbers)}))"
    return fix(
        "Count in Python: these numbers are known while Dynamo traces. Where the end lies before the start, "
        "`torch.arange` raises and `range` is empty.",
        rewrite(function, {node: cst.parse_expression(text)}),
    )
