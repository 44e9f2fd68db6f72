"""A number that is read out of a tensor under a name, for branches to test: the tensor keeps the name."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from pt2lint.finding import Edit, Trait
from pt2lint.fixes.condition import read_of
from pt2lint.fixes.kinds import Kind, guess
from pt2lint.fixes.names import uses
from pt2lint.fixes.nodes import ancestors, enclosing_function, name_in, parameters
from pt2lint.fixes.repaired import Refusal, Repaired, fix
from pt2lint.fixes.repairs.cond import to_cond
from pt2lint.fixes.repairs.where import safest_first, to_where
from pt2lint.fixes.rewrite import rewrite
from pt2lint.fixes.text import in_parentheses, source
from pt2lint.rule import FunctionCode
from pt2lint.rule.tree import callee, is_name


def kept_for_tests(
    function: FunctionCode,
    node: cst.Call,
    kind: Kind | None = None,
    takes_tensor: Callable[[cst.CSTNode], bool] = lambda use: False,
) -> Repaired:
    """`n = mask.sum().item()`, then `if n > 3: x = x * 2`: `n = mask.sum()` and `x = torch.where(n > 3, x * 2, x)`.

    So too of `big = t.max().item() > 3`, and with `torch.cond` where sides need it. Refused where the name is bound
    again, or read where neither it is tested nor `takes_tensor` says that a tensor will do, and where one of these
    branches has no repair.
    """
    kind = kind or guess(function)
    tensor = read_of(node)
    owner = enclosing_function(function, node)
    if tensor is None or owner is None:
        return Refusal("no number is read out of a tensor here")
    if not kind(tensor).startswith("tensor"):
        return Refusal("what the number is read out of is not known to be a tensor")
    if callee(node) in ("int", "bool") and kind(tensor) not in ("tensor:int", "tensor:bool"):
        return Refusal(f"`{callee(node)}` changes the value")
    compared = False
    made: cst.CSTNode = node
    for outer in ancestors(function, node):
        if isinstance(outer, cst.Assign) or not isinstance(
            outer, cst.Comparison | cst.ComparisonTarget | cst.BinaryOperation | cst.UnaryOperation
        ):
            break
        if isinstance(outer, cst.UnaryOperation) and isinstance(outer.operator, cst.Not):
            return Refusal("the name holds what Python makes of the number")
        compared = compared or isinstance(outer, cst.Comparison)
        made = outer
    target = name_in(function.parent(made))
    if target is None:
        return Refusal("the number has no name")
    name = target.value
    found = [use for use in uses(owner.body) if use.name == name]
    if sum(use.binds for use in found) != 1 or name in {one.name.value for one in parameters(owner)}:
        return Refusal(f"`{name}` is bound more than once")
    word = "tensor:bool" if compared else kind(tensor)

    def as_tensor(one: cst.CSTNode) -> str:
        return word if is_name(one, name) else kind(one)

    branches: list[cst.If | cst.IfExp] = []
    only_tested = True
    for use in found:
        if use.binds:
            continue
        branch = _branch(function, use.node)
        if branch is None and (compared or not takes_tensor(use.node)):
            return Refusal(f"`{name}` is read for more than to be tested")
        only_tested = only_tested and branch is not None
        if branch is not None and branch not in branches:
            branches.append(branch)
    edits, said, traits = list[Edit](), list[str](), dict[Trait, None]()
    for branch in branches:
        sides = (to_where(function, branch, as_tensor), to_cond(function, branch, as_tensor))
        fits = safest_first(*sides)
        if not fits:
            return sides[0]
        edits += [one for one in fits[0].edits if one not in edits]
        said.append(fits[0].description)
        traits |= dict.fromkeys(fits[0].traits)
    if not branches:
        return Refusal(f"`{name}` is not tested")
    text = source(function, tensor)
    if not only_tested and kind(tensor) not in ("tensor:int", "tensor:bool"):
        text = f"{in_parentheses(text)}.detach()"  # a number has no gradient
    elif made is not node:
        text = in_parentheses(text)
    return fix(
        f"Keep `{name}` as a tensor, and branch on it in the graph. " + " ".join(dict.fromkeys(said)),
        (*rewrite(function, {node: cst.parse_expression(text)}), *edits),
        *traits,
    )


def _branch(function: FunctionCode, node: cst.CSTNode) -> cst.If | cst.IfExp | None:
    """The branch in whose test the name stands, as it is, compared, negated, or beside others."""
    inner = node
    for outer in ancestors(function, node):
        if isinstance(outer, cst.If | cst.IfExp):
            return outer if outer.test is inner else None
        if not isinstance(
            outer,
            cst.Comparison
            | cst.ComparisonTarget
            | cst.BooleanOperation
            | cst.UnaryOperation
            | cst.BinaryOperation,
        ):
            return None
        inner = outer
    return None
