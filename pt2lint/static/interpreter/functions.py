"""Functions of the project: entered once for all arguments of the same kinds."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from pt2lint.static.interpreter.frame import Env, Frame, is_assumed, title
from pt2lint.static.interpreter.guard_syntax import MAX_PASSED, fails
from pt2lint.static.interpreter.guards import (
    BY_HAND,
    GRADLESS,
    INSISTS,
    MODE,
    ONCE,
    RAISES,
    SELDOM,
    WITHIN,
    Guard,
    Path,
)
from pt2lint.static.interpreter.passed import Passed
from pt2lint.static.interpreter.syntax import dotted
from pt2lint.static.interpreter.usage import Usage
from pt2lint.static.source.modules import Module
from pt2lint.static.source.nodes import (
    MAKERS,
    FunctionNode,
    Unit,
    binds,
    parameters_in,
    parts,
    placed,
    reads,
    says_none,
    unit_of,
    walk,
    with_defaults,
    yields,
)
from pt2lint.static.values import (
    LEAF,
    LEFT_OUT,
    NONE,
    OFTEN_OFF,
    TRUE,
    UNKNOWN,
    Class,
    Dict,
    Ext,
    Func,
    Instance,
    Py,
    Seq,
    Tensor,
    Union,
    Value,
    Wrapped,
    given_from_outside,
    is_none,
    join,
    join_all,
    mixed,
    options,
    signature,
    tensor_of,
    truth,
    without,
)

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context


MAX_DEPTH = 20
DEEP = 2  # calls above that depth: what they ask of others may be asked in vain, and nothing is sure
MAX_CONTEXTS = 10


class _Results:
    """What each call gave. `cuts` counts calls that were too deep to be followed; an answer that rests on one is known
    with its depth, and a call from further up gets to ask again."""

    def __init__(self) -> None:
        self.cuts = 0
        self._known: dict[Any, Value] = {}
        self._depths: dict[Any, int] = {}

    def get(self, key: Any, depth: int) -> Value | None:
        cut = self._depths.get(key)
        if cut is None:
            return self._known.get(key)
        if depth < cut:
            return None
        self.cuts += 1
        return self._known[key]

    def keep(self, key: Any, value: Value, depth: int, cut: bool = False) -> None:
        self._known[key] = value
        self._depths.pop(key, None)
        if cut:
            self._depths[key] = depth


class Functions:
    """`reached` are those that Dynamo traces on some way from a root, and whether anybody else than their own object
    calls them; `calls` holds what they were called with, by path and lines; `active` those being interpreted, `run`
    those that ever were."""

    def __init__(self, at: Context) -> None:
        self.at = at
        self.usage = Usage(at)
        self.passed = Passed(at)
        self._results = _Results()
        self._contexts: dict[Any, int] = {}
        self._returned: dict[Any, Value] = {}
        self._kept: list[Env] = []
        self.run: set[Any] = set()
        self.active: list[Any] = []
        self.reached: dict[Any, bool] = {}
        # Run of a function -> what it does, and what it calls: "trains" (makes an optimizer), "differentiates" (with a
        # `backward` of its own), "compiles"; and the function -> what any of its runs does.
        self.did: dict[Any, frozenset[str]] = {}
        self.calls: dict[tuple[str, Unit], list[tuple[Func, Env]]] = {}

    def stack(self) -> list[Any]:
        """The definitions of the functions that run, the innermost last."""
        return [_definition(which) for which in self.active]

    def goes_over(self, node: ast.AST) -> bool:
        """Whether a loop or a comprehension of the function that runs goes over what the expression gives."""
        function = self.running()
        if function is None:
            return False
        loops = [loop.iter for loop in parts(function, ast.For)]
        loops += [part.iter for part in parts(function, ast.comprehension)]
        return any(node is over or node in getattr(over, "args", ()) for over in loops)

    def running(self) -> FunctionNode | None:
        """The function that runs, unless it is a lambda."""
        if not self.active:
            return None
        node = _definition(self.active[-1])
        return None if node.__class__ is ast.Lambda else node

    def binding(self, name: str) -> FunctionNode | None:
        """The function of which a name is one that is read by what runs: that itself, or one around it that runs."""
        inner = self.running()
        if inner is None or _has_name(inner, name):
            return inner
        for around in self.stack()[-2::-1]:
            if isinstance(around, FunctionNode) and inner in parts(around, inner.__class__):
                if _has_name(around, name):
                    return around
        return inner

    def innermost(self) -> FunctionNode | ast.Lambda | None:
        """The definition of what runs."""
        return _definition(self.active[-1]) if self.active else None

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
        if len(self.active) >= MAX_DEPTH - DEEP and not self.at.notebook.doubt:
            cuts = self._results.cuts
            self.at.notebook.doubt += 1
            try:
                answered = self.call_function(func, args, kwargs, node, frame, spread)
            finally:
                self.at.notebook.doubt -= 1
            # One of several, and perhaps it is known which: what would tell was not asked.
            return UNKNOWN if self._results.cuts > cuts and answered.__class__ is Union else answered
        definition, region, roots = func.node, frame.region, self.at.calls.roots
        if frame.skipped:
            # Called from plain Python: what the caller computed is an argument of a graph of its own.
            args = [a.but(leaf=LEAF) if isinstance(a, Tensor) else a for a in args]
            kwargs = {k: v.but(leaf=LEAF) if isinstance(v, Tensor) else v for k, v in kwargs.items()}
        if func.bound is not None:
            args = [func.bound, *args]
        env = self.bind_arguments(func, args, kwargs, spread)
        if not frame.entry and not spread and "**" not in kwargs:
            _list_given(definition.args, env)
        self.passed.entered(func, env, frame)
        if region and not frame.entry:
            for hear in self.at.events.given:
                hear(func, args[func.bound is not None :], kwargs, env, node, frame)
        key = self._key(func, env, frame)
        known = self._results.get(key, len(self.active))
        if known is not None:
            self.at.conditions.contexts.called(key, frame)
            self.at.notebook.clock += self.at.notebook.made.get(key, 0)
            roots.does |= self.did.get(key, frozenset())
            return _anew(known, definition)
        # A decorator's wrapper is another function for each function that it wraps.
        which = (definition, id(func.env)) if func.env else definition
        counted: Any = which
        if isinstance(func.bound, Instance) and (frame.entry if region else self._is_made_with(func)):
            # What a base class sets, and where it begins, each class below it has.
            counted = (which, func.bound.cls)
        if "compiles" in self.did.get(which, ()) and not region:  # so is one that compiles what it is given
            counted = (counted, self.at.notebook.quiet > 0, *map(_given_to_compile, env.values()))
        count = self._contexts.get(counted, 0)
        callee = self._entered(func, node, frame)
        active = self.active.count(which)
        often = count >= MAX_CONTEXTS * (3 if region else 1) and not self.at.calls.decorating
        often = often or bool(self.active and self.at.expressions.spent)
        if active > 1 or len(self.active) >= MAX_DEPTH or often or self.at.objects.is_beside(func):
            self.at.conditions.contexts.called_somehow(which, frame, func.bound)
            self._results.cuts += len(self.active) >= MAX_DEPTH
            answer = self._returned.get(which, UNKNOWN)
            if isinstance(answer, Py) and truth(answer) is not None:
                return answer  # the same whatever it was given
            if (given := _hands_back(definition)) in env:
                return env[given]
            return self._declared(func, callee)
        self._contexts[counted] = count + (not self.at.calls.decorating)
        callee.context = self.at.conditions.contexts.entered(which, key, frame, func.bound)
        self._prepare(func, env, frame, callee)
        if active == 0:  # what a recursive call sees
            self._results.keep(key, self._declared(func, callee), len(self.active))
        cuts = self._results.cuts
        result = self._settled(func, self._run(func, env, callee, which, key), callee)
        self._results.keep(key, _anew(result, definition), len(self.active), self._results.cuts > cuts)
        returned = self._returned.get(which)
        self._returned[which] = result if returned is None else join(returned, result)
        return result

    def _key(self, func: Func, env: Env, frame: Frame) -> tuple[Any, ...]:
        """What a result of the function depends on."""
        return (
            func.node,
            id(func.env) if func.env else 0,
            frame.region,
            # What is changed there, and under which conditions, counts where a graph of its own is made of it alone.
            frame.in_own_graph,
            # With gradients and without, what is compiled is called in two ways; and in turns, or by itself.
            not frame.region and self.at.calls.roots.are_any and (frame.gradless, bool(frame.counted)),
            (self.at.notebook.quiet > 0, self.at.notebook.doubt > 0, len(self.at.statements.catching)),
            tuple((k, signature(v)) for k, v in env.items()),
        )

    def _entered(self, func: Func, node: Any, frame: Frame) -> Frame:
        """The frame of a call, of which everybody who listens has heard."""
        unit = self.unit_for(func)
        called = f"`{title(func)}`"
        callee = Frame(func.module, unit, called, frame, frame.region, func.defined_in, func.bound, func.env)
        if frame.hands_to and callee.within is None:
            if not self.at.models.plays(frame.hands_to, "keeps changes"):
                callee.within = (frame.hands_to, callee)
        for hear in self.at.events.entered:
            hear(func, node, frame, callee)
        if not callee.gradless:
            callee.gradless = self._is_gradless(func)
        return callee

    def _is_gradless(self, func: Func) -> bool:
        """Whether a decorator says that no gradients are wanted."""
        decorated = isinstance(func.node, FunctionNode) and func.node.decorator_list
        return bool(decorated) and bool(self.at.calls.roots.gradless(func))

    def _declared(self, func: Func, callee: Frame) -> Value:
        """What the function is annotated to return."""
        declared = getattr(func.node, "returns", None)
        return self.at.types.annotation(
            declared, callee, 0, f"{callee.title} is annotated to return a tensor"
        )

    def _prepare(self, func: Func, env: Env, frame: Frame, callee: Frame) -> None:
        """Tell the frame, and who keeps account of what runs, of a body that is about to."""
        callee.parameters = frozenset(env)
        if frame.entry and not self._is_of_a_framework(func):
            callee.defaults = {
                p.arg: d.value
                for p, d in with_defaults(func.node.args)
                if isinstance(d, ast.Constant) and isinstance(d.value, str)
            }
        if frame.region:
            callee.guards = self._said_of(func, env, frame, callee)
            self.at.calls.roots.traced(func.node, self._calls_itself(func, frame))
        if not self.at.notebook.quiet:
            self.run.add(func.node)
        if func.env is not None:
            self._kept.append(func.env)

    def _run(self, func: Func, env: Env, callee: Frame, which: Any, key: tuple[Any, ...]) -> Value:
        """Interpret the body, and keep beside `key` how long that took and what it does."""
        self.active.append(which)
        before, roots = self.at.notebook.clock, self.at.calls.roots
        outer, roots.does = roots.does, frozenset()
        if callee.region and func.bound is None:
            if self.at.classes.is_differentiable(func.defined_in, func.node):
                roots.does = frozenset({"differentiates"})
        seen, self.at.expressions.seen = self.at.expressions.seen, {}
        try:
            return self._body(func, env, callee)
        finally:
            self.active.pop()
            self.at.expressions.seen = seen
            self.at.notebook.made[key] = self.at.notebook.clock - before
            self.did[key] = roots.does
            self.did[which] = self.did.get(which, frozenset()) | roots.does
            roots.does |= outer

    def _settled(self, func: Func, result: Value, callee: Frame) -> Value:
        """What the call gives, where the body alone does not tell."""
        if any(isinstance(o, Wrapped) for o in options(result)) and _unwraps(func.node):
            result = join_all(
                o.inner if isinstance(o, Wrapped) and o.how == "compiled" else o for o in options(result)
            )
        if result is UNKNOWN and getattr(func.node, "returns", None) is not None:
            result = self._declared(func, callee)
        if func.env is not None and UNKNOWN in options(result):
            result = self.as_promised(func, result, callee)
        return result

    def _said_of(self, func: Func, env: Env, frame: Frame, callee: Frame) -> Path:
        """What is said of all that a function does, called by the frame in compiled code."""
        definition, me = func.node, func.bound
        said: Path = ()
        if frame.hands_to:
            insists = self.at.models.plays(frame.hands_to, "insists on its graph")
            said += (Guard(frame.hands_to, INSISTS if insists else WITHIN),)
        if isinstance(me, Instance) and me is not frame.me and not frame.entry:
            # What is compiled for sure runs with the code that calls it.
            if me.cls is not None and self.at.classes.is_seldom_compiled(me.cls) and is_assumed(frame):
                said += (Guard("", SELDOM),)
        if isinstance(definition, FunctionNode) and fails(definition.body):
            said += (Guard("", RAISES),)
        if self._is_gradless(func):
            said += (Guard("", GRADLESS),)
        if isinstance(definition, FunctionNode):
            duties = self.at.calls.roots.duties
            # What functools.lru_cache keeps is no reason: Dynamo traces the function at each call all the same.
            if duties.calls(definition, "loads code", func.env or {}, callee):
                said += (Guard("", ONCE),)
            if duties.marks(definition, func.env or {}, callee):
                self.at.conditions.contexts.marks(callee.context)
            if not frame.entry:
                said += duties.of(func, definition, env, callee)
        return said

    def _body(self, func: Func, env: Env, callee: Frame) -> Value:
        """Run the body of a function with its arguments bound; what it returns, as far as that says."""
        definition, region = func.node, callee.region
        if isinstance(definition, ast.Lambda):
            return self.at.expressions.eval(definition.body, env, callee)
        if region and func.module.linted and not func.env:
            self.calls.setdefault((func.module.path, callee.unit), []).append((func, dict(env)))
        ended = self.at.statements.block(definition.body, env, callee)
        if ended:
            callee.returns.append(NONE)
        result = join_all(callee.returns)
        if truth(result) is None and self.asks_whether_compiled(definition, env, callee):
            result = TRUE
        if callee.yields:
            result = Seq(None, join_all(callee.yields), "generator")
            if not region:
                result = given_from_outside(result)
        elif not callee.returns:
            result = UNKNOWN  # it always raises
        if region and not self.at.notebook.quiet and definition.name == "forward":
            self.backward(func, callee)
        return result

    def _is_of_a_framework(self, func: Func) -> bool:
        """Whether the method's class has bases of another library than torch, which may call it with other arguments
        than by default: mmengine trains with `mode="loss"`, of `mode="tensor"`."""
        if not isinstance(func.bound, Instance) or func.bound.cls is None:
            return False
        _, externals, hazy = self.at.classes.bases(func.bound.cls)
        return hazy or any(not name.startswith("torch.") for name in externals)

    def backward(self, forward: Func, frame: Frame) -> None:
        """Dynamo traces the `backward` of a differentiable function right after its `forward`, where a gradient is
        wanted of an argument."""
        cls = forward.defined_in
        if cls is None or not self.at.classes.is_function(cls):
            return
        found = self.at.classes.find_method(cls, "backward")
        value = self.at.classes.method_value(*found, None) if found is not None else None
        if isinstance(value, Func) and not isinstance(value.node, ast.Lambda):
            context = self.at.models.instance(self.at.models.named("context of a function"))
            given = [
                Tensor(None, (value.module.path, p.lineno, f"`{p.arg}` is the gradient of an output"))
                for p in placed(value.node.args)[1:]
            ]
            wanted = Guard(f"{self.at.models.named('asks for gradients')}()", MODE)
            frame.guards += (wanted, Guard("", BY_HAND))
            self.at.calls.apply(value, [context, *given], {}, value.node, frame)

    def as_promised(self, wrapper: Func, result: Value, frame: Frame) -> Value:
        """What a decorator's wrapper returns: where reading cannot tell (what it kept from another call), what the
        function says that it stands for, by `functools.wraps`."""
        for decorator in getattr(wrapper.node, "decorator_list", ()):
            if isinstance(decorator, ast.Call) and decorator.args:
                made = self.at.expressions.quietly(decorator.func, wrapper.env or {}, frame)
                inner = self.at.expressions.quietly(decorator.args[0], wrapper.env or {}, frame)
                if not isinstance(inner, Func) or isinstance(inner.node, ast.Lambda):
                    continue
                if not self.at.models.plays(self.at.names.external_name(made), "stands for"):
                    continue
                home = Frame(inner.module, unit_of(inner.node), "", cls=inner.defined_in)
                promised = self.at.types.annotation(
                    inner.node.returns, home, 0, f"`{title(inner)}` is annotated to return a tensor"
                )
                if promised is not UNKNOWN:
                    known = without(result, lambda o: o is UNKNOWN)
                    return promised if known is UNKNOWN else join(known, promised)
        return result

    def asks_whether_compiled(
        self, definition: FunctionNode, env: Env, frame: Frame, depth: int = MAX_PASSED
    ) -> bool:
        """A function of the project that passes on torch's answer to whether this is compiled, from where the torch
        that runs has it, and says no where it has none."""
        if with_defaults(definition.args) or definition.args.vararg or definition.args.kwarg:
            return False
        asked = False
        for returned in [part.value for part in walk(definition) if isinstance(part, ast.Return)]:
            if isinstance(returned, ast.Constant) and returned.value is False:
                continue
            either = returned.values if isinstance(returned, ast.BoolOp) else [returned]
            if isinstance(returned, ast.BoolOp) and isinstance(returned.op, ast.And):
                return False
            if not any(self._passes_on(part, env, frame, depth) for part in either):
                return False
            asked = True
        return asked

    def _passes_on(self, part: ast.expr | None, env: Env, frame: Frame, depth: int) -> bool:
        """Whether it is a call that asks torch whether this is compiled, or of a function of the project that does."""
        if not isinstance(part, ast.Call) or part.args or part.keywords:
            return False
        return self.answers_whether_compiled(self.at.expressions.quietly(part.func, env, frame), depth)

    def answers_whether_compiled(self, callee: Value, depth: int = MAX_PASSED) -> bool:
        """Whether a call of it would tell whether this is compiled."""
        if isinstance(callee, Func) and isinstance(callee.node, FunctionNode) and depth:
            home = Frame(callee.module, unit_of(callee.node), "", closure=callee.env)
            return self.asks_whether_compiled(callee.node, {}, home, depth - 1)
        return isinstance(callee, Ext) and self.at.models.plays(callee.name, "asks whether compiled")

    def unit_for(self, func: Func) -> tuple[int, int]:
        """The lines that rules get to see: a lambda or a nested function is part of what it stands in."""
        node = func.node
        if isinstance(node, ast.Lambda) or func.env is not None:
            return self.outermost(func.module, node)
        return unit_of(node)

    def outermost(self, module: Module, node: ast.AST) -> tuple[int, int]:
        """The lines of the top-level function, method or statement that holds the node."""
        return module.unit_at(node.lineno) or unit_of(node)  # type: ignore[attr-defined]

    def bind_arguments(self, func: Func, args: list[Value], kwargs: dict[str, Value], spread: bool) -> Env:
        """The parameters' values: what is passed, else the default, else what the annotation promises."""
        a = func.node.args
        frame = Frame(func.module, (1, 1), "", cls=func.defined_in, closure=func.env)
        parameters = with_defaults(a)
        positional = len(placed(a))
        given = min(len(args), positional)
        env: Env = {}
        rest_keywords, made = "**" in kwargs, self._is_made_with(func)
        for i, (parameter, default) in enumerate(parameters):
            name = parameter.arg
            if i < given:
                value = args[i]
            elif name in kwargs:
                value = kwargs[name]
            elif spread or rest_keywords or default is None:
                value = UNKNOWN
            else:
                value = self.at.expressions.quietly(default, func.env or {}, frame)
            if _is_flag(default):  # a tensor for a flag: the caller may well mean another function
                value = mixed(value, loose=True)
            if value is UNKNOWN:
                value = self.parameter(func, parameter, default, frame)
                told = parameter.annotation is not None and (i < given or name in kwargs)
                if told and tensor_of(value) is not None and self.usage.is_counted(func, name):
                    value = UNKNOWN  # the number that a caller gives, annotated like its neighbours
            elif parameter.annotation is not None or isinstance(value, Union):
                value = self._as_promised(value, func, parameter, frame, made)
            env[name] = value
        if a.vararg is not None:
            more = args[positional:]
            env[a.vararg.arg] = Seq(None if spread else more, join_all(more) if more else UNKNOWN, "args")
        if a.kwarg is not None:
            names = {p.arg for p in [*a.args, *a.kwonlyargs]}
            extra = {k: v for k, v in kwargs.items() if k not in names and k != "**"}
            env[a.kwarg.arg] = Dict(extra, kwargs.get("**", UNKNOWN), True)
        return env

    def _as_promised(self, value: Value, func: Func, parameter: ast.arg, frame: Frame, made: bool) -> Value:
        """What is given for a parameter, with what its annotation and its uses tell besides. `made`: it is one of
        what an object is made with."""
        annotated = parameter.annotation is not None
        if parameter.annotation is not None and isinstance(value, Seq):
            if value.elts is None:
                self.at.types.fill(value, parameter.annotation, frame)
        elif annotated and _is_annotated(value):
            # Two annotations: where this one says that it is no tensor, neither is to be trusted.
            promised = self.parameter(func, parameter, None, frame)
            if not any(o is UNKNOWN or isinstance(o, (Tensor, Instance)) for o in options(promised)):
                return promised
        elif annotated and made and self._is_plain_object(value):
            # An object around a module, which is kept by the same name as the module.
            promised = self.parameter(func, parameter, None, frame)
            if self.at.calls.roots.is_module(promised):
                return promised
        elif isinstance(value, Union) and UNKNOWN in value.options:
            # What the caller does not know of one alternative, the parameter may tell.
            promised = self.parameter(func, parameter, None, frame)
            if promised is not UNKNOWN:
                return join(without(value, lambda o: o is UNKNOWN), promised)
        elif annotated and any(map(self._is_plain_object, options(value))):
            # Of a tensor or an object that holds some, the one that is asked for.
            kept = without(value, self._is_plain_object)
            if isinstance(self.parameter(func, parameter, None, frame), Tensor) and tensor_of(kept):
                return kept
        if annotated and isinstance(value, Tensor) and value.dtype is None:
            # A tensor of which the caller does not know the dtype: `mask: torch.BoolTensor`.
            said = tensor_of(self.parameter(func, parameter, None, frame))
            if said is not None and said.dtype is not None:
                return value.but(dtype=said.dtype)
        return value

    def _is_plain_object(self, value: Value) -> bool:
        """Whether it is an object of the project that is no module."""
        return (
            isinstance(value, Instance) and value.cls is not None and not self.at.classes.is_module(value.cls)
        )

    def parameter(self, func: Func, parameter: ast.arg, default: ast.expr | None, frame: Frame) -> Value:
        """What a parameter is where the caller does not tell: by annotation, default, and use."""
        said, home = self._annotated(func, parameter, frame)
        text = f"`{parameter.arg}` is annotated as a tensor"
        value = self.at.types.annotation(said.annotation, home, said.lineno, text)
        if value is UNKNOWN and not isinstance(func.node, ast.Lambda):
            value = self.at.functions.usage.by_use(func, parameter)
        if default is not None:
            if says_none(default):
                if self._is_option(func, parameter.arg, value):
                    return join(LEFT_OUT, without(value, lambda o: is_none(o) is True))
                return join(NONE, value)
            if isinstance(default, ast.Constant) and default.value is not ...:
                # A flag or a rate that is off by default may well be switched on.
                is_off = default.value is False or (isinstance(default.value, float) and not default.value)
                is_off = is_off or (default.value == 0 and self._is_made_with(func))
                plain = Py(type(default.value).__name__, off=OFTEN_OFF if is_off else 0)
                if value is UNKNOWN or (plain.off and isinstance(value, Py)):
                    return plain
                if any(isinstance(o, Tensor) for o in options(value)):
                    # Annotated as a tensor, and a plain value by default: the annotation is not to be trusted.
                    return Union((*options(value), plain), True) if not isinstance(value, Py) else value
            if value is UNKNOWN and dotted(default):
                # A class that parts are made of: `block=Block`, which few callers replace.
                usual = self.at.expressions.quietly(default, func.env or {}, frame)
                if isinstance(usual, Class) and self.at.classes.is_module(usual.info):
                    return mixed(usual, loose=True)
        return value

    def _annotated(self, func: Func, parameter: ast.arg, frame: Frame) -> tuple[ast.arg, Frame]:
        """The parameter with an annotation, which may stand in a base class: `def step(self, x: Tensor)` of an abstract
        class, then `def step(self, x)` in its place."""
        cls = func.defined_in
        if parameter.annotation is None and cls is not None:
            name = getattr(func.node, "name", "")
            for base in self.at.classes.bases(cls)[0][1:] if func.node is cls.methods.get(name) else ():
                method = base.methods.get(name)
                for one, _ in with_defaults(method.args) if method is not None else ():
                    if one.arg == parameter.arg and one.annotation is not None:
                        return one, Frame(base.module, (1, 1), "", cls=base, closure=base.env)
        return parameter, frame

    def _calls_itself(self, func: Func, frame: Frame) -> bool:
        """Whether a method of the object calls another one of it, not the one of a base class in whose place it is."""
        if func.bound is None or func.bound is not frame.me or not self.active:
            return False
        caller = self.innermost()
        if getattr(caller, "name", "") == "__call__":  # which runs `forward` for whoever calls the object
            return not self.reached.get(caller, False)
        return getattr(caller, "name", "") != getattr(func.node, "name", "")

    def is_making(self, owner: Value, frame: Frame) -> bool:
        """Whether the function that runs makes the object, so that what it sets there was not there before."""
        return owner is frame.me and getattr(self.running(), "name", "") in MAKERS

    def _is_made_with(self, func: Func) -> bool:
        """Whether the parameters of a function are what an object is made with."""
        return func.defined_in is not None and func.node is func.defined_in.methods.get("__init__")

    def _is_option(self, func: Func, name: str, value: Value) -> bool:
        """Whether a parameter of `__init__` is a number, a text or the like, which the object keeps and never calls."""
        cls = func.defined_in
        if cls is None or not self._is_made_with(func):
            return False
        if not all(o is UNKNOWN or isinstance(o, Py) for o in options(value)):
            return False
        if not any(attr == name and dotted(kept) == name for attr, kept in cls.layers()):
            return False
        calls = (part.func for m in cls.mentioning(name) for part in walk(m) if isinstance(part, ast.Call))
        return not any(f"{dotted(callee)}.".startswith(f"self.{name}.") for callee in calls)

    def seeds(self, func: Func) -> list[Value]:
        """What a root's positional parameters are, self included."""
        inner = Frame(func.module, (1, 1), "", cls=func.defined_in, closure=func.env)
        a = func.node.args
        positional = with_defaults(a)[: len(placed(a))]
        values = [self.parameter(func, p, d, inner) for p, d in positional]
        if func.bound is not None and values:
            values[0] = func.bound
        return values

    def named_seeds(self, func: Func, frame: Frame) -> dict[str, Value]:
        """The same of its parameters that are given by name alone."""
        a = func.node.args
        named = with_defaults(a)[len(placed(a)) :]
        return {p.arg: self.parameter(func, p, d, frame) for p, d in named}


