"""A counter of a module, kept in a buffer."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from pt2lint.finding import Edit, Fix
from pt2lint.fixes.imports import imported_as
from pt2lint.fixes.kinds import Kind, guess
from pt2lint.fixes.nodes import enclosing_function
from pt2lint.rule import FunctionCode
from pt2lint.rule.tree import walk


def in_buffer(function: FunctionCode, target: cst.Attribute, made: str) -> Iterator[Fix]:
    """`self.step = 0` in `__init__` becomes a buffer, and `self.step += 1` an assignment of the sum.

    `made` are the words of the "change attribute" operation: where `__init__` makes it. None where the function does
    more with it than to count and to compute with tensors: a number of Python may be needed there. The sum is a new
    tensor, since the old one may be needed for gradients.
    """
    torch = imported_as(function, "torch")
    owner = enclosing_function(function, target)
    if not made or torch is None or owner is None or not isinstance(target.value, cst.Name):
        return
    line, column, end_line, end_column, value = map(int, made.split())
    name = target.attr.value
    edits = [
        Edit(
            function.path,
            line,
            column,
            end_line,
            end_column,
            f'{target.value.value}.register_buffer("{name}", {torch}.tensor({value}), persistent=False)',
        )
    ]
    kind = guess(function)
    for node in walk(owner.body):
        if isinstance(node, cst.Attribute) and node.attr.value == name:
            parent = function.parent(node)
            if isinstance(parent, cst.AugAssign) and parent.target is node:
                if not isinstance(parent.operator, cst.AddAssign | cst.SubtractAssign):
                    return
                if not isinstance(parent.value, cst.Integer):
                    return
                sign = "+" if isinstance(parent.operator, cst.AddAssign) else "-"
                me = function.module.code_for_node(node)
                text = f"{me} = {me} {sign} {parent.value.value}"
                edits.append(Edit(function.path, *function.range(parent), text))
            elif isinstance(parent, cst.AssignTarget):
                assignment = function.parent(parent)
                if not isinstance(assignment, cst.Assign) or not _counts(assignment.value, name):
                    return
            elif not _meets_tensor(function, node, kind) and not _in_count(function, node, name):
                return
    yield Fix(
        f"Keep `{name}` in a buffer, whose value Dynamo does not guard on. Assumes that nobody needs a number of "
        "Python, and that it may follow the module to its device, where DistributedDataParallel copies it from the "
        "first rank.",
        "unsafe",
        tuple(edits),
    )


def _counts(value: cst.BaseExpression, name: str) -> bool:
    """`self.step + 1`"""
    return (
        isinstance(value, cst.BinaryOperation)
        and isinstance(value.operator, cst.Add | cst.Subtract)
        and isinstance(value.left, cst.Attribute)
        and value.left.attr.value == name
        and isinstance(value.right, cst.Integer)
    )


def _in_count(function: FunctionCode, node: cst.CSTNode, name: str) -> bool:
    parent = function.parent(node)
    assigned = function.parent(parent) if isinstance(parent, cst.BinaryOperation) else None
    if not isinstance(assigned, cst.Assign) or len(assigned.targets) != 1:
        return False
    target = assigned.targets[0].target
    return isinstance(target, cst.Attribute) and target.attr.value == name and _counts(assigned.value, name)


def _meets_tensor(function: FunctionCode, node: cst.BaseExpression, kind: Kind) -> bool:
    """Whether arithmetic with numbers alone leads from the attribute to arithmetic, or a comparison, with a tensor."""
    here: cst.CSTNode = node
    parent = function.parent(node)
    while isinstance(parent, cst.BinaryOperation):
        other = parent.right if parent.left is here else parent.left
        if kind(other).startswith("tensor"):
            return True
        if not isinstance(other, cst.Integer | cst.Float):
            return False
        here, parent = parent, function.parent(parent)
    if isinstance(parent, cst.ComparisonTarget):
        parent = function.parent(parent)
    if not isinstance(parent, cst.Comparison) or len(parent.comparisons) != 1:
        return False
    return any(kind(side).startswith("tensor") for side in (parent.left, parent.comparisons[0].comparator))
