"""Whether this is being compiled, asked where nothing ever is, and the answer kept: `COMPILING = is_compiling()` at the
top of a file."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pt2lint.static.interpreter.frame import Frame
from pt2lint.static.source.modules import ClassInfo, Module
from pt2lint.static.source.nodes import FunctionNode, parts, unit_of, walk

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context

OP = "ask early"


class EarlyQuestions:
    def __init__(self, at: Context) -> None:
        self.at = at

    def read_through(self, module: Module, classes: list[ClassInfo]) -> None:
        if OP not in self.at.notebook.anywhere or not module.says("compiling("):
            return
        for statement in module.tree.body:
            frame = Frame(module, unit_of(statement), "the file")
            self.look(_kept(statement), "when the file is imported", frame)
        functions: list[tuple[FunctionNode, ClassInfo | None]] = [
            (f, None) for f in module.functions.values()
        ]
        functions += [(method, each) for each in classes for method in each.methods.values()]
        for function, cls in functions:
            frame = Frame(module, unit_of(function), f"`{getattr(function, 'name', '')}`", cls=cls)
            defaults = [*function.args.defaults, *(d for d in function.args.kw_defaults if d is not None)]
            self.look(iter(defaults), "once, where the function is defined", frame)
        for each in classes:
            made = each.methods.get("__init__")
            if made is not None and self.at.classes.is_module(each):
                frame = Frame(module, unit_of(made), f"`{each.name}.__init__`", cls=each)
                self.look(_kept_by(made), "when the module is made, which no graph holds", frame)

    def look(self, kept: Iterator[ast.expr], when: str, frame: Frame) -> None:
        for value in kept:
            for call in walk(value):
                if isinstance(call, ast.Call) and not call.args:
                    callee = self.at.expressions.quietly(call.func, {}, frame)
                    if self.at.functions.answers_whether_compiled(callee):
                        self.at.notebook.note(call, OP, frame, details={"when": when})


def _kept(statement: ast.stmt) -> Iterator[ast.expr]:
    """What a statement at the top of a file, or in a class there, keeps under a name."""
    if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
        yield statement.value
    elif isinstance(statement, ast.ClassDef):
        for inner in statement.body:
            yield from _kept(inner)


def _kept_by(function: FunctionNode) -> Iterator[ast.expr]:
    """What a method keeps in its object."""
    for one in parts(function, ast.Assign):
        if any(isinstance(target, ast.Attribute) for target in one.targets):
            yield one.value
