"""How long tensors, lists and dictionaries are at each turn of a loop, where values, a rest or a number decide it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import libcst as cst

from pt2lint.op import SHRINKS
from pt2lint.rule.loop_syntax import (
    THROUGH,
    called_name,
    last_word,
    lengths_of_pieces,
    sizes_given,
    sources_of,
    unconditional,
)
from pt2lint.rule.loop_turns import STACK, Turns
from pt2lint.rule.syntax import dotted, is_mask, names
from pt2lint.rule.tree import is_name, walk

_PICKED = ("nonzero", "unique", "masked_select", "argwhere", "flatnonzero")  # as many as the values decide
_PIECES = ("split", "tensor_split", "chunk")


def differs(turns: Turns, value: cst.BaseExpression) -> tuple[str, str]:
    """Why a tensor is of another size at some turns, where its values or a list of lengths decide that, and how
    many sizes there are: "often", "twice", or "" where that is not told; nothing for others."""
    code = turns.function.module.code_for_node
    if by := _picked(turns, value):
        return f"`{code(value)}` is as long as the values in `{by}` have it", "often"
    if _left_over(turns, value):
        return f"`{code(value)}` is smaller at the last turn, where less is left", "twice"
    made = _pieces(turns, value)
    if made is None:
        return "", ""
    called, often = code(made), lengths_of_pieces(made)
    if often == "twice":
        return f"`{code(value)}` is a piece of `{called}`, of which the last may be smaller", often
    return f"`{code(value)}` is a piece of `{called}`, and those need not be of one size", often


def _picked(turns: Turns, value: cst.BaseExpression) -> str:
    """What decides, by its values, how long a tensor is: `mask` of `x[mask]`, where a turn makes that by a
    comparison, `x.nonzero()`; "" for others."""
    value = turns.meaning(value)
    if isinstance(value, cst.Subscript):
        index = value.slice[0].slice
        mask = turns.meaning(index.value) if isinstance(index, cst.Index) else None
        if (
            mask is not None
            and isinstance(index, cst.Index)
            and is_mask(mask, turns.meaning, partial(_compares, turns))
        ):
            return turns.function.module.code_for_node(index.value)
    if isinstance(value, cst.Call) and isinstance(value.func, cst.Attribute):
        if value.func.attr.value in _PICKED and turns.changes(value):
            return turns.function.module.code_for_node(value)
    return ""


def _compares(turns: Turns, value: cst.Comparison) -> bool:
    """Whether elements of what turns make are compared."""
    orders = isinstance(
        value.comparisons[0].operator,
        cst.LessThan | cst.LessThanEqual | cst.GreaterThan | cst.GreaterThanEqual | cst.NotEqual,
    )
    return orders and (turns.changes(value) or any(isinstance(part, cst.Call) for part in walk(value)))


def _left_over(turns: Turns, value: cst.BaseExpression) -> bool:
    """Whether it is `x[i : i + size]`, of a loop over `range(0, n, size)`: what is left at the last turn. Of tiles
    (`x[:, :, i : min(i + size, n)]`) too."""
    value = turns.meaning(value)
    places = value.slice if isinstance(value, cst.Subscript) else ()
    return any(
        isinstance(place.slice, cst.Slice) and place.slice.step is None and _is_left(turns, place.slice)
        for place in places
    )


def _is_left(turns: Turns, part: cst.Slice) -> bool:
    if not isinstance(part.lower, cst.Name):
        return False
    upper = turns.meaning(part.upper) if part.upper is not None else None
    if isinstance(upper, cst.Call) and called_name(upper) == "min" and len(upper.args) == 2:
        upper = next((a.value for a in upper.args if isinstance(a.value, cst.BinaryOperation)), None)
    if not isinstance(upper, cst.BinaryOperation) or not isinstance(upper.operator, cst.Add):
        return False
    for loop in turns.loops:
        over = loop.iter if isinstance(loop, cst.For) and part.lower.deep_equals(loop.target) else None
        while isinstance(over, cst.Call) and last_word(over) in THROUGH and over.args:
            over = over.args[0].value
        if not isinstance(over, cst.Call) or not called_name(over).endswith("range") or len(over.args) != 3:
            continue
        first, last, step = (a.value for a in over.args)
        whole = isinstance(last, cst.Integer) and isinstance(step, cst.Integer)
        if whole and isinstance(first, cst.Integer) and first.value == "0":
            if int(last.value, 0) % int(step.value, 0) == 0:  # type: ignore[attr-defined]
                continue
        sides = (upper.left, upper.right)
        if any(s.deep_equals(part.lower) for s in sides) and any(s.deep_equals(step) for s in sides):
            return True
    return False


def _pieces(turns: Turns, value: cst.BaseExpression) -> cst.Call | None:
    """`torch.split(x, lengths)` of which the value is a piece, another one at each turn."""
    value = turns.meaning(value)
    if isinstance(value, cst.Call) and last_word(value) in STACK and value.args:
        listed = value.args[0].value
        parts = [e.value for e in listed.elements] if isinstance(listed, cst.List | cst.Tuple) else []
        return next(filter(None, map(partial(_pieces, turns), parts)), None)
    if not isinstance(value, cst.Name):
        return None
    for loop in turns.loops:
        if not isinstance(loop, cst.For) or value.value not in {n.value for n in names(loop.target)}:
            continue
        for source in sources_of(loop):
            made = [source]
            if isinstance(source, cst.Name):
                made = [
                    b.value
                    for b in turns.bound(turns.function.module).get(source.value, ())
                    if isinstance(b, cst.Assign)
                ]
            for call in made if len(made) == 1 else ():
                if isinstance(call, cst.Call) and isinstance(call.func, cst.Attribute):
                    if call.func.attr.value in _PIECES and not _is_even(turns, call):
                        return call
    return None


def _is_even(turns: Turns, made: cst.Call) -> bool:
    """Whether a tensor is cut whose size the pieces divide: `torch.zeros(4, 16).split(4, dim=1)`."""
    named = {a.keyword.value: a.value for a in made.args if a.keyword is not None}
    given = [a.value for a in made.args if a.keyword is None]
    if not called_name(made).startswith("torch."):
        given.insert(0, cst.ensure_type(made.func, cst.Attribute).value)
    whole = given[0] if given else named.get("input")
    if isinstance(whole, cst.Name):
        bound = turns.bound(turns.function.module).get(whole.value, ())
        whole = bound[0].value if len(bound) == 1 and isinstance(bound[0], cst.Assign) else None
    size = (
        given[1] if len(given) > 1 else next((v for k, v in named.items() if k not in ("dim", "input")), None)
    )
    dim = given[2] if len(given) > 2 else named.get("dim", cst.Integer("0"))
    sizes = sizes_given(whole) if isinstance(whole, cst.Call) else []
    if (
        not isinstance(size, cst.Integer)
        or not isinstance(dim, cst.Integer)
        or dim.evaluated_value >= len(sizes)
    ):
        return False
    length = sizes[dim.evaluated_value]
    return isinstance(length, cst.Integer) and length.evaluated_value % (size.evaluated_value or 1) == 0


def length(turns: Turns, value: cst.BaseExpression) -> str:
    """What says how long a list is, and is another number at each turn: `[new() for _ in range(n)]`, `frames[:n]`;
    or what a loop that turns so often appends to; "" for others."""
    code = turns.function.module.code_for_node
    for inner, often in _loops_inside(turns, value.value) if isinstance(value, cst.Name) else ():
        for part in walk(inner.body):
            called = part.func if isinstance(part, cst.Call) else None
            if isinstance(called, cst.Attribute) and called.attr.value == "append":
                if called.value.deep_equals(value) and unconditional(turns.function, part, inner):
                    return code(often)
    value = turns.meaning(value)
    if isinstance(value, cst.ListComp) and not value.for_in.ifs and value.for_in.inner_for_in is None:
        over = value.for_in.iter
        if isinstance(over, cst.Call) and called_name(over) == "range" and len(over.args) == 1:
            return code(over.args[0].value) if turns.number(over.args[0].value) else ""
        return length(turns, over)
    if isinstance(value, cst.Subscript) and len(value.slice) == 1:
        part = value.slice[0].slice
        bounds = [b for b in (part.lower, part.upper) if b is not None] if isinstance(part, cst.Slice) else []
        one = len(bounds) == 1 and not isinstance(bounds[0], cst.UnaryOperation)
        return code(bounds[0]) if one and turns.number(bounds[0]) else ""
    return ""


def _loops_inside(turns: Turns, name: str) -> Iterator[tuple[cst.For, cst.BaseExpression]]:
    """The loops inside of a turn that makes a list or dictionary of that name, and which turn another number of
    times each time: `for k in range(n)`; each with that number."""
    for loop in turns.loops:
        made = turns.bound(loop.body).get(name, ())
        if len(made) != 1 or isinstance(made[0], cst.AugAssign):
            continue
        for inner in walk(loop.body):
            over = inner.iter if isinstance(inner, cst.For) else None
            if isinstance(inner, cst.For) and isinstance(over, cst.Call) and called_name(over) == "range":
                if len(over.args) == 1 and turns.number(over.args[0].value):
                    yield inner, over.args[0].value


def filled_under(turns: Turns, name: str) -> cst.BaseExpression | None:
    """The key, another one at each turn, under which a turn puts something into the dictionary of that name; or one
    of those, at each turn more or less, under which it fills one anew."""
    for inner, _ in _loops_inside(turns, name):
        own = {n.value for n in names(inner.target)}
        for node in walk(inner.body):
            target = node.target if isinstance(node, cst.AssignTarget) else None
            if isinstance(target, cst.Subscript) and is_name(target.value, name):
                index = target.slice[0].slice
                if isinstance(index, cst.Index) and own & {n.value for n in names(index)}:
                    return index.value
    for loop in turns.loops:
        if name in turns.bound(loop.body):
            return None
        for node in walk(loop.body):
            target = node.target if isinstance(node, cst.AssignTarget) else None
            if isinstance(target, cst.Subscript) and dotted(target.value) == name:
                index = target.slice[0].slice
                if isinstance(index, cst.Index) and (turns.number(index.value) or turns.text(index.value)):
                    return index.value if len(target.slice) == 1 else None
    return None


def keeps(turns: Turns, place: str) -> bool:
    """Whether the turns of the innermost loop leave what a name or an attribute (`turns.seen`) holds: they neither
    bind it anew, or a part of it, nor take anything out of it."""
    for loop in turns.loops[:1]:
        if place in turns.bound(loop.body):
            return False
        for node in walk(loop.body):
            part: cst.BaseExpression | None = None
            if isinstance(node, cst.AssignTarget | cst.Del):
                part = node.target
            elif isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
                part = node.func.value if node.func.attr.value in SHRINKS else None
            while isinstance(part, cst.Subscript):
                part = part.value
            if part is not None and dotted(part) == place:
                return False
    return bool(turns.loops)
