"""In which ways one compiled function is called: with gradients and without, in training and in evaluation, with other
constants, with None for a tensor, with a tensor that carries gradients and a detached one. Each is compiled for
itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from pt2lint.op import Op
from pt2lint.said import told_line, told_place
from pt2lint.static.interpreter.frame import Env, Frame, title
from pt2lint.static.interpreter.syntax import dotted
from pt2lint.static.observers.computing import Computing
from pt2lint.static.observers.wanting import Wanting
from pt2lint.static.source.modules import Module
from pt2lint.static.source.nodes import (
    BLOCKS,
    SIMPLE,
    FunctionNode,
    Unit,
    binds,
    is_name,
    last_word,
    parameters_in,
    parts,
    says_none,
    unit_of,
    walk,
    yields,
)
from pt2lint.static.values import (
    MEMBER,
    NO_CONST,
    UNKNOWN,
    Class,
    Ext,
    Func,
    Instance,
    Py,
    Seq,
    Tensor,
    Value,
    Wrapped,
    options,
)

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context

MOST = 40  # calls of one function that are compared
IN_MODES = ("in evaluation mode", "in training mode")
ONE, WHOLE, DRAWN = "a size of 1", "the sizes that its caller is given", "a batch that is drawn"
OBSERVED = "what an environment gives"  # an observation of each environment, which are fewer, or one
# What gives a tensor of as many elements along each dimension.
ALIKE = frozenset(
    ("to", "cuda", "cpu", "float", "double", "half", "long", "int", "clone", "detach", "contiguous")
)
MADE = frozenset(
    ("FloatTensor", "LongTensor", "Tensor", "tensor", "as_tensor", "from_numpy", "asarray", "array")
)
DETACHED, CARRIES = "a tensor without gradients", "a tensor that carries gradients"
GRADLESS = "without gradients"
TURNED, CAST, AS_IT_IS = "with other strides", "in another dtype", "as it is"
REQUIRES = "requires_grad_"
DEEP = 6  # modules in modules in which one that minds the mode is looked for
TOLD = 4  # other calls that a rule is told of, and is to choose from
Place = tuple[str, int, int]


class Way(NamedTuple):
    """A call: where it stands, in which lines, and whether Dynamo traces these; whether gradients are wanted there
    (None: that is not known), and what of its parameters is known."""

    place: Place
    module: Module
    unit: Unit
    region: bool
    graded: bool | None
    tensors: bool  # whether it is given any
    given: dict[str, str]
    mode: str  # what a statement above says of the module: "train", "eval"; "" where none does
    lengths: tuple[
        str, ...
    ]  # ONE, WHOLE, DRAWN or OBSERVED, of each argument of which that shows; "" of another
    carried: tuple[
        str, ...
    ]  # what Dynamo will find each argument to be: DETACHED, CARRIES; "" where that is not known
    forms: tuple[
        tuple[str, str], ...
    ]  # of each argument: which tensor, and in which form: TURNED, CAST or AS_IT_IS


class Met:
    """Where a call of a callee was met: in which runs of its function, while which functions ran, and whether only as
    one that nothing but `roots = "modules"` has compiled."""

    def __init__(self) -> None:
        self.runs: set[int | None] = set()
        self.running: set[Any] = set()
        # Those of them where it is not known by then whether gradients are wanted.
        self.open: set[Any] = set()
        self.presumed = True

    def add(self, frame: Frame, running: list[Any], graded: bool | None, presumed: bool) -> None:
        self.runs.add(frame.context)
        self.running.update(running)
        if graded is None:
            self.open.update(running)
        self.presumed = self.presumed and presumed


class Ways:
    """`ways` holds the calls of each callee: of the function of the project that they run, or else of what was
    compiled; `at_place` the callees of a call."""

    def __init__(self, at: Context) -> None:
        self.at = at
        self.ways: dict[Any, list[Way]] = {}
        self.at_place: dict[Place, dict[Any, Value]] = {}
        self._read: dict[FunctionNode, tuple[str, ...]] = {}
        self.wanting = Wanting(at)
        self.computing = Computing(at.notebook)
        self._modes: dict[ast.AST, list[tuple[int, str, str]]] = {}
        self._bound: dict[ast.AST, dict[str, list[ast.Assign]]] = {}
        self._differentiable: set[ast.AST] = set()  # calls of modules, where gradients are wanted
        self._met: dict[tuple[Place, Any], Met] = {}  # by the callee
        self._compiling: set[str] = set()  # files that give something to torch.compile
        self._batches: dict[ast.AST, set[str]] = {}  # names that loops over loaders bind, by function or file

    def compiled(self, target: Value, node: Any, frame: Frame | None) -> None:
        if node is not None and frame is not None:
            self._compiling.add(frame.module.path)

    def looped(self, node: ast.For | ast.While, over: Value, env: Env, frame: Frame) -> None:
        """`for images, labels in loader:`, which carry no gradients."""
        if frame.region or not isinstance(node, ast.For) or not isinstance(over, Instance):
            return
        if self.at.models.plays(over.external, "loader"):
            bound = {n.id for n in ast.walk(node.target) if isinstance(n, ast.Name)}
            self._batches.setdefault(self.whole(frame), set()).update(bound)

    def entered(self, func: Func, node: Any, frame: Frame, callee: Frame) -> None:
        if not callee.region:
            self.wanting.entered(func)

    def called_compiled(
        self,
        func: Wrapped | Instance | Func,
        args: list[Value],
        kwargs: dict[str, Value],
        node: Any,
        frame: Frame,
        presumed: bool = False,
    ) -> None:
        inner = self.at.calls.roots.body_of(func.inner if isinstance(func, Wrapped) else func)
        if inner is not None:
            me = [inner.bound] if inner.bound is not None else []
            env = self.at.functions.bind_arguments(inner, [*me, *args], kwargs, False)
            self.met(inner, env, node, frame, presumed)
        elif isinstance(func, Wrapped):
            self.met(func if func.inner is UNKNOWN else func.inner, {}, node, frame)
        elif isinstance(func, Instance) and func.cls is None:
            self.met(func, {}, node, frame)

    def called(
        self, node: ast.Call, func: Value, args: list[Value], result: Value, env: Env, frame: Frame
    ) -> None:
        """A module, whose `forward` counts as compiled, is called in code that is not."""
        if isinstance(func, (Ext, Class)) or func is UNKNOWN:
            return  # no module, nor a method of one
        for one in self.at.calls.roots.presumed(func):
            self.called_compiled(one, args, {}, node, frame, presumed=True)
        if not frame.gradless and any(self.is_module(one) or self.is_method(one) for one in options(func)):
            self._differentiable.add(node)

    def is_method(self, value: Value) -> bool:
        """Whether it is a compiled method of a module: `policy.get_action`."""
        inner = value.inner if isinstance(value, Wrapped) and value.how == "compiled" else None
        return isinstance(inner, Func) and inner.bound is not None and self.is_module(inner.bound)

    def is_module(self, value: Value) -> bool:
        if isinstance(value, Wrapped):
            return self.is_module(value.inner)
        if isinstance(value, Seq):
            return value.type == "Sequential"
        if not isinstance(value, Instance):
            return False
        external = value.cls is None and self.at.models.makes_modules(value.external or "")
        return external or self.at.classes.is_module(value.cls)

    def given(
        self, func: Func, args: list[Value], kwargs: dict[str, Value], env: Env, node: Any, frame: Frame
    ) -> None:
        """Traced code calls a function, which Dynamo compiles by itself where it left the caller to Python."""
        self.met(func, env, node, frame)

    def met(self, callee: Value, env: Env, node: Any, frame: Frame, presumed: bool = False) -> None:
        if not isinstance(node, ast.Call) or self.at.calls.roots.beside:
            return  # what is compiled as a whole only if somebody does so calls nothing that is compiled by itself
        definition = self.key(callee, node.func, frame)
        if isinstance(definition, ast.Lambda):
            return
        if not frame.module.linted or not self.at.notebook.listens("call another way", frame):
            return
        if isinstance(definition, FunctionNode) and (definition.name == "__init__" or yields(definition)):
            return  # not compiled by itself
        ways = self.ways.setdefault(definition, [])
        place = (frame.module.path, node.lineno, frame.module.column(node.lineno, node.col_offset))
        graded = self.wanting.at_call(frame)
        self._met.setdefault((place, definition), Met()).add(
            frame, self.at.functions.stack(), graded, presumed
        )
        given: dict[str, str] = {}
        if isinstance(definition, FunctionNode):
            words = {name: _word(env.get(name), frame.region) for name in self.read_by(definition)}
            given = {name: word for name, word in words.items() if word}
        tensors = any(isinstance(o, Tensor) for value in env.values() for o in options(value))
        mode = self.mode(node, frame)
        carried = tuple(self.carried(arg, node.lineno, frame) for arg in node.args)
        lengths = tuple(self.length(arg, node.lineno, frame) for arg in node.args) if not frame.region else ()
        forms = tuple(map(_form, node.args))
        way = Way(
            place,
            frame.module,
            frame.unit,
            frame.region,
            graded,
            tensors,
            given,
            mode,
            lengths,
            carried,
            forms,
        )
        if way in ways or len(ways) >= MOST:
            return
        ways.append(way)
        self.at_place.setdefault(place, {})[definition] = callee
        self.at.notebook.note(node, "call another way", frame)

    def key(self, callee: Value, called: ast.expr, frame: Frame) -> Any:
        """The function that is run, or what was compiled: by where it is made, if a global name stands for it, which
        functions know as another object than the script's own code does."""
        if isinstance(callee, Func):
            return callee.node
        whole = self.whole(frame)
        own = (
            binds(whole) | {p.arg for p in parameters_in(whole.args)}
            if isinstance(whole, FunctionNode)
            else ()
        )
        if not isinstance(called, ast.Name) or called.id in own or called.id in (frame.closure or ()):
            return callee
        _, made = self.at.names.assignments(called.id, frame.module) or (None, [])
        return made[0] if len(made) == 1 else callee

    def whole(self, frame: Frame) -> ast.AST:
        """The function that runs, or the file whose own code does."""
        running = self.at.functions.running()
        return frame.module.tree if running is None or unit_of(running) != frame.unit else running

    def length(self, arg: ast.expr, line: int, frame: Frame) -> str:
        """Whether a dimension has length 1 (`x[:, -1:]`, `x.unsqueeze(1)`), it is what the function is given, or rows
        that were drawn from many (`memory.sample(size)`)."""
        if isinstance(arg, ast.Call):
            callee = arg.func
            word = last_word(callee)
            if isinstance(callee, ast.Attribute) and word in ALIKE:
                return self.length(callee.value, line, frame)
            if word in MADE and len(arg.args) >= 1:
                return self.length(arg.args[0], line, frame)
            if _gives_one(word, arg):
                return ONE
            if _draws(arg):
                return DRAWN
            return OBSERVED if _observes(arg, self.whole(frame)) else ""
        if isinstance(arg, ast.Subscript):
            places = arg.slice.elts if isinstance(arg.slice, ast.Tuple) else [arg.slice]
            if any(isinstance(p, ast.Slice) and _is_one(p) for p in places) or any(
                map(says_none, places[:1])
            ):
                return ONE
            # What is cut off at some length is given as well: `x[:, -self.block_size :]`.
            cut = isinstance(arg.value, ast.Name) and all(map(_cuts, places))
            return self.length(arg.value, line, frame) if cut else ""
        if isinstance(arg, (ast.List, ast.Tuple)):
            return ONE if len(arg.elts) == 1 else ""
        if isinstance(arg, ast.Attribute):
            return DRAWN if self.length(arg.value, line, frame) == DRAWN else ""
        if not isinstance(arg, ast.Name):
            return ""
        last = self.last_bound(arg.id, line, frame)
        if last is not None:
            return self.length(last.value, last.lineno, frame)
        whole = self.whole(frame)
        if not isinstance(whole, FunctionNode):
            return ""
        given = arg.id in {p.arg for p in parameters_in(whole.args)}
        return WHOLE if given and not _is_bound_again(arg.id, line, whole) else ""

    def carried(self, arg: ast.expr, line: int, frame: Frame) -> str:
        """What Dynamo finds a value of this line to be: `fake.detach()` has no gradients, what a module made has."""
        if (
            isinstance(arg, ast.Call)
            and arg not in self._differentiable
            and isinstance(arg.func, ast.Attribute)
        ):
            if arg.func.attr == REQUIRES:
                return "" if arg.args or arg.keywords else CARRIES
            if arg.func.attr in self.at.models.last_words("detaches") or _draws(arg):
                return DETACHED
            return self.carried(arg.func.value, line, frame)  # `generator(z).view(4, -1)`
        if isinstance(arg, ast.Attribute):
            of_drawn = self.length(arg.value, line, frame) == DRAWN
            return DETACHED if arg.attr == "data" or of_drawn else ""
        if isinstance(arg, ast.Name):
            whole = self.whole(frame)
            last = self.last_bound(arg.id, line, frame)
            if last is not None:
                found = self.carried(last.value, last.lineno, frame)
            else:
                found = DETACHED if arg.id in self._batches.get(whole, ()) else ""
            asked = found and REQUIRES[:-1] in frame.module.text
            return "" if asked and any(_requires(part, arg.id) for part in walk(whole)) else found
        if isinstance(arg, ast.Subscript):  # `batch["image"]`; of what a model made, some parts are counts
            return DETACHED if self.carried(arg.value, line, frame) == DETACHED else ""
        if isinstance(arg, ast.Call) and last_word(arg.func) == "Variable" and arg.args:
            return "" if arg.keywords else self.carried(arg.args[0], line, frame)
        return CARRIES if arg in self._differentiable else ""

    def last_bound(self, name: str, line: int, frame: Frame) -> ast.Assign | None:
        """The last statement above a line that binds the name."""
        whole = self.whole(frame)
        if whole not in self._bound:
            self._bound[whole] = _bound(whole)
        above = [each for each in self._bound[whole].get(name, ()) if each.lineno < line]
        return above[-1] if above else None

    def mode(self, call: ast.Call, frame: Frame) -> str:
        """Which of `model.train()` and `model.eval()` comes last above a call of the model, or of a method of it."""
        whole = self.whole(frame)
        known = self._modes.get(whole)
        if known is None:
            known = self._modes[whole] = list(_modes(whole))
        if not known:
            return ""
        callee = ast.unparse(call.func)
        above = [mode for line, owner, mode in known if line < call.lineno and f"{callee}.".startswith(owner)]
        return above[-1] if above else ""

    def minds_mode(self, value: Value | None, depth: int = 0) -> bool:
        """Whether a module does otherwise in training, itself or in what it holds."""
        if isinstance(value, Seq):
            held = value.elts if value.elts is not None else [value.elem]
            return any(self.minds_mode(part, depth) for part in held)
        if not isinstance(value, Instance) or depth > DEEP:
            return False
        if value.cls is None:
            return self.at.models.plays(value.external, "minds training")
        if not self.at.classes.is_module(value.cls):
            return False
        return any(
            part.attr == "training"
            for cls in self.at.classes.bases(value.cls)[0]
            for method in cls.methods.values()
            for part in parts(method, ast.Attribute)
        ) or any(self.minds_mode(part, depth + 1) for part in self.at.objects.state(value).values())

    def read_by(self, definition: FunctionNode) -> tuple[str, ...]:
        """The parameters that the function does something with, in their order."""
        known = self._read.get(definition)
        if known is None:
            a = definition.args
            more = [a.vararg] if a.vararg is not None else []
            names = [p.arg for p in [*parameters_in(a), *more] if p.arg != "self"]
            used = {n.id for n in parts(definition, ast.Name) if isinstance(n.ctx, ast.Load)}
            known = self._read[definition] = tuple(name for name in names if name in used)
        return known

    def finished(self, op: Op, path: str) -> Op:
        """The call, with how others of the same function differ from it."""
        if op.name != "call another way":
            return op
        place = (path, op.line, op.column)
        words: dict[str, str] = {}
        told = 0
        for key, callee in self.at_place.get(place, {}).items():
            for here, there, where, within in self.differences(key, callee, place):
                words |= {f"here {told}": here, f"there {told}": there, f"where {told}": where}
                words[f"in {told}"] = within
                if here.endswith((WHOLE, DRAWN)):
                    words[f"untraced {told}"] = "yes"  # as all of which the lengths are known
                if isinstance(callee, Func):
                    words[f"to {told}"] = title(callee)
                    words[f"to at {told}"] = told_place(callee.module.path, unit_of(callee.node)[0])
                told += 1
        return op._replace(details=words)

    def differences(self, key: Any, callee: Value, place: Place) -> list[tuple[str, str, str, str]]:
        """How the calls of it at a place differ from others: the words of `_difference`, the other one's place, and the
        traced function that it stands in, or ""."""
        ways = [self.in_the_end(way, key) for way in self.ways[key] if not self.is_plain(way, key)]
        if isinstance(callee, Func) and callee.node not in self.computing:
            ways = [way for way in ways if way.tensors]  # else nothing is compiled
        places = list(dict.fromkeys(way.place for way in ways))
        found = []
        for first, here in enumerate(ways):
            before = [way for way in ways[:first] if (way.module, way.unit) == (here.module, here.unit)]
            for other in ways if here.place == place else ():
                how = _difference(here, other, places.index(other.place) < places.index(place))
                if how is None and (here.mode, other.mode) == ("eval", "train"):
                    how = IN_MODES if self.minds_mode(_module_of(callee)) else None
                if how is None or not self.are_related(key, here, other):
                    continue
                if _are_choices(here, other) and not self.are_in_turn(key, here, other):
                    continue
                if any(way.place != place and _difference(way, other, True) == how for way in before):
                    continue  # told there
                path, line, _ = other.place
                where = f"line {told_line(line)}" if path == place[0] else told_place(path, line)
                where = "here, on another way" if other.place == place else where
                found.append((*how, where, told_place(path, other.unit[0]) if other.region else ""))
        found.sort(key=lambda told: told[0] != GRADLESS)  # which always costs a compilation
        return found[:TOLD]

    def in_the_end(self, way: Way, callee: Any) -> Way:
        """A call that Dynamo does not trace, with what came out later of the functions that ran there."""
        if way.graded is not None or way.region:
            return way
        return way._replace(graded=self.wanting.of(self._met[way.place, callee].open))

    def are_related(self, callee: Any, a: Way, b: Way) -> bool:
        """Whether one process runs both calls: one file imports the other, or one function leads to both."""
        first, second = self._met[a.place, callee], self._met[b.place, callee]
        return not first.running.isdisjoint(second.running) or _are_related(a.module, b.module)

    def are_in_turn(self, callee: Any, a: Way, b: Way) -> bool:
        """Whether some runs of the function take the one arm, and others the other one: `step(training=True)`."""
        return self._met[a.place, callee].runs.isdisjoint(self._met[b.place, callee].runs)

    def is_plain(self, way: Way, callee: Any) -> bool:
        """Whether the file itself says what it compiles, and this is not of it."""
        return self._met[way.place, callee].presumed and way.module.path in self._compiling


