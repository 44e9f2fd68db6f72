"""A branch on a tensor's value that assigns attributes, as running statistics do, or elements of a tensor:
`torch.where` for each."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, TypeAlias

import libcst as cst

from pt2lint.fixes.arms import leaves, ordered, refuse_itself
from pt2lint.fixes.condition import Condition, read_condition
from pt2lint.fixes.imports import torch_name
from pt2lint.fixes.kinds import Kind, guess, may_be_none
from pt2lint.fixes.names import bound_before, fresh, reads, surely_binds
from pt2lint.fixes.purity import costly, draws, effect, singular
from pt2lint.fixes.repaired import Refusal, Refused, Repaired, fix, refusing
from pt2lint.fixes.rewrite import New, rewrite
from pt2lint.fixes.text import source
from pt2lint.rule import FunctionCode
from pt2lint.rule.tree import is_name, walk

Pair: TypeAlias = "tuple[str, cst.BaseExpression]"


@refusing
def select_attributes(function: FunctionCode, node: cst.CSTNode, kind: Kind | None = None) -> Repaired:
    """`if first.any(): self.mean = x.mean()`, `else: self.mean = ...`: both are computed, and one is kept.

    The other side may hold plain `if`s; it is run as it stands, and what the first side would have assigned is
    selected afterwards. Refused where a side does anything but to assign the same attributes of `self`, names and
    elements of tensors, or where that is not cheap and free of effects.
    """
    kind = kind or guess(function)
    if not isinstance(node, cst.If) or isinstance(function.parent(node), cst.If):
        return Refusal("no `if` of its own")
    condition = read_condition(function, node.test, kind)
    if condition.static:
        return Refusal("the test is part plain Python")
    asked = {source(function, one) for one in walk(node.test) if isinstance(one, cst.Subscript)}
    orelse: list[Any] = []
    if isinstance(node.orelse, cst.If):
        orelse = [node.orelse]
    elif isinstance(node.orelse, cst.Else):
        orelse = list(node.orelse.body.body)
    pairs = [_pair(one, function, kind, asked) for one in node.body.body]
    _check_other(function, orelse, {target for target, _ in pairs}, kind, asked)
    targets = [target for target, _ in pairs]
    if all(target.isidentifier() for target in targets) or len(set(targets)) < len(targets):
        return Refusal("no attribute or element is assigned, or one twice")
    if any(reads(node.test) & _index_of(target) for target in targets):
        return Refusal("the test may keep an element off that is not there")
    if any(_asks_for(value, targets[:at]) for at, (_, value) in enumerate(pairs)):
        return Refusal("a value is made of what was assigned before it")
    otherwise = set().union(*map(surely_binds, orelse))
    for name in targets:
        if name.isidentifier() and name not in otherwise:
            if not bound_before(function, name, node):
                return Refusal(f"`{name}` may be unbound on one side")
            if may_be_none(function, name, node):
                return Refusal(f"`{name}` may be None on one side")
    where, imports = torch_name(function, "torch.where")
    names = ", ".join(f"`{target}`" for target in targets)
    description = (
        f"Compute both sides, and select {names} with `torch.where` instead of branching. It assumes that each keeps "
        "its shape and dtype."
    )
    taken = fresh(function, "taken")
    single = _one_by_one(function, condition, where, taken, pairs, orelse, kind, asked)
    if single:
        single[0] = single[0].with_changes(leading_lines=node.leading_lines)
        edits = (*dict.fromkeys((*condition.imports, *imports)), *rewrite(function, {node: single}))
        return fix(description, edits, "branch")
    if any("[" in target for target in targets):
        return Refusal("an element that the other side may not assign")
    new = {target: fresh(function, f"new_{target.rpartition('.')[2]}") for target in targets}
    lines = [
        f"{taken} = {condition.text}",
        *(f"{new[target]} = {source(function, value)}" for target, value in pairs),
    ]
    last = []
    for target in targets:
        ones = (target, new[target]) if condition.negated else (new[target], target)
        last.append(f"{target} = {where}({taken}, {ones[0]}, {ones[1]})")
    made = [cst.parse_statement(one) for one in lines]
    made[0] = made[0].with_changes(leading_lines=node.leading_lines)
    changes: dict[cst.CSTNode, New] = {node: [*made, *orelse, *(cst.parse_statement(one) for one in last)]}
    edits = (*dict.fromkeys((*condition.imports, *imports)), *rewrite(function, changes))
    return fix(description, edits, "branch")


def _one_by_one(
    function: FunctionCode,
    condition: Condition,
    where: str,
    taken: str,
    pairs: Sequence[Pair],
    orelse: Sequence[cst.CSTNode],
    kind: Kind,
    asked: Collection[str],
) -> list[Any]:
    """A statement for each target, which selects between its two values; none where the other side branches, or a
    value is made of another target."""
    if any(isinstance(one, cst.If) for one in orelse):
        return []
    other = dict(_pair(one, function, kind, asked) for one in orelse)
    if len(other) < len(orelse):
        return []
    several = len(pairs) > 1
    lines = [f"{taken} = {condition.text}"] if several else []
    for target, value in pairs:
        others = [one for one, _ in pairs if one != target]
        if any(_asks_for(one, others) for one in (value, other.get(target, value))):
            return []
        sides = [
            source(function, one.with_changes(lpar=(), rpar=())) if one is not None else target
            for one in (value, other.get(target))
        ]
        first, second = ordered(condition, *sides)
        refuse_itself(condition.text, first, second)
        lines.append(f"{target} = {where}({taken if several else condition.text}, {first}, {second})")
    return [cst.parse_statement(one) for one in lines]


def _pair(statement: cst.CSTNode, function: FunctionCode, kind: Kind, asked: Collection[str]) -> Pair:
    """The target and the value of an assignment that may be made whether or not it is asked for. `asked` are the
    elements that the test has taken already: taking them again raises nothing."""
    if not isinstance(statement, cst.SimpleStatementLine) or len(statement.body) != 1:
        raise Refused("a side does more than to assign")
    only = statement.body[0]
    if not isinstance(only, cst.Assign) or len(only.targets) != 1:
        raise Refused("a side does more than to assign")
    target = only.targets[0].target
    own = isinstance(target, cst.Attribute) and is_name(target.value, "self")
    element = (
        isinstance(target, cst.Subscript)
        and isinstance(target.value, cst.Name)
        and kind(target.value).startswith("tensor")
        and not any(effect(one) for one in target.slice)
    )
    bounds = [
        bound
        for one in (target.slice if isinstance(target, cst.Subscript) else ())
        if isinstance(one.slice, cst.Slice)
        for bound in (one.slice.lower, one.slice.upper)
        if bound is not None
    ]
    masks = [
        one.slice.value
        for one in (target.slice if isinstance(target, cst.Subscript) else ())
        if isinstance(one.slice, cst.Index)
    ]
    if any(kind(bound).startswith("tensor") for bound in bounds) or any(
        kind(mask) in ("tensor", "tensor:bool") for mask in masks
    ):
        raise Refused("how many elements are assigned depends on values in a tensor")
    reason = next((no for one in (*bounds, *masks) if (no := costly(function, one, kind, asked))), None)
    if reason:
        raise Refused(reason)
    if not own and not element and not isinstance(target, cst.Name):
        raise Refused("a side assigns an element of what is no tensor, or an attribute of something else")
    reason = effect(only.value) or costly(function, only.value, kind, asked)
    if reason or singular(only.value, products=False) or draws(function, only.value):
        raise Refused(reason or "a side draws random numbers, or its gradient may be infinite")
    plain = ("none", "str", "bool", "float") if element else ("none", "str", "bool", "int", "float")
    if kind(only.value) in plain:
        raise Refused("a side assigns what is no tensor")
    return source(function, target), only.value


def _check_other(
    function: FunctionCode,
    statements: Sequence[cst.CSTNode],
    targets: set[str],
    kind: Kind,
    asked: Collection[str],
) -> None:
    for one in statements:
        if isinstance(one, cst.If):
            asks = kind(one.test).startswith("tensor")
            if leaves(one) or asks or any(op.name == "test tensor" for op in function.ops_at(one.test)):
                raise Refused("the other side leaves, or branches on a tensor again")
            if effect(one.test):
                raise Refused("the other side's test has an effect")
            _check_other(function, list(one.body.body), targets, kind, asked)
            if isinstance(one.orelse, cst.If):
                _check_other(function, [one.orelse], targets, kind, asked)
            elif isinstance(one.orelse, cst.Else):
                _check_other(function, list(one.orelse.body.body), targets, kind, asked)
        elif _pair(one, function, kind, asked)[0] not in targets:
            raise Refused("the sides assign different things")


def _index_of(target: str) -> set[str]:
    """The names that say which element is assigned."""
    node = cst.parse_expression(target)
    return reads(*node.slice) if isinstance(node, cst.Subscript) else set()


def _asks_for(value: cst.BaseExpression, targets: Sequence[str]) -> bool:
    attributes = {one for one in targets if "." in one}
    text = cst.Module([]).code_for_node(value)
    names = {one.partition("[")[0] for one in targets}
    return bool(reads(value) & names) or any(one in text for one in attributes)
