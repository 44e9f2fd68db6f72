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
        belongs to a library that Dynamo does not trace: its methods are its own, whatever they are called."""
        if self.is_of_untraced(place, env, frame):
            return True
        called = self._made_by(place, env, frame)
        return any(not self.at.models.library_of(name).name for name in called)

    def is_of_untraced(self, place: ast.expr, env: Env, frame: Frame) -> bool:
        """Whether it is an object of a library that Dynamo does not trace, as the annotation of an argument, a test
        before (`isinstance(table, pd.DataFrame)`) or the function that returned it says; or a part of such an object,
        or what its methods return. Tensors and dictionaries have no items by a list of texts (`table[["a", "b"]]`)."""
        head = _head(place)
        if any(map(_is_of_texts, _along(place))):
            return True
        if isinstance(head, ast.Name):
            now = env.get(head.id)
            if isinstance(now, Instance) and now.external and self.at.models.of(now.external).untraced:
                return True
            scope = self._scope(head.id, frame)
            given = parameters_in(scope.args) if isinstance(scope, FunctionNode) else []
            if any(p.arg == head.id and self.at.types.is_of_untraced(p.annotation, frame) for p in given):
                return True
        return any(self.at.models.of(name).untraced for name in self._made_by(place, env, frame))

    def _made_by(self, place: ast.expr, env: Env, frame: Frame) -> list[str]:
        """The functions of libraries that return what is at `place`, or what the name it begins with stands for."""
        made, head = [place], _head(place)
        if isinstance(head, ast.Name) and (scope := self._scope(head.id, frame)) is not None:
            made += assigned(head.id, scope)
        found = []
        for value in made:
            # What a name is made of may be the name itself: `action = action.detach().cpu()`.
            if isinstance(value, ast.Call) and value not in self._asking:
                self._asking.add(value)
                try:
                    callee = self.at.expressions.again(value.func, env, frame)
                finally:
                    self._asking.discard(value)
                if isinstance(callee, Ext):
                    found.append(callee.name)
        return found

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


def _along(place: ast.expr) -> list[ast.expr]:
    """All that attributes, items and methods are of: `table.values`, then `table`, of `table.values[0]`."""
    found = [place]
    while True:
        if isinstance(place, ast.Call) and isinstance(place.func, ast.Attribute):
            place = place.func
        if not isinstance(place, (ast.Attribute, ast.Subscript)):
            return found
        place = place.value
        found.append(place)


def _head(place: ast.expr) -> ast.expr:
    return _along(place)[-1]


def _is_of_texts(place: ast.expr) -> bool:
    if not isinstance(place, ast.Subscript) or not isinstance(place.slice, ast.List):
        return False
    names = [part.value if isinstance(part, ast.Constant) else None for part in place.slice.elts]
    return bool(names) and all(isinstance(name, str) for name in names)
