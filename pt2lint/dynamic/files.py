"""The files that are judged, and where in them something happened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pt2lint.dynamic.events import Break
from pt2lint.dynamic.statements import Statements, statements_of


@dataclass(frozen=True)
class Files:
    """The files to judge, by real path: how the user writes the path, and the text."""

    shown: Mapping[str, str]
    sources: Mapping[str, str]

    def statements(self, path: str) -> Statements | None:
        """Statements of a file, by real path; None for one that is not judged or does not parse."""
        return statements_of(self.sources[path]) if path in self.sources else None

    def unit(self, path: str, line: int) -> tuple[str, int]:
        """The statement that a place belongs to."""
        statements = self.statements(path)
        return path, statements.span(line)[0] if statements else line

    def place(self, break_: Break) -> tuple[str, int] | None:
        """The user's innermost line of a break, None where no frame is the user's."""
        for path, line, *_ in reversed(break_.stack):
            if path in self.sources:
                return path, line
        return (break_.path, break_.line) if break_.path in self.sources else None
