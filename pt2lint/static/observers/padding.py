"""Whether what puts samples together to batches makes all of one as long as its longest: another length each time."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pt2lint.libraries.call import Call
from pt2lint.said import told_place
from pt2lint.static.interpreter.frame import Frame
from pt2lint.static.source.nodes import FunctionNode, assigned_once, is_name, unit_of, walk
from pt2lint.static.values import Ext, Func, Instance, Partial, Value

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context

COLLATES = "collate_fn", 6  # of a loader, and its place
PADS = "pads\t"  # what the word for it (Op.uses) begins with
FIXED = ("max_length", "pad_to_multiple_of")  # who says one of them means to make all alike


class Padding:
    def __init__(self, at: Context) -> None:
        self.at = at

    def of_loader(self, call: Call) -> str:
        """The place ("PATH:LINE") at which batches of a loader are padded; "" where they are not."""
        name, at = COLLATES
        if call.node is None or not isinstance(call.node, ast.Call):
            return ""
        value = call.kwargs.get(name) or (call.args[at] if len(call.args) > at else None)
        node = next((k.value for k in call.node.keywords if k.arg == name), None)
        if node is None and len(call.node.args) > at:
            node = call.node.args[at]
        if value is None or node is None:
            return ""
        return next(self.of(value), "") or self.made(node, call.frame)

    def of(self, value: Value) -> Iterator[str]:
        """A function, a partial of one, or an object that is called."""
        if isinstance(value, Partial):
            yield from self.of(value.func)
        elif isinstance(value, Instance) and value.cls is not None:
            found = self.at.classes.find_method(value.cls, "__call__")
            if found is not None:
                yield from self.of(Func(found[1], found[0].module))
        elif isinstance(value, Func) and not isinstance(value.node, ast.Lambda):
            call = self.pads(value.node, Frame(value.module, unit_of(value.node), ""))
            if call is not None:
                yield told_place(value.module.path, call.lineno)

    def pads(self, function: FunctionNode, frame: Frame) -> ast.Call | None:
        """How the function pads to the longest of what it is given; None where it does not, or says that all shall be
        of one length."""
        found: ast.Call | None = None
        for part in walk(function):
            if isinstance(part, ast.Name | ast.Attribute | ast.keyword):
                word = getattr(part, "id", getattr(part, "attr", getattr(part, "arg", ""))) or ""
                if word in FIXED:
                    return None
            elif isinstance(part, ast.Constant) and part.value in FIXED:
                return None
            if isinstance(part, ast.Call) and found is None and self.is_padding(part, frame):
                found = part
        return found

    def is_padding(self, call: ast.Call, frame: Frame) -> bool:
        """`pad_sequence(rows)`, `max(len(row) for row in rows)`, `tokenizer(rows, padding=True)`"""
        if is_name(call.func, "max"):
            return any(isinstance(p, ast.Name) and p.id == "len" for p in walk(call))
        padding = next((k.value for k in call.keywords if k.arg == "padding"), None)
        if isinstance(padding, ast.Constant) and padding.value in (True, "longest"):
            return True
        return self.calls_padder(call, frame)

    def made(self, node: ast.expr, frame: Frame) -> str:
        """Where an object of a library that pads is made: `collate = DataCollatorWithPadding(tokenizer)`."""
        if isinstance(node, ast.Name):
            around = self.at.functions.running() or frame.module.tree
            node = assigned_once(node, around)
        if not isinstance(node, ast.Call) or any(k.arg in FIXED or k.arg == "padding" for k in node.keywords):
            return ""
        return told_place(frame.module.path, node.lineno) if self.calls_padder(node, frame) else ""

    def calls_padder(self, call: ast.Call, frame: Frame) -> bool:
        """Whether a library has what is called, and it pads, or makes what does."""
        callee = self.at.expressions.quietly(call.func, {}, frame)
        return isinstance(callee, Ext) and self.at.models.plays(callee.name, "pads to the longest")
