"""What is done to a function that Dynamo does not trace: a context manager decorates it, an attribute of it is set."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from pt2lint.said import told_place
from pt2lint.static.interpreter.frame import Env, Frame, title
from pt2lint.static.source.nodes import FunctionNode, walk
from pt2lint.static.values import Func, Instance, Value

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context

OWN = "decorate with own manager"
ATTRIBUTE = "set attribute of function"


class OfFunctions:
    def __init__(self, at: Context) -> None:
        self.at = at
        self._decorators: dict[Any, list[tuple[ast.expr, str]]] = {}

    def entered(self, func: Func, node: Any, frame: Frame, callee: Frame) -> None:
        """Traced code calls a function under a decorator that enters a context manager around it. Of what is compiled
        itself such a decorator only is left out."""
        definition = func.node
        if frame.entry or not frame.region or not getattr(definition, "decorator_list", ()):
            return
        assert isinstance(definition, FunctionNode)
        known = self._decorators.get(definition)
        if known is None:
            known = self._decorators[definition] = self._managers(func, definition)
        for decorator, operation in known:
            if not isinstance(node, ast.expr) or not self.at.notebook.listens(operation, frame):
                continue
            told = {"told": "yes"} if callee.module.linted else {}
            self.at.notebook.note(node, operation, frame, details={"decorates": title(func), **told})
            words = {"called": told_place(frame.module.path, node.lineno)}
            within = Frame(callee.module, callee.unit, callee.title, frame, True, callee.cls, callee.me)
            within.context, within.guards = frame.context, frame.guards  # it happens where the call does
            self.at.notebook.note(decorator, operation, within, details=words)

    def _managers(self, func: Func, node: FunctionNode) -> list[tuple[ast.expr, str]]:
        """The decorators that are context managers which Dynamo does not enter so, and what that is called."""
        found = []
        frame = Frame(func.module, (1, 1), "")
        env = (func.defined_in.env if func.defined_in is not None else func.env) or {}
        for decorator in node.decorator_list:
            value = self.at.expressions.quietly(decorator, env, frame)
            if isinstance(value, Instance) and value.cls is not None and self._is_decorator(value):
                found.append((decorator, OWN))
            name = value.external if isinstance(value, Instance) else self.at.names.external_name(value)
            if self.at.models.plays(name or "", "not entered by decorators"):
                found.append((decorator, f"decorate with {name}"))
        return found

    def _is_decorator(self, value: Instance) -> bool:
        """Whether an object of the project decorates as `contextlib.ContextDecorator` does."""
        assert value.cls is not None
        bases = self.at.classes.bases(value.cls)[1]
        return any(self.at.models.plays(base, "base of decorators") for base in bases) and (
            self.at.classes.find_method(value.cls, "__call__") is None
        )

    def assigned(
        self, target: ast.expr, owner: Value, value: Value, index: Value | None, env: Env, frame: Frame
    ) -> None:
        """`run.calls += 1`, of a function that compiled code did not define."""
        if not frame.region or index is not None or not isinstance(owner, Func) or owner.bound is not None:
            return
        if isinstance(target, ast.Attribute) and not self._is_made_here(owner):
            if self.at.notebook.listens(ATTRIBUTE, frame):
                self.at.notebook.note(target, ATTRIBUTE, frame)

    def _is_made_here(self, owner: Func) -> bool:
        """Whether a function that runs defines it."""
        if owner.env is None:
            return False
        return any(
            part is owner.node
            for definition in self.at.functions.stack()
            if definition is not owner.node
            for part in walk(definition)
        )
