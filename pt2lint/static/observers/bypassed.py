"""Calls of a module as it was, beside what torch.compile returned of it, or of what holds it. One `Instance` stands for
all modules of a class, a teacher among them, so it is names that tell."""

from __future__ import annotations

import ast
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any, NamedTuple

from pt2lint.op import Op
from pt2lint.said import told_line
from pt2lint.static.interpreter.frame import Env, Frame
from pt2lint.static.interpreter.syntax import dotted, parameters_of
from pt2lint.static.source.modules import ClassInfo
from pt2lint.static.source.nodes import FunctionNode, binds, parts, says_none, unit_of, walk
from pt2lint.static.values import UNKNOWN, Func, Instance, Value, Wrapped, options

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context


class Plain(NamedTuple):
    """A name of a module as it was: that of the wrapper, the line of torch.compile, and whether a part was meant."""

    wrapper: str
    line: int
    of: str


class Bypassed:
    """`plain`: such names, by the file, the function and the name; `called_by`: the function of the project
    that calls the module, by the place of what is told; `both`: functions that are given the wrapper."""

    def __init__(self, at: Context) -> None:
        self.at = at
        self.plain: dict[tuple[str, FunctionNode | None], dict[str, Plain]] = {}
        self.called_by: dict[tuple[str, int, int], FunctionNode] = {}
        self.both: set[FunctionNode] = set()

    def compiled(self, target: Value, node: Any, frame: Frame | None) -> None:
        """torch.compile is given a module, and what it returns is kept under another name."""
        if not isinstance(node, ast.Call) or frame is None or not isinstance(target, Instance):
            return
        if not node.args or not self.at.notebook.listens("call uncompiled", frame):
            return
        running = self.at.functions.running()
        every = walk(frame.module.tree) if running is None else parts(running, ast.Assign)
        bound = [part for part in every if isinstance(part, ast.Assign) and len(part.targets) == 1]
        wrapper = next((dotted(part.targets[0]) for part in bound if part.value is node), None)
        given = dotted(node.args[0])
        if wrapper is None or given is None:
            return
        self.in_methods(wrapper, given, node, bound, frame)
        plain = {given: ""} if given != wrapper else {}
        made = [part for part in bound if dotted(part.targets[0]) == given and part.value is not node]
        made = [part for part in made if not (says_none(part.value))]
        calls = [part.value for part in made if isinstance(part.value, ast.Call)]
        if made and len(calls) == len(made):  # `task = Task(model)`, whichever task it is
            held = set.intersection(*map(_given, calls))
            plain |= dict.fromkeys(sorted(held), " for what holds it")
        first = min([part.lineno for part in made], default=node.lineno)
        for name, of in plain.items():
            lines = [part.lineno for part in bound if dotted(part.targets[0]) == name]
            # What is bound anew before is what was compiled, or what that holds.
            if lines and max(lines) < (first if of else node.lineno):
                here = self.plain.setdefault((frame.module.path, running), {})
                here[name] = Plain(wrapper, node.lineno, of)

    def assigned(
        self, target: ast.expr, owner: Value, value: Value, index: Value | None, env: Env, frame: Frame
    ) -> None:
        """`model.encode = torch.compile(model.encoder)`, of a class that has a method `encode`: a module keeps modules
        apart from its attributes, and what the class has is found first."""
        if not isinstance(target, ast.Attribute) or not isinstance(value, Wrapped) or value.how != "compiled":
            return
        if not isinstance(owner, Instance) or owner.cls is None or not isinstance(value.inner, Instance):
            return
        outside = owner is not frame.me and owner.cls.module is frame.module
        if outside and self.at.notebook.listens("call uncompiled", frame):
            self.beside(f"self.{target.attr}", target.lineno, owner.cls)
        if (
            not self.at.classes.is_module(owner.cls)
            or self.at.classes.find_method(owner.cls, target.attr) is None
        ):
            return
        inner = value.inner
        layer = inner.external is not None and self.at.models.of(inner.external).forward is not None
        if (layer or self.at.classes.is_module(inner.cls)) and self.at.notebook.listens(
            "hide compiled", frame
        ):
            self.at.notebook.note(target, "hide compiled", frame, details={"class": owner.cls.name})

    def in_methods(
        self, wrapper: str, given: str, node: ast.Call, bound: list[ast.Assign], frame: Frame
    ) -> None:
        """`self.fast = torch.compile(model)`, `self.model = model`, and another method calls `self.model(x)`."""
        if frame.cls is None or not wrapper.startswith("self."):
            return
        kept = {dotted(part.targets[0]) for part in bound if dotted(part.value) == given} | {given}
        kept = {name for name in kept if name is not None and name.startswith("self.") and name != wrapper}
        self.in_methods_of(frame.cls, kept, Plain(wrapper, node.lineno, ""))

    def beside(self, wrapper: str, line: int, cls: ClassInfo) -> None:
        """Code outside of the class puts the wrapper in the module's place, `holder.unet = torch.compile(holder.unet)`,
        and the class has it under another name, too: `self.model = self.unet`."""
        init = cls.methods.get("__init__")
        kept = {
            name
            for part in (parts(init, ast.Assign) if init is not None else ())
            if dotted(part.value) == wrapper and len(part.targets) == 1
            if (name := dotted(part.targets[0])) is not None and name.startswith("self.")
        }
        self.in_methods_of(cls, kept, Plain(wrapper, line, ""))

    def in_methods_of(self, cls: ClassInfo, kept: AbstractSet[str | None], plain: Plain) -> None:
        for method in cls.methods.values() if kept else ():
            read = {dotted(part) for part in parts(method, ast.Attribute) if isinstance(part.ctx, ast.Load)}
            set_again = {dotted(t) for part in parts(method, ast.Assign) for t in part.targets}
            if plain.wrapper in read or kept & set_again:
                continue  # it runs either of the two
            there = Frame(cls.module, unit_of(method), f"`{cls.name}.{method.name}`", cls=cls)
            for call in parts(method, ast.Call):
                if dotted(call.func) in kept:
                    self.note(call, dotted(call.func) or "", plain, method, there)

    def called(
        self, node: ast.Call, func: Value, args: list[Value], result: Value, env: Env, frame: Frame
    ) -> None:
        """`fast = torch.compile(model)`, and then `evaluate(model, x)`, which calls the model."""
        names = self.plain.get((frame.module.path, self.at.functions.running())) if self.plain else None
        if not names or not isinstance(func, Func) or not isinstance(func.node, FunctionNode):
            return
        wrappers = {plain.wrapper for plain in names.values()}
        if any(dotted(a) in wrappers for a in node.args):
            self.both.add(func.node)
        for parameter, argument, value in zip(parameters_of(func), node.args, args, strict=False):
            name = argument.id if isinstance(argument, ast.Name) else ""
            plain = names.get(name)
            if plain is None or node.lineno <= plain.line:
                continue
            calls = {dotted(call.func) for call in parts(func.node, ast.Call)}
            module = any(map(self.is_plain_module, options(value)))
            # What nothing else is known of is a module where it is put into another mode.
            if UNKNOWN in options(value) and not self.compiled_otherwise(name, plain):
                module |= f"{parameter}.eval" in calls
            if module and parameter in calls and parameter not in binds(func.node):
                self.note(node, name, plain, func.node, frame)

    def compiled_otherwise(self, name: str, plain: Plain) -> bool:
        """Whether what runs compiles what has this name, too: `model.compile()`, `model = compiled(model)`."""
        running = self.at.functions.running()
        if running is None:
            return True
        every = [(dotted(call.func) or "", call) for call in parts(running, ast.Call)]
        return any(
            "compile" in func.rpartition(".")[2]
            and (name == func.partition(".")[0] or any(dotted(given) == name for given in call.args))
            for func, call in every
            if call.lineno != plain.line
        )

    def is_plain_module(self, value: Value) -> bool:
        if not isinstance(value, Instance) or not self.at.classes.is_module(value.cls):
            return False
        return not self.at.calls.roots.is_compiled_in_place(value)

    def note(self, call: ast.Call, name: str, plain: Plain, by: FunctionNode, frame: Frame) -> None:
        column = frame.module.column(call.lineno, call.col_offset)
        self.called_by[frame.module.path, call.lineno, column] = by
        words = {"name": name, "line": told_line(plain.line), "of": plain.of}
        self.at.notebook.note(call, "call uncompiled", frame, details=words)

    def finished(self, op: Op, path: str) -> Op:
        """Whether the function that calls it is given the wrapper too, as what compares is, or Dynamo traces it."""
        if op.name != "call uncompiled":
            return op
        by = self.called_by[path, op.line, op.column]
        either = by in self.both or by in self.at.functions.reached
        return op._replace(details={**op.details, "both": "yes"}) if either else op


def _given(call: ast.Call) -> set[str]:
    """The names that a call is given as they are."""
    given = [*call.args, *(k.value for k in call.keywords)]
    return {one.id for one in given if isinstance(one, ast.Name)}
