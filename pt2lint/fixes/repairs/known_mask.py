"""A mask that Python knows where it is made, and what to write in its place."""

from __future__ import annotations

import libcst as cst

from pt2lint.fixes.imports import qualified
from pt2lint.fixes.kinds import guess
from pt2lint.fixes.names import uses
from pt2lint.fixes.nodes import enclosing_function
from pt2lint.fixes.text import source
from pt2lint.rule import FunctionCode

_DIAGONAL = (
    "For all but the diagonal of `{0}`, of n rows and columns, no mask is needed: "
    "`{0}.flatten()[1:].view(n - 1, n + 1)[:, :-1].reshape(n, n - 1)`"
)
_TRIANGLE = (
    "Take the positions in place of the mask: `i, j = torch.{1}_indices(n, m, offset)`, then `{0}[{2}i, j]`, of a "
    "known size"
)
_DIAGONALS = (
    "For all but the diagonal, of n rows and columns, no mask is needed: "
    "`{0}.flatten(-2)[..., 1:].unflatten(-1, (n - 1, n + 1))[..., :-1].flatten(-2)`"
)
_LISTED = (
    "Python knows which positions the mask holds: index with a list of them, `[k for k in range(n) if k != i]`, or "
    "join the slices before and after with `torch.cat`"
)


def instead(function: FunctionCode, node: cst.Subscript) -> str:
    """What to write for `x[mask]`, "" where values decide what the mask holds."""
    indices = [
        each.slice.value
        for each in node.slice
        if isinstance(each.slice, cst.Index) and not isinstance(each.slice.value, cst.Ellipsis)
    ]
    owner, whole = enclosing_function(function, node), source(function, node.value)
    if len(indices) != 1 or owner is None:
        return ""
    mask, name = indices[0], ""
    if isinstance(mask, cst.Name):
        name = mask.value
        bound = [use.node for use in uses(owner.body) if use.binds and use.name == name]
        made = function.parent(function.parent(bound[0]) or node) if len(bound) == 1 else None
        if not isinstance(made, cst.Assign):
            return ""
        mask = made.value
    inverted = isinstance(mask, cst.UnaryOperation) and isinstance(mask.operator, cst.BitInvert)
    if isinstance(mask, cst.UnaryOperation):
        mask = mask.expression
    while isinstance(mask, cst.Call) and isinstance(mask.func, cst.Attribute):
        if mask.func.attr.value not in ("bool", "to"):
            break
        mask = mask.func.value
    maker, given = _maker(function, mask)
    written = [use.node for use in uses(owner.body) if use.name == name and not use.binds]
    changes = [each for each in written if _is_written(function, each)]
    before = _before(function, node)
    if maker == "torch.eye" and inverted and not changes and before is not None:
        return (_DIAGONALS if before else _DIAGONAL).format(whole)
    if maker in ("torch.triu", "torch.tril") and not (inverted or changes) and before is not None:
        if isinstance(given, cst.Call) and qualified(function, given.func) == "torch.ones":
            return _TRIANGLE.format(whole, maker.rpartition(".")[2], before)
    if maker in ("torch.ones", "torch.zeros") and changes:
        kind = guess(function)
        places = [function.parent(each) for each in changes]
        known = all(
            isinstance(place, cst.Subscript)
            and isinstance(place.slice[0].slice, cst.Index)
            and kind(place.slice[0].slice.value) == "int"
            for place in places
        )
        return _LISTED if known else ""
    return ""


def _maker(function: FunctionCode, mask: cst.BaseExpression) -> tuple[str, cst.BaseExpression | None]:
    """The function that makes the mask, and what it is given first: `torch.triu(ones)`, `ones.triu()`."""
    if not isinstance(mask, cst.Call):
        return "", None
    name = qualified(function, mask.func)
    if name is None and isinstance(mask.func, cst.Attribute) and mask.func.attr.value in ("triu", "tril"):
        return f"torch.{mask.func.attr.value}", mask.func.value
    return name or "", mask.args[0].value if mask.args else None


def _before(function: FunctionCode, node: cst.Subscript) -> str | None:
    """What stands before the mask where all of it is taken, `:, ` or `..., `; None where there is more."""
    *before, last = node.slice
    if not isinstance(last.slice, cst.Index) or isinstance(last.slice.value, cst.Ellipsis):
        return None
    for each in before:
        whole = isinstance(each.slice, cst.Slice) and each.slice.lower is None and each.slice.upper is None
        if not whole and not (
            isinstance(each.slice, cst.Index) and isinstance(each.slice.value, cst.Ellipsis)
        ):
            return None
    return "".join("..., " if isinstance(each.slice, cst.Index) else ":, " for each in before)


def _is_written(function: FunctionCode, name: cst.CSTNode) -> bool:
    """Whether it stands in what an assignment writes to: `mask[i] = False`."""
    place = function.parent(name)
    return isinstance(function.parent(place) if place is not None else None, cst.AssignTarget)
