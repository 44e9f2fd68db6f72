"""Findings fixed in rounds: fixes are chosen and applied, what they leave is tidied up and linted again, until nothing
changes. Nothing is written before the caller says so."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from pt2lint.finding import Applicability, Edit, Finding, Fix
from pt2lint.fixes.edit import EditError, checked, choose, decoded, same_as_linted, write_atomically
from pt2lint.fixes.side_by_side import one_guard

MOST = 10  # rounds
Taken = tuple[Finding, Fix]
Text = tuple[str, str, str]  # as the file has it, as it is by now, and the encoding
# Lints with these texts in place of files: all that belongs together, or the one file alone if one is named.
Relint = Callable[[Mapping[str, str], str | None], Iterable[Finding]]


@dataclass
class Fixed:
    """What `fix_findings` did: old text, new text and encoding by path, the fixes taken, what went wrong.

    `refused` has one line for the user for each fix that was dropped and each file that is left as it was; `read`
    holds the bytes of each file as they were read.
    """

    texts: dict[str, Text] = field(default_factory=dict)
    taken: list[Taken] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    rounds: int = 0
    read: dict[str, bytes] = field(default_factory=dict)

    def write(self, writers: Mapping[str, Callable[[str, str, str], None]] | None = None) -> None:
        """Write every changed file that still is as it was read.

        One that cannot be written costs only itself: it leaves `texts`, its fixes leave `taken`, and `refused` says
        why. `writers[path](path, text, encoding)` stands in for `write_atomically`. A file that has several paths, as
        links do, is written once.
        """
        written: dict[str, str] = {}
        for path, (_, new, encoding) in sorted(self.texts.items()):
            real = os.path.realpath(path)
            try:
                if writers is not None and path in writers:
                    writers[path](path, new, encoding)
                elif written.get(real) != new:
                    write_atomically(path, new, encoding, self.read.get(path))
                    written[real] = new
            except (EditError, OSError, ValueError) as error:
                self.leave(path, error)

    def leave(self, path: str, error: Exception) -> None:
        """Take back what was to be done to one file."""
        said = error.strerror if isinstance(error, OSError) else str(error).removeprefix(f"{path}: ")
        self.refused.append(f"{path}: the fixes were not written: {said or error}")
        self.texts.pop(path, None)
        self.taken = [one for one in self.taken if path not in {edit.path for edit in one[1].edits}]


def fix_findings(
    findings: Iterable[Finding],
    applicability: Applicability = "safe",
    proven_only: bool = False,
    relint: Relint | None = None,
    texts: Mapping[str, str] | None = None,
    digests: Mapping[str, bytes] | None = None,
    notes: bool = False,
) -> Fixed:
    """Apply fixes, lint again and go on until nothing changes, at most MOST times; nothing is written.

    `relint` gets all texts that are changed by now, by path (line ends as in the file, no BOM), and returns the
    findings in all files, or in the one that it is asked for; it is how fixes that had to wait are found anew, at the
    positions they have by then, and what other files show. Without it there is one round. `texts` holds what stands
    in place of a file: an editor's buffer, a notebook's code. `digests` tells what the findings were found in (`digest`
    of each file's bytes): a file that holds something else is left alone. The caller shows the texts or calls
    `Fixed.write()`. Notes are left as they are but with `notes`: they are right, and no reason to change code.
    Those of code that no model calls are left even then.

    Each fix has to pass `checked`, and must not bring new findings (`_more`). One that does not pass is left out, with
    its finding's other fixes, and the others of its file are applied.
    """
    work = _Rounds(findings, relint, texts or {}, digests)
    for _ in range(MOST):
        if not work.go(applicability, proven_only, notes):
            break
    fixed = work.fixed
    fixed.texts = {path: texts for path, texts in fixed.texts.items() if texts[0] != texts[1]}
    return fixed


class _Rounds:
    """What one round hands to the next."""

    def __init__(
        self,
        findings: Iterable[Finding],
        relint: Relint | None,
        texts: Mapping[str, str],
        digests: Mapping[str, bytes] | None,
    ) -> None:
        self.findings, self.relint = [*findings], relint
        self.given, self.digests = texts, digests
        self.fixed = Fixed()
        self.stopped: set[str] = set()  # files that stay as they are from here on
        self.dropped: set[object] = set()  # fixes that did not pass, by what they do
        self.had: dict[str, set[str]] = {}  # the texts that a file has had

    def go(self, applicability: Applicability, proven_only: bool, notes: bool) -> bool:
        """One round; whether another one may find more to do."""
        chosen = self.readable(choose(self.usable(notes), applicability, proven_only).taken)
        made, left = _applied(chosen, self.now)
        for one, why in left:
            self.drop(one[0], why)
        before = {path: self.fixed.texts[path] for path in made}
        changed = [path for path, new in made.items() if self.take_over(path, self.tidied(path, new))]
        if not changed:
            return bool(left)  # something else can be done about what these were to fix
        taken = [
            one
            for one in chosen
            if all(one is not other for other, _ in left) and not self.stopped & _files(one[1])
        ]
        self.fixed.rounds += 1
        self.fixed.taken += taken
        if self.relint is None:
            return False
        self.lint_again(before, taken)
        return True

    def lint_again(self, before: Mapping[str, Text], taken: Sequence[Taken]) -> None:
        """Find what there is by now, without the fixes of this round that bring more than they take away; `before` are
        the texts that it changed."""
        assert self.relint is not None
        again = [*self.relint(self.texts(), None)]
        for group in _by_files(taken):
            files = {path for _, fix in group for path in _files(fix)}
            grown = {path: _more(self.findings, again, path, group) for path in sorted(files)}
            if any(grown.values()):
                self.take_back(group, {path: before[path] for path in files}, grown)
                again = [one for one in again if one.path not in files]
                again += [one for one in self.findings if one.path in files]
        done = {_inserted(fix) for _, fix in self.fixed.taken} - {()}
        self.findings = [
            replace(one, fixes=tuple(fix for fix in one.fixes if _inserted(fix) not in done)) for one in again
        ]

    def usable(self, notes: bool) -> list[Finding]:
        """Those whose fixes may be taken. What is fixed is fixed in its copies too, which are told once it is gone.
        Code that no model calls stays as it is: as far as one can tell nothing of it is compiled."""
        left = [
            one
            for one in self.findings
            if one.path not in self.stopped
            and _what_it_does(one) not in self.dropped
            and not one.is_of_uncalled
        ]
        told = {one.place for one in left if one.fixes and not one.is_note}
        return [
            one
            for one in left
            if notes or not one.is_note or one.is_under_another or (one.copy_of and one.copy_of in told)
        ]

    def readable(self, chosen: Iterable[Taken]) -> list[Taken]:
        """Those all of whose files can be read, and hold what was linted."""
        found = []
        for one in chosen:
            paths = _files(one[1])
            for path in sorted(paths - self.stopped - set(self.fixed.texts)):
                try:
                    self.fixed.texts[path] = self.read(path)
                except (EditError, OSError) as error:
                    self.stopped.add(path)
                    self.fixed.refused.append(_said(path, error))
            if not paths & self.stopped:
                found.append(one)
        return found

    def read(self, path: str) -> Text:
        if path in self.given:
            text, encoding = self.given[path], "utf-8"
        else:
            data = self.fixed.read[path] = Path(path).read_bytes()
            if self.digests is not None:
                same_as_linted(path, data, self.digests)
            text, encoding = decoded(path, data)
        text = text.removeprefix("\ufeff")
        return text, text, encoding

    def now(self, path: str) -> tuple[str, str]:
        """The text and the encoding of a file that was read."""
        return self.fixed.texts[path][1:]

    def texts(self) -> dict[str, str]:
        """All texts that are not as the files have them."""
        return {path: new for path, (old, new, _) in self.fixed.texts.items() if new != old}

    def drop(self, finding: Finding, why: str) -> None:
        self.dropped.add(_what_it_does(finding))
        self.fixed.refused.append(why)

    def tidied(self, path: str, new: str) -> str:
        """The text that fixes made of a file's, without what they leave without use."""
        from pt2lint.fixes.dead import dead_imports  # LibCST: proof does without it

        text, encoding = self.now(path)
        for tidy in (dead_imports, one_guard):
            try:
                edits = tidy(path, text, new)
                new = checked(path, new, edits, encoding) if edits else new
            except EditError as error:
                self.fixed.refused.append(f"{error}; what fixes left there is not tidied up")
        return new

    def take_over(self, path: str, new: str) -> bool:
        """Make this the text; where the file has had it before two fixes undo each other, and it stops: False."""
        old, text, encoding = self.fixed.texts[path]
        had = self.had.setdefault(path, set())
        if new == text or new in had:
            self.stopped.add(path)
            return False
        had |= {text, new}
        self.fixed.texts[path] = (old, new, encoding)
        return True

    def take_back(self, group: Sequence[Taken], before: Mapping[str, Text], grown: Mapping[str, str]) -> None:
        """Give files back the texts from before a round after which some have more findings, as `grown` says of each,
        and drop the fixes that bring them; the next round takes the others."""
        self.fixed.texts |= before
        self.fixed.taken = [one for one in self.fixed.taken if all(one is not other for other in group)]
        for path, more in grown.items():
            mine = [one for one in group if more and path in _files(one[1])]
            for finding, _ in self.bringing_more(path, mine):
                why = f"pt2lint would find {more} in what it writes"
                self.drop(finding, f"{finding.path}:{finding.line}: a fix was left out: {why}")

    def bringing_more(self, path: str, taken: Sequence[Taken]) -> Sequence[Taken]:
        """Of the fixes that change one file, those after which it has more findings of a rule; all, where it takes
        several or what other files do with it."""
        assert self.relint is not None
        kept: list[Taken] = []
        for one in taken if len(taken) > 1 else ():
            tried = [*kept, one]
            try:
                text = checked(path, self.now(path)[0], _edits(tried)[path], self.now(path)[1])
            except EditError:
                continue
            again = self.relint({**self.texts(), path: text}, path)
            if not _more(self.findings, again, path, tried):
                kept.append(one)
        return taken if len(kept) == len(taken) else [one for one in taken if one not in kept]


def _files(fix: Fix) -> set[str]:
    """The files that it would change."""
    return {edit.path for edit in fix.edits}


def _edits(taken: Iterable[Taken]) -> dict[str, list[Edit]]:
    """The edits of these fixes by path, each once."""
    found: dict[str, dict[Edit, None]] = {}
    for _, fix in taken:
        for edit in fix.edits:
            found.setdefault(edit.path, {})[edit] = None
    return {path: [*edits] for path, edits in found.items()}


def _inserted(fix: Fix) -> tuple[tuple[str, str], ...]:
    """What a fix that only inserts puts into which file; () for other fixes.

    A setting takes no finding away that reading alone sees: made once, it must not be made again.
    """
    if any((edit.line, edit.column) != (edit.end_line, edit.end_column) for edit in fix.edits):
        return ()
    return tuple((edit.path, edit.text) for edit in fix.edits)


def _more(before: Iterable[Finding], after: Iterable[Finding], path: str, taken: Iterable[Taken]) -> str:
    """The codes of which a file has more findings than before, for a message; "" where it has not. What is compiled
    only since the fixes that were taken, another function or one that an error had Dynamo give up, may be compiled
    again: nothing was, before."""
    counts = [Counter(one.code for one in found if one.path == path) for found in (before, after)]
    compiled = any(fix.compiles_elsewhere or finding.severity == "error" for finding, fix in taken)
    return ", ".join(
        sorted(code for code in counts[1] - counts[0] if not (compiled and code.startswith("PTR")))
    )


def _said(path: str, error: Exception) -> str:
    return f"{path}: cannot be read: {error.strerror or error}" if isinstance(error, OSError) else str(error)


def _what_it_does(finding: Finding) -> object:
    """Tells the fixes of a finding from others', wherever in the file they stand."""
    return finding.path, finding.code, tuple(edit.text for fix in finding.fixes for edit in fix.edits)


def _applied(
    taken: Sequence[Taken], now: Callable[[str], tuple[str, str]]
) -> tuple[dict[str, str], list[tuple[Taken, str]]]:
    """The new texts by path, and the fixes that were left out, each with why. `now` gives text and encoding of a file.

    All are tried together; where that fails each is tried alone, and those that pass one after the other.
    """

    def texts(fixes: Iterable[Taken]) -> dict[str, str]:
        return {
            path: checked(path, now(path)[0], edits, now(path)[1]) for path, edits in _edits(fixes).items()
        }

    made: dict[str, str] = {}
    left: list[tuple[Taken, str]] = []
    for group in _by_files(taken):
        try:
            made |= texts(group)
            continue
        except EditError:
            kept: list[Taken] = []
        for one in group:
            try:
                texts([one])
                texts([*kept, one])
                kept.append(one)
            except EditError as error:
                left.append((one, str(error)))
        made |= texts(kept)
    return made, left


def _by_files(taken: Iterable[Taken]) -> list[list[Taken]]:
    """The fixes in groups that have no file in common."""
    groups: list[tuple[set[str], list[Taken]]] = []
    for one in taken:
        files, fixes, others = _files(one[1]), [], []
        for group in groups:
            if group[0] & _files(one[1]):
                files |= group[0]
                fixes += group[1]
            else:
                others.append(group)
        groups = [*others, (files, [*fixes, one])]
    return [fixes for _, fixes in groups]
