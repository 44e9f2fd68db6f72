"""Where a tensor can stand instead of the number that is read out of it."""

from __future__ import annotations

import ast

import libcst as cst

from pt2lint.fixes.file import class_around
from pt2lint.fixes.imports import qualified
from pt2lint.fixes.kinds import Kind, is_made_elsewhere, words
from pt2lint.fixes.names import uses
from pt2lint.fixes.nodes import enclosing_function, name_in
from pt2lint.fixes.text import source
from pt2lint.rule import FunctionCode
from pt2lint.rule.tree import callee, is_name

# Functions and methods of torch that take a tensor where they take a number: all operands, or these keywords.
_TAKES_TENSORS = words(
    "clamp clip clamp_min clamp_max add sub mul div true_divide pow maximum minimum where masked_fill "
    "eq ne lt le gt ge fmod remainder lerp floor_divide full_like isclose"
)

RETURNED = "the number is returned"


def bad_use(function: FunctionCode, node: cst.CSTNode, kind: Kind, depth: int) -> str | None:
    """Why a tensor cannot stand where the expression stands; None where it can."""
    if depth == 0:
        return "the number is handed on too often to follow"
    parent = function.parent(node)
    if isinstance(parent, cst.BinaryOperation):
        other = parent.right if parent.left is node else parent.left
        if is_made_elsewhere(function, other):
            return f"`{source(function, other)}` may lie on another device, which a number does not mind"
        if kind(other).startswith("tensor"):
            return None
        if kind(other) in ("int", "float"):
            return bad_use(function, parent, kind, depth - 1)
        return f"`{source(function, other)}` is not known to be a tensor"
    if isinstance(parent, cst.UnaryOperation) and not isinstance(parent.operator, cst.Not):
        return bad_use(function, parent, kind, depth - 1)
    if isinstance(parent, cst.Arg):
        call = function.parent(parent)
        if isinstance(call, cst.Call) and _is_log(function, call, "log"):
            return None
        if isinstance(call, cst.Call) and callee(call) in _TAKES_TENSORS:
            name = qualified(function, call.func)
            method = name is None and isinstance(call.func, cst.Attribute)
            if method and kind(call.func.value).startswith("tensor"):  # type: ignore[attr-defined]
                return None
            if name is not None and name.startswith("torch."):
                return None
        return "the number is given to a function that may not take a tensor"
    if isinstance(parent, cst.Assign) and parent.value is node and _writes_elements(parent, kind):
        return None
    if (bound := name_in(parent)) is not None:
        return _bad_name(function, bound, kind, depth - 1)
    if isinstance(parent, cst.Comparison | cst.ComparisonTarget):
        return "the number is compared"
    if isinstance(parent, cst.Return):
        return RETURNED
    while isinstance(parent, cst.Element | cst.DictElement | cst.Tuple | cst.List | cst.Dict):
        parent = function.parent(parent)
        if isinstance(parent, cst.Return):
            return RETURNED
        if isinstance(parent, cst.Arg) and isinstance(call := function.parent(parent), cst.Call):
            return (
                None
                if _is_log(function, call, "log_dict")
                else "the number is given to other code in a display"
            )
    return "the number is used where a tensor may not stand"


def _writes_elements(node: cst.Assign, kind: Kind) -> bool:
    """Whether all that is assigned to is elements of a tensor, by numbers and slices: `counts[i] = n`."""
    target = node.targets[0].target
    if len(node.targets) != 1 or not isinstance(target, cst.Subscript):
        return False
    parts = [each.slice for each in target.slice]
    whole = all(
        isinstance(part, cst.Slice)
        or (isinstance(part, cst.Index) and not kind(part.value).startswith("tensor"))
        for part in parts
    )
    return whole and kind(target.value).startswith("tensor")


def _is_log(function: FunctionCode, call: cst.Call, method: str) -> bool:
    """Whether a LightningModule logs what it is given, numbers and tensors alike: `self.log("loss", loss)`."""
    if not (isinstance(call.func, cst.Attribute) and call.func.attr.value == method):
        return False
    around = class_around(function, function.range(call)[0])
    if not (is_name(call.func.value, "self")) or around is None:
        return False
    return any(ast.unparse(base).rpartition(".")[2] == "LightningModule" for base in around.bases)


def _bad_name(function: FunctionCode, target: cst.Name, kind: Kind, depth: int) -> str | None:
    owner = enclosing_function(function, target)
    if owner is None:
        return "the number is kept outside the function"
    found = [use for use in uses(owner.body) if use.name == target.value]
    if sum(use.binds for use in found) != 1:
        return f"`{target.value}` is bound more than once"
    if not any(not use.binds for use in found):
        return f"`{target.value}` is not used"
    reasons = [bad_use(function, use.node, kind, depth) for use in found if not use.binds]
    bad = sorted(filter(None, reasons), key=lambda one: one.endswith(RETURNED))
    return f"`{target.value}`: {bad[0]}" if bad else None
