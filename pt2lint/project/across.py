"""One finding a cause in all files: of what is pasted or generated, and of one buffer, setting or root."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from pt2lint.finding import ALIKE, ALL_OVER, COPY, LEFT, PASTED, SHARED, UNDER, Finding
from pt2lint.project import read_back
from pt2lint.project.gather import STAY
from pt2lint.project.one_cause import BREAKS, ROWS, SPARSE, VALUES, is_ready
from pt2lint.project.read_back import origin_of, shape
from pt2lint.project.statements import Where

RECOMPILES = "PTR2"  # how the codes of recompilations begin
NUMBERS_KEPT = (  # how it is said of a tensor that it is kept, or made, of what are Python's numbers before
    " is a buffer",
    "`torch.tensor` returns a tensor",
    "`torch.as_tensor` returns a tensor",
)
RECURRENT = "PTB150"  # a setting mends all of them, or a loop over its steps one alone
RANDOM = "PTB151"  # the state of a random number generator
SETTING = "PTS305"  # a setting of the whole process that hides what fails
MADE_FROM = re.compile(r"^#.*\bgenerated\b.*?\bfrom\s+\S*?([\w.-]+\.py)\b", re.MULTILINE)
WORDS = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
METHOD = re.compile(r"`(\w+\.\w+)`")  # a step into a method: "calls `Block.forward`"
CLASSES = re.compile(r"^[ \t]*class[ \t]+(\w+)", re.MULTILINE)
MANY = 10  # breaks below one root that no one mends one by one
WHOLE = 5  # the same, of those that leave whole functions to Python
HEADER = 4000  # characters of a file in which it says where it comes from


class Texts(Protocol):
    """What is asked of the texts of files (pt2lint/project/known.py)."""

    def made_from(self, path: str) -> str: ...
    def place(self, path: str, line: int) -> Where | None: ...
    def code(self, path: str, first: int, last: int) -> str: ...
    def classes(self, path: str) -> list[str]: ...


def with_causes_told_once(findings: Sequence[Finding]) -> list[Finding]:
    """The findings, in which those that read the values of one buffer, or of one tensor that is made of Python's
    numbers, are notes but for one of them, in whichever file they stand: who keeps the numbers beside it mends them
    all. So are those of one setting of the process, recurrent modules, which one setting keeps in the graph, the draws
    from generators below one root, and what steers one root, or leaves it to Python, all over."""

    recurrent = [f for f in findings if f.code == RECURRENT and _is_told(f)]
    plain = [len(f.when) for f in recurrent if f.severity != "error"]
    # Whether some need more conditions where they cost more, so that those do not tell the others.
    loops = any(f.severity == "error" and len(f.when) > min(plain, default=0) for f in recurrent)

    def cause(finding: Finding) -> Hashable:
        if finding.code == SETTING:
            return (SETTING, finding.message)
        if finding.code == RECURRENT and any(fix.is_setting for fix in finding.fixes):
            # One that leaves a loop over layers to Python costs more, and is never told under one that does not.
            return (RECURRENT, finding.severity if loops else "")
        origin = origin_of(finding) if finding.code in VALUES else None
        return origin if origin is not None and origin[0].endswith(NUMBERS_KEPT) else None

    under = {id(f): first for first, others in _alike(findings, cause) for f in others}
    under.update(_sparse_within(f for f in findings if id(f) not in under))
    for drawn in _below(f for f in findings if f.code == RANDOM and _is_told(f) and not is_ready(f)):
        under.update(_all_told(drawn))
    told = _shared(findings, under, SHARED)
    told = _shared(told, dict(_steered_all_over(told)), ALL_OVER)
    return _shared(told, dict(_left_all_over(told)), LEFT)


def _sparse_within(findings: Iterable[Finding]) -> Iterator[tuple[int, Finding]]:
    """The ids of calls with a sparse tensor, and what is told of the same tensor inside of what they call."""
    sparse = [f for f in findings if f.code == SPARSE and _is_told(f)]
    for finding in sparse:
        for inner in sparse:
            steps = {(step.path, step.line) for step in inner.flow[1:]}
            within = (finding.path, finding.line) in steps and {*inner.when} <= {*finding.when}
            if within and inner is not finding:
                yield id(finding), inner
                break


def _steered_all_over(findings: Iterable[Finding]) -> Iterator[tuple[int, Finding]]:
    """The ids of breaks below one root that values steer at as many places as no one mends one by one, and the one
    that tells them: it stays outside of the graph as a whole, or is written anew. What is told with another line of its
    file makes places, too."""
    steer = [f for f in findings if f.code in (*VALUES, *ROWS) and not is_ready(f)]
    for several in _below(f for f in steer if _is_told(f) or f.note.startswith(UNDER)):
        told = [f for f in several if _is_told(f)]
        causes = {_cause(f) for f in told} - {None}
        places = [
            f for f in several if _is_told(f) or _cause(f) not in causes
        ]  # one mask is one, however often used
        yield from _all_told(told if len(places) >= MANY else ())


def _cause(finding: Finding) -> tuple[str, str] | None:
    """The file, and what is said of the value that a break is about: a mask that picks rows of several tensors."""
    said = read_back.cause(finding)
    return (finding.path, said) if said else None


def _left_all_over(findings: Iterable[Finding]) -> Iterator[tuple[int, Finding]]:
    """The ids of breaks that leave whole functions to Python, at so many places below one root that next to nothing is
    gained until all of them are mended, and the one that tells them. Notes of what stays as it is count as well. Edits
    that are ready for all of them need no such decision."""
    leave = (
        f
        for f in findings
        if f.code.startswith(BREAKS)
        and f.code != RECURRENT
        and (_is_told(f) or f.note in STAY)
        and f.price is not None
        and f.price.gives_up in ("function", "caller")
    )
    for several in _below(leave):
        if len(several) >= WHOLE and not all(map(is_ready, several)):
            yield from _all_told([f for f in several if _is_told(f)])


def _is_told(finding: Finding) -> bool:
    return finding.severity != "note" and finding.verdict is None


def _below(findings: Iterable[Finding]) -> Iterable[list[Finding]]:
    """The findings below each root."""
    below: dict[tuple[str, int, str], list[Finding]] = {}
    for finding in findings:
        if finding.flow:
            root = finding.flow[0]
            below.setdefault((root.path, root.line, root.message), []).append(finding)
    return below.values()


def _all_told(several: Sequence[Finding]) -> Iterator[tuple[int, Finding]]:
    """The ids of those of several findings that happen only where the first one does, and that one."""
    first = min(several, key=_told_first, default=None)
    for finding in several:
        if first is not None and finding is not first:
            if {*first.when} <= {*finding.when} and _roots(finding) <= _roots(first):
                yield id(finding), first


def _roots(finding: Finding) -> int:
    return finding.price.roots if finding.price is not None else 0


def with_pasted_told_once(findings: Sequence[Finding], known: Texts) -> list[Finding]:
    """The findings, in which those of a function that stands in several files, word for word, are notes but for those
    in one of the files: who mends one has the others to paste it into."""

    def pasted(finding: Finding) -> Hashable:
        at = _mended(finding, known)
        if at is None or at.function[1] <= at.function[0] + 1:
            return None
        return (finding.code, at.text, known.code(finding.path, *at.function[:2]))

    told = _alike(findings, pasted)
    under = {id(f): first for first, others in told for f in others if _is_elsewhere(f, first, known)}
    return _shared(findings, under, PASTED)


def with_alike_told_once(findings: Sequence[Finding], known: Texts) -> list[Finding]:
    """The findings, in which those of statements that are alike in several files, with what stands before and after
    them, are notes but for those in one of the files: one model was made of the other. So are those of the same
    statement, with the one before it or after it, in functions of one name, and in methods of one name of classes of
    one name whatever is beside them."""
    places: dict[int, Where] = {}

    def stands(finding: Finding) -> Where | None:
        at = _mended(finding, known)
        if at is not None:
            places[id(finding)] = at
        return at

    def shapes(finding: Finding) -> Hashable:
        at = stands(finding)
        if at is None or not all(at.beside):
            return None
        return (finding.code, *map(shape, (at.text, *at.beside)))

    def named(finding: Finding) -> Hashable:
        at = stands(finding) if finding.code in (*VALUES, *ROWS) else None
        return None if at is None else (finding.code, at.function[2], at.text)

    def copied(finding: Finding) -> Hashable:
        at, method = stands(finding), METHOD.search(finding.flow[-1].message) if finding.flow else None
        same = at is not None and method is not None and method[1].endswith(f".{at.function[2]}")
        return (finding.code, method[1], at.text) if at is not None and method is not None and same else None

    under: dict[int, Finding] = {}
    for key in (shapes, named, copied):
        for first, others in _alike(findings, key):
            where = places[id(first)]
            for finding in others:
                at = places[id(finding)]
                beside = {(i, text) for i, text in enumerate(at.beside) if text}
                same = key is copied or not beside.isdisjoint(enumerate(where.beside))
                if not same and (key is named or at.text != where.text):
                    continue
                if (
                    id(finding) not in under
                    and id(first) not in under
                    and _is_elsewhere(finding, first, known)
                ):
                    under[id(finding)] = first
    for one, first in under.items():  # what tells others may be told by another one for its function's name
        under[one] = under.get(id(first), first)
    place = {f"{PASTED}{f.place}": f"{ALIKE}{under[id(f)].place}" for f in findings if id(f) in under}
    told = [replace(f, note=place[f.note]) if f.note in place else f for f in findings]
    return _shared(told, under, ALIKE)


def _alike(
    findings: Sequence[Finding], key: Callable[[Finding], Hashable]
) -> Iterator[tuple[Finding, list[Finding]]]:
    """Of the findings that fail a run, for each key but None the one that tells the others, and those."""
    having: dict[Hashable, list[Finding]] = {}
    for finding in findings:
        if _is_told(finding) and (of := key(finding)) is not None:
            having.setdefault(of, []).append(finding)
    for several in having.values():
        first = min(several, key=_told_first)
        yield first, [f for f in several if f is not first]


def _mended(finding: Finding, known: Texts) -> Where | None:
    """Where a break or a recompilation stands, if that is a statement with a text of its own."""
    mended = finding.code.startswith((BREAKS, RECOMPILES))
    at = known.place(finding.path, finding.line) if mended else None
    return at if at is not None and at.text else None


def _is_elsewhere(finding: Finding, first: Finding, known: Texts) -> bool:
    """Whether it stands in another file, and happens only where the first one does: what is pasted has classes of its
    own, with names of their own."""
    if finding.path == first.path:
        return False
    if {*first.when} <= {*finding.when}:
        return True
    return _with_own_classes(first, known) <= _with_own_classes(finding, known)


def _with_own_classes(finding: Finding, known: Texts) -> set[str]:
    """The conditions, with no names of classes that its file defines."""
    own = {*known.classes(finding.path)} if any("isinstance(" in text for text in finding.when) else set()
    return {WORDS.sub(lambda word: "_" if word[0] in own else word[0], text) for text in finding.when}


def _told_first(finding: Finding) -> tuple[object, ...]:
    """By this, the least of several findings is the one that tells the others: with the fewest conditions, and where
    most roots lead."""
    return len(finding.when), finding.severity != "error", -_roots(finding), finding.sort_key


def _shared(findings: Sequence[Finding], under: Mapping[int, Finding], note: str) -> list[Finding]:
    """The findings, those that others in whichever file tell as notes."""
    return [
        replace(f, severity="note", note=f"{note}{under[id(f)].place}") if id(f) in under else f
        for f in findings
    ]


def without_copies(findings: Sequence[Finding], known: Texts) -> list[Finding]:
    """The findings, in which those of a generated file are notes where the file that it is made from has the same, or
    another file from which that has it by inheritance.

    A file says in its header that it is generated, and from which file in its folder.
    """
    telling = [f for f in findings if f.severity != "note"]  # a package can have thousands of notes
    paths = {f.path for f in telling}
    made = {path for path in paths if _is_made(path, known.made_from(path))}
    if not made:
        return [*findings]
    first: dict[tuple[str, str, str], Finding] = {}
    keys = dict(_keys(telling, known))
    for finding in sorted(telling, key=lambda f: (f.path in made, f.sort_key)):
        if (key := keys.get(id(finding))) is not None:
            first.setdefault(key, finding)
    result = []
    for finding in findings:
        other = first.get(keys.get(id(finding), ("", "", "")))
        if finding.path in made and other is not None and other is not finding and other.path != finding.path:
            if finding.verdict is None:
                finding = replace(finding, severity="note", note=f"{COPY}{other.place}")
        result.append(finding)
    return result


def made_from(text: str) -> str:
    """The name of the file from which a file is generated, as its header says; "" for none."""
    match = MADE_FROM.search(text[:HEADER])
    return "" if match is None else match[1]


def classes_in(text: str) -> list[str]:
    """The names of the classes that a text defines."""
    return sorted(set(CLASSES.findall(text)))


def _is_made(path: str, origin: str) -> bool:
    there = bool(origin) and origin != os.path.basename(path)
    return there and os.path.isfile(os.path.join(os.path.dirname(path), origin))


def _keys(findings: Sequence[Finding], known: Texts) -> Iterator[tuple[int, tuple[str, str, str]]]:
    """What makes findings of two files the same: the code, the function's name and the text; for those of which another
    file has the code and the text."""
    texts = [known.code(f.path, f.line, f.end_line) for f in findings]
    having: dict[tuple[str, str], set[str]] = {}
    for finding, text in zip(findings, texts, strict=True):
        having.setdefault((finding.code, text), set()).add(finding.path)
    for finding, text in zip(findings, texts, strict=True):
        if len(having[finding.code, text]) >= 2:
            at = known.place(finding.path, finding.line)
            if at is not None:
                yield id(finding), (finding.code, at.function[2], text)
