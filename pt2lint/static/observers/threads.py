"""Settings that one thread makes, where compiled code is called in another one."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from pt2lint.op import Op
from pt2lint.said import told_place
from pt2lint.static.interpreter.frame import Env, Frame
from pt2lint.static.source.modules import ClassInfo, Module
from pt2lint.static.source.nodes import FunctionNode, unit_of, walk
from pt2lint.static.values import Ext, Func, Instance, Value, Wrapped, is_none, options

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context

ENTERS = ("target", "function", "func", "fn", "initializer")  # keywords of what a thread runs


class Threads:
    """`begun`: functions that a thread of their own runs, each with where that is said; `callers`: who calls a
    function, None for the top of a file; `runs`: who calls compiled code; `settings`: by place who sets what."""

    def __init__(self, at: Context) -> None:
        self.at = at
        self.begun: dict[Any, str] = {}
        self.callers: dict[Any, set[Any]] = {}
        self.runs: set[Any] = set()
        self.settings: dict[tuple[str, int, int], tuple[str, Any]] = {}

    def called(
        self, node: ast.Call, func: Value, args: list[Value], result: Value, env: Env, frame: Frame
    ) -> None:
        if isinstance(func, Func):
            self.callers.setdefault(func.node, set()).add(self.at.functions.running())
        elif isinstance(func, Ext) and self.at.models.plays(func.name, "starts threads"):
            given = [
                *args,
                *(self.at.expressions.again(k.value, env, frame) for k in node.keywords if k.arg in ENTERS),
            ]
            self.begins(given, node, frame)
        elif (
            isinstance(node.func, ast.Attribute)
            and node.func.attr == "run_in_executor"
            and _of_threads(args[:1])
        ):
            self.begins(args[1:2], node, frame)

    def begins(self, given: list[Value], node: ast.Call, frame: Frame) -> None:
        for value in given:
            for option in options(value):
                inner = option.inner if isinstance(option, Wrapped) else option
                if not isinstance(inner, Func):
                    continue
                if inner is not option:
                    self.runs.add(inner.node)
                elif inner.node not in self.at.functions.run and not isinstance(inner.node, ast.Lambda):
                    self.read_at_once(inner, inner.node)
                self.begun.setdefault(inner.node, told_place(frame.module.path, node.lineno))

    def read_at_once(self, func: Func, definition: FunctionNode) -> None:
        """What a function does that nothing calls but the thread, as one within another: as far as names tell."""
        frame = Frame(
            func.module, unit_of(definition), "", cls=func.defined_in, me=func.bound, closure=func.env
        )
        for part in walk(definition):
            if isinstance(part, ast.Call):
                callee = self.at.expressions.quietly(part.func, {}, frame)
                if self.at.calls.roots.is_compiled(callee):
                    self.runs.add(definition)
                elif isinstance(callee, Func):
                    self.callers.setdefault(callee.node, set()).add(definition)
            elif isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store):
                self.set_in(part, self.at.expressions.quietly(part.value, {}, frame), definition, func.module)

    def read_through(self, module: Module, classes: list[ClassInfo]) -> None:
        """`class Worker(threading.Thread)` runs its `run` in a thread."""
        for cls in classes:
            run = cls.methods.get("run")
            if run is not None and any(
                self.at.models.plays(base, "starts threads") for base in self.at.classes.bases(cls)[1]
            ):
                self.begun.setdefault(run, told_place(module.path, run.lineno))

    def called_compiled(
        self, func: Value, args: list[Value], kwargs: dict[str, Value], node: Any, frame: Frame
    ) -> None:
        self.runs.add(self.at.functions.running())

    def assigned(
        self, target: ast.expr, owner: Value, value: Value, index: Value | None, env: Env, frame: Frame
    ) -> None:
        if isinstance(target, ast.Attribute):
            self.set_in(target, owner, self.at.functions.running(), frame.module)

    def set_in(self, target: ast.Attribute, owner: Value, function: Any, module: Module) -> None:
        if isinstance(owner, Ext) and self.at.models.plays(owner.name, "holds settings"):
            place = module.path, target.lineno, module.column(target.lineno, target.col_offset)
            self.settings[place] = f"{owner.name}.{target.attr}", function

    def finished(self, op: Op, path: str) -> Op:
        """The setting, with the function that a thread runs without it, and where that thread is started."""
        if op.name != "set setting" or not self.begun:
            return op
        name, _ = self.settings.get((path, op.line, op.column), ("", None))
        made_in = self.above({where for named, where in self.settings.values() if named == name})
        if not name or not made_in.isdisjoint(self.begun):
            return op  # that thread makes it for itself
        run = next((one for one in self.above(self.runs) if one in self.begun), None)
        if run is None:
            return op
        apart = {one for one in self.runs if self.above({one}).isdisjoint(self.begun)}
        words = {"thread": getattr(run, "name", "lambda"), "thread at": self.begun[run]} | (
            {"also here": "yes"} if apart else {}
        )
        return op._replace(details={**op.details, **words})

    def above(self, functions: set[Any]) -> set[Any]:
        """These functions and all from which they are called."""
        found, new = set(functions), [*functions]
        while new:
            for caller in self.callers.get(new.pop(), ()):
                if caller not in found:
                    found.add(caller)
                    new.append(caller)
        return found


def _of_threads(pool: list[Value]) -> bool:
    """Whether it is a pool of threads; None is the one that the loop makes."""
    return any(
        is_none(option) is True
        or (isinstance(option, Instance) and "Process" not in (option.external or "Process"))
        for value in pool
        for option in options(value)
    )