def _given_to_compile(value: Value) -> int:
    """Which function or model of the project this is, for a function that may compile it."""
    if isinstance(value, Func):
        return id(value.node)
    return id(value.cls) if isinstance(value, Instance) else 0


def _hands_back(function: FunctionNode | ast.Lambda) -> str:
    """The parameter that a function returns as it was given, whatever it does with it: `config["n"] = 10; return
    config`; "" if it returns anything else."""
    given = {each.arg for each in parameters_in(function.args)}
    if not given or not isinstance(function, ast.FunctionDef):
        return ""
    if not isinstance(function.body[-1], ast.Return) or yields(function):
        return ""
    names = {
        each.value.id if isinstance(each.value, ast.Name) else "" for each in parts(function, ast.Return)
    }
    name = names.pop()
    return name if name in given and not names and name not in binds(function) else ""


def _anew(result: Value, function: FunctionNode | ast.Lambda) -> Value:
    """What a call returns: of a dictionary that each call makes, its own, as what one caller sets there is no
    other's."""
    return result.copy() if isinstance(result, Dict) and _makes_table(function) else result


def _makes_table(function: FunctionNode | ast.Lambda) -> bool:
    """Whether a function returns dictionaries that it makes, and nothing else."""
    made = {
        target.id
        for each in parts(function, ast.Assign)
        for target in each.targets
        if isinstance(target, ast.Name) and _is_new_table(each.value)
    }
    returned = [each.value for each in parts(function, ast.Return)]
    return bool(returned) and all(
        _is_new_table(each) or (isinstance(each, ast.Name) and each.id in made) for each in returned
    )


