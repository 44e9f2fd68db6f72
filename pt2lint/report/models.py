"""What a table of models shows: plain data, one for each model that was run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Place:
    """A graph break, or a recompilation, as it can be told apart from others in another version of the code: `code` is
    the finding's, `id` the break's in PyTorch's registry, `text` the statement."""

    code: str
    path: str
    line: int
    text: str
    reason: str
    id: str = ""

    @property
    def cause(self) -> str:
        """What it is counted under: the code of a rule, else the id of the break."""
        return self.id if self.code == "PTB900" and self.id else self.code

    @property
    def same(self) -> tuple[str, str]:
        return self.path, self.text


@dataclass(frozen=True)
class Model:
    """One model: its graphs (operators of each) in the mode that has most of them, what broke them and what compiled
    it again, and the same with all proven fixes, None where none was proven.

    `seconds` are those of a call: "compile" (the first call under Dynamo, which is slower for being watched), and with
    --time "eager", "cold", "warm" and "fixed". `defined` is where it stands, `trouble` why there is nothing more to
    say.
    """

    name: str
    graphs: Sequence[int] = ()
    breaks: Sequence[Place] = ()
    recompilations: int = 0
    recompiled: Sequence[Place] = ()
    fixed: Sequence[int] | None = None
    fixed_breaks: int = 0
    seconds: Mapping[str, float] = field(default_factory=dict)
    defined: tuple[str, int] | None = None
    trouble: str = ""

    @property
    def largest(self) -> int:
        return max(self.graphs, default=0)


def model_from(fields: Mapping[str, Any]) -> Model:
    """A Model from what `dataclasses.asdict` made of one."""
    read = {name: tuple(Place(**one) for one in fields[name]) for name in ("breaks", "recompiled")}
    numbers = {
        name: None if fields[name] is None else tuple(fields[name]) for name in ("graphs", "fixed", "defined")
    }
    return Model(**{**fields, **read, **numbers})
