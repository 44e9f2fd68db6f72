"""Rows that a mask selects, by what is done with them: what to write that keeps a known size."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from pt2lint.fixes.names import uses
from pt2lint.fixes.nodes import ancestors, enclosing_function, small_of
from pt2lint.fixes.text import cut, in_parentheses, source
from pt2lint.rule import FunctionCode
from pt2lint.rule.tree import callee, is_name

_COUNT = (
    "Count what the mask sets: `{mask}.sum()` is a tensor, and stays in the graph; of elements, times as many as each "
    "row has"
)
_IN_A_CHECK = "; where it is compiled, check that with `torch._assert_async`"
_ADD = (
    "Add under the mask: `{whole} {sign} torch.zeros_like({whole}).masked_scatter({plain}, {more})`, the mask "
    "unsqueezed where it has fewer dimensions"
)
_LAST = (
    "Take the position of the last one in each row: `last = {mask}.cumsum(1).argmax(1)`, then "
    "`{whole}[torch.arange(len({whole})), last]`"
)
_EACH = (
    "Where each row has as many, n of a shape or the configuration, take their positions: `index = "
    "torch.argsort({off}, dim=1, stable=True)[:, :n]`, then `torch.take_along_dim({whole}, index.unsqueeze(-1), 1)`"
)
_FIRST = (
    "Put the rows first that the mask selects, and keep the others after them: `{whole}.flatten(0, 1)[torch.argsort("
    "{off}.flatten(), stable=True)]`, for a mask of two dimensions, has a known size; `masked_scatter` takes as many "
    "of them as its mask sets"
)
_RETURN = (
    "Return all of `{whole}` and the mask, and select after the compiled code; or put the rows first that the mask "
    "selects: `{whole}.flatten(0, 1)[torch.argsort({off}.flatten(), stable=True)]`, for a mask of two dimensions, of "
    "which `masked_scatter` takes as many as its mask sets"
)
STEPS = 3  # assignments between the rows and what is done with them
# What gives the same elements in the same places.
_SAME = ("to", "clone", "contiguous", "detach", "float", "half", "bfloat16", "double", "type", "type_as")
_SCATTERS = ("masked_scatter", "masked_scatter_")
_SHAPED = ("view", "reshape")


def instead(function: FunctionCode, node: cst.Subscript) -> str:
    """What to write for `x[mask]` or `x[mask, :]`, "" where what is done with it tells nothing."""
    mask, *others = [each.slice for each in node.slice]
    if not isinstance(mask, cst.Index) or not all(map(_takes_all, others)):
        return ""
    said = {
        "whole": cut(source(function, node.value)),
        "plain": cut(source(function, mask.value)),
        "mask": cut(in_parentheses(source(function, mask.value))),
        "off": cut(_off(function, mask.value)),
    }
    uses_of = [*_goes_to(function, node)]
    counts = [one for one in uses_of if _is_counted(function, one)]
    if counts and len(counts) == len(uses_of):
        return (_COUNT + _IN_A_CHECK * any(_decides_an_error(function, one) for one in counts)).format(**said)
    for one in uses_of:
        if (added := _added(function, one, node)) is not None:
            sign, more = added
            return _ADD.format(**said, sign=sign, more=cut(more))
        if (by_row := _by_row(function, one)) is not None:
            return (_LAST if _takes_last(function, by_row) else _EACH).format(**said)
    ends = [*_goes_to(function, node, computed=True)]
    if any(_is_put(function, one, node) for one in ends):
        return _FIRST.format(**said)
    return _RETURN.format(**said) if any(_is_returned(function, one) for one in ends) else ""


def _takes_all(index: cst.BaseSlice) -> bool:
    """`:` or `...`"""
    if isinstance(index, cst.Slice):
        return index.lower is None and index.upper is None and index.step is None
    return isinstance(index, cst.Index) and isinstance(index.value, cst.Ellipsis)


def _off(function: FunctionCode, mask: cst.BaseExpression) -> str:
    """The inverted mask."""
    if isinstance(mask, cst.UnaryOperation) and isinstance(mask.operator, cst.BitInvert):
        return in_parentheses(source(function, mask.expression))
    return f"~{in_parentheses(source(function, mask))}"


def _goes_to(
    function: FunctionCode, node: cst.BaseExpression, steps: int = STEPS, computed: bool = False
) -> Iterator[cst.BaseExpression]:
    """The expression as it is used, cast or copied: itself, or where the name is read that it is assigned to, until
    that is assigned something else. `computed`: also what is computed of it by operators, element by element."""
    here = _as_used(function, node, computed)
    above, owner = function.parent(here), enclosing_function(function, node)
    name = above.targets[0].target if isinstance(above, cst.Assign) and len(above.targets) == 1 else None
    if not isinstance(name, cst.Name) or owner is None or not steps:
        yield here
        return
    of_name = [use for use in uses(owner.body) if use.name == name.value]
    at = next((i for i, use in enumerate(of_name) if use.node is name), len(of_name))
    for use in of_name[at + 1 :]:
        if use.binds and not _is_updated(function, use.node, name.value):
            return
        if not use.binds and isinstance(use.node, cst.Name):
            yield from _goes_to(function, use.node, steps - 1, computed)


def _is_updated(function: FunctionCode, target: cst.CSTNode, name: str) -> bool:
    """`rows = rows * scale`, which may stand under a condition."""
    above = function.parent(function.parent(target) or target)
    return isinstance(above, cst.Assign) and any(use.name == name for use in uses(above.value))


def _as_used(function: FunctionCode, node: cst.BaseExpression, computed: bool) -> cst.BaseExpression:
    while True:
        above = function.parent(node)
        if (call := _method(function, node, _SAME)) is not None:
            node = call
        elif computed and isinstance(above, cst.BinaryOperation):
            node = above
        else:
            return node


def _method(function: FunctionCode, node: cst.CSTNode, names: tuple[str, ...]) -> cst.Call | None:
    """The call of one of these methods of the expression."""
    above = function.parent(node)
    call = function.parent(above) if isinstance(above, cst.Attribute) and above.value is node else None
    named = isinstance(above, cst.Attribute) and above.attr.value in names
    return call if named and isinstance(call, cst.Call) and call.func is above else None


def _call_given(function: FunctionCode, node: cst.CSTNode) -> cst.Call | None:
    """The call that an expression is an argument of."""
    above = function.parent(node)
    call = function.parent(above) if isinstance(above, cst.Arg) else None
    return call if isinstance(call, cst.Call) else None


def _is_counted(function: FunctionCode, node: cst.CSTNode) -> bool:
    """`rows.numel()`, `rows.shape[0]`, `len(rows)`"""
    above, call = function.parent(node), _call_given(function, node)
    if call is not None:
        return is_name(call.func, "len")
    return isinstance(above, cst.Attribute) and above.attr.value in ("numel", "shape", "size")


def _decides_an_error(function: FunctionCode, node: cst.CSTNode) -> bool:
    around = [*ancestors(function, node)]
    tested = next((one for one in around if isinstance(one, cst.BaseCompoundStatement)), None)
    if not isinstance(tested, cst.If) or tested.orelse or tested.test not in around:
        return False
    return isinstance(small_of(tested.body.body[0]), cst.Raise)


def _added(function: FunctionCode, node: cst.BaseExpression, rows: cst.Subscript) -> tuple[str, str] | None:
    """The sign and what is added to the rows, where the sum is written to where they were: `x[mask] = x[mask] + more`,
    `x[mask] += more`, `x.masked_scatter(mask, x[mask] + more)`."""
    above = function.parent(node)
    if isinstance(above, cst.AugAssign) and above.target is node:
        sign = {cst.AddAssign: "+", cst.SubtractAssign: "-"}.get(type(above.operator))
        return (sign, source(function, above.value)) if sign else None
    if not isinstance(above, cst.BinaryOperation) or not isinstance(above.operator, cst.Add | cst.Subtract):
        return None
    sign = "+" if isinstance(above.operator, cst.Add) else "-"
    more = above.right if above.left is node else above.left
    if sign == "-" and more is above.left:
        return None
    where = source(function, rows)
    for one in _goes_to(function, above):
        while (shaped := _method(function, one, _SHAPED)) is not None:
            one = shaped
        place = function.parent(one)
        if isinstance(place, cst.Assign) and any(source(function, t.target) == where for t in place.targets):
            return sign, source(function, more)
        call = _call_given(function, one)
        method = call.func if call is not None and callee(call) in _SCATTERS else None
        if isinstance(method, cst.Attribute) and source(function, method.value) == source(
            function, rows.value
        ):
            return sign, source(function, more)
    return None


def _by_row(function: FunctionCode, node: cst.BaseExpression) -> cst.Call | None:
    """The call that lays the rows out again with as many in each: `rows.view(batch, -1, width)`."""
    call = _method(function, node, _SHAPED)
    if call is None or len(call.args) < 3:
        return None
    return call if source(function, call.args[0].value) != "-1" else None


def _takes_last(function: FunctionCode, node: cst.Call) -> bool:
    """`...[:, -1, :]`"""
    above = function.parent(node)
    if not isinstance(above, cst.Subscript) or above.value is not node or len(above.slice) < 2:
        return False
    return _takes_all(above.slice[0].slice) and source(function, above.slice[1].slice) == "-1"


def _is_put(function: FunctionCode, node: cst.BaseExpression, rows: cst.Subscript) -> bool:
    """Whether they are written through another mask: `y.masked_scatter(slots, rows)`, `y[slots] = rows`."""
    while (shaped := _method(function, node, _SHAPED)) is not None:
        node = shaped
    above = function.parent(node)
    if (call := _call_given(function, node)) is not None:
        return callee(call) in _SCATTERS and call.args[0] is not above
    if not isinstance(above, cst.Assign) or len(above.targets) != 1:
        return False
    target = above.targets[0].target
    index = target.slice[0].slice if isinstance(target, cst.Subscript) else None
    return isinstance(index, cst.Index) and source(function, index) != source(function, rows.slice[0].slice)


def _is_returned(function: FunctionCode, node: cst.BaseExpression) -> bool:
    """Whether the rows are what a function returns, alone or beside others, or in an object: `return Output(rows)`,
    `output.rows = rows`."""
    above = function.parent(node)
    while isinstance(above, cst.Element | cst.Tuple):
        above = function.parent(above)
    if isinstance(above, cst.Assign) and len(above.targets) == 1:
        target = above.targets[0].target
        return isinstance(target, cst.Attribute) and not is_name(target.value, "self")
    call = _call_given(function, node)
    if call is not None and callee(call)[:1].isupper():
        return any(_is_returned(function, one) for one in _goes_to(function, call))
    return isinstance(above, cst.Return)
