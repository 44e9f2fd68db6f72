"""What the static pass finds out about a group of files: plain data, which can be kept and sent."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from pt2lint.finding import Applicability, Edit, Finding, Fix, Price, Problem, Step, Trait
from pt2lint.op import Op, Range, either, in_either
from pt2lint.project.entries import digest
from pt2lint.said import moved
from pt2lint.static.interpreter.guards import NO_TENSOR, NO_WEIGHTS, PRIVATE, RARE, UNCALLED
from pt2lint.static.source.nodes import Unit
from pt2lint.static.source.reads import OF_CLASSES, Reads

Notes = dict[Unit, list[Op]]
Place = Callable[[str, int], str]  # where a line of a file stands
Kinds = dict[Unit, Mapping[Range, str]]  # what the expressions of functions are, in the words of Op.args


class HasFiles(Protocol):
    """What `called_from_elsewhere` asks of a group."""

    @property
    def files(self) -> Sequence[str]: ...
    @property
    def noted(self) -> Iterable[str]: ...


Group = TypeVar("Group", bound=HasFiles)
Kept = TypeVar("Kept")


@dataclass
class Facts:
    """`findings` by file of the group; `notes` by any linted file in which the group's code did something;
    `kinds`, by the same files, tell of functions in which rules that ask for them may find something (where there are
    several groups).

    `read` are the digests of all files read or sought (None: not there), `reads_` what was read of them (as JSON where
    it was kept), `complete` says that nothing but the contents of these files made it so. `name` is that of the entry
    that holds it ("" for none). `marks`, by the files of `notes`, tell what is in `notes` and `kinds` from anything
    else, and stay as they are where lines move. `parsed` are the files that took time, for those who plan the rest of
    the run.
    """

    findings: dict[str, list[Finding]] = field(default_factory=dict)
    notes: Mapping[str, Notes] = field(default_factory=dict)
    kinds: Mapping[str, Kinds] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    read: dict[str, str | None] = field(default_factory=dict)
    looked_at: list[str] = field(default_factory=list)
    complete: bool = True
    parsed: list[str] = field(default_factory=list, compare=False)
    reads_: Reads | str = field(default_factory=Reads, compare=False)
    name: str = field(default="", compare=False)
    marks: dict[str, str] = field(default_factory=dict, compare=False)

    @property
    def reads(self) -> Reads:
        """What was read of the files; made anew each time where it is kept as text."""
        return Reads.from_plain(json.loads(self.reads_)) if isinstance(self.reads_, str) else self.reads_

    def functions_read(self) -> Iterator[tuple[str, set[int], set[tuple[str, str]]]]:
        """Of each file, the lines of functions whose bodies were read, and what was asked of all methods of a class, as
        (fact, class); nothing where what was read is not kept as JSON."""
        data = json.loads(self.reads_) if isinstance(self.reads_, str) else {"bodies": {}, "facts": []}
        asked: dict[str, set[tuple[str, str]]] = {}
        for kind, about, *paths in data["facts"]:
            if kind in OF_CLASSES:
                for path in paths:
                    asked.setdefault(path, set()).add((kind, about.partition(" ")[0]))
        for path in data["bodies"].keys() | asked.keys():
            yield path, set(data["bodies"].get(path, ())), asked.get(path, set())

    @property
    def files(self) -> list[str]:
        """The files of which it has findings, or that there are none."""
        return [*self.findings]

    @property
    def noted(self) -> list[str]:
        """The files in which its code did something."""
        return [*self.notes]

    def mark(self, path: str) -> str:
        """What tells its notes of the file, and the kinds in it, from others; "" where it has none."""
        return self.marks.get(path, "")


def joined(a: Facts, b: Facts) -> Facts:
    """The facts of two groups with no file in common, as one group's."""
    return Facts(
        a.findings | b.findings,
        {**b.notes, **a.notes},
        {**b.kinds, **a.kinds},
        a.problems + b.problems,
        a.read | b.read,
        sorted({*a.looked_at, *b.looked_at}),
        a.complete and b.complete,
        reads_=a.reads.with_those_of(b.reads),
        marks={**b.marks, **a.marks},
    )


def marked(notes: Mapping[str, Notes], kinds: Mapping[str, Kinds], place: Place) -> dict[str, str]:
    """The marks of notes and kinds. Lines count from where their function begins, as `place` tells it: what an edit
    elsewhere in a file moves is the same, in lines that can be told (moved.py)."""

    def unit(path: str, lines: Unit, ops: Iterable[Op]) -> list[Any]:
        first, last = lines
        return [place(path, first), last - first, [_op_to_plain(_from(path, first, op, place)) for op in ops]]

    return {
        path: digest(
            json.dumps([unit(path, lines, ops) for lines, ops in units.items()]),
            json.dumps(
                [
                    unit(path, lines, ()) + _kinds_from(lines[0], of)
                    for lines, of in kinds.get(path, {}).items()
                ]
            ),
        )
        for path, units in notes.items()
    }


