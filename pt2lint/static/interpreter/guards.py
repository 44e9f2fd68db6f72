"""When code runs: the conditions around an operation that reading cannot decide, and what is told of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import reduce
from typing import NamedTuple

from pt2lint import finding
from pt2lint.finding import MAX_TOLD

GIVEN_TEXT = " is not None"  # how a condition ends that asks whether something is given
OR = " or "
EQUATED = re.compile(r"([\w.]+) (==|!=) (?:'[^']*'|\"[^\"]*\"|[\d.]+)")
# What is asked for, what a reader wants to know first before what he wants to know last.
(
    DTYPE,
    MODE,
    OFF,
    FLAG,
    CHOSEN,
    ARGUMENT,
    GIVEN,
    TYPE,
    ARRAYS,
    ONCE,
    RAISES,
    WARNS,
    LATE,
    SELDOM,
    TRAINS,
    INSPECTS,
    PRIVATE,
    NO_WEIGHTS,
    NO_TENSOR,
    ITERATES,
    HOOKED,
    UNCALLED,
    MEASURES,
    ELSEWHERE,
    LOADS,
    MISSING,
    LEAVES,
    GRADLESS,
    LOSS,
    OPEN,
    FOR_ARRAYS,
    THREADED,
    SPREAD,
    FETCHES,
    SEARCHES,
    WRITES,
    SHOWS,
    DRAWS,
    RECORDS,
    PARTS,
    TESTED,
    BY_HAND,
    TEXTS,
    EMPTY,
    TREE,
    MARKS,
    BY_ROW,
    WHOLE,
    OFF_GPU,
    WITHIN,
    INSISTS,
) = range(51)
RARE = {
    OFF: "off by default",
    ARRAYS: "where it is given a NumPy array",
    ONCE: "once",
    RAISES: "on an error path",
    EMPTY: "where a loop had nothing to put in a list",
    WARNS: "where the code warns",
    LATE: "where something took too long",
    SELDOM: "in code that is seldom compiled",
    TRAINS: "in a module that trains another",
    INSPECTS: "in a module that is given another one at each call",
    PRIVATE: "in a private module, which no model calls",
    NO_WEIGHTS: "in a module without weights, which no model calls",
    NO_TENSOR: "in a module that returns no tensor, which no model calls",
    ITERATES: finding.ITERATES,
    HOOKED: "in a hook, which runs with the module that it is added to",
    UNCALLED: finding.UNCALLED,
    MEASURES: "where a metric of another library is computed",
    ELSEWHERE: "where another runtime runs the model, which leaves nothing to compile",
    LOADS: "in a module that loads data itself",
    MISSING: "where that library is not installed",
    OFF_GPU: "where nothing runs on a GPU",
    PARTS: "in a module that compiles its parts one by one",
    MARKS: "in a forward that marks sizes as dynamic, which compiled code must not: its parts are what is compiled",
    TESTED: "in a module that a file of tests defines",
}
# In a graph of its own, of what runs the code, whose name is the text: it is left to Python where it breaks, or raises.
OWN_GRAPH = frozenset((WITHIN, INSISTS))
# Of a module that runs as Python, whose parts are compiled.
OF_PARTS = frozenset((PARTS, MARKS))
# Of a loss, what is computed without gradients: each alone says nothing.
STATISTICS = frozenset((GRADLESS, LOSS))
# What is Python's own work, beside what is computed: it says something where the root is OPEN, a module of a package of
# which nothing says that it is compiled.
BESIDE = {
    FOR_ARRAYS: "in a function for NumPy arrays",
    THREADED: "in an object that works with other threads",
    SPREAD: "where several processes work together",
    FETCHES: "in a function that loads data itself",
    LEAVES: "where gradients are computed by hand, from a copy that is detached",
    SEARCHES: "where the best of several tries is kept",
    WRITES: "in a function that writes files",
    SHOWS: "in a function that shows its progress",
    DRAWS: "in a function that draws figures",
    RECORDS: "in a function that returns texts, or a list of records",
    BY_HAND: "in a backward that is written by hand",
    TREE: "in a function that calls itself in a loop, as for the branches of a tree",
    BY_ROW: "in a function that is given one row of a batch after the other",
    TEXTS: "in a module that is given lists of texts, which tensors are made of there",
}


class Guard(NamedTuple):
    """A condition that holds wherever the code runs, in the code's own words ("": not to be told), and its sort.

    `about` is, where the test asks for what stays as it is while the code runs (only `__init__` sets it), the object,
    the test and how it came out: what the same test then finds again is known.
    """

    text: str
    sort: int
    about: tuple[int, str, bool] | None = None


Path = tuple[Guard, ...]


def common(a: Path, b: Path) -> Path:
    """What holds on either of two ways: the same test may ask two objects, and each way may seldom run for a reason of
    its own."""
    asked = {g.text: g.sort for g in b if g.text}
    # What is off by default as the one way is made may be anything on the other.
    held = tuple(
        g if g in b else Guard(g.text, asked[g.text] if g.sort in RARE else g.sort)
        for g in a
        if g in b or g.text in asked
    )
    if len(held) < min(len(a), len(b)):
        held += tuple(_given_on_either(a, b)) or _one_of(a, b, held)
    if not any(g.sort in RARE for g in held) and any(g.sort in RARE for g in b):
        held += tuple(Guard("", sort) for sort in sorted({g.sort for g in a if g.sort in RARE})[:1])
    return held


def still_held(a: Path, b: Path) -> Path:
    """What of the one way holds on the other, and nothing that is made of both: asked again and again, it comes to an
    end, as each time fewer conditions are left, or fewer with words. That both seldom run is kept without its words."""
    seldom = not any(g.sort in RARE for g in a if g in b) and any(g.sort in RARE for g in b)
    spared = next((g for g in a if g.sort in RARE), None) if seldom else None
    return tuple(g if g in b else Guard("", g.sort) for g in a if g in b or g is spared)


def _given_on_either(a: Path, b: Path) -> Iterator[Guard]:
    """What the one way asks for being true and the other for being something: `if cache:`, `if cache is not None:`."""
    for one, other in ((a, b), (b, a)):
        true = {f"{g.text}{GIVEN_TEXT}": g.sort for g in one if g.text}
        for g in other:
            if g.text in true:
                yield Guard(g.text, true[g.text] if g.sort in RARE else g.sort)


def _one_of(a: Path, b: Path, held: Path) -> Path:
    """That one argument or another is given, where each way asks for one: `a is not None or b is not None`. That is
    no option of one way, as images and videos are to a model that sees. Or that one or another is of some type."""
    types = [[g for g in way if g.text.startswith("isinstance(") and g not in held] for way in (a, b)]
    if all(len(asked) == 1 for asked in types):
        (one,), (other,) = types
        # Each way may itself be one of several: said once each, so that going round a loop of calls comes to an end.
        of = sorted({part for g in (one, other) for part in g.text.split(OR)})
        return (Guard(OR.join(of), min(one.sort, other.sort)),) if len(of) <= MAX_TOLD else ()
    given = [[g.text for g in way if g.sort in (GIVEN, ARGUMENT) and g not in held] for way in (a, b)]
    if not all(len(texts) == 1 for texts in given):
        return ()
    either = sorted({part for (text,) in given for part in text.split(OR)})
    if len(either) > MAX_TOLD or not all(part.endswith(GIVEN_TEXT) for part in either):
        return ()
    return (Guard(OR.join(either), ARGUMENT),)


def on_all(ways: list[Path]) -> Path:
    """What holds on each of the ways; those from what no model calls count where there are no others."""
    return reduce(common, [way for way in ways if not is_uncalled(way)] or ways)


def is_uncalled(guards: Path) -> bool:
    return any(guard.sort == UNCALLED for guard in guards)


def is_open(guards: Path) -> bool:
    """Whether nothing says that what leads there is compiled."""
    return any(guard.sort == OPEN for guard in guards)


def is_whole(guards: Path) -> bool:
    """Whether all that leads there is compiled with `fullgraph=True`."""
    return any(guard.sort == WHOLE for guard in guards)


def in_own_graph(guards: Path) -> Guard | None:
    """What runs all that leads there as a graph of its own."""
    return next((guard for guard in guards if guard.sort in OWN_GRAPH), None)


def is_optional(guards: Path) -> bool:
    """Whether an option has to be chosen, one of several texts, or an argument given, or given as another type; what a
    flag of which nothing is known is by default cannot be told."""
    return any(guard.sort in (CHOSEN, GIVEN, TYPE) for guard in guards)


def never(guards: Path) -> bool:
    """Whether no run meets all of it: a module is in training, and it is not; a flag is set, and it is not."""
    modes = {g.text for g in guards if g.sort == MODE}
    known = {g.about for g in guards if g.about is not None}
    return any(f"not {text}" in modes for text in modes) or any(
        (me, test, not outcome) in known for me, test, outcome in known
    )


def _compared(text: str) -> tuple[str, str]:
    """Of `self.kind == "mean"` what is compared, and how; "" where the condition is another one."""
    found = EQUATED.fullmatch(text)
    return (found[1], found[2]) if found is not None else ("", "")


def told(guards: Path) -> tuple[str, ...]:
    """At most MAX_TOLD conditions to tell: those that matter most, in the order in which they are tested. What has to
    be one text is no other: `kind != "sum"` says nothing beside `kind == "mean"`."""
    texts = list(dict.fromkeys(g.text for g in guards if g.text and g.sort not in OWN_GRAPH))
    chosen = {place for place, sign in map(_compared, texts) if sign == "=="}
    texts = [text for text in texts if (said := _compared(text))[1] != "!=" or said[0] not in chosen]
    rank = {g.text: g.sort for g in reversed(guards)}
    kept = sorted(texts, key=lambda text: rank[text])[:MAX_TOLD]
    return tuple(text for text in texts if text in kept)


def rare(guards: Path) -> str:
    """Why the code seldom runs; "" if it may run at every call. That no model calls it says more than any condition."""
    if is_uncalled(guards):
        return RARE[UNCALLED]
    why = min((guard for guard in guards if guard.sort in RARE), key=lambda guard: guard.sort, default=None)
    if why is None:
        sorts = {guard.sort for guard in guards}
        if OPEN in sorts and (beside := min(sorts & BESIDE.keys(), default=None)) is not None:
            return BESIDE[beside]
        return "in what a loss computes without gradients" if sorts >= STATISTICS else ""
    return f"`{why.text}` is {RARE[why.sort]}" if why.sort == OFF and why.text else RARE[why.sort]
