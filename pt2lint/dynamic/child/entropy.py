"""Repeatable entropy: what seeds itself anew in each run is seeded alike in all runs that are compared.

Only what lies behind Python's functions can be had: `torch.seed()`, `random.seed()`, and what asks for random bytes
through `random` and `secrets`, as NumPy does. The functions stay the objects that they are, since Dynamo knows them by
identity: their code alone is exchanged. Clocks, and `seed()` of a torch.Generator, go on as ever.
"""

from __future__ import annotations

import builtins
import hashlib
import random
import types
from typing import Any

import torch


class Entropy:
    """Bytes that depend on the last seed and on how often bytes were asked for since."""

    def __init__(self) -> None:
        self.seed = self.asked = 0

    def restart(self, seed: int) -> None:
        self.seed, self.asked = seed, 0

    def __call__(self, size: int) -> bytes:
        self.asked += 1
        return made_of(f"{self.seed} {self.asked}", size)


def made_of(text: str, size: int) -> bytes:
    found = b""
    while len(found) < size:
        found += hashlib.sha256(f"{text} {len(found)}".encode()).digest()
    return found[:size]


entropy = Entropy()


def install() -> None:
    """Let this process draw its entropy from `entropy`; once."""
    found: Any = builtins
    original = random.Random.seed
    found._pt2lint_entropy, found._pt2lint_made_of = entropy, made_of
    found._pt2lint_random_seed = types.FunctionType(
        original.__code__, original.__globals__, "seed", original.__defaults__, original.__closure__
    )
    _exchange(original, _random_seed_code())
    _exchange(torch.random.seed, _torch_seed.__code__)
    random._urandom = entropy  # type: ignore[attr-defined]


def _exchange(function: Any, code: types.CodeType) -> None:
    # Its place is what Dynamo goes by in deciding what to trace into.
    old = function.__code__
    function.__code__ = code.replace(co_filename=old.co_filename, co_firstlineno=old.co_firstlineno)


def _torch_seed() -> int:
    import torch

    # Dynamo calls it while it traces and takes what comes back for a constant: no count may be kept.
    number = int.from_bytes(_pt2lint_made_of(str(torch.initial_seed()), 8), "little")  # type: ignore[name-defined]  # noqa: F821
    torch.manual_seed(number)
    return number


def _random_seed_code() -> types.CodeType:
    """The code of a method with the closure that the real one has, for its `super()`."""
    __class__ = random.Random

    def seed(self: Any, a: Any = None, version: int = 2) -> None:
        if a is None:
            a = int.from_bytes(_pt2lint_entropy(32), "little")  # type: ignore[name-defined]  # noqa: F821
        _pt2lint_random_seed(self, a, version)  # type: ignore[name-defined]  # noqa: F821
        __class__  # noqa: B018

    return seed.__code__
