"""Where a mask is set: the position by `argmax`, whose shape does not depend on values; what is written there, through
the mask."""

from __future__ import annotations

import libcst as cst

from pt2lint.finding import Fix
from pt2lint.fixes.condition import bare
from pt2lint.fixes.imports import qualified
from pt2lint.fixes.kinds import Kind, guess
from pt2lint.fixes.names import uses
from pt2lint.fixes.nodes import arguments, enclosing_function, name_in
from pt2lint.fixes.purity import number
from pt2lint.fixes.repaired import Refusal, Refused, Repaired, accepted, fix, refusing
from pt2lint.fixes.repairs.shortcut import gives_bools
from pt2lint.fixes.rewrite import rewrite
from pt2lint.fixes.text import in_parentheses, source
from pt2lint.rule import FunctionCode
from pt2lint.rule.tree import callee, is_name


def fixes(function: FunctionCode, node: cst.CSTNode) -> tuple[Fix, ...]:
    """The repair of the element that is taken of `nonzero` or `torch.where`, or of what is written at all of them."""
    return accepted(by_argmax(function, node), through_mask(function, node))


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
        f"`{bare(source(function, mask))}`.",
        rewrite(function, {taken: cst.parse_expression(call)}),
        "once proven",
    )


@refusing
def through_mask(function: FunctionCode, node: cst.CSTNode) -> Repaired:
    """`x[torch.where(mask)] = 0` as `x[mask] = 0`, also of `nonzero(as_tuple=True)` and where the places have a name.

    Refused where the mask is not known to be one of bools, where anything but a number is written, and where the places
    are used for more. Unsafe: the mask must have the shape of `x`, or of its first dimensions.
    """
    kind = guess(function)
    mask = _mask(function, node)
    if mask is None or not _gives_tuple(node) or not (kind(mask) == "tensor:bool" or gives_bools(mask)):
        raise Refused("not all places of a mask of bools are asked for")
    places = [node]
    name, owner = name_in(function.parent(node)), enclosing_function(function, node)
    if name is not None and owner is not None:
        named = [use for use in uses(owner.body) if use.name == name.value]
        if sum(use.binds for use in named) != 1 or isinstance(mask, cst.Name | cst.Attribute):
            raise Refused("the name may stand for another mask by then")
        places = [use.node for use in named if not use.binds]
    written = [_filled(function, place, kind) for place in places]
    if not written:
        raise Refused("nothing is written there")
    return fix(
        f"Write through the mask itself, whose shape is known. It assumes that it has the shape of "
        f"`{source(function, written[0])}`, or of its first dimensions.",
        rewrite(function, {node: cst.parse_expression(bare(source(function, mask)))}),
    )


def _filled(function: FunctionCode, place: cst.CSTNode, kind: Kind) -> cst.BaseExpression:
    """The `x` of `x[place] = 0`."""
    index = function.parent(place)
    element = function.parent(index) if isinstance(index, cst.Index) else None
    subscript = function.parent(element) if isinstance(element, cst.SubscriptElement) else None
    target = function.parent(subscript) if isinstance(subscript, cst.Subscript) else None
    made = function.parent(target) if isinstance(target, cst.AssignTarget) else None
    if (
        not isinstance(subscript, cst.Subscript)
        or not isinstance(made, cst.Assign)
        or len(subscript.slice) != 1
    ):
        raise Refused("more is done at the places than to write")
    if number(made.value) is None and kind(made.value) not in ("int", "float", "bool"):
        raise Refused("what is written may have the size of what is selected")
    return subscript.value


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
