"""Lists of numbers that only pass through a tensor: `range`, or the lists themselves, instead."""

from __future__ import annotations

import libcst as cst

from pt2lint.finding import Fix
from pt2lint.fixes.condition import definition, listed
from pt2lint.fixes.imports import qualified
from pt2lint.fixes.kinds import guess
from pt2lint.fixes.names import binds, uses
from pt2lint.fixes.nodes import arguments, enclosing_function, statement_of
from pt2lint.fixes.purity import effect
from pt2lint.fixes.repaired import Refusal, Repaired, accepted, fix
from pt2lint.fixes.rewrite import New, rewrite
from pt2lint.fixes.text import source
from pt2lint.rule import FunctionCode
from pt2lint.rule.tree import walk

_WHOLE = {f"torch.{name}" for name in ("int8", "int16", "int32", "int64", "short", "int", "long")}


def fixes(function: FunctionCode, node: cst.CSTNode) -> tuple[Fix, ...]:
    """The repair of `t.tolist()`, where `t` is `torch.arange(...)`, or lists that torch.cat puts together."""
    return accepted(list_of_range(function, node), list_of_parts(function, node))


def list_of_range(function: FunctionCode, node: cst.CSTNode) -> Repaired:
    """`torch.arange(2, x.dim()).tolist()` as `list(range(2, x.dim()))`, for whole numbers of Python.

    Unsafe: where the end lies before the start, `torch.arange` raises and `range` is empty.
    """
    kind = guess(function)
    made = listed(node)
    if not isinstance(made, cst.Call):
        return Refusal("not `.tolist()` of a call")
    if qualified(function, made.func) != "torch.arange":
        return Refusal("the list is not counted by torch.arange")
    numbers, named = arguments(made) or ([], {})
    dtype = named.get("dtype")
    if not named.keys() <= {"dtype", "device"} or not numbers:
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


def list_of_parts(function: FunctionCode, node: cst.CSTNode) -> Repaired:
    """`torch.cat([torch.as_tensor([-1]), torch.as_tensor(shape)]).tolist()` as `[-1, *shape]`, also where the tensors
    have names.

    Unsafe: what goes in may be a tensor already, and not a list of whole numbers.
    """
    tensor = listed(node)
    if tensor is None:
        return Refusal("not `.tolist()`")
    made = _value(function, tensor)
    if not isinstance(made, cst.Call) or qualified(function, made.func) not in ("torch.cat", "torch.concat"):
        return Refusal("no lists are put together")
    tensors = made.args[0].value if made.args else None
    dims = [source(function, one.value) for one in made.args[1:]]
    if not isinstance(tensors, cst.List | cst.Tuple) or dims not in ([], ["0"]):
        return Refusal("no lists are put together")
    owner = enclosing_function(function, node)
    bound = [use.name for use in uses(owner.body) if use.binds] if owner is not None else []
    bound += [one.name.value for one in walk(owner.params) if isinstance(one, cst.Param)] if owner else []
    parts: list[str] = []
    for one in tensors.elements:
        part = _value(function, one.value)
        given = _listed(function, part) if isinstance(part, cst.Call) else None
        if given is None:
            return Refusal("a part is no list of numbers")
        if any(bound.count(use.name) > 1 for use in uses(given)):
            return Refusal("a list may be another one by then")
        if isinstance(given, cst.List):
            parts += [source(function, each.value) for each in given.elements]
        else:
            parts.append(f"*{source(function, given)}")
    new: dict[cst.CSTNode, New] = {node: cst.parse_expression(f"[{', '.join(parts)}]")}
    read = [use for use in uses(owner.body) if not use.binds] if owner is not None else []
    statement = statement_of(function, made) if made is not tensor else None
    if statement is not None and [use.name for use in read].count(source(function, tensor)) == 1:
        new[statement] = None
    return fix(
        "Put the lists together in Python, not by way of a tensor: sizes are known while Dynamo traces. It assumes "
        "that these are lists of whole numbers.",
        rewrite(function, new),
        "once proven",
    )


def _value(function: FunctionCode, node: cst.BaseExpression) -> cst.BaseExpression:
    """What is assigned to a name, where that is done once."""
    return (definition(function, node) or node) if isinstance(node, cst.Name) else node


def _listed(function: FunctionCode, call: cst.Call) -> cst.BaseExpression | None:
    """The list in `torch.as_tensor(list)`, `torch.tensor(list, dtype=torch.long)`."""
    if qualified(function, call.func) not in ("torch.as_tensor", "torch.tensor") or not call.args:
        return None
    first, *more = call.args
    named = {one.keyword.value: one.value for one in more if one.keyword is not None}
    whole = "dtype" not in named or qualified(function, named["dtype"]) in _WHOLE
    plain = isinstance(first.value, cst.List | cst.Name | cst.Attribute) and effect(first.value) is None
    return first.value if plain and whole and len(named) == len(more) else None
