"""Elements of an array as keys: of a dictionary, which traced code asks for one or gives one, and of a set."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from pt2lint.static.interpreter.frame import Env, Frame
from pt2lint.static.values import Dict, Seq, Tensor, Value

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context

ASKED = "key array"
KEPT = "keep by array"


class ArrayKeys:
    def __init__(self, at: Context) -> None:
        self.at = at

    def looked_up(self, node: ast.expr, owner: Dict, index: Value, frame: Frame) -> None:
        """`table[row]`"""
        self._note(ASKED, node, index, frame)

    def assigned(
        self, target: ast.expr, owner: Value, value: Value, index: Value | None, env: Env, frame: Frame
    ) -> None:
        """`table[row] = x`"""
        if isinstance(owner, Dict) and index is not None:
            self._note(KEPT, target, index, frame)

    def compared(self, node: ast.Compare, left: Value, right: Value, frame: Frame) -> None:
        """`row in table`"""
        if isinstance(right, Dict) or (isinstance(right, Seq) and right.type == "set"):
            self._note(ASKED, node, left, frame)

    def _note(self, operation: str, node: ast.expr, key: Value, frame: Frame) -> None:
        """An array has no hash in eager mode either: what is a key there is one of its elements."""
        keys = key.elts or () if isinstance(key, Seq) and key.type == "tuple" else (key,)
        array = next((one for one in keys if isinstance(one, Tensor) and one.array), None)
        if array is not None and self.at.notebook.listens(operation, frame):
            self.at.notebook.note(node, operation, frame, about=array)
