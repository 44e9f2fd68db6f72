"""`torch.compile` before the loop that called it at every turn."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from pt2lint.finding import Edit, Fix
from pt2lint.fixes.repairs.mark_dynamic import free_name, indentation
from pt2lint.rule import FunctionCode


def before_loop(function: FunctionCode, call: cst.Call) -> Iterator[Fix]:
    """`torch.compile(f)(x)` in a loop: compile before it, call in it. `name = torch.compile(f)` moves as it is.

    None where the call stands in no loop of its function, or its arguments are more than names and literals. That the
    loop leaves these names alone is what the caller has seen.
    """
    if not _plain(call.func) or not all(_plain(a.value) and not a.star for a in call.args):
        return
    child: cst.CSTNode = call
    loop = function.parent(call)
    while loop is not None and not (isinstance(loop, cst.For | cst.While) and child is loop.body):
        if isinstance(loop, cst.FunctionDef | cst.Lambda):
            return
        child, loop = loop, function.parent(loop)
    if loop is None or not isinstance(function.parent(loop), cst.IndentedBlock | cst.Module):
        return
    line, column, _, _ = function.range(loop)
    indent = indentation(function, loop)
    if indent is None:
        return
    text = function.module.code_for_node(call).replace(
        "\n", "\n" + indent
    )  # LibCST leaves the block's own out
    parent = function.parent(call)
    if isinstance(parent, cst.Assign):
        statement = function.parent(parent)
        block = function.parent(statement) if isinstance(statement, cst.SimpleStatementLine) else None
        if not isinstance(block, cst.IndentedBlock) or len(block.body) < 2 or len(parent.targets) != 1:
            return
        if (
            indentation(function, parent) is None
            or len(cst.ensure_type(statement, cst.SimpleStatementLine).body) != 1
        ):
            return
        first, _, last, _ = function.range(parent)
        name = function.module.code_for_node(parent.targets[0].target)
        edits = [Edit(function.path, first, 1, last + 1, 1, "")]
    else:
        name = free_name(function, "compiled")
        edits = [Edit(function.path, *function.range(call), name)]
    made = f"{name} = {text}\n" + indent
    edits.append(Edit(function.path, line, column, line, column, made))
    yield Fix("Compile once, before the loop, and call the result in it.", "safe", tuple(edits))


def _plain(value: cst.BaseExpression) -> bool:
    if isinstance(value, cst.Attribute):
        return _plain(value.value)
    if isinstance(value, cst.SimpleString):
        return "\n" not in value.value
    return isinstance(value, cst.Name | cst.Integer | cst.Float)
