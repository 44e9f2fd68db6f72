"""What functions of files that are not linted log or print, and what they call that Dynamo does not trace: it is told
where linted code calls them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, NamedTuple

from pt2lint.libraries.call import Call
from pt2lint.libraries.model import breaking
from pt2lint.static.interpreter.frame import Env, Frame
from pt2lint.static.interpreter.guards import Path, on_all
from pt2lint.static.source.nodes import FunctionNode
from pt2lint.static.values import PYTHON, Func, Tensor, Value

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context

Definition = FunctionNode | ast.Lambda
Words = dict[str, str]


class Said(NamedTuple):
    """What a function says: the operation, where that is, and its words; and what holds wherever it does."""

    operation: str
    about: Tensor
    words: Words
    guards: Path

    def along(self, guards: Path) -> Said:
        """What the caller says by calling it under these conditions."""
        return self._replace(guards=guards + self.guards)

    def or_else(self, other: Said) -> Said:
        """What is said where the function says the one or the other: the same has what both ways share, and of two
        that are not the same the first counts, unless only the other needs no condition."""
        if other[:3] == self[:3]:
            return self._replace(guards=on_all([self.guards, other.guards]))
        return other if other.is_plain and not self.is_plain else self

    @property
    def is_plain(self) -> bool:
        return not any(guard.text for guard in self.guards)


class SaidElsewhere:
    """`said`: what each function says, itself or by what it calls; `begun`: by its depth the frame of such a function,
    the function, and the call."""

    def __init__(self, at: Context) -> None:
        self.at = at
        self.said: dict[Definition, Said] = {}
        self.begun: dict[int, tuple[Frame, Definition, ast.Call]] = {}

    def given(
        self, func: Func, args: list[Value], kwargs: dict[str, Value], env: Env, node: Any, frame: Frame
    ) -> None:
        """A function of another file is called, of which it may be known what it says: its body may not run again."""
        if not func.module.linted and func.node in self.said:
            self._tell(node, frame, self.said[func.node])

    def entered(self, func: Func, node: Any, frame: Frame, callee: Frame) -> None:
        if not func.module.linted and callee.region and isinstance(node, ast.Call):
            self.begun[callee.depth] = callee, func.node, node

    def external(self, call: Call, result: Value) -> None:
        frame = call.frame
        if frame.module.linted or not frame.region or not self.begun:
            return
        operation, words = self._broken_by(call)
        if operation:
            place = frame.module.path, call.node.lineno, f"`{call.name.removeprefix(PYTHON)}` is called"
            self._tell(call.node, frame, Said(operation, Tensor(origin=place), words, ()))

    def _broken_by(self, call: Call) -> tuple[str, Words]:
        """The operation by which a call ends the graph whatever it is given, and its words; "" for all others."""
        entry = self.at.models.of(call.name)
        if "says" in entry.roles:
            return entry.op, {}
        if entry.untraced:
            return "call untraced", {"name": entry.library.name}
        if entry.breaks:
            return "call breaking", breaking(entry.breaks)
        return "", {}

    def _tell(self, node: Any, frame: Frame, said: Said) -> None:
        """Tell it at the call, or at the linted one that led to it, and keep what the functions between these say."""
        while not frame.module.linted:
            begun = self.begun.get(frame.depth)
            if begun is None or begun[0] is not frame or frame.parent is None:
                return
            _, function, node = begun
            said, before = said.along(frame.guards), self.said.get(function)
            both = said if before is None else before.or_else(said)
            if both == before:
                return  # the call was told so already
            self.said[function], frame = both, frame.parent
        if self.at.notebook.listens(said.operation, frame):
            before_call, frame.guards = frame.guards, frame.guards + said.guards
            words = {"elsewhere": "yes", **said.words}
            self.at.notebook.note(node, said.operation, frame, said.about, details=words)
            frame.guards = before_call
