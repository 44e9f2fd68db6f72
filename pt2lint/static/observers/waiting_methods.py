"""Methods that wait for what they are given: bound before their arguments are computed, of lists, texts and such."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from pt2lint.static.interpreter.frame import Env, Frame
from pt2lint.static.source.nodes import last_word, walk
from pt2lint.static.values import Dict, Func, Instance, Py, Seq, Tensor, Value

if TYPE_CHECKING:
    from pt2lint.libraries.call import Call
    from pt2lint.static.interpreter.context import Context

OP = "wait for argument"
BUILTIN = ("list", "tuple", "set", "deque", "frozenset")
# In what a method is given, what may break the graph: arithmetic does not.
MAY_BREAK = (ast.Call, ast.Subscript, ast.IfExp, ast.BoolOp, ast.Not, ast.JoinedStr)


class WaitingMethods:
    def __init__(self, at: Context) -> None:
        self.at = at

    def external(self, call: Call, result: Value) -> None:
        """`kept.append(x.item())`"""
        if call.receiver is not None and self.at.notebook.listens(OP, call.frame):
            self._note(call.node, _sort(call.receiver), call.frame)

    def given(
        self, func: Func, args: list[Value], kwargs: dict[str, Value], env: Env, node: ast.AST, frame: Frame
    ) -> None:
        """`self.scaled(x, y.item())`, a method by its name: a module that is called is none."""
        by_name = isinstance(node, ast.Call) and last_word(node.func) == getattr(func.node, "name", "")
        if by_name and isinstance(func.bound, Instance) and self.at.notebook.listens(OP, frame):
            self._note(node, "module" if self.at.classes.is_module(func.bound.cls) else "", frame)

    def _note(self, node: ast.AST, sort: str, frame: Frame) -> None:
        if sort and isinstance(node, ast.Call):
            given = [*node.args, *(keyword.value for keyword in node.keywords)]
            if any(isinstance(part, MAY_BREAK) for one in given for part in walk(one)):
                self.at.notebook.note(node, OP, frame, details={"of": sort})


def _sort(receiver: Value) -> str:
    if isinstance(receiver, Tensor):
        return "" if receiver.array else "tensor"
    text = isinstance(receiver, Py) and receiver.type in ("str", "bytes")
    listed = isinstance(receiver, Seq) and receiver.type in BUILTIN
    return "builtin" if text or listed or isinstance(receiver, Dict) else ""
