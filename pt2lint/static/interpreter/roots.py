"""Compile roots: callables that Dynamo enters, and what torch.compile was given with them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pt2lint.static.interpreter.duties import Duties
from pt2lint.static.interpreter.frame import Frame, entry
from pt2lint.static.interpreter.guards import (
    INSPECTS,
    LOSS,
    NO_TENSOR,
    NO_WEIGHTS,
    PRIVATE,
    TRAINS,
    WHOLE,
    Guard,
)
from pt2lint.static.interpreter.weights import Weights, is_plain, is_scalar
from pt2lint.static.source.named import inside
from pt2lint.static.source.nodes import placed, says_none, unit_of, with_defaults
from pt2lint.static.values import (
    NO_CONST,
    OFTEN_OFF,
    UNKNOWN,
    Class,
    Ext,
    Func,
    Instance,
    Partial,
    Py,
    Seq,
    Tensor,
    Union,
    Value,
    Wrapped,
    as_input,
    given_from_outside,
    join,
    options,
    truth,
)

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context
    from pt2lint.static.interpreter.guards import Path
    from pt2lint.static.source.modules import ClassInfo


class Roots:
    def __init__(self, at: Context) -> None:
        self.at = at
        self.settings: dict[int, tuple[Value, dict[str, str]]] = {}
        self._seen: dict[Any, Value] = {}
        self.weights, self.duties = Weights(at), Duties(at)
        self.does: frozenset[str] = frozenset()  # what the code that runs does: see `Functions.did`
        self.beside = False  # the root that runs is what no model calls
        self.offered: set[Any] = set()
        self.named: Sequence[str] = ()  # by the settings
        self._is_named: dict[Any, bool] = {}
        # What torch.compile makes of functions that a decorator of the project gives it, by their definition.
        self.by_decorator: dict[Any, Wrapped] = {}
        self._decorated: Any = None  # the function whose decorator runs

    def root(
        self,
        value: Value,
        name: str | None,
        guards: Path = (),
        module: ClassInfo | None = None,
        given: Sequence[Value] | None = None,
        by_settings: bool = False,
        assumed: bool = False,
    ) -> None:
        """Interpret a callable as Dynamo's entry point, its parameters being what the code says of them, or what is
        `given`; `guards` is what the reader shall know of it. `module` is the class whose `forward` it is, where
        nothing says that it is compiled. `by_settings`: they name it, and no call of it is one of what is compiled.
        `assumed`: nothing says that it is compiled."""
        if isinstance(value, Wrapped):
            if value.how == "compiled":
                self.root(value.inner, name, (*guards, *self.as_whole(value)), by_settings=by_settings)
            elif value.how == "context manager" and isinstance(value.inner, Func):
                for hear in self.at.events.compiled:
                    hear(value.inner, None, None)
            return
        if isinstance(value, Instance) and value.cls is not None:
            found = self.at.classes.find_method(value.cls, "forward") or self.at.classes.find_method(
                value.cls, "__call__"
            )
            if found is not None:
                self.root(self.at.classes.method_value(*found, value), "forward", guards)
            return
        if not isinstance(value, Func):
            return
        for hear in self.at.events.compiled:
            hear(value, None, None)
        frame = entry(value.module, unit_of(value.node), assumed)
        if not self.at.notebook.quiet:
            frame.context = self.at.conditions.contexts.root(value.node, guards)
        args, kwargs = self.arguments(value, None if by_settings else name, frame, given)
        if name == "forward" and module is None and not by_settings:  # the program itself compiles the module
            args, kwargs = self.switched_on(value, args, kwargs)
        args = [as_input(given) for given in args]
        kwargs = {key: as_input(given) for key, given in kwargs.items()}
        if by_settings:  # else the call is told of
            args = [given_from_outside(given) for given in args]
            kwargs = {key: given_from_outside(given) for key, given in kwargs.items()}
        original = self.undecorated(value)
        if not self.at.functions.active:
            self.at.expressions.begin()
        before, self.does = self.does, frozenset()
        notebook, outer = self.at.notebook, self.at.notebook.started
        if frame.context is not None:
            notebook.started = (frame.context, notebook.clock, self.beside)
        result = self.at.calls.apply(value, args, kwargs, value.node, frame)
        if frame.context is not None:
            notebook.lasted[frame.context] = notebook.clock - notebook.started[1]
            notebook.started = outer
        if module is not None and frame.context is not None:
            sort = self._why_not_compiled(module, value, [*args, *kwargs.values()], result)
            if sort is not None:
                self.at.conditions.contexts.say_of(frame.context, Guard("", sort))
        self.does = before
        if original is not None:
            # A decorator's wrapper passes on `*args`: the function itself knows its parameters better.
            self.root(original, name, guards, module, assumed=assumed)

    def _why_not_compiled(
        self, module: ClassInfo, forward: Func, given: Sequence[Value], result: Value
    ) -> int | None:
        """Why few would compile a module, as a sort of guard; None where nothing says so."""
        if "trains" in self.does:
            return TRAINS
        if any(self.is_module(each) for each in given):
            return INSPECTS
        nothing = is_plain(result) or _is_nothing(forward, result)
        if nothing or (self.gradless(forward) and not isinstance(result, Tensor)):
            return NO_TENSOR
        if module.name.startswith("_"):
            return PRIVATE
        if not self.weights.of(module) and "differentiates" not in self.does:
            return LOSS if is_scalar(result) else NO_WEIGHTS
        return None

    def arguments(
        self, value: Func, name: str | None, frame: Frame, given: Sequence[Value] | None = None
    ) -> tuple[list[Value], dict[str, Value]]:
        """What a function that nothing traced calls is called with, but for the object that it is bound to."""
        a = value.node.args
        args = self.at.functions.seeds(value) if given is None else list(given)
        kwargs = self.at.functions.named_seeds(value, frame)
        if name != "forward" and given is None:  # what a module is given, other modules decide
            passed = self.at.functions.passed
            args = [passed.parameter(value, p.arg, known) for p, known in zip(placed(a), args, strict=True)]
            kwargs = {key: passed.parameter(value, key, known) for key, known in kwargs.items()}
        return (args[1:] if value.bound is not None and placed(a) else args), kwargs

    def switched_on(
        self, value: Func, args: list[Value], kwargs: dict[str, Value]
    ) -> tuple[list[Value], dict[str, Value]]:
        """The arguments of a `forward`, where flags that are off by default are what the program gives the module."""
        names = [p.arg for p in placed(value.node.args)]
        names = names[len(names) - len(args) :]
        passed = self.at.functions.passed

        def flag(name: str, known: Value) -> Value:
            if not (isinstance(known, Py) and known.const is NO_CONST and known.off == OFTEN_OFF):
                return known
            passed.read(value.module)
            given = passed.seen.get(value.node, {}).get(name, UNKNOWN)
            return known if given is UNKNOWN or truth(given) is False else join(known, given)

        return [flag(*pair) for pair in zip(names, args, strict=True)], {
            k: flag(k, v) for k, v in kwargs.items()
        }

    def _has_flag(self, module: Instance) -> bool:
        """Whether its `forward` has a flag that is off by default."""
        body = self.body_of(module)
        given = with_defaults(body.node.args) if body is not None else ()
        return any(isinstance(default, ast.Constant) and default.value is False for _, default in given)

    def is_module(self, value: Value) -> bool:
        return isinstance(value, Instance) and (
            self.at.classes.is_module(value.cls) or self.at.models.makes_modules(value.external or "")
        )

    def traced(self, definition: Any, by_itself: bool) -> None:
        """A function is traced: a model gets there, or only what no model calls; `by_itself` where another method of
        the same object calls it, as a compiled `generate` does its module's `forward`."""
        if self.beside:
            self.offered.add(definition)
        else:
            reached = self.at.functions.reached
            reached[definition] = reached.get(definition, False) or not by_itself

    def gradless(self, value: Func) -> bool:
        """Whether a decorator says that no gradient is wanted of anything in the function."""
        decorators = getattr(value.node, "decorator_list", ())
        if not decorators:
            return False
        frame = Frame(value.module, unit_of(value.node), "")
        for decorator in decorators:
            callee = decorator.func if isinstance(decorator, ast.Call) else decorator
            made = self.at.expressions.quietly(callee, value.env or {}, frame)
            if self.at.models.plays(self.at.names.external_name(made), "without gradients"):
                return True
        return False

    def undecorated(self, value: Func) -> Func | None:
        """The function that a decorator's wrapper stands for, bound alike."""
        if value.env is None or value.bound is None or not isinstance(value.bound, Instance):
            return None
        cls = value.bound.cls
        if cls is None:
            return None
        for name in ("forward", "__call__"):
            found = self.at.classes.find_method(cls, name)
            if found is not None and found[1] is not value.node:
                return Func(found[1], found[0].module, found[0].env, value.bound, found[0])
        return None

    def compiled(self, target: Value, node: Any, frame: Frame, settings: Mapping[str, Value]) -> None:
        """torch.compile(target) was called: the target is a root."""
        whole = _as_whole({name: self.at.types.sort(value) for name, value in settings.items()})
        self.does |= {"compiles"}
        for o in options(target) if self._decorated is not None else ():
            if isinstance(o, Func) and o.node is self._decorated:
                made = Wrapped("compiled", o)
                self.by_decorator[self._decorated] = self.compiled_as(made, dict(settings))
        if self.at.notebook.quiet:
            return
        given = options(target)
        if any(self.is_module(o) for o in given):  # of all that gets there by the same name, what is compiled
            given = tuple(o for o in given if not isinstance(o, Instance) or self.is_module(o))
        for o in given:
            if isinstance(o, (Func, Instance)):
                for hear in self.at.events.compiled:
                    hear(o, node, frame)
            if isinstance(o, Partial):
                # What it is given besides is one of the values that its parameters may have; `vmap(f)` is made of `f`.
                o = next((a for a in o.args if isinstance(o.func, Ext) and isinstance(a, Func)), o.func)
            if isinstance(o, (Func, Wrapped, Instance)):
                which = id(o) if isinstance(o, Instance) else getattr(o, "node", o)
                if ("root", which) not in self._seen or not (whole or ("in parts", which) in self._seen):
                    self._seen["root", which] = o
                    if not whole:
                        self._seen["in parts", which] = UNKNOWN
                    if isinstance(o, Instance) and self._has_flag(o):
                        self.at.functions.passed.read(frame.module)  # which may switch it on
                    self.root(o, None, whole)
                    if isinstance(o, Instance) and o.cls is not None:
                        self._compiled_beside(o, o.cls)
            elif isinstance(o, Seq):
                self._seen["list", id(o)] = o  # of modules, each of which is a root where it is the project's
            elif isinstance(o, Class):
                for hear in self.at.events.compiled:
                    hear(o, node, frame)
                self.root(self.at.objects.instance(o.info), None)
            elif isinstance(o, Ext):
                for hear in self.at.events.compiled:
                    hear(o, node, frame)

    def _compiled_beside(self, me: Instance, cls: ClassInfo) -> None:
        """Other methods of a module that its framework compiles where the module is."""
        own, foreign, _ = self.at.classes.bases(cls)
        names = {name: one for one in reversed(own) for name in one.methods}
        for name, owner in names.items():
            if any(self.at.models.plays(f"{base}.{name}", "compiled with a module") for base in foreign):
                self.root(self.at.classes.method_value(owner, owner.methods[name], me), None)

    @contextmanager
    def decorating(self, value: Value) -> Iterator[None]:
        """While a decorator of the project is given the function: whether it compiles it, whatever it makes of it."""
        outer, self._decorated = self._decorated, getattr(value, "node", None)
        try:
            yield
        finally:
            self._decorated = outer

    def as_whole(self, wrapped: Wrapped) -> Path:
        """What the reader shall know of what torch.compile was given with `fullgraph=True`."""
        return _as_whole(self.settings_of(wrapped))

    def settings_of(self, value: Value) -> dict[str, str]:
        """The keyword arguments of torch.compile, or of `compile()`, for what it gave, or for the module."""
        return self.settings[id(value)][1] if id(value) in self.settings else {}

    def compiled_as(self, wrapped: Wrapped, settings: dict[str, Value]) -> Wrapped:
        """Remember the keyword arguments of torch.compile, as `dynamic` decides what a call costs."""
        if settings:
            self.settings[id(wrapped)] = (
                wrapped,
                {k: self.at.types.sort(v) for k, v in settings.items() if k != "model"},
            )
        return wrapped

    def same_settings(self, wrapped: Wrapped, other: Wrapped) -> None:
        """What torch.compile was given for the one holds for the other."""
        if id(wrapped) in self.settings:
            self.settings[id(other)] = (other, self.settings[id(wrapped)][1])

    def compiled_in_place(self, me: Instance, settings: dict[str, Value], node: Any, frame: Frame) -> None:
        """`module.compile(...)`: from here on a call of the module is one of what was compiled."""
        if not self.at.notebook.quiet:
            self.compiled(me, node, frame, settings)
        if not self.at.notebook.quiet or me is frame.me:  # `self.compile()`, in a constructor
            self.settings[id(me)] = (me, {k: self.at.types.sort(v) for k, v in settings.items()})

    def forward_replaced(self, me: Instance, value: Value, frame: Frame) -> None:
        """`module.forward = torch.compile(module.forward)`: a call of the module runs what was compiled."""
        if self.at.notebook.quiet and me is not frame.me:
            return
        if isinstance(value, Wrapped) and value.how == "compiled":
            inner = value.inner
            own = inner.bound if isinstance(inner, Func) else getattr(inner, "receiver", None)
            if own is me:
                self.settings[id(me)] = (value, self.settings_of(value))

    def presumed(self, func: Value) -> list[Instance]:
        """The modules that a call outside of any `forward` runs, and that nothing but `roots = "modules"` has
        compiled."""
        found = [
            one
            for one in options(func)
            if isinstance(one, Instance)
            and self.at.classes.is_module(one.cls)
            and not self.is_compiled_in_place(one)
        ]
        if not found or not self.at.classes.are_compiled:
            return []
        running = self.at.functions.stack()
        return [] if any(getattr(each, "name", "") == "forward" for each in running) else found

    def is_compiled_in_place(self, me: Instance) -> bool:
        return id(me) in self.settings

    def classes_in_place(self) -> list[ClassInfo]:
        """The classes of the project of which an object was compiled in place, but for its `forward`."""
        made = [me for me, _ in self.settings.values()]
        return [me.cls for me in made if isinstance(me, Instance) and me.cls is not None]

    def is_compiled(self, value: Value) -> bool:
        """Whether torch.compile was given the module, or gave it."""
        if isinstance(value, Wrapped):
            return value.how == "compiled"
        return isinstance(value, Instance) and ("root", id(value)) in self._seen

    @property
    def modules(self) -> list[Instance | Seq]:
        """The modules, and lists of modules, that torch.compile was given so far, or a method of."""
        owners = [v.bound if isinstance(v, Func) else v for v in self._seen.values()]
        return [value for value in owners if isinstance(value, (Instance, Seq))]

    @property
    def are_any(self) -> bool:
        """Whether anything was compiled so far, by the code or by the settings."""
        return bool(self.named) or any(not isinstance(value, Seq) for value in self._seen.values())

    def is_named(self, func: Func) -> bool:
        """Whether the settings name the function, or the method, as compiled."""
        known = self._is_named.get(func.node)
        if known is None:
            own = [func.defined_in.name] if func.defined_in is not None else []
            own.append(getattr(func.node, "name", ""))
            home = func.module
            known = any(inside(name, home.name, home.path) == own for name in self.named)
            self._is_named[func.node] = known
        return known

    def body_of(self, callee: Value) -> Func | None:
        """The function of the project that a call of the value runs, whichever of several objects it is."""
        if isinstance(callee, Union):
            found_of = [self.body_of(one) for one in callee.options]
            bodies = {one.node: one for one in found_of if one is not None}
            return next(iter(bodies.values())) if len(bodies) == 1 else None
        if isinstance(callee, Instance) and callee.cls is not None:
            found = self.at.classes.find_method(callee.cls, "forward") or self.at.classes.find_method(
                callee.cls, "__call__"
            )
            callee = self.at.classes.method_value(*found, callee) if found is not None else callee
        return callee if isinstance(callee, Func) and not isinstance(callee.node, ast.Lambda) else None


def _as_whole(settings: Mapping[str, str]) -> Path:
    return (Guard("", WHOLE),) if settings.get("fullgraph") == "constant True" else ()


def _is_nothing(value: Func, result: Value) -> bool:
    """Whether a function gives nothing, and says so: what it is given goes into what it keeps."""
    says = getattr(value.node, "returns", None)
    return says_none(says) and isinstance(result, Py) and result.type == "none"
