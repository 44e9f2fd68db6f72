"""itertools: what its iterators give, and that Dynamo does not know the items of one that it did not see being made."""

from __future__ import annotations

from collections.abc import Callable

from pt2lint.libraries.call import Call
from pt2lint.libraries.model import Library
from pt2lint.static.values import INT, NONE, UNKNOWN, Seq, Value, given_from_outside, join, join_all


def first_of(call: Call) -> Value:
    """`cycle(items)`, `islice(items, 3)`: the items."""
    return call.element(call.args[0]) if call.args else UNKNOWN


def of_any(call: Call) -> Value:
    """`chain(these, those)`"""
    return join_all(call.element(given) for given in call.args)


def of_inner(call: Call) -> Value:
    """`chain.from_iterable(lists)`"""
    return call.element(first_of(call))


def same(call: Call) -> Value:
    """`repeat(value)`"""
    return call.args[0] if call.args else UNKNOWN


def kept(call: Call) -> Value:
    """`takewhile(test, items)`"""
    return call.element(call.args[1]) if len(call.args) > 1 else UNKNOWN


def one_of_each(call: Call) -> Value:
    """`product(these, those)`"""
    repeat = "repeat" in call.kwargs
    return UNKNOWN if repeat else Seq([call.element(given) for given in call.args], None, "tuple")


def to_the_longest(call: Call) -> Value:
    """`zip_longest(these, those)`: what ended first is filled up with None, or with what is said."""
    fill = call.kwargs.get("fillvalue", NONE)
    each = [fill if _is_empty(given) else join(call.element(given), fill) for given in call.args]
    return Seq(each, None, "tuple")


def _is_empty(given: Value) -> bool:
    return isinstance(given, Seq) and given.elts == []


def neighbours(call: Call) -> Value:
    """`pairwise(items)`"""
    return Seq([first_of(call), first_of(call)], None, "tuple")


def some(call: Call) -> Value:
    """`combinations(items, 2)`"""
    return Seq(None, first_of(call), "tuple")


def unknown(call: Call) -> Value:
    return UNKNOWN


ITEMS: dict[str, Callable[[Call], Value]] = {
    "cycle": first_of,
    "islice": first_of,
    "chain": of_any,
    "chain.from_iterable": of_inner,
    "repeat": same,
    "takewhile": kept,
    "dropwhile": kept,
    "compress": first_of,
    "filterfalse": kept,
    "product": one_of_each,
    "zip_longest": to_the_longest,
    "pairwise": neighbours,
    "combinations": some,
    "combinations_with_replacement": some,
    "permutations": some,
    "accumulate": unknown,
    "starmap": unknown,
}


def iterator(call: Call) -> Value:
    """What is made while tracing is followed; what was there before is an iterator like one that is passed."""
    made = Seq(None, ITEMS[call.name.removeprefix("itertools.")](call), "generator")
    return made if call.frame.region else given_from_outside(made)


def counter(call: Call) -> Value:
    """`count()`: Dynamo knows where one that was there before stands."""
    return Seq(None, INT, "generator") if not call.args else UNKNOWN


LIBRARY = Library(
    "itertools",
    roles={"passes items": ("itertools.islice",), "counts without end": ("itertools.count",)},
    handlers={"itertools.count": counter, **{f"itertools.{name}": iterator for name in ITEMS}},
    breaks={"itertools.combinations_with_replacement": "Dynamo does not trace it\t2.15"},
    measured="tests/static/test_libraries.py",
)
