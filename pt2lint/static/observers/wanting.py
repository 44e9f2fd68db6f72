"""Whether gradients are wanted where a call is made, as far as the functions that run there tell."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING

from pt2lint.static.interpreter.frame import Frame
from pt2lint.static.source.bodies import names_one
from pt2lint.static.source.nodes import FunctionNode, parts
from pt2lint.static.values import Func

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context


class Wanting:
    def __init__(self, at: Context) -> None:
        self.at = at
        self._trains: dict[ast.AST, bool] = {}
        words = at.models.last_words
        self._telling = words("computes gradients") | words("clears gradients")

    def entered(self, func: Func) -> None:
        """What has a function compute gradients wants them, too: `scaler(loss, optimizer)`."""
        running = self.at.functions.innermost()
        if running is None:
            return
        home = _home(func) if func.node not in self._trains else None
        if home is not None:
            # It may well be called and not run again: no more than this is known of its body.
            func.module.asked("names one", f"{home} {'|'.join(sorted(self._telling))}")
            self._trains[func.node] = names_one(func.node, self._telling)
        if self._is_training(func.node):
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
            self._trains[definition] = any(
                part.attr in self._telling for part in parts(definition, ast.Attribute)
            )
        return self._trains[definition]


def _home(func: Func) -> str | None:
    """The class whose method the function is, "" for one of its file's top level, None for others."""
    if isinstance(func.node, FunctionNode):
        cls = func.defined_in
        if cls is not None and cls.module is func.module and cls.methods.get(func.node.name) is func.node:
            return cls.name
        if func.module.functions.get(func.node.name) is func.node:
            return ""
    return None
