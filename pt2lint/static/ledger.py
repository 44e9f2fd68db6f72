"""What a run over many files found, in one entry: what an edit leaves of it can be told without reading the entries of
all groups, of which each has all that its group did and read.

For each file that was read the ledger has which units read it and what of it; a unit is a group of files, or a file
together with what other groups called in it. Findings are kept by file. Only what somebody asks for is unpacked.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import asdict
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from pt2lint.finding import Finding, Problem
from pt2lint.said import plain_json
from pt2lint.static.change import Change
from pt2lint.static.facts import Facts, finding_from_plain, finding_to_plain
from pt2lint.static.moved import Lost, Moves, with_lines_plain
from pt2lint.static.source.reads import Reads

Digest = Callable[[str], "str | None"]


class Unit(NamedTuple):
    """What is known of a unit without its facts: `files` are those of which it has findings, `noted` those in which its
    code did something, with the marks of its notes."""

    name: str
    files: list[str]
    noted: dict[str, str]
    problems: list[Problem]

    def mark(self, path: str) -> str:
        """As Facts.mark."""
        return self.noted.get(path, "")


NOBODY = Unit("", [], {}, [])  # has a number that was another's


class Seen(NamedTuple):
    """A file that was read or sought: its digest (None: not there), the stamp that it had then ("" where that does not
    tell), and the numbers of the units that depend on it, a text until somebody asks."""

    digest: str | None
    stamp: str
    sought: bool
    numbers: str

    @property
    def users(self) -> list[int]:
        return [int(number) for number in self.numbers.split()]


class Ledger:
    """Empty, or as it was kept. `lost` are the units of which something that they read became another, `moves` tells of
    what was found in the lines that it has now."""

    def __init__(self) -> None:
        self.units: dict[str, Unit] = {}
        self.seen: dict[str, Seen] = {}
        self.lost: set[str] = set()
        self.moves = Moves({})
        self._names: list[str] = []
        self._asks_as_kept = b""
        self._reads: dict[str, bytes] = {}  # by path: rows of a unit and what it read of the file
        self._findings: dict[str, tuple[str, bytes]] = {}  # by path: the unit that has them
        self._moved: dict[str, list[Finding]] = {}

    @cached_property
    def _asks(self) -> list[bytes]:
        """What was asked of any file, each as JSON: a fifth of all that is kept, and most of it is not wanted."""
        return self._asks_as_kept.splitlines()

    def _ask(self, number: int) -> tuple[str, str]:
        kind, about = json.loads(self._asks[number])
        return kind, about

    # What became of it

    def compare(self, current: Digest, change: Callable[[str, str], Change | None]) -> None:
        """Hold what was read against what is there now."""
        changes: dict[str, Change] = {}
        for path, seen in self.seen.items():
            now = current(path)
            if now == seen.digest:
                continue
            found = None if seen.digest is None or now is None else change(path, seen.digest)
            if found is None:
                self.lost.update(self._names[user] for user in seen.users)
                continue
            changes[path] = found
            for other in found.entered & self.seen.keys():
                if self.seen[other].digest is not None:  # what is linted counts for more than what is read
                    self.lost.update(self._names[user] for user in self.seen[other].users)
            for user, reads in self._rows(path, {*found.changed}):
                if not found.leaves(reads, path):
                    self.lost.add(self._names[user])
        self.moves = Moves(changes)
        for unit in self.units.values():
            try:
                _ = [*self.problems(unit)]
            except Lost:
                self.lost.add(unit.name)
        for path in changes:
            named = json.dumps(path)[1:-1].encode()
            for about, (owner, data) in self._findings.items():
                if about not in self._moved and owner not in self.lost and named in data:
                    try:
                        self._moved[about] = [self.moves.finding(f) for f in _findings(data)]
                    except Lost:
                        self.lost.add(owner)

    def unit(self, name: str) -> Unit | None:
        """The unit of that name, where all that it read reads alike."""
        return None if name in self.lost else self.units.get(name)

    def owner(self, path: str) -> str:
        """The unit whose findings of the file are kept here; "" for none."""
        return self._findings[path][0] if path in self._findings else ""

    def problems(self, unit: Unit) -> Iterator[Problem]:
        return map(self.moves.problem, unit.problems)

    def sought(self) -> set[str]:
        """The places where a module was sought."""
        return {path for path, seen in self.seen.items() if seen.sought}

    def findings(self, path: str) -> list[Finding]:
        if path not in self._moved:
            self._moved[path] = _findings(self._findings[path][1])
        return self._moved[path]

    def shown(self, path: str) -> list[Finding]:
        """The findings, with the lines in their texts as they are shown."""
        if path in self._moved:
            return [with_lines_plain(finding) for finding in self._moved[path]]
        return _findings(plain_json(self._findings[path][1].decode()))

    def _rows(self, path: str, lines: set[int]) -> Iterator[tuple[int, Reads]]:
        """What each unit read of the file; of the bodies those on these lines alone."""
        ask = lru_cache(maxsize=None)(self._ask)
        for user, parsed, whole, bodies, rules, asks in json.loads(self._reads.get(path, b"[]")):
            yield (
                user,
                Reads(
                    {path} if parsed else set(),
                    {(path, line) for line in lines.intersection(bodies)},
                    {(path, *ask(number)) for number in asks},
                    {(path, first, last) for first, last in rules},
                    {path} if whole else set(),
                ),
            )

    # As bytes

    def packed(self) -> bytes:
        numbers = {name: number for number, name in enumerate(self._names)}
        asks = b"\n".join(self._asks)
        head = {
            "units": [
                [*unit[:3], [asdict(each) for each in unit.problems]]
                for unit in (self.units.get(name, NOBODY) for name in self._names)
            ],
            "asks": len(asks),
            "seen": {path: [*seen, len(self._reads.get(path, b""))] for path, seen in self.seen.items()},
            "findings": {path: [numbers[owner], len(data)] for path, (owner, data) in self._findings.items()},
        }
        first = json.dumps(head).encode()
        parts = [b"%d\n" % len(first), first, asks]
        parts += [self._reads.get(path, b"") for path in self.seen]
        parts += [data for _, data in self._findings.values()]
        return b"".join(parts)

    @classmethod
    def unpacked(cls, data: bytes) -> Ledger:
        """Raises KeyError, TypeError, ValueError or AttributeError for what `packed` did not write."""
        made = cls()
        at = data.index(b"\n") + 1
        end = at + int(data[:at])
        head = json.loads(data[at:end])
        for name, files, noted, problems in head["units"]:
            made._names.append(name)
            if name:
                made.units[name] = Unit(name, files, noted, [Problem(**each) for each in problems])
        made._asks_as_kept = data[end : end + head["asks"]]
        end += head["asks"]
        for path, (*seen, size) in head["seen"].items():
            made.seen[path] = Seen(*seen)
            if size:
                made._reads[path] = data[end : end + size]
                end += size
        for path, (owner, size) in head["findings"].items():
            made._findings[path] = made._names[owner], data[end : end + size]
            end += size
        return made

    # The next one

    def after(
        self,
        kept: Iterable[Unit],
        made: Mapping[str, Facts],
        found: Mapping[str, str],
        current: Digest,
        stamp: Callable[[str], str],
    ) -> Ledger:
        """The ledger of a run that took some units from this one and made the others: `found` has for each file the
        name of the unit that has the findings. Raises Lost."""
        new = Ledger()
        new._asks = [*self._asks]
        asks = {ask: number for number, ask in enumerate(new._asks)}
        for unit in kept:
            new.units[unit.name] = unit._replace(problems=[*self.problems(unit)])
        for name, facts in made.items():
            new.units[name] = Unit(name, facts.files, facts.marks, facts.problems)
        numbers = new._number(self._names, made)
        stay = {number for number, name in enumerate(self._names) if name in new.units and name not in made}
        users: dict[str, list[int]] = {}
        rows: dict[str, list[Any]] = {}
        sought = {path for path, seen in self.seen.items() if seen.sought}
        for name, facts in made.items():
            number = numbers[name]
            sought.update(facts.looked_at)
            for path in facts.read:
                users.setdefault(path, []).append(number)
            for path, row in _rows_of(facts.reads, asks, new._asks).items():
                rows.setdefault(path, []).append([number, *row])
        for path in {**self.seen, **users}:
            before = self.seen[path].users if path in self.seen else []
            mine = [user for user in before if user in stay]
            if not mine and path not in users:
                continue
            now = sorted([*mine, *users.get(path, ())])
            new.seen[path] = Seen(current(path), stamp(path), path in sought, " ".join(map(str, now)))
            if mine == before and path not in rows and path not in self.moves.changes:
                if path in self._reads:
                    new._reads[path] = self._reads[path]
            elif more := [*self._moved_rows(path, stay), *rows.get(path, [])]:
                new._reads[path] = json.dumps(more).encode()
        for path, name in found.items():
            told = made[name].findings[path] if name in made else self.findings(path)
            unmoved = name not in made and not self._speaks_of_changed(path)
            plain = (
                self._findings[path][1]
                if unmoved
                else json.dumps([finding_to_plain(f) for f in told]).encode()
            )
            new._findings[path] = name, plain
        return new

    def _number(self, before: Sequence[str], made: Iterable[str]) -> dict[str, int]:
        """Number the units: those that stay as before, so that most of what was read stays as it was written; those
        that were made in the places of those that go."""
        new = dict.fromkeys(made)
        self._names = [name if name in self.units and name not in new else "" for name in before]
        free = [number for number, name in enumerate(self._names) if not name]
        for name in new:
            if free:
                self._names[free.pop()] = name
            else:
                self._names.append(name)
        return {name: number for number, name in enumerate(self._names) if name}

    def _moved_rows(self, path: str, stay: Set[int]) -> list[Any]:
        rows = [row for row in json.loads(self._reads.get(path, b"[]")) if row[0] in stay]
        if path in self.moves.changes:
            for row in rows:
                row[3] = [self.moves.line(path, line) for line in row[3]]
                row[4] = [[self.moves.line(path, line) for line in lines] for lines in row[4]]
        return rows

    def _speaks_of_changed(self, path: str) -> bool:
        data = self._findings[path][1]
        return any(json.dumps(each)[1:-1].encode() in data for each in self.moves.changes)


def _rows_of(
    reads: Reads, known: dict[bytes, int], asks: list[bytes]
) -> dict[str, tuple[int, int, list[int], list[tuple[int, int]], list[int]]]:
    """What was read, by file; what was asked as its number among `asks`, which grow."""
    bodies: dict[str, list[int]] = {}
    rules: dict[str, list[tuple[int, int]]] = {}
    asked: dict[str, list[int]] = {}
    for path, line in reads.bodies:
        bodies.setdefault(path, []).append(line)
    for path, first, last in reads.rules:
        rules.setdefault(path, []).append((first, last))
    for path, kind, about in reads.facts:
        ask = json.dumps([kind, about]).encode()
        number = known.get(ask)
        if number is None:
            number = known[ask] = len(asks)
            asks.append(ask)
        asked.setdefault(path, []).append(number)
    paths: Set[str] = reads.parsed | reads.whole | bodies.keys() | rules.keys() | asked.keys()
    return {
        path: (
            int(path in reads.parsed),
            int(path in reads.whole),
            bodies.get(path, []),
            rules.get(path, []),
            asked.get(path, []),
        )
        for path in paths
    }


def _findings(data: bytes | str) -> list[Finding]:
    return [finding_from_plain(each) for each in json.loads(data)]
