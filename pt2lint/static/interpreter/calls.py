"""What calls do: functions of the project are entered, of all others the library models are asked."""

from __future__ import annotations

import ast
from collections.abc import Set
from typing import TYPE_CHECKING, Any

from pt2lint.libraries.call import Call
from pt2lint.libraries.model import FOREIGN, Entry, Sizes, breaking
from pt2lint.static.interpreter.frame import Env, Frame, entry, may_be_python
from pt2lint.static.interpreter.functions import MAX_DEPTH
from pt2lint.static.interpreter.guards import ELSEWHERE, FETCHES, LOADS, MEASURES, WRITES, Guard
from pt2lint.static.interpreter.roots import Roots
from pt2lint.static.interpreter.syntax import parameters_of
from pt2lint.static.interpreter.types import leaves_in
from pt2lint.static.source.nodes import binds, is_name, parameters_in, unit_of, walk, with_defaults
from pt2lint.static.values import (
    UNKNOWN,
    Class,
    Ext,
    Func,
    Instance,
    Partial,
    Seq,
    Tensor,
    Union,
    Value,
    Wrapped,
    as_input,
    is_from_outside,
    is_none,
    join_all,
    mixed,
    options,
    tensor_of,
    truth,
)

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context


ITERATOR = (
    "it goes over an iterator that was made before the compiled code runs, of which Dynamo does not know "
    "the items"
)
# What a decorator makes of a function, by the role that it plays.
DECORATORS = {
    "compiles": "compiled",
    "disables": "disabled",
    "opaque": "opaque",
    "scripts a method": "scripted",
    "makes a context manager": "context manager",
}
_NOWHERE = ast.Module(body=[], type_ignores=[])  # the place of calls that stand nowhere


