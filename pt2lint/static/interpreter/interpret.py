"""The abstract interpreter: starts at the compile roots of a file and follows what Dynamo would trace."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from pt2lint.libraries import load
from pt2lint.libraries.model import Models
from pt2lint.static.interpreter.frame import Env, Frame, entry
from pt2lint.static.interpreter.statements import Statements
from pt2lint.static.source.modules import ClassInfo, Module, Project
from pt2lint.static.source.named import inside
from pt2lint.static.source.nodes import unit_of
from pt2lint.static.values import Class, Ext, Func, Instance, Seq, Value, Wrapped, options


class Interpreter(Statements):
    def __init__(
        self,
        project: Project,
        traced: frozenset[str] = frozenset(),
        anywhere: frozenset[str] = frozenset(),
        models: Models | None = None,
    ) -> None:
        super().__init__(project, traced, anywhere, models or load())
        sys.setrecursionlimit(max(sys.getrecursionlimit(), 12_000))

    # Roots

    def run(self, module: Module, roots: str = "modules", names: Sequence[str] = ()) -> None:
        """Interpret one linted file: its top level and functions, then everything in it that is compiled.

        `names` are callables that count as compiled whatever the code says.
        """
        module.linted = True
        # A module that another one calls is judged by how it is called; what only a direct call of it would show
        # is less certain. The ones that call stand after the ones they call.
        for cls in reversed(self.classes_of(module)):
            if roots != "explicit" and self.is_module(cls):
                self.run_module(cls)
            else:
                self.run_compiled_methods(cls)
        for name in module.functions:
            value = self.module_value(module, name)
            if isinstance(value, Wrapped) and value.how == "compiled":
                self.root(value.inner, None)
            elif roots == "tensors" and isinstance(value, Func) and self.takes_tensors(value):
                self.root(value, None)
        for name in names:
            self.run_named(module, inside(name, module.name) or [])
        if self.mentions_compile(module):
            self.run_outside(module)

    def run_named(self, module: Module, parts: list[str]) -> None:
        """A function, a method or a class of the module that the settings name as compiled."""
        value: Value | None = None
        if len(parts) == 2 and parts[0] in module.classes:
            cls = module.classes[parts[0]]
            found = self.find_method(cls, parts[1])
            value = None if found is None else self.method_value(*found, self.instance(cls))
        elif len(parts) == 1 and parts[0] in module.classes:
            value = self.instance(module.classes[parts[0]])
        elif len(parts) == 1:
            value = self.module_value(module, parts[0])
        if value is not None:
            self.root(value, parts[-1])

    def classes_of(self, module: Module) -> list[ClassInfo]:
        """The classes of a file, those that functions and other classes define included."""
        known = {c.node: c for c in module.classes.values()}
        return [known.get(node) or ClassInfo(node, module, {}) for node in class_statements(module.tree.body)]

    def run_module(self, cls: ClassInfo) -> None:
        """`forward` of an nn.Module; an inherited one too where the class changes what it calls."""
        found = self.find_method(cls, "forward")
        if found is None:
            return
        owner, node = found
        if owner is not cls and not any(m not in ("__init__", "forward") for m in cls.methods):
            return
        instance = self.instance(cls)
        called = owner is cls and node in self.reached
        self.doubt += called
        self.root(self.method_value(owner, node, instance), "forward")
        self.doubt -= called
        if "__call__" in cls.methods:
            self.root(self.method_value(cls, cls.methods["__call__"], instance), "__call__")
        self.run_compiled_methods(cls)

    def run_compiled_methods(self, cls: ClassInfo) -> None:
        for node in cls.methods.values():
            if node.decorator_list and node.name != "forward":
                value = self.method_value(cls, node, self.instance(cls))
                if isinstance(value, Wrapped) and value.how == "compiled":
                    self.root(value.inner, node.name)

    def root(self, value: Value, name: str | None) -> None:
        """Interpret a callable as Dynamo's entry point, its parameters being what the code says of them."""
        if isinstance(value, Wrapped):
            if value.how == "compiled":
                self.root(value.inner, name)
            elif value.how == "context manager" and isinstance(value.inner, Func):
                self.compiled_generator(value.inner)
            return
        if isinstance(value, Instance) and value.cls is not None:
            found = self.find_method(value.cls, "forward") or self.find_method(value.cls, "__call__")
            if found is not None:
                self.root(self.method_value(*found, value), "forward")
            return
        if not isinstance(value, Func):
            return
        self.compiled_generator(value)
        frame = entry(value.module, unit_of(value.node))
        args = self.seeds(value, frame)
        if value.bound is not None and value.node.args.args:
            args = args[1:]
        kwargs = {}
        for p, d in zip(value.node.args.kwonlyargs, value.node.args.kw_defaults, strict=True):
            kwargs[p.arg] = self.parameter(value, p, d, frame)
        original = self.undecorated(value)
        self.apply(value, args, kwargs, value.node, frame)
        if original is not None:
            # A decorator's wrapper passes on `*args`: the function itself knows its parameters better.
            self.root(original, name)

    def undecorated(self, value: Func) -> Func | None:
        """The function that a decorator's wrapper stands for, bound alike."""
        if value.env is None or value.bound is None or not isinstance(value.bound, Instance):
            return None
        cls = value.bound.cls
        if cls is None:
            return None
        for name in ("forward", "__call__"):
            found = self.find_method(cls, name)
            if found is not None and found[1] is not value.node:
                return Func(found[1], found[0].module, found[0].env, value.bound, found[0])
        return None

    def takes_tensors(self, value: Func) -> bool:
        frame = Frame(value.module, unit_of(value.node), "")
        return any(
            any(o.kind == "tensor" for o in options(v)) or (isinstance(v, Seq) and v.elem.kind == "tensor")
            for v in self.seeds(value, frame)
        )

    def compiled(self, target: Value, node: Any, frame: Frame) -> None:
        """torch.compile(target) was called: the target is a root."""
        if self.quiet:
            return
        for o in options(target):
            if isinstance(o, Func):
                self.compiled_generator(o, node, frame)
            if isinstance(o, (Func, Wrapped, Instance)):
                key = ("root", id(o) if isinstance(o, Instance) else getattr(o, "node", o))
                if key not in self._results:
                    self._results[key] = o
                    self.root(o, None)
            elif isinstance(o, Class):
                self.root(self.instance(o.info), None)
            elif isinstance(o, Ext):
                self.compiled_method(o.receiver, o.name)

    # Code outside any region

    def mentions_compile(self, module: Module) -> bool:
        return self.models.mentions_compiling(module.source)

    def run_outside(self, module: Module) -> None:
        """The top level, statement by statement, then functions that nothing called."""
        env: Env = {}
        for statement in module.tree.body:
            if isinstance(
                statement, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef, ast.Import, ast.ImportFrom)
            ):
                continue
            frame = Frame(module, unit_of(statement), "the module")
            self.block([statement], env, frame)
        functions: list[Func] = [Func(n, module) for n in module.functions.values()]
        for cls in module.classes.values():
            me = self.instance(cls)
            functions += [Func(n, module, cls.env, me, cls) for n in cls.methods.values()]
        for func in functions:
            if func.node not in self._entered:
                frame = Frame(module, unit_of(func.node), "the module")
                args = self.seeds(func, frame)
                self.apply(func, args[1:] if func.bound is not None and args else args, {}, func.node, frame)


def class_statements(body: list[ast.stmt]) -> Iterator[ast.ClassDef]:
    for statement in body:
        if isinstance(statement, ast.ClassDef):
            yield statement
        for part in ("body", "orelse", "handlers", "finalbody"):
            yield from class_statements(getattr(statement, part, []))


__all__ = ["Interpreter"]
