"""Reports: each format is one module with a pure function from a Report to the text to print or write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from importlib import import_module

from pt2lint.finding import ALIKE, ALL_OVER, LEFT, PASTED, Finding, Problem, RulePage
from pt2lint.report.models import Model
from pt2lint.report.place import Place

FORMATS = {"text": "text", "concise": "concise", "json": "json_", "sarif": "sarif", "github": "github"}


@dataclass(frozen=True)
class Traced:
    """Where one compiled call of a target put the lines of the files: `graphs` holds the operators of each graph,
    `lines` the numbers of the graphs (from 1; 0: which one is not known) that a line is part of, `eager` the lines
    that ran outside of all.

    `breaks` counts the places that broke a graph. Paths are as findings have them.
    """

    name: str
    graphs: Sequence[int]
    breaks: int
    lines: Mapping[str, Mapping[int, Sequence[int]]]
    eager: Mapping[str, Set[int]]


@dataclass(frozen=True)
class Report:
    """All that a report can show.

    `findings` are sorted; `suppressed` are those that a comment in the code silenced (shown on request only).
    `sources` maps a finding's path to the text of that file, `uris` to its path relative to the repository
    root (see `pt2lint.report.place.uris`), `cells` to the places of a notebook's joined lines. `traced` says where
    a verified run put the lines of the code as it is, `traced_after` those of `fixed`, the files with the proven
    fixes in them. `asked` are the options of --verify that the run was given, as a shell takes them.
    `show_notes` says that notes are told in full. `models` has a line for each model that was run, `models_of` the
    name of the model by that of the target, where it is another.
    """

    findings: Sequence[Finding]
    pages: Mapping[str, RulePage] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)
    uris: Mapping[str, str] = field(default_factory=dict)
    cells: Mapping[str, Sequence[Place]] = field(default_factory=dict)
    suppressed: Sequence[Finding] = ()
    problems: Sequence[Problem] = ()
    notes: Sequence[str] = ()
    files: int = 0
    version: str = ""
    colour: bool = False
    traced: Sequence[Traced] = ()
    traced_after: Sequence[Traced] = ()
    fixed: Mapping[str, str] = field(default_factory=dict)
    asked: str = ""
    show_notes: bool = True
    models: Sequence[Model] = ()
    models_of: Mapping[str, str] = field(default_factory=dict)

    @property
    def told(self) -> list[Finding]:
        """The findings that a reader sees one by one: notes where they are asked for."""
        return [f for f in self.findings if self.show_notes or not f.is_note]

    @cached_property
    def pasted(self) -> dict[str, list[Finding]]:
        """By the place of a finding, those of the same function, or the same lines, in other files, or of
        the values that steer the same root."""
        found: dict[str, list[Finding]] = {}
        for finding in self.findings:
            if finding.note.startswith((PASTED, ALIKE, ALL_OVER, LEFT)):
                found.setdefault(finding.copy_of, []).append(finding)
        return found

    def uri(self, path: str) -> str:
        """The file's path in the repository, `/` separated."""
        return self.uris.get(path) or path.replace("\\", "/")

    def lines(self, path: str) -> list[str]:
        """The file's lines without their ends, as Python counts them (a form feed ends no line)."""
        return _lines(self.sources.get(path, ""))

    def place(self, path: str, line: int) -> Place:
        """Where a line that a finding names stands for the reader: in a notebook, which cell and line."""
        places = self.cells.get(path, ())
        return places[line - 1] if 0 < line <= len(places) else Place(None, line, line, None)


@lru_cache(maxsize=256)  # asked for at every finding and every step of its flow
def _lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def render(format: str, report: Report) -> str:
    """The report in one of FORMATS, ending with a newline unless it is empty.

    Raises KeyError for an unknown format.
    """
    text: str = import_module(f"pt2lint.report.{FORMATS[format]}").render(report)
    return text
