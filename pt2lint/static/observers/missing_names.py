"""Names that code takes to be a library's, which it does not have in any version: reading one raises AttributeError."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from pt2lint.static.interpreter.frame import Frame
from pt2lint.static.interpreter.syntax import dotted
from pt2lint.static.source.modules import ClassInfo, Module
from pt2lint.static.source.nodes import unit_of, walk

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context

OP, ROLE = "missing name", "not there"


class MissingNames:
    def __init__(self, at: Context) -> None:
        self.at = at

    def read_through(self, module: Module, classes: list[ClassInfo]) -> None:
        words = self.at.models.last_words(ROLE)
        if OP not in self.at.notebook.anywhere or not any(module.says(f".{word}") for word in words):
            return
        for statement in module.tree.body:
            for node in walk(statement):
                if isinstance(node, ast.Attribute) and node.attr in words:
                    first, _, rest = (dotted(node) or "").partition(".")
                    name = f"{module.imports.get(first, '')}.{rest}"
                    if self.at.models.plays(name, ROLE):
                        frame = Frame(module, module.unit_at(node.lineno) or unit_of(statement), "")
                        self.at.notebook.note(node, OP, frame, details={"name": name})
