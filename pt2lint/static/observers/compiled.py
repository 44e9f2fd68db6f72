"""What is done with compiled callables outside of what is compiled, and with state inside of it."""

from __future__ import annotations

import ast
from typing import Any

from pt2lint.static.interpreter.frame import Env, Frame
from pt2lint.static.observers.lifecycle import Lifecycle, parameters_of
from pt2lint.static.observers.sizes import from_shape
from pt2lint.static.observers.uses import Uses, uses
from pt2lint.static.source.modules import ClassInfo
from pt2lint.static.source.nodes import FunctionNode, below, unit_of, walk
from pt2lint.static.values import UNKNOWN, Ext, Func, Instance, Py, Seq, Value, Wrapped


class Compiled(Lifecycle):
    _decisive: dict[FunctionNode, Uses]

    # What torch.compile returns

    def compiled_as(self, wrapped: Wrapped, settings: dict[str, Value]) -> Wrapped:
        """Remember the keyword arguments of torch.compile, as `dynamic` decides what a call costs."""
        if settings:
            self.settings[id(wrapped)] = (
                wrapped,
                {k: self.sort(v) for k, v in settings.items() if k != "model"},
            )
        return wrapped

    def compiled_in_place(self, me: Instance, settings: dict[str, Value], node: Any, frame: Frame) -> None:
        """`module.compile(...)`: from here on a call of the module is one of what was compiled."""
        if not self.quiet:
            self.compiled(me, node, frame)
            self.settings[id(me)] = (me, {k: self.sort(v) for k, v in settings.items()})

    def is_compiled_in_place(self, me: Instance) -> bool:
        return id(me) in self.settings

    def is_compiled(self, value: Value) -> bool:
        """Whether torch.compile was given the module, or gave it."""
        if isinstance(value, Wrapped):
            return value.how == "compiled"
        return isinstance(value, Instance) and ("root", id(value)) in self._results

    def compiled_attribute(self, owner: Wrapped, name: str, node: ast.expr, frame: Frame) -> Value:
        """`compiled.name`: everything but a call of the object itself is the original's."""
        inner = owner.inner
        if name == "_orig_mod":
            return inner
        module = isinstance(inner, Instance) and (inner.cls is None or self.is_module(inner.cls))
        if (module or inner is UNKNOWN) and self.listens("attribute of compiled", frame):
            self.note(node, "attribute of compiled", frame, args=self.words_of_compiled(inner, name, frame))
        if not module:
            return UNKNOWN
        found = self.attribute_of(inner, name, node, frame)
        if isinstance(found, Ext) and self.models.plays(found.name, "keeps the wrapper"):
            return Ext(found.name, owner)
        return found

    def words_of_compiled(self, inner: Value, name: str, frame: Frame) -> dict[int | str, str]:
        raise NotImplementedError

    def compute(self, cls: ClassInfo, node: FunctionNode) -> str:
        """What a method does that compiling could speed up: "calls self", "calls forward", "calls NAME", or ""."""
        if not node.args.args:
            return ""
        me = node.args.args[0].arg
        for decorator in node.decorator_list:
            named = decorator.func if isinstance(decorator, ast.Call) else decorator
            value = self.quietly(named, cls.env or {}, Frame(cls.module, (1, 1), ""))
            if not isinstance(value, Ext) or not self.models.plays(value.name, "without gradients"):
                return ""
        layers = {name for name, value in cls.layers() if self._makes_module(value, cls)}
        for part in walk(node):
            if isinstance(part, ast.Call):
                callee = part.func
                if isinstance(callee, ast.Name) and callee.id == me:
                    return "calls self"
                if (
                    isinstance(callee, ast.Attribute)
                    and isinstance(callee.value, ast.Name)
                    and callee.value.id == me
                ):
                    if callee.attr == "forward":
                        return "calls forward"
                    if callee.attr in layers:
                        return f"calls {callee.attr}"
        return ""

    def _makes_module(self, value: ast.expr, cls: ClassInfo) -> bool:
        if not isinstance(value, ast.Call):
            return False
        callee = self.quietly(value.func, cls.env or {}, Frame(cls.module, (1, 1), ""))
        if isinstance(callee, Ext):
            return self.models.of(callee.name).forward is not None
        info = getattr(callee, "info", None)
        return info is not None and self.is_module(info)

    def compiled_generator(self, func: Func, node: Any = None, frame: Frame | None = None) -> None:
        """A generator function is compiled, at a call of torch.compile (`node`) or by a decorator."""
        definition = func.node
        if isinstance(definition, ast.Lambda) or not _yields(definition):
            return
        if node is None:
            node = next((d for d in definition.decorator_list if "compile" in ast.dump(d)), None)
            frame = Frame(func.module, unit_of(definition), definition.name)
        if node is not None and frame is not None and self.listens("compile generator", frame):
            self.note(node, "compile generator", frame, args={"name": "constant " + repr(definition.name)})

    def compiled_call(
        self,
        func: Wrapped | Instance,
        args: list[Value],
        kwargs: dict[str, Value],
        node: Any,
        frame: Frame,
    ) -> None:
        """A compiled callable is called from code that is not compiled."""
        if not isinstance(node, ast.Call):
            return
        inner = self.body_of(func.inner if isinstance(func, Wrapped) else func)
        dynamic = self.settings.get(id(func), (None, {}))[1].get("dynamic", "none")
        if frame.loaders and not self.quiet and dynamic == "none":
            self.feeds(ast.unparse(node.func), inner, node, frame)
        if not self.listens("call compiled", frame):
            return
        words: dict[int | str, str] = {i: self.sort(a) for i, a in enumerate(args)}
        words.update({k: self.sort(v) for k, v in kwargs.items()})
        for name, value in self.settings.get(id(func), (None, {}))[1].items():
            words["compile " + name] = value
        if inner is not None:
            names, used = parameters_of(inner), self.uses_of(inner)
            a = inner.node.args
            given = [*enumerate(names[: len(args)]), *((k, k) for k in kwargs)]
            given += [(stars, p.arg) for stars, p in (("*", a.vararg), ("**", a.kwarg)) if p is not None]
            for at, name in given:
                words[f"name {at}"] = name
                if name in used:
                    how, path, line = used[name]
                    words[f"use {at}"], words[f"at {at}"] = how, f"{path}:{line}"
            words |= {"to": self.title(inner), "to at": f"{inner.module.path}:{inner.node.lineno}"}
        self.note(node, "call compiled", frame, args=words)

    def body_of(self, callee: Value) -> Func | None:
        """The function of the project that a call of the value runs."""
        if isinstance(callee, Instance) and callee.cls is not None:
            found = self.find_method(callee.cls, "forward") or self.find_method(callee.cls, "__call__")
            callee = self.method_value(*found, callee) if found is not None else callee
        return callee if isinstance(callee, Func) and not isinstance(callee.node, ast.Lambda) else None

    def uses_of(self, func: Func) -> Uses:
        """What decides how often the function is compiled: see `pt2lint.static.observers.uses`."""
        definition = func.node
        assert not isinstance(definition, ast.Lambda)
        known = self._decisive.get(definition)
        if known is not None:
            return known
        self._decisive[definition] = {}  # what a recursive call adds
        frame = Frame(
            func.module, unit_of(definition), "", cls=func.defined_in, me=func.bound, closure=func.env
        )
        me = definition.args.args[0].arg if func.bound is not None and definition.args.args else ""
        env: Env = {me: func.bound} if func.bound is not None else {}

        def follow(call: ast.Call) -> tuple[Uses, list[str]] | None:
            inner = self.callee(call.func, me, func, frame)
            return None if inner is None else (self.uses_of(inner), parameters_of(inner))

        def evaluate(expression: ast.expr) -> Value:
            return self.quietly(expression, env, frame)

        found = self._decisive[definition] = uses(
            definition, func.module.path, evaluate, follow, self.models, me
        )
        return found

    # State that changes outside

    def set_outside(self, target: ast.Attribute, owner: Value, value: Value, env: Env, frame: Frame) -> None:
        """Code that is not compiled assigns an attribute of a compiled module, or of one inside of it."""
        if frame.region or not self.listens("set attribute of compiled", frame):
            return
        head: ast.expr = target.value
        while not self.is_compiled(self.quietly(head, env, frame)):
            if not isinstance(head, ast.Attribute):
                return
            head = head.value
        if isinstance(owner, Wrapped):
            owner = owner.inner
        if not isinstance(owner, Instance):
            return
        words: dict[int | str, str] = {0: self.sort(value), "head": ast.unparse(head)}
        if owner.cls is None:
            if target.attr == "p" and self.models.plays(owner.external, "rate"):
                words |= {"use": f"constant {owner.external}", "to": owner.external or ""}
                self.note(target, "set attribute of compiled", frame, args=words)
            return
        if not self.is_module(owner.cls) or self.find_method(owner.cls, target.attr) is not None:
            return  # no module, or a property of its own
        for cls in self.bases(owner.cls)[0]:
            for method in cls.methods.values():
                if method not in self.reached or method.name == "__init__":
                    continue
                reader = Func(method, cls.module, cls.env, owner, cls)
                use = self.uses_of(reader).get("." + target.attr)
                if use is not None:
                    words |= {"use": use.how, "at": f"{use.path}:{use.line}", "to": self.title(reader)}
                    self.note(target, "set attribute of compiled", frame, args=words)
                    return

    # State that changes inside

    def changed(self, target: ast.expr, current: Value, env: Env, frame: Frame) -> None:
        """A number is read and written back: `self.step += 1`, `global n; n += 1`."""
        if not frame.region or not isinstance(current, Py) or current.type != "int" or current.read:
            return
        if isinstance(target, ast.Attribute) and self.listens("change attribute", frame):
            owner = self.quietly(target.value, env, frame)
            if isinstance(owner, Instance) and owner.cls is not None and self.is_module(owner.cls):
                self.note(
                    target, "change attribute", frame, args=self.made_once(owner.cls, target.attr, frame)
                )
        elif (
            isinstance(target, ast.Name)
            and target.id in frame.globals
            and self.listens("change global", frame)
        ):
            self.note(target, "change global", frame)

    def kept(self, target: ast.Attribute | ast.Subscript, frame: Frame) -> None:
        """A module keeps a size that compares with the next call's, or something in a dictionary under a size."""
        me, node = frame.me, self._active[-1] if self._active else None
        if not frame.region or not self.listens("keep by size", frame) or not isinstance(me, Instance):
            return
        node = node[0] if isinstance(node, tuple) else node
        place = target.value if isinstance(target, ast.Subscript) else target
        if (
            not isinstance(place, ast.Attribute)
            or not _is_self(place)
            or not isinstance(node, ast.FunctionDef)
        ):
            return
        if me.cls is None or not self.is_module(me.cls):
            return
        methods = [
            m for c in self.bases(me.cls)[0] for m in c.methods.values() if m in self.reached or m is node
        ]
        statement = next(
            (
                p
                for p in walk(node)
                if isinstance(p, ast.Assign) and target in p.targets and len(p.targets) == 1
            ),
            None,
        )
        if statement is None:
            return
        if isinstance(target, ast.Subscript):
            makers = {m.name for c in self.bases(me.cls)[0] for m, _ in c.assigned(place.attr)}
            if makers == {"__init__"} and from_shape(target.slice, node, methods):
                self.note(target, "keep by size", frame, args={"how": "item"})
        elif from_shape(statement.value, node, methods) and _decides(place, statement, node):
            self.note(target, "keep by size", frame, args={"how": "number"})

    def made_once(self, cls: ClassInfo, name: str, frame: Frame) -> dict[int | str, str]:
        """Where `__init__` makes an attribute that nothing else in the file knows of but the function that runs:
        {"made": "LINE COLUMN END_LINE END_COLUMN NUMBER"}, places as in an edit; {} where that is not so."""
        stores = [(m, v) for c in self.bases(cls)[0] for m, v in c.assigned(name) if m.name == "__init__"]
        if len(stores) != 1:
            return {}
        init, value = stores[0]
        if not isinstance(value, ast.Constant) or type(value.value) is not int:
            return {}
        first, last = frame.unit
        statement = None
        for part in walk(frame.module.tree):
            if isinstance(part, ast.Assign) and part.value is value:
                statement = part
            elif isinstance(part, ast.Attribute) and part.attr == name:
                inside = first <= part.lineno <= last
                if not _is_self(part) or not (inside or init.lineno <= part.lineno <= (init.end_lineno or 0)):
                    return {}
        above = [p for p in init.body if isinstance(p, ast.Expr) and ".__init__" in ast.unparse(p)]
        if (
            statement is None
            or len(statement.targets) != 1
            or not above
            or above[0].lineno >= statement.lineno
        ):
            return {}
        column = frame.module.column
        place = (
            statement.lineno,
            column(statement.lineno, statement.col_offset),
            statement.end_lineno or 0,
            column(statement.end_lineno or 0, statement.end_col_offset or 0),
        )
        return {"made": " ".join(map(str, (*place, value.value)))}

    def grown(self, node: ast.Call, env: Env, frame: Frame) -> None:
        """`self.seen.append(x)`, `SEEN.append(x)`: a list that nothing in sight makes shorter."""
        callee = node.func
        if (
            not frame.region
            or not isinstance(callee, ast.Attribute)
            or callee.attr not in self.models.last_words("grows")
        ):
            return
        place = callee.value
        if isinstance(place, ast.Name) and self.listens("grow global", frame):
            module = frame.module
            made = module.assigned.get(place.id, ())
            if place.id in env or (frame.closure is not None and place.id in frame.closure) or len(made) != 1:
                return
            if isinstance(made[0], ast.List) and not _shortened(
                module.tree, place, self.models.last_words("shrinks")
            ):
                self.note(node, "grow global", frame)
        elif isinstance(place, ast.Attribute) and self.listens("grow attribute", frame):
            owner = self.quietly(place.value, env, frame)
            if not isinstance(owner, Instance) or owner.cls is None or not self.is_module(owner.cls):
                return
            value = self.quietly(place, env, frame)
            if not isinstance(value, Seq) or value.type != "list":
                return
            order = self.bases(owner.cls)[0]
            made_in = [method.name for c in order for method, _ in c.assigned(place.attr)]
            if set(made_in) == {"__init__"} and not any(
                _shortened(tree, place, self.models.last_words("shrinks"))
                for tree in {id(c.module): c.module.tree for c in order}.values()
            ):
                self.note(node, "grow attribute", frame)

    # Needed from the layers above

    def find_method(self, cls: Any, name: str, after: Any = None) -> tuple[ClassInfo, FunctionNode] | None:
        raise NotImplementedError

    def method_value(
        self, owner: ClassInfo, node: FunctionNode, me: Value | None, cls: Value | None = None
    ) -> Value:
        raise NotImplementedError

    def bases(self, cls: ClassInfo) -> tuple[list[ClassInfo], list[str], bool]:
        raise NotImplementedError

    def callee(self, callee: ast.expr, me: str, func: Func, frame: Frame) -> Func | None:
        raise NotImplementedError


