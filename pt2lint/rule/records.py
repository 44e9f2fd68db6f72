"""Records that are filled at the end of a function, once all is computed: what a step tells of its batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import libcst as cst

from pt2lint.rule import tree
from pt2lint.rule.syntax import function_around

if TYPE_CHECKING:
    from pt2lint.rule import FunctionCode

FILLS = ("append", "extend", "update", "add")
READS = ("item", "tolist", "numpy")
CASTS = ("float", "int", "bool", "round", "len", "str")


def ends_in_records(function: FunctionCode, node: cst.CSTNode) -> bool:
    """Whether the function does nothing more, from the statement on, than to fill lists and dictionaries that it is
    given, and to return what it has: `records["loss"].append(loss.item())`, then `return loss`."""
    owner = function_around(function, node)
    if owner is None:
        return False
    given = {each.name.value for each in tree.parameters_in(owner.params)[1:]}
    rest = _from_here(function, node, owner)
    if not all(_is_bookkeeping(statement, given) for statement in rest):
        return False  # mostly the statement itself is none: the rest is not gone over then
    return any(_fills(part, given) for statement in rest for part in tree.walk(statement))


def _from_here(function: FunctionCode, node: cst.CSTNode, owner: cst.CSTNode) -> list[cst.CSTNode]:
    """The statement of the node, and all that run after it in the function."""
    found: list[cst.CSTNode] = []
    here = node
    while here is not owner:
        above = function.parent(here)
        if above is None:
            return []
        if isinstance(above, cst.IndentedBlock):
            body: Sequence[cst.CSTNode] = above.body
            at = next(i for i, each in enumerate(body) if each is here)
            found += body[at:] if not found else body[at + 1 :]
            if _returns(found[-1]):
                return found
        here = above
    return found


def _returns(statement: cst.CSTNode) -> bool:
    return isinstance(statement, cst.SimpleStatementLine) and isinstance(statement.body[-1], cst.Return)


def _is_bookkeeping(statement: cst.CSTNode, given: set[str]) -> bool:
    if isinstance(statement, cst.If | cst.Else | cst.For | cst.With):
        below: list[cst.CSTNode] = [*statement.body.body]
        if isinstance(statement, cst.If | cst.For) and statement.orelse is not None:
            below.append(statement.orelse)
        return all(_is_bookkeeping(each, given) for each in below)
    if isinstance(statement, cst.FunctionDef) or _fills(statement, given):
        return True
    if not isinstance(statement, cst.SimpleStatementLine) or len(statement.body) != 1:
        return False
    small = statement.body[0]
    if isinstance(small, cst.Return):
        return small.value is None or _is_at_hand(small.value)
    if isinstance(small, cst.Pass):
        return True
    if not isinstance(small, cst.Assign) or not isinstance(small.targets[0].target, cst.Name):
        return False
    return isinstance(small.value, cst.Call) and _reads(small.value)


def _fills(statement: cst.CSTNode, given: set[str]) -> bool:
    """Whether it puts something into a list or a dictionary that the function is given."""
    if not isinstance(statement, cst.SimpleStatementLine) or len(statement.body) != 1:
        return False
    small = statement.body[0]
    put: cst.CSTNode | None = None
    if isinstance(small, cst.Expr) and isinstance(small.value, cst.Call):
        method = small.value.func
        put = method.value if isinstance(method, cst.Attribute) and method.attr.value in FILLS else None
    elif isinstance(small, cst.AugAssign):
        put = small.target if _is_by_text(small.target) else None
    elif isinstance(small, cst.Assign):
        put = small.targets[0].target if _is_by_text(small.targets[0].target) else None
    while isinstance(put, cst.Subscript):
        put = put.value
    return isinstance(put, cst.Name) and put.value in given


def _is_by_text(target: cst.CSTNode) -> bool:
    """Whether it is what a dictionary holds under a text, and no row of a tensor."""
    while isinstance(target, cst.Subscript):
        key = target.slice[0].slice
        if isinstance(key, cst.Index) and isinstance(key.value, cst.SimpleString | cst.FormattedString):
            return True
        target = target.value
    return False


def _reads(value: cst.Call) -> bool:
    """Whether it is a number or a list that is read out of a tensor: `float(x.mean().item())`."""
    if isinstance(value.func, cst.Attribute):
        return value.func.attr.value in READS
    return isinstance(value.func, cst.Name) and value.func.value in CASTS


def _is_at_hand(value: cst.BaseExpression) -> bool:
    """Whether nothing is computed for it: names, and a tensor of a number (`torch.tensor(0)`)."""
    return not any(
        isinstance(part, cst.BinaryOperation | cst.Subscript | cst.Await | cst.BaseComp)
        or (isinstance(part, cst.Call) and not all(_is_plain(arg.value) for arg in part.args))
        for part in tree.walk(value)
    )


def _is_plain(value: cst.BaseExpression) -> bool:
    return isinstance(value, cst.BaseNumber)