class Calls:
    def __init__(self, at: Context) -> None:
        self.at = at
        self.roots = Roots(at)
        self.decorating = 0  # decorators are run as often as functions are decorated
        self.last_external = ""
        self.last_call: ast.AST | None = None
        self.left_out: set[tuple[Any, str]] = (
            set()
        )  # disabled functions that traced code calls, and in which file

    def decorated(self, value: Value, node: Any, env: Env, frame: Frame) -> Value:
        if not node.decorator_list:
            return value
        decorators = [self.decorator(d, env, frame) for d in node.decorator_list]
        return self.decorate(value, decorators, frame)

    def decorator(self, node: ast.expr, env: Env, frame: Frame) -> Value:
        """What decorates; of `@numba.njit(parallel=True)`, of which nothing else is known, what is called."""
        value = self.at.expressions.quietly(node, env, frame)
        if isinstance(node, ast.Call) and value is UNKNOWN:
            made_by = self.at.expressions.quietly(node.func, env, frame)
            return made_by if self.is_understood(made_by) else value
        return value

    def decorate(self, value: Value, decorators: list[Value], frame: Frame) -> Value:
        """The function after its decorators, the innermost first. One that is not understood changes nothing."""
        for one in reversed(decorators):
            # Where several may stand there, as after `try: from torch import compile`, the one that is understood.
            decorator = next((o for o in options(one) if self.is_understood(o)), one)
            if isinstance(decorator, Ext) and self.at.models.plays(decorator.name, "scripts a method"):
                # `if JIT: fast = torch.jit.script_method`, beside a function: who compiles leaves it out.
                decorator = next((o for o in options(one) if isinstance(o, Func)), decorator)
            if isinstance(decorator, Ext):
                value = self.decorate_external(value, decorator.name)
            elif isinstance(decorator, Partial) and isinstance(decorator.func, Ext):
                value = self.decorate_external(value, decorator.func.name)
                if isinstance(value, Wrapped) and value.how == "compiled":
                    self.at.calls.roots.compiled_as(value, decorator.kwargs)
            elif len(self.at.functions.active) < MAX_DEPTH and isinstance(
                decorator, (Func, Partial, Wrapped, Class)
            ):
                self.at.notebook.quiet += 1
                self.decorating += 1
                try:
                    with self.roots.decorating(value):
                        result = self.apply(decorator, [value], {}, _NOWHERE, frame)
                        compiled = self.compiled_by_wrapper(value, result)
                finally:
                    self.decorating -= 1
                    self.at.notebook.quiet -= 1
                # `return torch.compiler.disable(fn) if available else fn`: what is done to it counts.
                made = [o for o in options(result) if isinstance(o, (Func, Wrapped, Partial))]
                if made and len(made) == len(options(result)):
                    done = [o for o in made if isinstance(o, Wrapped) and o.how in ("disabled", "compiled")]
                    value = min(done, key=lambda o: o.how == "compiled", default=compiled or made[0])
        return value

    def compiled_by_wrapper(self, value: Value, wrapper: Value) -> Wrapped | None:
        """What a decorator's wrapper calls, where that is the function, compiled, with all that the wrapper is given:
        compiled by the decorator (`made = torch.compile(f)`), or by the first call of the wrapper."""
        if not isinstance(value, Func) or not isinstance(wrapper, Func):
            return None
        env, frame = wrapper.env or {}, Frame(wrapper.module, unit_of(wrapper.node), "")

        def is_it(part: ast.expr) -> bool:
            return isinstance(part, ast.Name) and env.get(part.id) is value

        if all(is_it(callee) for callee in _given_all(wrapper.node)):
            return None
        for part in walk(wrapper.node) if value.node not in self.roots.by_decorator else ():
            if isinstance(part, ast.Call) and any(map(is_it, part.args)):
                self.at.expressions.quietly(part, env, frame)
        return self.roots.by_decorator.get(value.node)

    def is_understood(self, decorator: Value) -> bool:
        """Whether something outside of the project, with its arguments or without, does something to a function."""
        inner = decorator.func if isinstance(decorator, Partial) else decorator
        return isinstance(inner, Ext) and not self.at.models.of(inner.name).roles.isdisjoint(DECORATORS)

    def decorate_external(self, value: Value, name: str) -> Value:
        roles = self.at.models.of(name).roles
        for role, how in DECORATORS.items():
            if role in roles:
                return Wrapped(how, value)
        return value

    def apply(
        self,
        func: Value,
        args: list[Value],
        kwargs: dict[str, Value],
        node: Any,
        frame: Frame,
        spread: bool = False,
    ) -> Value:
        if isinstance(node, ast.Call) and not isinstance(func, Union):
            self.at.expressions.used(node, frame, *args, *kwargs.values())
        if isinstance(func, Ext):
            return self.call_external(func, args, kwargs, node, frame)
        if isinstance(func, Func):
            if self.roots.named and not frame.region and not self.at.notebook.quiet:
                if isinstance(node, ast.Call) and self.roots.is_named(func):
                    for hear in self.at.events.called_compiled:
                        hear(func, args, kwargs, node, frame)
            outer = frame.guards
            if frame.region and not self.at.notebook.quiet and isinstance(node, ast.Call):
                frame.guards += self.at.conditions.asked.of_option(node, func, frame)
            try:
                return self.at.functions.call_function(func, args, kwargs, node, frame, spread)
            finally:
                frame.guards = outer
        if isinstance(func, Instance):
            return self.call_instance(func, args, kwargs, node, frame, spread)
        if isinstance(func, Class):
            return self.at.objects.construct(func.info, args, kwargs, node, frame, spread)
        if isinstance(func, Union):
            parts = [o for o in func.options if is_none(o) is not True and o is not UNKNOWN]
            if any(isinstance(o, Instance) and not self._is_scripted(o) for o in parts):
                # `script(net) if scripts else net`: who compiles it may well leave that out.
                parts = [o for o in parts if not self._is_scripted(o)]
            if kwargs:
                # What `**more` holds may be meant for another one of them.
                written = {k.arg for k in node.keywords} if isinstance(node, ast.Call) else kwargs.keys()
                parts = [o for o in parts if self._takes(o, kwargs.keys() & written)]
            if isinstance(node, ast.Call) and not spread and "**" not in kwargs:
                parts = [o for o in parts if self._takes_all(o, len(args), kwargs.keys())] or parts
            if len(parts) > 1:
                # Which of them is called may well go with what it is given: a flag for one loss, labels for the others.
                args, kwargs = [mixed(a) for a in args], {k: mixed(v) for k, v in kwargs.items()}
            several = len({o.name for o in parts if isinstance(o, Ext) and o.receiver is None}) > 1
            results = [self._apply_part(o, args, kwargs, node, frame, spread, several) for o in parts]
            if UNKNOWN in func.options:
                results.append(UNKNOWN)
            return join_all(results)
        if isinstance(func, Partial):
            return self.apply(func.func, [*func.args, *args], {**func.kwargs, **kwargs}, node, frame, spread)
        if isinstance(func, Wrapped):
            return self.call_wrapped(func, args, kwargs, node, frame, spread)
        if isinstance(func, Seq) and func.type == "Sequential":
            return self.call_sequential(func, args, node, frame)
        self.at.notebook.count(frame, any(isinstance(given, Tensor) for given in args))
        return UNKNOWN

    def _is_scripted(self, part: Value) -> bool:
        return isinstance(part, Instance) and self.at.models.plays(part.external, "scripted")

    def _takes(self, part: Value, names: Set[str]) -> bool:
        """Whether one of several that may be called takes arguments of these names: where it does not, it is another
        one that is called here."""
        part = self._called(part)
        if not isinstance(part, Func) or part.node.args.kwarg is not None:
            return True
        return names <= {p.arg for p in parameters_in(part.node.args)} | {"**"}

    def _takes_all(self, part: Value, given: int, names: Set[str]) -> bool:
        """Whether it takes as many arguments by their place as it is given, and needs no others."""
        part = self._called(part)
        if not isinstance(part, Func) or getattr(part.node, "decorator_list", None):
            return True  # a decorator may give it more, or fewer
        a, own = part.node.args, parameters_of(part)
        if given > len(own) and a.vararg is None:
            return False
        needed = {p.arg for p, default in with_defaults(a)[part.bound is not None :] if default is None}
        return needed <= {*own[:given], *names}

    def _called(self, part: Value) -> Value:
        """The method that is run where an object is called."""
        if not isinstance(part, Instance) or part.cls is None:
            return part
        found = (self.at.classes.find_method(part.cls, name) for name in ("__call__", "forward"))
        method = next(filter(None, found), None)
        return self.at.classes.method_value(*method, part) if method is not None else part

    def _apply_part(
        self,
        part: Value,
        args: list[Value],
        kwargs: dict[str, Value],
        node: Any,
        frame: Frame,
        spread: bool = False,
        several: bool = False,
    ) -> Value:
        """Call one of those that may be called, `several` of which are functions of libraries, or that are called in
        turn."""
        if not frame.region or self.at.notebook.quiet or not isinstance(node, ast.Call):
            return self.apply(part, args, kwargs, node, frame, spread)
        outer = frame.guards
        more = self.at.conditions.asked.of_part(node, part, frame)
        frame.guards += tuple(guard for guard in more if guard not in outer)
        # Which of several functions of a library it is nobody says, nor whether these arguments are for all of them:
        # `self.op(x, weight)`, of F.linear for one layer and F.layer_norm for another.
        doubts = several and not more and isinstance(part, Ext) and part.receiver is None
        # Wrapped where several processes train alone, as nothing here says: `if ddp: model = DDP(model)`.
        doubts |= self._is_spread_out(part) and not more
        self.at.notebook.doubt += doubts
        try:
            return self.apply(part, args, kwargs, node, frame, spread)
        finally:
            self.at.notebook.doubt -= doubts
            frame.guards = outer

    def _is_spread_out(self, func: Value) -> bool:
        return isinstance(func, Instance) and self.at.models.plays(func.external, "spreads a module")

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
            self.compiled_called(func, args, kwargs, node, frame)
            if frame.region or self.at.notebook.quiet:
                return self.apply(func.inner, args, kwargs, node, frame, spread)
            # Where the library's own function is compiled on its own (`torch.compile(optimizer.step)`), no code of
            # the project is in what is compiled; that a wrapper for several processes is compiled is told there.
            foreign = isinstance(func.inner, Ext) or self._is_spread_out(func.inner)
            compiled = entry(frame.module, frame.unit)
            compiled.guards += self.roots.as_whole(func)
            args = [as_input(given) for given in args]
            kwargs = {key: as_input(given) for key, given in kwargs.items()}
            self.at.notebook.quiet += foreign
            try:
                return self.apply(func.inner, args, kwargs, node, compiled, spread)
            finally:
                self.at.notebook.quiet -= foreign
        if func.how == "disabled":
            if self.at.notebook.listens("call disabled", frame):
                self.at.notebook.note(node, "call disabled", frame)
                self.left_out.add((getattr(func.inner, "node", None), frame.module.path))
        elif func.how == "scripted":
            op = f"forward {self.at.models.named('scripted')}"
            if self.at.notebook.listens(op, frame):
                self.at.notebook.note(node, op, frame)
        elif func.how == "context manager":
            outer, frame.inside = frame.inside, "with"
            try:
                return self.apply(func.inner, args, kwargs, node, frame, spread)
            finally:
                frame.inside = outer
        # What Dynamo does not enter still returns what it returns.
        outside = Frame(frame.module, frame.unit, frame.title, frame, region=False)
        outside.depth = frame.depth + 1
        self.at.notebook.quiet += 1
        try:
            return self.apply(func.inner, args, kwargs, node, outside, spread)
        finally:
            self.at.notebook.quiet -= 1

    def compiled_called(
        self, func: Wrapped | Instance, args: list[Value], kwargs: dict[str, Value], node: Any, frame: Frame
    ) -> None:
        """What is compiled is called from code that is not, or need not be."""
        caller = may_be_python(frame) if frame.region else frame
        if caller is not None and not self.at.notebook.quiet:
            for hear in self.at.events.called_compiled:
                hear(func, args, kwargs, node, caller)

    def call_sequential(self, func: Seq, args: list[Value], node: Any, frame: Frame) -> Value:
        value = args[0] if args else UNKNOWN
        if func.elts is not None:
            for layer in func.elts:
                value = self._apply_part(layer, [value], {}, node, frame)
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
        if self.roots.is_compiled_in_place(func):
            self.compiled_called(func, args, kwargs, node, frame)
        if cls is None:
            return self.call_external_module(func, args, kwargs, node, frame)
        for name in ("__call__", "forward"):
            found = self.at.classes.find_method(cls, name)
            if found is not None:
                replaced = self.at.classes.is_replaced(found[0], name)
                self.at.notebook.doubt += replaced
                try:
                    return self.apply(
                        self.at.classes.method_value(*found, func), args, kwargs, node, frame, spread
                    )
                finally:
                    self.at.notebook.doubt -= replaced
        if self.at.classes.is_module(cls):
            for base in self.at.classes.bases(cls)[1]:
                if self.at.models.of(base).forward is not None:
                    return self.call_external_module(self.at.models.instance(base), args, kwargs, node, frame)
        return UNKNOWN

    def call_external(
        self, func: Ext, args: list[Value], kwargs: dict[str, Value], node: Any, frame: Frame
    ) -> Value:
        name, receiver = func.name, func.receiver
        if name.endswith(".forward") and isinstance(receiver, Instance) and receiver.external:
            if self.at.models.of(receiver.external).forward is not None:
                return self.call_external_module(receiver, args, kwargs, node, frame)
        if isinstance(receiver, Class):  # see Classes.inherited_maker
            return self.at.objects.instance(receiver.info)
        entry = self.at.models.of(name)
        self.last_external, self.last_call = name, node
        given_any = entry.library is FOREIGN and any(isinstance(given, Tensor) for given in args)
        # Without any argument it computes nothing: `torch.is_grad_enabled()`.
        computes = entry.given == "tensors" and bool(receiver or args or kwargs)
        if computes or given_any:
            self.at.notebook.count(frame)
        roles = entry.roles
        if "loader" in roles and frame.region:
            frame.guards += (Guard("", LOADS if self.is_own(frame) else FETCHES),)
        call = Call(name, args, kwargs, node, frame, receiver, self.at)
        self._note_operation(entry, call)
        self.breaks(entry, node, frame)
        if "goes over items" in roles:
            for given in args:
                self.goes_over(node, given, frame)
        if "goes over items" in roles or "counts items" in roles:
            for part, given in zip(getattr(node, "args", ()), args, strict=False):
                self.refused(part, given, "goes over", frame)
        self._note_untraced(entry, call)
        if "trains" in roles and frame.region and not self.at.notebook.quiet:
            self.roots.does |= {"trains"}
        if "draws" in roles and truth(kwargs.get("training", UNKNOWN)) is not False:
            self.at.notebook.drawn.append((name, frame.module.path, getattr(node, "lineno", 0)))
        if entry.sizes is not None or entry.numbers is not None:
            self.sizes(entry, args, kwargs, node, frame)
        result = entry.answer(call)
        for hear in self.at.events.external:
            hear(call, result)
        return result

    def _note_operation(self, entry: Entry, call: Call) -> None:
        """Note what the models say that the call is."""
        frame, args = call.frame, call.args
        if not self.at.notebook.listens(entry.op, frame):
            return
        before = frame.guards
        if "makes a leaf" in entry.roles and isinstance(call.node.func, ast.Attribute):
            frame.guards += self.at.conditions.branches.of_leaf(call.node.func, frame)
        elif "writes files" in entry.roles:
            frame.guards += (Guard("", WRITES),)
        elif "copies" in entry.roles:
            frame.guards += self.at.conditions.asked.of_given(call.node, args, frame)
        sorts = self.at.types.sorts(args, call.kwargs, call.receiver)
        leaves = leaves_in(args, call.kwargs, call.receiver)
        owner = call.receiver if "exchanges data" in entry.roles else None
        if owner is not None and not isinstance(owner, Tensor) and not self.roots.weights.are_none(owner):
            leaves["weights"] = "maybe"
        about = _what_it_is_about(entry, call)
        self.at.notebook.note(call.node, entry.op, frame, about=about, args=sorts, details=leaves)
        frame.guards = before

    def _note_untraced(self, entry: Entry, call: Call) -> None:
        """Note a call of a library that Dynamo does not trace, and of an extension that the project builds."""
        frame = call.frame
        if entry.untraced and self.at.notebook.listens("call untraced", frame):
            sorts = self.at.types.sorts(call.args, call.kwargs, call.receiver)
            before = frame.guards
            frame.guards += (Guard("", MEASURES),) if "measures" in entry.roles else ()
            frame.guards += (Guard("", ELSEWHERE),) if "runs models" in entry.roles else ()
            words = {"name": entry.library.name}
            self.at.notebook.note(call.node, "call untraced", frame, args=sorts, details=words)
            frame.guards = before
        if self.at.notebook.listens("call extension", frame):
            if self.at.names.project.is_extension(call.name):
                sorts = self.at.types.sorts(call.args, call.kwargs, call.receiver)
                words = {"name": call.name}
                self.at.notebook.note(call.node, "call extension", frame, args=sorts, details=words)

    def asked_of_untraced(self, node: Any, value: Value, frame: Frame) -> None:
        """Note what an object of a library that Dynamo does not trace is asked for (`len(table)`, `table["rate"]`)."""
        if not isinstance(value, Instance) or not value.external:
            return
        entry = self.at.models.of(value.external)
        if entry.untraced and self.at.notebook.listens("call untraced", frame):
            words = {"name": entry.library.name, "asked": "yes"}
            self.at.notebook.note(node, "call untraced", frame, details=words)

    def breaks(self, entry: Entry, node: Any, frame: Frame) -> None:
        """Note a call of which a model says that Dynamo ends the graph there."""
        if entry.breaks:
            says = {"says": "yes"} if "says" in entry.roles else {}
            self._note_break({**breaking(entry.breaks), **says}, node, frame)

    def _note_break(self, words: dict[str, str], node: Any, frame: Frame) -> None:
        if self.at.notebook.listens("call breaking", frame):
            self.at.notebook.note(node, "call breaking", frame, details=words)

    def is_own(self, frame: Frame) -> bool:
        """Whether a method of a module runs."""
        return isinstance(frame.me, Instance) and self.at.classes.is_module(frame.me.cls)

    def sizes(
        self, entry: Entry, args: list[Value], kwargs: dict[str, Value], node: Any, frame: Frame
    ) -> None:
        """Note a tensor that stands where a size or another number is needed: Dynamo has to read it."""
        if not self.at.notebook.listens("size tensor", frame):
            return
        for listed, number in ((entry.sizes, False), (entry.numbers, True)):
            for value in _given(listed, args, kwargs) if listed else ():
                tensor = self._read_as_number(value, entry)
                if tensor is not None:
                    details = {"number": "yes"} if number else {}
                    if "takes uncaptured numbers" in entry.roles:
                        details["uncaptured"] = "yes"
                    self.at.notebook.note(node, "size tensor", frame, about=tensor, details=details)
                    return

    def _read_as_number(self, value: Value, entry: Entry) -> Tensor | None:
        """The tensor in what stands for a number, or for several, which Dynamo has to read."""
        parts = [value]
        if isinstance(value, Seq):
            parts = value.elts if value.elts is not None else [value.elem]
        for part in parts:
            tensor = tensor_of(part)
            if tensor is not None and not tensor.sure and isinstance(part, Union):
                continue  # an annotation alone lists it
            # Of an input, Dynamo knows a whole number of 64 bits without dimensions; Python itself has to read it.
            if tensor is not None and (
                not tensor.leaf
                or tensor.ndim
                or tensor.is_fraction
                or tensor.is_short
                or entry.given == "anything"
            ):
                return tensor
        return None

    def call_external_module(
        self, func: Instance, args: list[Value], kwargs: dict[str, Value], node: Any, frame: Frame
    ) -> Value:
        name = func.external or ""
        entry, inside = self.at.models.of(name), self.at.models.of(f"{name}.forward")
        if entry.forward is None:
            self.breaks(inside, node, frame)
            return UNKNOWN
        self.at.notebook.count(frame, not inside.breaks)  # which are left to Python
        if self.at.notebook.listens(f"forward {name}", frame):
            self.at.notebook.note(node, f"forward {name}", frame, args=self.at.types.sorts(args, kwargs))
        self.breaks(inside, node, frame)
        if "random module" in entry.roles:
            self.at.notebook.drawn.append((name, frame.module.path, getattr(node, "lineno", 0)))
        return entry.result(Call(name, args, kwargs, node, frame, func, self.at))

    def goes_over(self, node: ast.expr, value: Value, frame: Frame) -> None:
        if is_from_outside(value):
            self._note_break(breaking(ITERATOR), node, frame)

    def refused(self, node: ast.expr, value: Value, how: str, frame: Frame) -> None:
        """Note what is done with a module that torch.compile wrapped, where that raises."""
        if not isinstance(value, (Wrapped, Union)) or not self.at.notebook.listens("refuse compiled", frame):
            return
        if not frame.module.says("_orig_mod") and any(self._wraps_module(one) for one in options(value)):
            words = {"how": how, "always": "yes" if isinstance(value, Wrapped) else ""}
            self.at.notebook.note(node, "refuse compiled", frame, details=words)

    def _wraps_module(self, value: Value) -> bool:
        if not isinstance(value, Wrapped) or value.how != "compiled" or value.within:
            return False
        inner = value.inner
        if isinstance(inner, Instance):
            return inner.cls is None or self.at.classes.is_module(inner.cls)
        return isinstance(inner, Seq) and inner.type == "Sequential"

    def iterated(self, node: ast.expr, value: Value, frame: Frame) -> None:
        self.goes_over(node, value, frame)
        self.refused(node, value, "goes over", frame)
        among = options(value)
        for o in among:
            if not isinstance(o, Instance):
                continue
            kind = o.external or self.at.classes.loader(o.cls)
            if kind and self.at.notebook.listens(f"iterate {kind}", frame):
                details = {"maybe": "yes"} if len(among) > 1 else None
                self.at.notebook.note(node, f"iterate {kind}", frame, details=details)


