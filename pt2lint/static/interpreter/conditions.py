"""Conditions: their outcome where it is known, and what they tell of the names in them."""

from __future__ import annotations

import ast
import operator
from itertools import islice
from typing import TYPE_CHECKING

from pt2lint.static.interpreter.asked import Asked
from pt2lint.static.interpreter.branches import Branches
from pt2lint.static.interpreter.contexts import Contexts
from pt2lint.static.interpreter.frame import Env, Frame
from pt2lint.static.interpreter.special import truth_asked
from pt2lint.static.interpreter.splits import Splits
from pt2lint.static.interpreter.syntax import dotted
from pt2lint.static.source.nodes import FunctionNode, is_name, parts, says_none
from pt2lint.static.values import (
    BOOL,
    LEAF,
    NONE,
    OFTEN_OFF,
    SIZE,
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
    is_none,
    is_wrapper,
    kind_of,
    options,
    tensor_of,
    truth,
    without,
)

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context
    from pt2lint.static.source.modules import ClassInfo


BY_LENGTH = {ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Gt: operator.gt}
LOOKS_UP = ("get", "pop", "items", "keys", "values")


class Conditions:
    def __init__(self, at: Context) -> None:
        self.at = at
        self.contexts, self.asked, self.branches = Contexts(at), Asked(at), Branches(at)
        self.splits = Splits(at)
        self.asserted: ast.expr | None = None  # the last operand of an assertion, which is one in the graph

    def test(self, node: ast.expr, env: Env, frame: Frame) -> bool | None:
        """Evaluate as a condition: note tensors that are tested; the outcome where it is known."""
        return self.tested(node, env, frame)[1]

    def tested(self, node: ast.expr, env: Env, frame: Frame) -> tuple[Value, bool | None]:
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            known = self.test(node.operand, env, frame)
            return (BOOL, None) if known is None else (Py("bool", not known), not known)
        if isinstance(node, ast.BoolOp):
            return self._joined(node, env, frame)
        value = self.at.expressions.eval(node, env, frame)
        tensor = tensor_of(value)
        if tensor is not None:
            self._note_test(node, value, tensor, env, frame)
            return value, None
        if isinstance(value, Instance):
            truth_asked(self.at, value, node, frame)
        known = self.truth_of(value)
        if isinstance(value, (Ext, Func)) and self.at.notebook.listens("test uncalled", frame):
            if self._names(node, value, env) and self.at.functions.answers_whether_compiled(value):
                self.at.notebook.note(node, "test uncalled", frame)
        self.asks_for_truth(node, value, frame)
        known = self.by_length(node, env) if known is None else known
        return value, self.by_keywords(node, env) if known is None else known

    def _joined(self, node: ast.BoolOp, env: Env, frame: Frame) -> tuple[Value, bool | None]:
        """`a and b`, `a or b`: each is asked under what those before it have to be."""
        inner = dict(env)
        is_and = isinstance(node.op, ast.And)
        outcomes: list[bool | None] = []
        doubts = 0
        before = frame.guards
        for part in node.values:
            known = self.test(part, inner, frame)
            outcomes.append(known)
            if known is (not is_and):
                # `a and False`: false, whatever a was.
                self.at.notebook.doubt -= doubts
                frame.guards = before
                return Py("bool", known), known
            if self.unlikely(part, inner, frame) if is_and else self.likely(part, inner, frame):
                doubts, self.at.notebook.doubt = doubts + 1, self.at.notebook.doubt + 1
            if known is None:
                frame.guards = self.asked.where(part, is_and, inner, frame)
            self.narrow(part, inner, is_and, frame)
        frame.guards = before
        self.at.notebook.doubt -= doubts
        for name in [name for name in inner if name not in env]:
            if "." not in name:  # what `:=` names; of attributes that holds in here alone
                env[name] = inner[name]
        if all(o is is_and for o in outcomes):
            return Py("bool", is_and), is_and
        return BOOL, None

    def _note_test(self, node: ast.expr, value: Value, tensor: Tensor, env: Env, frame: Frame) -> None:
        if node is self.asserted or not self.at.notebook.listens("test tensor", frame):
            return
        if self.tested_before(value, frame):
            return
        if isinstance(value, Tensor) and value.array:
            # A number of NumPy's that an object keeps is a constant where it is read, and none where it is tested.
            tensor = tensor.but(sure=True)
        if isinstance(node, (ast.Subscript, ast.Attribute)) and self._is_any_item(node, env, frame):
            tensor = tensor.but(sure=False)
        if isinstance(node, ast.Name) and tensor.is_used_alone:
            # Whoever asks whether it is there knows it as something else.
            tensor = tensor.but(sure=False)
        array = {"array": "yes"} if tensor.array else None
        before = frame.guards
        if isinstance(node, (ast.Name, ast.Attribute)):
            frame.guards = self.asked.of_kept(node, env, frame)
            frame.guards = self.asked.of_there(node, value, env, frame)
        frame.guards = self.asked.of_branch(node, env, frame)
        self.at.notebook.note(node, "test tensor", frame, about=tensor, details=array)
        frame.guards = before
        if frame.region and frame.inside is None:
            resumed(env)

    def asks_for_truth(self, node: ast.expr, value: Value, frame: Frame) -> None:
        """Note the test of a module that torch.compile wrapped, which Python asks for its length."""
        if isinstance(value, (Wrapped, Union)) and self.at.notebook.listens("test compiled", frame):
            if any(self._wraps_without_length(one) for one in options(value)):
                self.at.notebook.note(node, "test compiled", frame)

    def _wraps_without_length(self, value: Value) -> bool:
        """Whether it is what torch.compile made of a module that, as far as its class tells, has no length."""
        if not isinstance(value, Wrapped) or value.how != "compiled" or value.within:
            return False
        inner = value.inner
        if not isinstance(inner, Instance):
            return False
        bases = [inner.external or ""]
        if inner.cls is not None:
            if self.at.classes.find_method(inner.cls, "__len__") is not None:
                return False
            bases = self.at.classes.bases(inner.cls)[1]
        return bool(bases) and all(self.at.models.plays(base, "module base") for base in bases)

    def _names(self, node: ast.expr, function: Ext | Func, env: Env) -> bool:
        """Whether the expression is the function's name, and no variable that may hold the function."""
        name = function.name if isinstance(function, Ext) else getattr(function.node, "name", "")
        if isinstance(node, ast.Name) and node.id not in env:
            return True
        return (dotted(node) or "").rpartition(".")[2] == name.rpartition(".")[2]

    def by_length(self, test: ast.expr, env: Env) -> bool | None:
        """`len(parts) == 1`, where the code lists the parts, and `len(args) > 0`, of what a call gives besides."""
        if not isinstance(test, ast.Compare) or type(test.ops[0]) not in BY_LENGTH:
            return None
        asked, number = test.left, test.comparators[0]
        if not isinstance(number, ast.Constant) or not isinstance(asked, ast.Call) or len(asked.args) != 1:
            return None
        if not isinstance(asked.func, ast.Name) or asked.func.id != "len" or type(number.value) is not int:
            return None
        value = env.get(asked.args[0].id) if isinstance(asked.args[0], ast.Name) else None
        if not isinstance(value, Seq) or not value.counted or value.elts is None:
            return None
        if value.type != "args" and (not value.elts or isinstance(test.ops[0], ast.Gt)):
            return None
        return BY_LENGTH[type(test.ops[0])](len(value.elts), number.value)

    def by_keywords(self, test: ast.expr, env: Env) -> bool | None:
        """`more.get("scale") is not None`, or `"scale" in more`, where the call gives nothing of that name; `more`
        itself, where it gives nothing at all."""
        match test:
            case ast.Compare(
                ast.Call(ast.Attribute(held, "get"), [key, *default], []),
                [ast.Is() | ast.IsNot() as asked],
                [none],
            ) if all(map(says_none, [*default, none])):
                pass
            case ast.Compare(key, [ast.In() | ast.NotIn() as asked], [held]):
                pass
            case ast.Name():
                return False if self.gives_none(test, env) else None
            case _:
                return None
        value = env.get(held.id) if isinstance(held, ast.Name) else None
        running = self.at.functions.running()
        if not isinstance(value, Dict) or not value.listed or running is None:
            return None
        if not isinstance(key, ast.Constant) or key.value in value.items or _is_filled(running, held):
            return None
        return isinstance(asked, (ast.Is, ast.NotIn))

    def gives_none(self, more: ast.expr, env: Env) -> bool:
        """Whether it is the `**kwargs` of the function that runs, which its call gave nothing and nothing fills."""
        if not isinstance(more, ast.Name):
            return False
        value, running = env.get(more.id), self.at.functions.running()
        if not isinstance(value, Dict) or not value.listed or value.items or running is None:
            return False
        given = running.args.kwarg
        return given is not None and given.arg == more.id and not _is_filled(running, more)

    def _is_any_item(self, node: ast.Subscript | ast.Attribute, env: Env, frame: Frame) -> bool:
        """An item of a dictionary of which only an annotation tells: `dict[str, Tensor]` may hold a list that is tested
        for being empty."""
        owner = self.at.expressions.again(node.value, env, frame)
        return isinstance(owner, Dict) and not owner.items

    def truth_of(self, value: Value) -> bool | None:
        """The truth value where it is known: a function that was not called is true, of whatever library, and so is the
        size of a tensor."""
        if isinstance(value, Py):
            return True if value is SIZE else truth(value)
        answers = {
            True
            if isinstance(o, Ext) and o.receiver is None and self.at.models.returns_something(o.name)
            else truth(o)
            for o in options(value)
        }
        return answers.pop() if len(answers) == 1 else None

    def unlikely(self, test: ast.expr, env: Env, frame: Frame, least: int = OFTEN_OFF) -> bool:
        """Whether a condition holds only in special use: with a flag that the project leaves off (`least` of
        that kind). What runs under it is reported with low confidence."""
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
            return any(self.unlikely(part, env, frame, least) for part in test.values)
        if isinstance(test, ast.Compare) and isinstance(test.ops[0], (ast.Gt, ast.NotEq)) and _is_zero(test):
            test = test.left
        if isinstance(test, (ast.Name, ast.Attribute)):
            value = self.at.expressions.again(test, env, frame)
            return isinstance(value, Py) and value.off >= least
        if isinstance(test, ast.Call) and is_name(test.func, "isinstance") and test.args:
            # Whether something of no known kind is a text: models are not given texts.
            kind = self.at.expressions.again(test.args[-1], env, frame)
            kinds = kind.elts or () if isinstance(kind, Seq) else (kind,)
            texts = [self.at.models.plays(self.at.names.external_name(each), "text") for each in kinds]
            return (
                bool(texts) and all(texts) and self.at.expressions.again(test.args[0], env, frame) is UNKNOWN
            )
        return False

    def likely(self, test: ast.expr, env: Env, frame: Frame) -> bool:
        """Whether a condition holds but in special use: what `or` has after it then seldom runs."""
        if isinstance(test, ast.Compare) and len(test.ops) == 1:
            if isinstance(test.ops[0], ast.Is):
                # `key is value or torch.equal(key, value)`: two names for what is one tensor in most calls.
                sides = [
                    self.at.expressions.again(side, env, frame) for side in (test.left, test.comparators[0])
                ]
                return all(side is UNKNOWN or tensor_of(side) is not None for side in sides)
            if isinstance(test.ops[0], (ast.Eq, ast.LtE)) and _is_zero(test):
                value = self.at.expressions.again(test.left, env, frame)
                return isinstance(value, Py) and bool(value.off)
        return False

    def optional(self, test: ast.expr, env: Env, frame: Frame) -> bool:
        """Whether a condition asks that something is given which may be left out: `mask is not None`."""
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
            return any(self.optional(part, env, frame) for part in test.values)
        if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.IsNot):
            right = test.comparators[0]
            if says_none(right):
                return any(is_none(o) for o in options(self.at.expressions.again(test.left, env, frame)))
        if isinstance(test, ast.Call) and is_name(test.func, "isinstance"):
            value = self.at.expressions.again(test.args[0], env, frame) if test.args else UNKNOWN
            return isinstance(value, Union) and value.declared
        return False

    def tested_before(self, value: Value, frame: Frame) -> bool:
        """Whether the same value was tested before in the same loop body: Dynamo has given up the function by
        then, and what mends the first test mends this one."""
        if frame.inside != "loop":
            return False
        tensors = [o for o in options(value) if isinstance(o, Tensor)]
        before = any(t is seen for t in tensors for seen in frame.tested)
        frame.tested += tensors
        return before

    def narrow(self, test: ast.expr, env: Env, outcome: bool, frame: Frame) -> None:
        """Change `env` to what holds where `test` came out as `outcome`."""
        known = len(env)
        if frame.splits:
            self.splits.recall(test, env, outcome, frame)
        self._narrow(test, env, outcome, frame)
        for name in islice(reversed(env), len(env) - known):
            if "." in name:
                frame.narrowed.setdefault(name, True)

    def hold(self, test: ast.expr, env: Env, frame: Frame) -> None:
        """Keep in `env` what an assertion says of flags: after `assert self.training is False` no branch trains."""
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
            for part in test.values:
                self.hold(part, env, frame)
        flag, outcome = _flag(test)
        asked = test.operand if isinstance(test, ast.UnaryOp) else test
        asked = asked.left if isinstance(asked, ast.Compare) else asked
        if flag is not None and isinstance(known := self.at.expressions.again(asked, env, frame), Py):
            if known.type == "bool":
                env[flag] = Py("bool", outcome)
                frame.narrowed.setdefault(flag, True)

    def _narrow(self, test: ast.expr, env: Env, outcome: bool, frame: Frame) -> None:
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            self._narrow(test.operand, env, not outcome, frame)
        elif isinstance(test, ast.BoolOp):
            parts = test.values
            if isinstance(test.op, ast.And) is not outcome:
                parts = self._open(test)
            for part in parts:
                self._narrow(part, env, outcome, frame)
        elif isinstance(test, ast.Compare) and len(test.ops) == 1:
            self._narrow_compared(test.left, test.ops[0], test.comparators[0], env, outcome, frame)
        elif isinstance(test, ast.NamedExpr):
            self._narrow(test.target, env, outcome, frame)
        elif isinstance(test, (ast.Name, ast.Attribute)):
            if outcome:
                self._narrow_none(test, env, False, frame)
            elif isinstance(test, ast.Attribute) and test.attr == "is_sparse":
                place = test.value
                place = place.value if isinstance(place, ast.Attribute) and place.attr == "data" else place
                key = dotted(place)
                if key is not None and isinstance(dense := env.get(key), Tensor):
                    env[key] = dense.but(sparse=False)
        elif isinstance(test, ast.Call):
            self._narrow_call(test, env, outcome, frame)

    def _open(self, test: ast.BoolOp) -> list[ast.expr]:
        """The one operand on which the outcome hangs, as all others were known when the test was made: `mask is not
        None` of `mask is not None and torch.compiler.is_compiling()`."""
        left: list[ast.expr] = []
        for part in test.values:
            seen = self.at.expressions.seen.get(part)
            if seen is None or self.truth_of(seen[1]) is not isinstance(test.op, ast.And):
                left.append(part)
        return left if len(left) == 1 else []

    def _narrow_compared(
        self, left: ast.expr, op: ast.cmpop, right: ast.expr, env: Env, outcome: bool, frame: Frame
    ) -> None:
        if says_none(right):
            if isinstance(op, (ast.Is, ast.Eq)):
                self._narrow_none(left, env, outcome, frame)
            elif isinstance(op, (ast.IsNot, ast.NotEq)):
                self._narrow_none(left, env, not outcome, frame)
        elif isinstance(left, ast.Attribute) and left.attr == "dtype":
            self._narrow_dtype(left.value, right, op, env, outcome, frame)
        elif isinstance(left, ast.Call) and len(left.args) == 1:
            # `type(x) is torch.Tensor`; where it is not, it may be of a class that derives from that.
            if isinstance(op, (ast.Is, ast.Eq) if outcome else (ast.IsNot, ast.NotEq)):
                self._narrow_type(left, right, env, frame)

    def _narrow_none(self, place: ast.expr, env: Env, none: bool, frame: Frame) -> None:
        if isinstance(place, ast.NamedExpr):
            place = place.target
        key = dotted(place)
        if key is None:
            return
        value = env.get(key)
        if value is None:
            value = self.at.expressions.again(place, env, frame)
        if none:
            if isinstance(value, Union) or is_none(value) is None:
                # which may be what an option is by default: the next test asks that again
                env[key] = next((o for o in options(value) if is_none(o) is True), NONE)
        elif isinstance(value, Union):
            env[key] = without(value, lambda o: is_none(o) is True)

    def _narrow_dtype(
        self, place: ast.expr, asked: ast.expr, op: ast.cmpop, env: Env, outcome: bool, frame: Frame
    ) -> None:
        """`mask.dtype == torch.bool` came out as `outcome`."""
        key = dotted(place)
        if key is None or not isinstance(op, (ast.Eq, ast.Is) if outcome else (ast.NotEq, ast.IsNot)):
            return
        kind, value = (self.at.expressions.again(part, env, frame) for part in (asked, place))
        if isinstance(value, Tensor) and isinstance(kind, Py) and kind.type == "dtype":
            if kind_of(kind.const) in ("bool", "int", "float"):
                env[key] = value.but(dtype=kind_of(kind.const))

    def _narrow_call(self, test: ast.Call, env: Env, outcome: bool, frame: Frame) -> None:
        if len(test.args) < 1:
            return
        key = dotted(test.args[0])
        callee = self.at.expressions.again(test.func, env, frame)
        if key is None or not isinstance(callee, Ext):
            return
        value = env[key] if key in env else self.at.expressions.again(test.args[0], env, frame)
        if self.at.models.plays(callee.name, "asks for a tensor"):
            wanted: tuple[str, ...] = (self.at.models.tensor,)
        elif self.at.models.plays(callee.name, "asks for a type") and len(test.args) == 2:
            asked = self.at.expressions.again(test.args[1], env, frame)
            kinds = asked.elts or [] if isinstance(asked, Seq) else [asked]
            if kinds and all(isinstance(k, Class) for k in kinds):
                classes = [k.info for k in kinds if isinstance(k, Class)]
                self._keep_objects(key, value, classes, env, outcome)
                if value is UNKNOWN and outcome and not frame.region and len(classes) == 1:
                    if self.at.classes.is_module(classes[0]):  # `for m in model.modules():`
                        env[key] = self.at.objects.instance(classes[0])
                return
            names = [self.at.names.external_name(k) for k in kinds]
            if not names or None in names:
                return
            wanted = tuple(n for n in names if n)
        elif self.at.models.plays(callee.name, "decides by type") and len(test.args) == 2:
            held = test.args[1]
            if not isinstance(value, Union) or not isinstance(held, ast.Constant):
                return
            if held.value == "_orig_mod":
                env[key] = without(value, lambda o: is_wrapper(o) is not outcome)
            elif not outcome:
                # `hasattr(model, "module")` is not so: nothing holds the module in an attribute of that name.
                start = f"{held.value!s}."
                env[key] = without(value, lambda o: isinstance(o, Wrapped) and o.within == start)
            return
        else:
            return

        self._keep(key, value, wanted, env, outcome)

    def _keep_objects(self, key: str, value: Value, wanted: list[ClassInfo], env: Env, outcome: bool) -> None:
        """Of the objects that a name may be, those of one of the project's classes, or the others."""

        def fits(o: Value) -> bool | None:
            if not isinstance(o, Instance):
                return None
            if o.cls is None:
                return False
            own = self.at.classes.bases(o.cls)[0]
            if any(cls in own for cls in wanted):
                return True
            return None if any(o.cls in self.at.classes.bases(cls)[0] for cls in wanted) else False

        if isinstance(value, Union):
            env[key] = without(value, lambda o: fits(o) is (not outcome))

    def _narrow_type(self, asked: ast.Call, kind: ast.expr, env: Env, frame: Frame) -> None:
        """`type(x) is kind`"""
        key = dotted(asked.args[0])
        callee = self.at.expressions.again(asked.func, env, frame)
        if (
            key is None
            or not isinstance(callee, Ext)
            or not self.at.models.plays(callee.name, "tells the type")
        ):
            return
        name = self.at.names.external_name(self.at.expressions.again(kind, env, frame))
        value = env[key] if key in env else self.at.expressions.again(asked.args[0], env, frame)
        if name:
            self._keep(key, value, (name,), env, True)

    def _keep(self, key: str, value: Value, wanted: tuple[str, ...], env: Env, outcome: bool) -> None:
        """Of what a name may be, what is of one of the types, or, of another outcome, what is not."""

        def fits(o: Value) -> bool | None:
            return self.at.types.is_instance(o, wanted)

        if outcome:
            kept = without(value, lambda o: fits(o) is False)
            if isinstance(kept, type(UNKNOWN)) or (isinstance(kept, Union) and UNKNOWN in kept.options):
                known = self.at.models.value_of_type(wanted[0]) if len(wanted) == 1 else None
                kept = known if known is not None else kept
            if isinstance(value, Union) and isinstance(kept, Tensor):
                kept = kept.but(sure=True)  # one of those in a collection of several kinds
            env[key] = kept
        elif isinstance(value, Union):
            env[key] = without(value, lambda o: fits(o) is True)
        if isinstance(value, Union):
            _keep_alike(value, key, env)


