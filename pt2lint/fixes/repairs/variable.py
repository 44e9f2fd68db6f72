"""`Variable(x)`, which torch before 0.4 needed, in words of today."""

from __future__ import annotations

import libcst as cst

from pt2lint.finding import Fix
from pt2lint.fixes.by_hand import told
from pt2lint.fixes.imports import qualified
from pt2lint.fixes.kinds import guess, has_no_gradient
from pt2lint.fixes.repaired import Refusal, Repaired, accepted, fix
from pt2lint.fixes.rewrite import rewrite
from pt2lint.fixes.text import in_parentheses, source
from pt2lint.rule import FunctionCode
from pt2lint.rule.tree import is_name

WITHOUT = (
    "Leave `Variable` out: what weights have a part in has its gradient without it; of what a gradient is asked "
    "(`torch.autograd.grad(y, x)`), say `x.requires_grad_()` before the compiled code runs, and pass it in"
)


def fixes(function: FunctionCode, node: cst.CSTNode) -> tuple[Fix, ...]:
    """The one repair, where the node wraps a tensor; what to do by hand where that is to require a gradient."""
    wraps = isinstance(node, cst.Call) and qualified(function, node.func) == "torch.autograd.Variable"
    asks = wraps and any(
        is_name(arg.keyword, "requires_grad") and not is_name(arg.value, "False")
        for arg in cst.ensure_type(node, cst.Call).args
    )
    if asks:
        return (told(WITHOUT),)
    return accepted(detached(function, node))


def detached(function: FunctionCode, node: cst.CSTNode) -> Repaired:
    """`Variable(x)` as `x.detach()`: it shares the memory of `x` and passes no gradient on; as `x` where that is so
    without.

    Refused where it is to require a gradient: that ends the graph, too.
    """
    if not isinstance(node, cst.Call) or qualified(function, node.func) != "torch.autograd.Variable":
        return Refusal("not a `Variable`")
    if not node.args or node.args[0].star or node.args[0].keyword is not None:
        return Refusal("no tensor is given by its place")
    for given in node.args[1:]:
        if (
            given.keyword is None
            or not is_name(given.keyword, "requires_grad")
            or not is_name(given.value, "False")
        ):
            return Refusal("it is told more than the tensor")
    tensor = node.args[0].value
    text = in_parentheses(source(function, tensor))
    if not _is_detached(function, node) and not has_no_gradient(function, tensor, guess(function)):
        text += ".detach()"
    return fix(
        "Detach the tensor, which is what `Variable` does today: the same memory, and no gradient passed on.",
        rewrite(function, {node: cst.parse_expression(text)}),
    )


def _is_detached(function: FunctionCode, node: cst.Call) -> bool:
    """`Variable(x).detach()`, `Variable(x).data`"""
    outer = function.parent(node)
    if not isinstance(outer, cst.Attribute):
        return False
    called = isinstance(function.parent(outer), cst.Call)
    return outer.attr.value == ("detach" if called else "data")