def _word(value: Value | None, region: bool) -> str:
    """What a parameter is, as far as Dynamo compiles for it; "" where that is not known. In traced code, of which class
    an object is may be for others to choose."""
    found = options(value) if value is not None else ()
    if len(found) != 1:
        return ""
    one = found[0]
    if isinstance(one, Tensor) and one.sure and not one.array:
        return (
            f"a tensor of {one.ndim} dimension{'s' * (one.ndim != 1)}" if one.ndim is not None else "a tensor"
        )
    if (
        isinstance(one, Py)
        and one.const is not NO_CONST
        and isinstance(one.const, (bool, int, float, str, type(None)))
    ):
        return f"`{one.const}`" if one.type == MEMBER else f"`{one.const!r}`"
    if isinstance(one, Seq) and one.elts is not None and (one.counted or one.type == "args"):
        many = len(one.elts)
        return f"a {one.type} of {many}" if one.type != "args" else f"{many} value{'s' * (many != 1)}"
    if isinstance(one, Instance) and one.cls is not None and not region:
        return f"a `{one.cls.name}`"
    return ""


def _module_of(callee: Value) -> Value | None:
    """The module that runs where it is called; None for another method of one."""
    if not isinstance(callee, Func):
        return callee
    return callee.bound if getattr(callee.node, "name", "") == "forward" else None


