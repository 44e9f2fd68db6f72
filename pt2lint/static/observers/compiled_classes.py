"""Classes that are given to torch.compile, which compiles calls of their objects: without `__call__` there are none."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from pt2lint.static.interpreter.frame import Frame
from pt2lint.static.source.modules import ClassInfo, Module
from pt2lint.static.source.nodes import unit_of
from pt2lint.static.values import Class, Ext, Partial, Value

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context

OP = "compile class"


class CompiledClasses:
    def __init__(self, at: Context) -> None:
        self.at = at

    def compiled(self, target: Value, node: Any, frame: Frame | None) -> None:
        """`Fast = torch.compile(Sampler)`"""
        if isinstance(target, Class) and node is not None and frame is not None:
            self.look(target.info, node, frame)

    def read_through(self, module: Module, classes: list[ClassInfo]) -> None:
        """`@torch.compile` above a class"""
        if OP not in self.at.notebook.anywhere or not module.says("compile"):
            return
        for cls in classes:
            for decorator in cls.node.decorator_list:
                frame = Frame(module, unit_of(cls.node), f"`{cls.name}`", cls=cls)
                value = self.at.expressions.quietly(decorator, cls.env or {}, frame)
                made = value.func if isinstance(value, Partial) else value
                if isinstance(made, Ext) and self.at.models.plays(made.name, "compiles"):
                    self.look(cls, decorator, frame)

    def look(self, cls: ClassInfo, node: ast.expr, frame: Frame) -> None:
        """Note it, where all that the class is derived from is known."""
        classes, plays = self.at.classes, self.at.models.plays
        if cls.node.keywords or classes.is_module(cls) or classes.find_method(cls, "__call__") is not None:
            return
        _, foreign, hazy = classes.bases(cls)
        if not hazy and all(plays(one, "differentiable function") for one in foreign):
            if self.at.notebook.listens(OP, frame):
                words: dict[str, str] = {"name": "constant " + repr(cls.name)}
                self.at.notebook.note(node, OP, frame, details=words)
