"""Classes of the project: bases across files, and how methods bind."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pt2lint.static.interpreter.frame import Frame
from pt2lint.static.interpreter.syntax import dotted
from pt2lint.static.source.modules import ClassInfo, Module
from pt2lint.static.source.nodes import FunctionNode, is_own, last_word, placed, unit_of, walk
from pt2lint.static.source.reads import BASE
from pt2lint.static.values import (
    ALWAYS_OFF,
    MEMBER,
    OBJECT,
    OFTEN_OFF,
    UNKNOWN,
    Class,
    Ext,
    Func,
    Instance,
    Partial,
    Py,
    Super,
    Tensor,
    Value,
    Wrapped,
)

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context


MOST_HEIRS = 4  # of an abstract class: more say little of an object
OF_METRICS = ("update", "compute", "reset")  # over the batches of an epoch


class Classes:
    def __init__(self, at: Context) -> None:
        self.at = at
        self._bases: dict[ClassInfo, tuple[list[ClassInfo], list[str], bool]] = {}
        self._methods: dict[ClassInfo, dict[str, tuple[ClassInfo, FunctionNode] | None]] = {}
        self._is_module: dict[ClassInfo, bool] = {}
        self._seldom: dict[ClassInfo, bool] = {}
        self._replaced: dict[ClassInfo, frozenset[str]] = {}
        self._made_as: dict[ClassInfo, list[ClassInfo]] = {}
        self.methods: dict[FunctionNode, tuple[Value, str]] = {}
        self.are_compiled = False  # whether the forward of every module counts as compiled

    def bases(self, cls: ClassInfo) -> tuple[list[ClassInfo], list[str], bool]:
        """(classes of the project in resolution order, external bases, is any base unknown)."""
        known = self._bases.get(cls)
        if known is not None:
            return known
        self._bases[cls] = ([cls], [], False)
        order, externals, hazy = [cls], [], False
        frame = Frame(cls.module, unit_of(cls.node), cls.name)
        for expression in cls.node.bases:
            base = self.at.expressions.quietly(expression, cls.env or {}, frame)
            if base is UNKNOWN and isinstance(expression, ast.Subscript):  # `Base[T]`
                base = self.at.expressions.quietly(expression.value, cls.env or {}, frame)
            if isinstance(base, Class):
                above, names, unknown = self.bases(base.info)
                order += [c for c in above if c not in order]
                externals += [n for n in names if n not in externals]
                hazy = hazy or unknown
            elif isinstance(base, Ext):
                externals.append(base.name)
            elif isinstance(base, Instance) and base.external:
                externals.append(base.external)
            else:
                hazy = True
        self._bases[cls] = (order, externals, hazy)
        self._methods.pop(cls, None)  # found while not all bases were known
        return self._bases[cls]

    def is_module(self, cls: ClassInfo | None) -> bool:
        """Whether the class is an nn.Module: by its bases, or, where a base is outside the project, because it
        has a `forward` and builds torch.nn modules or parameters in `__init__`, or gives what `forward` is given to
        functions of tensors."""
        if cls is None:
            return False
        known = self._is_module.get(cls)
        if known is None:
            self._is_module[cls] = False
            order, externals, hazy = self.bases(cls)
            known = any(self.at.models.makes_modules(n) for n in externals)
            foreign = [n for n in externals if not self.at.models.library_of(n).closed]
            # A module has its base's `compile`, and `__call__` as Python finds it there.
            own = any("compile" in c.methods or "__call__" in c.methods for c in order)
            if not known and (foreign or hazy) and not own:
                known = any("forward" in c.methods for c in order) and (
                    any(self._builds_modules(c) for c in order) or self._computes(cls)
                )
            self._is_module[cls] = known
        return known

    def _computes(self, cls: ClassInfo) -> bool:
        """Whether `forward`, of the class itself, uses something that it is given as only a tensor can be used."""
        node = cls.methods.get("forward")
        if node is None or len(placed(node.args)) < 2 or node.decorator_list:
            return False
        method = Func(node, cls.module, cls.env, None, cls)
        return any(
            self.at.functions.usage.by_use(method, parameter) is not UNKNOWN
            for parameter in placed(node.args)[1:]
        )

    def _builds_modules(self, cls: ClassInfo) -> bool:
        init = cls.methods.get("__init__")
        if init is None:
            return False
        for node in walk(init):
            if isinstance(node, ast.Call) and isinstance(node.func, (ast.Attribute, ast.Name)):
                head = node.func
                while isinstance(head, ast.Attribute):
                    head = head.value  # type: ignore[assignment]
                if isinstance(head, ast.Name) and head.id in cls.module.imports:
                    value = self.at.expressions.quietly(
                        node.func, {}, Frame(cls.module, unit_of(init), cls.name)
                    )
                    if isinstance(value, Ext) and (
                        self.at.models.of(value.name).forward is not None
                        or isinstance(self.at.models.value_of_type(value.name), Tensor)
                    ):
                        return True
        return False

    def is_seldom_compiled(self, cls: ClassInfo) -> bool:
        """Whether its base class says that it runs beside a model: a metric, a transform of data; or its methods do, as
        those of a metric of the project's own."""
        known = self._seldom.get(cls)
        if known is None:
            own, external, _ = self.bases(cls)
            names = [*external, *(f"{base.module.name}.{base.name}" for base in own)]
            known = any(self.at.models.plays(name, "seldom compiled") for name in names)
            known = known or all(any(name in base.methods for base in own) for name in OF_METRICS)
            self._seldom[cls] = known
        return known

    def is_of_tests(self, module: Module) -> bool:
        """Whether the file tests: it imports pytest or so, or pytest collects it, by its name and one in it."""
        if any(self.at.models.plays(name, "runs tests") for name in module.imports.values()):
            return True
        file = os.path.basename(module.path)
        return (file.startswith("test_") or file.endswith("_test.py")) and (
            any(name.startswith("test") for name in module.functions)
            or any(name.startswith("Test") for name in module.classes)
        )

    def is_function(self, cls: ClassInfo) -> bool:
        """Whether it is a function with a gradient of its own."""
        return any(self.at.models.plays(base, "differentiable function") for base in self.bases(cls)[1])

    def loader(self, cls: ClassInfo | None) -> str:
        """The loader outside the project that the class is one of, which is gone over and counted as the class does
        not itself; "" where it is none."""
        if cls is None:
            return ""
        own, external, _ = self.bases(cls)
        base = next((base for base in external if self.at.models.plays(base, "loader")), "")
        if base and any(_first(own, name) for name in ("__iter__", "__len__")):
            return ""
        return base

    def is_differentiable(self, cls: ClassInfo | None, method: ast.AST) -> bool:
        """Whether it is the `forward` of a function with a `backward` of its own."""
        if cls is None or getattr(method, "name", "") != "forward" or not self.is_function(cls):
            return False
        return any(name in one.methods for one in self.bases(cls)[0] for name in ("backward", "vjp", "jvp"))

    def is_replaced(self, cls: ClassInfo, name: str) -> bool:
        """Whether a decorator of the class puts another function in the method's place, which does not call it: it
        may run it all the same, when a table of functions has nothing better."""
        known = self._replaced.get(cls)
        if known is None:
            self._replaced[cls] = frozenset()
            known = self._replaced[cls] = frozenset(
                method
                for decorator in cls.node.decorator_list
                for method in self._replaced_by(decorator, cls)
            )
        return name in known

    def _replaced_by(self, decorator: ast.expr, cls: ClassInfo) -> Iterator[str]:
        callee = decorator.func if isinstance(decorator, ast.Call) else decorator
        value = self.at.expressions.quietly(
            callee, cls.env or {}, Frame(cls.module, unit_of(cls.node), cls.name)
        )
        if not isinstance(value, Func) or isinstance(value.node, ast.Lambda):
            return
        parts = list(ast.walk(value.node))
        taken = {part.arg for part in parts if isinstance(part, ast.arg)}
        called = {dotted(part.func) for part in parts if isinstance(part, ast.Call)}
        for part in parts:
            if not isinstance(part, ast.Assign):
                continue
            for target in part.targets:
                if isinstance(target, ast.Attribute) and dotted(target.value) in taken:
                    kept = {
                        dotted(name)
                        for other in parts
                        if isinstance(other, ast.Assign) and dotted(other.value) == dotted(target)
                        for name in other.targets
                    }
                    if not called & ({*kept, dotted(target)} - {None}):
                        yield target.attr

    def find_method(
        self, cls: ClassInfo, name: str, after: ClassInfo | None = None
    ) -> tuple[ClassInfo, FunctionNode] | None:
        if after is not None:
            order = self.bases(cls)[0]
            return _first(order[order.index(after) + 1 :] if after in order else [], name)
        known = self._methods.get(cls)
        if known is None:
            known = self._methods[cls] = {}
        if name not in known:
            known[name] = _first(self.bases(cls)[0], name)
        return known[name]

    def find_in_metaclass(self, cls: ClassInfo, name: str) -> tuple[ClassInfo, FunctionNode] | None:
        """The method as a metaclass of the project defines it, which the class or a base of it names."""
        for one in self.bases(cls)[0]:
            for keyword in one.node.keywords:
                home = Frame(one.module, unit_of(one.node), one.name)
                value = self.at.expressions.quietly(keyword.value, one.env or {}, home)
                if keyword.arg == "metaclass" and isinstance(value, Class):
                    return self.find_method(value.info, name)
        return None

    def read_by(self, cls: ClassInfo, name: str) -> set[str]:
        """The attributes of its object that a property reads."""
        found = self.find_method(cls, name)
        read = walk(found[1]) if found is not None and found[1].decorator_list else ()
        return {part.attr for part in read if is_own(part)}

    def made_as(self, cls: ClassInfo) -> list[ClassInfo]:
        """The classes of which an object may be that is said to be of this one: itself, or, as nobody makes objects of
        an abstract class, those of the project that are derived from it, where these are few."""
        known = self._made_as.get(cls)
        if known is None:
            self._made_as[cls] = [cls]  # while it is asked
            found = self._heirs(cls) if self.is_abstract(cls) else []
            known = self._made_as[cls] = found if 0 < len(found) <= MOST_HEIRS else [cls]
        return known

    def is_abstract(self, cls: ClassInfo) -> bool:
        """Whether the class leaves a method to those that are derived from it."""
        words = self.at.models.last_words("abstract method")
        saying = [c for c in self.bases(cls)[0] if any(map(c.module.says, words))]
        found = (self.find_method(cls, name) for name in {name for c in saying for name in c.methods})
        return any(
            last_word(decorator) in words and self._plays(decorator, "abstract method", one[0])
            for one in found
            if one is not None
            for decorator in one[1].decorator_list
        )

    def _plays(self, decorator: ast.expr, role: str, cls: ClassInfo) -> bool:
        frame = Frame(cls.module, unit_of(cls.node), cls.name)
        value = self.at.expressions.quietly(decorator, cls.env or {}, frame)
        return isinstance(value, Ext) and self.at.models.plays(value.name, role)

    def _heirs(self, cls: ClassInfo) -> list[ClassInfo]:
        project = self.at.names.project
        modules = {cls.module.path: cls.module}
        for path in project.calling(frozenset({f"{BASE}{cls.name}"}), cls.module.path):
            try:
                modules.setdefault(path, project.load(path))
            except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
                continue  # told where that file is linted
        return [
            one
            for module in modules.values()
            for one in module.classes.values()
            if one is not cls and cls in self.bases(one)[0] and not self.is_abstract(one)
        ]

    def class_attribute(self, cls: ClassInfo, name: str) -> Value:
        """`Class.name`."""
        for c in self.bases(cls)[0]:
            if name in c.methods:
                return self.method_value(c, c.methods[name], None, Class(cls))
            if name in c.attributes:
                value = self.at.expressions.quietly(
                    c.attributes[name], c.env or {}, Frame(c.module, unit_of(c.node), c.name)
                )
                number = isinstance(value, Py) and value.type in ("bool", "int", "float")
                if (number or value in (UNKNOWN, OBJECT)) and self.is_enumeration(cls):
                    return Py(MEMBER, f"{c.name}.{name}")
                if isinstance(value, Py) and number:
                    return Py(value.type, off=0 if self.set_elsewhere(cls, name) else off(value))
                return value
        for external_base in self.bases(cls)[1]:
            if name == "apply" and self.at.models.plays(external_base, "differentiable function"):
                found = self.find_method(cls, "forward")
                if found is not None:
                    # Dynamo traces `forward`; its first parameter is the context, unless another method sets that.
                    forward = Func(found[1], found[0].module, found[0].env, None, found[0])
                    apart = self.find_method(cls, "setup_context") is not None
                    filled: list[Value] = [] if apart else [OBJECT]
                    home = Frame(found[0].module, unit_of(found[1]), "", cls=found[0])
                    if self._decorated_method(forward, found[1], found[0], home)[1] == "class":
                        filled.insert(0, Class(cls))
                    return Partial(forward, filled, {}) if filled else forward
            if self.at.models.plays(external_base, "enumeration"):
                return OBJECT
        return self.inherited_maker(cls, name)

    def is_enumeration(self, cls: ClassInfo) -> bool:
        """Whether its attributes are members, which are no numbers and no texts."""
        names = self.bases(cls)[1]
        return any(self.at.models.plays(name, "enumeration") for name in names) and not any(
            self.at.models.plays(name, f"base of {what}") for name in names for what in ("numbers", "texts")
        )

    def is_generic(self, cls: ClassInfo) -> bool:
        """Whether brackets after the class can only say of what kind its parts are: `Table[int]`."""
        order, externals, _ = self.bases(cls)
        own = self.find_method(cls, "__class_getitem__") or any(c.node.keywords for c in order)
        return not own and not any(self.at.models.plays(base, "enumeration") for base in externals)

    def inherited_maker(self, cls: ClassInfo, name: str) -> Value:
        """`Net.from_pretrained`, of a class whose base outside the project has it: it gives an object of the class."""
        for base in self.bases(cls)[1]:
            if self.at.models.plays(f"{base}.{name}", "makes one of its class"):
                return Ext(f"{base}.{name}", Class(cls))
        return UNKNOWN

    def method_value(
        self, owner: ClassInfo, node: FunctionNode, me: Value | None, cls: Value | None = None
    ) -> Value:
        """A method as looked up on an instance (`me`) or on the class: bound, decorated, or a property's value."""
        known = self.methods.get(node)
        if known is None:
            frame = Frame(owner.module, unit_of(node), f"`{owner.name}.{node.name}`", cls=owner, me=me)
            bare = Func(node, owner.module, owner.env, None, owner)
            self.methods[node] = known = (bare, "")
            self.methods[node] = known = self._decorated_method(bare, node, owner, frame)
        value, how = known
        if how == "property":
            return self.call_property(value, me) if me is not None else UNKNOWN
        if how == "static":
            return value
        return bind(value, (cls or UNKNOWN) if how == "class" else me)

    def _decorated_method(
        self, bare: Func, node: FunctionNode, owner: ClassInfo, frame: Frame
    ) -> tuple[Value, str]:
        how, rest = "", []
        for decorator in node.decorator_list:
            value = self.at.expressions.quietly(decorator, owner.env or {}, frame)
            roles = self.at.models.of(value.name).roles if isinstance(value, Ext) else ()
            if "property" in roles:
                how = "property"
            elif "static method" in roles:
                how = "static"
            elif "class method" in roles:
                how = "class"
            else:
                rest.append(value)
        return self.at.calls.decorate(bare, rest, frame), how

    def call_property(self, getter: Value, me: Value) -> Value:
        if isinstance(me, Instance) and isinstance(getter, Func):
            frame = Frame(getter.module, unit_of(getter.node), f"`{getattr(getter.node, 'name', '')}`")
            return self.at.calls.apply(bind(getter, me), [], {}, getter.node, frame)
        return UNKNOWN

    def super_attribute(self, owner: Super, name: str) -> Value:
        if isinstance(owner.instance, Instance) and owner.instance.cls is not None:
            found = self.find_method(owner.instance.cls, name, owner.after)
            if found is not None:
                return self.method_value(*found, owner.instance, Class(owner.instance.cls))
            if self.is_module(owner.instance.cls):
                externals = [
                    n for n in self.bases(owner.instance.cls)[1] if self.at.models.of(n).forward is not None
                ]
                if name == "forward" and externals and not self.at.models.plays(externals[0], "module base"):
                    return self.at.models.instance(externals[0])
                if name == "__call__":
                    found = self.find_method(owner.instance.cls, "forward")
                    if found is not None:
                        return self.method_value(*found, owner.instance)
                return Ext(f"{self.at.models.named('module base')}.{name}", owner.instance)
            above = self.bases(owner.instance.cls)[1]
            if above and self.at.models.plays(above[0], "trains"):  # `super().step()`, of an optimizer
                return self.at.models.attribute(above[0], owner.instance, name)
        elif isinstance(owner.instance, Class):
            found = self.find_method(owner.instance.info, name, owner.after)
            if found is not None:
                return self.method_value(*found, owner.instance, owner.instance)
            return self.inherited_maker(owner.instance.info, name)
        return UNKNOWN

    def super_call(self, args: list[Value], frame: Frame) -> Value:
        if len(args) == 2 and isinstance(args[0], Class):
            return Super(args[1], args[0].info)
        if frame.cls is None or frame.me is None:
            return UNKNOWN
        return Super(frame.me, frame.cls)

    def set_elsewhere(self, cls: ClassInfo, name: str) -> bool:
        """Whether any method of the class assigns the attribute."""
        return any(c.assigned(name) for c in self.bases(cls)[0])


def bind(value: Value, me: Value | None) -> Value:
    """The function as bound to an object."""
    if isinstance(value, Func) and value.bound is None:
        return Func(value.node, value.module, value.env, me, value.defined_in)
    if isinstance(value, Wrapped):
        return Wrapped(value.how, bind(value.inner, me))
    return value


def off(value: Py) -> int:
    """What is False or 0.0 where the project sets it is off until someone asks for it."""
    if value.const is False or (value.type == "float" and value.const == 0):
        return ALWAYS_OFF if value.const is False else OFTEN_OFF
    return value.off


def _first(classes: list[ClassInfo], name: str) -> tuple[ClassInfo, FunctionNode] | None:
    """The method of the first class that has it."""
    for cls in classes:
        if name in cls.methods:
            return cls, cls.methods[name]
    return None
