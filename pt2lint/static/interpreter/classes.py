"""Classes and their instances: bases across files, what `self.x` is, and how methods bind."""

from __future__ import annotations

import ast
from typing import Any

from pt2lint.static.interpreter.calls import Calls
from pt2lint.static.interpreter.frame import Env, Frame
from pt2lint.static.source.modules import ClassInfo, Module
from pt2lint.static.source.nodes import FunctionNode, unit_of, walk
from pt2lint.static.values import (
    ALWAYS_OFF,
    LEAF,
    NONE,
    OBJECT,
    OFTEN_OFF,
    STR,
    UNKNOWN,
    Class,
    Dict,
    Ext,
    Func,
    Instance,
    Partial,
    Py,
    Seq,
    Super,
    Tensor,
    Union,
    Value,
    Wrapped,
    join,
    join_all,
)


class Classes(Calls):
    # Names across files

    def module_value(self, module: Module, name: str) -> Value | None:
        """What a module's top-level name is, or None if it has no such name."""
        known = module.values.get(name)
        if known is not None:
            return known
        value = self._module_value(module, name)
        if value is not None:
            module.values[name] = value
        return value

    def _module_value(self, module: Module, name: str) -> Value | None:
        if name in module.classes:
            return Class(module.classes[name])
        if name in module.functions:
            node = module.functions[name]
            module.values[name] = Func(node, module)  # what a decorator that needs it sees
            return self.decorated(Func(node, module), node, {}, Frame(module, unit_of(node), f"`{name}`"))
        if name in module.assigned:
            module.values[name] = UNKNOWN  # a name defined by itself
            frame = Frame(module, (1, 1), "the module")
            self.quiet += 1
            try:
                values = [self.eval(e, {}, frame) for e in module.assigned[name]]
            finally:
                self.quiet -= 1
            # A flag of the module may be changed by anyone: only its type is known, and that it is off as the
            # code stands. Strings and tables stay.
            if len(values) == 1 and isinstance(values[0], Py) and values[0].const is False:
                if f"global {name}" not in module.source:
                    return Py("bool", off=ALWAYS_OFF)
            return (
                join_all(
                    Py(v.type) if isinstance(v, Py) and v.type in ("bool", "int", "float") else v
                    for v in values
                )
                if not (len(values) == 1 and name == "TYPE_CHECKING")
                else values[0]
            )
        if name in module.imports:
            return self.qualified(module.imports[name])
        if name in module.lacks:
            return None
        module.lacks.add(name)  # until it is found, also for a module that takes its names from this one
        for star in module.star_imports:
            other = self.project.find_mentioning(star, name)
            if other is not None and other is not module:
                value = self.module_value(other, name)
                if value is not None:
                    module.lacks.discard(name)
                    return value
        return STR if name == "__name__" else None

    def qualified(self, name: str) -> Value:
        """The value of a dotted name: through the project's own files, else external."""
        known = self._qualified.get(name)
        if known is None:
            self._qualified[name] = Ext(name)
            known = self._qualified[name] = self._find_qualified(name)
        return known

    def _find_qualified(self, name: str) -> Value:
        if not self.project.is_first_party(name):
            return self.models.value(name)
        if self.project.find(name) is not None:
            return Ext(name)
        head, _, last = name.rpartition(".")
        module = self.project.find(head) if head else None
        if module is not None:
            value = self.module_value(module, last)
            return value if value is not None else UNKNOWN
        if head:
            owner = self.qualified(head)
            if isinstance(owner, Class):
                return self.class_attribute(owner.info, last)
        return UNKNOWN

    def external_name(self, value: Value) -> str | None:
        """The qualified name of the external type or object that a value is."""
        if isinstance(value, Ext):
            return value.name
        if isinstance(value, Instance):
            return value.external
        if isinstance(value, Wrapped) and value.how == "context manager":
            return None
        return None

    # Bases

    def bases(self, cls: ClassInfo) -> tuple[list[ClassInfo], list[str], bool]:
        """(classes of the project in resolution order, external bases, is any base unknown)."""
        known = self._bases.get(cls)
        if known is not None:
            return known
        self._bases[cls] = ([cls], [], False)
        order, externals, hazy = [cls], [], False
        frame = Frame(cls.module, unit_of(cls.node), cls.name)
        for expression in cls.node.bases:
            base = self.quietly(expression, cls.env or {}, frame)
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
        return self._bases[cls]

    def is_module(self, cls: ClassInfo | None) -> bool:
        """Whether the class is an nn.Module: by its bases, or, where a base is outside the project, because it
        has a `forward` and builds torch.nn modules in `__init__`."""
        if cls is None:
            return False
        known = self._is_module.get(cls)
        if known is None:
            self._is_module[cls] = False
            order, externals, hazy = self.bases(cls)
            known = any(self.models.makes_modules(n) for n in externals)
            foreign = [n for n in externals if not self.models.library_of(n).closed]
            if not known and (foreign or hazy):
                known = any("forward" in c.methods for c in order) and any(
                    self._builds_modules(c) for c in order
                )
            self._is_module[cls] = known
        return known

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
                    value = self.quietly(node.func, {}, Frame(cls.module, unit_of(init), cls.name))
                    if isinstance(value, Ext) and self.models.of(value.name).forward is not None:
                        return True
        return False

    def find_method(
        self, cls: ClassInfo, name: str, after: ClassInfo | None = None
    ) -> tuple[ClassInfo, FunctionNode] | None:
        order = self.bases(cls)[0]
        if after is not None:
            order = order[order.index(after) + 1 :] if after in order else []
        for c in order:
            if name in c.methods:
                return c, c.methods[name]
        return None

    # Attributes

    def class_attribute(self, cls: ClassInfo, name: str) -> Value:
        """`Class.name`."""
        for c in self.bases(cls)[0]:
            if name in c.methods:
                return self.method_value(c, c.methods[name], None, Class(cls))
            if name in c.attributes:
                value = self.quietly(
                    c.attributes[name], c.env or {}, Frame(c.module, unit_of(c.node), c.name)
                )
                if isinstance(value, Py) and value.type in ("bool", "int", "float"):
                    return Py(value.type, off=0 if self.set_elsewhere(cls, name) else _off(value))
                return value
        for external_base in self.bases(cls)[1]:
            if name == "apply" and self.models.plays(external_base, "differentiable function"):
                found = self.find_method(cls, "forward")
                if found is not None:
                    # Dynamo traces `forward`; its first parameter is the context, unless another method sets that.
                    forward = Func(found[1], found[0].module, found[0].env)
                    apart = self.find_method(cls, "setup_context") is not None
                    return forward if apart else Partial(forward, [OBJECT], {})
            if self.models.plays(external_base, "enumeration"):
                return OBJECT
        return UNKNOWN

    def method_value(
        self, owner: ClassInfo, node: FunctionNode, me: Value | None, cls: Value | None = None
    ) -> Value:
        """A method as looked up on an instance (`me`) or on the class: bound, decorated, or a property's value."""
        frame = Frame(owner.module, unit_of(node), f"`{owner.name}.{node.name}`", cls=owner, me=me)
        known = self._methods.get(node)
        if known is None:
            bare = Func(node, owner.module, owner.env, None, owner)
            self._methods[node] = known = (bare, "")
            self._methods[node] = known = self._decorated_method(bare, node, owner, frame)
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
            value = self.quietly(decorator, owner.env or {}, frame)
            roles = self.models.of(value.name).roles if isinstance(value, Ext) else ()
            if "property" in roles:
                how = "property"
            elif "static method" in roles:
                how = "static"
            elif "class method" in roles:
                how = "class"
            else:
                rest.append(value)
        return self.decorate(bare, rest, frame), how

    def call_property(self, getter: Value, me: Value) -> Value:
        if isinstance(me, Instance) and isinstance(getter, Func):
            frame = Frame(getter.module, unit_of(getter.node), f"`{getattr(getter.node, 'name', '')}`")
            return self.apply(bind(getter, me), [], {}, getter.node, frame)
        return UNKNOWN

    def instance_attribute(self, instance: Instance, name: str, frame: Frame) -> Value:
        if instance.cls is None:
            return self.models.attribute(instance.external, instance, name) if instance.external else UNKNOWN
        cls = instance.cls
        state = self.state(instance)
        if name in state:
            value = state[name]
            if value is not UNKNOWN:
                return value
        found = self.find_method(cls, name)
        if found is not None:
            getter, how = self._methods.get(found[1], (None, ""))
            if getter is None:
                self.method_value(*found, None)
                getter, how = self._methods[found[1]]
            if how == "property":
                assert getter is not None
                return self.apply(bind(getter, instance), [], {}, found[1], frame)
            return self.method_value(*found, instance, Class(cls))
        late = self.late_attribute(instance, name)
        if late is not None:
            return late
        if name in state:
            return state[name]
        for c in self.bases(cls)[0]:
            if name in c.annotations:
                value = self.annotation(c.annotations[name], Frame(c.module, unit_of(c.node), c.name))
                default = c.attributes.get(name)
                if isinstance(default, ast.Constant) and default.value is None:
                    return join(NONE, value)
                if value is not UNKNOWN or default is None:
                    return value
            if name in c.attributes:
                return self.class_attribute(c, name)
        if name == "__class__":
            return Class(cls)
        if self.is_module(cls):
            return self.models.attribute(self.models.named("module base"), instance, name)
        externals = self.bases(cls)[1]
        return Ext(f"{externals[0]}.{name}", instance) if externals else UNKNOWN

    def super_attribute(self, owner: Super, name: str, frame: Frame) -> Value:
        if isinstance(owner.instance, Instance) and owner.instance.cls is not None:
            found = self.find_method(owner.instance.cls, name, owner.after)
            if found is not None:
                return self.method_value(*found, owner.instance, Class(owner.instance.cls))
            if self.is_module(owner.instance.cls):
                externals = [
                    n for n in self.bases(owner.instance.cls)[1] if self.models.of(n).forward is not None
                ]
                if name == "forward" and externals and not self.models.plays(externals[0], "module base"):
                    return self.models.instance(externals[0])
                if name == "__call__":
                    found = self.find_method(owner.instance.cls, "forward")
                    if found is not None:
                        return self.method_value(*found, owner.instance)
                return Ext(f"{self.models.named('module base')}.{name}", owner.instance)
        elif isinstance(owner.instance, Class):
            found = self.find_method(owner.instance.info, name, owner.after)
            if found is not None:
                return self.method_value(*found, owner.instance, owner.instance)
        return UNKNOWN

    def super_call(self, args: list[Value], frame: Frame) -> Value:
        if len(args) == 2 and isinstance(args[0], Class):
            return Super(args[1], args[0].info)
        if frame.cls is None or frame.me is None:
            return UNKNOWN
        return Super(frame.me, frame.cls)

    # State: what `__init__` leaves in `self`

    def instance(
        self, cls: ClassInfo, args: list[Value] | None = None, kwargs: dict[str, Value] | None = None
    ) -> Instance:
        """The one instance that stands for all of a class, or for all that are built from the same modules."""
        key: Any = cls
        if args or kwargs:
            from pt2lint.static.values import signature

            given = [*(args or []), *(kwargs or {}).values()]
            if any(_holds_code(a) for a in given) and self._variants.get(cls, 0) < 8:
                key = (
                    cls,
                    tuple(signature(a) for a in args or ()),
                    tuple((k, signature(v)) for k, v in (kwargs or {}).items()),
                )
        known = self._instances.get(key)
        if known is None:
            known = self._instances[key] = Instance(cls)
            if key is not cls:
                self._variants[cls] = self._variants.get(cls, 0) + 1
                self._ctor[known] = (args or [], kwargs or {})
        return known

    def state(self, instance: Instance) -> dict[str, Value]:
        if instance not in self._initialized:
            self._initialized.add(instance)
            assert instance.cls is not None
            found = self.find_method(instance.cls, "__init__")
            if found is not None:
                owner, node = found
                func = Func(node, owner.module, owner.env, instance, owner)
                frame = Frame(owner.module, unit_of(node), "`__init__`", cls=owner, me=instance)
                args, kwargs = self._ctor.get(instance, (None, {}))
                self.quiet += 1
                try:
                    self.call_function(
                        func,
                        self.seeds(func, frame)[1:] if args is None else args,
                        kwargs,
                        node,
                        frame,
                        False,
                    )
                finally:
                    self.quiet -= 1
        return instance.attrs

    def store(self, instance: Instance, name: str, value: Value, frame: Frame) -> None:
        old = instance.attrs.get(name)
        if isinstance(value, Py) and value.type in ("bool", "int", "float"):
            # Another call may leave another number.
            value = Py(value.type, read=value.read, off=_off(value))
        if isinstance(value, Tensor) and not frame.region:
            value = value.but(leaf=LEAF)
        instance.attrs[name] = value if old is None or old is value else join(old, value)

    def set_elsewhere(self, cls: ClassInfo, name: str) -> bool:
        """Whether any method of the class assigns the attribute."""
        return any(c.assigned(name) for c in self.bases(cls)[0])

    def late_attribute(self, instance: Instance, name: str) -> Value | None:
        """An attribute that only methods other than `__init__` assign."""
        assert instance.cls is not None
        if (instance, name) in self._late:
            return instance.attrs.get(name)
        self._late.add((instance, name))
        for c in self.bases(instance.cls)[0]:
            for method, _ in c.assigned(name):
                if method.name == "__init__" or len(self._active) > 6:
                    continue
                func = Func(method, c.module, c.env, instance, c)
                frame = Frame(c.module, unit_of(method), f"`{method.name}`", cls=c, me=instance)
                self.quiet += 1
                try:
                    self.call_function(func, self.seeds(func, frame)[1:], {}, method, frame, False)
                finally:
                    self.quiet -= 1
                if name not in instance.attrs:
                    instance.attrs[name] = UNKNOWN
        return instance.attrs.get(name)

    def instance_item(self, owner: Instance, index: Value, frame: Frame) -> Value:
        if owner.cls is not None:
            found = self.find_method(owner.cls, "__getitem__")
            if found is not None:
                return self.apply(self.method_value(*found, owner), [index], {}, found[1], frame)
        return UNKNOWN

    # Types

    def is_instance(self, value: Value, names: tuple[str, ...]) -> bool | None:
        """isinstance(value, any of the named types), where it can be told."""
        own = isinstance(value, Instance) and value.cls is not None
        return self.models.is_instance(value, names, own and bool(self.bases(value.cls)[1]))  # type: ignore

    def annotation(self, node: ast.expr | None, frame: Frame, line: int = 0, text: str = "") -> Value:
        """The value that an annotation promises."""
        if node is None:
            return UNKNOWN
        if isinstance(node, ast.Constant):
            if node.value is None:
                return NONE
            if isinstance(node.value, str):
                try:
                    return self.annotation(
                        ast.parse(node.value, mode="eval").body, frame, line or node.lineno, text
                    )
                except SyntaxError:
                    return UNKNOWN
            return UNKNOWN
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            return declare(
                [
                    self.annotation(node.left, frame, line, text),
                    self.annotation(node.right, frame, line, text),
                ]
            )
        origin = (frame.module.path, line or node.lineno, text or "annotated as a tensor")
        if isinstance(node, ast.Subscript):
            base = self.quietly(node.value, {}, frame)
            base, node = self.subscripted_type(base, node, frame)
            name = base.name if isinstance(base, Ext) else ""
            parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            said, dtype = self.models.form(name)
            if said == "optional":
                return declare([NONE, self.annotation(parts[0], frame, line, text)])
            if said == "either":
                return declare([self.annotation(p, frame, line, text) for p in parts])
            if said == "first":
                return self.annotation(parts[0], frame, line, text)
            if said == "tensor":
                value = self.annotation(parts[0], frame, line, text)
                return value.but(dtype=dtype) if isinstance(value, Tensor) else value
            if said in ("list", "set"):
                return Seq(None, self.annotation(parts[0], frame, line, text), said)
            if said == "tuple":
                values = [self.annotation(p, frame, line, text) for p in parts if not _is_ellipsis(p)]
                if len(values) < len(parts):
                    return Seq(None, values[0] if values else UNKNOWN, "tuple")
                if len(values) == 1:
                    # `tuple[Tensor]` is often written for a tuple of any length.
                    return Seq(None, values[0], "tuple")
                return Seq(values, None, "tuple")
            if said == "dict" and len(parts) == 2:
                return Dict({}, self.annotation(parts[1], frame, line, text))
            return UNKNOWN
        value = self.quietly(node, {}, frame)
        if isinstance(value, Ext):
            promised = self.models.value_of_type(value.name, origin)
            if isinstance(promised, Tensor) and not promised.array:
                return promised.but(leaf=LEAF)
            return self.models.value_of_type(value.name) or UNKNOWN
        if isinstance(value, Class):
            info = value.info
            externals = self.bases(info)[1]
            if any(self.models.plays(e, "tensor type") for e in externals):
                return Tensor(None, origin, leaf=LEAF)
            if any(self.models.plays(e, "typing") for e in externals):
                return UNKNOWN
            return self.instance(info)
        alias = self.alias(node.id, frame.module) if isinstance(node, ast.Name) else None
        if alias is not None and frame.depth < 4:
            module, target = alias
            inner = Frame(module, (1, 1), "the module")
            inner.depth = frame.depth + 1
            return self.annotation(target, inner, line or node.lineno, text)
        return UNKNOWN

    def subscripted_type(self, base: Value, node: ast.Subscript, frame: Frame) -> tuple[Value, ast.Subscript]:
        """`Float["b n"]`, where Float's `__getitem__` returns `self.dtype[Tensor, shape]`, is that type."""
        if isinstance(base, Instance) and base.cls is not None:
            found = self.find_method(base.cls, "__getitem__")
            last = found[1].body[-1] if found is not None else None
            if found is not None and isinstance(last, ast.Return) and isinstance(last.value, ast.Subscript):
                owner, method = found
                me: Env = {method.args.args[0].arg: base} if method.args.args else {}
                within = Frame(owner.module, unit_of(method), "", cls=owner, me=base)
                return self.quietly(last.value.value, me, within), last.value
        return base, node

    def alias(self, name: str, module: Module) -> tuple[Module, ast.expr] | None:
        """Where a name that stands for a type is defined, and as what: `Edges = Union[Tensor, Sparse]`."""
        for _ in range(4):
            assigned = module.assigned.get(name)
            if assigned:
                shapes = (ast.Subscript, ast.BinOp, ast.Name, ast.Attribute)
                return (module, assigned[-1]) if isinstance(assigned[-1], shapes) else None
            head, _, name = module.imports.get(name, "").rpartition(".")
            found = self.project.find(head) if head else None
            if found is None:
                return None
            module = found
        return None


def _off(value: Py) -> int:
    """What is False or 0.0 where the project sets it is off until someone asks for it."""
    if value.const is False or (value.type == "float" and value.const == 0):
        return ALWAYS_OFF if value.const is False else OFTEN_OFF
    return value.off


def declare(values: list[Value]) -> Value:
    """One of several kinds, as an annotation says."""
    joined = join_all(values)
    return Union(joined.options, True) if isinstance(joined, Union) else joined


def bind(value: Value, me: Value | None) -> Value:
    """The function as bound to an object."""
    if isinstance(value, Func) and value.bound is None:
        return Func(value.node, value.module, value.env, me, value.defined_in)
    if isinstance(value, Wrapped):
        return Wrapped(value.how, bind(value.inner, me))
    return value


def _holds_code(value: Value) -> bool:
    if isinstance(value, (Func, Class, Instance, Wrapped)):
        return not (isinstance(value, Instance) and value.cls is None and not value.external)
    return isinstance(value, Seq) and _holds_code(value.elem)


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...


__all__ = ["Classes", "Env"]