def _from(path: str, first: int, op: Op, place: Place) -> Op:
    """The operation with its own lines counted from the first of its function."""

    def told(text: str) -> str:
        return moved(text, path, place)

    return op._replace(
        line=op.line - first,
        end_line=op.end_line - first,
        flow=tuple(Step(place(s.path, s.line), 0, told(s.message)) for s in op.flow),
        args={key: told(word) for key, word in op.args.items()},
        details={key: told(word) for key, word in op.details.items()},
        why=told(op.why),
        uses=frozenset(map(told, op.uses)),
    )


def _kinds_from(first: int, kinds: Mapping[Range, str]) -> list[Any]:
    return [[line - first, at, end - first, to, word] for (line, at, end, to), word in kinds.items()]


# Why few would compile a module by itself: what a model does with it says more.
OF_PARTS = (RARE[PRIVATE], RARE[NO_WEIGHTS], RARE[NO_TENSOR])


def merged(old: Op, new: Op) -> Op:
    """One operation, noted twice. A sure one takes the place of an unsure one, what a model calls that of what none
    does."""
    beside = RARE[UNCALLED]
    same = old.sure is new.sure and old.region is new.region
    if same and (old.rare == beside) is not (new.rare == beside):
        return (new if old.rare == beside else old)._replace(uses=old.uses | new.uses)
    if (
        (old.sure or not new.sure)
        and (old.region or not new.region)
        and not new.args
        and not new.details
        and new.uses <= old.uses
    ):
        return old._replace(**_where(old, new), **_way(old, new), roots=old.roots + new.roots)
    return new._replace(
        args=in_either(old.args, new.args),
        details=in_either(old.details, new.details),
        why=new.why or old.why,
        sure=old.sure or new.sure,
        region=old.region or new.region,
        uses=old.uses | new.uses,
        roots=old.roots + new.roots,
        **_where(old, new),
        **_way(old, new),
    )


def _way(old: Op, new: Op) -> dict[str, Any]:
    """The way that is told of an operation that was noted twice, as Notebook.way chooses among those in one group: one
    way, not parts of two."""
    ways = [old, new]
    if old.region is not new.region:
        ways = [old if old.region else new]
    elif old.sure is not new.sure:
        ways = [old if old.sure else new]
    ways = [op for op in ways if op.flow] or ways
    ways = [op for op in ways if not op.rare] or ways
    plain = [op for op in ways if len(op.when) == min(len(each.when) for each in ways)]
    way = next((op for op in plain if op.caller), plain[0])
    return {
        "flow": way.flow,
        "caller": way.caller,
        "layers": any(op.layers for op in ways),
        "parts": any(op.parts for op in ways),
        "before": way.before,
        "after": way.after,
    }


def _where(old: Op, new: Op) -> dict[str, Any]:
    """Under which conditions an operation runs that was noted twice: where it is traced, and sure, else what holds for
    both."""
    one, other = old, new
    if old.region is not new.region:
        one = other = old if old.region else new
    elif old.sure is not new.sure:
        one = other = old if old.sure else new
    elif (old.rare in OF_PARTS) is not (new.rare in OF_PARTS):
        one = other = new if old.rare in OF_PARTS else old
    when = tuple(text for text in one.when if text in other.when)
    return {
        "when": when,
        "rare": other.rare and one.rare,
        "open": one.open and other.open,
        "optional": one.optional and other.optional and bool(when),
        "whole": one.whole and other.whole,
    }


def called_from_elsewhere(groups: Sequence[Group]) -> Iterator[tuple[str, list[Group]]]:
    """Each file in which the code of another group than its own did something: its group, then those others."""
    home = {path: group for group in groups for path in group.files}
    others: dict[str, list[Group]] = {}
    for group in groups:
        for path in group.noted:
            if home.get(path, group) is not group:
                others.setdefault(path, []).append(group)
    for path, found in others.items():
        yield path, [home[path], *found]


def all_notes(path: str, home: Facts, others: Iterable[Facts]) -> Notes | None:
    """The notes of a file, those of its own group and of others taken together; None where these add nothing."""
    known = home.notes.get(path, {})
    both = {unit: {(op.name, op.range): op for op in ops} for unit, ops in known.items()}
    for facts in others:
        for unit, ops in facts.notes[path].items():
            mine = both.setdefault(unit, {})
            for op in ops:
                old = mine.get((op.name, op.range))
                mine[op.name, op.range] = op if old is None else merged(old, op)
    new = {unit: list(ops.values()) for unit, ops in both.items()}
    return None if new == known else new


def all_kinds(path: str, groups: Iterable[Facts]) -> Kinds:
    """What the expressions of functions of the file are in any of the groups."""
    both: dict[Unit, dict[Range, str]] = {}
    for facts in groups:
        for unit, kinds in facts.kinds.get(path, {}).items():
            mine = both.setdefault(unit, {})
            for place, word in kinds.items():
                mine[place] = either(mine[place], word) if place in mine else word
    return {**both}


