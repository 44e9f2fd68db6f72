"""Operators that a file defines by a decorator: `@torch.library.custom_op("shop::fill", mutates_args=())`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from pt2lint.static.interpreter.frame import Frame
from pt2lint.static.source.modules import ClassInfo, Module
from pt2lint.static.source.nodes import unit_of
from pt2lint.static.values import Ext

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context

OP = "define operator"


class Operators:
    def __init__(self, at: Context) -> None:
        self.at = at

    def read_through(self, module: Module, classes: list[ClassInfo]) -> None:
        if OP not in self.at.notebook.anywhere or not module.says("mutates_args"):
            return
        for name, function in module.functions.items():
            for decorator in function.decorator_list:
                if not isinstance(decorator, ast.Call):
                    continue
                frame = Frame(module, unit_of(function), f"`{name}`")
                called = self.at.expressions.quietly(decorator.func, {}, frame)
                if isinstance(called, Ext) and self.at.models.plays(called.name, "defines operators"):
                    self.at.notebook.note(decorator, OP, frame)