def _difference(here: Way, other: Way, later: bool) -> tuple[str, str] | None:
    """How this call is made and how the other one, in words; None if there is no difference, or the other tells it."""
    if here.graded is False and other.graded:
        return GRADLESS, "with them"
    for own, another in zip(here.lengths, other.lengths, strict=False):
        # Between an observation without gradients and a batch with them, those are told where the first is called.
        observed = (own, another) == (DRAWN, OBSERVED) and not (here.graded and other.graded is False)
        if (own in (WHOLE, DRAWN) and another == ONE) or observed:
            return f"with {own}", f"with {another}"
    if not later or (other.graded is False and here.graded):
        return None
    for name, word in here.given.items():
        before = other.given.get(name, "")
        if before and word != before and not _is_alike(word, before):
            return f"with {word} for `{name}`", f"with {before}"
    for own, before in zip(here.carried, other.carried, strict=False):
        if {own, before} == {DETACHED, CARRIES}:
            return f"with {own}", f"with {before}"
    for (tensor, own), (another, before) in zip(here.forms, other.forms, strict=False):
        if (here.module, here.unit) == (other.module, other.unit) and tensor == another and own != before:
            return f"with `{tensor}` {own}", f"with it {before}"
    return None


def _form(arg: ast.expr) -> tuple[str, str]:
    """("x", TURNED) of `x.t()`, ("x", CAST) of `x.double()`."""
    if isinstance(arg, ast.Attribute) and arg.attr in ("T", "mT") and dotted(arg.value):
        return ast.unparse(arg.value), TURNED
    callee = arg.func if isinstance(arg, ast.Call) else None
    if isinstance(arg, ast.Call) and isinstance(callee, ast.Attribute) and dotted(callee.value):
        layout = [k.arg for k in arg.keywords] == ["memory_format"]
        if callee.attr in ("t", "transpose", "permute") or (layout and callee.attr == "to"):
            return ast.unparse(callee.value), TURNED
        if callee.attr in ("double", "half", "bfloat16"):
            return ast.unparse(callee.value), CAST
    return ast.unparse(arg) if dotted(arg) else f"{arg.lineno}:{arg.col_offset}", AS_IT_IS


