"""Two runs of the same models, as after an upgrade of torch: what got better, what got worse. A pure function."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from pt2lint.report.models import Model, Place

KINDS = ("breaks", "graphs", "recompilations", "failures", "cold", "warm")
SLOWER = 0.2  # part of the old time that a new one may be off without a word
LEAST = 0.0005  # seconds that it must be off besides: less is noise


@dataclass(frozen=True)
class Change:
    """One model in both runs, None where a run lacks it. `worse` and `better` name KINDS."""

    name: str
    old: Model | None
    new: Model | None
    came: tuple[Place, ...] = ()
    went: tuple[Place, ...] = ()
    worse: tuple[str, ...] = ()
    better: tuple[str, ...] = ()

    @property
    def word(self) -> str:
        """What has become of it, in a word."""
        if self.old is None or self.new is None:
            return "new" if self.old is None else "gone"
        if self.worse or self.better:
            return "worse" if self.worse else "better"
        return "other" if self.came or self.went else "same"


@dataclass(frozen=True)
class Comparison:
    """`causes`: (breaks and recompilations that came, that went) by cause."""

    changes: Sequence[Change]
    causes: dict[str, tuple[int, int]] = field(default_factory=dict)

    def of(self, *kinds: str) -> list[Change]:
        """The changes that are worse in one of these."""
        return [change for change in self.changes if {*kinds} & {*change.worse}]


def compare(old: Iterable[Model], new: Iterable[Model]) -> Comparison:
    """Compare model by model, by name, in the order of the new run; those that only the old one has come last."""
    before, after = {model.name: model for model in old}, {model.name: model for model in new}
    changes = [
        _change(name, before.get(name), after.get(name)) for name in [*after, *(before.keys() - after.keys())]
    ]
    came, went = Counter[str](), Counter[str]()
    for change in changes:
        came.update(place.cause for place in change.came)
        went.update(place.cause for place in change.went)
    order = sorted({*came, *went}, key=lambda cause: (-came[cause] - went[cause], cause))
    return Comparison(changes, {cause: (came[cause], went[cause]) for cause in order})


def _change(name: str, old: Model | None, new: Model | None) -> Change:
    if old is None or new is None:
        return Change(name, old, new)
    ours, theirs = (*old.breaks, *old.recompiled), (*new.breaks, *new.recompiled)
    came, went = _without(theirs, ours), _without(ours, theirs)
    if old.trouble or new.trouble:  # of what did not run to its end, nothing is new or gone
        came, went = came if not new.trouble and not old.trouble else (), ()
    numbers = {
        "breaks": (len(old.breaks), len(new.breaks)),
        "graphs": (len(old.graphs), len(new.graphs)),
        "recompilations": (old.recompilations, new.recompilations),
        "failures": (int(bool(old.trouble)), int(bool(new.trouble))),
    }
    if old.trouble or new.trouble:
        numbers = {"failures": numbers["failures"]}
    worse = [kind for kind, (a, b) in numbers.items() if b > a]
    better = [kind for kind, (a, b) in numbers.items() if b < a]
    if any(place.code.startswith("PTB") for place in came) and "breaks" not in worse:
        worse.insert(0, "breaks")  # as many as before, but others
    for kind in ("cold", "warm"):
        pair = times(old, new, kind)
        if pair is not None and abs(pair[1] - pair[0]) > max(LEAST, SLOWER * pair[0]):
            (worse if pair[1] > pair[0] else better).append(kind)
    return Change(name, old, new, came, went, tuple(worse), tuple(better))


def times(old: Model, new: Model, kind: str) -> tuple[float, float] | None:
    """The seconds of both, as both were measured; "cold" falls back on the first call under Dynamo."""
    for key in (kind, "compile") if kind == "cold" else (kind,):
        if key in old.seconds and key in new.seconds:
            return old.seconds[key], new.seconds[key]
    return None


def _without(ones: Sequence[Place], others: Sequence[Place]) -> tuple[Place, ...]:
    """Those that the others lack, counted: a statement may break twice, and lines move."""
    left = Counter(place.same for place in others)
    found = []
    for place in ones:
        if left[place.same]:
            left[place.same] -= 1
        else:
            found.append(place)
    return tuple(found)
