"""What an object is where nobody says, by what the code around it does with it: what has `zero_grad` and `step` is an
optimizer."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from pt2lint.static.interpreter.frame import Env, Frame
from pt2lint.static.interpreter.syntax import dotted
from pt2lint.static.source.nodes import FunctionNode, assigned, own_name, parameters_in, walk
from pt2lint.static.values import UNKNOWN, Ext, Instance, Value

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context


class ByMethods:
    def __init__(self, at: Context) -> None:
        self.at = at
        self.words = at.models.telling_methods
        self._used: dict[ast.AST, dict[str, set[str]]] = {}
        self._objects: dict[tuple[ast.AST, str], Value] = {}
        self._asking: set[ast.expr] = set()

    def object(self, place: ast.expr, frame: Frame) -> Value:
        """What the object at `place` is: in the class, for `self.optimizer`, else in the function that runs."""
        name = dotted(place)
        scope = self._scope(name or "", frame)
        if name is None or scope is None:
            return UNKNOWN
        key = (scope, name)
        if key not in self._objects:
            used = self._uses(scope).get(name, set())
            kind = self.at.models.told_by(used)
            self._objects[key] = UNKNOWN if kind is None else Instance(None, kind, True)
        return self._objects[key]

    def is_foreign(self, place: ast.expr, env: Env, frame: Frame) -> bool:
        """Whether it is, or is a part of, what a library returned of which nothing is known, or a local name for it, or
        an argument that is annotated as a library's that Dynamo does not trace: its methods are its own, whatever they
        are called."""
        made = [place]
        head = place
        while isinstance(head, (ast.Attribute, ast.Subscript)):
            head = head.value
        if isinstance(head, ast.Name) and (scope := self._scope(head.id, frame)) is not None:
            given = parameters_in(scope.args) if isinstance(scope, FunctionNode) else []
            if any(p.arg == head.id and self.at.types.is_of_untraced(p.annotation, frame) for p in given):
                return True
            made += assigned(head.id, scope)
        for value in made:
            # What a name is made of may be the name itself: `action = action.detach().cpu()`.
            if isinstance(value, ast.Call) and value not in self._asking:
                self._asking.add(value)
                try:
                    callee = self.at.expressions.again(value.func, env, frame)
                finally:
                    self._asking.discard(value)
                if isinstance(callee, Ext) and (
                    not self.at.models.library_of(callee.name).name or self.at.models.of(callee.name).untraced
                ):
                    return True
        return False

    def _scope(self, name: str, frame: Frame) -> ast.AST | None:
        function = self.at.functions.innermost()
        if frame.cls is not None and "." in name and isinstance(function, ast.FunctionDef):
            if name.startswith(f"{own_name(function)}."):
                return frame.cls.node
        return function

    def _uses(self, scope: ast.AST) -> dict[str, set[str]]:
        """What is done with each object: the names of its methods that are called without positional arguments or read,
        `name()` for those that are given some, and "()" where it is called itself."""
        known = self._used.get(scope)
        if known is None:
            known = self._used[scope] = {}
            given = {id(n.func) for n in walk(scope) if isinstance(n, ast.Call) and n.args}
            for node in walk(scope):
                if isinstance(node, ast.Attribute):
                    place = dotted(node.value)
                    if place is not None:
                        known.setdefault(place, set()).add(node.attr + "()" * (id(node) in given))
                elif isinstance(node, ast.Call):
                    called = dotted(node.func)
                    if called is not None:
                        known.setdefault(called, set()).add("()")
        return known
