"""What is known of libraries: a file each, and the user's own models beside them (docs/models.md)."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence
from functools import cache

from pt2lint.finding import Problem
from pt2lint.libraries import user
from pt2lint.libraries.model import Library, Models

NO_LIBRARY = ("call", "forms", "model", "torch_numbers", "torch_table", "types", "user", "words")


@cache
def known() -> tuple[Library, ...]:
    """The libraries of this folder. A new file needs no other line anywhere."""
    found: list[Library] = []
    for file in pkgutil.iter_modules(__path__):
        if file.name not in NO_LIBRARY:
            module = importlib.import_module(f"{__name__}.{file.name}")
            found += getattr(module, "LIBRARIES", None) or [module.LIBRARY]
    return tuple(found)


def load(paths: Sequence[str] = (), problems: list[Problem] | None = None) -> Models:
    """All that is known; `problems` gets a line for each thing in the user's files that cannot be used."""
    if not paths:
        return _without_own()
    return Models(known(), user.read(paths, [] if problems is None else problems))


@cache
def _without_own() -> Models:
    """One for all: what was asked of it once is asked again for the next file."""
    return Models(known())
