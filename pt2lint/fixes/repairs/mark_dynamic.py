"""`torch._dynamo.mark_dynamic` before the call of a compiled function."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from pt2lint.finding import Edit, Fix
from pt2lint.fixes.imports import imported_as
from pt2lint.rule import FunctionCode
from pt2lint.rule.syntax import names
from pt2lint.rule.tree import walk


def marked_before(
    function: FunctionCode, call: cst.Call, value: cst.BaseExpression, dim: int | None
) -> Iterator[Fix]:
    """Mark the dimension of the argument in the line before the call; one that is no name gets one.

    None where the call's line is not a simple statement right before which a line can stand, or torch is not imported.
    """
    torch = imported_as(function, "torch")
    line = _line(function, call)
    if torch is None or line is None or dim is None:
        return
    first, column, _, _ = function.range(line.body[0])
    indent = indentation(function, line.body[0]) or ""
    edits: list[Edit] = []
    before = ""
    if isinstance(value, cst.Name):
        name = value.value
    else:
        begin, _, end, _ = function.range(value)
        if len(line.body) != 1 or begin != end or not isinstance(value, cst.Subscript | cst.Call):
            return
        name = free_name(function, "part")
        before = f"{name} = {function.module.code_for_node(value)}\n" + indent
        edits.append(Edit(function.path, *function.range(value), name))
    mark = f"{torch}._dynamo.mark_dynamic({name}, {dim})"
    text = f"{before}{mark}\n" + indent
    edits.append(Edit(function.path, first, column, first, column, text))
    yield Fix(
        f"Say before the call that dimension {dim} of `{name}` changes: `{mark}`. Assumes that the compiled code does "
        "not make that size constant, which then raises ConstraintViolationError.",
        "unsafe",
        tuple(edits),
    )


def _line(function: FunctionCode, call: cst.Call) -> cst.SimpleStatementLine | None:
    """The statement that runs the call each time, on a line of its own."""
    here = function.parent(call)
    while here is not None and not isinstance(here, cst.SimpleStatementLine):
        if isinstance(
            here, cst.Lambda | cst.BaseCompoundStatement | cst.CompFor | cst.IfExp | cst.BooleanOperation
        ):
            return None
        here = function.parent(here)
    if here is None or not isinstance(function.parent(here), cst.IndentedBlock | cst.Module):
        return None
    return here if indentation(function, here.body[0]) is not None else None


def indentation(function: FunctionCode, node: cst.CSTNode) -> str | None:
    """The white space before the node, where nothing else is before it in its line."""
    line, column, _, _ = function.range(node)
    text = function.text.split("\n")[line - function.first_line][: column - 1]
    return text if not text.strip() else None


def free_name(function: FunctionCode, name: str) -> str:
    """The name, with a number where it is taken in the function."""
    taken = {n.value for part in walk(function.module) for n in names(part)}
    number = 2
    free = name
    while free in taken:
        free, number = f"{name}{number}", number + 1
    return free
