"""What calls do: functions of the project are entered, all others are looked up."""

from __future__ import annotations

import ast
from typing import Any

from pt2lint.libraries.call import Call
from pt2lint.static.interpreter.core import Core
from pt2lint.static.interpreter.externals import Externals
from pt2lint.static.interpreter.frame import Env, Frame, entry
from pt2lint.static.source.modules import ClassInfo, Module
from pt2lint.static.source.nodes import FunctionNode, unit_of, walk
from pt2lint.static.values import (
    BOOL,
    INT,
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
    Tensor,
    Union,
    Value,
    Wrapped,
    is_none,
    join,
    join_all,
    options,
    signature,
    truth,
    without,
)

MAX_DEPTH = 20
MAX_CONTEXTS = 10
MAX_KEPT = 3  # calls of one function that are kept for whoever asks for the kinds in it
# What a decorator makes of a function, by the role that it plays.
DECORATORS = {
    "compiles": "compiled",
    "disables": "disabled",
    "opaque": "opaque",
    "makes a context manager": "context manager",
}


_NOWHERE = ast.Module(body=[], type_ignores=[])  # the place of calls that stand nowhere


class Calls(Externals, Core):
    # Decorators

    def decorated(self, value: Value, node: Any, env: Env, frame: Frame) -> Value:
        if not node.decorator_list:
            return value
        decorators = [self.quietly(d, env, frame) for d in node.decorator_list]
        return self.decorate(value, decorators, frame)

    def decorate(self, value: Value, decorators: list[Value], frame: Frame) -> Value:
        """The function after its decorators, the innermost first. One that is not understood changes nothing."""
        for decorator in reversed(decorators):
            if isinstance(decorator, Ext):
                value = self.decorate_external(value, decorator.name)
            elif isinstance(decorator, Partial) and isinstance(decorator.func, Ext):
                value = self.decorate_external(value, decorator.func.name)
                if isinstance(value, Wrapped) and value.how == "compiled":
                    self.compiled_as(value, decorator.kwargs)
            elif isinstance(decorator, Wrapped) and isinstance(decorator.inner, Ext):
                value = Wrapped(decorator.how, value)
            elif isinstance(decorator, (Func, Partial, Wrapped)) and len(self._active) < MAX_DEPTH:
                self.quiet += 1
                try:
                    result = self.apply(decorator, [value], {}, _NOWHERE, frame)
                finally:
                    self.quiet -= 1
                if isinstance(result, (Func, Wrapped, Partial)):
                    value = result
        return value

    def decorate_external(self, value: Value, name: str) -> Value:
        roles = self.models.of(name).roles
        for role, how in DECORATORS.items():
            if role in roles:
                return Wrapped(how, value)
        return value

    # Application

    def apply(
        self,
        func: Value,
        args: list[Value],
        kwargs: dict[str, Value],
        node: Any,
        frame: Frame,
        spread: bool = False,
    ) -> Value:
        if isinstance(func, Ext):
            return self.call_external(func, args, kwargs, node, frame)
        if isinstance(func, Func):
            return self.call_function(func, args, kwargs, node, frame, spread)
        if isinstance(func, Instance):
            return self.call_instance(func, args, kwargs, node, frame, spread)
        if isinstance(func, Class):
            return self.construct(func.info, args, kwargs, node, frame, spread)
        if isinstance(func, Union):
            results = [
                self.apply(o, args, kwargs, node, frame, spread)
                for o in func.options
                if is_none(o) is not True and o is not UNKNOWN
            ]
            if any(o is UNKNOWN for o in func.options):
                results.append(UNKNOWN)
            return join_all(results)
        if isinstance(func, Partial):
            return self.apply(func.func, [*func.args, *args], {**func.kwargs, **kwargs}, node, frame, spread)
        if isinstance(func, Wrapped):
            return self.call_wrapped(func, args, kwargs, node, frame, spread)
        if isinstance(func, Seq) and func.type == "Sequential":
            return self.call_sequential(func, args, kwargs, node, frame)
        return UNKNOWN

    def call_wrapped(
        self,
        func: Wrapped,
        args: list[Value],
        kwargs: dict[str, Value],
        node: Any,
        frame: Frame,
        spread: bool,
    ) -> Value:
        if func.how == "compiled":
            if frame.region or self.quiet:
                return self.apply(func.inner, args, kwargs, node, frame, spread)
            self.compiled_call(func, args, kwargs, node, frame)
            return self.apply(func.inner, args, kwargs, node, entry(frame.module, frame.unit), spread)
        if func.how == "disabled":
            if self.listens("call disabled", frame):
                self.note(node, "call disabled", frame)
        elif func.how == "context manager":
            outer, frame.inside = frame.inside, "with"
            try:
                return self.apply(func.inner, args, kwargs, node, frame, spread)
            finally:
                frame.inside = outer
        # What Dynamo does not enter still returns what it returns.
        outside = Frame(frame.module, frame.unit, frame.title, frame, region=False)
        outside.depth = frame.depth + 1
        self.quiet += 1
        try:
            return self.apply(func.inner, args, kwargs, node, outside, spread)
        finally:
            self.quiet -= 1

    def call_sequential(
        self, func: Seq, args: list[Value], kwargs: dict[str, Value], node: Any, frame: Frame
    ) -> Value:
        value = args[0] if args else UNKNOWN
        if func.elts is not None:
            for layer in func.elts:
                value = self.apply(layer, [value], {}, node, frame)
            return value
        result = self.apply(func.elem, [value], {}, node, frame)
        return (
            result
            if result is not UNKNOWN or not isinstance(value, Tensor)
            else Tensor(None, value.origin, False)
        )

    def call_instance(
        self,
        func: Instance,
        args: list[Value],
        kwargs: dict[str, Value],
        node: Any,
        frame: Frame,
        spread: bool,
    ) -> Value:
        cls = func.cls
        if cls is None:
            return self.call_external_module(func, args, kwargs, node, frame)
        if not frame.region and self.is_compiled_in_place(func):
            self.compiled_call(func, args, kwargs, node, frame)
        for name in ("__call__", "forward"):
            found = self.find_method(cls, name)
            if found is not None:
                return self.apply(self.method_value(*found, func), args, kwargs, node, frame, spread)
        if self.is_module(cls):
            for base in self.bases(cls)[1]:
                if self.models.of(base).forward is not None:
                    return self.call_external_module(self.models.instance(base), args, kwargs, node, frame)
        return UNKNOWN

    def call_external_module(
        self, func: Instance, args: list[Value], kwargs: dict[str, Value], node: Any, frame: Frame
    ) -> Value:
        name = func.external or ""
        entry = self.models.of(name)
        if entry.forward is None:
            return UNKNOWN
        if self.listens(f"forward {name}", frame):
            self.note(node, f"forward {name}", frame, args=self.sorts(args, kwargs))
        if "random module" in entry.roles:
            self.drawn.append((name, getattr(node, "lineno", 0)))
        return entry.result(Call(name, args, kwargs, node, frame, func, self))

    def construct(
        self,
        cls: ClassInfo,
        args: list[Value],
        kwargs: dict[str, Value],
        node: Any,
        frame: Frame,
        spread: bool,
    ) -> Value:
        if self.is_module(cls):
            made = f"make {self.models.named('module base')}"
            if self.listens(made, frame):
                state = self.state(self.instance(cls, args, kwargs))
                held = sorted({v.external for v in state.values() if isinstance(v, Instance) and v.external})
                self.note(node, made, frame, args={"made": " ".join(held)})
            return self.instance(cls, args, kwargs)
        externals = self.bases(cls)[1]
        if any(self.models.plays(e, "enumeration") for e in externals):
            return OBJECT
        init = self.find_method(cls, "__init__")
        instance = Instance(cls)
        key = (cls, signature(Seq(args)), signature(Dict(kwargs)))
        known = self._objects.get(key)
        if known is not None:
            instance = known
        else:
            self._objects[key] = instance
        if init is None:
            names = list(cls.annotations)
            for c in self.bases(cls)[0][1:]:
                names = [*(n for n in c.annotations if n not in names), *names]
            given = dict(zip(names, args, strict=False)) | kwargs
            instance.attrs.update({k: v for k, v in given.items() if v is not UNKNOWN})
            self._initialized.add(instance)
            return instance
        self._initialized.add(instance)
        if len(self._active) < MAX_DEPTH:
            method = self.method_value(*init, instance)
            self.apply(method, args, kwargs, node, frame, spread)
        return instance

    # Functions of the project

    def call_function(
        self,
        func: Func,
        args: list[Value],
        kwargs: dict[str, Value],
        node: Any,
        frame: Frame,
        spread: bool,
    ) -> Value:
        """Interpret the function for these arguments, once for all arguments of the same kinds."""
        definition = func.node
        if frame.skipped:
            # Called from plain Python: what the caller computed is an argument of a graph of its own.
            args = [a.but(leaf=LEAF) if isinstance(a, Tensor) else a for a in args]
            kwargs = {k: v.but(leaf=LEAF) if isinstance(v, Tensor) else v for k, v in kwargs.items()}
        if func.bound is not None:
            args = [func.bound, *args]
        region = frame.region
        env = self.bind_arguments(func, args, kwargs, spread)
        key = (
            definition,
            id(func.env) if func.env else 0,
            region,
            (self.quiet > 0, self.doubt > 0, len(self.catching)),
            tuple((k, signature(v)) for k, v in env.items()),
        )
        known = self._results.get(key)
        if known is not None:
            return known
        # A decorator's wrapper is another function for each function that it wraps.
        which = (definition, id(func.env)) if func.env else definition
        count = self._contexts.get(which, 0)
        declared = getattr(definition, "returns", None)
        title = f"`{self.title(func)}`"
        callee = Frame(
            func.module,
            self.unit_for(func, frame),
            title,
            frame,
            region,
            func.defined_in,
            func.bound,
            func.env,
        )
        if frame.loaders and isinstance(node, ast.Call):
            callee.loaders = self.passed_batches(func, node, frame)
        active = self._active.count(which)
        often = count >= MAX_CONTEXTS * (3 if region else 1)
        if active > 1 or len(self._active) >= MAX_DEPTH or often:
            if truth(self._returned.get(which, UNKNOWN)) is not None:
                return self._returned[which]  # the same answer whatever it was given
            return self.annotation(declared, callee, 0, f"{title} is annotated to return a tensor")
        self._contexts[which] = count + 1
        if region:
            self.reached.add(definition)
        if not self.quiet:
            self._entered.add(definition)
        if func.env is not None:
            self._kept.append(func.env)
        if active == 0:
            # What a recursive call sees.
            self._results[key] = self.annotation(
                declared, callee, 0, f"{title} is annotated to return a tensor"
            )
        self._active.append(which)
        try:
            if isinstance(definition, ast.Lambda):
                result = self.eval(definition.body, env, callee)
            else:
                if region and func.module.linted and not func.env:
                    calls = self.calls.setdefault((func.module.path, callee.unit), [])
                    if len(calls) < MAX_KEPT:
                        calls.append((func, dict(env)))
                ended = self.block(definition.body, env, callee)
                if ended:
                    callee.returns.append(NONE)
                result = join_all(callee.returns)
                if callee.yields:
                    result = Seq(None, join_all(callee.yields), "generator")
                elif not callee.returns:
                    result = UNKNOWN  # it always raises
        finally:
            self._active.pop()
        if result is UNKNOWN and declared is not None:
            result = self.annotation(declared, callee, 0, f"{title} is annotated to return a tensor")
        self._results[key] = result
        before = self._returned.get(which)
        self._returned[which] = result if before is None else join(before, result)
        return result

    def unit_for(self, func: Func, frame: Frame) -> tuple[int, int]:
        """The lines that rules get to see: a lambda or a nested function is part of what it stands in."""
        node = func.node
        if isinstance(node, ast.Lambda) or func.env is not None:
            return self.outermost(func.module, node)
        return unit_of(node)

    def outermost(self, module: Module, node: ast.AST) -> tuple[int, int]:
        """The lines of the top-level function, method or statement that holds the node."""
        return module.unit_at(node.lineno) or unit_of(node)  # type: ignore[attr-defined]

    def title(self, func: Func) -> str:
        name = getattr(func.node, "name", "lambda")
        if func.bound is not None and isinstance(func.bound, Instance) and func.bound.cls is not None:
            return f"{func.bound.cls.name}.{name}"
        return f"{func.defined_in.name}.{name}" if func.defined_in is not None else name

    def bind_arguments(self, func: Func, args: list[Value], kwargs: dict[str, Value], spread: bool) -> Env:
        """The parameters' values: what is passed, else the default, else what the annotation promises."""
        a = func.node.args
        frame = Frame(func.module, (1, 1), "", cls=func.defined_in, closure=func.env)
        positional = [*a.posonlyargs, *a.args]
        defaults: dict[str, ast.expr] = {}
        for parameter, default in zip(reversed(positional), reversed(a.defaults), strict=False):
            defaults[parameter.arg] = default
        for parameter, kw_default in zip(a.kwonlyargs, a.kw_defaults, strict=True):
            if kw_default is not None:
                defaults[parameter.arg] = kw_default
        env: Env = {}
        rest_keywords = "**" in kwargs
        for i, parameter in enumerate([*positional, *a.kwonlyargs]):
            name = parameter.arg
            if i < len(args) and i < len(positional):
                value = args[i]
            elif name in kwargs:
                value = kwargs[name]
            elif spread or rest_keywords:
                value = UNKNOWN
            elif name in defaults:
                value = self.quietly(defaults[name], func.env or {}, frame)
            else:
                value = UNKNOWN
            if value is UNKNOWN:
                value = self.parameter(func, parameter, defaults.get(name), frame)
            elif isinstance(value, Union) and any(o is UNKNOWN for o in value.options):
                # What the caller does not know of one alternative, the parameter may tell.
                promised = self.parameter(func, parameter, None, frame)
                if promised is not UNKNOWN:
                    value = join(without(value, lambda o: o is UNKNOWN), promised)
            env[name] = value
        if a.vararg is not None:
            more = args[len(positional) :]
            env[a.vararg.arg] = Seq(None if spread else more, join_all(more) if more else UNKNOWN, "args")
        if a.kwarg is not None:
            names = {p.arg for p in [*a.args, *a.kwonlyargs]}
            extra = {k: v for k, v in kwargs.items() if k not in names and k != "**"}
            env[a.kwarg.arg] = Dict(extra, kwargs.get("**", UNKNOWN), True)
        return env

    def parameter(self, func: Func, parameter: ast.arg, default: ast.expr | None, frame: Frame) -> Value:
        """What a parameter is where the caller does not tell: by annotation, default, and use."""
        annotation = parameter.annotation
        value: Value = UNKNOWN
        text = f"`{parameter.arg}` is annotated as a tensor"
        if annotation is not None:
            value = self.annotation(annotation, frame, parameter.lineno, text)
        if value is UNKNOWN and not isinstance(func.node, ast.Lambda):
            value = self.by_use(func, parameter, frame)
        if default is not None:
            if isinstance(default, ast.Constant) and default.value is None:
                return join(NONE, value)
            if isinstance(default, ast.Constant) and default.value is not ...:
                # A flag or a rate that is off by default may well be switched on.
                is_off = default.value is False or (isinstance(default.value, float) and not default.value)
                plain = Py(type(default.value).__name__, off=OFTEN_OFF if is_off else 0)
                if value is UNKNOWN or (plain.off and isinstance(value, Py)):
                    return plain
                if any(isinstance(o, Tensor) for o in options(value)):
                    # Annotated as a tensor, and a plain value by default: the annotation is not to be trusted.
                    return Union((*options(value), plain), True) if not isinstance(value, Py) else value
        return value

    def seeds(self, func: Func, frame: Frame) -> list[Value]:
        """What a root's positional parameters are, self included."""
        inner = Frame(func.module, (1, 1), "", cls=func.defined_in, closure=func.env)
        a = func.node.args
        positional = [*a.posonlyargs, *a.args]
        padded: list[ast.expr | None] = [None] * (len(positional) - len(a.defaults)) + list(a.defaults)
        values = [self.parameter(func, p, d, inner) for p, d in zip(positional, padded, strict=True)]
        if func.bound is not None and values:
            values[0] = func.bound
        return values

    # Use

    def by_use(self, func: Func, parameter: ast.arg, frame: Frame) -> Value:
        """A tensor, if the function uses the parameter, before binding it anew, as only a tensor can be."""
        uses = self._uses_of(func)
        reason = uses.get(parameter.arg)
        if reason is None:
            return UNKNOWN
        line, phrase = reason
        return Tensor(None, (func.module.path, line, f"`{parameter.arg}` {phrase}"), leaf=LEAF)

    def _uses_of(self, func: Func) -> dict[str, tuple[int, str]]:
        node = func.node
        known = self._used.get(node)
        if known is not None:
            return known
        found: dict[str, tuple[int, str]] = {}
        self._used[node] = found
        assert not isinstance(node, ast.Lambda)
        names = {p.arg for p in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]}
        rebound: dict[str, int] = {}
        several: set[str] = set()
        candidates: list[tuple[str, int, str]] = []
        frame = Frame(func.module, unit_of(node), "", cls=func.defined_in, me=func.bound, closure=func.env)
        me = node.args.args[0].arg if func.defined_in is not None and node.args.args else ""
        for n in walk(node):
            if isinstance(n, ast.Name):
                if n.id in names and isinstance(n.ctx, ast.Store):
                    end = n.lineno
                    rebound[n.id] = min(rebound.get(n.id, end), end)
            elif isinstance(n, ast.Attribute):
                if isinstance(n.value, ast.Name) and n.value.id in names and n.attr in self.telling:
                    candidates.append((n.value.id, n.lineno, f"is used as a tensor: `.{n.attr}`"))
            elif isinstance(n, ast.Call):
                passed = [
                    (i, a.id) for i, a in enumerate(n.args) if isinstance(a, ast.Name) and a.id in names
                ]
                if (
                    passed
                    and isinstance(n.func, ast.Name)
                    and n.func.id in self.models.last_words("decides by type")
                ):
                    several.add(passed[0][1])  # it takes values of several kinds, and tells them apart
                    continue
                if passed and passed[0][0] == 0:
                    phrase = self._takes_tensor(n.func, me, func, frame)
                    if phrase:
                        candidates.append((passed[0][1], n.lineno, phrase))
                        continue
                named = [
                    (k.arg, k.value.id)
                    for k in n.keywords
                    if k.arg and isinstance(k.value, ast.Name) and k.value.id in names
                ]
                if passed or named:
                    inner = self.callee(n.func, me, func, frame)
                    if inner is not None:
                        candidates += self._passed_on(inner, [*passed, *named], n.lineno)
        for name, line, phrase in sorted(candidates, key=lambda c: c[1]):
            if name not in found and name not in several and line <= rebound.get(name, line):
                found[name] = (line, phrase)
        return found

    def callee(self, callee: ast.expr, me: str, func: Func, frame: Frame) -> Func | None:
        """The function of the project that a call in a function's body runs, if that is plain to see."""
        value: Value = UNKNOWN
        if isinstance(callee, ast.Attribute) and isinstance(callee.value, ast.Name) and callee.value.id == me:
            if isinstance(func.bound, Instance) and func.bound.cls is not None:
                value = self.instance_attribute(func.bound, callee.attr, frame)
        elif isinstance(callee, ast.Name) and func.env is None:
            value = self.quietly(callee, {}, frame)
        if isinstance(value, Instance) and value.cls is not None and self.is_module(value.cls):
            found = self.find_method(value.cls, "forward")
            value = self.method_value(*found, value) if found is not None else UNKNOWN
        return value if isinstance(value, Func) and not isinstance(value.node, ast.Lambda) else None

    def _passed_on(
        self, inner: Func, passed: list[tuple[int, str] | tuple[str, str]], line: int
    ) -> list[tuple[str, int, str]]:
        """Which of the passed names the callee uses as tensors."""
        uses = self._uses_of(inner)
        a = inner.node.args
        positional = [p.arg for p in [*a.posonlyargs, *a.args]][1 if inner.bound is not None else 0 :]
        found = []
        for where, name in passed:
            parameter = (
                where if isinstance(where, str) else (positional[where] if where < len(positional) else "")
            )
            if parameter in uses:
                found.append(
                    (name, line, f"is given to `{self.title(inner)}`, where it {uses[parameter][1]}")
                )
        return found

    def _takes_tensor(self, callee: ast.expr, me: str, func: Func, frame: Frame) -> str:
        """Why the first argument of this call is a tensor, or ""."""
        if isinstance(callee, ast.Attribute):
            head: ast.expr = callee.value
            while isinstance(head, ast.Attribute):
                head = head.value
            if not isinstance(head, ast.Name):
                return ""
            if head.id == me and isinstance(callee.value, ast.Name) and isinstance(func.bound, Instance):
                if func.bound.cls is None or not self.is_module(func.bound.cls):
                    return ""
                value = self.instance_attribute(func.bound, callee.attr, frame)
                if isinstance(value, Instance) and value.cls is None and value.external:
                    entry = self.models.of(value.external)
                    if entry.forward is not None and "passes on" not in entry.roles:
                        return f"is given to `{value.external.rsplit('.', 1)[-1]}`"
                if isinstance(value, Seq) and value.type == "Sequential" and value.elts:
                    return "is given to `Sequential`"
                return ""
            if head.id not in func.module.imports:
                return ""
        elif not isinstance(callee, ast.Name) or callee.id not in func.module.imports:
            return ""
        value = self.quietly(callee, {}, frame)
        if isinstance(value, Ext) and self.models.takes_tensor_first(value.name):
            return f"is given to `{value.name}`"
        return ""


__all__ = ["BOOL", "INT", "OBJECT", "STR", "Calls", "FunctionNode"]
