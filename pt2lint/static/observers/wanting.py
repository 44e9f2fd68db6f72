"""Whether gradients are wanted where a call is made, as far as the functions that run there tell."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING

from pt2lint.static.interpreter.frame import Frame
from pt2lint.static.source.nodes import FunctionNode, parts

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context


class Wanting:
    def __init__(self, at: Context) -> None:
        self.at = at
        self._trains: dict[ast.AST, bool] = {}

    def entered(self, definition: FunctionNode | ast.Lambda) -> None:
        """What has a function compute gradients wants them, too: `scaler(loss, optimizer)`."""
        running = self.at.functions.innermost()
        if running is not None and self._is_training(definition):
            self._trains[running] = True

    def at_call(self, frame: Frame) -> bool | None:
        """True where what runs computes gradients itself, or is a script's own code; None where a caller may want
        none."""
        if frame.gradless:
            return False
        running = self.at.functions.stack()
        if not frame.region and not running:
            return True
        return self.of(running)

    def of(self, running: Iterable[FunctionNode | ast.Lambda]) -> bool | None:
        """What is known by now of the functions that ran."""
        return any(map(self._is_training, running)) or None

    def _is_training(self, definition: FunctionNode | ast.Lambda) -> bool:
        """Whether a function computes gradients, or clears those that were."""
        if definition not in self._trains:
            words = self.at.models.last_words
            telling = words("computes gradients") | words("clears gradients")
            self._trains[definition] = any(part.attr in telling for part in parts(definition, ast.Attribute))
        return self._trains[definition]
