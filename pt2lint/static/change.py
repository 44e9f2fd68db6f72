"""Two texts of one file: which functions read alike in both, and which line of the one is which of the other.

Comments, blank lines and the wording of docstrings make no difference, columns do: whoever followed a function that
reads alike would have found the same, in lines that can be told.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property, lru_cache
from itertools import takewhile
from typing import Any

from pt2lint.static.source.nodes import FunctionNode, unit_of
from pt2lint.static.source.outline import DEFINITIONS, IMPORTS, Outline, Part, statements
from pt2lint.static.source.project import nearest
from pt2lint.static.source.reads import DEFINED, FACTS, OF_BODIES, Reads, calls
from pt2lint.static.source.reparse import Trees

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DEFINITIONS = (*_FUNCTIONS, ast.ClassDef)
_IMPORTS = (ast.Import, ast.ImportFrom)
BELOW = 4  # lines below the imports that decide how a line is added there


_plain = Trees()


@lru_cache(maxsize=8)
def tree_of(text: str) -> ast.Module:
    """The text, parsed, for who changes nothing in it. Raises as `parse`."""
    return _plain.parse(text, "text")


def around(text: str, line: int) -> Sequence[ast.stmt]:
    """The function of the top level or the method that holds the line, parsed by itself, where one does; else the whole
    text. Raises as `parse`."""
    part = next((part for part in _parts(text) if part.first <= line <= part.last), None)
    if part is not None and part.kind == "class":
        methods = _outline(text).methods(part)
        part = next((method for method in methods if method.first <= line <= method.last), None)
    if part is not None and part.kind == "function":
        with suppress(SyntaxError, ValueError):  # it is laid out so that its lines do not tell where it ends
            found = _function(part)
            if any(each.lineno <= line <= (each.end_lineno or 0) for each in found):
                return found
    return tree_of(text).body


@lru_cache(maxsize=2)
def _outline(text: str) -> Outline:
    return Outline(text)


@lru_cache(maxsize=2)
def _parts(text: str) -> Sequence[Part]:
    return () if "\r" in text or "\f" in text else _outline(text).parts()


_function = lru_cache(maxsize=16)(statements)  # several findings stand in one


class Change:
    """`alike`: all but the bodies of `changed`, functions and methods by the line of their `def`, reads alike in both,
    and but for what only one of them defines or imports at its top, `come` and `gone`; each of `changed` is given with
    the name of its class ("" for a function), as it was and as it is.

    `kept` are lines of whole statements that are the same text in both; `lines` maps them, and those at which anything
    else that reads alike begins or ends. A text that does not parse is like no other.
    """

    entered: frozenset[str] = frozenset()

    def __init__(self, old: str, new: str) -> None:
        self.old, self.new = old, new
        self.changed: dict[int, tuple[str, FunctionNode, FunctionNode]] = {}
        self.come: list[ast.stmt] = []
        self.gone: list[ast.stmt] = []
        self.lines: dict[int, int] = {}
        self.kept: set[int] = set()
        self.alike = False
        self._back: dict[int, int] = {}
        self._undo: list[int] | None = None
        self._names: set[str] = set()
        self._asked: dict[tuple[str, str], bool] = {}
        self._class = ""
        self._texts = _lines(old), _lines(new)
        try:
            self._body = tree_of(old).body
            self.alike = self._statements(self._body, tree_of(new).body, 0)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return
        self._names.update(name for each in (*self.come, *self.gone) for name, _ in _bound_by(each))
        if self.alike:
            self._margins()

    def line(self, number: int) -> int | None:
        """The line of the new text that was this one of the old; None where that cannot be told."""
        return self.lines.get(number)

    def insertion(self, number: int) -> int | None:
        """The same for a place between two lines, before this one: both stand together as they did."""
        here, above = self.lines.get(number), self.lines.get(number - 1, 0 if number == 1 else None)
        return here if here is not None and above == here - 1 else None

    def is_kept(self, first: int, last: int) -> bool:
        """Whether these lines are the same text in both."""
        return self.kept.issuperset(range(first, last + 1)) and (
            self.lines[last] - self.lines[first] == last - first
        )

    def leaves(self, reads: Reads, path: str) -> bool:
        """Whether all that was read of the file is in the new text as it was in the old."""
        if path in reads.whole:
            return False
        names = self._names
        if path in reads.parsed:
            # First of all: where somebody writes a function that is followed, this ends it.
            if not self.alike or any((path, line) in reads.bodies for line in self.changed):
                return False
        for where, kind, about in reads.facts:
            if where != path:
                continue
            if kind == DEFINED:
                if about in names:
                    return False
            elif not self._answers_alike(kind, about):
                return False
        if path not in reads.parsed:
            return True
        written = [(first, last) for where, first, last in reads.rules if where == path]
        return not written or (
            not self.changed
            and not names
            and all(self.is_kept(*lines) for lines in written)
            and self._reads_alike_to_fixes()
        )

    def _answers_alike(self, kind: str, about: str) -> bool:
        """Whether a fact of the text, or of its functions, is one of both. Hundreds of units ask the same."""
        if (kind, about) not in self._asked:
            ask = self._bodies_say_alike if kind in OF_BODIES else self._say_alike
            self._asked[kind, about] = ask(kind, about)
        return self._asked[kind, about]

    def _say_alike(self, kind: str, about: str) -> bool:
        """The same of a text; of most what is asked was not edited."""
        edited, below = self._edited
        if kind in ("word", "code") and "\n" not in about and about not in edited:
            return True
        if kind == "calls" and "(" not in edited and " as " not in edited and below != "(":
            return True  # who is called, and by which name, stands where nothing was edited
        return FACTS[kind](self.old, about) == FACTS[kind](self.new, about)

    @cached_property
    def _edited(self) -> tuple[str, str]:
        """The lines from the first to the last that differ, of both texts, and the first character below that is no
        white space."""
        old, new = self.old.split("\n"), self.new.split("\n")
        above = _alike(old, new)
        old, new = old[above:], new[above:]
        below = _alike(old[::-1], new[::-1])
        edited = "\n".join((*old[: len(old) - below], *new[: len(new) - below]))
        return edited, next((line.lstrip()[0] for line in new[len(new) - below :] if line.strip()), "")

    def _bodies_say_alike(self, kind: str, about: str) -> bool:
        cls, _, name = about.partition(" ")
        ask = OF_BODIES[kind]
        functions = [each for each in (*self.come, *self.gone) if not cls and isinstance(each, _FUNCTIONS)]
        return (
            self.alike
            and all(
                ask(old, name) == ask(new, name) for home, old, new in self.changed.values() if home == cls
            )
            and not any(ask(function, name) for function in functions)
        )

    def _reads_alike_to_fixes(self) -> bool:
        """Whether fixes.file, beyond the tree, finds in both the same: how texts are quoted, how long lines are, and
        where a line goes that is added to the imports."""
        from pt2lint.fixes.file import own_line_length, quote_of

        (old, new) = self._texts
        if quote_of(self.old) != quote_of(self.new) or own_line_length(old) != own_line_length(new):
            return False
        tops = [s for s in self._body if isinstance(s, (*_IMPORTS, ast.If, ast.Try))]
        tops = tops or self._body[:1]  # type: ignore[assignment]
        if not tops:
            return False
        first, last = tops[0].lineno, min(unit_of(tops[-1])[1] + BELOW, len(self._texts[0]))
        there = self.lines.get(first)
        return there is not None and (
            self._texts[0][first - 1 : last] == self._texts[1][there - 1 : there + last - first]
        )

    # Comparing

    def _statements(self, old: Sequence[ast.stmt], new: Sequence[ast.stmt], depth: int) -> bool:
        """Whether the statements of the top level, or of a class there, read alike, the bodies of functions aside, and
        what only one of them defines or imports at its top."""
        old, new = self._without_docstring(old, new)
        if not depth:
            gone, come = _not_in(new, old), _not_in(old, new)
            self.gone += gone
            self.come += come
            old = [each for each in old if each not in gone]
            new = [each for each in new if each not in come]
        return len(old) == len(new) and all(
            self._statement(a, b, depth) for a, b in zip(old, new, strict=True)
        )

    def _statement(self, a: ast.stmt, b: ast.stmt, depth: int) -> bool:
        if a.__class__ is not b.__class__ or a.col_offset != b.col_offset:
            return False
        (first, last), (there, end) = unit_of(a), unit_of(b)
        if (
            last - first == end - there
            and self._texts[0][first - 1 : last] == self._texts[1][there - 1 : end]
        ):
            self.kept.update(range(first, last + 1))
            return self._same_lines(first, last, there)
        if isinstance(a, _FUNCTIONS):
            return self._function(a, b)
        if isinstance(a, _IMPORTS) and not depth and _what_it_brings(a) == _what_it_brings(b):
            self._perhaps(first, there)
            self._perhaps(last, end)
            self._names.update(name for name, _ in {*_bound_by(a)} ^ {*_bound_by(b)})
            self._names.add(IMPORTS)
            return True
        if isinstance(a, ast.ClassDef) and isinstance(b, ast.ClassDef) and not depth:
            self._perhaps(last, end)
            self._class = a.name
            alike = self._fields(a, b, {"body"}) and self._statements(a.body, b.body, 1)
            self._class = ""
            return alike
        if isinstance(a, (ast.If, ast.Try, ast.With)):
            inside = ("body", "orelse", "handlers", "finalbody")
            self._perhaps(last, end)
            if not self._fields(a, b, inside):
                return False
            return all(
                self._statements(getattr(a, part, []), getattr(b, part, []), depth)
                for part in inside
                if part != "handlers"
            ) and self._handlers(getattr(a, "handlers", []), getattr(b, "handlers", []), depth)
        return self._same(a, b)

    def _handlers(self, old: list[ast.ExceptHandler], new: list[ast.ExceptHandler], depth: int) -> bool:
        return len(old) == len(new) and all(
            self._fields(a, b, {"body"}) and self._statements(a.body, b.body, depth)
            for a, b in zip(old, new, strict=True)
        )

    def _function(self, a: ast.FunctionDef | ast.AsyncFunctionDef, b: ast.stmt) -> bool:
        assert isinstance(b, _FUNCTIONS)
        if not self._fields(a, b, {"body"}):
            return False
        self._undo = []
        alike = self._list(*self._without_docstring(a.body, b.body))
        alike = alike and self._line(a.end_lineno or 0, b.end_lineno or 0)
        undo, self._undo = self._undo, None
        if not alike:
            for line in undo:
                del self._back[self.lines.pop(line)]
            self.changed[a.lineno] = (self._class, a, b)
            self._perhaps(a.end_lineno or 0, b.end_lineno or 0)
        return True

    def _without_docstring(
        self, old: Sequence[ast.stmt], new: Sequence[ast.stmt]
    ) -> tuple[Sequence[ast.stmt], Sequence[ast.stmt]]:
        """Both, without the docstrings that they begin with: only that there is one counts."""
        if old and new and _is_text(old[0]) and _is_text(new[0]) and old[0].col_offset == new[0].col_offset:
            self._perhaps(old[0].lineno, new[0].lineno)
            self._perhaps(old[0].end_lineno or 0, new[0].end_lineno or 0)
            return old[1:], new[1:]
        return old, new

    def _same(self, a: ast.AST, b: ast.AST) -> bool:
        """Whether two nodes read alike, all below them included."""
        if a.__class__ is not b.__class__:
            return False
        if isinstance(a, _DEFINITIONS) and isinstance(b, _DEFINITIONS):
            return (
                self._fields(a, b, {"body"})
                and self._list(*self._without_docstring(a.body, b.body))
                and self._line(a.end_lineno or 0, b.end_lineno or 0)
            )
        return self._fields(a, b) and (
            not hasattr(a, "end_lineno")
            or (
                a.end_col_offset == b.end_col_offset  # type: ignore[attr-defined]
                and self._line(a.end_lineno, b.end_lineno)  # type: ignore[attr-defined]
            )
        )

    def _fields(self, a: ast.AST, b: ast.AST, but: Iterable[str] = ()) -> bool:
        """Whether two nodes of one class begin alike and have the same in all fields but some."""
        if hasattr(a, "lineno") and (
            a.col_offset != b.col_offset or not self._line(a.lineno, b.lineno)  # type: ignore[attr-defined]
        ):
            return False
        for name in a._fields:
            if name in but:
                continue
            mine: Any = getattr(a, name, None)
            other: Any = getattr(b, name, None)
            if mine.__class__ is not other.__class__:
                return False
            if isinstance(mine, ast.AST):
                if not self._same(mine, other):
                    return False
            elif isinstance(mine, list):
                if not self._list(mine, other):
                    return False
            elif mine != other and repr(mine) != repr(other):
                return False
        return True

    def _list(self, old: Sequence[object], new: Sequence[object]) -> bool:
        return len(old) == len(new) and all(
            self._same(a, b) if isinstance(a, ast.AST) and isinstance(b, ast.AST) else a == b
            for a, b in zip(old, new, strict=True)
        )

    # Lines

    def _line(self, old: int, new: int) -> bool:
        """Note that a line was another; False where something else says otherwise."""
        known = self.lines.get(old)
        if known is not None:
            return known == new
        if new in self._back:
            return False
        mine, other = self._texts[0][old - 1], self._texts[1][new - 1]
        if not (mine.isascii() and other.isascii()) and mine != other:
            return False  # columns count characters, and trees count bytes
        self.lines[old] = new
        self._back[new] = old
        if self._undo is not None:
            self._undo.append(old)
        return True

    def _same_lines(self, first: int, last: int, there: int) -> bool:
        """`_line` for lines of the same text."""
        old, new = range(first, last + 1), range(there, there + last + 1 - first)
        if self.lines.keys().isdisjoint(old) and self._back.keys().isdisjoint(new):
            self.lines.update(zip(old, new, strict=True))
            self._back.update(zip(new, old, strict=True))
            return True
        return all(self._line(n, n - first + there) for n in old)

    def _perhaps(self, old: int, new: int) -> None:
        """Note that a line was another, if nothing says otherwise."""
        if old not in self.lines and new not in self._back:
            undo, self._undo = self._undo, None
            self._line(old, new)
            self._undo = undo

    def _margins(self) -> None:
        """Lines between statements, at the beginning and at the end, that are the same text in both."""
        old, new = self._texts
        most = min(len(old), len(new))
        known = self.lines
        for n in range(most):
            if old[n] != new[n]:
                break
            if n + 1 not in known:
                self._perhaps(n + 1, n + 1)
        for n in range(1, most + 1):
            if old[-n] != new[-n]:
                break
            if len(old) - n + 1 not in known:
                self._perhaps(len(old) - n + 1, len(new) - n + 1)
        for n in range(1, len(old)):  # what stands right below something, as it did
            above = self.lines.get(n)
            if above is not None and n + 1 not in self.lines and above < len(new) and old[n] == new[above]:
                self._perhaps(n + 1, above + 1)


def _not_in(others: Sequence[ast.stmt], statements: Sequence[ast.stmt]) -> list[ast.stmt]:
    """What the statements define under a name that none of the others defines, and what they import from where none of
    the others does."""
    known = {_what_it_brings(each) for each in others}
    return [each for each in statements if (brings := _what_it_brings(each)) and brings not in known]


def _what_it_brings(statement: ast.stmt) -> str:
    if isinstance(statement, _DEFINITIONS):
        return statement.name
    if not isinstance(statement, _IMPORTS) or statement.names[0].name == "*":
        return ""
    if isinstance(statement, ast.ImportFrom):
        return f"from {statement.level} {statement.module}"
    return f"import {statement.names[0].name}"


def _bound_by(statement: ast.stmt) -> Iterator[tuple[str, str]]:
    """The names that a definition or an import binds, each with the name that it has where it is from; and what one
    asks for who asks for all of its kind."""
    if isinstance(statement, _DEFINITIONS):
        yield DEFINITIONS, ""
        yield statement.name, ""
    elif isinstance(statement, _IMPORTS):
        yield IMPORTS, ""
        for alias in statement.names:
            yield alias.asname or alias.name.partition(".")[0], alias.name


def _alike(a: Sequence[str], b: Sequence[str]) -> int:
    """How many lines at the beginning are the same in both."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False)))


def _is_text(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


class FilesChange(Change):
    """Two lists of the files that are linted. `entered` are those that are in one of them."""

    def __init__(self, old: Sequence[str], new: Sequence[str], text: Callable[[str], str]) -> None:
        super().__init__("", "")
        self._both, self._text = (old, new), text
        self.entered = frozenset(old) ^ frozenset(new)
        self._looked_through: dict[str, set[str]] = {}
        self._answers: dict[str, bool] = {}

    def leaves(self, reads: Reads, path: str) -> bool:
        """Whether what was read would be found in the new list too: of what is linted now or was then nothing was
        read, and none that is looked through now or was then calls what was asked for. One that is gone was read
        itself where it was looked through."""
        return not (reads.parsed & self.entered) and not any(
            self._says(about) for where, _, about in reads.facts if where == path
        )

    def _says(self, about: str) -> bool:
        if about not in self._answers:
            folder, words = about.split("\n")
            if folder not in self._looked_through:
                old, new = (set(nearest(files, folder)) for files in self._both)
                self._looked_through[folder] = old ^ new
            self._answers[about] = any(
                calls(self._text(each), words) for each in self._looked_through[folder]
            )
        return self._answers[about]
