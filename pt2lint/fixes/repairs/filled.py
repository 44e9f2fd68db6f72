"""A tensor of one number made of a list, as `torch.full`: a list of a batch's length makes the size a constant."""

from __future__ import annotations

import libcst as cst

from pt2lint.finding import Edit, Fix
from pt2lint.fixes.imports import qualified, torch_name
from pt2lint.fixes.kinds import Kind, guess
from pt2lint.fixes.purity import number
from pt2lint.fixes.repaired import Refusal, Repaired, accepted, fix
from pt2lint.fixes.rewrite import rewrite
from pt2lint.fixes.text import source
from pt2lint.rule import FunctionCode
from pt2lint.rule.tree import walk

_NUMBERS = ("int", "float", "bool")


def fixes(function: FunctionCode, node: cst.CSTNode) -> tuple[Fix, ...]:
    return accepted(filled(function, node))


def filled(function: FunctionCode, node: cst.CSTNode, kind: Kind | None = None) -> Repaired:
    """`torch.tensor([k] * n, device=x.device)` as `torch.full((n,), k, device=x.device)`.

    Refused where what the list holds is not known to be one number: a tensor in it has a dtype of its own.
    """
    kind = kind or guess(function)
    if not isinstance(node, cst.BinaryOperation) or not isinstance(node.operator, cst.Multiply):
        return Refusal("no list is repeated")
    items, size = node.left, node.right
    if not isinstance(items, cst.List):
        items, size = size, items
    if not isinstance(items, cst.List) or len(items.elements) != 1:
        return Refusal("no list of one number is repeated")
    held = items.elements[0].value
    if not _is_number(held, kind):
        return Refusal("what the list holds is not known to be a number")
    given = function.parent(node)
    call = function.parent(given) if isinstance(given, cst.Arg) else None
    if not isinstance(call, cst.Call) or qualified(function, call.func) != "torch.tensor":
        return Refusal("no tensor is made of the list")
    first, *more = call.args
    named = ("dtype", "device", "requires_grad")
    if first is not given or not all(one.keyword is not None and one.keyword.value in named for one in more):
        return Refusal("the tensor is made in a way that torch.full does not know")
    texts = [source(function, one) for one in (size, held)]
    texts += [f"{one.keyword.value}={source(function, one.value)}" for one in more if one.keyword is not None]
    if "#" in source(function, call):
        return Refusal("a comment stands in the call")
    imports: tuple[Edit, ...] = ()
    if isinstance(call.func, cst.Attribute):  # torch may have two names in the file
        full = f"{source(function, call.func.value)}.full"
    else:
        full, imports = torch_name(function, "torch.full")
    size_text, *rest = texts
    if any(isinstance(one, cst.Subtract | cst.Minus) for one in walk(size)):
        bare = source(function, size.with_changes(lpar=(), rpar=()))
        size_text = f"max({bare}, 0)"  # a list that is repeated a negative number of times is empty
    return fix(
        "Fill the tensor with `torch.full`: its size stays a symbol, and no list is made. It assumes that the list is "
        "not empty: the tensor made of that holds floats.",
        (
            *imports,
            *rewrite(function, {call: cst.parse_expression(f"{full}(({size_text},), {', '.join(rest)})")}),
        ),
    )


def _is_number(node: cst.BaseExpression, kind: Kind) -> bool:
    if isinstance(node, cst.BinaryOperation):
        return _is_number(node.left, kind) and _is_number(node.right, kind)
    return number(node) is not None or kind(node) in _NUMBERS
