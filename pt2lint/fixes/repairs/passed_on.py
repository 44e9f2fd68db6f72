"""A list of a tensor's numbers that is only passed on: the tensor is."""

from __future__ import annotations

import builtins

import libcst as cst

from pt2lint.finding import Fix
from pt2lint.fixes.condition import listed
from pt2lint.fixes.imports import qualified
from pt2lint.fixes.kinds import Kind, guess
from pt2lint.fixes.names import uses
from pt2lint.fixes.nodes import enclosing_function, name_in
from pt2lint.fixes.repaired import Refusal, Repaired, accepted, fix
from pt2lint.fixes.rewrite import rewrite
from pt2lint.fixes.text import source
from pt2lint.rule import FunctionCode
from pt2lint.rule.syntax import dotted


def fixes(function: FunctionCode, node: cst.CSTNode) -> tuple[Fix, ...]:
    """The one repair, where the node is `t.tolist()`."""
    return accepted(as_tensor(function, node))


def as_tensor(function: FunctionCode, node: cst.CSTNode) -> Repaired:
    """`self.layer(x, t.tolist())` as `self.layer(x, t)`, also where the list has a name.

    Refused where anything else is done with the list than to pass it, beside a tensor, to the project's own code, which
    may well make it a tensor again.
    """
    kind = guess(function)
    tensor = listed(node)
    if tensor is None or not kind(tensor).startswith("tensor"):
        return Refusal("what is listed is not known to be a tensor")
    parent = function.parent(node)
    places: list[cst.CSTNode] = [node]
    if isinstance(parent, cst.Assign):
        owner, target = enclosing_function(function, node), name_in(parent)
        if owner is None or target is None:
            return Refusal("the list is kept")
        found = [use for use in uses(owner.body) if use.name == target.value]
        places = [use.node for use in found if not use.binds]
        if len(places) + 1 != len(found):
            return Refusal(f"`{target.value}` is bound more than once")
    called = [_called(function, one, kind) for one in places]
    if not called or None in called:
        return Refusal("the list is not only passed on")
    return fix(
        f"Pass the tensor on instead of a list of its numbers. It assumes that {_said(called)} takes one.",
        rewrite(function, {node: tensor.with_changes(lpar=(), rpar=())}),
        "once proven",
        "whole numbers",
    )


def _called(function: FunctionCode, node: cst.CSTNode, kind: Kind) -> str | None:
    """What the node is an argument of beside a tensor, as the code spells it: code of the project."""
    arg = function.parent(node)
    call = function.parent(arg) if isinstance(arg, cst.Arg) else None
    if not isinstance(call, cst.Call) or arg.star:  # type: ignore[union-attr]
        return None
    if not any(kind(one.value).startswith("tensor") for one in call.args if one is not arg):
        return None
    name = qualified(function, call.func)
    if name is not None and name.startswith(("torch.", "numpy.")):
        return None
    if isinstance(call.func, cst.Name):
        return None if hasattr(builtins, call.func.value) else call.func.value
    # Of another object nobody knows whether it is a tensor.
    head = dotted(call.func).partition(".")[0]
    own = head in ("self", "cls") and not kind(call.func).startswith("tensor")
    return source(function, call.func) if own else None


def _said(called: list[str | None]) -> str:
    return " and ".join(f"`{one}`" for one in dict.fromkeys(called))
