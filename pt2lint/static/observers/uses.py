"""What a function does with its parameters and its object's attributes that decides how often it is compiled."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple, TypeGuard

from pt2lint.libraries.model import Constants, Models
from pt2lint.op import RECOMPILE_LIMIT
from pt2lint.static.interpreter.frame import Env, Frame
from pt2lint.static.interpreter.syntax import dotted, parameters_of
from pt2lint.static.source.nodes import (
    FunctionNode,
    is_name,
    is_range,
    own_name,
    parameters_in,
    parts,
    unit_of,
    walk,
)
from pt2lint.static.values import Dict, Ext, Func, Instance, Seq, Tensor, Value, Wrapped, is_stack

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context

STRENGTH = (
    "range",
    "size",
    "kept",
    "index",
    "place",
    "array",
    "constant",
    "iterated",
    "spelled",
    "text",
    "row",
    "read",
)
OF_TEXTS = (
    "endswith format lower lstrip partition removeprefix removesuffix replace rpartition rsplit rstrip split "
    "startswith strip upper"
).split()


_BRANCHES = (ast.If, ast.IfExp, ast.While, ast.For, ast.comprehension)
_OPERATIONS = (ast.Attribute, ast.Subscript, ast.Call, ast.Compare, ast.BinOp, ast.UnaryOp)
_USING = frozenset((*_BRANCHES, *_OPERATIONS, ast.FormattedValue, ast.Assign))  # what `_Reader` looks at


class Use(NamedTuple):
    """`how`: "range" (ends a loop), "size N" (the length of that dimension does), "kept N NAME" (a function keeps that
    length as a constant), "index" (picks from a list or dictionary), "place" (from a tensor, beside other dimensions:
    `x[:, n]`), "array" (from an array of NumPy), "constant NAME" (given to a function that keeps it as a constant),
    "iterated" (gone over by a loop), "text" (a method of texts is called on it, or it names an attribute), "row" (picks
    one of a tensor alone: `x[n]`), or "read". The line is in the function that does it."""

    how: str
    path: str
    line: int


Uses = dict[str, Use]


class Followed(NamedTuple):
    """A function of the project that a call runs: its uses, the names of the parameters that the call fills, and
    whether it is a method of the same object."""

    uses: Uses
    parameters: list[str]
    own: bool


Follow = Callable[[ast.Call], "Followed | None"]


class Decisive:
    """The uses of each function, as far as somebody asked."""

    def __init__(self, at: Context) -> None:
        self.at = at
        self._known: dict[FunctionNode, Uses] = {}

    def of(self, func: Func) -> Uses:
        """What decides how often the function is compiled."""
        definition = func.node
        assert not isinstance(definition, ast.Lambda)
        known = self._known.get(definition)
        if known is not None:
            return known
        self._known[definition] = {}  # what a recursive call adds
        frame = Frame(
            func.module, unit_of(definition), "", cls=func.defined_in, me=func.bound, closure=func.env
        )
        me = own_name(definition) if func.bound is not None else ""
        env: Env = {me: func.bound} if func.bound is not None else {}
        local = {p.arg for p in parameters_in(definition.args)}
        local |= {n.id for n in parts(definition, ast.Name) if isinstance(n.ctx, ast.Store)}

        def follow(call: ast.Call) -> Followed | None:
            inner = self.at.functions.usage.callee(call.func, me, func, frame) or of_global(call.func)
            if inner is None:
                return None
            own = func.bound is not None and inner.bound is func.bound
            return Followed(self.of(inner), parameters_of(inner), own)

        def of_global(callee: ast.expr) -> Func | None:
            """`scheduler.step` of an object that a global name leads to; a function that is compiled itself."""
            head = callee
            while isinstance(head, ast.Attribute):
                head = head.value
            if not isinstance(head, ast.Name) or func.env is not None or head.id in local:
                return None
            value = evaluate(callee)
            if isinstance(value, Wrapped) and value.how == "compiled":
                value = value.inner
            return value if isinstance(value, Func) and not isinstance(value.node, ast.Lambda) else None

        def evaluate(expression: ast.expr) -> Value:
            return self.at.expressions.quietly(expression, env, frame)

        found = self._known[definition] = _Reader(
            definition, func.module.path, evaluate, follow, self.at.models, me
        ).uses()
        return found

    def of_attribute(self, owner: Instance, attribute: str) -> tuple[Use, Func] | None:
        """What a compiled method of the object does with its attribute, and which; None if none reads it."""
        assert owner.cls is not None
        for cls in self.at.classes.bases(owner.cls)[0]:
            for method in cls.methods.values():
                if method in self.at.functions.reached and method.name != "__init__":
                    reader = Func(method, cls.module, cls.env, owner, cls)
                    use = self.of(reader).get("." + attribute)
                    if use is not None:
                        return use, reader
        return None


def is_after_data(function: FunctionNode | ast.Lambda, line: int) -> bool:
    """Whether the line stands behind the head of a loop over data, whose turns it may be in."""
    return any(
        not is_range(part.iter) and part.lineno < line <= (function.end_lineno or 0)
        for part in parts(function, ast.For)
    )


def wants_number(function: FunctionNode, name: str) -> int:
    """The line where the function does with a parameter what it cannot do with a tensor: tests it, makes it a number of
    Python or a text, ends a slice with it. 0 if there is none."""
    known: dict[str, int] | None = function.__dict__.get("pt2lint_wants")
    if known is None:
        known = function.__dict__["pt2lint_wants"] = _numbers_wanted(function)
    _ = function.body  # which notes that it is read
    return known.get(name, 0)


def _numbers_wanted(function: FunctionNode) -> dict[str, int]:
    """The first such line of each name in it."""
    found: dict[str, int] = {}
    for part in walk(function):
        wanting: list[ast.expr | None] = []
        if isinstance(part, (ast.If, ast.IfExp, ast.While, ast.Assert)):
            wanting = [*_asked(part.test)]
        elif isinstance(part, ast.Slice):
            wanting = [part.lower, part.upper]
        elif isinstance(part, ast.FormattedValue):
            wanting = [part.value]
        elif isinstance(part, ast.Call):
            callee = part.func
            whole = dotted(callee) in ("int", "float") or is_range(part)
            of_math = isinstance(callee, ast.Attribute) and getattr(callee.value, "id", "") == "math"
            wanting = [*part.args] if whole or of_math else []
            wanting += [k.value for k in part.keywords if k.arg in ("alpha", "value")]
        for one in wanting:
            if one is not None:
                line = part.lineno if hasattr(part, "lineno") else one.lineno
                for n in walk(one):
                    if isinstance(n, ast.Name):
                        found.setdefault(n.id, line)
    return found


def _asked(test: ast.expr) -> Iterator[ast.expr]:
    """What a test asks for the values of; not whether it is None."""
    if isinstance(test, ast.BoolOp):
        for value in test.values:
            yield from _asked(value)
    elif isinstance(test, ast.UnaryOp):
        yield from _asked(test.operand)
    elif isinstance(test, ast.Compare):
        if not any(isinstance(op, (ast.Is, ast.IsNot)) for op in test.ops):
            yield from (test.left, *test.comparators)
    elif isinstance(test, (ast.Name, ast.BinOp)):
        yield test


class _Reader:
    """Finds what one function does: by parameter, by "PARAMETER.NAME" for attributes of these, by ".NAME" for those of
    the object `me`, and by ".NAME.PART" for parts of these, the use that costs most.

    What the function binds anew is left out. `evaluate` gives the value of an expression as far as it is known from
    outside of the function.
    """

    def __init__(
        self,
        node: FunctionNode,
        path: str,
        evaluate: Callable[[ast.expr], Value],
        follow: Follow,
        models: Models,
        me: str,
    ) -> None:
        self.node = node
        self.path = path
        self.evaluate = evaluate
        self.follow = follow
        self.models = models
        self.me = me
        self.given = {p.arg for p in parameters_in(node.args)} - {me}
        self.found: Uses = {}

    def uses(self) -> Uses:
        for part in walk(self.node):
            if part.__class__ in _USING:
                self._look_at(part)
        for name in parts(self.node, ast.Name):
            if isinstance(name.ctx, ast.Store):
                self.found.pop(name.id, None)
        return self.found

    def _look_at(self, part: ast.AST) -> None:
        if isinstance(part, (ast.For, ast.comprehension)):
            self._looped(part.iter)
        elif isinstance(part, ast.Subscript):
            self._add(part.value, "read")
            self._picked(part)
        elif isinstance(part, ast.Call):
            self._add(_text_in(part), "text")
            if isinstance(part.func, ast.Attribute) and part.func.attr == "encode":
                self._add(part.func.value, "spelled")
            self._given(part)
        elif isinstance(part, ast.Compare):
            for side in [part.left, *part.comparators]:
                if not any(isinstance(op, (ast.Is, ast.IsNot)) for op in part.ops):
                    self._add(side, "read")
        elif isinstance(part, ast.BinOp):
            for side in (part.left, part.right):
                self._add(side, "read")
        elif isinstance(part, ast.UnaryOp):
            self._add(part.operand, "read")
        elif isinstance(part, (ast.If, ast.IfExp, ast.While)):
            self._add(part.test, "read")
        elif isinstance(part, ast.FormattedValue):
            self._add(part.value, "read")
        elif isinstance(part, ast.Assign):
            if isinstance(part.targets[0], (ast.Tuple, ast.List)):
                self._add(part.value, "read")  # `h, *rest = inputs`
        elif isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Load):
            self._add(part.value, "read")  # `name.startswith`

    def _add(self, expression: ast.expr | None, how: str) -> None:
        name = self._key(expression)
        if name is not None and expression is not None:
            self._keep(name, Use(how, self.path, expression.lineno))

    def _keep(self, name: str, use: Use) -> None:
        """The use that costs most."""
        known = self.found.get(name)
        if known is None or _rank(use.how) < _rank(known.how):
            self.found[name] = use

    def _key(self, expression: ast.expr | None) -> str | None:
        if isinstance(expression, ast.Name):
            return expression.id
        if self._is_mine(expression):
            return "." + expression.attr
        held = expression.value if isinstance(expression, (ast.Attribute, ast.Subscript)) else None
        if expression is not None and self._is_mine(held):
            return "." + item(held.attr, expression)
        if isinstance(expression, ast.Attribute) and isinstance(held, ast.Name) and held.id in self.given:
            return f"{held.id}.{expression.attr}"
        return None

    def _is_mine(self, expression: ast.expr | None) -> TypeGuard[ast.Attribute]:
        """Whether it is an attribute of the object."""
        return self.me != "" and isinstance(expression, ast.Attribute) and is_name(expression.value, self.me)

    def _looped(self, source: ast.expr) -> None:
        if not isinstance(source, ast.Call) or not is_range(source):
            self._add(source, "iterated")
            return
        for bound in (b for a in source.args for b in _bounding(a)):
            tensor, dim = _sized(_made(bound, self.node))
            self._add(tensor or bound, f"size {dim}" if tensor is not None else "range")
            if isinstance(held := _made(bound, self.node), ast.Attribute):  # `n = self.clock.n`
                self._add(held, "range")

    def _picked(self, part: ast.Subscript) -> None:
        places = part.slice.elts if isinstance(part.slice, ast.Tuple) else [part.slice]
        several = {place for place in places if len(places) > 1 and not isinstance(place, ast.Slice)}
        bounds = [b for p in places for b in ((p.lower, p.upper) if isinstance(p, ast.Slice) else (p,))]
        if len(places) == 1 and not isinstance(places[0], ast.Slice):
            self._picked_by(part.value, places[0])
        several = {_shifted(place) for place in several}
        bounds = [_shifted(b) for b in bounds if b is not None]
        if not any(isinstance(b, (ast.Name, ast.Attribute)) for b in bounds):
            return
        container = self.evaluate(part.value)
        for bound in bounds:
            if isinstance(container, (Seq, Dict)):
                self._add(bound, "index")
            elif isinstance(container, Tensor) and container.array:
                self._add(bound, "array")
            elif bound in several:
                self._add(bound, "place")
            else:
                self._add(bound, "row" if bound is part.slice and not is_stack(container) else "read")

    def _picked_by(self, container: ast.expr, index: ast.expr) -> None:
        """`TABLE[2 * n]`, `TABLE[key(n)]` of a function of the project, or `TABLE[place]` after `place = n + 1`."""
        made = _made(index, self.node)
        counted = _bounding(made)
        func = self.evaluate(made.func) if isinstance(made, ast.Call) else None
        if isinstance(made, ast.Call) and isinstance(func, Func) and not isinstance(func.node, ast.Lambda):
            returned = [part.value for part in parts(func.node, ast.Return) if part.value is not None]
            within = {n.id for one in returned for n in _bounding(one) if isinstance(n, ast.Name)}
            given = zip(parameters_of(func), made.args, strict=False)
            counted = [a for name, a in given if name in within] if len(returned) == 1 else []
        if counted and isinstance(self.evaluate(container), (Seq, Dict)):
            for one in counted:
                self._add(one, "index")

    def _given(self, call: ast.Call) -> None:
        """What a call does with the names that it is given."""
        given: list[tuple[int | str, ast.expr]] = [*enumerate(call.args)]
        given += [(k.arg, k.value) for k in call.keywords if k.arg]
        named = [(at, a) for at, a in given if self._key(a) is not None]
        computed = [(at, part) for at, a in given for part in _computed_of(a)]
        callee = call.func
        mine = self._key(callee) if isinstance(callee, ast.Attribute) else None
        mine = mine if mine is None or mine.startswith(".") else None
        inner = self.follow(call) if computed or mine is not None else None
        if inner is not None and inner.own:
            for attribute, use in inner.uses.items():
                if attribute.startswith("."):
                    self._keep(attribute, use)
        if not given:
            return
        if isinstance(callee, ast.Name) and callee.id in self.models.last_words("looks"):
            for _, a in named:
                self._add(a, "read")
            return
        value = self.evaluate(callee)
        if isinstance(value, Ext):
            for _, a in named:
                self._add(a, "read")
        name, constants = self._constants_of(callee, value)
        kept = [at for at, _ in given if any(at in places for places in constants)]
        for at, a in computed:
            if at in kept:
                self._add(a, f"constant {name}")
        for at, a in given:
            tensor, dim = _sized(_made(a, self.node)) if at in kept else (None, 0)
            self._add(tensor, f"kept {dim} {name}")
        if inner is None:
            return
        for at, a in named:
            if isinstance(at, int):
                at = inner.parameters[at] if at < len(inner.parameters) else ""
            key = self._key(a)
            if at in inner.uses and key is not None:
                self._keep(key, inner.uses[at])

    def _constants_of(self, callee: ast.expr, value: Value) -> tuple[str, Constants]:
        """What is called, and the arguments that it keeps as constants, each by its position and its name."""
        name = ""
        constants: Constants = ()
        if isinstance(callee, ast.Attribute):
            name, constants = callee.attr, self.models.of(f"{self.models.tensor}.{callee.attr}").baked
        if isinstance(value, Ext) and value.receiver is None:
            own = self.models.of(value.name).baked
            if own or self.models.library_of(value.name).objects:
                name, constants = value.name, own
        return name, constants


def item(attribute: str, place: ast.expr) -> str:
    """How a part is named of what an attribute holds: `args.epoch` of `self.args.epoch`, `options['epoch']`."""
    if isinstance(place, ast.Attribute):
        return f"{attribute}.{place.attr}"
    return f"{attribute}[{ast.unparse(place.slice)}]" if isinstance(place, ast.Subscript) else attribute


def _rank(how: str) -> int:
    return STRENGTH.index(how.split(" ")[0])


def _text_in(call: ast.Call) -> ast.expr | None:
    """`name` of `name.split(".")` and of `getattr(module, name)`: what can only be a text there."""
    callee = call.func
    if isinstance(callee, ast.Name):
        return call.args[1] if callee.id in ("getattr", "hasattr", "setattr") and len(call.args) > 1 else None
    if not isinstance(callee, ast.Attribute) or callee.attr not in OF_TEXTS:
        return None
    # A tensor has `split`, too.
    texts = callee.attr != "split" or any(
        isinstance(a, ast.Constant) and isinstance(a.value, str) for a in call.args
    )
    return callee.value if texts else None


def _made(name: ast.expr, node: FunctionNode) -> ast.expr:
    """What a name is assigned in the function, if once (`x.shape[1]` of `b, n = x.shape`), else the expression."""
    if not isinstance(name, ast.Name):
        return name
    found: list[ast.expr] = []
    for part in parts(node, ast.Assign):
        for target in part.targets:
            if isinstance(target, ast.Tuple):
                found += [
                    ast.Subscript(part.value, ast.Constant(at), ast.Load())
                    for at, each in enumerate(target.elts)
                    if is_name(each, name.id)
                ]
            elif is_name(target, name.id):
                found.append(part.value)
    return found[0] if len(found) == 1 else name


def _sized(length: ast.expr) -> tuple[ast.Name | None, int]:
    """The tensor and the dimension of `len(x)`, `x.shape[1]` and `x.size(1)`; None if it is none of these."""
    at: ast.expr | None = ast.Constant(0)
    owner: ast.expr | None = None
    if isinstance(length, ast.Call) and len(length.args) == 1:
        if is_name(length.func, "len"):
            owner = length.args[0]
        elif isinstance(length.func, ast.Attribute) and length.func.attr == "size":
            owner, at = length.func.value, length.args[0]
    elif isinstance(length, ast.Subscript):
        whole, at = length.value, length.slice
        if isinstance(whole, ast.Call) and not whole.args and not whole.keywords:
            whole = whole.func
        if isinstance(whole, ast.Attribute) and whole.attr in ("shape", "size"):
            owner = whole.value
    if isinstance(owner, ast.Name) and isinstance(at, ast.Constant) and isinstance(at.value, int):
        return owner, at.value
    return None, 0


def _bounding(count: ast.expr) -> list[ast.expr]:
    """`n` of `2 * n + 1` and of `min(n, 10)`: what makes it another number; none that leaves it few."""
    if isinstance(count, ast.BinOp) and isinstance(count.op, (ast.Add, ast.Sub, ast.Mult)):
        return [*_bounding(count.left), *_bounding(count.right)]
    if (
        isinstance(count, ast.Call)
        and isinstance(count.func, ast.Name)
        and count.func.id in ("min", "max", "int")
    ):
        caps = [a.value for a in count.args if isinstance(a, ast.Constant) and isinstance(a.value, int)]
        if count.func.id == "min" and caps and min(caps) < RECOMPILE_LIMIT:
            return []
        return [name for a in count.args for name in _bounding(a)]
    return [count]


def _shifted(place: ast.expr) -> ast.expr:
    """`n` of `n + 1` and of `n - self.config.first`"""
    if isinstance(place, ast.BinOp) and isinstance(place.op, (ast.Add, ast.Sub)):
        return place.left if isinstance(place.right, (ast.Constant, ast.Attribute)) else place
    return place


def _computed_of(number: ast.expr) -> list[ast.expr]:
    """`t` and `rate` of `-t / rate`: what makes it another number."""
    if isinstance(number, ast.UnaryOp) and isinstance(number.op, ast.USub):
        return _computed_of(number.operand)
    if isinstance(number, ast.BinOp) and isinstance(
        number.op, (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow)
    ):
        return [*_computed_of(number.left), *_computed_of(number.right)]
    return [number] if isinstance(number, (ast.Name, ast.Attribute)) else []