def _given_all(wrapper: Any) -> list[ast.expr]:
    """What a function calls with all that it is given, of which it names nothing: `made(*args, **kwargs)`."""
    rest = wrapper.args.vararg
    if rest is None or parameters_in(wrapper.args) or rest.arg in binds(wrapper):
        return []
    calls = [part for part in walk(wrapper) if isinstance(part, ast.Call)]
    return [
        c.func for c in calls for a in c.args if isinstance(a, ast.Starred) and is_name(a.value, rest.arg)
    ]


def _what_it_is_about(entry: Entry, call: Call) -> Tensor | None:
    """The tensor that the operation of a call is about."""
    args, receiver = call.args, call.receiver
    about = tensor_of(receiver) if receiver is not None else None
    if about is None:
        about = next((t for t in map(tensor_of, args) if t is not None), None)
    if "repeats" in entry.roles:  # the size depends on how often, not on what
        often = [call.kwargs.get("repeats", UNKNOWN), *args[: 1 if receiver is not None else 2][::-1]]
        about = next((t for t in map(tensor_of, often) if t is not None), about)
    if "picks by mask" in entry.roles:
        masks = [call.kwargs.get("mask", UNKNOWN), *args[-1:]]
        about = next((t for t in map(tensor_of, masks) if t is not None), about)
    if about is not None and about is not receiver:
        if entry.given == "tensors":
            return about.but(sure=True)
        if not entry.given:
            return None
    return about


def _given(listed: Sizes, args: list[Value], kwargs: dict[str, Value]) -> list[Value]:
    """The arguments at these positions and of these names."""
    positions, keywords = listed
    return [args[i] for i in positions if i < len(args)] + [kwargs[k] for k in keywords if k in kwargs]
