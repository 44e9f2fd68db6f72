"""Options that a compiled module was given and reads, and that code outside sets: `args.epoch = epoch` where `__init__`
has `self.args = args`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pt2lint.said import told_place
from pt2lint.static.interpreter.frame import Env, Frame, title
from pt2lint.static.interpreter.syntax import dotted
from pt2lint.static.observers.compiled_parts import CompiledParts
from pt2lint.static.observers.counts import advanced
from pt2lint.static.observers.uses import Decisive, item
from pt2lint.static.source.modules import ClassInfo
from pt2lint.static.source.nodes import FunctionNode, below, binds, parameters_in, placed, walk
from pt2lint.static.values import Class, Dict, Func, Instance, Unknown, Value

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context

Functions = tuple[FunctionNode, ...]


class GivenOptions:
    def __init__(self, at: Context) -> None:
        self.at = at
        self.parts = CompiledParts(at)
        self.decisive = Decisive(at)
        # Of a function, a class or a file: the names that it assigns to, and what is given to which calls in it.
        self._made: dict[ast.AST, set[str]] = {}
        self._given: dict[ast.AST, dict[str, list[tuple[ast.Call, Functions]]]] = {}
        self._own: dict[FunctionNode, set[str]] = {}

    def assigned(
        self, target: ast.expr, owner: Value, value: Value, index: Value | None, env: Env, frame: Frame
    ) -> None:
        """`args.epoch = n`, `options["epoch"] = n`"""
        if frame.region:
            return
        if not isinstance(target, (ast.Attribute, ast.Subscript)) or dotted(target.value) is None:
            return
        if not isinstance(owner, (Unknown, Dict)) and (
            not isinstance(owner, Instance)
            or (owner.cls is not None and self.at.classes.is_module(owner.cls))
        ):
            return
        if not self.at.notebook.listens("set attribute of compiled", frame):
            return
        words = self.read_of(target, target.value, owner, env, frame)
        if words:
            args: dict[int | str, str] = {0: self.at.types.sort(value)}
            self.at.notebook.note(target, "set attribute of compiled", frame, args=args, details=words)

    def called(
        self, node: ast.Call, func: Value, args: list[Value], result: Value, env: Env, frame: Frame
    ) -> None:
        """`clock.tick()`, a method that counts in its object."""
        if frame.region or not isinstance(func, Func) or not isinstance(node.func, ast.Attribute):
            return
        me, place = func.bound, node.func.value
        if not isinstance(me, Instance) or me.cls is None or self.at.classes.is_module(me.cls):
            return
        if isinstance(func.node, ast.Lambda) or not self.at.notebook.listens(
            "set attribute of compiled", frame
        ):
            return
        for attribute, amount in advanced(func.node, self.at.objects.state(me)):
            number = ast.Attribute(place, attribute, ast.Load())
            if words := self.read_of(number, place, me, env, frame):
                words |= {"sets": attribute, "through": title(func), "by": amount}
                words |= {"own": "yes"} if "becomes" in words else {}  # else told in the method
                self.at.notebook.note(
                    node, "set attribute of compiled", frame, args={0: amount}, details=words
                )

    def read_of(
        self, target: ast.Attribute | ast.Subscript, place: ast.expr, owner: Value, env: Env, frame: Frame
    ) -> dict[str, str]:
        """What compiled code does with a part of what stands at the place: of a module that holds it, or of the object
        itself, whose numbers are inputs; {} if none reads it."""
        found, held = None, False
        for module, attribute in self.holders(place, owner, env, frame):
            held = True
            found = found or self.decisive.of_attribute(module, item(attribute, target))
        words = {"head": ast.unparse(place)}
        running = self.at.functions.running()
        init = isinstance(running, FunctionNode) and running.name == "__init__"
        # `self.step += 1` of an object that has a method of its own compiled. What a module holds is a constant.
        if isinstance(owner, Instance) and owner.cls is not None and not held and not init:
            if isinstance(target, ast.Attribute):
                found = self.decisive.of_attribute(owner, target.attr)
                words |= {"becomes": "input"} | ({} if self.at.calls.roots.modules else {"own": "yes"})
                words |= {"counts": ast.unparse(target)} if owner is frame.me else {}
        if found is None:
            return {}
        use, reader = found
        return words | {"use": use.how, "at": told_place(use.path, use.line), "to": title(reader)}

    def holders(
        self, place: ast.expr, owner: Value, env: Env, frame: Frame
    ) -> Iterator[tuple[Instance, str]]:
        """The parts of compiled modules that hold what stands there, and in which attribute."""
        modules = [module for module in self.parts.all().values() if module.cls is not None]
        # Two objects of one class are one value: where the code at hand makes it, it is followed by its name.
        running = self.at.functions.running()
        here = running if running is not None else frame.module.tree
        made = isinstance(place, ast.Name) and (
            place.id in self.made(here)
            or (place.id in frame.module.assigned and (running is None or place.id not in _bound(running)))
        )
        for module in modules if isinstance(owner, Instance) and not made else ():
            for name, held in self.at.objects.state(module).items():
                if held is owner:
                    yield module, name
        given = dict.fromkeys(self.given_to(place, env, frame)) if modules else ()
        for cls, attribute in given:
            yield from ((module, attribute) for module in modules if module.cls is cls)

    def made(self, here: ast.AST) -> set[str]:
        """The names that it assigns something to that it does not take from an object: `options = model.options`."""
        nodes = walk(here)  # which notes that it is read
        if here not in self._made:
            self._made[here] = {
                name.id
                for part in nodes
                if isinstance(part, ast.Assign) and not isinstance(part.value, ast.Attribute)
                for target in part.targets
                for name in walk(target)
                if isinstance(name, ast.Name)
            }
        return self._made[here]

    def given_to(self, place: ast.expr, env: Env, frame: Frame) -> Iterator[tuple[ClassInfo, str]]:
        """The classes that are made with what stands there, and the attribute in which they keep it."""
        text = dotted(place)
        for call in self.calls_with(text, place, frame) if text is not None else ():
            yield from self.kept_by(call, text or "", env, frame, 3)

    def calls_with(self, text: str, place: ast.expr, frame: Frame) -> Iterator[ast.Call]:
        """The calls that are given it in the code where the same expression is the same thing: the function at hand,
        the methods of its object, or all that does not bind the global name anew."""
        head, running, me = text.partition(".")[0], self.at.functions.running(), frame.me
        if running is None or head not in _bound(running):
            for call, around in self.given_in(frame.module.tree).get(text, ()):
                if not any(head in self.own_names(function) for function in around):
                    yield call
            return
        here: list[FunctionNode] = [running]
        if isinstance(place, ast.Attribute) and isinstance(me, Instance) and me.cls is not None:
            here = [*me.cls.methods.values()]
        for function in here:
            yield from (call for call, _ in self.given_in(function).get(text, ()))

    def given_in(self, scope: ast.AST) -> dict[str, list[tuple[ast.Call, Functions]]]:
        """The calls in it by each name that they are given, dotted ones too, each with the functions around it."""
        walk(scope)  # notes that it is read
        if scope not in self._given:
            found = self._given[scope] = {}
            pending: list[tuple[ast.AST, Functions]] = [(scope, ())]
            while pending:
                node, around = pending.pop()
                if isinstance(node, ast.Call):
                    values = [*node.args, *(k.value for k in node.keywords)]
                    for text in dict.fromkeys(map(dotted, values)):
                        if text is not None:
                            found.setdefault(text, []).append((node, around))
                elif isinstance(node, FunctionNode):
                    around = (*around, node)
                pending += [(inner, around) for inner in reversed(below(node))]
        return self._given[scope]

    def own_names(self, function: FunctionNode) -> set[str]:
        """The names of its parameters, and those that it binds that are no globals."""
        if function not in self._own:
            self._own[function] = _bound(function) - _shared(function)
        return self._own[function]

    def kept_by(
        self, call: ast.Call, text: str, env: Env, frame: Frame, depth: int
    ) -> Iterator[tuple[ClassInfo, str]]:
        """The class that the call makes an object of, and those of which its `__init__` makes objects with the same."""
        made = self.at.expressions.quietly(call.func, env, frame)
        init = self.at.classes.find_method(made.info, "__init__") if isinstance(made, Class) else None
        if init is None or not isinstance(made, Class) or not depth:
            return
        cls, method = init
        names = [p.arg for p in placed(method.args)][1:]
        given = [*zip(names, call.args, strict=False), *((k.arg or "", k.value) for k in call.keywords)]
        taken = {name for name, value in given if ast.unparse(value) == text}
        for part in walk(method):
            if isinstance(part, ast.Assign) and isinstance(part.value, ast.Name) and part.value.id in taken:
                for target in part.targets:
                    if isinstance(target, ast.Attribute):
                        yield made.info, target.attr
            elif isinstance(part, ast.Call):
                inner = next(
                    (
                        a.id
                        for a in [*part.args, *(k.value for k in part.keywords)]
                        if isinstance(a, ast.Name) and a.id in taken
                    ),
                    None,
                )
                if inner is not None:
                    there = Frame(cls.module, (1, 1), "", cls=cls)
                    yield from self.kept_by(part, inner, cls.env or {}, there, depth - 1)


def _bound(function: ast.AST) -> set[str]:
    """The names of its parameters, and those that it binds."""
    assert isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
    return binds(function) | {p.arg for p in parameters_in(function.args)}


def _shared(function: ast.AST) -> set[str]:
    return {name for part in walk(function) if isinstance(part, ast.Global) for name in part.names}
