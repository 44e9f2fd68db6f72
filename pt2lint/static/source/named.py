"""Callables that the settings name as compiled: "pkg.mod:Class.method", "train.step"."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from pt2lint.finding import Problem
from pt2lint.static.source.modules import module_name

_DEFINED = re.compile(r"^\s*(?:async\s+)?(?:def|class)\s+(\w+)|^(\w+)\s*(?::[^=\n]+)?=(?!=)", re.M)


def inside(name: str, module: str) -> list[str] | None:
    """What a name means in a module, as ["Class", "method"]; None where it means another module.

    The module may be named by its last parts alone: "train.step" is `step` in any module `train`.
    """
    place, colon, rest = name.partition(":")
    if colon:
        return rest.split(".") if _is_named(module, place) else None
    parts = name.split(".")
    for cut in range(len(parts) - 1, 0, -1):
        if _is_named(module, ".".join(parts[:cut])):
            return parts[cut:]
    return None


def _is_named(module: str, place: str) -> bool:
    return module == place or module.endswith("." + place)


def unknown(names: Iterable[str], files: Sequence[str], read: Callable[[str], str]) -> Iterator[Problem]:
    """A problem for each name whose module is among the files, where none of these defines it.

    A name in a module that is not among the files may well be right.
    """
    folders: dict[str, tuple[list[str], str]] = {}
    modules = {path: module_name(path, folders)[0] for path in files} if names else {}
    for name in names:
        places = {path: parts[0] for path, module in modules.items() if (parts := inside(name, module))}
        words = {word for path in places for pair in _DEFINED.findall(read(path)) for word in pair if word}
        if places and not words.intersection(places.values()):
            path, first = next(iter(places.items()))
            yield Problem(
                None, f"`roots` names `{name}`, but {path} defines no `{first}`{_nearest(first, words)}"
            )


def _nearest(word: str, known: Iterable[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(word, sorted(known), n=1)
    return f"; did you mean `{near[0]}`?" if near else ""
