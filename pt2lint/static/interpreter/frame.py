"""One call of one function being interpreted, and the names in it."""

from __future__ import annotations

import ast
from collections.abc import Collection
from itertools import pairwise
from typing import TYPE_CHECKING

from pt2lint.finding import Step
from pt2lint.static.interpreter.guards import BY_HAND
from pt2lint.static.source.nodes import Unit
from pt2lint.static.values import Instance, join

if TYPE_CHECKING:
    from pt2lint.static.interpreter.guards import Path
    from pt2lint.static.interpreter.splits import Split
    from pt2lint.static.source.modules import ClassInfo, Module
    from pt2lint.static.values import Func, Value

Env = dict[str, "Value"]
TEXT = "'"


class Frame:
    """Where the interpreter is: the module, the function's lines (`unit`), and how it came here.

    `region` says that Dynamo traces this code. `inside` is the innermost construct in which a break costs the
    whole frame. `returns` and `yields` collect what comes out.
    """

    __slots__ = (
        "assumed",
        "block",
        "breaks",
        "broke",
        "closure",
        "cls",
        "context",
        "continues",
        "counted",
        "defaults",
        "depth",
        "entry",
        "globals",
        "gradless",
        "guards",
        "hands_to",
        "inside",
        "layers",
        "line",
        "loaders",
        "me",
        "module",
        "narrowed",
        "nonlocals",
        "noted",
        "on_made",
        "parameters",
        "parent",
        "region",
        "returns",
        "sized",
        "skipped",
        "sparse",
        "splits",
        "tested",
        "title",
        "unit",
        "within",
        "yields",
    )

    def __init__(
        self,
        module: Module,
        unit: Unit,
        title: str,
        parent: Frame | None = None,
        region: bool = False,
        cls: ClassInfo | None = None,
        me: Value | None = None,
        closure: Env | None = None,
    ) -> None:
        self.module, self.unit, self.title, self.parent, self.region = module, unit, title, parent, region
        self.cls, self.me, self.closure = cls, me, closure
        self.inside: str | None = None
        self.line = unit[0]
        self.block: list[ast.stmt] = []  # the statements among which the one that runs stands
        self.returns: list[Value] = []
        self.yields: list[Value] = []
        self.breaks: list[list[Env]] = []
        self.continues: list[list[Env]] = []
        self.globals: frozenset[str] = frozenset()
        self.nonlocals: frozenset[str] = frozenset()
        self.depth: int = parent.depth + 1 if parent is not None else 0
        self.tested: list[Value] = []
        self.sized: dict[object, object] = {}  # where the numbers of one origin were first a size, in a loop
        self.broke = False  # the statement that runs ends a graph
        self.noted: list[int] = []  # lines of statements of which something was written down
        self.on_made = False  # calls a method of an object that the function itself makes
        self.skipped = False  # a break in a loop: Dynamo runs the function as plain Python
        self.sparse: dict[object, int] = {}  # where sparse tensors of one origin were first used
        # What loops go over, the names made of its items, and those that may hold all of one.
        self.loaders: list[tuple[Value, set[str], set[str]]] = []
        # Names that loops count in, a caller's for the parameters; those of texts that they go over, with TEXT behind.
        self.counted: frozenset[str] = frozenset()
        self.layers = 0  # loops over modules around the statement that runs
        self.context: int | None = (
            None  # which run of the function this is (contexts.py); None: no function's
        )
        self.guards: Path = ()  # what holds here, beyond what holds where the function is called
        self.parameters: Collection[str] = ()
        self.defaults: dict[str, str] = {}  # of a root's parameters that are texts
        self.splits: list[Split] = []  # what each `if` made of names
        # Attributes of which a test said something, and whether that is all: False where one is assigned, too.
        self.narrowed: dict[str, bool] = {}
        self.entry = False  # stands for the compiler, which calls the root
        self.assumed = False  # ..., of which nothing says that it is compiled
        self.gradless: bool = parent is not None and parent.gradless  # no gradients are wanted of what runs
        self.hands_to = (
            ""  # what is given a function by the call at hand, and traces it as a graph of its own
        )
        # What does so with a function that runs, and the frame of that.
        self.within: tuple[str, Frame] | None = parent.within if parent is not None else None

    @property
    def first(self) -> Frame:
        """The frame of the function that compiling starts with."""
        root = self
        while root.parent is not None and root.parent.region and root.parent.parent is not None:
            root = root.parent
        return root

    @property
    def is_first(self) -> bool:
        """Whether the function is one that compiling starts with."""
        return self.parent is None or not self.parent.region or self.parent.parent is None

    @property
    def own_class(self) -> ClassInfo | None:
        """The class of the object whose method runs, which may have it from a base."""
        return self.me.cls if isinstance(self.me, Instance) else None

    @property
    def in_own_graph(self) -> bool:
        """Whether what the frame calls is traced as a graph of its own, or within one, as in a checkpoint."""
        return bool(self.hands_to) or self.within is not None

    def around(self) -> str:
        """The nearest function on the way here that calls from inside of a construct, and the construct, in words:
        "inside a loop of `M.forward`"; "" if none does, or the code itself stands in one. A call on what the function
        makes is such: there is no method yet of what is not there yet, with which Dynamo could go on."""
        here = None if self.inside else self.parent
        while here is not None and here.region and not here.entry:
            if here.inside:
                return f"inside a {'loop' if here.inside == 'loop' else f'`{here.inside}`'} of {here.title}"
            if here.on_made:
                return f"on an object made in {here.title}"
            here = here.parent
        return ""

    def in_layers(self) -> bool:
        """Whether a loop over modules leads here."""
        here: Frame | None = self
        while here is not None and here.region and not here.entry:
            if here.layers:
                return True
            here = here.parent
        return False

    def in_backward(self) -> bool:
        """Whether a `backward` that is written by hand leads here."""
        here: Frame | None = self
        while here is not None and here.region and not here.entry:
            if any(guard.sort == BY_HAND for guard in here.guards):
                return True
            here = here.parent
        return False

    def forget(self, place: str) -> None:
        """A name or an attribute is given a value: what an `if` asked of it, or made of it, was another one."""
        for split in self.splits:
            if place in split.places:
                split.holds, split.made = False, []
            elif split.made:
                split.made = [each for each in split.made if each[0] != place]

    def flow(self) -> tuple[Step, ...]:
        """The way from the compile root to here, one step a call."""
        frames: list[Frame] = []
        here: Frame | None = self
        while here is not None and here.region and not here.entry:
            frames.append(here)
            here = here.parent
        if not frames:
            return ()
        frames.reverse()
        steps = [Step(frames[0].module.path, frames[0].unit[0], f"{frames[0].title} is compiled")]
        for caller, callee in pairwise(frames):
            steps.append(Step(caller.module.path, caller.line, f"calls {callee.title}"))
        return tuple(steps)


