"""What happens in the interpreted code, for observers to hear of: the whole protocol between them and the interpreter.

An observer has a method named for each event that it hears, with the arguments that `EVENTS` gives. What a method
returns is not looked at: an observer changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

EVENTS = {
    "calling": "(node, func, env, frame): traced code is about to make a call",
    "called": "(node, func, args, result, env, frame): a call was made in code that is not compiled",
    "external": "(call, result): something outside the project was called (pt2lint/libraries/call.py)",
    "compiled": "(target, node, frame): a callable is a compile root; at `node`, or, if None, where it is defined",
    "called_compiled": "(func, args, kwargs, node, frame): what is compiled is called from code that is not",
    "given": "(func, args, kwargs, env, node, frame): traced code calls a function of the project",
    "entered": "(func, node, frame, callee): a function of the project is run, in the frame `callee`",
    "looped": "(node, over, env, frame): a loop begins, over `over` if it is a `for`; `frame.loaders` and "
    "`frame.counted` last as long as the loop",
    "assigned": "(target, owner, value, index, env, frame): an attribute, (with its index) an item, a global or a name "
    "of a function around is set",
    "deleted": "(target, owner, frame): traced code deletes an attribute",
    "changed": "(target, current, made, env, frame): a name or attribute is read and written back",
    "settled": "(test, env, frame): a branch begins that makes its own test come out otherwise",
    "read": "(owner, name, node, frame, among): an attribute of what torch.compile returned is read; `among`: all "
    "that the owner may be, where it is one of several",
    "compared": "(node, left, right, frame): `left in right` is evaluated",
    "equated": "(node, place, value, env, frame): traced code asks whether a tensor equals the value at `place`",
    "operated": "(node, left, right, op, frame): traced code applies an operator to an object of the project",
    "looked_up": "(node, owner, index, frame): `owner[index]` is evaluated, by a name of a parameter or a module, "
    "where those of a module that torch.compile wrapped are the keys, or by an element of an array",
    "indexed": "(node, owner, index, env, frame): traced code reads an element of a list, a tuple or a list of modules",
    "looked_for": "(owner, name, node, frame): traced code reads an attribute of an object whose class assigns "
    "`__getattr__`, has a `__getattribute__` of its own, or decorates a method of that name",
    "asserted": "(node, asked, value, frame): an `assert` is run, and the graph asserts `value`, of its expression "
    "`asked`: all that it tests, or the last of several conditions",
    "read_through": "(module, classes): all that runs in a linted file was followed",
}
Hear = tuple[Callable[..., Any], ...]


class Events:
    """For each event, who hears it."""

    def __init__(self) -> None:
        self.calling: Hear = ()
        self.called: Hear = ()
        self.external: Hear = ()
        self.compiled: Hear = ()
        self.called_compiled: Hear = ()
        self.given: Hear = ()
        self.entered: Hear = ()
        self.looped: Hear = ()
        self.assigned: Hear = ()
        self.deleted: Hear = ()
        self.changed: Hear = ()
        self.settled: Hear = ()
        self.read: Hear = ()
        self.compared: Hear = ()
        self.equated: Hear = ()
        self.operated: Hear = ()
        self.looked_up: Hear = ()
        self.indexed: Hear = ()
        self.looked_for: Hear = ()
        self.asserted: Hear = ()
        self.read_through: Hear = ()

    def connect(self, observers: Sequence[Any]) -> None:
        """Let these observers, and no others, hear."""
        for event in EVENTS:
            setattr(self, event, tuple(getattr(o, event) for o in observers if hasattr(o, event)))
