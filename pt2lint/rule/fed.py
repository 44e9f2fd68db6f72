"""What rules about data loaders share: the calls of compiled code that are given their batches (`Op.uses`)."""

from __future__ import annotations

from typing import Any

from pt2lint.finding import Step
from pt2lint.op import Op
from pt2lint.said import place_in

# What a use begins with: what is called is compiled, is so with `dynamic=False`, or is a module that may be compiled.
FEEDS, STATIC, PRESUMED = "feeds\t", "feeds static\t", "feeds presumed\t"
Feed = tuple[Any, ...]


def feeds(op: Op, word: str = FEEDS) -> list[Feed]:
    """The calls, by their places. Where the code compiles any itself, a module that it leaves as it is, a teacher, is
    not one that somebody else compiles."""
    if word == FEEDS and not any(use.startswith((FEEDS, STATIC)) for use in op.uses):
        word = PRESUMED
    return sorted(_fed(use) for use in op.uses if use.startswith(word))


def taken(place: str, title: str, names: str) -> list[Step]:
    """The parameters of a function that take what comes from the loader."""
    at = place_in(place)
    return [Step(*at, f"`{name}` of `{title}`") for name in names.split(",") if name and at is not None]


def _fed(use: str) -> Feed:
    """What lifecycle.py says of one call, with the path and the line of its place apart."""
    _, place, *rest = use.split("\t")
    path, line = place_in(place) or ("", 0)
    return (path, line, *rest)