def _yields(node: FunctionNode) -> bool:
    """Whether the function itself, not one inside it, yields."""
    rest: list[ast.AST] = [*node.body]
    while rest:
        part = rest.pop()
        if isinstance(part, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            rest += below(part)
    return False


def _decides(place: ast.Attribute, statement: ast.Assign, node: FunctionNode) -> bool:
    """Whether an `if` that compares the attribute leads to the statement, or returns before it."""
    return any(
        isinstance(side, ast.Attribute) and side.attr == place.attr and _is_self(side)
        for part in walk(node)
        if isinstance(part, ast.If)
        and (isinstance(part.body[-1], ast.Return) or any(statement in walk(b) for b in part.body))
        for test in walk(part.test)
        if isinstance(test, ast.Compare)
        for side in (test.left, *test.comparators)
    )


def _shortened(tree: ast.AST, place: ast.Name | ast.Attribute, shrinks: frozenset[str]) -> bool:
    """Whether the list of that name is emptied, or assigned through another object, anywhere in the file."""
    name = place.id if isinstance(place, ast.Name) else place.attr

    def is_it(node: ast.AST) -> bool:
        return (isinstance(node, ast.Attribute) and node.attr == name) or (
            isinstance(node, ast.Name) and node.id == name and isinstance(place, ast.Name)
        )

    for node in walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in shrinks and is_it(node.func.value):
                return True
        elif isinstance(node, (ast.Delete, ast.Assign)):
            for target in node.targets:
                inner = target.value if isinstance(target, ast.Subscript) else target
                if is_it(inner):
                    if isinstance(target, ast.Subscript):
                        return True
                    if isinstance(inner, ast.Attribute) and not _is_self(inner):
                        return True
        elif isinstance(node, ast.Global) and name in node.names:
            return True
    return False


def _is_self(node: ast.Attribute) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id == "self"


__all__ = ["Compiled"]
