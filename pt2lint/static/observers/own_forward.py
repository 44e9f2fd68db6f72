"""Methods of modules that call `self.forward(...)`: what `compile()` made of the module is not what they run."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from pt2lint.op import Op
from pt2lint.static.interpreter.frame import Frame
from pt2lint.static.source.modules import ClassInfo, Module
from pt2lint.static.source.nodes import FunctionNode, is_name, last_word, own_name, unit_of, walk
from pt2lint.static.values import Ext

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context

# Methods that torch itself calls of a module: to print it, to save it.
OF_TORCH = {"extra_repr", "get_extra_state", "set_extra_state"}


class OwnForward:
    """`_callers`: the method that calls, and its class, by the place of the call."""

    def __init__(self, at: Context) -> None:
        self.at = at
        self._callers: dict[tuple[str, int, int], tuple[FunctionNode, ClassInfo]] = {}

    def read_through(self, module: Module, classes: list[ClassInfo]) -> None:
        """All of a file was followed. What users call are methods without an underscore, but for those that torch
        calls; `__call__` runs `forward`."""
        if not module.says(".forward(") or "forward of compiled" not in self.at.notebook.anywhere:
            return
        for cls in classes:
            if self._compiles_calls(cls):
                within = {"forward"} | OF_TORCH | _hooks(cls)
                for name in cls.methods:
                    if name not in within and not name.startswith("_"):
                        self._look(cls.methods[name], cls)

    def _compiles_calls(self, cls: ClassInfo) -> bool:
        """Whether `compile()` of such a module compiles what a call of it runs: frameworks compile other things."""
        classes, models = self.at.classes, self.at.models
        if not classes.is_module(cls) or classes.find_method(cls, "forward") is None:
            return False
        if classes.find_method(cls, "__call__") is not None:
            return False
        bases = [b for b in classes.bases(cls)[1] if models.makes_modules(b)]
        return bool(bases) and all(models.library_of(b).closed for b in bases)

    def _look(self, method: FunctionNode, cls: ClassInfo) -> None:
        if {"staticmethod", "classmethod"} & set(map(last_word, method.decorator_list)):
            return
        me = own_name(method)
        frame = Frame(cls.module, unit_of(method), f"`{cls.name}.{method.name}`", cls=cls)
        for call in walk(method):
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
                continue
            owner = call.func.value
            own = call.func.attr == "forward" and is_name(owner, me)
            if own and not any(self._made_up(a, frame) for a in call.args):
                column = cls.module.column(call.lineno, call.col_offset)
                self._callers[cls.module.path, call.lineno, column] = (method, cls)
                words = {"own": f"constant {method.name!r}"}
                self.at.notebook.note(call, "forward of compiled", frame, details=words)

    def _made_up(self, argument: ast.expr, frame: Frame) -> bool:
        """`torch.zeros(1, 3, 8, 8)`: the call asks for a shape, once."""
        if not isinstance(argument, ast.Call):
            return False
        callee = self.at.expressions.quietly(argument.func, {}, frame)
        sizes = self.at.models.of(callee.name).sizes if isinstance(callee, Ext) else None
        return sizes is not None and "size" in sizes[1]

    def finished(self, op: Op, path: str) -> Op:
        """Say whether Dynamo traces the method anyhow, and whether a module of the class is compiled in place."""
        if op.name != "forward of compiled" or "own" not in op.details:
            return op
        method, cls = self._callers[path, op.line, op.column]
        words = dict(op.details)
        if method in self.at.functions.reached:
            words["traced"] = "yes"
        elif any(cls in self.at.classes.bases(c)[0] for c in self.at.calls.roots.classes_in_place()):
            words["in place"] = "yes"
        return op._replace(details=words)


def _hooks(cls: ClassInfo) -> set[str]:
    """The methods that a class registers as hooks of modules: a call of the module there would run them again."""
    return {
        argument.attr
        for method in cls.methods.values()
        for call in walk(method)
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr.startswith("register_")
        and call.func.attr.endswith("hook")
        for argument in call.args
        if isinstance(argument, ast.Attribute) and is_name(argument.value, own_name(method))
    }
