"""Callables that the settings name as compiled: "pkg.mod:Class.method", "train.step", "scripts/train.py:step",
"losses.py:get_step.step"."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise

from pt2lint.finding import Problem
from pt2lint.static.source.nodes import BLOCKS
from pt2lint.static.source.project import module_name

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef

_DEFINED = re.compile(r"^\s*(?:async\s+)?(?:def|class)\s+(\w+)|^(\w+)\s*(?::[^=\n]+)?=(?!=)", re.M)


def inside(name: str, module: str, path: str = "") -> list[str] | None:
    """What a name means in a module, as ["Class", "method"]; None where it means another module.

    The module may be named by its last parts alone: "train.step" is `step` in any module `train`; or by the last parts
    of its file's path, with slashes or dots, whether its folders are packages or not: "scripts/train.py:step".
    """
    own = (module, _dotted(path))
    place, colon, rest = name.partition(":")
    if colon:
        return rest.split(".") if _is_named(own, _dotted(place)) else None
    parts = name.split(".")
    for cut in range(len(parts) - 1, 0, -1):
        if _is_named(own, ".".join(parts[:cut])):
            return parts[cut:]
    return None


def _dotted(place: str) -> str:
    """A path as a module would be named; what is no path stays as it is."""
    place = place.replace("\\", "/")
    if not place.endswith(".py") and "/" not in place:
        return place
    return place.removesuffix(".py").removesuffix("/__init__").strip("./").replace("/", ".")


def _is_named(own: tuple[str, ...], place: str) -> bool:
    return any(each == place or each.endswith("." + place) for each in own)


def unknown(names: Iterable[str], files: Sequence[str], read: Callable[[str], str]) -> Iterator[Problem]:
    """A problem for each name whose module is among the files, where none of these defines it.

    A name in a module that is not among the files may well be right.
    """
    folders: dict[str, tuple[list[str], str]] = {}
    modules = {path: module_name(path, folders)[0] for path in files} if names else {}
    for name in names:
        places = {path: parts for path, module in modules.items() if (parts := inside(name, module, path))}
        missing = {path: lack for path, parts in places.items() if (lack := _missing(parts, read(path)))}
        if places and len(missing) == len(places):
            path, (owner, last) = next(iter(missing.items()))
            near = _nearest(last, _words("".join(map(read, places))) - {last})
            yield Problem(None, f"`roots` names `{name}`, but {owner or path} defines no `{last}`{near}")


def _missing(parts: Sequence[str], source: str) -> tuple[str, str] | None:
    """What the text surely does not define of ["Class", "method"], with the class, if that is there."""
    words = _words(source)
    if parts[0] not in words:
        return "", parts[0]
    alone = re.search(rf"^class {re.escape(parts[0])}(\(object\)|\(\))?:", source, re.M)
    if alone and parts[1:] and parts[1] not in words:  # with bases it may be inherited
        return f"`{parts[0]}`", parts[1]
    if parts[1:] and (parts[2:] or re.search(rf"^(?:async\s+)?def {re.escape(parts[0])}\b", source, re.M)):
        return _missing_inside(parts, source)
    return None


def _missing_inside(parts: Sequence[str], source: str) -> tuple[str, str] | None:
    """What a function, or a class without bases, does not define of what is named in it."""
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError):
        return None
    for owner, name in pairwise(parts):
        found = definitions(body, owner)
        if not found or any(isinstance(node, ast.ClassDef) and node.bases for node in found):
            return None
        body = [statement for node in found for statement in node.body]
        if not definitions(body, name):
            return f"`{owner}`", name
    return None


def definitions(body: Iterable[ast.stmt], name: str) -> list[Definition]:
    """The functions and classes that the statements define under a name, each branch's."""
    found: list[Definition] = []
    for statement in body:
        if isinstance(statement, Definition):
            found += [statement] if statement.name == name else []
            continue
        for part in BLOCKS:
            found += definitions(getattr(statement, part, ()), name)
    return found


def _words(source: str) -> set[str]:
    return {word for pair in _DEFINED.findall(source) for word in pair if word}


def _nearest(word: str, known: Iterable[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(word, sorted(known), n=1)
    return f"; did you mean `{near[0]}`?" if near else ""