def _is_new_table(node: ast.expr | None) -> bool:
    """`{...}`, `dict(...)`"""
    called = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "dict"
    return called or isinstance(node, ast.Dict)


def _list_given(a: ast.arguments, env: Env) -> None:
    """Say of `*args` and `**kwargs` that they hold what the call lists, and no more."""
    more = env[a.vararg.arg] if a.vararg is not None else None
    if isinstance(more, Seq):
        more.counted = more.elts is not None
    named = env[a.kwarg.arg] if a.kwarg is not None else None
    if isinstance(named, Dict):
        named.listed = True


def _has_name(function: FunctionNode, name: str) -> bool:
    """Whether a name is the function's own: a parameter, or one that it assigns to."""
    return any(each.arg == name for each in parameters_in(function.args)) or any(
        one.id == name and isinstance(one.ctx, ast.Store) for one in parts(function, ast.Name)
    )


def _definition(which: Any) -> Any:
    """The definition in what `active` holds, which tells a closure's functions apart by what they close over."""
    return which[0] if which.__class__ is tuple else which


def _unwraps(definition: FunctionNode | ast.Lambda) -> bool:
    """Whether a function takes off what torch.compile put around a module, in a loop or not."""
    return any(reads(part, "_orig_mod") for part in walk(definition))


def _is_annotated(value: Value) -> bool:
    """Whether it is a tensor, if anything, of which an annotation alone says so."""
    tensors = False
    for one in options(value):
        if isinstance(one, Tensor):
            if not one.is_annotated:
                return False
            tensors = True
        elif is_none(one) is not True:
            return False
    return tensors


def _is_flag(default: ast.expr | None) -> bool:
    return isinstance(default, ast.Constant) and isinstance(default.value, bool)
