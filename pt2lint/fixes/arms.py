"""The two sides of a branch.

An early `return` and a `continue` are read as an `else` that holds what follows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import libcst as cst

from pt2lint.fixes.condition import Condition, read_condition
from pt2lint.fixes.kinds import LIKE, Kind, words
from pt2lint.fixes.names import binds, reads, uses
from pt2lint.fixes.nodes import ancestors, block_of, enclosing_function, name_in, small_of
from pt2lint.fixes.picked import refuse_picked
from pt2lint.fixes.purity import is_view
from pt2lint.fixes.repaired import Refused
from pt2lint.fixes.rewrite import New
from pt2lint.fixes.text import source, statements
from pt2lint.rule import FunctionCode
from pt2lint.rule.tree import callee, children, walk

_SHAPE = ("shape", "size", "dim", "ndim", "numel")


@dataclass
class Arms:
    """The two sides as statements. `taken` are the statements of the block that the rewrite replaces;
    `returns` says that both sides end in a value that is returned, `values`."""

    then: list[Any]
    orelse: list[Any]
    taken: list[cst.CSTNode]
    values: tuple[cst.BaseExpression, cst.BaseExpression] | None = None


def read_arms(function: FunctionCode, node: cst.If) -> Arms:
    """Both sides of a branch; raises Refused where they are not two ways to one end."""
    then = _statements(node.body)
    orelse = _else(node)
    if then is None or orelse is None:
        raise Refused("statements that share a line with their `if`")
    place = block_of(function, node)
    last = _last(then)
    if isinstance(last, cst.Return | cst.Continue):
        if place is None:
            raise Refused("an early end in an `elif`")
        block, index = place
        rest: list[Any] = list(block[index + 1 :])
        if orelse and rest and not isinstance(_last(orelse), cst.Return):
            raise Refused("an early end with an `else` and statements after it")
        other: list[Any] = orelse or rest
        parent = function.parent(function.parent(node) or node)
        if isinstance(last, cst.Return):
            if orelse and not isinstance(_last(orelse), cst.Return):
                raise Refused("one side returns, the other goes on")
            end = _last(other)
            if not isinstance(end, cst.Return):
                at_end = isinstance(parent, cst.FunctionDef)
                raise Refused(
                    "one side returns a value, the other none" if at_end else "a nested early return"
                )
            if last.value is None or end.value is None:
                raise Refused("one side returns nothing")
            inner = [*then[:-1], *other[:-1]]
            if any(leaves(one) for one in inner):
                raise Refused("a side leaves in more than one place")
            taken = [node, *([] if orelse else rest)]
            return Arms(then[:-1], other[:-1], taken, (last.value, end.value))
        if orelse or not isinstance(parent, cst.For | cst.While):
            raise Refused("a `continue` that does not stand in the loop's own block")
        then, orelse = then[:-1], rest
        if any(leaves(one) for one in [*then, *orelse]):
            raise Refused("a side leaves in more than one place")
        return Arms(then, orelse, [node, *rest])
    if any(leaves(one) for one in [*then, *orelse]):
        raise Refused("a side leaves the function or the loop from its middle")
    return Arms(then, orelse, [node])


def _statements(body: cst.BaseSuite) -> list[Any] | None:
    return list(body.body) if isinstance(body, cst.IndentedBlock) else None


def _else(node: cst.If) -> list[Any] | None:
    if node.orelse is None:
        return []
    return [node.orelse] if isinstance(node.orelse, cst.If) else _statements(node.orelse.body)


def _last(statements: Sequence[cst.CSTNode]) -> cst.CSTNode | None:
    if not statements or not isinstance(statements[-1], cst.SimpleStatementLine):
        return None
    return statements[-1].body[-1] if len(statements[-1].body) == 1 else None


def leaves(node: cst.CSTNode) -> bool:
    """Whether something below the node, but for functions in it, leaves the function or a turn of a loop."""
    if isinstance(node, cst.FunctionDef):
        return False
    return isinstance(node, cst.Return | cst.Raise | cst.Continue | cst.Break) or any(
        map(leaves, children(node))
    )


def replacement(
    function: FunctionCode,
    node: cst.If,
    taken: Sequence[cst.CSTNode],
    lines: Sequence[str],
    static: tuple[str, ...],
) -> dict[cst.CSTNode, New]:
    """`lines` (statements in source, blocks indented by the module's own indent) in place of the branch,
    under an `if` of what stays in Python."""
    indent = function.module.default_indent
    if static:
        lines = [
            f"if {' and '.join(static)}:",
            *(one and indent + one for text in lines for one in text.split("\n")),
        ]
    made = statements(function, lines)
    above = list(node.leading_lines)
    place = block_of(function, node)
    if isinstance(made[0], cst.FunctionDef) and place is not None and place[1]:
        if not above or above[0].comment is not None:
            above.insert(0, cst.EmptyLine(indent=False))  # as formatters have it around a function
    made[0] = made[0].with_changes(leading_lines=above)
    new: dict[cst.CSTNode, New] = dict.fromkeys(taken)
    if isinstance(function.parent(node), cst.If):  # an `elif`
        new[node] = cst.Else(cst.IndentedBlock(made))
    else:
        new[node] = made
    return new


def elements(value: cst.BaseExpression) -> list[cst.BaseExpression]:
    """The values of a tuple that is written out, or the one value."""
    return [one.value for one in value.elements] if isinstance(value, cst.Tuple) else [value]


def read_branch(function: FunctionCode, node: cst.If, kind: Kind) -> tuple[Condition, Arms]:
    """The test and both sides; raises Refused where one of them is not read, or asks more than a tensor."""
    condition = read_condition(function, node.test, kind)
    arms = read_arms(function, node)
    if condition.static and (node.orelse is not None or len(arms.taken) > 1):
        raise Refused("the test is part plain Python, and there is another side")
    return condition, arms


def ordered(condition: Condition, then: str, orelse: str) -> tuple[str, str]:
    """What to select where the condition's tensor is true, and where it is not."""
    return (orelse, then) if condition.negated else (then, orelse)


def refuse_itself(test: str, *sides: str) -> None:
    """Raise Refused for `torch.where(mask, mask, 1)`: no reader finds in it a mask that is set where it is off."""
    if test in sides:
        raise Refused("what is selected is the test itself")


def under_static(
    function: FunctionCode, node: cst.IfExp, condition: Condition, text: str
) -> cst.BaseExpression:
    """The expression in place of a ternary, behind the parts of its test that stay in Python."""
    if not condition.static:
        return cst.parse_expression(text)
    other = function.module.code_for_node(node.orelse)
    whole = f"{text} if {' and '.join(condition.static)} else {other}"
    if not node.lpar and not isinstance(function.parent(node), cst.Assign | cst.Return):
        return cst.parse_expression(f"({whole})")
    made = cst.parse_expression(f"({whole})" if "\n" in whole else whole)
    return made if made.lpar else made.with_changes(lpar=node.lpar, rpar=node.rpar)


# What is made of a tensor without passing a gradient on.
_CUT = LIKE | words("detach size numel dim any all item")
_ASKS_FINITE = words("isnan isinf isfinite isposinf isneginf")


def passes_on(side: Sequence[cst.CSTNode], names: Sequence[str]) -> set[str]:
    """The names that a side passes a gradient on to; `names` are what the branch selects."""
    cut = {
        id(use.node)
        for one in side
        for call in walk(one)
        if isinstance(call, cst.Call) and callee(call) in _CUT
        for use in uses(call)
    }
    read = {use.name for use in uses(*side) if not use.binds and id(use.node) not in cut}
    return read | (set(names) - set(binds(*side)))


def keeps_nan_off(
    test: cst.CSTNode, then: Sequence[cst.CSTNode], orelse: Sequence[cst.CSTNode], names: Sequence[str] = ()
) -> bool:
    """Whether the test asks for NaN or infinity in what one side alone passes a gradient on to.

    What made the number then gets a gradient of zero where it got none, which it multiplies by infinity: all that
    learns would be NaN, which is what the test is there for.
    """
    calls = [one for one in walk(test) if isinstance(one, cst.Call) and callee(one) in _ASKS_FINITE]
    asked = {name for call in calls for name in reads(*(call.args or (call.func,)))}
    return bool(asked & (passes_on(then, names) ^ passes_on(orelse, names)))


def check_same_test(function: FunctionCode, node: cst.If | cst.IfExp) -> None:
    """`if few: mask = mask[:n]` above: what is computed of `mask` where `few` holds has no such shape elsewhere."""
    owner = enclosing_function(function, node)
    test, read = source(function, node.test), reads(node)
    branches: dict[cst.CSTNode, list[cst.If]] = function.memo.setdefault("branches", {})
    if owner is not None and owner not in branches:  # several repairs ask it of each branch
        branches[owner] = [other for other in walk(owner.body) if isinstance(other, cst.If)]
    for other in branches[owner] if owner is not None else ():
        if other is node or source(function, other.test) != test:
            continue
        for part in walk(other.body):
            name = name_in(part)
            if name is not None and name.value in read and isinstance(part.value, cst.Subscript):  # type: ignore[attr-defined]
                raise Refused(f"`{name.value}` is cut to a size where the same test holds")


def refuse_compared(function: FunctionCode, *values: str) -> None:
    """Raise Refused where the function compares the shapes of two of the values, and goes on where they differ; or
    where a mask picks the elements of one of them."""
    refuse_picked(function, *values)
    compared: set[frozenset[str]] | None = function.memo.get("compared shapes")
    if compared is None:
        compared = function.memo["compared shapes"] = {
            frozenset(
                _shaped(function, side) for side in (one.left, *(c.comparator for c in one.comparisons))
            )
            for one in walk(function.module)
            if isinstance(one, cst.Comparison) and not _is_demanded(function, one)
        }
    if any(len(sides & {*values}) > 1 for sides in compared):
        raise Refused("the function itself asks whether the sides are of one shape")


def _is_demanded(function: FunctionCode, test: cst.Comparison) -> bool:
    """Whether the function ends where this does not hold: `assert a.shape == b.shape`."""
    asking = next(
        (one for one in ancestors(function, test) if isinstance(one, cst.If | cst.BaseSmallStatement)), None
    )
    body = _statements(asking.body) if isinstance(asking, cst.If) else None
    return isinstance(asking, cst.Assert) or bool(body and isinstance(small_of(body[-1]), cst.Raise))


def _shaped(function: FunctionCode, node: cst.CSTNode) -> str:
    """The `x` of `x.shape`, `x.size(0)`, `x.dim()` and the like."""
    while isinstance(node, cst.Subscript | cst.Call):
        node = node.value if isinstance(node, cst.Subscript) else node.func
    if isinstance(node, cst.Attribute) and node.attr.value in _SHAPE:
        return source(function, node.value)
    return ""


def refuse_shared(function: FunctionCode, name: str, taken: Sequence[cst.CSTNode], kept: bool) -> None:
    """Raise Refused where the name may be a tensor that has another name, or is a caller's, and that is changed below
    the branch (`y += 1`, `y[0] = 1`, `y.add_(1)`): what is selected is a tensor of its own, and the change is seen no
    more. `kept` says that a side leaves what the name was before."""
    owner = enclosing_function(function, taken[0])
    if owner is None:
        return
    first, end = function.range(taken[0])[:2], max(function.range(statement)[2:] for statement in taken)
    shared = kept and any(
        param.name.value == name for param in walk(owner.params) if isinstance(param, cst.Param)
    )
    changed = False
    for use in uses(owner.body):
        if use.name != name:
            continue
        place: cst.CSTNode = use.node
        above, at = function.parent(place), function.range(place)[:2]
        if at < end:
            made = function.parent(above) if isinstance(above, cst.AssignTarget) else None
            if isinstance(made, cst.Assign) and (kept or at >= first):
                shared |= _is_shared(made.value)
            continue
        while isinstance(above, cst.Subscript) and above.value is place:
            place, above = above, function.parent(above)
        if isinstance(above, cst.Attribute):
            word = above.attr.value
            changed |= isinstance(function.parent(above), cst.AssignTarget)
            changed |= word.endswith("_") and not word.startswith("_")
        changed |= isinstance(above, cst.AugAssign) and above.target is place
        changed |= isinstance(above, cst.AssignTarget) and place is not use.node
    if shared and changed:
        raise Refused(
            f"`{name}` is changed afterwards, which is seen where another name or a caller has that tensor"
        )


def _is_shared(value: cst.BaseExpression) -> bool:
    """Whether it has another name, or is a view of what has."""
    if isinstance(value, cst.Call):
        return is_view(callee(value))
    return isinstance(value, cst.Name | cst.Attribute | cst.Subscript)
