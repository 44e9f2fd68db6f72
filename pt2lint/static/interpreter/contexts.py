"""Which runs of functions call which, and under what: the ways from the roots."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from pt2lint.static.interpreter.frame import Frame
from pt2lint.static.interpreter.guards import (
    MARKS,
    OF_PARTS,
    Guard,
    Path,
    common,
    is_open,
    is_uncalled,
    never,
    still_held,
)
from pt2lint.static.values import Instance, Value

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context
    from pt2lint.static.source.modules import ClassInfo

MOST_MET = 100  # changes of what holds on all ways to one run of a function: models of transformers need four


class Contexts:
    """A context is one run of a function for arguments of some kinds; `callers` says from which contexts, and under
    what, it is called. None is the compiler, which calls a root under no condition."""

    def __init__(self, at: Context) -> None:
        self.at = at
        self._contexts: dict[Any, int] = {}
        self._forwards: set[int] = set()
        self._marking: set[int | None] = set()
        self._runs: dict[Any, list[tuple[int, ClassInfo | None, bool]]] = defaultdict(list)
        self._callers: dict[int, dict[tuple[int | None, Path], None]] = defaultdict(dict)
        self._roots: dict[int, Path] = {}  # the compiler's calls, by numbers below zero
        self._compiled: dict[int, Any] = {}  # the function that each of them calls
        self._also_compiled: set[Any] = set()

    def root(self, function: Any, guards: Path) -> int:
        """A new call of the function by the compiler, under what the reader shall know of it."""
        number = -len(self._roots) - 1
        self._roots[number] = guards
        self._compiled[number] = function
        return number

    def also_root(self, function: Any) -> None:
        """The compiler calls the function as well, which is not run for that."""
        self._also_compiled.add(function)

    def say_of(self, root: int, more: Guard) -> None:
        """What is known of a root once it was run."""
        self._roots[root] += (more,)

    def entered(self, function: Any, key: Any, frame: Frame, me: Value | None) -> int:
        """A new context: the frame calls the function of the object, which runs for arguments that `key` names."""
        context = self._contexts[key] = len(self._contexts)
        if getattr(function, "name", "") == "forward":
            self._forwards.add(context)
        self._runs[function].append((context, _class_of(me), frame.in_own_graph))
        self._call(context, frame)
        return context

    def marks(self, context: int | None) -> None:
        """The function marks sizes, which raises where it is compiled: of which nothing says that it is, Python runs
        it, and what it calls is compiled."""
        self._marking.add(context)

    def called(self, key: Any, frame: Frame) -> None:
        """The frame calls a function for arguments for which it ran before."""
        if key in self._contexts:
            self._call(self._contexts[key], frame)

    def called_somehow(self, function: Any, frame: Frame, me: Value | None) -> None:
        """The frame calls a function that is not run again: it may be as in any run before, for such an object, but
        those in a graph of its own, where the frame's are not."""
        for context, cls, own_graph in self._runs.get(function, ()):
            if cls is _class_of(me) and own_graph <= frame.in_own_graph:
                self._call(context, frame)

    def _call(self, context: int, frame: Frame) -> None:
        if frame.region and not self.at.notebook.quiet:
            self._callers[context][frame.context, frame.guards] = None

    def settled(self) -> dict[int | None, Path]:
        """Of each context, the conditions that hold on all ways to it; a context that no root reaches is left out."""
        calls: dict[int | None, list[tuple[int, Path]]] = defaultdict(list)
        for context, callers in self._callers.items():
            for caller, guards in callers:
                calls[caller].append((context, guards))
        held: dict[int | None, Path] = {}
        beside = {number: guards for number, guards in self._roots.items() if is_uncalled(guards)}
        called = [None, *(number for number in self._roots if number not in beside)]
        met: dict[int, int] = defaultdict(int)
        for roots in (called, [*beside]):
            known = frozenset(held)  # what a model calls is judged by that alone
            held.update((root, () if root is None else self._roots[root]) for root in roots)
            todo: list[int | None] = [*roots]
            while todo:
                caller = todo.pop()
                for context, guards in calls[caller]:
                    if context in known:
                        continue
                    above = held[caller]
                    if context in self._forwards and caller not in self._roots:
                        # It may be compiled elsewhere.
                        above = tuple(g for g in above if g.sort not in OF_PARTS)
                    new = above + tuple(g for g in guards if g not in above)
                    if context in self._marking and is_open(above):
                        new += (Guard("", MARKS),)
                    if context in held and never(new):
                        continue  # no run comes this way
                    if context in held and not never(held[context]):
                        # Calls may go round in a circle: what `common` makes of it could go on to change.
                        meet = common if met[context] < MOST_MET else still_held
                        new = meet(held[context], new)
                        if new == held[context]:
                            continue
                        met[context] += 1
                    held[context] = new
                    todo.append(context)
        return held

    def callers(self) -> dict[int | None, int]:
        """Of each context that a model calls, the functions whose compilation leads to it, a bit each."""
        calls: dict[int | None, set[int]] = defaultdict(set)
        for context, callers in self._callers.items():
            for caller, _ in callers:
                calls[caller].add(context)
        roots = [number for number, guards in self._roots.items() if not is_uncalled(guards)]
        compiled = {self._compiled[number] for number in roots} | self._also_compiled
        bits = {function: 1 << i for i, function in enumerate(compiled)}
        marks: dict[int | None, int] = {root: bits[self._compiled[root]] for root in roots}
        for function in self._also_compiled:
            marks.update({context: bits[function] for context, *_ in self._runs.get(function, ())})
        todo: list[int | None] = [*marks]
        while todo:
            caller = todo.pop()
            for context in calls[caller]:
                new = marks.get(context, 0) | marks[caller]
                if new != marks.get(context):
                    marks[context] = new
                    todo.append(context)
        return marks


def _class_of(me: Value | None) -> ClassInfo | None:
    return me.cls if isinstance(me, Instance) else None
