"""A table that is cut to the largest index before it is looked up: it is looked up whole."""

from __future__ import annotations

import libcst as cst

from pt2lint.finding import Fix
from pt2lint.fixes.kinds import words
from pt2lint.fixes.purity import callee, effect
from pt2lint.fixes.rewrite import (
    New,
    Refusal,
    Repaired,
    accepted,
    ancestors,
    enclosing_function,
    fix,
    name_in,
    qualified,
    reads,
    rewrite,
    source,
    statement_of,
    uses,
)
from pt2lint.rule import FunctionCode
from pt2lint.rule.tree import walk

_LOOK_UPS = words("index_select gather take take_along_dim embedding")
_SHAPED = words(
    "cat stack reshape view expand unsqueeze squeeze permute transpose to float contiguous clone type_as"
)
_ASKED = words("shape dtype device ndim")


def fixes(function: FunctionCode, node: cst.CSTNode) -> tuple[Fix, ...]:
    """The repair of the bound that the node is, or is made into."""
    return accepted(whole(function, node))


def whole(function: FunctionCode, node: cst.CSTNode) -> Repaired:
    """`n = ids.max().item() + 1`, `t = table[:, :n]`, then `t[:, ids]`: `t = table`.

    Refused where the number does anything else than to end slices, and where anything else is done with what is cut
    than to look it up at what the number is the largest of.
    """
    owner = enclosing_function(function, node)
    largest = next((one for one in walk(node) if _ids(function, one) is not None), None)
    if owner is None or largest is None:
        return Refusal("no largest index is asked for")
    ids = _ids(function, largest)
    cut: list[cst.Slice] = []
    made: dict[cst.CSTNode, New] = {}
    reason = _only_cuts(function, owner, node, cut, made, 4)
    if reason or not cut:
        return Refusal(reason or "nothing is cut")
    if any(
        use.name == ids and use.binds and function.range(use.node) > function.range(node)
        for use in uses(owner.body)
    ):
        return Refusal(f"`{ids}` is bound anew")
    cut_short = [element for element in map(function.parent, cut) if element is not None]
    for subscript in {id(one): one for one in map(function.parent, cut_short)}.values():
        assert isinstance(subscript, cst.Subscript)
        if not _only_looked_up(function, owner, subscript, str(ids)):
            return Refusal(f"what is cut is not only looked up at `{ids}`")
        slices = [
            one.with_changes(slice=cst.Slice(None, None)) if one in cut_short else one
            for one in subscript.slice
        ]
        if any(source(function, one.slice).strip() != ":" for one in slices):
            made[subscript] = subscript.with_changes(slice=slices)
        else:
            made |= _all_of(function, owner, subscript)
    return fix(
        f"Look up the whole table: what is cut off lies behind the largest of `{ids}`. It assumes that these tell "
        f"the places along what is cut, none from its end.",
        rewrite(function, made),
        "once proven",
        "whole numbers",
    )


def _all_of(function: FunctionCode, owner: cst.FunctionDef, node: cst.Subscript) -> dict[cst.CSTNode, New]:
    """What takes the place of a slice that is left out: of `[x[:, :n] for x in xs]` the list `xs` itself."""
    made = function.parent(node)
    if isinstance(made, cst.ListComp) and made.elt is node and not made.for_in.ifs:
        loop = made.for_in
        same = source(function, loop.target) == source(function, node.value) and loop.inner_for_in is None
        name = loop.iter.value if isinstance(loop.iter, cst.Name) else ""
        bound = [use.node for use in uses(owner.body) if use.binds and use.name == name]
        assign = function.parent(function.parent(bound[0]) or bound[0]) if len(bound) == 1 else None
        if same and isinstance(assign, cst.Assign) and isinstance(assign.value, cst.ListComp | cst.List):
            return {made: loop.iter}
    return {node: node.value}


def _ids(function: FunctionCode, node: cst.CSTNode) -> str | None:
    """The name of what `t.max()` or `torch.max(t)` is the largest of."""
    if not isinstance(node, cst.Call) or callee(node) not in ("max", "amax"):
        return None
    of_torch = qualified(function, node.func) in ("torch.max", "torch.amax")
    if len(node.args) != of_torch or not isinstance(node.func, cst.Attribute):
        return None
    given = node.args[0].value if of_torch else node.func.value
    return given.value if isinstance(given, cst.Name) else None


def _only_cuts(
    function: FunctionCode,
    owner: cst.FunctionDef,
    node: cst.CSTNode,
    cut: list[cst.Slice],
    made: dict[cst.CSTNode, New],
    depth: int,
) -> str | None:
    """Why the number does more than to end slices; else `cut` takes these up, and `made` the statements before."""
    for outer in ancestors(function, node):
        if isinstance(outer, cst.Slice):
            if outer.lower is not None or outer.step is not None:
                return "a slice begins later, or takes steps"
            cut.append(outer)
            return None
        if isinstance(outer, cst.Assign):
            target, statement = name_in(outer), statement_of(function, outer)
            if target is None or effect(outer.value):
                return "the number is kept"
            if not isinstance(statement, cst.SimpleStatementLine) or len(statement.body) != 1 or depth == 0:
                return "the number is kept"
            found = [use for use in uses(owner.body) if use.name == target.value]
            if sum(use.binds for use in found) != 1:
                return f"`{target.value}` is bound more than once"
            made[statement] = None
            reasons = [
                _only_cuts(function, owner, use.node, cut, made, depth - 1) for use in found if not use.binds
            ]
            return next(filter(None, reasons), None)
        called = isinstance(outer, cst.Call) and callee(outer) not in ("item", "int")
        if called or not isinstance(
            outer, cst.BinaryOperation | cst.UnaryOperation | cst.Call | cst.Arg | cst.Attribute
        ):
            return "the number is used for more than to cut"
    return "the number is used for more than to cut"


def _until_bound_anew(
    function: FunctionCode, owner: cst.FunctionDef, name: str, start: tuple[int, int]
) -> list[cst.CSTNode]:
    """Where the name is read after a place, up to the statement that binds it next."""
    mine = [use for use in uses(owner.body) if use.name == name]
    bound = [statement_of(function, use.node) for use in mine if use.binds]
    ends = [function.range(one)[2:] for one in bound if one is not None]
    end = min((one for one in ends if one > start), default=(10**9, 0))
    return [use.node for use in mine if not use.binds and start < function.range(use.node)[:2] < end]


def _only_looked_up(function: FunctionCode, owner: cst.FunctionDef, node: cst.CSTNode, ids: str) -> bool:
    """Whether all that comes of what is cut is looked up at the ids, whatever shape and name it is given before."""
    inner = node
    for outer in ancestors(function, node):
        if isinstance(outer, cst.Attribute) and outer.attr.value in _ASKED:
            return True
        if isinstance(outer, cst.Subscript) and inner is outer.value and ids in reads(*outer.slice):
            return True
        if isinstance(outer, cst.Call):
            if callee(outer) in _LOOK_UPS:
                return ids in reads(outer) and inner in (outer.func, *outer.args[:1])
            if callee(outer) not in _SHAPED:
                return False
        if isinstance(outer, cst.Assign):
            target = name_in(outer)
            if target is None:
                return False
            later = _until_bound_anew(function, owner, target.value, function.range(outer)[2:])
            return bool(later) and all(_only_looked_up(function, owner, one, ids) for one in later)
        if isinstance(outer, cst.BaseSmallStatement | cst.BaseCompoundStatement | cst.CompFor):
            return False
        inner = outer
    return False
