"""Which optimizers take their step in traced code of one class, or of the functions of one file."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from pt2lint.libraries.call import Call
from pt2lint.op import Op
from pt2lint.said import told_line
from pt2lint.static.values import Instance, Value

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context


class Steps:
    """`steps` holds, by file and class, the optimizer's expression and the line of each step, in order."""

    def __init__(self, at: Context) -> None:
        self.at = at
        self.steps: dict[tuple[str, Any], dict[str, int]] = {}
        self.at_place: dict[tuple[str, int, int], tuple[dict[str, int], str]] = {}

    def external(self, call: Call, result: Value) -> None:
        """An optimizer takes its step in traced code."""
        node, frame = call.node, call.frame
        if not frame.region or self.at.notebook.quiet or not isinstance(call.receiver, Instance):
            return
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            return
        kind = call.receiver.external
        if node.func.attr != "step" or not self.at.models.plays(kind, "trains"):
            return
        if self.at.models.plays(kind, "schedules"):
            return
        steps = self.steps.setdefault((frame.module.path, frame.cls), {})
        owner = ast.unparse(node.func.value)
        steps.setdefault(owner, node.lineno)
        column = frame.module.column(node.lineno, node.col_offset)
        self.at_place[frame.module.path, node.lineno, column] = (steps, owner)

    def finished(self, op: Op, path: str) -> Op:
        """The step, with another one's optimizer and line that is taken before it."""
        steps, owner = self.at_place.get((path, op.line, op.column), ({}, ""))
        before = [(line, other) for other, line in steps.items() if line < op.line and other != owner]
        if not before or not op.name.endswith(".step"):
            return op
        line, other = min(before)
        return op._replace(details={**op.details, "after": other, "after at": told_line(line)})
