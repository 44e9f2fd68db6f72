"""What is done with compiled callables outside of what is compiled, and with state inside of it."""

from __future__ import annotations

import ast
from typing import Any

from pt2lint.static.frame import Env, Frame, unit_of
from pt2lint.static.lifecycle import Lifecycle
from pt2lint.static.modules import ClassInfo, FunctionNode, below, walk
from pt2lint.static.values import UNKNOWN, Ext, Func, Instance, Py, Seq, Value, Wrapped

GROWS = ("append", "extend", "insert")
SHRINKS = ("clear", "pop", "popleft", "remove")


class Compiled(Lifecycle):
    # What torch.compile returns

    def compiled_as(self, wrapped: Wrapped, settings: dict[str, Value]) -> Wrapped:
        """Remember the keyword arguments of torch.compile, as `dynamic` decides what a call costs."""
        if settings:
            self.settings[id(wrapped)] = (
                wrapped,
                {k: self.sort(v) for k, v in settings.items() if k != "model"},
            )
        return wrapped

    def compiled_attribute(self, owner: Wrapped, name: str, node: ast.expr, frame: Frame) -> Value:
        """`compiled.name`: everything but a call of the object itself is the original's."""
        inner = owner.inner
        if name == "_orig_mod":
            return inner
        module = isinstance(inner, Instance) and (inner.cls is None or self.is_module(inner.cls))
        if (module or inner is UNKNOWN) and self.listens("attribute of compiled", frame):
            found = self.find_method(inner.cls, name) if isinstance(inner, Instance) and inner.cls else None
            words = {"name": "constant " + repr(name), "self": self.sort(inner)}
            if found is not None:
                words["method"] = self.compute(*found)
            self.note(node, "attribute of compiled", frame, args=words)  # type: ignore[arg-type]
        return self.attribute_of(inner, name, node, frame) if module else UNKNOWN

    def compute(self, cls: ClassInfo, node: FunctionNode) -> str:
        """What a method does that compiling could speed up: "calls self", "calls forward", "calls NAME", or ""."""
        if not node.args.args:
            return ""
        me = node.args.args[0].arg
        for decorator in node.decorator_list:
            named = decorator.func if isinstance(decorator, ast.Call) else decorator
            value = self.quietly(named, cls.env or {}, Frame(cls.module, (1, 1), ""))
            if not isinstance(value, Ext) or not value.name.startswith(
                ("torch.no_grad", "torch.inference_mode")
            ):
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
            return callee.name in self.types.modules
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
        self, func: Wrapped, args: list[Value], kwargs: dict[str, Value], node: Any, frame: Frame
    ) -> None:
        """A compiled callable is called from code that is not compiled."""
        if not self.listens("call compiled", frame) or not isinstance(node, ast.Call):
            return
        words: dict[int | str, str] = {i: self.sort(a) for i, a in enumerate(args)}
        words.update({k: self.sort(v) for k, v in kwargs.items()})
        for name, value in self.settings.get(id(func), (None, {}))[1].items():
            words["compile " + name] = value
        inner = func.inner
        if isinstance(inner, Instance) and inner.cls is not None:
            found = self.find_method(inner.cls, "forward")
            inner = self.method_value(*found, inner) if found is not None else inner
        if isinstance(inner, Func) and not isinstance(inner.node, ast.Lambda):
            a = inner.node.args
            names = [p.arg for p in [*a.posonlyargs, *a.args]][1 if inner.bound is not None else 0 :]
            fixed = _lengths(inner.node)
            for i, name in enumerate(names[: len(args)]):
                if name in fixed:
                    words[f"use {i}"] = fixed[name]
            words.update({f"use {k}": fixed[k] for k in kwargs if k in fixed})
        self.note(node, "call compiled", frame, args=words)

    # State that changes inside

    def changed(self, target: ast.expr, current: Value, env: Env, frame: Frame) -> None:
        """A number is read and written back: `self.step += 1`, `global n; n += 1`."""
        if not frame.region or not isinstance(current, Py) or current.type != "int" or current.read:
            return
        if isinstance(target, ast.Attribute) and self.listens("change attribute", frame):
            owner = self.quietly(target.value, env, frame)
            if isinstance(owner, Instance) and owner.cls is not None and self.is_module(owner.cls):
                self.note(target, "change attribute", frame)
        elif (
            isinstance(target, ast.Name)
            and target.id in frame.globals
            and self.listens("change global", frame)
        ):
            self.note(target, "change global", frame)

    def grown(self, node: ast.Call, env: Env, frame: Frame) -> None:
        """`self.seen.append(x)`, `SEEN.append(x)`: a list that nothing in sight makes shorter."""
        callee = node.func
        if not frame.region or not isinstance(callee, ast.Attribute) or callee.attr not in GROWS:
            return
        place = callee.value
        if isinstance(place, ast.Name) and self.listens("grow global", frame):
            module = frame.module
            made = module.assigned.get(place.id, ())
            if place.id in env or (frame.closure is not None and place.id in frame.closure) or len(made) != 1:
                return
            if isinstance(made[0], ast.List) and not _shortened(module.tree, place):
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
                _shortened(tree, place) for tree in {id(c.module): c.module.tree for c in order}.values()
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


def _lengths(node: FunctionNode) -> dict[str, str]:
    """Parameters whose value decides how much is traced: `range(n)` -> {"n": "range"}."""
    found: dict[str, str] = {}
    for part in walk(node):
        if isinstance(part, (ast.For, ast.comprehension)):
            source = part.iter
            if (
                isinstance(source, ast.Call)
                and isinstance(source.func, ast.Name)
                and source.func.id == "range"
            ):
                for a in source.args:
                    if isinstance(a, ast.Name):
                        found[a.id] = "range"
            elif isinstance(source, ast.Name):
                found.setdefault(source.id, "iterated")
    for part in walk(node):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            found.pop(part.id, None)
    return found


def _shortened(tree: ast.AST, place: ast.Name | ast.Attribute) -> bool:
    """Whether the list of that name is emptied, or assigned through another object, anywhere in the file."""
    name = place.id if isinstance(place, ast.Name) else place.attr

    def is_it(node: ast.AST) -> bool:
        return (isinstance(node, ast.Attribute) and node.attr == name) or (
            isinstance(node, ast.Name) and node.id == name and isinstance(place, ast.Name)
        )

    for node in walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in SHRINKS and is_it(node.func.value):
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
