"""Operators that a file defines by a decorator: `@torch.library.custom_op("shop::fill", mutates_args=())`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from pt2lint.static.interpreter.frame import Env, Frame
from pt2lint.static.source.modules import ClassInfo, Module
from pt2lint.static.source.nodes import FunctionNode, last_word, unit_of, walk
from pt2lint.static.values import Ext, Func, Value, Wrapped

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context

OP = "define operator"
UNTRACED = "untraced object"
GIVEN_BACK = ("inplace", "out")


class Operators:
    def __init__(self, at: Context) -> None:
        self.at = at
        self._lacking: dict[FunctionNode, bool] = {}

    def read_through(self, module: Module, classes: list[ClassInfo]) -> None:
        if OP not in self.at.notebook.anywhere or not module.says("mutates_args"):
            return
        for function in module.functions.values():
            decorator = self._definer(function, module, "defines operators")
            if decorator is not None:
                self.at.notebook.note(decorator, OP, Frame(module, unit_of(function), f"`{function.name}`"))

    def calling(self, node: ast.Call, func: Value, env: Env, frame: Frame) -> None:
        """Traced code calls an operator of which nothing says what shapes it returns."""
        if not isinstance(func, Wrapped) or not isinstance(func.inner, Func):
            return
        function = func.inner.node
        if not isinstance(function, FunctionNode) or not self.at.notebook.listens(UNTRACED, frame):
            return
        if function not in self._lacking:
            self._lacking[function] = self._lacks_fake(function, func.inner.module)
        if self._lacking[function]:
            self.at.notebook.note(node, UNTRACED, frame, details={"how": "fake", "what": function.name})

    def _lacks_fake(self, function: FunctionNode, module: Module) -> bool:
        """Whether the function is an operator that returns something, and its file registers no fake for it."""
        decorator = self._definer(function, module, "defines untraced operators")
        if decorator is None or function is not module.functions.get(function.name):
            return False
        if function.returns is None or ast.unparse(function.returns) in ("None", "'None'"):
            return False
        # `tags=torch.Tag.inplace`, `.out`: it returns what it was given, and torch knows of what shape that is.
        tags = next((one.value for one in decorator.keywords if one.arg == "tags"), None)
        if tags is not None and any(
            isinstance(part, ast.Attribute) and part.attr in GIVEN_BACK for part in walk(tags)
        ):
            return False
        name = (
            decorator.args[0].value
            if decorator.args and isinstance(decorator.args[0], ast.Constant)
            else None
        )
        words = self.at.models.last_words("registers fakes")
        for part in walk(module.tree):
            if isinstance(part, ast.Attribute) and part.attr in words and isinstance(part.value, ast.Name):
                if part.value.id == function.name:
                    return False
            if isinstance(part, ast.Call) and last_word(part.func) in words and part.args:
                given = part.args[0]
                # `register_fake("shop::fill")`; where the name is computed it may be this one.
                if name is None or not isinstance(given, ast.Constant) or given.value == name:
                    return False
        return True

    def _definer(self, function: FunctionNode, module: Module, role: str) -> ast.Call | None:
        """The decorator of that role, called with the operator's name."""
        for decorator in function.decorator_list:
            if isinstance(decorator, ast.Call):
                frame = Frame(module, unit_of(function), f"`{function.name}`")
                called = self.at.expressions.quietly(decorator.func, {}, frame)
                if isinstance(called, Ext) and self.at.models.plays(called.name, role):
                    return decorator
        return None
