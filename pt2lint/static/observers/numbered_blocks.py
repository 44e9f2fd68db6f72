"""Modules of one class that are compiled one by one, each with a number of its own."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from pt2lint.said import told_place
from pt2lint.static.interpreter.frame import Frame
from pt2lint.static.source.modules import ClassInfo, Module
from pt2lint.static.source.nodes import FunctionNode, below, unit_of, walk
from pt2lint.static.values import Class, Instance, Value, Wrapped

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context

MAX_NESTING = 3  # modules in modules
LOOPS = (ast.For, ast.ListComp, ast.GeneratorExp, ast.DictComp)
COUNTS = ("range", "enumerate")


class Reading(NamedTuple):
    """Where which number of which class is read."""

    cls: ClassInfo
    attribute: str
    node: ast.Attribute


class NumberedBlocks:
    def __init__(self, at: Context) -> None:
        self.at = at

    def compiled(self, target: Value, node: Any, frame: Frame | None) -> None:
        """torch.compile is given a module of the project."""
        if node is None or frame is None or not isinstance(target, Instance) or target.cls is None:
            return
        if not self.at.notebook.listens("compile block", frame):
            return
        cls = target.cls
        numbered = {name for module in {cls.module, frame.module} for name in self.numbered(cls, module)}
        read = self.reading(cls, numbered, MAX_NESTING) if numbered else None
        if read is not None:
            self.at.notebook.note(
                node,
                "compile block",
                frame,
                details={
                    "class": cls.name,
                    "number": f"{read.cls.name}.{read.attribute}",
                    "at": told_place(read.cls.module.path, read.node.lineno),
                },
            )

    def read_through(self, module: Module, classes: list[ClassInfo]) -> None:
        """Methods of a linted file under `@torch.compile`: what is compiled for one module is tried for the others."""
        for cls in classes if module.says("compile") else ():
            for definition in cls.methods.values():
                if getattr(definition, "decorator_list", ()) and self.at.classes.is_module(cls):
                    self.decorated(cls, definition)

    def decorated(self, cls: ClassInfo, definition: FunctionNode) -> None:
        frame = Frame(cls.module, unit_of(definition), f"`{cls.name}.{definition.name}`", cls=cls)
        if not self.at.notebook.listens("compile block", frame):
            return
        value = self.at.classes.method_value(cls, definition, self.at.objects.instance(cls))
        wrapped = isinstance(value, Wrapped) and value.how == "compiled"
        if not wrapped and definition not in self.at.calls.roots.by_decorator:
            return
        numbered = set(self.numbered(cls, cls.module))
        read = self.reading(cls, numbered, 0, definition.name) if numbered else None
        if read is not None:
            details = {"class": cls.name, "method": definition.name}
            self.at.notebook.note(read.node, "compile block", frame, details=details)

    def numbered(self, cls: ClassInfo, module: Module) -> Iterator[str]:
        """The parameters of the constructor that a loop of a file gives the number of its turn."""
        for loop in walk(module.tree):
            if not isinstance(loop, LOOPS):
                continue
            turns = {name for over, to in _goes_over(loop) if (name := _number_of_turn(over, to))}
            for call in walk(loop) if turns else ():
                if isinstance(call, ast.Call) and self.is_of(call.func, cls, module):
                    yield from _given(cls, call, turns)

    def is_of(self, func: ast.expr, cls: ClassInfo, module: Module) -> bool:
        if not isinstance(func, ast.Name):
            return False
        made = self.at.names.global_name(module, func.id)
        return isinstance(made, Class) and made.info is cls

    def reading(
        self, cls: ClassInfo, numbered: set[str], depth: int, method: str = "forward"
    ) -> Reading | None:
        """The first number, of those that the constructor is given under these names, which a method reads in any
        case: itself, or in a module that it holds."""
        held = dict(cls.layers())
        own = {attribute for attribute, value in held.items() if _is_made_of(value, numbered)}
        found = self.at.classes.find_method(cls, method)
        if found is None or not found[1].args.args:
            return None
        me = found[1].args.args[0].arg
        for part in _in_any_case(found[1]):
            if not isinstance(part, ast.Attribute) or not isinstance(part.value, ast.Name):
                continue
            if part.value.id != me or not isinstance(part.ctx, ast.Load):
                continue
            if part.attr in own:
                return Reading(found[0], part.attr, part)
            made = held.get(part.attr)
            if isinstance(made, ast.Call) and isinstance(made.func, ast.Name) and depth:
                inner = self.at.names.global_name(cls.module, made.func.id)
                if isinstance(inner, Class) and self.at.classes.is_module(inner.info):
                    given = set(_given(inner.info, made, numbered))
                    if given and (found_inside := self.reading(inner.info, given, depth - 1)) is not None:
                        return found_inside
        return None


def _goes_over(loop: ast.AST) -> list[tuple[ast.expr, ast.expr]]:
    """What a loop or a comprehension goes over, and what it binds."""
    if isinstance(loop, ast.For):
        return [(loop.iter, loop.target)]
    return [(generator.iter, generator.target) for generator in getattr(loop, "generators", ())]


def _number_of_turn(over: ast.expr, target: ast.expr) -> str:
    """`i` of `for i in range(n)` and of `for i, x in enumerate(xs)`, else ""."""
    if not isinstance(over, ast.Call) or not isinstance(over.func, ast.Name) or over.func.id not in COUNTS:
        return ""
    if over.func.id == "enumerate":
        target = target.elts[0] if isinstance(target, ast.Tuple) else target
    return target.id if isinstance(target, ast.Name) else ""


def _given(cls: ClassInfo, call: ast.Call, names: set[str]) -> Iterator[str]:
    """The parameters of the class's constructor that the call gives one of these names."""
    init = cls.methods.get("__init__")
    if init is None:
        return
    parameters = [a.arg for a in [*init.args.posonlyargs, *init.args.args]][1:]
    for parameter, value in [
        *zip(parameters, call.args, strict=False),
        *((k.arg, k.value) for k in call.keywords),
    ]:
        if parameter is not None and _is_made_of(value, names):
            yield parameter


def _is_made_of(value: ast.expr, names: set[str]) -> bool:
    """One of the names, or such a number with another one added."""
    if isinstance(value, ast.BinOp) and isinstance(value.op, (ast.Add, ast.Sub)):
        return _is_made_of(value.left, names) or _is_made_of(value.right, names)
    return isinstance(value, ast.Name) and value.id in names


def _in_any_case(function: FunctionNode) -> Iterator[ast.AST]:
    """The nodes of a function that are not under a condition, nor in a function within it."""
    nodes: list[ast.AST] = list(reversed(function.body))
    while nodes:
        node = nodes.pop()
        yield node
        if isinstance(node, (ast.If, ast.IfExp)):
            nodes.append(node.test)
        elif not isinstance(node, (FunctionNode, ast.Lambda, ast.ClassDef, ast.Raise)):
            nodes += reversed(below(node))
