"""Functions whose results are cached: in compiled code their bodies are traced each time."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from pt2lint.static.interpreter.frame import Env, Frame
from pt2lint.static.source.nodes import FunctionNode, unit_of, walk
from pt2lint.static.values import (
    Ext,
    Func,
    Value,
)

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context


class CachedFunctions:
    def __init__(self, at: Context) -> None:
        self.at = at
        self._draws: dict[FunctionNode, str | None] = {}

    def calling(self, node: ast.Call, func: Value, env: Env, frame: Frame) -> None:
        """A function under functools.lru_cache is called in compiled code, where its body is traced each time."""
        if not isinstance(func, Func):
            return
        definition = func.node
        if isinstance(definition, ast.Lambda) or not definition.decorator_list:
            return
        if not self.at.notebook.listens("call cached", frame):
            return
        if definition not in self._draws:
            self._draws[definition] = self.draws(definition, func)
        drawn = self._draws[definition]
        if drawn is not None:
            words = {"name": "constant " + repr(definition.name), "draws": drawn}
            self.at.notebook.note(node, "call cached", frame, details=words)

    def draws(self, definition: FunctionNode, func: Func) -> str | None:
        """What a cached function draws random numbers with ("" if it does not); None for one that is not cached."""
        env = func.env or {}
        frame = Frame(func.module, unit_of(definition), "", cls=func.defined_in, closure=func.env)
        named = [d.func if isinstance(d, ast.Call) else d for d in definition.decorator_list]
        if not any(
            isinstance(v := self.at.expressions.quietly(d, env, frame), Ext)
            and self.at.models.plays(v.name, "caches")
            for d in named
        ):
            return None
        for part in walk(definition):
            if isinstance(part, ast.Call) and isinstance(part.func, (ast.Name, ast.Attribute)):
                if any(given.arg == "generator" for given in part.keywords):
                    continue  # seeded where it is made, it may draw the same each time
                callee = self.at.expressions.quietly(part.func, env, frame)
                if isinstance(callee, Ext) and self.at.models.plays(callee.name, "random source"):
                    return callee.name
        return ""