# As JSON: nothing that is read back can run. Notes, kinds and reads are texts of their own, which few ask for.


def to_plain(facts: Facts) -> dict[str, Any]:
    reads = facts.reads_ if isinstance(facts.reads_, str) else json.dumps(facts.reads_.to_plain())
    return {
        "findings": {path: [finding_to_plain(f) for f in found] for path, found in facts.findings.items()},
        "notes": dict(late_texts(facts.notes, notes_to_text)),
        "kinds": dict(late_texts(facts.kinds, kinds_to_text)),
        "problems": [[p.path, p.message, p.line] for p in facts.problems],
        "read": facts.read,
        "looked_at": facts.looked_at,
        "reads": reads,
        "parsed": facts.parsed,
        "marks": facts.marks,
    }


def from_plain(data: Mapping[str, Any]) -> Facts:
    """Raises KeyError, TypeError, ValueError or AttributeError for what `to_plain` did not write."""
    return Facts(
        {path: [finding_from_plain(f) for f in found] for path, found in data["findings"].items()},
        Late(data["notes"], notes_of_text),
        Late(data["kinds"], kinds_of_text),
        [Problem(*p) for p in data["problems"]],
        dict(data["read"]),
        list(data["looked_at"]),
        parsed=list(data["parsed"]),
        reads_=str(data["reads"]),
        marks=dict(data["marks"]),
    )


class Late(Mapping[str, Kept]):
    """Notes or kinds as they were kept, made of their text as somebody asks for those of a file: most runs ask for
    few."""

    def __init__(self, texts: Mapping[str, str], made: Callable[[str], Kept]) -> None:
        self.texts, self.made = texts, made

    def __getitem__(self, path: str) -> Kept:
        return self.made(self.texts[path])

    def __contains__(self, path: object) -> bool:
        return path in self.texts

    def __iter__(self) -> Iterator[str]:
        return iter(self.texts)

    def __len__(self) -> int:
        return len(self.texts)


def late_texts(kept: Mapping[str, Kept], text: Callable[[Kept], str]) -> Mapping[str, str]:
    return kept.texts if isinstance(kept, Late) else {path: text(each) for path, each in kept.items()}


def notes_to_text(notes: Notes) -> str:
    return json.dumps([[*unit, [_op_to_plain(op) for op in ops]] for unit, ops in notes.items()])


def notes_of_text(text: str) -> Notes:
    return {(first, last): [_op(op) for op in ops] for first, last, ops in json.loads(text)}


def kinds_to_text(kinds: Kinds) -> str:
    """For each function the places by their word: there are few words."""
    units = []
    for unit, found in kinds.items():
        places: dict[str, list[int]] = {}
        for place, word in found.items():
            places.setdefault(word, []).extend(place)
        units.append([*unit, places])
    return json.dumps(units, separators=(",", ":"))


def kinds_of_text(text: str) -> Kinds:
    return {
        (first, last): {
            place: word for word, numbers in words.items() for place in zip(*[iter(numbers)] * 4, strict=True)
        }
        for first, last, words in json.loads(text)
    }


def _op_to_plain(op: Op) -> list[Any]:
    return [*op._replace(args=list(op.args.items()), uses=sorted(op.uses), flow=[_step(s) for s in op.flow])]  # type: ignore[arg-type]


def _step(step: Step) -> list[Any]:
    return [step.path, step.line, step.message]


def _op(data: list[Any]) -> Op:
    op = Op(*data)
    return op._replace(
        args=dict(op.args),
        uses=frozenset(op.uses),
        flow=tuple(Step(*s) for s in op.flow),  # type: ignore[misc]
        when=tuple(op.when),
    )


def finding_to_plain(finding: Finding) -> list[Any]:
    """The values of the fields, in their order: their names would take as long to read as all else."""
    *own, flow, fixes, when, note, also, price = _values(finding)
    made = [
        [fix.description, fix.applicability, [*map(_values, fix.edits)], fix.proven, fix.by_hand, fix.traits]
        for fix in fixes
    ]
    return [*own, [*map(_values, flow)], made, when, note, also, None if price is None else _values(price)]


def finding_from_plain(data: list[Any]) -> Finding:
    """Raises ValueError or TypeError for what `finding_to_plain` did not write."""
    *own, flow, fixes, when, note, also, price = data
    return Finding(  # type: ignore[call-arg]  # it counts `own` as more than there are
        *own,
        tuple([Step(*step) for step in flow]),
        tuple([_fix(*one) for one in fixes]),
        tuple(when),
        note,
        tuple(also),
        None if price is None else Price(*price),
    )


def _fix(
    said: str, how: Applicability, edits: list[Any], proven: bool | None, by_hand: bool, traits: list[Trait]
) -> Fix:
    return Fix(said, how, tuple([Edit(*each) for each in edits]), proven, by_hand, tuple(traits))


def _values(one: Finding | Edit | Step | Price) -> list[Any]:
    return [getattr(one, name) for name in one.__slots__]