def _requires(part: ast.AST, name: str) -> bool:
    """`images.requires_grad = True`, `images.requires_grad_()`"""
    if isinstance(part, ast.Call):
        part = part.func
        return isinstance(part, ast.Attribute) and part.attr == REQUIRES and is_name(part.value, name)
    sets = isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store)
    return (
        isinstance(part, ast.Attribute) and sets and f"{part.attr}_" == REQUIRES and is_name(part.value, name)
    )


def _is_one(part: ast.Slice) -> bool:
    """`[-1:]`, `[i : i + 1]`, `[:1]`"""
    lower, upper = part.lower, part.upper
    if part.step is not None:
        return False
    if upper is None:
        return lower is not None and ast.unparse(lower) == "-1"
    return ast.unparse(upper) == (f"{ast.unparse(lower)} + 1" if lower is not None else "1")


def _are_choices(a: Way, b: Way) -> bool:
    """Whether two calls stand in the two arms of one `if`, and no loop around it takes both."""
    if a.unit != b.unit or a.module is not b.module:
        return False
    first, second = sorted((a.place[1], b.place[1]))
    chosen = False
    for part in _around(a.module.tree.body, first, second):
        if isinstance(part, (ast.If, ast.For, ast.While)):
            if not isinstance(part, ast.If):
                return False
            chosen = chosen or bool(
                part.orelse and first < part.orelse[0].lineno <= second and part.body[0].lineno <= first
            )
    return chosen


