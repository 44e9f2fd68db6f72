"""Rows that are repeated one by one and put together: all at once, in a size that something else has."""

from __future__ import annotations

import libcst as cst

from pt2lint.finding import Fix
from pt2lint.fixes.kinds import Kind, guess, words
from pt2lint.fixes.purity import callee, effect
from pt2lint.fixes.rewrite import (
    Refusal,
    Repaired,
    accepted,
    ancestors,
    bound_before,
    enclosing_function,
    fix,
    in_parentheses,
    name_in,
    qualified,
    rewrite,
    source,
    statement_of,
    torch_name,
    uses,
)
from pt2lint.rule import FunctionCode

_KEEPS_SIZE = words("to float double half bfloat16 long int type contiguous clone detach cuda cpu")


def fixes(function: FunctionCode, node: cst.CSTNode) -> tuple[Fix, ...]:
    """The repair of the comprehension that the node is in."""
    return accepted(at_once(function, node))


def at_once(function: FunctionCode, node: cst.CSTNode) -> Repaired:
    """`t = torch.cat([x[i].repeat(n[i]) for i in range(len(n))])` as `t = x[torch.repeat_interleave(n,
    output_size=y.shape[0])]`, where what follows computes with `t` and `y` element by element: they have one size.

    So too of a column, `x[i, 1]`, and of rows, `x[i].repeat(n[i], 1)`. There may be more counts than rows, of zero.
    """
    kind = guess(function)
    made = next((one for one in (node, *ancestors(function, node)) if isinstance(one, cst.ListComp)), None)
    arg = function.parent(made) if made is not None else None
    cat = function.parent(arg) if isinstance(arg, cst.Arg) else None
    if made is None or not isinstance(cat, cst.Call) or qualified(function, cat.func) != "torch.cat":
        return Refusal("nothing is put together")
    if any(source(function, one.value) != "0" for one in cat.args[1:]):
        return Refusal("not put together along the first dimension")
    loop, repeat = made.for_in, made.elt
    i = loop.target.value if isinstance(loop.target, cst.Name) else ""
    if loop.ifs or loop.inner_for_in or not isinstance(repeat, cst.Call) or callee(repeat) != "repeat":
        return Refusal("not each is repeated")
    counts, *ones = [one.value for one in repeat.args]
    row = repeat.func.value if isinstance(repeat.func, cst.Attribute) else None
    if any(source(function, one) != "1" for one in ones):
        return Refusal("it is repeated along other dimensions too")
    given = _all_of(function, counts, i)
    if given is None or (isinstance(counts, cst.Subscript) and len(counts.slice) != 1):
        return Refusal("not one row and one count belong to each other")
    sizes = [
        size for x in _bases(function, row, counts) for size in (f"len({x})", f"{x}.shape[0]", f"{x}.size(0)")
    ]
    if source(function, loop.iter) not in [f"range({size})" for size in sizes]:
        return Refusal("not all rows are repeated")
    like = _like(function, cat, kind)
    if like is None:
        return Refusal("how many come of it nothing else tells")
    name, imports = torch_name(function, "torch.repeat_interleave")
    text = _all_of(function, row, i, f"{name}({given}, output_size={like}.shape[0])")
    if text is None:
        return Refusal("not one row and one count belong to each other")
    return fix(
        f"Repeat all rows at once. It assumes that as many come of it as `{like}` has, with which it meets element by "
        f"element, and that `{given}` is a tensor beside what is repeated.",
        (*imports, *rewrite(function, {cat: cst.parse_expression(text)})),
        "once proven",
        "whole numbers",
    )


def _all_of(function: FunctionCode, node: cst.BaseExpression | None, i: str, index: str = ":") -> str | None:
    """What the element `x[i]` is an element of: `x`; of `x[i, 1]`, `x[:, 1]`; or these rows at another index."""
    if not isinstance(node, cst.Subscript) or effect(node) or any(use.name == i for use in uses(node.value)):
        return None
    first, *rest = [source(function, one.slice) for one in node.slice]
    if first != i or any(use.name == i for one in node.slice[1:] for use in uses(one)):
        return None
    base = in_parentheses(source(function, node.value))
    return base if index == ":" and not rest else f"{base}[{', '.join([index, *rest])}]"


def _bases(function: FunctionCode, *nodes: cst.BaseExpression | None) -> list[str]:
    return [source(function, one.value) for one in nodes if isinstance(one, cst.Subscript)]


def _like(function: FunctionCode, made: cst.BaseExpression, kind: Kind) -> str | None:
    """A name that the code computes with what is made element by element, and that has a value before."""
    here: cst.CSTNode = made
    while isinstance(method := function.parent(here), cst.Attribute) and method.attr.value in _KEEPS_SIZE:
        here = function.parent(method) or method
    target, statement = name_in(function.parent(here)), statement_of(function, here)
    owner = enclosing_function(function, made)
    if target is None or statement is None or owner is None:
        return None
    found = [use for use in uses(owner.body) if use.name == target.value]
    if sum(use.binds for use in found) != 1:
        return None
    for use in found:
        parent = function.parent(use.node)
        if use.binds or not isinstance(parent, cst.BinaryOperation):
            continue
        other = parent.right if parent.left is use.node else parent.left
        name = _elementwise(other, kind)
        if name is not None and name != target.value and bound_before(function, name, statement):
            return name
    return None


def _elementwise(node: cst.BaseExpression, kind: Kind) -> str | None:
    """The name that the expression is made of element by element, with plain numbers alone."""
    if isinstance(node, cst.Name):
        return node.value if kind(node) == "unknown" or kind(node).startswith("tensor") else None
    if isinstance(node, cst.UnaryOperation):
        return _elementwise(node.expression, kind)
    if isinstance(node, cst.BinaryOperation):
        sides = (node.left, node.right)
        numbers = [isinstance(one, cst.Integer | cst.Float) for one in sides]
        return _elementwise(sides[numbers.index(False)], kind) if sum(numbers) == 1 else None
    return None
