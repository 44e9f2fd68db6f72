"""The parts of a file, told by its lines alone: most of what an imported file defines is never looked at, and
parsing it would take most of the time.

A part is a statement of the top level, or a method, with its decorators. Code that is laid out unusually (a
bracket's content at the margin) cuts badly, which shows when a part does not parse: then the file is parsed
whole instead.
"""

from __future__ import annotations

import ast
import re
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate, count
from operator import add
from typing import Any, NamedTuple

from pt2lint.static.source.nodes import parse

# Strings and comments; the unrolled form of "anything but the end of the string".
_TEXT = re.compile(
    r'''"""[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*"""|\'\'\'[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*\'\'\''''
    r"""|"[^"\\\n]*(?:\\.[^"\\\n]*)*"|'[^'\\\n]*(?:\\.[^'\\\n]*)*'|#[^\n]*""",
    re.DOTALL,
)
_CODE = r"(?=[^ \t\n#)\]}])(?!(?:else|elif|except|finally)\b)"
# The line end before comes first: plain text is found many times as fast as the beginning of a line.
_MARGIN = re.compile("\n" + _CODE)
_FIRST = re.compile(_CODE)
_HEAD = re.compile(
    r"(?:async[ \t]+)?def[ \t]+(?P<function>\w+)|class[ \t]+(?P<class>\w+)|(?P<text>[\"'])"
    r"|(?P<name>\w+)[ \t]*=(?!=)(?![ \t]*[\w.]+[ \t]*=(?!=))"
)
_DEF = re.compile(r"\n([ \t]+)(?:async[ \t]+)?def\b")


# No name is called so.
DEFINITIONS, IMPORTS = "", "import"


class Part(NamedTuple):
    """Lines of a file, counted from 1. `kind` is "function", "class", "name" (an assignment to one name), "text"
    (a docstring) or "" (anything else). Of the file's text it has the place: most parts are never looked at."""

    kind: str
    name: str
    first: int
    last: int
    source: str
    start: int
    end: int

    @property
    def text(self) -> str:
        """Whole lines."""
        return self.source[self.start : self.end]

    def says(self, word: str) -> bool:
        """Whether its text holds the word."""
        return self.source.find(word, self.start, self.end) >= 0


class Outline:
    def __init__(self, source: str) -> None:
        self.source = source
        ends = accumulate(map(len, source.split("\n")[:-1]))
        # Where each begins: a line end is one more. Thousands of files may be kept: numbers of four bytes.
        self._lines = array("I", [0, *map(add, ends, count(1))])
        # Where strings of several lines begin and end: lines within are text.
        spans = [m.span() for m in _TEXT.finditer(source) if "\n" in m[0]]
        self._starts, self._ends = [s for s, _ in spans], [e for _, e in spans]
        self._methods: dict[int, list[Part]] = {}  # by a class's first line

    def parts(self) -> list[Part]:
        """All statements of the top level."""
        return list(self._cut(_MARGIN, 0, len(self.source)))

    def methods(self, of: Part) -> list[Part]:
        """The functions right in a class."""
        known = self._methods.get(of.first)
        if known is None:
            known = self._methods[of.first] = self._methods_of(of)
        return known

    def _methods_of(self, of: Part) -> list[Part]:
        start, end = of.start, of.end
        indents = [m[1] for m in _DEF.finditer(self.source, start, end) if not self._in_text(m.start() + 1)]
        if not indents:
            return []
        indent = min(indents, key=len)
        nearer = re.compile(f"\n[ \t]{{1,{len(indent) - 1}}}" + _CODE) if len(indent) > 1 else None
        if nearer and any(not self._in_text(m.start() + 1) for m in nearer.finditer(self.source, start, end)):
            return []  # these are functions of a class that it holds; or it is laid out unusually
        margin = re.compile("\n" + indent + _CODE)
        return [part for part in self._cut(margin, start, end) if part.kind == "function"]

    def _in_text(self, place: int) -> bool:
        i = bisect_right(self._starts, place) - 1
        return i >= 0 and place < self._ends[i] and place > self._starts[i]

    def _cut(self, margin: re.Pattern[str], start: int, end: int) -> Iterator[Part]:
        starts = [
            m.start() + 1
            for m in margin.finditer(self.source, start, end)
            if not self._in_text(m.start() + 1)
        ]
        if margin is _MARGIN and _FIRST.match(self.source, start, end):
            starts.insert(0, start)
        first = None
        for here, following in zip(starts, [*starts[1:], end], strict=False):
            first = here if first is None else first
            code = self.source[here:following].lstrip(" \t")
            if code[0] == "@":
                continue  # a decorator: the definition follows
            found = _HEAD.match(code)
            line = bisect_right(self._lines, first)
            text = self.source[first:following]
            kind, name = (found.lastgroup or "", found[found.lastgroup or 0]) if found else ("", "")
            if kind in ("name", "text") and ";" in text:
                kind = ""  # it may hold another statement
            last = line + text.count("\n") - text.endswith("\n")
            yield Part(kind, name, line, last, self.source, first, following)
            first = None


