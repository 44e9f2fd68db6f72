"""Attributes of its own object that a traced method looks for where they are missing, in a way that Dynamo does not
guard: `try: self.kept` with `except AttributeError`, `"kept" in self.__dict__`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from pt2lint.static.interpreter.frame import Frame
from pt2lint.static.interpreter.syntax import dotted
from pt2lint.static.source.modules import ClassInfo
from pt2lint.static.source.nodes import FunctionNode, own_name, parameters_in, parts, says_text, walk
from pt2lint.static.values import Func, Instance

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context

CATCHING = ("AttributeError", "Exception", "BaseException")
OF_ANY_BATCH = ("shape", "size", "dim", "ndim", "dtype", "device")  # what a cache is made for


class Asked(NamedTuple):
    """Where a function looks for an attribute, how, and what runs where that is missing."""

    place: ast.expr
    name: str
    how: str
    handlers: list[ast.stmt]


class MissedAttributes:
    def __init__(self, at: Context) -> None:
        self.at = at
        self._asked: dict[FunctionNode, list[Asked]] = {}

    def entered(self, func: Func, node: ast.AST, frame: Frame, callee: Frame) -> None:
        """A traced method looks for an attribute that only it sets: to the compiled code it is missing for good."""
        function, me = func.node, func.bound
        if not callee.region or not callee.module.linted or isinstance(function, ast.Lambda):
            return
        if not isinstance(me, Instance) or me.cls is None:
            return
        if not self.at.notebook.listens("miss attribute", callee):
            return
        found = self._asked.get(function)
        if found is None:
            found = self._asked[function] = list(_looks_for(function))
        if not found or not (self.at.classes.is_module(me.cls) or callee.is_first):
            return  # what the compiled code makes itself has it in the second call as little as in the first
        for asked in found:
            if self.only_it_sets(me.cls, asked, function):
                kept = _carries(function, asked)
                words = {"how": asked.how, "name": asked.name, "carries": "yes" if kept else ""}
                self.at.notebook.note(asked.place, "miss attribute", callee, details=words)

    def only_it_sets(self, cls: ClassInfo, asked: Asked, function: FunctionNode) -> bool:
        """Whether nothing but the function sets the attribute, itself or by a method that it calls where that is
        missing."""
        above, externals, hazy = self.at.classes.bases(cls)
        if hazy or not all(map(self.at.models.makes_modules, externals)):
            return False
        if any(asked.name in held for c in above for held in (c.attributes, c.annotations, c.methods)):
            return False
        setters = {method for c in above for method, _ in c.assigned(asked.name)}
        called = _own_calls(function, asked.handlers)
        helpers = {m for c in above for name, m in c.methods.items() if name in called}
        if not setters or not setters <= {function, *helpers}:
            return False
        for name in {m.name for m in setters & helpers}:
            if any(method is not function for c in above for method in c.mentioning(name)):
                return False  # which may call it before
        return not any(
            isinstance(part, ast.Attribute)
            and part.attr == asked.name
            and isinstance(part.ctx, ast.Store)
            and dotted(part.value)
            != own_name(function)  # what other methods of the class, or other classes, set
            for part in walk(cls.module.tree)
        )


def _looks_for(function: FunctionNode) -> Iterator[Asked]:
    """The attributes of its own object that the function looks for before it sets them."""
    me = own_name(function)
    first: dict[str, int] = {}  # the line at which the function first sets each of its object's attributes
    for part in parts(function, ast.Attribute):
        if isinstance(part.ctx, ast.Store) and dotted(part.value) == me:
            first[part.attr] = min(part.lineno, first.get(part.attr, part.lineno))
    for node in walk(function):
        for asked in _asks(node, me):
            if first.get(asked.name, asked.place.lineno) >= asked.place.lineno:
                yield asked


def _asks(node: ast.AST, me: str) -> Iterator[Asked]:
    if isinstance(node, ast.Try):
        handlers = [s for h in node.handlers if _catches(h.type) for s in h.body]
        if handlers and not node.finalbody:
            yield from _reads(node.body, me, "try", handlers)
    elif isinstance(node, ast.With) and len(node.items) == 1:
        call = node.items[0].context_expr
        if isinstance(call, ast.Call) and (dotted(call.func) or "").endswith("suppress"):
            if len(call.args) == 1 and _catches(call.args[0]):
                yield from _reads(node.body, me, "suppress", [])
    elif (
        isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], (ast.In, ast.NotIn))
    ):
        if (name := _text(node.left)) and (how := _namespace(node.comparators[0], me)):
            yield Asked(node, name, how, [])
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get":
        if node.args and (name := _text(node.args[0])) and (how := _namespace(node.func.value, me)):
            yield Asked(node, name, how, [])


def _reads(body: list[ast.stmt], me: str, how: str, handlers: list[ast.stmt]) -> Iterator[Asked]:
    """The first attribute of the object that is read there: `kept = self.kept`, `self.calls += 1`."""
    for statement in body[:1]:
        for part in walk(statement):
            if isinstance(part, ast.Attribute) and dotted(part.value) == me:
                if isinstance(part.ctx, ast.Load) or isinstance(statement, ast.AugAssign):
                    yield Asked(part, part.attr, how, handlers)
                    return


def _catches(kind: ast.expr | None) -> bool:
    named = kind.elts if isinstance(kind, ast.Tuple) else [kind]
    return any(n is None or dotted(n) in CATCHING for n in named)


def _text(node: ast.expr) -> str:
    return str(node.value) if says_text(node) else ""


def _namespace(node: ast.expr, me: str) -> str:
    """`self.__dict__`: "dict"; `vars(self)`: "vars"."""
    if isinstance(node, ast.Attribute) and node.attr == "__dict__" and dotted(node.value) == me:
        return "dict"
    if isinstance(node, ast.Call) and dotted(node.func) == "vars" and len(node.args) == 1:
        return "vars" if dotted(node.args[0]) == me else ""
    return ""


def _own_calls(function: FunctionNode, statements: list[ast.stmt]) -> set[str]:
    """The methods of its own object that the statements call."""
    me = own_name(function)
    return {
        call.func.attr
        for statement in statements
        for call in walk(statement)
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and dotted(call.func.value) == me
    }


def _carries(function: FunctionNode, asked: Asked) -> bool:
    """Whether what is kept says something of the call that keeps it, so that the next one comes out otherwise."""
    me = own_name(function)
    names = {a.arg for a in parameters_in(function.args)} - {me}
    for part in walk(function):
        if isinstance(part, ast.Assign):
            targets, value = part.targets, part.value
        elif isinstance(part, ast.AugAssign):
            targets, value = [part.target], part.value
        else:
            continue
        for target in targets:
            if isinstance(target, ast.Name) and _says_of(value, names):
                names.add(target.id)
            elif isinstance(target, ast.Attribute) and dotted(target) == f"{me}.{asked.name}":
                if isinstance(part, ast.AugAssign) or _says_of(value, names):
                    return True
    return False


def _says_of(value: ast.expr, names: set[str]) -> bool:
    """Whether a value is computed of one of these names, other than of its shape, dtype or device."""
    if isinstance(value, ast.Attribute) and value.attr in OF_ANY_BATCH:
        return False
    if isinstance(value, ast.Name):
        return value.id in names
    if isinstance(value, ast.Call) and dotted(value.func) == "len":
        return False
    return any(_says_of(child, names) for child in ast.iter_child_nodes(value) if isinstance(child, ast.expr))