def _modes(whole: ast.AST) -> Iterator[tuple[int, str, str]]:
    """The line of each statement `model.train()` or `model.eval()` of a function or a file, with the module's name and
    a dot, and which it is. What is defined inside has its own."""
    for part in _statements(whole.body):  # type: ignore[attr-defined]
        if (
            isinstance(part, ast.Expr)
            and isinstance(call := part.value, ast.Call)
            and isinstance(call.func, ast.Attribute)
        ):
            if call.func.attr in ("train", "eval") and not call.args and not call.keywords:
                yield part.lineno, f"{ast.unparse(call.func.value)}.", call.func.attr


def _bound(whole: ast.AST) -> dict[str, list[ast.Assign]]:
    """The statements `name = value` of a function or a file, by the name, and those that bind several names to what is
    drawn. What is defined inside has its own."""
    found: dict[str, list[ast.Assign]] = {}
    for part in _statements(whole.body):  # type: ignore[attr-defined]
        if not isinstance(part, ast.Assign) or len(part.targets) != 1:
            continue
        target = part.targets[0]
        several = [target]
        if isinstance(target, ast.Tuple):
            # Of what a model returns, the first is what it computed.
            first = target.elts[:1] if isinstance(part.value, ast.Call) else []
            several = target.elts if _draws(part.value) else first
        for one in several:
            if isinstance(one, ast.Name):
                found.setdefault(one.id, []).append(part)
    return found


