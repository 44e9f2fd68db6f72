"""A test of a tensor that may be None, and that is there to ask whether it is: `is not None`."""

from __future__ import annotations

import ast

import libcst as cst

from pt2lint.fixes.file import class_around
from pt2lint.fixes.nodes import enclosing_function
from pt2lint.fixes.repaired import Refusal, Repaired, fix
from pt2lint.fixes.rewrite import rewrite
from pt2lint.fixes.text import source
from pt2lint.rule import FunctionCode
from pt2lint.rule.tree import parameters_in, says_none


def asked_for_none(function: FunctionCode, node: cst.CSTNode) -> Repaired:
    """`if self.bias:` as `if self.bias is not None:`, where the class may set it to None, or it is a parameter that is
    None by default; `if not self.bias:` as `if self.bias is None:`.

    Refused where the function asks for None besides: what is tested then is the value.
    """
    place = node.expression if _is_not(node) else node  # type: ignore[attr-defined]
    if (refused := _is_no_question(function, place)) is not None:
        return refused
    text = source(function, place)
    outer = function.parent(place)
    negated = _is_not(outer)
    asked = f"{text} is None" if negated else f"{text} is not None"
    return fix(
        f"Ask whether there is one: `{asked}`. It assumes that the test is not about the value: a tensor that is zero "
        "then counts as one that is there.",
        rewrite(function, {outer if negated and outer is not None else place: cst.parse_expression(asked)}),
    )


def given_or_default(function: FunctionCode, node: cst.CSTNode) -> Repaired:
    """`n = n or x.shape[0]` as `n = n if n is not None else x.shape[0]`, where `n` is None by default.

    Refused as above.
    """
    whole = function.parent(node)
    if (
        not isinstance(whole, cst.BooleanOperation)
        or not isinstance(whole.operator, cst.Or)
        or whole.left is not node
        or isinstance(function.parent(whole), cst.BooleanOperation | cst.UnaryOperation)
    ):
        return Refusal("not what a default follows by `or`")
    if not isinstance(node, cst.Name):
        return Refusal("what is tested is no name")
    if (refused := _is_no_question(function, node)) is not None:
        return refused
    text = node.value
    chosen = f"{text} if {text} is not None else {source(function, whole.right)}"
    if whole.lpar or not isinstance(
        function.parent(whole), cst.Assign | cst.AnnAssign | cst.Arg | cst.Return
    ):
        chosen = f"({chosen})"
    return fix(
        f"Take the default where there is none: `{text} if {text} is not None else ...`. It assumes that the test is "
        "not about the value: a tensor that is zero then counts as one that is there.",
        rewrite(function, {whole: cst.parse_expression(chosen)}),
    )


def _is_no_question(function: FunctionCode, place: cst.CSTNode) -> Refusal | None:
    """Why a test of it may be no question for None."""
    if not isinstance(place, cst.Name | cst.Attribute) or not _may_be_none(function, place):
        return Refusal("what is tested is not known to be a tensor or None")
    text = source(function, place)
    if f"{text} is None" in function.text or f"{text} is not None" in function.text:
        return Refusal(f"whether `{text}` is None is asked elsewhere")
    return None


def _is_not(node: cst.CSTNode | None) -> bool:
    return isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Not)


def _may_be_none(function: FunctionCode, place: cst.Name | cst.Attribute) -> bool:
    if isinstance(place, cst.Name):
        owner = enclosing_function(function, place)
        defaults = {p.name.value: p.default for p in parameters_in(owner.params)} if owner else {}
        default = defaults.get(place.value)
        return says_none(default)
    around = class_around(function, function.range(place)[0])
    if around is None or source(function, place.value) != "self":
        return False
    return any(
        isinstance(one, ast.Assign)
        and any(ast.unparse(target) == f"self.{place.attr.value}" for target in one.targets)
        and any(_is_none(value) for value in _arms(one.value))
        for one in ast.walk(around)
    )


def _arms(value: ast.expr) -> list[ast.expr]:
    """What an assignment may give: the value, or either of a conditional expression."""
    return [value.body, value.orelse] if isinstance(value, ast.IfExp) else [value]


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None
