"""What the program itself passes to a function: the arguments of the calls in `main()` and at the top of its file.

A compile root has no caller in the graph, so what its parameters are stands nowhere in what Dynamo traces. A script
that makes an optimizer and a loader and calls `train(model, loader, optimizer)` says it elsewhere in the file.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from pt2lint.static.interpreter.frame import Env, Frame
from pt2lint.static.source.modules import Module
from pt2lint.static.source.nodes import unit_of
from pt2lint.static.values import NO_CONST, UNKNOWN, Func, Py, Value, is_none, join, options

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context

DEFINES = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef, ast.Import, ast.ImportFrom)


class Passed:
    """`seen`: function -> parameter -> the join of what plain Python calls pass for it."""

    def __init__(self, at: Context) -> None:
        self.at = at
        self.seen: dict[Any, Env] = {}
        self._read: set[str] = set()

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
        if value is not UNKNOWN and not (isinstance(value, Py) and value.const is NO_CONST and value.off):
            if not any(is_none(o) is True for o in options(value)):
                return value
        if isinstance(func.node, ast.Lambda):
            return value
        self.read(func.module)
        given = self.seen.get(func.node, {}).get(name, UNKNOWN)
        if given is UNKNOWN or is_none(given) is True:
            return value
        return given if value is UNKNOWN else join(value, given)

    def read(self, module: Module) -> None:
        """Run a file's top level once, then the functions that it does not call, noting nothing, to see what they
        call with what."""
        if module.path in self._read:
            return
        self._read.add(module.path)
        env: Env = {}
        self.at.notebook.quiet += 1
        try:
            for statement in module.tree.body:
                if not isinstance(statement, DEFINES):
                    frame = Frame(module, unit_of(statement), "the module")
                    self.at.statements.block([statement], env, frame)
            for node in module.functions.values():
                if node not in self.seen:
                    func = Func(node, module)
                    frame = Frame(module, unit_of(node), "the module")
                    args = self.at.functions.seeds(func, frame)
                    if not self.at.functions.active:
                        self.at.expressions.begin()
                    self.at.calls.apply(func, args, {}, node, frame)
        finally:
            self.at.notebook.quiet -= 1