def _is_bound_again(name: str, line: int, whole: FunctionNode) -> bool:
    """Whether a parameter may be something else at a line of the function than what was given."""
    if name not in binds(whole):
        return False
    lines = [p.lineno for p in parts(whole, ast.Name) if p.id == name and isinstance(p.ctx, ast.Store)]
    loops = [
        p
        for p in (*parts(whole, ast.For), *parts(whole, ast.While))
        if p.lineno <= line <= (p.end_lineno or 0)
    ]
    return any(n < line or any(p.lineno <= n <= (p.end_lineno or 0) for p in loops) for n in lines)


def _draws(value: ast.expr) -> bool:
    """`memory.sample(batch_size)`: rows of a memory, and not one."""
    return (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Attribute)
        and value.func.attr == "sample"
        and len(value.args) == 1
        and isinstance(value.args[0], (ast.Name, ast.Attribute, ast.Constant))
        and getattr(value.args[0], "value", None) != 1
    )


def _observes(value: ast.Call, whole: ast.AST) -> bool:
    """`env.reset()`, the beginning of an episode, where the code takes steps in it, too: `env.step(action)`."""
    callee = value.func
    if not isinstance(callee, ast.Attribute) or callee.attr != "reset":
        return False
    owner = ast.unparse(callee.value)
    return any(
        isinstance(part, ast.Call)
        and len(part.args) == 1
        and isinstance(part.func, ast.Attribute)
        and part.func.attr == "step"
        and ast.unparse(part.func.value) == owner
        for part in walk(whole)
    )


