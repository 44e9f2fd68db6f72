"""Objects of the project's classes: what `__init__` leaves in `self`, and what `self.x` is."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, NamedTuple

from pt2lint.static.interpreter.classes import bind, off
from pt2lint.static.interpreter.frame import Env, Frame
from pt2lint.static.interpreter.functions import MAX_DEPTH
from pt2lint.static.interpreter.special import special
from pt2lint.static.source.modules import ClassInfo, Module
from pt2lint.static.source.nodes import last_word, made_once, parts, says_none, unit_of
from pt2lint.static.values import (
    MEMBER,
    NONE,
    OBJECT,
    OFTEN_OFF,
    UNKNOWN,
    Class,
    Dict,
    Ext,
    Func,
    Instance,
    Py,
    Seq,
    Union,
    Value,
    Wrapped,
    as_kept,
    is_none,
    join,
    join_all,
    options,
    signature,
    tensor_of,
)

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context

NEAR = 1  # helpers of other files that are followed one below the other, where `__init__` leads to them
MOST_MAKINGS = 16  # calls of one class that are kept


class Making(NamedTuple):
    """One place where the project makes a module: with what, the class whose method makes it, and its file."""

    args: list[Value]
    kwargs: dict[str, Value]
    node: ast.AST
    maker: ClassInfo | None
    module: Module

    def given(self, name: str, at: int) -> tuple[Value | None, ast.expr | None]:
        """What is passed for a parameter, by its name and its position, and the expression of it."""
        value = self.args[at] if at < len(self.args) else self.kwargs.get(name)
        if not isinstance(self.node, ast.Call):
            return value, None
        by_name = {word.arg: word.value for word in self.node.keywords}
        return value, self.node.args[at] if at < len(self.node.args) else by_name.get(name)


class Objects:
    def __init__(self, at: Context) -> None:
        self.at = at
        self._instances: dict[Any, Instance] = {}
        self._objects: dict[Any, Instance] = {}
        self._variants: dict[ClassInfo, int] = {}
        self._ctor: dict[Instance, tuple[list[Value], dict[str, Value]]] = {}
        self._initialized: set[Instance] = set()
        self._late: set[tuple[Instance, str]] = set()
        self.makings: dict[ClassInfo, list[Making]] = {}
        self.made_traced: set[ClassInfo] = set()  # classes of which traced code makes objects
        self.made: dict[tuple[str, int, int, str], Instance] = {}
        self.building: tuple[ClassInfo, int] | None = (
            None  # what `state` runs, and how many functions ran before
        )

    def construct(
        self,
        cls: ClassInfo,
        args: list[Value],
        kwargs: dict[str, Value],
        node: Any,
        frame: Frame,
        spread: bool,
    ) -> Value:
        if self.at.classes.is_module(cls):
            made = f"make {self.at.models.named('module base')}"
            if self.at.notebook.listens(made, frame):
                state = self.state(self.instance(cls, args, kwargs))
                passed = {signature(o) for value in [*args, *kwargs.values()] for o in options(value)}
                held = sorted(
                    {
                        v.external
                        for v in state.values()
                        if isinstance(v, Instance) and v.external and signature(v) not in passed
                    }
                )
                self.at.notebook.note(node, made, frame, details={"made": " ".join(held)})
            calls = self.makings.setdefault(cls, [])
            if len(calls) < MOST_MAKINGS and not spread:
                maker = frame.own_class
                calls.append(Making(args, kwargs, node, maker, frame.module))
            return self.instance(cls, args, kwargs)
        externals = self.at.classes.bases(cls)[1]
        if any(self.at.models.plays(e, "enumeration") for e in externals):
            asked = tensor_of(args[0]) if len(args) == 1 else None
            if asked is not None and self.at.notebook.listens("size tensor", frame):
                self.at.notebook.note(
                    node, "size tensor", frame, about=asked
                )  # each member is compared with it
            return OBJECT
        if frame.region:
            self.made_traced.add(cls)
            for name in (*externals, *self._decorators(cls)):
                self.at.calls.breaks(self.at.models.of(name), node, frame)
        init = self.at.classes.find_method(cls, "__init__")
        if init is None or any(getattr(c.func, "attr", "") == "__init__" for c in parts(init[1], ast.Call)):
            for name in externals:
                # What is derived from an optimizer is made as that is; a wrapper around one makes none.
                if self.at.models.plays(name, "trains") and not self.at.models.plays(name, "schedules"):
                    if self.at.notebook.listens(f"call {name}", frame):
                        self.at.notebook.note(node, f"call {name}", frame)
        instance = Instance(cls)
        key = (cls, signature(Seq(args)), signature(Dict(kwargs)))
        known = self._objects.get(key)
        if known is not None:
            instance = known
        else:
            self._objects[key] = instance
        if init is None:
            given = dict(zip(self.annotated(cls), args, strict=False)) | kwargs
            given |= {} if spread else self._left_out(cls, given)
            instance.attrs.update({k: v for k, v in given.items() if v is not UNKNOWN})
            self._initialized.add(instance)
            if frame.region and len(self.at.functions.active) < MAX_DEPTH:
                special(self.at, instance, "__post_init__", [], node, frame)
            return instance
        self._initialized.add(instance)
        if len(self.at.functions.active) < MAX_DEPTH:
            method = self.at.classes.method_value(*init, instance)
            self.at.calls.apply(method, args, kwargs, node, frame, spread)
        return instance

    def _decorators(self, cls: ClassInfo) -> list[str]:
        """The names of what decorates a class from outside the project; `torch.jit.script` gives back the class that it
        is given."""
        home = Frame(cls.module, unit_of(cls.node), cls.name)
        heads = [d.func if isinstance(d, ast.Call) else d for d in cls.node.decorator_list]
        values = [self.at.expressions.quietly(head, cls.env or {}, home) for head in heads]
        names = [value.name for value in values if isinstance(value, Ext)]
        return [name for name in names if not self.at.models.plays(name, "traces modules")]

    def annotated(self, cls: ClassInfo) -> list[str]:
        """The names that the class and its bases annotate, in the order in which a dataclass takes them."""
        names = list(cls.annotations)
        for c in self.at.classes.bases(cls)[0][1:]:
            names = [*(n for n in c.annotations if n not in names), *names]
        return names

    def _left_out(self, cls: ClassInfo, given: dict[str, Value]) -> dict[str, Value]:
        """The fields that are None where nothing is given for them, and that nothing sets."""
        return {
            name: NONE
            for name in self.annotated(cls)
            if name not in given
            if is_none(self.at.classes.class_attribute(cls, name)) is True
            if not self.at.classes.set_elsewhere(cls, name)
        }

    def makes_owner(self, node: ast.Call, func: Value, env: Env, frame: Frame) -> bool:
        """Whether a method is called of an object that the function itself makes, with nothing between the two that may
        end the graph: after a break there is an object."""
        if not isinstance(func, Func) or not isinstance(func.bound, Instance):
            return False
        made = self.making(node)
        if made is None or self.is_parted(made, frame):
            return False
        classes = options(self.at.expressions.again(made.func, env, frame))
        return any(isinstance(o, Class) and o.info is func.bound.cls for o in classes)

    def is_parted(self, made: ast.Call, frame: Frame) -> bool:
        """Whether something that may end the graph stands between what makes an object and what runs now."""
        return any(made.lineno < line < frame.line for line in frame.noted)

    def making(self, node: ast.Call) -> ast.Call | None:
        """The call that gives the object whose method is called: `Sampler().step(x)`, or `sampler.step(x)` where the
        function assigns the name once."""
        made = node.func.value if isinstance(node.func, ast.Attribute) else None
        if isinstance(made, ast.Name):
            running = self.at.functions.running()
            made = made_once(running).get(made.id) if running is not None else None
        return made if isinstance(made, ast.Call) else None

    def as_tuple(self, value: Value, frame: Frame) -> Value:
        """The value, or the tuple that it is, if it is an object of a `NamedTuple` of the project."""
        if not isinstance(value, Instance) or value.cls is None:
            return value
        if not any(self.at.models.plays(e, "named tuple") for e in self.at.classes.bases(value.cls)[1]):
            return value
        names = self.annotated(value.cls)
        return Seq([self.instance_attribute(value, name, frame) for name in names], None, "tuple")

    def followed(self, name: str, node: Any, frame: Frame) -> Instance:
        """An object whose later life is followed: one for each place that makes it."""
        key = (frame.module.path, getattr(node, "lineno", 0), getattr(node, "col_offset", 0), name)
        made = self.made.get(key)
        if made is None:
            made = self.made[key] = Instance(None, name, True)
        return made

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

    def variant(self, cls: ClassInfo, args: list[Value], kwargs: dict[str, Value]) -> Instance:
        """The object of a class that is made with these arguments in particular."""
        made = Instance(cls)
        self._ctor[made] = (args, kwargs)
        return made

    def variants(self, cls: ClassInfo) -> list[Instance]:
        """The instances of the class that were told apart by what they were given."""
        return [made for made in self._ctor if made.cls is cls]

    def state(self, instance: Instance) -> dict[str, Value]:
        if instance not in self._initialized:
            self._initialized.add(instance)
            assert instance.cls is not None
            found = self.at.classes.find_method(instance.cls, "__init__")
            if found is not None:
                owner, node = found
                func = Func(node, owner.module, owner.env, instance, owner)
                frame = Frame(owner.module, unit_of(node), "`__init__`", cls=owner, me=instance)
                args, kwargs = self._ctor.get(instance, (None, {}))
                self.at.notebook.quiet += 1
                outer, self.building = self.building, (instance.cls, len(self.at.functions.active))
                try:
                    self.at.functions.call_function(
                        func,
                        self.at.functions.seeds(func)[1:] if args is None else args,
                        kwargs,
                        node,
                        frame,
                        False,
                    )
                finally:
                    self.building = outer
                    self.at.notebook.quiet -= 1
        return instance.attrs

    def is_beside(self, func: Func) -> bool:
        """Whether a function that an `__init__` leads to is too far off to leave anything in the object: a helper of
        another file's helper."""
        if self.building is None or func.module is self.building[0].module:
            return False
        cls, before = self.building
        own = [c.methods.get("__init__") for c in self.at.classes.bases(cls)[0]]
        running = self.at.functions.stack()[before:]
        return sum(node not in own for node in running) >= NEAR

    def store(self, instance: Instance, name: str, value: Value, frame: Frame) -> None:
        old = instance.attrs.get(name)
        if isinstance(value, Py) and value.type in ("bool", "int", "float"):
            # Another call may leave another number.
            value = Py(value.type, read=value.read, off=off(value))
        elif isinstance(value, Py) and value.type == MEMBER and self._is_switched(instance, name):
            value = Py(value.type, read=value.read)
        if not frame.region:
            value = as_kept(value)
        self.at.conditions.asked.keep(instance, name, value, frame)
        instance.attrs[name] = value if old is None or old is value else join(_unmade(old, value), value)

    def _is_switched(self, instance: Instance, name: str) -> bool:
        """Whether more than `__init__` sets the attribute: `def set_phase(self, phase): self.phase = phase`, or a
        function of the file in each of many, `part.phase = phase`."""
        assert instance.cls is not None
        own = self.at.classes.bases(instance.cls)[0]
        return any(method.name != "__init__" for c in own for method, _ in c.assigned(name)) or any(
            c.module.handed(name) for c in own
        )

    def late_attribute(self, instance: Instance, name: str) -> Value | None:
        """An attribute that only methods other than `__init__` assign."""
        assert instance.cls is not None
        if (instance, name) in self._late:
            return instance.attrs.get(name)
        self._late.add((instance, name))
        for c in self.at.classes.bases(instance.cls)[0]:
            stores = [store for store in c.assigned(name) if store[0].name != "__init__"]
            plain = all(isinstance(value, ast.Constant) for _, value in stores)
            for method, value in stores:
                if len(self.at.functions.active) > 6:
                    continue
                if plain and value is not None:  # what the method does besides is not asked
                    frame = Frame(c.module, unit_of(method), f"`{method.name}`", cls=c, me=instance)
                    self.store(instance, name, self.at.expressions.quietly(value, {}, frame), frame)
                    continue
                func = Func(method, c.module, c.env, instance, c)
                frame = Frame(c.module, unit_of(method), f"`{method.name}`", cls=c, me=instance)
                self.at.notebook.quiet += 1
                try:
                    self.at.functions.call_function(
                        func, self.at.functions.seeds(func)[1:], {}, method, frame, False
                    )
                finally:
                    self.at.notebook.quiet -= 1
                if name not in instance.attrs:
                    instance.attrs[name] = UNKNOWN
            unset = is_none(instance.attrs.get(name, UNKNOWN)) is True
            for function, value in c.module.handed(name) if unset else ():
                frame = Frame(c.module, unit_of(function), f"`{function.name}`")
                self.store(instance, name, self.at.expressions.quietly(value, {}, frame), frame)
        return instance.attrs.get(name)

    def instance_attribute(self, instance: Instance, name: str, frame: Frame) -> Value:
        if instance.cls is None:
            return (
                self.at.models.attribute(instance.external, instance, name) if instance.external else UNKNOWN
            )
        cls = instance.cls
        state = self.state(instance)
        if name in state:
            value = state[name]
            if is_none(value) is True:
                # `self.loader = None` in `__init__`: what it is, another method says.
                return self.late_attribute(instance, name) or value
            if value is not UNKNOWN:
                return value
        found = self.at.classes.find_method(cls, name)
        if found is not None:
            getter, how = self.at.classes.methods.get(found[1], (None, ""))
            if getter is None:
                self.at.classes.method_value(*found, None)
                getter, how = self.at.classes.methods[found[1]]
            if how == "property":
                assert getter is not None
                return self.at.calls.apply(bind(getter, instance), [], {}, found[1], frame)
            return self.at.classes.method_value(*found, instance, Class(cls))
        late = self.late_attribute(instance, name)
        if late is not None:
            return late
        if name in state:
            return state[name]
        said = self._said_by_class(cls, name)
        if said is not None:
            return said
        return Class(cls) if name == "__class__" else self._of_library(instance, cls, name)

    def _said_by_class(self, cls: ClassInfo, name: str) -> Value | None:
        """What the body of a class, or of one that it derives from, says of an attribute."""
        for c in self.at.classes.bases(cls)[0]:
            if name in c.annotations:
                value = self.at.types.annotation(
                    c.annotations[name], Frame(c.module, unit_of(c.node), c.name)
                )
                default = _by_default(c.attributes.get(name))
                if says_none(default):
                    return join(NONE, value)
                if isinstance(default, ast.List) and not default.elts and isinstance(value, Seq):
                    return Seq([], value.elem, value.type)
                if (
                    isinstance(value, Py)
                    and _is_off(default)
                    and not self.at.functions.passed.switches_on(c, name)
                ):
                    return Py(value.type, off=OFTEN_OFF)
                if value is not UNKNOWN or default is None:
                    return value
            if name in c.attributes:
                return self.at.classes.class_attribute(c, name)
        return None

    def _of_library(self, instance: Instance, cls: ClassInfo, name: str) -> Value:
        """What a class outside the project, from which this one derives, has under a name."""
        externals = self.at.classes.bases(cls)[1]
        if self.at.classes.is_module(cls):
            for external in externals:
                attribute = self.at.models.library_of(external).attribute
                said = attribute(external, instance, name) if attribute is not None else None
                if said is not None:
                    return said
            # What another compiler makes of a module has the module's own methods.
            own = (e for e in externals if not self.at.models.plays(e, "scripted"))
            base = next((e for e in own if self.at.models.of(e).forward is not None), None)
            base = base or self.at.models.named("module base")
            return self.at.models.attribute(base, instance, name)
        return self.at.models.attribute(externals[0], instance, name) if externals else UNKNOWN

    def counted_by_framework(self, module: Value | None, name: str) -> bool:
        """Whether the framework that runs a module counts in that attribute, which no class of the project has."""
        if not isinstance(module, Instance) or module.cls is None or name in self.state(module):
            return False
        own, foreign, _ = self.at.classes.bases(module.cls)
        return (
            any(self.at.models.plays(f"{base}.{name}", "counted by a framework") for base in foreign)
            and self.at.classes.find_method(module.cls, name) is None
            and not any(name in each.attributes for each in own)
        )

    def read_counted(self, owner: Value, name: str, node: ast.expr, frame: Frame) -> None:
        """Traced code reads such an attribute, of the module or of what the framework sets in it:
        `self.trainer.global_step`."""
        place = node.value if isinstance(node, ast.Attribute) else None
        if isinstance(place, ast.Attribute) and place.attr in self.at.models.last_words("set by a framework"):
            owner = frame.me or owner
        if self.at.notebook.listens("read counted", frame) and self.counted_by_framework(owner, name):
            self.at.notebook.note(node, "read counted", frame)

    def instance_item(self, owner: Instance, index: Value, frame: Frame) -> Value:
        if owner.cls is not None:
            found = self.at.classes.find_method(owner.cls, "__getitem__")
            if found is not None and not self._is_batch(owner.cls, index):
                return self.at.calls.apply(
                    self.at.classes.method_value(*found, owner), [index], {}, found[1], frame
                )
        elif owner.external:
            attribute = self.at.models.library_of(owner.external).attribute
            key = index.const if isinstance(index, Py) and isinstance(index.const, (str, int)) else ""
            item = attribute(owner.external, owner, f"[{key}]") if attribute is not None else None
            return item if item is not None else UNKNOWN
        return UNKNOWN

    def _is_batch(self, cls: ClassInfo, index: Value) -> bool:
        """Whether something annotated as a data set is asked for an item by a name: it is a batch of the set."""
        if not isinstance(index, Py) or not isinstance(index.const, str):
            return False
        return any(self.at.models.plays(e, "numbers its items") for e in self.at.classes.bases(cls)[1])


