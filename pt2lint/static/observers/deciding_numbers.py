"""Numbers of Python that a module's `forward` is given, and that decide what is compiled: a position in a cache."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pt2lint.said import told_place
from pt2lint.static.interpreter.frame import Env, Frame
from pt2lint.static.observers.uses import Decisive
from pt2lint.static.source.nodes import (
    FunctionNode,
    own_name,
    parameters_in,
    parts,
    unit_of,
    walk,
    with_defaults,
)
from pt2lint.static.values import Func, Instance, Seq

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context

DECIDE = ("range", "index", "place")


class DecidingNumbers:
    def __init__(self, at: Context) -> None:
        self.at = at
        self.decisive = Decisive(at)

    def entered(self, func: Func, node: Any, frame: Frame, callee: Frame) -> None:
        """A `forward` that compiling starts with."""
        definition, me = func.node, func.bound
        if isinstance(definition, ast.Lambda) or not callee.region or not callee.is_first:
            return
        if not isinstance(me, Instance) or not self.at.classes.is_module(me.cls):
            return
        if definition.name != "forward" or not self.at.notebook.listens("decide by number", callee):
            return
        numbers = {*_numbers(definition), *self.picking(definition, me, callee)}
        for name, use in self.decisive.of(func).items() if numbers else ():
            if name not in numbers or use.how not in DECIDE:
                continue
            details = {"use": use.how, "at": told_place(use.path, use.line), "name": name}
            inner = _around(func.module.tree, use.line) if use.path == func.module.path else None
            found = _of_line(inner, use.line, name) if inner is not None else _handed_on(name, definition)
            if found is None:
                continue
            where = callee
            if inner is not None and inner is not definition:
                where = Frame(
                    func.module, unit_of(inner), f"`{inner.name}`", callee, True, func.defined_in, me
                )
            self.at.notebook.note(found, "decide by number", where, details=details)

    def picking(self, definition: FunctionNode, me: Instance, callee: Frame) -> Iterator[str]:
        """The parameters of which nothing says what they are, and which pick from a list, as numbers alone can:
        `self.heads[task]`, `self.heads[task - 1]`."""
        bare = {
            p.arg for p, default in with_defaults(definition.args) if p.annotation is None and default is None
        }
        env: Env = {own_name(definition): me}
        for part in parts(definition, ast.Subscript):
            index = part.slice.left if isinstance(part.slice, ast.BinOp) else part.slice
            if isinstance(index, ast.Name) and index.id in bare:
                layers = self.at.expressions.quietly(part.value, env, callee)
                if isinstance(layers, Seq) and layers.type != "set":
                    yield index.id


def _numbers(definition: FunctionNode) -> Iterator[str]:
    """The parameters that are whole numbers, as their annotations or defaults say."""
    for parameter, default in with_defaults(definition.args):
        if parameter.annotation is not None:
            if any(isinstance(part, ast.Name) and part.id == "int" for part in walk(parameter.annotation)):
                yield parameter.arg
        elif isinstance(default, ast.Constant) and type(default.value) is int:
            yield parameter.arg


def _around(tree: ast.AST, line: int) -> FunctionNode | None:
    """The innermost function of a file that holds the line."""
    around = [
        part
        for part in walk(tree)
        if isinstance(part, FunctionNode) and part.lineno <= line <= (part.end_lineno or 0)
    ]
    return max(around, key=lambda part: part.lineno, default=None)


def _of_line(definition: FunctionNode, line: int, name: str) -> ast.Name | None:
    """The name on that line, or, where the function has another for the number, the first that is a parameter's."""
    there = [part for part in parts(definition, ast.Name) if part.lineno == line]
    given = {p.arg for p in parameters_in(definition.args)}
    return next((part for part in there if part.id == name), None) or next(
        (part for part in there if part.id in given), None
    )


def _handed_on(name: str, definition: FunctionNode) -> ast.Name | None:
    """The name where the function gives it to a call."""
    given = {
        argument
        for call in parts(definition, ast.Call)
        for argument in [*call.args, *(k.value for k in call.keywords)]
    }
    return next((part for part in parts(definition, ast.Name) if part.id == name and part in given), None)