def _gives_one(word: str, call: ast.Call) -> bool:
    """`x.unsqueeze(0)`, `x.reshape(1, -1)`, `logits.argmax(-1, keepdim=True)`, `torch.multinomial(p, 1)`"""
    given = {k.arg: k.value for k in call.keywords}
    if word in ("reshape", "view"):
        return bool(call.args) and getattr(call.args[0], "value", None) == 1
    if word in ("argmax", "argmin"):
        return getattr(given.get("keepdim"), "value", False) is True
    if word == "multinomial":
        drawn = given.get("num_samples", call.args[-1] if call.args else None)
        return getattr(drawn, "value", None) == 1
    return word == "unsqueeze"


def _cuts(part: ast.expr) -> bool:
    """`:`, or `-size:` of a size that is not spelled."""
    if not isinstance(part, ast.Slice) or part.upper is not None or part.step is not None:
        return False
    return part.lower is None or (
        isinstance(part.lower, ast.UnaryOp) and isinstance(part.lower.operand, (ast.Name, ast.Attribute))
    )


def _statements(body: list[ast.AST]) -> Iterator[ast.AST]:
    """The statements, and those in them, in the order of the source, less those of what is defined there."""
    for part in body:
        if not isinstance(part, (FunctionNode, ast.ClassDef)):
            yield part
            for name in () if part.__class__ in SIMPLE else BLOCKS:
                yield from _statements(getattr(part, name, []))


def _around(body: list[ast.stmt], first: int, last: int) -> Iterator[ast.AST]:
    """The statements that hold all of these lines, from the outermost on."""
    pending: list[ast.AST] = [*body]
    for part in pending:
        if isinstance(part, ast.match_case):
            pending += part.body
        elif part.lineno <= first and last <= (part.end_lineno or 0):  # type: ignore[attr-defined]
            yield part
            for name in BLOCKS:
                pending += getattr(part, name, ())


def _are_related(a: Module, b: Module) -> bool:
    """Whether one process runs both files, as far as their imports tell."""
    return a is b or any(
        name == other.name or name.startswith(other.name + ".") or other.name.startswith(name + ".")
        for one, other in ((a, b), (b, a))
        for name in one.imports.values()
    )


def _is_alike(a: str, b: str) -> bool:
    """Whether two tensors may have as many dimensions."""
    return "a tensor" in (a, b) and a.startswith("a tensor") and b.startswith("a tensor")
