"""Where a mask is set: the position by `argmax`, whose shape does not depend on values."""

from __future__ import annotations

import libcst as cst

from pt2lint.finding import ONCE_PROVEN, Fix
from pt2lint.fixes.condition import bare
from pt2lint.fixes.purity import callee
from pt2lint.fixes.rewrite import (
    Refusal,
    Repaired,
    accepted,
    arguments,
    fix,
    in_parentheses,
    qualified,
    rewrite,
    source,
)
from pt2lint.rule import FunctionCode
from pt2lint.rule.tree import is_name


def fixes(function: FunctionCode, node: cst.CSTNode) -> tuple[Fix, ...]:
    """The repair of the element that is taken of `nonzero` or `torch.where`."""
    return accepted(by_argmax(function, node))


def by_argmax(function: FunctionCode, node: cst.CSTNode) -> Repaired:
    """`mask.nonzero()[:, 1]` as `mask.int().argmax(1)`, and `mask.nonzero()[0, 0]` as `mask.int().argmax()`.

    So too with `torch.nonzero(mask)`, `as_tuple=True` and `torch.where(mask)`. Unsafe: in each row exactly one must be
    set; for the first position of a mask of one dimension, one at least. `argmax` gives the first of the largest.
    """
    mask = _mask(function, node)
    if mask is None:
        return Refusal("positions of a mask are not what is asked for")
    tuple_ = _gives_tuple(node)
    first = function.parent(node)
    if not isinstance(first, cst.Subscript) or first.value is not node:
        return Refusal("all positions are used")
    taken: cst.CSTNode = first
    places = _places(function, first)
    if len(places) == 1:
        second = function.parent(first)
        if isinstance(second, cst.Subscript) and second.value is first:
            taken, places = second, [*places, *_places(function, second)]
    text = f"{in_parentheses(source(function, mask))}.int().argmax"
    if places == (["1"] if tuple_ else [":", "1"]):
        call, assumes = f"{text}(1)", "exactly one is set in each row of"
    elif places == ["0", "0"]:
        call, assumes = f"{text}()", "one at least is set, in its one dimension, of"
    else:
        return Refusal("more than one position is used")
    return fix(
        f"Ask for the position with `argmax`, whose shape depends on no values. It assumes that {assumes} "
        f"`{bare(source(function, mask))}`. {ONCE_PROVEN}.",
        rewrite(function, {taken: cst.parse_expression(call)}),
    )


def _mask(function: FunctionCode, node: cst.CSTNode) -> cst.BaseExpression | None:
    """The mask whose positions the call gives."""
    if not isinstance(node, cst.Call) or callee(node) not in ("nonzero", "where"):
        return None
    told = arguments(node)
    if told is None or not told[1].keys() <= {"as_tuple"}:
        return None
    given = told[0]
    if qualified(function, node.func) in ("torch.nonzero", "torch.where"):
        return given[0] if len(given) == 1 else None
    is_method = isinstance(node.func, cst.Attribute) and callee(node) == "nonzero" and not given
    return node.func.value if is_method else None  # type: ignore[attr-defined]


def _gives_tuple(node: cst.CSTNode) -> bool:
    """A tensor for each dimension, as `torch.where` does."""
    assert isinstance(node, cst.Call)
    as_tuple = [arg.value for arg in node.args if arg.keyword is not None]
    return callee(node) == "where" or any(is_name(one, "True") for one in as_tuple)


def _places(function: FunctionCode, node: cst.Subscript) -> list[str]:
    return [source(function, one.slice).replace(" ", "") for one in node.slice]
