"""What functions of files that are not linted log or print, and what they call that Dynamo does not trace: it is told
where linted code calls them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from pt2lint.libraries.call import Call
from pt2lint.static.interpreter.frame import Env, Frame
from pt2lint.static.interpreter.guards import Path
from pt2lint.static.source.nodes import FunctionNode
from pt2lint.static.values import PYTHON, Func, Tensor, Value

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context

Definition = FunctionNode | ast.Lambda
Words = dict[str, str]


class SaidElsewhere:
    """`said`: function -> the operation, what holds where it says something, and what the call gives, which tells
    where that is; `begun`: by its depth the frame of such a function that linted code calls, the function, and the
    call."""

    def __init__(self, at: Context) -> None:
        self.at = at
        self.said: dict[Definition, tuple[str, Path, Tensor, Words]] = {}
        self.begun: dict[int, tuple[Frame, Definition, ast.Call]] = {}

    def given(
        self, func: Func, args: list[Value], kwargs: dict[str, Value], env: Env, node: Any, frame: Frame
    ) -> None:
        """Linted code calls a function of another file, of which it may be known what it says."""
        if not func.module.linted and frame.module.linted and func.node in self.said:
            self._tell(node, frame, *self.said[func.node])

    def entered(self, func: Func, node: Any, frame: Frame, callee: Frame) -> None:
        if not func.module.linted and frame.module.linted and callee.region and isinstance(node, ast.Call):
            self.begun[callee.depth] = callee, func.node, node

    def external(self, call: Call, result: Value) -> None:
        frame, guards = call.frame, call.frame.guards
        if frame.module.linted or not frame.region or not self.begun:
            return
        operation, words = self._broken_by(call)
        if not operation:
            return
        while frame.parent is not None and not frame.parent.module.linted:
            frame = frame.parent
            guards = frame.guards + guards
        caller, begun = frame.parent, self.begun.get(frame.depth)
        if caller is None or begun is None or begun[0] is not frame or begun[1] in self.said:
            return
        _, function, node = begun
        place = call.frame.module.path, call.node.lineno, f"`{call.name.removeprefix(PYTHON)}` is called"
        self.said[function] = operation, guards, Tensor(origin=place), words
        self._tell(node, caller, *self.said[function])

    def _broken_by(self, call: Call) -> tuple[str, Words]:
        """The operation by which a call ends the graph whatever it is given, and its words; "" for all others."""
        entry = self.at.models.of(call.name)
        if "says" in entry.roles:
            return entry.op, {}
        if entry.untraced:
            return "call untraced", {"name": entry.library.name}
        if entry.breaks:
            why, _, until = entry.breaks.partition("\t")
            return "call breaking", {"why": why, "until": until}
        return "", {}

    def _tell(
        self, node: Any, frame: Frame, operation: str, guards: Path, about: Tensor, words: Words
    ) -> None:
        if self.at.notebook.listens(operation, frame):
            before, frame.guards = frame.guards, frame.guards + guards
            self.at.notebook.note(node, operation, frame, about, details={"elsewhere": "yes", **words})
            frame.guards = before