def _by_default(given: ast.expr | None) -> ast.expr | None:
    """What a field of a class is by default: `= False`, `= field(default=False)`, `= Field(False, ...)`."""
    if not isinstance(given, ast.Call) or last_word(given.func) not in ("field", "Field"):
        return given
    first = given.args[0] if given.args else None
    return next((word.value for word in given.keywords if word.arg == "default"), first)


def _is_off(default: ast.expr | None) -> bool:
    """Whether a flag or a rate is off by default."""
    value = default.value if isinstance(default, ast.Constant) else None
    return value is False or (isinstance(value, float) and not value)


def _holds_code(value: Value) -> bool:
    if isinstance(value, (Func, Class, Instance, Wrapped)):
        return not (isinstance(value, Instance) and value.cls is None and not value.external)
    if isinstance(value, Union):
        return any(_holds_code(o) for o in value.options)
    return isinstance(value, Seq) and _holds_code(value.elem)


def _unmade(old: Value, value: Value) -> Value:
    """What an attribute held before, less the classes of what it holds now, which was made of them: `self.norm = norm`,
    then `self.norm = norm(dim)`."""
    made = [o for o in options(value) if isinstance(o, Instance)]
    own, others = {o.cls for o in made}, {o.external for o in made}
    kept = [
        o
        for o in options(old)
        if not ((isinstance(o, Class) and o.info in own) or (isinstance(o, Ext) and o.name in others))
    ]
    return join_all(kept) if kept else value