def _keep_alike(value: Union, key: str, env: Env) -> None:
    """What else was computed of an argument that is a number or a tensor is what this name is: `h, w = n / r, n * r`,
    and `if isinstance(h, Tensor):`."""
    origins = {o.origin for o in value.options if isinstance(o, Tensor)}
    is_tensor = isinstance(env[key], Tensor)
    if None in origins or len(origins) != 1 or (not is_tensor and tensor_of(env[key]) is not None):
        return
    for name, other in env.items():
        if isinstance(other, Union) and {o.origin for o in other.options if isinstance(o, Tensor)} == origins:
            kept = without(other, lambda o: isinstance(o, Tensor) is not is_tensor)
            env[name] = kept.but(sure=True) if isinstance(kept, Tensor) else kept


def resumed(env: Env) -> None:
    """After a break, what was computed before is an argument of the next graph."""
    for name, value in env.items():
        if isinstance(value, Tensor) and not value.leaf:
            env[name] = value.but(leaf=LEAF)
        elif isinstance(value, Seq) and value.elts and value.type in ("tuple", "args"):
            elts: list[Value] = [v.but(leaf=LEAF) if isinstance(v, Tensor) else v for v in value.elts]
            env[name] = Seq(elts, None, "tuple", None, value.fields)


def _is_filled(function: FunctionNode, held: ast.expr) -> bool:
    """Whether a function may put something into what `**more` holds: it does more than look something up in it, or give
    it on."""
    looked = [n.value for n in parts(function, ast.Attribute) if n.attr in LOOKS_UP]
    looked += [n.value for call in parts(function, ast.Call) for n in call.keywords if n.arg is None]
    looked += [n.value for n in parts(function, ast.Subscript) if isinstance(n.ctx, ast.Load)]
    looked += [side for test in parts(function, ast.Compare) for side in test.comparators]
    # Where it is asked by itself, only what is done before counts.
    names = [n for n in parts(function, ast.Name) if isinstance(held, ast.Name) and n.id == held.id]
    return any(
        n not in looked and n is not held for n in names if held not in names or n.lineno < held.lineno
    )


def _is_zero(test: ast.Compare) -> bool:
    """Whether something is compared with the number 0 alone."""
    right = test.comparators[0]
    return len(test.ops) == 1 and isinstance(right, ast.Constant) and right.value in (0, 0.0)


def _flag(test: ast.expr) -> tuple[str | None, bool]:
    """The attribute of the object that a test asks for, and what it is asked to be: `self.training is False`."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        flag, outcome = _flag(test.operand)
        return flag, not outcome
    if isinstance(test, ast.Compare) and isinstance(test.comparators[0], ast.Constant):
        value = test.comparators[0].value
        if isinstance(value, bool) and isinstance(test.ops[0], (ast.Is, ast.Eq)):
            return _flag(test.left)[0], value
    name = dotted(test) if isinstance(test, ast.Attribute) else None
    return (name if name is not None and name.startswith("self.") else None), True