def entry(module: Module, unit: Unit, assumed: bool = False) -> Frame:
    """The compiler, about to call a root."""
    frame = Frame(module, unit, "the compiler", region=True)
    frame.entry, frame.assumed = True, assumed
    return frame


def may_be_python(frame: Frame) -> Frame | None:
    """A frame for code that Python runs where it is not compiled, as nothing says that it is: what it calls that is
    compiled, is then compiled by itself. None of other code."""
    if not is_assumed(frame):
        return None
    return Frame(frame.module, frame.unit, frame.title, cls=frame.cls, me=frame.me)


def is_assumed(frame: Frame) -> bool:
    """Whether nothing says that the code which the frame runs for is compiled."""
    here: Frame | None = frame
    while here is not None and not here.entry:
        here = here.parent
    return here is not None and here.assumed


def title(func: Func) -> str:
    """What a function is called in messages: `M.forward`, `helper`, `lambda`."""
    name = getattr(func.node, "name", "lambda")
    cls = (
        getattr(func.bound, "cls", None) if func.bound is not None and func.bound.kind == "instance" else None
    )
    if cls is not None:
        return f"{cls.name}.{name}"
    return f"{func.defined_in.name}.{name}" if func.defined_in is not None else name


def merge_env(target: Env, others: list[Env], frame: Frame) -> None:
    """Make `target` the join of the environments of all paths that arrive at one point.

    A name that one path lacks is not bound there; what a test said of an attribute on one path ends with it.
    """
    first, *rest = others
    result = first if first is target else dict(first)
    for other in rest:
        if frame.narrowed:
            for name in [name for name, alone in frame.narrowed.items() if alone and name not in other]:
                result.pop(name, None)
        for name, value in other.items():
            mine = result.get(name)
            if mine is None:
                if not frame.narrowed.get(name):
                    result[name] = value
            elif mine is not value:
                result[name] = join(mine, value)
    if result is not target:
        target.clear()
        target.update(result)