def statements(part: Part, text: str = "") -> list[ast.stmt]:
    """The part, parsed, with the places that it has in the file, or the text in its place. Raises SyntaxError."""
    text = text or part.text
    if text[0] in " \t":
        # Stands in for the header of the class.
        header = "\n" * (part.first - 2) + "if 1:\n"
        return parse(header + text, "part").body[0].body  # type: ignore[attr-defined]
    return parse("\n" * (part.first - 1) + text, "part").body


class Late(dict[str, Any]):
    """A dictionary some of whose values are parts until somebody asks for them."""

    def __init__(self, parse: Callable[[Part], Any]) -> None:
        super().__init__()
        self._parse = parse
        self._parsed: dict[str, Part] = {}  # those that were asked for

    def __getitem__(self, key: str) -> Any:
        value = super().__getitem__(key)
        if value.__class__ is Part:
            self._parsed[key] = value
            value = self[key] = self._parse(value)
        elif value.__class__ is list and any(v.__class__ is Part for v in value):
            value = self[key] = [self._parse(v) if v.__class__ is Part else v for v in value]
        return value

    def get(self, key: str, default: Any = None) -> Any:
        return self[key] if key in self else default  # noqa: SIM401 (which would be this)

    def values(self) -> Any:
        return [self[key] for key in self]

    def items(self) -> Any:
        return [(key, self[key]) for key in self]

    def later(self) -> dict[str, Part]:
        """What nobody has asked for."""
        return {key: value for key, value in super().items() if value.__class__ is Part}

    def saying(self, words: Iterable[str]) -> list[str]:
        """The keys of those that may have one of the words in their text, for one who notes by himself what he reads of
        them: one that has not need not be parsed to know that."""
        found = []
        for key, value in super().items():
            part = value if value.__class__ is Part else self._parsed.get(key)
            if part is None:
                found.append(key)
                continue
            for word in words:
                if part.says(word):
                    found.append(key)
                    break
        return found

    def parse_at(self, lines: set[int]) -> list[Any]:
        """Parse the parts in which one of these lines is; all values in which one may be."""
        for key, part in self.later().items():
            if any(part.first <= line <= part.last for line in lines):
                Late.__getitem__(self, key)  # which puts it in its place
        return [value for value in super().values() if value.__class__ is not Part]


class Definitions(Late):
    """The functions, classes or imports of a file. `ask` is told what somebody wants to know of: a name, be it there or
    not, or `all` that there are. One that comes or goes is nothing to the others."""

    def __init__(
        self, parse: Callable[[Part], Any], ask: Callable[[str], None], all: str = DEFINITIONS
    ) -> None:
        super().__init__(parse)
        self._ask, self._all = ask, all

    def __getitem__(self, key: str) -> Any:
        self._ask(key)
        return super().__getitem__(key)

    def __contains__(self, key: object) -> bool:
        self._ask(str(key))
        return super().__contains__(key)

    def __iter__(self) -> Iterator[str]:
        self._ask(self._all)
        return super().__iter__()

    def __len__(self) -> int:
        self._ask(self._all)
        return super().__len__()

    def keys(self) -> Any:
        self._ask(self._all)
        return super().keys()
