"""A window whose start is a number in a tensor: its places are computed, and the window selected by them."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from pt2lint.finding import Edit, Fix, Trait
from pt2lint.fixes.condition import definition, read_of
from pt2lint.fixes.imports import torch_name
from pt2lint.fixes.kinds import Kind, guess
from pt2lint.fixes.names import uses
from pt2lint.fixes.nodes import ancestors, assigned, enclosing_function, name_in, statement_of
from pt2lint.fixes.purity import effect
from pt2lint.fixes.repaired import Refused, Repaired, accepted, fix, refusing
from pt2lint.fixes.rewrite import New, rewrite
from pt2lint.fixes.text import source
from pt2lint.rule import FunctionCode
from pt2lint.rule.tree import is_name, walk


def fixes(function: FunctionCode, node: cst.CSTNode) -> tuple[Fix, ...]:
    """The repair of the slice that the node bounds."""
    for outer in ancestors(function, node):
        if isinstance(outer, cst.Subscript):
            return accepted(at_tensor(function, outer))
        if isinstance(outer, cst.BaseStatement | cst.Call):
            return ()
    return ()


@refusing
def at_tensor(function: FunctionCode, node: cst.Subscript) -> Repaired:
    """`x[:, p : p + n]` as `x[:, p + torch.arange(n, device=p.device)]`, read or assigned to.

    `p` is a whole number in a tensor, `n` one of Python; the end may have a name of its own. Refused where what is
    indexed is not known to be a tensor, where more than whole slices and whole numbers of Python stand beside it, and
    in an augmented assignment. Unsafe: the window must lie within, and what is read is a copy, not a view.
    """
    kind = guess(function)
    window, low, length = _window(function, node, kind)
    if kind(low) not in ("tensor", "tensor:int") or effect(low):
        raise Refused("the start is not known to be a number in a tensor")
    places, imports = _places(function, low, length)
    made: dict[cst.CSTNode, New] = {window: cst.Index(cst.parse_expression(places))}
    owner = enclosing_function(function, node)
    if isinstance(window.upper, cst.Name) and owner is not None:
        named = [use.node for use in uses(owner.body) if use.name == window.upper.value]
        if len(named) == 2:  # bound, and read here: the end is told by nothing any more
            made[_line_of(function, named[0])] = None
    traits = _traits(function, [node])
    return fix(_says(source(function, low), traits), (*imports, *rewrite(function, made)), *traits)


def _line_of(function: FunctionCode, name: cst.CSTNode) -> cst.CSTNode:
    line = statement_of(function, name)
    if assigned(line) is None or line.leading_lines or line.trailing_whitespace.comment:  # type: ignore[union-attr]
        raise Refused("more than its value is said of the end")
    return line  # type: ignore[return-value]


@refusing
def kept_as_start(function: FunctionCode, node: cst.Call, kind: Kind) -> Repaired:
    """`p = int(at)`, `queue[:, p : p + n] = keys`, `p = (p + n) % size`, `at[0] = p`, all on the tensor.

    Refused where the name is used for more than to start windows, to be counted on in whole numbers and to be written
    back at the end, and where the object's methods are called in between: the name is the tensor itself, not a copy.
    Unsafe as `at_tensor`.
    """
    at, name, owner = read_of(node), name_in(function.parent(node)), enclosing_function(function, node)
    if at is None or name is None or owner is None:
        raise Refused("no number that is read out of a tensor has a name")
    if kind(at) != "tensor:int" or not isinstance(_base(at), cst.Name | cst.Attribute):
        raise Refused("what the number is read out of is not known to hold whole numbers under a name")
    first, *rest = (use for use in uses(owner.body) if use.name == name.value)
    if first.node is not name:
        raise Refused(f"`{name.value}` is used before")
    made: dict[cst.CSTNode, New] = {node: at}
    imports: tuple[Edit, ...] = ()
    windows: list[cst.Subscript] = []
    written: cst.CSTNode | None = None
    for use in rest:
        if written is not None:
            raise Refused(f"`{name.value}` is used after it was written back")
        subscript = _bounded_by(function, use.node)
        if subscript is not None:
            window, low, length = _window(function, subscript, kind)
            if not is_name(low, name.value):
                raise Refused("a bound is computed of the number in another way")
            places, imports = _places(function, low, length)
            made[window] = cst.Index(cst.parse_expression(places))
            windows.append(subscript)
            continue
        target = _counted_into(function, use.node, kind)
        if isinstance(target, cst.Subscript) and _base(target).deep_equals(_base(at)):
            written = target
        elif not is_name(target, name.value):
            raise Refused(f"`{name.value}` is used for more than a window and its next place")
    if len(made) == 1:
        raise Refused("no window starts there")
    if _may_change(function, owner, node, _base(at), written):
        raise Refused("the tensor may be changed before the number is used")
    traits = _traits(function, windows)
    return fix(_says(name.value, traits), (*imports, *rewrite(function, made)), *traits)


def _counted_into(function: FunctionCode, node: cst.CSTNode, kind: Kind) -> cst.BaseExpression:
    """What is bound to the number, or to what whole numbers make of it."""
    for outer in ancestors(function, node):
        if isinstance(outer, cst.AssignTarget):
            return outer.target
        if isinstance(outer, cst.Assign) and len(outer.targets) == 1:
            return outer.targets[0].target
        if not isinstance(outer, cst.BinaryOperation) or not isinstance(
            outer.operator, cst.Add | cst.Subtract | cst.Multiply | cst.Modulo
        ):
            break
        if any(kind(side) in ("float", "str") for side in (outer.left, outer.right)):
            break
    raise Refused("the number is used where a tensor may not stand")


def _may_change(
    function: FunctionCode,
    owner: cst.FunctionDef,
    node: cst.CSTNode,
    tensor: cst.BaseExpression,
    written: cst.CSTNode | None,
) -> bool:
    """Whether the function names the tensor again below the node, or calls a method of the object that has it."""
    for part in walk(owner.body):
        if function.range(part) <= function.range(node) or part is tensor:
            continue
        if part.deep_equals(tensor) and (written is None or part is not _base(written)):  # type: ignore[arg-type]
            return True
        if (
            isinstance(part, cst.Call)
            and isinstance(part.func, cst.Attribute)
            and is_name(part.func.value, "self")
        ):
            return True
    return False


def _traits(function: FunctionCode, windows: Sequence[cst.Subscript]) -> tuple[Trait, ...]:
    """A window that is written into waits for its proof: a slice takes another dtype, as under autocast, and converts
    it, and places refuse it."""
    into = any(isinstance(function.parent(one), cst.AssignTarget) for one in windows)
    return ("once proven", "whole numbers") if into else ("whole numbers",)


def _says(start: str, traits: Sequence[Trait]) -> str:
    dtype = ", and that what is written has its dtype" if "once proven" in traits else ""
    return (
        f"Compute the places of the window in the graph, instead of reading its start out of the tensor. It assumes "
        f"that `{start}` is one whole number and that the window lies within{dtype}."
    )


def _window(
    function: FunctionCode, node: cst.Subscript, kind: Kind
) -> tuple[cst.Slice, cst.BaseExpression, cst.BaseExpression]:
    """The slice `p : p + n` among the parts of the index, `p` and `n`."""
    if isinstance(function.parent(node), cst.AugAssign | cst.Del):
        raise Refused("the window is changed in place")
    if not kind(node.value).startswith("tensor"):
        raise Refused("what is indexed is not known to be a tensor")
    found: list[cst.Slice] = []
    for element in node.slice:
        part = element.slice
        if isinstance(part, cst.Slice):
            if part.lower is not None or part.upper is not None or part.step is not None:
                found.append(part)
        elif not isinstance(part, cst.Index) or part.star:
            raise Refused("another part of the index is not known")
        elif not isinstance(part.value, cst.Ellipsis) and kind(part.value) != "int":
            raise Refused("another part of the index may be a tensor")
    if len(found) != 1:
        raise Refused("not one window is taken")
    low, high, step = found[0].lower, found[0].upper, found[0].step
    if isinstance(high, cst.Name):
        high = definition(function, high)
    if low is None or step is not None or not isinstance(high, cst.BinaryOperation):
        raise Refused("the length of the slice is not known")
    if not isinstance(high.operator, cst.Add):
        raise Refused("the length of the slice is not known")
    sides = [high.left, high.right]
    lengths = [side for side in sides if not side.deep_equals(low)]
    if len(lengths) != 1 or effect(lengths[0]) or kind(lengths[0]) not in ("int", "unknown"):
        raise Refused("the length of the slice is not known to be a number")
    return found[0], low, lengths[0]


def _places(
    function: FunctionCode, start: cst.BaseExpression, length: cst.BaseExpression
) -> tuple[str, tuple[Edit, ...]]:
    """`p + torch.arange(n, device=p.device)`"""
    base = _base(start)
    if not isinstance(base, cst.Name | cst.Attribute):
        raise Refused("the start is computed there")
    arange, imports = torch_name(function, "torch.arange")
    text = f"{source(function, start)} + {arange}({source(function, length)}, device={source(function, base)}.device)"
    return text, imports


def _base(node: cst.BaseExpression) -> cst.BaseExpression:
    """The `x` of `x[0]`."""
    while isinstance(node, cst.Subscript):
        node = node.value
    return node


def _bounded_by(function: FunctionCode, node: cst.CSTNode) -> cst.Subscript | None:
    """The subscript a slice of which the node bounds."""
    sliced = False
    for outer in ancestors(function, node):
        sliced = sliced or isinstance(outer, cst.Slice)
        if isinstance(outer, cst.Subscript):
            return outer if sliced else None
        if not isinstance(outer, cst.BinaryOperation | cst.Slice | cst.SubscriptElement):
            return None
    return None
