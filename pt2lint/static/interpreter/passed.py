"""What the program itself passes to a function: the arguments of the calls in `main()` and at the top of its file,
or of another file that calls it.

A compile root has no caller in the graph, so what its parameters are stands nowhere in what Dynamo traces. A script
that makes an optimizer and a loader and calls `train(model, loader, optimizer)` says it elsewhere.
"""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Set
from typing import TYPE_CHECKING, Any

from pt2lint.static.interpreter.frame import Env, Frame
from pt2lint.static.source.modules import ClassInfo, Module
from pt2lint.static.source.nodes import placed, unit_of, walk
from pt2lint.static.source.reads import with_aliases
from pt2lint.static.values import (
    NO_CONST,
    NONE,
    UNKNOWN,
    Func,
    Instance,
    Py,
    Tensor,
    Value,
    is_none,
    join,
    options,
)

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context

DEFINES = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef, ast.Import, ast.ImportFrom)


class Passed:
    """`seen`: function -> parameter -> the join of what plain Python calls pass for it."""

    def __init__(self, at: Context) -> None:
        self.at = at
        self.seen: dict[Any, Env] = {}
        self._read: set[str] = set()
        self._run: set[str] = set()
        self._asked: set[frozenset[str]] = set()
        self._makers: dict[ClassInfo, list[Module]] = {}

    def entered(self, func: Func, env: Env, frame: Frame) -> None:
        """A function is run; only what code that is not compiled passes is what a root is given."""
        if frame.region or isinstance(func.node, ast.Lambda):
            return
        known = self.seen.setdefault(func.node, {})
        for name, value in env.items():
            if value is not UNKNOWN:
                known[name] = join(known[name], value) if name in known else value

    def parameter(self, func: Func, name: str, value: Value) -> Value:
        """What a root's parameter is: what its definition says (`value`), else what the program passes."""
        told = (
            isinstance(value, Tensor) and value.dtype is None and (value.is_used_alone or value.is_annotated)
        )
        off = isinstance(value, Py) and value.const is NO_CONST and value.off
        if not (value is UNKNOWN or told or off or any(is_none(o) is True for o in options(value))):
            return value
        if isinstance(func.node, ast.Lambda):
            return value
        self.read(func.module)
        given = self.seen.get(func.node, {}).get(name, UNKNOWN)
        if given is UNKNOWN and value is UNKNOWN:
            self.read_callers(func)
            given = self.seen.get(func.node, {}).get(name, UNKNOWN)
            if given is UNKNOWN and self.at.functions.usage.is_loader(func, name):
                return self.at.models.instance(self.at.models.named("loader"))
        if given is UNKNOWN or is_none(given) is True:
            return value
        if told:  # a tensor, of which the program may say the dtype
            return given if all(isinstance(o, Tensor) and o.dtype for o in options(given)) else value
        return given if value is UNKNOWN else join(value, given)

    def as_made(self, cls: ClassInfo) -> Instance:
        """An object of the class as the program makes it: with what it passes for parameters of which `__init__` says
        nothing."""
        found = self.at.classes.find_method(cls, "__init__")
        if found is None:
            return self.at.objects.instance(cls)
        owner, node = found
        func = Func(node, owner.module, owner.env, Instance(cls), owner)
        a = node.args
        names = [p.arg for p in placed(a)][1:]
        known = self.at.functions.seeds(func)[1:]
        args = [self.parameter(func, name, value) for name, value in zip(names, known, strict=True)]
        more = {p.arg: self.parameter(func, p.arg, UNKNOWN) for p in a.kwonlyargs}
        more = {name: value for name, value in more.items() if value is not UNKNOWN}
        if not more and all(a is b for a, b in zip(args, known, strict=True)):
            return self.at.objects.instance(cls)
        return self.at.objects.variant(cls, args, more)

    def made_with(self, cls: ClassInfo, init: Func, name: str, optional: bool) -> list[Value]:
        """What the project passes for a parameter that `__init__` has to be given, or may be given if `optional`,
        wherever it makes such a module."""
        left_out = NONE if optional else UNKNOWN
        found = self.makings(cls, init, name, optional, tests=True)
        return [left_out if value is None else value for value, _, _ in found]

    def makings(
        self, cls: ClassInfo, init: Func, name: str, optional: bool = True, tests: bool = False
    ) -> list[tuple[Value | None, ast.expr | None, ClassInfo | None]]:
        """What the project passes for that parameter wherever it makes such a module, None where nothing; with the
        expression of it, and the class whose method makes the module. What tests of it make is no use of it, unless
        `tests` says that any is asked for."""
        a = init.node.args
        names = [p.arg for p in placed(a)][1:]
        if not optional:
            names = names[: len(names) - len(a.defaults)]
        elif name in (by_name := [p.arg for p in a.kwonlyargs]):
            names = [*names, *by_name]
        if name not in names or a.vararg is not None:
            return []
        self.read(init.module)
        self.read_callers(init)
        at = names.index(name)
        return [
            (*each.given(name, at), each.maker)
            for each in self.at.objects.makings.get(cls, ())
            if tests or not self.at.classes.is_of_tests(each.module)
        ]

    def switches_on(self, cls: ClassInfo, name: str) -> bool:
        """Whether the file of a class of options, or one that makes such an object, sets an option of it to True."""
        if cls not in self._makers:
            self._makers[cls] = [cls.module]
            project = self.at.names.project
            for path in project.calling(frozenset({cls.name, f".{cls.name}"}), cls.module.path):
                with contextlib.suppress(OSError, SyntaxError, ValueError, RecursionError, MemoryError):
                    self._makers[cls].append(project.load(path))
        ways = (f"{name}=True", f"{name} = True", f'"{name}": True', f"'{name}': True")
        return any(module.says(way) for module in self._makers[cls] for way in ways)

    def read_callers(self, func: Func) -> None:
        """Read the other files that call the function, or the class whose method it is."""
        home = func.module
        made = func.bound.cls if isinstance(func.bound, Instance) else None
        name = func.node.name  # type: ignore[union-attr]
        method: frozenset[str] = frozenset()  # `self.average.update(parameters)`, of what another method made
        if (cls := made or func.defined_in) is not None:  # which may inherit the method
            words = frozenset((cls.name, f".{cls.name}"))
            method = frozenset((f".{name}",) if name != "__init__" else ())
        else:
            words = frozenset((name, f"{home.name.rpartition('.')[2]}.{name}"))
        if words | method in self._asked:
            return
        self._asked.add(words | method)
        if method:
            self.run(home, [each for each in self.uncalled(home) if called_in(each.node, method)])
        project = self.at.names.project
        for path in project.calling(words, home.path):
            try:
                module = project.load(path)
            except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
                continue  # told where that file is linted
            if module is not home:
                wanted = with_aliases(module.text, words) | method
                self.run(module, [func for func in self.uncalled(module) if called_in(func.node, wanted)])

    def read(self, module: Module) -> None:
        """Read the file itself: its top level, then the functions that it does not call."""
        if module.path not in self._read:
            self._read.add(module.path)
            self.run(module, [func for func in self.uncalled(module) if func.bound is None])

    def run(self, module: Module, functions: list[Func]) -> None:
        """Run a file's top level once, then functions of it, noting nothing, to see what they call with what."""
        first = module.path not in self._run
        self._run.add(module.path)
        env: Env = {}
        self.at.notebook.quiet += 1
        try:
            for statement in module.tree.body if first else ():
                if not isinstance(statement, DEFINES):
                    if not self.at.functions.active:
                        self.at.expressions.begin()
                    frame = Frame(module, unit_of(statement), "the module")
                    self.at.statements.block([statement], env, frame)
            for func in functions:
                if func.node in self.seen:
                    continue  # by now something called it
                frame = Frame(module, unit_of(func.node), "the module")
                args = self.at.functions.seeds(func)
                if not self.at.functions.active:
                    self.at.expressions.begin()
                args = args[1:] if func.bound is not None and args else args
                self.at.calls.apply(func, args, {}, func.node, frame)
        finally:
            self.at.notebook.quiet -= 1

    def uncalled(self, module: Module) -> list[Func]:
        """The file's functions and methods that nothing was seen to call."""
        functions = [Func(node, module) for node in module.functions.values()]
        for cls in module.classes.values():
            me = self.at.objects.instance(cls)
            functions += [Func(node, module, cls.env, me, cls) for node in cls.methods.values()]
        return [func for func in functions if func.node not in self.seen]


def called_in(function: ast.AST, words: Set[str]) -> bool:
    """Whether one of the words is called in the function: see `Project.calling`."""
    for part in walk(function):
        if isinstance(part, ast.Call):
            callee = part.func
            if isinstance(callee, ast.Name) and callee.id in words:
                return True
            if isinstance(callee, ast.Attribute):
                owner = callee.value.id if isinstance(callee.value, ast.Name) else ""
                if f"{owner}.{callee.attr}" in words or f".{callee.attr}" in words:
                    return True
    return False
