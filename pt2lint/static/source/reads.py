"""What an answer was made from, noted where it is read: functions and facts rather than files, so that a file may
change in all else and the answer stays."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from pt2lint.static.source import bodies
from pt2lint.static.source.nodes import FunctionNode


@lru_cache(maxsize=4)
def _lines(text: str) -> frozenset[str]:
    return frozenset(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))


@lru_cache(maxsize=4)
def _matches(text: str, patterns: str) -> set[tuple[str, str]]:
    """What the patterns, one a line, find, each with what stands before it in its line."""
    return {
        (match[0], text[max(match.start() - 200, 0) : match.start()].rstrip().rpartition("\n")[2])
        for pattern in patterns.split("\n")
        for match in re.finditer(pattern, text)
    }


# What stands before a name that is called: its owner and the dot, if it has them.
_OWNER = re.compile(r"(?<!def )(?<!class )(?:\b(\w+)(\.))?\Z")
_LONGEST = 100  # characters of an owner
BASE = "base:"  # before a word: a class that others are derived from


def calls(text: str, words: str) -> bool:
    """Whether the text calls something by one of the words ("name" on its own, "owner.name", ".name" of any owner), or
    by the name under which it imports that; or derives a class from "base:name"."""
    bases = [word.removeprefix(BASE) for word in words.split() if word.startswith(BASE)]
    derived = r"^\s*class \w+\((?:[^)]*\W)?"
    if any(base in text and re.search(rf"{derived}{re.escape(base)}\b", text, re.M) for base in bases):
        return True
    wanted = with_aliases(text, words.split())
    names = sorted({name for word in wanted if (name := word.rpartition(".")[2]) in text})
    if not names:
        return False
    for match in re.finditer(rf"\b(?:{'|'.join(map(re.escape, names))})(?=\s*\()", text):
        found = _OWNER.search(text[max(match.start() - _LONGEST, 0) : match.start()])
        if found is not None:
            owner, dot = found[1] or "", found[2] or ""
            if owner + dot + match[0] in wanted or dot + match[0] in wanted:
                return True
    return False


def with_aliases(text: str, words: Iterable[str]) -> set[str]:
    """The words (see `calls`), and what they are where the text says `import name as other` or so of the owner."""
    wanted = set(words)
    for word in tuple(wanted):
        owner, dot, name = word.rpartition(".")
        for part in filter(None, (owner, name)):
            if f"{part} as " in text:
                for alias in re.findall(rf"\b{re.escape(part)} as (\w+)", text):
                    wanted.add(f"{alias}.{name}" if part == owner else f"{owner}{dot}{alias}")
    return wanted


def _attributes(function: FunctionNode, name: str) -> bool:
    return name in bodies.attributes(function)


def _stores(function: FunctionNode, name: str) -> list[str]:
    return [
        "" if value is None else ast.dump(value) for attr, value in bodies.stores(function) if attr == name
    ]


def _hands(function: FunctionNode, name: str) -> list[str]:
    return [ast.dump(value) for value in bodies.hands(function, name)]


def _gives(function: FunctionNode, _: str) -> list[tuple[str, str]]:
    return [(name, ast.dump(call.func)) for name, call in bodies.gives(function)]


def _does(function: FunctionNode, name: str) -> bodies.Does | None:
    return bodies.does(function) if function.name == name else None


def _puts(function: FunctionNode, name: str) -> list[str]:
    return [ast.dump(value) for value in bodies.puts(function, name)]


def _callees(function: FunctionNode, name: str) -> list[str]:
    return [ast.dump(callee) for callee in bodies.callees(function)] if function.name == name else []


def in_code(text: str, word: str) -> bool:
    """Whether the text holds the word other than after a `#` on its line."""
    return word in text and any(word in line.partition("#")[0] for line in text.split("\n") if word in line)


# Stands among the paths for the list of the linted files. What is asked of it, "calls near", is which of those that lie
# near a folder call something: about "FOLDER\nWORDS".
FILES = "\0files"

# What may be asked of a text without reading all of it: kind -> function of the text and of what is asked about.
FACTS: dict[str, Callable[[str, str], object]] = {
    "word": lambda text, word: word in text,
    "code": in_code,
    "line": lambda text, line: line in _lines(text),
    "matches": _matches,
    "calls": calls,
}

# What a file defines or imports, about "NAME", or all of it (outline.py): the one fact that is told by what came and
# went (change.py).
DEFINED = "defined"

# The same of the functions of the top level, about " NAME", or of the methods of a class, about "CLASS NAME": kind ->
# function of one of them and of NAME (bodies.py).
OF_BODIES: dict[str, Callable[[FunctionNode, str], object]] = {
    "attributes": _attributes,  # whether the attribute is named
    "names one": lambda function, words: bodies.names_one(
        function, words.split("|")
    ),  # of several attributes
    "says": bodies.says,  # whether it says that as a text
    "stores": _stores,  # what is assigned to it, as text
    "hands": _hands,  # what is assigned to it of another object, as text
    "gives": _gives,  # which attributes, whatever NAME is, are given first to a call, and to which function
    "does": _does,  # what the method of that name calls and adds
    "counting": lambda function, _: bodies.counting(function),  # what it counts in, whatever NAME is
    "puts": _puts,  # what becomes the global
    "callees": _callees,  # what the function of that name calls
}
# Those of them that `ClassInfo` asks of all methods of a class at once.
OF_CLASSES = ("gives", "counting")


@dataclass
class Reads:
    """`bodies`: (path, line of its `def`) of each function whose body was read. What else a parsed file holds
    (`parsed`) counts as read, but for functions, classes and imports that nobody asked for. `facts`: what was asked of
    a text, as (path, kind, argument). `rules`: (path, first, last line) of what rules read as it is written, comments
    and all. `whole`: files of which any change counts.
    """

    parsed: set[str] = field(default_factory=set)
    bodies: set[tuple[str, int]] = field(default_factory=set)
    facts: set[tuple[str, str, str]] = field(default_factory=set)
    rules: set[tuple[str, int, int]] = field(default_factory=set)
    whole: set[str] = field(default_factory=set)

    def begin(self) -> None:
        """Forget all of it; nodes that are watched go on noting here."""
        for noted in vars(self).values():
            noted.clear()

    def copy(self) -> Reads:
        return self.with_those_of(Reads())

    def with_those_of(self, other: Reads) -> Reads:
        both = Reads()
        for name in vars(both):
            setattr(both, name, getattr(self, name) | getattr(other, name))
        return both

    def of(self, path: str) -> Reads:
        """What was read of one file."""
        return Reads(
            self.parsed & {path},
            {each for each in self.bodies if each[0] == path},
            {each for each in self.facts if each[0] == path},
            {each for each in self.rules if each[0] == path},
            self.whole & {path},
        )

    def to_plain(self) -> dict[str, Any]:
        """As JSON has it, what is said of one file or asked of many but once."""
        bodies: dict[str, list[int]] = {}
        for path, line in sorted(self.bodies):
            bodies.setdefault(path, []).append(line)
        facts: dict[tuple[str, str], list[str]] = {}
        for path, *fact in sorted(self.facts):
            facts.setdefault((fact[0], fact[1]), []).append(path)
        return {
            "parsed": sorted(self.parsed),
            "whole": sorted(self.whole),
            "rules": sorted(self.rules),
            "bodies": bodies,
            "facts": [[*fact, *paths] for fact, paths in facts.items()],
        }

    @classmethod
    def from_plain(cls, data: dict[str, Any]) -> Reads:
        """Raises KeyError, TypeError or ValueError for what `to_plain` did not write."""
        reads = cls()
        reads.parsed, reads.whole = set(data["parsed"]), set(data["whole"])
        reads.rules = {(path, first, last) for path, first, last in data["rules"]}
        reads.bodies = {(path, line) for path, lines in data["bodies"].items() for line in lines}
        reads.facts = {(path, kind, about) for kind, about, *paths in data["facts"] for path in paths}
        return reads

    def watch(self, body: list[ast.stmt], path: str) -> None:
        """From here on, note which of the functions and methods among these statements have their bodies read."""
        for statement in flat(body):
            if isinstance(statement, ast.ClassDef):
                for inner in flat(statement.body):
                    self._watch(inner, path)
            else:
                self._watch(statement, path)

    def _watch(self, node: ast.stmt, path: str) -> None:
        kind = _WATCHED.get(node.__class__)
        if kind is not None:  # one that is watched already notes here from now on
            node.__dict__["noted"] = (self.bodies, (path, node.lineno))
            node.__class__ = kind  # type: ignore[assignment]


def _body(node: Any) -> list[ast.stmt]:
    own = node.__dict__
    noted, key = own["noted"]
    noted.add(key)
    found: list[ast.stmt] = own["body"]
    return found


class WatchedFunction(ast.FunctionDef):
    """A function that notes when its body is read, be it to run it or to look through it."""

    __slots__ = ()
    body = property(_body)


class WatchedAsyncFunction(ast.AsyncFunctionDef):
    __slots__ = ()
    body = property(_body)


# What prints and visits trees goes by the names of classes.
WatchedFunction.__name__, WatchedAsyncFunction.__name__ = "FunctionDef", "AsyncFunctionDef"
_WATCHED: dict[type[ast.AST], type[ast.AST]] = {
    ast.FunctionDef: WatchedFunction,
    ast.AsyncFunctionDef: WatchedAsyncFunction,
    WatchedFunction: WatchedFunction,
    WatchedAsyncFunction: WatchedAsyncFunction,
}


def flat(body: list[ast.stmt]) -> Any:
    """The statements of a body, those under its `if`, `try` and `with` included."""
    for statement in body:
        yield statement
        if isinstance(statement, ast.If):
            yield from flat(statement.body)
            yield from flat(statement.orelse)
        elif isinstance(statement, ast.Try):
            yield from flat(statement.body)
            for handler in statement.handlers:
                yield from flat(handler.body)
            yield from flat(statement.orelse)
            yield from flat(statement.finalbody)
        elif isinstance(statement, ast.With):
            yield from flat(statement.body)
