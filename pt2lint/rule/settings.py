"""Which settings torch has, by version, as matrix/settings.py wrote them down."""

from __future__ import annotations

import json
from difflib import get_close_matches
from functools import cache
from pathlib import Path

INDUCTOR = "torch._inductor.config"
HOLDERS = ("torch._dynamo.config", "torch._functorch.config", INDUCTOR)
PATCHES = tuple(f"call {holder}.patch" for holder in HOLDERS)  # the operations that set some for a while
COMPILES = (
    "call torch.compile",
    "call torch.compiler.compile",
    "call torch.nn.Module.compile",
)  # those that take some


@cache
def _measured() -> tuple[list[tuple[int, int]], dict[str, dict[str, str]]]:
    data = json.loads((Path(__file__).parent / "settings.json").read_bytes())
    return [(major, minor) for major, minor in data["torch"]], data["names"]


def is_missing(holder: str, name: str, target: tuple[int, int]) -> bool:
    """Whether that torch has no such setting: neither the measured version before it has, nor the one after it."""
    versions, holders = _measured()
    if holder not in holders or not versions[0] <= target <= versions[-1]:
        return False
    signs = holders[holder].get(name, "")
    before = max(place for place, version in enumerate(versions) if version <= target)
    after = min(place for place, version in enumerate(versions) if version >= target)
    return not signs or "B" not in (signs[before], signs[after])


def was(holder: str, name: str) -> bool:
    """Whether some version of torch has it."""
    return name in _measured()[1].get(holder, {})


def alike(holder: str, name: str, target: tuple[int, int]) -> str:
    """A setting of that torch that is spelt much like it, "" if there is none."""
    there = [known for known in _measured()[1].get(holder, {}) if not is_missing(holder, known, target)]
    return next(iter(get_close_matches(name, there, 1, 0.8)), "")
