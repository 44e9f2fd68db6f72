"""Methods whose decorators make of them what Dynamo does not call."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from pt2lint.said import told_line, told_place
from pt2lint.static.interpreter.frame import Env, Frame
from pt2lint.static.source.modules import ClassInfo
from pt2lint.static.source.nodes import FunctionNode, unit_of
from pt2lint.static.values import Class, Ext, Instance, Value

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context

TRACED = ("forward", "backward", "setup_context")  # what `apply` of a differentiable function runs


class MethodKinds:
    def __init__(self, at: Context) -> None:
        self.at = at

    def calling(self, node: ast.Call, func: Value, env: Env, frame: Frame) -> None:
        """`Class.method(...)` in compiled code."""
        callee = node.func
        if not isinstance(callee, ast.Attribute):
            return
        static, function = "call decorated static method", "call class method of function"
        if not (self.at.notebook.listens(static, frame) or self.at.notebook.listens(function, frame)):
            return
        cls = self.owner(callee.value, env, frame)
        if cls is None:
            return
        found = self.at.classes.find_method(cls, callee.attr)
        if found is not None:
            if self.stands_below(*found, "static method"):
                home, definition = found
                at = [d.lineno for d in definition.decorator_list]
                last = self.roles(*found).index("static method")
                words = {"decorators": f"{told_line(at[0])} {told_line(at[last])}"}
                self.at.notebook.note(
                    node, static, frame, details=words if home.module is frame.module else {}
                )
        elif callee.attr == "apply" and self.at.classes.is_function(cls):
            for name in TRACED:
                method = self.at.classes.find_method(cls, name)
                if method is not None and "class method" in self.roles(*method):
                    told = {"method": f"{cls.name}.{name}"}
                    if method[0].module.linted:
                        told["told"] = "yes"
                    self.at.notebook.note(node, function, frame, details=told)
                    self.defined(*method, told_place(frame.module.path, node.lineno), frame)
                    return

    def defined(self, cls: ClassInfo, node: FunctionNode, called: str, frame: Frame) -> None:
        """The class method itself is where it is mended: at its name."""
        start = node.col_offset + len("async def " if isinstance(node, ast.AsyncFunctionDef) else "def ")
        place = (node.lineno, start, node.lineno, start + len(node.name))
        within = Frame(cls.module, unit_of(node), f"`{cls.name}.{node.name}`", frame, True, cls)
        within.context, within.guards = frame.context, frame.guards
        words = {"method": f"{cls.name}.{node.name}", "called": called}
        self.at.notebook.note(node, "call class method of function", within, details=words, place=place)

    def owner(self, node: ast.expr, env: Env, frame: Frame) -> ClassInfo | None:
        """The class of the project that the expression is, or is an object of: `Exp`, `self.exp`, `Exp()`."""
        made = isinstance(node, ast.Call)
        node = node.func if isinstance(node, ast.Call) else node
        if not isinstance(node, (ast.Name, ast.Attribute)):
            return None
        value = self.at.expressions.again(node, env, frame)
        if isinstance(value, Class):
            return value.info
        return value.cls if isinstance(value, Instance) and not made else None

    def roles(self, cls: ClassInfo, node: FunctionNode) -> list[str]:
        """What each decorator is, the outermost first: "static method", "class method", "disables" or ""."""
        frame = Frame(cls.module, (1, 1), "")
        found = []
        for decorator in node.decorator_list:
            value = self.at.expressions.quietly(decorator, cls.env or {}, frame)
            known = self.at.models.of(value.name).roles if isinstance(value, Ext) else frozenset()
            found.append(next((r for r in ("static method", "class method", "disables") if r in known), ""))
        return found

    def stands_below(self, cls: ClassInfo, node: FunctionNode, role: str) -> bool:
        """Whether a decorator that Dynamo looks through stands above the one that plays the role."""
        roles = self.roles(cls, node) if len(node.decorator_list) > 1 else []
        return role in roles[1:] and "disables" not in roles
