"""What to write by hand in place of what is as long as values in a tensor say."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from pt2lint.finding import Fix
from pt2lint.fixes.by_hand import told
from pt2lint.fixes.by_hand.given import in_short, only_value, registered, set_once
from pt2lint.fixes.imports import qualified
from pt2lint.fixes.kinds import told as kind_told
from pt2lint.fixes.names import uses
from pt2lint.fixes.nodes import enclosing_function
from pt2lint.fixes.repairs import known_mask, selected_rows
from pt2lint.rule import FunctionCode
from pt2lint.rule.tree import is_name, walk

_CROSS_ENTROPY = ("cross_entropy", "nll_loss", "CrossEntropyLoss", "NLLLoss")
_NONZERO = (
    "Say how many there are at most: `torch.nonzero_static(mask, size=n)` has a known shape; or keep the mask, and "
    "select with `torch.where(mask, a, b)`"
)
_FIRST = (
    "Take the first of them in the graph: `i = torch.argmax(mask.int())` is its place among all elements (of `w == "
    "w.max()` it is `torch.argmax(w)`), and `x.flatten()[i]` is what stands there"
)
_HOW_MANY_DIFFER = (
    "Take the number from what is known before, the configuration, an argument or a shape; where it is computed with, "
    "`(v[1:] != v[:-1]).sum() + 1` of the sorted values is a tensor"
)
_KNOWN_SIZES = {
    "repeat_interleave": "Say how long the result is: with `output_size=n`, and `n` of a shape or an argument, it "
    "stays in the graph",
    **dict.fromkeys(("nonzero", "argwhere", "where"), _NONZERO),
    **dict.fromkeys(
        ("unique", "unique_consecutive"),
        "Keep the length: sort, and mark where a value differs from the one before it (`v[1:] != v[:-1]`); `cumsum` "
        "of the marks numbers the groups",
    ),
    "lstsq": "`torch.linalg.pinv(a) @ b` has a known shape, and so has `torch.linalg.solve` of a square matrix",
    "bincount": "Count into a tensor of a known size: `torch.zeros(n).scatter_add_(0, index, weights)`, with `n` of a "
    "shape or an argument, and ones for weights",
}
KEEP_ALL = (
    "Keep all of `{0}`: compute on the whole and select with `torch.where({1}, changed, {0})`, the mask unsqueezed "
    "where it has fewer dimensions, or weigh a sum with the mask"
)


def known_size(function: FunctionCode, node: cst.CSTNode) -> Iterator[Fix]:
    """A result of a size that is known: by a size, a mask or a count into a tensor that is there."""
    if isinstance(node, cst.Subscript) and (kept := _kept_mask(function, node)):
        yield told(
            f"Keep the positions too: buffers of what `{kept}.nonzero(as_tuple=True)` gives, made where `{kept}` is "
            "set, and index with those in its place, as their number is known"
        )
    elif isinstance(node, cst.Subscript) and (known := known_mask.instead(function, node)):
        yield told(known)
    elif isinstance(node, cst.Subscript) and _classified(function, node):
        mask = in_short(function, node.slice[0].slice)
        yield told(
            f"Give the cross entropy all rows, and `torch.where({mask}, labels, -100)` as labels: it leaves the "
            'class -100 (`ignore_index`) out of its mean and its sum, and is zero there with `reduction="none"`'
        )
    elif isinstance(node, cst.Subscript) and (known := selected_rows.instead(function, node)):
        yield told(known)
    elif isinstance(node, cst.Subscript):
        yield from _whole(function, node)
    elif isinstance(node, cst.Call) and not (qualified(function, node.func) or "").startswith("numpy."):
        name = node.func.attr if isinstance(node.func, cst.Attribute) else node.func
        if isinstance(name, cst.Name) and name.value.startswith("unique") and _counted(function, node):
            yield told(_HOW_MANY_DIFFER)
        elif (
            isinstance(name, cst.Name) and name.value in ("nonzero", "argwhere") and _is_first(function, node)
        ):
            yield told(_FIRST)
        elif isinstance(name, cst.Name) and name.value in _KNOWN_SIZES:
            yield told(_KNOWN_SIZES[name.value])
        elif isinstance(name, cst.Name) and name.value == "masked_select":
            given = [arg.value for arg in node.args]
            if isinstance(node.func, cst.Attribute) and len(given) == 1:
                given.insert(0, node.func.value)
            if len(given) == 2:
                yield told(KEEP_ALL.format(in_short(function, given[0]), in_short(function, given[1])))


def _is_first(function: FunctionCode, node: cst.Call) -> bool:
    """Whether the first of the places alone is taken: `mask.nonzero()[0]`."""
    taken = function.parent(node)
    if not isinstance(taken, cst.Subscript) or len(taken.slice) != 1 or node.args:
        return False  # with `as_tuple=True` it is the places along the first dimension
    place = taken.slice[0].slice
    return isinstance(place, cst.Index) and isinstance(place.value, cst.Integer) and place.value.value == "0"


def _counted(function: FunctionCode, node: cst.Call) -> bool:
    """Whether all that is asked of it is how many there are: `len(x.unique())`, `x.unique().numel()`."""
    around = function.parent(node)
    if isinstance(around, cst.Attribute):
        return around.attr.value in ("numel", "shape", "size")
    call = function.parent(around) if isinstance(around, cst.Arg) else None
    return isinstance(call, cst.Call) and is_name(call.func, "len")


def _whole(function: FunctionCode, node: cst.Subscript) -> Iterator[Fix]:
    indices = [one.slice.value for one in node.slice if isinstance(one.slice, cst.Index)]
    masks = [index for index in indices if not isinstance(index, cst.Ellipsis)]
    if len(masks) == 1:
        yield told(KEEP_ALL.format(in_short(function, node.value), in_short(function, masks[0])))


def _classified(function: FunctionCode, node: cst.CSTNode) -> bool:
    """Whether a cross entropy is given it, or the name that it is assigned to."""
    around = function.parent(node)
    while isinstance(around, cst.Element | cst.Tuple):
        around = function.parent(around)
    owner = enclosing_function(function, node)
    if isinstance(around, cst.Arg):
        return _is_cross_entropy(function, function.parent(around))
    if not isinstance(around, cst.Assign) or owner is None:
        return False
    names = {use.name for target in around.targets for use in uses(target.target)}
    return any(
        isinstance(call, cst.Call)
        and any(isinstance(arg.value, cst.Name) and arg.value.value in names for arg in call.args[:2])
        and _is_cross_entropy(function, call)  # last: to know the kinds in a function takes long
        for call in walk(owner.body)
    )


def _is_cross_entropy(function: FunctionCode, call: cst.CSTNode | None) -> bool:
    if not isinstance(call, cst.Call):
        return False
    known = qualified(function, call.func) or kind_told(function, call.func)
    return known.startswith("torch.nn") and known.rpartition(".")[2] in _CROSS_ENTROPY


def _kept_mask(function: FunctionCode, node: cst.Subscript) -> str:
    """The buffer, or what `__init__` alone sets, that is the one mask of an index, as it is or on another device:
    `x[:, self.mask.to(x.device)]`."""
    indices = [each.slice.value for each in node.slice if isinstance(each.slice, cst.Index)]
    if len(indices) != 1:
        return ""
    made, owner = indices[0], enclosing_function(function, node)
    if isinstance(made, cst.Name) and owner is not None:
        made = only_value(function, made) or made
    if isinstance(made, cst.Call) and isinstance(made.func, cst.Attribute) and made.func.attr.value == "to":
        made = made.func.value
    return registered(function, made) or set_once(function, made)
