"""The notebook of operations: what was seen where, once a place."""

from __future__ import annotations

from typing import Any, NamedTuple

from pt2lint.finding import Step
from pt2lint.op import Op, in_either
from pt2lint.said import told_line, told_place
from pt2lint.static.interpreter.frame import Frame
from pt2lint.static.interpreter.guards import Path, never, on_all, rare
from pt2lint.static.source.nodes import Unit
from pt2lint.static.values import Tensor

Key = tuple[str, int, int, int, int]


class Where(NamedTuple):
    """Whether an operation is sure, in which run of the function, under what, and whether no model calls that."""

    sure: bool
    context: int | None
    guards: Path
    beside: bool


class Way(NamedTuple):
    """One way from a root to an operation, as `Op` tells it; `after` is the root until that has run. `parts` is asked
    of all ways together."""

    flow: tuple[Step, ...]
    caller: str
    layers: bool
    before: int
    after: int
    parts: bool = True


class Notebook:
    """`notes`: path -> lines of the function or statement -> (operation, place) -> Op.

    `traced` are the operations that are noted in code that Dynamo traces, `anywhere` those in all code. While `quiet`
    nothing is noted, and while in `doubt` nothing is sure. `drawn` is what drew random numbers so far, and in which
    line; `kept` the condition under which alone `__init__` keeps a tensor, by where that came from.
    """

    def __init__(self, traced: frozenset[str], anywhere: frozenset[str]) -> None:
        self.traced, self.anywhere = traced, anywhere
        self.notes: dict[str, dict[Unit, dict[Key, Op]]] = {}
        self._seen: dict[tuple[str, Unit, Key], dict[Where, Way]] = {}  # in the order in which it was seen
        self.quiet = 0
        self.doubt = 0
        self.drawn: list[tuple[str, str, int]] = []
        self.kept: dict[tuple[str, int, str], Path] = {}
        # How many operators the graphs have so far, those of functions that are known and calls with tensors of what is
        # not known included.
        self.clock = 0
        # The root that runs, the clock when it began, and whether it is what no model calls.
        self.started: tuple[int, int, bool] = (0, 0, False)
        self.made: dict[Any, int] = {}  # run of a function -> how many calls it made
        self.lasted: dict[int, int] = {}  # root -> how many calls it made in all

    def listens(self, name: str, frame: Frame) -> bool:
        return not self.quiet and ((frame.region and name in self.traced) or name in self.anywhere)

    def note(
        self,
        node: Any,
        name: str,
        frame: Frame,
        about: Tensor | None = None,
        args: dict[int | str, str] | None = None,
        place: tuple[int, int, int, int] | None = None,
        details: dict[str, str] | None = None,
    ) -> None:
        """Write an operation down, once a place. A sure one takes the place of an unsure one."""
        module = frame.module
        if not module.linted:
            return
        line, start, end_line, end = place or (
            node.lineno,
            node.col_offset,
            node.end_lineno,
            node.end_col_offset,
        )
        key = (name, line, start, end_line, end)
        unit = self.notes.setdefault(module.path, {}).setdefault(frame.unit, {})
        sure = (about is None or about.sure) and not self.doubt
        if sure and frame.region and name in ("test tensor", "size tensor", "index mask"):
            caller = frame.parent
            while caller is not None and caller.region:  # each is parted at its call
                caller.noted.append(caller.line)
                caller = caller.parent
            if frame.inside == "loop":
                frame.skipped = True
                if name == "size tensor" and about is not None and about.origin is not None:
                    # Dynamo has given up the function by the second, and what mends the first mends it.
                    if frame.sized.setdefault(about.origin, key) != key:
                        return
            elif frame.inside is None:
                frame.broke = True
        root, began, beside = self.started
        if frame.region:
            frame.noted.append(frame.line)
            seen = self._seen.setdefault((module.path, frame.unit, key), {})
            if beside and any(where.sure and not where.beside for where in seen):
                return  # what a model calls is judged by that alone
            kept = self.kept.get(about.origin, ()) if about is not None and about.origin is not None else ()
            if about is not None and about.under:
                kept += tuple(guard for guard in about.under if guard not in frame.guards)
            where = Where(sure, frame.context, frame.guards + kept, beside)
            if where not in seen:
                seen[where] = Way(frame.flow(), frame.around(), frame.in_layers(), self.clock - began, root)
        old = unit.get(key)
        if old is not None and (old.sure or not sure) and (old.region or not frame.region):
            if not args and not details:
                return
        if old is not None:
            # Called from several places: what an argument is in any of them.
            args, details = in_either(old.args, args or {}), in_either(old.details, details or {})
        why = ""
        if about is not None and about.origin is not None:
            path, at, phrase = about.origin
            there = f"line {told_line(at)}" if path == module.path else told_place(path, at)
            why = f"{phrase} ({there})" if path else phrase
        unit[key] = Op(
            name,
            line,
            module.column(line, start),
            end_line,
            module.column(end_line, end),
            args or {},
            why if why or old is None else old.why,
            sure or (old is not None and old.sure),
            frame.inside,  # type: ignore[arg-type]
            frame.region or (old is not None and old.region),
            details=details or {},
        )

    def count(self, frame: Frame, computes: bool = True) -> None:
        """Count an operator of the graph, where the frame is traced and what it does is written down."""
        self.clock += computes and frame.region and not self.quiet

    def contexts(self, path: str, unit: Unit, key: Key) -> set[int | None]:
        """The runs of the function in which the operation was seen."""
        return {where.context for where in self._seen.get((path, unit, key), ())}

    def holds(self, path: str, unit: Unit, key: Key, held: dict[int | None, Path]) -> Path | None:
        """What holds wherever the operation was seen; where it was sure, only there. None where no run gets there.
        `held` is Contexts.settled()."""
        ways = self._reached(path, unit, key, held)
        alive = [guards for guards, _ in ways if not never(guards)]
        return on_all(alive) if alive else None if ways else ()

    def way(self, path: str, unit: Unit, key: Key, held: dict[int | None, Path]) -> Way | None:
        """The way to tell of: where there is one, such as most runs take, and on which the break costs most."""
        alive = [(guards, way) for guards, way in self._reached(path, unit, key, held) if not never(guards)]
        if not alive:
            return None
        alive = [(guards, way) for guards, way in alive if not rare(guards)] or alive
        usual = [way for _, way in alive]
        # What is shown needs nothing beyond the conditions that hold on all ways, or as little as can be.
        said = {guard.text for guard in on_all([guards for guards, _ in alive])}
        asked = [len({guard.text for guard in guards} - said) for guards, _ in alive]
        plain = [way for way, more in zip(usual, asked, strict=True) if more == min(asked)]
        best = next((way for way in plain if way.caller), plain[0])
        return best._replace(layers=any(way.layers for way in usual), parts=any(map(self._parts, usual)))

    def _parts(self, way: Way) -> bool:
        """Whether the graph has operators before and after the operation, or all of a function is left to Python."""
        return bool(way.caller) or way.layers or 0 < way.before < self.lasted.get(way.after, 0)

    def _reached(
        self, path: str, unit: Unit, key: Key, held: dict[int | None, Path]
    ) -> list[tuple[Path, Way]]:
        """The ways to an operation, the sure ones if there are such, each with what holds on it."""
        seen = self._seen.get((path, unit, key), {})
        sure = any(where.sure for where in seen)
        return [
            (held[where.context] + where.guards, way)
            for where, way in seen.items()
            if where.sure is sure and where.context in held
        ]
