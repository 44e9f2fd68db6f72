"""What the texts of the files say by themselves: which comments silence what, in which functions and branches lines
stand, and what a file is made from.

It stays as long as a text does, so it can be kept by the text's digest: after an edit the other files need not be read.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import suppress
from typing import Any

from pt2lint.project.across import classes_in, made_from
from pt2lint.project.elsewhere import done_in
from pt2lint.project.statements import Where, place_in
from pt2lint.project.suppress import Comment, comments, may_be_ours

Row = dict[str, Any]


class Sources(MutableMapping[str, str]):
    """Texts by path, of which some are read once somebody asks: `late` are files that can be read."""

    def __init__(self, read: Callable[[str], str | None]) -> None:
        self._read = read
        self._late: dict[str, None] = {}
        self._texts: dict[str, str] = {}

    def add(self, path: str, late: bool) -> None:
        """A file of which the text is wanted now, or perhaps later; one that cannot be read is not there."""
        if path in self:
            return
        if late:
            self._late[path] = None
        elif (text := self._read(path)) is not None:
            self._texts[path] = text

    def __getitem__(self, path: str) -> str:
        if path in self._late:
            del self._late[path]
            self._texts[path] = self._read(path) or ""  # "" where it went away meanwhile
        return self._texts[path]

    def __setitem__(self, path: str, text: str) -> None:
        self._late.pop(path, None)
        self._texts[path] = text

    def __delitem__(self, path: str) -> None:
        if self._late.pop(path, "") == "":
            del self._texts[path]

    def __contains__(self, path: object) -> bool:
        return path in self._texts or path in self._late

    def __iter__(self) -> Iterator[str]:
        yield from [*self._texts, *self._late]

    def __len__(self) -> int:
        return len(self._texts) + len(self._late)


class Known:
    """`digests` are those of the files as they were linted, `kept` what was known of texts by their digests; `around`
    gives the statements of a text, of those at the top of it or of a class at least the one that holds the line, or
    raises SyntaxError, ValueError or RecursionError."""

    def __init__(
        self,
        sources: Mapping[str, str],
        digests: Mapping[str, str | None],
        kept: Mapping[str, Row],
        around: Callable[[str, int], Sequence[ast.stmt]],
    ) -> None:
        self._sources, self._digests, self._kept, self._around = sources, digests, kept, around
        self._rows: dict[str, Row] = {}
        self._lines: tuple[str, list[str]] = ("", [])
        self.grown: set[str] = set()  # the files of which more is known by now

    def has(self, path: str) -> bool:
        """Whether something is known of the text that the file holds."""
        return (self._digests.get(path) or "") in self._kept

    def to_keep(self, stood: Callable[[str], bool]) -> dict[str, Row]:
        """What is known of the texts that were asked about, by digest; `stood` says whether a file held the same text
        all the time."""
        made: dict[str, Row] = {}
        for path, row in self._rows.items():
            digest = self._digests.get(path) or ""
            if digest and (path not in self.grown or stood(path)):
                made[digest] = row
            elif digest in self._kept:
                made[digest] = self._kept[digest]
        return made

    def may_be_silenced(self, path: str, read: Callable[[], bytes]) -> bool:
        """Whether the file may hold comments that are idle where they silence nothing."""

        def look() -> bool:
            data = read()
            return may_be_ours(lambda word: word.encode() in data)

        return bool(self._asked(path, "silenced", look))

    def done(self, path: str, read: Callable[[], bytes]) -> list[str]:
        """The settings of torch._dynamo that the file turns on, and the prefix that it takes off."""
        return list(self._asked(path, "settings", lambda: done_in(read())))

    def comments(self, path: str) -> list[Comment]:
        """The suppressions in the file."""

        def look() -> list[Any]:
            return [each.as_plain() for each in comments(self._sources.get(path, ""))]

        return [Comment.from_plain(each) for each in self._asked(path, "comments", look)]

    def made_from(self, path: str) -> str:
        """The name of the file that it says that it is generated from; "" for none."""
        return str(self._asked(path, "made_from", lambda: made_from(self._sources.get(path, ""))))

    def classes(self, path: str) -> list[str]:
        """The names of the classes that the file defines."""
        return list(self._asked(path, "classes", lambda: classes_in(self._sources.get(path, ""))))

    def place(self, path: str, line: int) -> Where | None:
        """Where a line stands; None in what is no Python."""

        def look() -> list[Any] | None:
            with suppress(SyntaxError, ValueError, RecursionError):
                return [*place_in(self._around(self._sources.get(path, ""), line), line)]
            return None

        found = self._asked(path, str(line), look)
        if found is None:
            return None
        function, statement, arms, asserts, text, beside = found
        return Where(tuple(function), statement, tuple(map(tuple, arms)), asserts, text, tuple(beside))

    def code(self, path: str, first: int, last: int) -> str:
        """What stands in these lines, with one blank where there is white space."""

        def look() -> str:
            if self._lines[0] != path:
                self._lines = path, self._sources.get(path, "").split("\n")
            return " ".join(" ".join(self._lines[1][first - 1 : last]).split())

        return str(self._asked(path, f"{first}-{last}", look))

    def _asked(self, path: str, what: str, look: Callable[[], Any]) -> Any:
        row = self._rows.get(path)
        if row is None:
            row = self._rows[path] = {**self._kept.get(self._digests.get(path) or "", {})}
        if what not in row:
            row[what] = look()
            self.grown.add(path)
        return row[what]
