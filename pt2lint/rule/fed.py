"""What rules about data loaders share: the calls of compiled code that are given their batches (`Op.uses`)."""

from __future__ import annotations

from typing import Any

from pt2lint.finding import Step
from pt2lint.said import place_in

FEEDS, STATIC = "feeds\t", "feeds static\t"  # what a use begins with; STATIC: compiled with `dynamic=False`
Feed = tuple[Any, ...]


def taken(place: str, title: str, names: str) -> list[Step]:
    """The parameters of a function that take what comes from the loader."""
    at = place_in(place)
    return [Step(*at, f"`{name}` of `{title}`") for name in names.split(",") if name and at is not None]


def fed(use: str) -> Feed:
    """What lifecycle.py says of one call, with the path and the line of its place apart."""
    _, place, *rest = use.split("\t")
    path, line = place_in(place) or ("", 0)
    return (path, line, *rest)
