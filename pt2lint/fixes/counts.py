"""How many a mask has: what a test of that says of a division by it."""

from __future__ import annotations

import libcst as cst

from pt2lint.fixes.condition import definition, read_of
from pt2lint.fixes.imports import qualified
from pt2lint.fixes.kinds import Kind, words
from pt2lint.fixes.names import reads, uses
from pt2lint.fixes.nodes import enclosing_function
from pt2lint.fixes.purity import number
from pt2lint.fixes.text import source
from pt2lint.rule import FunctionCode
from pt2lint.rule.tree import callee, conjuncts, walk

_CONVERTS = words("float double half bfloat16 int long to type_as type")


def is_some(
    function: FunctionCode, test: cst.BaseExpression, holds: bool, count: cst.BaseExpression, kind: Kind
) -> bool:
    """Whether `count` is the number of elements that a mask has (`mask.sum()`, or a name of it), and one or more where
    the test holds, or where it does not: `n > 0`, `mask.any()`."""
    mask = _counted(function, count, kind)
    if not mask:
        return False
    while isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        test, holds = test.expression, not holds
    asked = conjuncts(test) if holds else [test]
    return any(_says(function, one, mask, kind) is holds for one in asked)


def _says(function: FunctionCode, test: cst.BaseExpression, mask: str, kind: Kind) -> bool | None:
    """True where the test holds if the mask has any, False where it holds if it has none."""
    if isinstance(test, cst.Call):
        return True if callee(test) == "any" and _given(function, test) == mask else None
    if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1:
        return None
    [asked] = test.comparisons
    if _counted(function, test.left, kind) != mask:
        return None
    sign = type(asked.operator), number(asked.comparator)
    if sign in ((cst.GreaterThan, 0), (cst.NotEqual, 0), (cst.GreaterThanEqual, 1)):
        return True
    return False if sign in ((cst.Equal, 0), (cst.LessThanEqual, 0), (cst.LessThan, 1)) else None


def _counted(function: FunctionCode, node: cst.BaseExpression, kind: Kind) -> str:
    """The mask whose elements the expression counts; "" where it may count something else, or the mask may be another
    one by then."""
    value: cst.BaseExpression | None = node
    if isinstance(node, cst.Name):
        value = definition(function, node)
    while isinstance(value, cst.Call) and (read := read_of(value)) is not None:
        value = read
    if not isinstance(value, cst.Call) or callee(value) != "sum":
        return ""
    return _given(function, value, kind)


def _given(function: FunctionCode, call: cst.Call, kind: Kind | None = None) -> str:
    """`mask` of `mask.sum()`, `torch.sum(mask)` and `mask.float().sum()`; "" where more is given."""
    of_torch = (qualified(function, call.func) or "").startswith("torch.")
    if len(call.args) != of_torch or any(arg.keyword or arg.star for arg in call.args):
        return ""
    if of_torch:
        mask = call.args[0].value
    elif isinstance(call.func, cst.Attribute):
        mask = call.func.value
    else:
        return ""
    while isinstance(mask, cst.Call) and isinstance(mask.func, cst.Attribute) and callee(mask) in _CONVERTS:
        mask = mask.func.value
    if (kind is not None and kind(mask) != "tensor:bool") or not _stays(function, mask):
        return ""
    return source(function, mask)


def _stays(function: FunctionCode, node: cst.BaseExpression) -> bool:
    """Whether what the expression reads is bound once at most, and not changed in place."""
    owner = enclosing_function(function, node)
    if owner is None:
        return False
    names = reads(node)
    if any(sum(use.binds and use.name == name for use in uses(owner.body)) > 1 for name in names):
        return False
    for part in walk(owner.body):
        place: cst.CSTNode | None = None
        if isinstance(part, cst.AugAssign | cst.AssignTarget) and not isinstance(part.target, cst.Name):
            place = part.target
        elif (
            isinstance(part, cst.Call) and callee(part).endswith("_") and isinstance(part.func, cst.Attribute)
        ):
            place = part.func.value
        if place is not None and reads(place) & names:
            return False
    return True
