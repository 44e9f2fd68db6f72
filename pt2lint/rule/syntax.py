"""Questions about LibCST trees that several rules ask."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import libcst as cst

from pt2lint.rule.tree import children, placed, says_none, walk

if TYPE_CHECKING:
    from pt2lint.rule import FunctionCode


def dotted(node: cst.BaseExpression) -> str:
    """A name with its attributes, "torch.ones"; "" for anything else."""
    parts: list[str] = []
    while isinstance(node, cst.Attribute):
        parts.append(node.attr.value)
        node = node.value
    return ".".join([node.value, *reversed(parts)]) if isinstance(node, cst.Name) else ""


def names(node: cst.CSTNode) -> list[cst.Name]:
    """Every name in the node, in the order of the source."""
    found = [node] if isinstance(node, cst.Name) else []
    for child in children(node):
        found += names(child)
    return found


def made(function: FunctionCode, value: cst.BaseExpression) -> cst.BaseExpression:
    """What a name is assigned in the function, but for None, if it is so only once; else the expression itself."""
    if not isinstance(value, cst.Name):
        return value
    assigned: dict[str, list[cst.BaseExpression]] | None = function.memo.get("assigned")
    if assigned is None:
        assigned = function.memo["assigned"] = {}
        for part in walk(function.module):
            if isinstance(part, cst.Assign) and not says_none(part.value):
                for name in {t.target.value for t in part.targets if isinstance(t.target, cst.Name)}:
                    assigned.setdefault(name, []).append(part.value)
    found = assigned.get(value.value, [])
    return found[0] if len(found) == 1 else value


def keeps_graph(call: cst.Call) -> bool:
    """`create_graph=True`, or `create_graph=self.training`: the gradient will be differentiated again."""
    given = next((a.value for a in call.args if a.keyword and a.keyword.value == "create_graph"), None)
    if isinstance(given, cst.Attribute):
        return given.attr.value == "training"
    return isinstance(given, cst.Name) and given.value == "True"


def is_mask(
    value: cst.BaseExpression,
    meaning: Callable[[cst.BaseExpression], cst.BaseExpression],
    compares: Callable[[cst.Comparison], bool],
) -> bool:
    """`a > 0`, `~(a > 0)`, `(a > 0) & b`: what is put together of comparisons, by `meaning` where they have names."""
    if isinstance(value, cst.UnaryOperation):
        inverts = isinstance(value.operator, cst.BitInvert)
        return inverts and is_mask(meaning(value.expression), meaning, compares)
    if isinstance(value, cst.BinaryOperation):
        joins = isinstance(value.operator, cst.BitAnd | cst.BitOr)
        return joins and any(is_mask(meaning(side), meaning, compares) for side in (value.left, value.right))
    return isinstance(value, cst.Comparison) and len(value.comparisons) == 1 and compares(value)


def function_around(function: FunctionCode, node: cst.CSTNode) -> cst.FunctionDef | None:
    """The innermost function that the node stands in, itself where it is one."""
    here: cst.CSTNode | None = node
    while here is not None and not isinstance(here, cst.FunctionDef):
        here = function.parent(here)
    return here


def observes(function: FunctionCode, node: cst.CSTNode) -> bool:
    """Whether the function around the node returns one of its parameters as it came.

    Such a module records (an observer of quantization, a debugging aid): it runs for calibration, and nobody
    compiles it.
    """
    here = function_around(function, node)
    if here is None:
        return False
    returned: list[cst.BaseExpression | None] = []
    bound: set[str] = set()
    _collect(here.body, returned, bound)
    given = {p.name.value for p in placed(here.params)[1:]} - bound
    return bool(returned) and all(isinstance(r, cst.Name) and r.value in given for r in returned)


def _collect(node: cst.CSTNode, returned: list[cst.BaseExpression | None], bound: set[str]) -> None:
    if isinstance(node, cst.FunctionDef | cst.Lambda):
        return
    if isinstance(node, cst.Return):
        returned.append(node.value)
    elif isinstance(node, cst.AssignTarget | cst.AugAssign | cst.NamedExpr | cst.AnnAssign):
        if isinstance(node.target, cst.Name):
            bound.add(node.target.value)
        elif isinstance(node.target, cst.Tuple):
            bound.update(e.value.value for e in node.target.elements if isinstance(e.value, cst.Name))
    for child in children(node):
        _collect(child, returned, bound)
