"""What was found out before files changed, told in the lines that they have now."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from pt2lint.finding import Edit, Finding, Fix, Problem, Step
from pt2lint.op import Op
from pt2lint.said import moved, places, plain
from pt2lint.static.change import Change
from pt2lint.static.facts import (
    Facts,
    Kinds,
    Late,
    Notes,
    kinds_of_text,
    kinds_to_text,
    late_texts,
    notes_to_text,
)
from pt2lint.static.source.reads import Reads


class Lost(Exception):
    """Where a line went cannot be told."""


class Moves:
    """What was found, moved by the changes of some files. Its methods raise Lost."""

    def __init__(self, changes: Mapping[str, Change]) -> None:
        self.changes = changes

    def facts(self, facts: Facts) -> Facts:
        return Facts(
            {path: [self.finding(f) for f in found] for path, found in facts.findings.items()},
            self.all_notes(facts.notes),
            self.all_kinds(facts.kinds),
            [self.problem(problem) for problem in facts.problems],
            facts.read,
            facts.looked_at,
            facts.complete,
            reads_=self.reads(facts.reads),
            marks=facts.marks,
        )

    def all_notes(self, notes: Mapping[str, Notes]) -> Mapping[str, Notes]:
        """The notes of all files; a text that names no changed file stays as it is."""
        if not isinstance(notes, Late):
            return {path: self.notes(path, units) for path, units in notes.items()}
        names = [json.dumps(path)[1:-1] for path in self.changes]
        texts = dict(notes.texts)
        for path, text in notes.texts.items():
            if path in self.changes or any(name in text for name in names):
                texts[path] = notes_to_text(self.notes(path, notes[path]))
        return Late(texts, notes.made)

    def all_kinds(self, kinds: Mapping[str, Kinds]) -> Mapping[str, Kinds]:
        texts = dict(late_texts(kinds, kinds_to_text))
        for path in texts.keys() & self.changes.keys():
            texts[path] = kinds_to_text(self.kinds(path, kinds[path]))
        return Late(texts, kinds_of_text)

    def kinds(self, path: str, kinds: Kinds) -> Kinds:
        return {
            (self.line(path, first), self.line(path, last)): {
                (self.line(path, line), column, self.line(path, end), end_column): word
                for (line, column, end, end_column), word in found.items()
            }
            for (first, last), found in kinds.items()
        }

    def notes(self, path: str, notes: Notes) -> Notes:
        return {
            (self.line(path, first), self.line(path, last)): [self.op(path, op) for op in ops]
            for (first, last), ops in notes.items()
        }

    def line(self, path: str, number: int) -> int:
        change = self.changes.get(path)
        found = number if change is None else change.line(number) if change.alike else None
        if found is None:
            raise Lost
        return found

    def text(self, path: str, text: str) -> str:
        return moved(text, path, self.line)

    def reads(self, reads: Reads) -> Reads:
        made = Reads()
        made.parsed, made.facts, made.whole = reads.parsed, reads.facts, reads.whole
        made.bodies = {(path, self.line(path, line)) for path, line in reads.bodies}
        made.rules = {
            (path, self.line(path, first), self.line(path, last)) for path, first, last in reads.rules
        }
        return made

    def op(self, path: str, op: Op) -> Op:
        if path not in self.changes and not self._speaks_of_changed(op):
            return op
        return op._replace(
            line=self.line(path, op.line),
            end_line=self.line(path, op.end_line),
            args={key: self.text(path, word) for key, word in op.args.items()},
            details={key: self.text(path, word) for key, word in op.details.items()},
            why=self.text(path, op.why),
            flow=tuple(self.step(path, step) for step in op.flow),
            uses=frozenset(self.text(path, use) for use in op.uses),
        )

    def _speaks_of_changed(self, op: Op) -> bool:
        texts = [op.why, *op.args.values(), *op.details.values(), *op.uses]
        return any(step.path in self.changes for step in op.flow) or any("\ufdd0" in text for text in texts)

    def step(self, path: str, step: Step) -> Step:
        return Step(step.path, self.line(step.path, step.line), self.text(path, step.message))

    def finding(self, finding: Finding) -> Finding:
        path, price = finding.path, finding.price
        return replace(
            finding,
            line=self.line(path, finding.line),
            end_line=self.line(path, finding.end_line),
            message=self.text(path, finding.message),
            flow=tuple(self.step(path, step) for step in finding.flow),
            fixes=tuple(self.fix(path, fix) for fix in finding.fixes),
            note=self.text(path, finding.note),
            also=tuple(self.line(path, line) for line in finding.also),
            price=None if price is None else replace(price, cause=self.text(path, price.cause)),
        )

    def fix(self, path: str, fix: Fix) -> Fix:
        return replace(
            fix,
            description=self.text(path, fix.description),
            edits=tuple(self.edit(edit) for edit in fix.edits),
        )

    def edit(self, edit: Edit) -> Edit:
        change = self.changes.get(edit.path)
        if change is None:
            return edit
        replaced = (edit.line, edit.column) != (edit.end_line, edit.end_column)
        if replaced and not change.is_kept(edit.line, edit.end_line - (edit.end_column == 1)):
            raise Lost  # it may hold comments
        return replace(
            edit,
            line=self._place(change, edit.line, edit.column),
            end_line=self._place(change, edit.end_line, edit.end_column),
            replaces=tuple(
                (
                    self._place(change, line, column),
                    column,
                    self._place(change, end_line, end_column),
                    end_column,
                )
                for line, column, end_line, end_column in edit.replaces
            ),
        )

    def _place(self, change: Change, line: int, column: int) -> int:
        # The beginning of a line may be meant as the end of the one above.
        found = change.insertion(line) if column == 1 else change.line(line)
        if found is None:
            raise Lost
        return found

    def problem(self, problem: Problem) -> Problem:
        if problem.path is None or problem.path not in self.changes or problem.line is None:
            return problem
        return Problem(problem.path, problem.message, self.line(problem.path, problem.line))


def told_of(finding: Finding) -> set[str]:
    """The files of which the finding, or a fix of it, tells a line."""
    texts = [finding.message, finding.note, *(step.message for step in finding.flow)]
    texts += [fix.description for fix in finding.fixes]
    texts += [] if finding.price is None else [finding.price.cause]
    edited = {edit.path for fix in finding.fixes for edit in fix.edits}
    return {step.path for step in finding.flow}.union(edited, *map(places, texts))


def with_lines_plain(finding: Finding, named: Callable[[str | None, int], str] | None = None) -> Finding:
    """The finding with the lines in its texts as they are shown; `named` as `plain` has it."""
    texts: dict[str, Any] = {}
    if "\ufdd0" in finding.message:
        texts["message"] = plain(finding.message, named)
    if any("\ufdd0" in step.message for step in finding.flow):
        texts["flow"] = tuple(replace(step, message=plain(step.message, named)) for step in finding.flow)
    if any("\ufdd0" in fix.description for fix in finding.fixes):
        texts["fixes"] = tuple(
            replace(fix, description=plain(fix.description, named)) for fix in finding.fixes
        )
    if "\ufdd0" in finding.note:
        texts["note"] = plain(finding.note, named)
    if finding.price is not None and "\ufdd0" in finding.price.cause:
        texts["price"] = replace(finding.price, cause=plain(finding.price.cause, named))
    return replace(finding, **texts) if texts else finding
