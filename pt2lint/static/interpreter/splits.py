"""What an `if` made of names, which a later test that asks the same tells apart again: `if x is not None: n = x[0]`,
then `if x is None:`, where `n` is what it was before."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, NamedTuple

from pt2lint.static.interpreter.frame import Env, Frame
from pt2lint.static.interpreter.syntax import dotted
from pt2lint.static.values import Py, Seq, Tensor, Union, options

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context
    from pt2lint.static.interpreter.guards import Path
    from pt2lint.static.values import Value

# What is asked with these is asked the other way round with those.
BASE = {ast.NotIn: ast.In, ast.LtE: ast.Gt, ast.GtE: ast.Lt, ast.NotEq: ast.Eq, ast.IsNot: ast.Is}
# Calls that come out alike as long as what they are given is the same object.
FUNCTIONS = frozenset(("isinstance", "issubclass", "callable"))
METHODS = frozenset(("dim", "size", "numel", "is_tensor", "is_floating_point"))


class Question(NamedTuple):
    """What a test asks about, in its own words, whether that is a constant (`what` is that constant's text) or true
    (""), and the names and attributes that it hangs on."""

    subject: str
    what: str
    value: Any
    places: frozenset[str]

    def answer(self, known: Question, outcome: bool) -> bool | None:
        """How it comes out where the known one about the same came out so; None where that does not tell."""
        if known.what == self.what:
            return outcome
        if known.what and outcome:
            return bool(known.value) if not self.what else (False if known.value != self.value else None)
        if not known.what and self.what and bool(self.value) is not outcome:
            return False
        return None


Part = tuple["Question | None", bool]  # a question, None for what is none, and how it has to come out


class Split:
    """The parts that all have to be so for a test to come out as `met`, and what it made: the name, and its value after
    both branches, after the one and after the other. `holds` until one of its `places` is given another value."""

    __slots__ = ("holds", "made", "met", "parts", "places")

    def __init__(self, parts: list[Part], met: bool) -> None:
        self.parts, self.met, self.holds = parts, met, True
        self.made: list[tuple[str, Value, Value, Value]] = []
        self.places = {place for question, _ in parts if question is not None for place in question.places}

    def outcome(self, known: dict[str, tuple[Question, bool]]) -> bool | None:
        """How its test came out, given what is known."""
        told = True
        for question, so in self.parts:
            fact = known.get(question.subject) if question is not None else None
            answer = question.answer(*fact) if question is not None and fact is not None else None
            if answer is (not so):
                return not self.met
            told = told and answer is so
        return self.met if told else None


class Splits:
    """Reads each test once."""

    def __init__(self, at: Context) -> None:
        self.at = at
        self._read: dict[ast.expr, tuple[list[Part], bool]] = {}
        self.arms: tuple[ast.IfExp, list[Value]] | None = None  # of the conditional expression that ran last

    def ask(self, test: ast.expr, frame: Frame) -> Split | None:
        """What is to be kept of an `if` that is about to run; None where no later test can be told to ask the same."""
        parts, met = self._parts_of(test)
        stay = [(q if q is not None and self._stays(q, frame) else None, so) for q, so in parts]
        if all(question is None for question, _ in stay):
            return None
        split = Split(stay, met)
        frame.splits.append(split)
        return split

    def keep(self, split: Split, env: Env, then: Env, other: Env) -> None:
        """Keep what the branches made, unless they made anew what is asked about; `env` has both."""
        if split.holds:
            split.made = [
                (name, value, then[name], other[name])
                for name, value in env.items()
                if then.get(name) is not other.get(name) and name in then and name in other
            ]

    def chosen(self, node: ast.Assign, frame: Frame) -> Split | None:
        """What is to be kept of `n = x[0] if x is not None else 0`, whose value is at hand."""
        if self.arms is None or self.arms[0] is not node.value or len(self.arms[1]) < 2:
            return None
        return self.ask(self.arms[0].test, frame)

    def name(self, split: Split, name: str, both: Value) -> None:
        """Keep what the arms of the conditional expression that ran last are, under the name that has either."""
        if split.holds and self.arms is not None:
            then, other = self.arms[1]
            split.made = [(name, both, then, other)]

    def recall(self, test: ast.expr, env: Env, outcome: bool, frame: Frame) -> None:
        """Change `env` to what earlier tests made where this one came out so."""
        parts, met = self._parts_of(test)
        if outcome is met:
            known = {q.subject: (q, so) for q, so in parts if q is not None}
        elif len(parts) == 1 and (only := parts[0][0]) is not None:
            known = {only.subject: (only, not parts[0][1])}
        else:
            return
        for split in frame.splits:
            if split.made and (came := split.outcome(known)) is not None:
                for name, both, then, other in split.made:
                    if env.get(name) is both:
                        env[name] = then if came else other

    def parted(self, env: Env, then: Env, other: Env, frame: Frame) -> list[tuple[str, Value, Value, Value]]:
        """The names that earlier tests made and this one tells apart, with their value before it, and in either branch
        as that begins: where neither sets them, they are afterwards what they were, and later tests tell them apart
        again."""
        made = {name: both for split in frame.splits for name, both, _, _ in split.made}
        return [
            (name, both, then[name], other[name])
            for name, both in made.items()
            if env.get(name) is both
            and then.get(name) is not other.get(name)
            and name in then
            and name in other
        ]

    def _parts_of(self, test: ast.expr) -> tuple[list[Part], bool]:
        read = self._read.get(test)
        if read is None:
            parts = _parts(test, True)
            read = self._read[test] = (parts, True) if parts else (_parts(test, False), False)
        return read

    def _stays(self, question: Question, frame: Frame) -> bool:
        """Whether nothing but the function itself changes what it asks about: a name, or what `__init__` alone sets."""
        own = [place.split(".")[1] for place in question.places if place.startswith("self.")]
        return all(self.at.conditions.asked.stays(name, frame) for name in own)


def tell_apart(env: Env, side: Env, other: Env, guards: Path) -> None:
    """Tell of each name that is a tensor on one side of a test, and none on the other, under which condition."""
    for name, value in env.items() if guards else ():
        if isinstance(value, Union) and name in side and name in other:
            env[name] = told_apart(value, side[name], other[name], guards)


def told_apart(both: Value, side: Value, other: Value, guards: Path) -> Value:
    """The same of one value, which is either."""
    if not guards or not isinstance(both, Union) or not isinstance(side, Tensor):
        return both
    if not all(isinstance(o, (Py, Seq)) for o in options(other)):
        return both
    told = (o.but(under=o.under + guards) if o is side else o for o in both.options)
    return Union(tuple(told), both.declared)


def _parts(test: ast.expr, so: bool) -> list[Part]:
    """What has to be so for a test to come out as `so`; empty where one of several would do."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _parts(test.operand, not so)
    if isinstance(test, ast.BoolOp):
        if isinstance(test.op, ast.And) is not so:
            return []
        return [part for each in test.values for part in _parts(each, so) or [(None, so)]]
    question, meant = _question(test)
    return [(question, meant is so)]


def _question(test: ast.expr) -> tuple[Question | None, bool]:
    """What a test asks, and whether that is so where the test holds."""
    meant, what, value = True, "", None
    if isinstance(test, ast.Compare):
        op, right = test.ops[0], test.comparators[0]
        if len(test.ops) > 1:
            return None, True
        base = BASE.get(type(op), type(op))
        meant = base is type(op)
        if base in (ast.Is, ast.Eq) and isinstance(right, ast.Constant):
            if isinstance(right.value, bool):
                meant = meant is right.value
            else:
                what, value = repr(right.value), right.value
            test = test.left
        else:
            test = ast.Compare(test.left, [base()], test.comparators)
    places = _places(test)
    return (None if places is None else Question(ast.unparse(test), what, value, places)), meant


def _places(node: ast.expr) -> frozenset[str] | None:
    """The names and attributes that an expression hangs on; None where it may come out otherwise all the same."""
    if isinstance(node, ast.Constant):
        return frozenset()
    if isinstance(node, (ast.Name, ast.Attribute)) and (place := dotted(node)) is not None:
        names = place.split(".")
        return frozenset(".".join(names[:i]) for i in range(1, len(names) + 1))
    inner: list[ast.expr]
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        inner = node.elts
    elif isinstance(node, ast.Compare):
        inner = [node.left, *node.comparators]
    elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute):
        inner = [node.value, node.slice] if node.value.attr == "shape" else []
    elif isinstance(node, ast.Call) and not node.keywords:
        named = isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS
        owner = (
            [node.func.value] if isinstance(node.func, ast.Attribute) and node.func.attr in METHODS else []
        )
        inner = [*owner, *node.args] if named or owner else []
    else:
        inner = []
    found = [_places(each) for each in inner]
    if not found or None in found:
        return None
    return frozenset[str]().union(*(each for each in found if each is not None))
