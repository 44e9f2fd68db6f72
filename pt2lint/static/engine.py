"""The static pass: files in, findings out. What is kept of earlier runs is looked up, the rest analysed in groups."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any
from zlib import crc32

from pt2lint.finding import Finding, Problem
from pt2lint.project import entries
from pt2lint.project.entries import place_of
from pt2lint.project.habits import Habits, habits
from pt2lint.room import with_room
from pt2lint.static.analysis import Analysis
from pt2lint.static.contents import Contents
from pt2lint.static.facts import (
    Facts,
    called_from_elsewhere,
)
from pt2lint.static.ledger import Ledger, Unit
from pt2lint.static.moved import Lost, with_lines_plain
from pt2lint.static.parallel import Parallel
from pt2lint.static.source.named import unknown
from pt2lint.static.source.project import module_name

if TYPE_CHECKING:
    from pt2lint.static.cache import Cache

Part = Facts | Unit


# About 2,000 lines, counting each file as twice as long as the next power of two below: what is interpreted with one
# memory of what is known, and anew once something that was read changes.
GROUP = 100_000
FEW = 6  # groups that are one: who lints a program shall hear of each file what all others know


@dataclass
class LintResult:
    """`looked_at`: the files beyond those asked for that the answer depends on, there or not. `seen` are the digests of
    all files as they were read (None: not there), where there are many and what was found is kept; `stamps` what told,
    before that, whether they are as they were."""

    findings: list[Finding] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    looked_at: list[str] = field(default_factory=list)
    seen: dict[str, str | None] = field(default_factory=dict)
    stamps: dict[str, entries.Stamp | None] = field(default_factory=dict)


@with_room
def lint(
    files: Sequence[str],
    settings: Any = None,
    texts: Mapping[str, str] | None = None,
    cache: Cache | None = None,
    stop: Callable[[], bool] | None = None,
    unsure: bool | None = None,
    named: Mapping[str, Callable[[int, str | None, int], str]] | None = None,
) -> LintResult:
    """Lint the files: findings sorted by place, and what could not be read.

    Reads the files and first-party files that they import, and of few files the programs beside them that import these;
    never imports or runs them, never imports torch.
    `texts` holds what is to be read in place of a file: an editor's buffer, a notebook's code, a fixed text.
    `cache` keeps what was found out for later runs. Once `stop` says so, between two files or two functions, work
    ends with Stopped. `unsure`: what would be found with low confidence alone is looked for, which costs more
    (None: as the settings say of what they show); in files with comments that may silence such, it always is.
    `named` says by file what a text about a line of it calls a line of a path (None: of the same).

    Files are taken in groups, so that memory does not grow with the project, in child processes where there
    are several. Which files form a group depends on nothing but the files: so do the findings.
    """
    pedantic = getattr(settings, "pedantic", False)
    run = _Run(files, settings, texts or {}, stop, cache, pedantic if unsure is None else unsure)
    parts = run.parts(run.groups())
    if getattr(settings, "rule_paths", ()) or getattr(settings, "models", ()):
        _ = (
            run.analysis.rules,
            run.analysis.models,
        )  # what is wrong with them is told whatever is kept of the files
    if cache is not None:
        run.keep_ledger(parts)
        cache.tidy()
    found = {path: part for part in parts for path in part.files}  # of a file that is there twice, the last
    findings: list[Iterable[Finding]] = []
    for path, part in found.items():
        if named is not None and path in named:
            marked = part.findings[path] if isinstance(part, Facts) else run.ledger.findings(path)
            findings.append(with_lines_plain(f, partial(named[path], f.line)) for f in marked)
        elif isinstance(part, Facts):
            findings.append(map(with_lines_plain, part.findings[path]))
        else:
            findings.append(run.ledger.shown(path))
    shown = [f for one in findings for f in one if pedantic or f.confidence == "high"]
    run.problems += unknown(run.analysis.root_names, files, run.contents.text)
    problems = [
        problem
        for part in parts
        for problem in (part.problems if isinstance(part, Facts) else run.ledger.problems(part))
    ]
    looked_at = run.looked_at(parts)
    seen = run.seen(looked_at)
    return LintResult(
        sorted(shown, key=lambda f: f.sort_key),
        [*run.problems, *problems],
        looked_at,
        seen,
        run.contents.stamps,
    )


class _Run:
    """One call of `lint`: what is kept of earlier runs, and an analysis of the rest."""

    def __init__(
        self,
        files: Sequence[str],
        settings: Any,
        texts: Mapping[str, str],
        stop: Callable[[], bool] | None = None,
        cache: Cache | None = None,
        unsure: bool = False,
    ) -> None:
        self.files, self.settings, self.texts, self.cache = files, settings, texts, cache
        self.contents = Contents(files, texts, cache)
        self.problems: list[Problem] = []
        self.analysis = Analysis(files, settings, texts, self.contents, self.problems, cache, stop, unsure)
        self.parallel = Parallel(self.analysis)
        self.ledger = Ledger()
        self._habits: dict[str, Habits] = {}

    def groups(self) -> list[list[str]]:
        """Neighbours in the list, about GROUP bytes together; all files where these are few."""
        sizes: dict[str, int] = {}
        for path in self.files:
            # A small edit shall leave the groups as they are.
            sizes[path] = 1 << self.contents.size(path).bit_length()
        if sum(sizes.values()) <= FEW * GROUP:
            return [[*self.files]]
        groups: list[list[str]] = []
        room = 0
        for path in self.files:
            size = sizes[path]
            if not groups or (size > room and groups[-1]):
                groups.append([])
                room = GROUP
            groups[-1].append(path)
            room -= size
            if room < GROUP // 2 and crc32(path.encode("utf-8", "surrogateescape")) % 4 == 0:
                room = 0  # what a larger one moves on ends here
        return groups

    # The parts of the answer

    def parts(self, groups: Sequence[Sequence[str]]) -> list[Part]:
        """What is known of each group, then of each file in which others than its own did something; only what the
        ledger has, where nobody needs more."""
        self.analysis.in_groups = len(groups) > 1  # so that a ledger pays
        if self.cache is not None and self.analysis.in_groups:
            self.ledger = self.cache.ledger([self._salt, place_of(self.files)])
            self.contents.before = self.ledger.seen
            self.ledger.compare(self.contents.digest, self.contents.change)
        parts: list[Part | None] = [self._known(self._key(group)) for group in groups]
        wanted = [i for i, part in enumerate(parts) if part is None]
        noted: dict[str, Facts] = {}
        while True:
            self._fill(groups, parts, wanted)
            there = [part for part in parts if part is not None]
            calls = dict(called_from_elsewhere(there))
            known = {path: self._known(self._called_key(path, called)) for path, called in calls.items()}
            told = {path for path, unit in known.items() if unit is not None and unit.files}
            asked = {path: calls[path] for path, unit in known.items() if unit is None}
            homes = {id(called[0]) for called in asked.values()}
            units = [(i, part) for i, part in enumerate(there) if isinstance(part, Unit)]
            wanted = [i for i, unit in units if id(unit) in homes or self._hidden(unit, told)]
            if not wanted:
                noted = self._noted([unit for _, unit in units], asked)
                lacking = {unit.name for called in asked.values() for unit in called} - noted.keys()
                wanted = [i for i, unit in units if unit.name in lacking]
            if not wanted:
                break
        # Those of which the ledger does not know what others add: what these noted, and all facts of their own group.
        added = self.with_calls_from_elsewhere(
            {
                path: [part if isinstance(part, Facts) else noted[part.name] for part in called]
                for path, called in asked.items()
            }
        )
        return [*there, *(known[path] or added[path] for path in calls)]

    def _known(self, key: Sequence[str]) -> Unit | None:
        """What the ledger has under the key of an entry, if that holds."""
        return self.ledger.unit(self.cache.name(key)) if self.cache is not None and key else None

    def _noted(self, units: Iterable[Unit], asked: Mapping[str, Sequence[Part]]) -> dict[str, Facts]:
        """By name, what units noted in these files, as it was kept, in the lines of now; of those of which all is."""
        found: dict[str, Facts] = {}
        of: dict[str, list[str]] = {}
        for path, called in asked.items():
            for part in called:
                of.setdefault(part.name, []).append(path)
        for unit in units:
            if unit.name in of and self.cache is not None:
                facts = self.cache.noted(unit.name, of[unit.name], self.contents.digest, self.contents.change)
                if facts is not None:
                    facts.name, facts.marks = unit.name, unit.noted
                    found[unit.name] = facts
        return found

    def _hidden(self, unit: Unit, told: Collection[str]) -> bool:
        """Whether its findings of a file, which the ledger has not, are those to tell."""
        return any(path not in told and self.ledger.owner(path) != unit.name for path in unit.files)

    def _fill(self, groups: Sequence[Sequence[str]], parts: list[Part | None], wanted: Iterable[int]) -> None:
        """Put the facts of groups among the parts, as they were kept or made anew."""
        kept = {i: self._kept(self._key(groups[i])) for i in wanted}
        missing = [i for i, facts in kept.items() if facts is None]
        for i, facts in zip(
            missing, self.parallel.groups([groups[i] for i in missing]) if missing else (), strict=True
        ):
            self.keep(groups[i], facts)  # as it comes: who ends a long run shall find that again
            kept[i] = facts
        for i in wanted:
            parts[i] = kept[i]

    def looked_at(self, parts: Iterable[Part]) -> list[str]:
        """All places where a module was sought, or what calls one, and what says what fixes follow."""
        found = {path for part in parts if isinstance(part, Facts) for path in part.looked_at}
        found.update(path for own in self._habits.values() for path in own.files)
        return sorted(found.union(self.ledger.sought(), self.analysis.callers.looked_at))

    def seen(self, looked_at: Iterable[str]) -> dict[str, str | None]:
        """The digests of these and of the linted files, where there are many and what was found is kept."""
        if self.cache is None or not self.analysis.in_groups:
            return {}
        return {
            path: self.contents.digest(path) for path in (*self.files, *looked_at) if path not in self.texts
        }

    def keep_ledger(self, parts: Sequence[Part]) -> None:
        """Keep what was found for the next run, unless that would find the same by what is kept already."""
        assert self.cache is not None
        found = {path: part.name for part in parts for path in part.files if part.name}
        facts: dict[str, Facts] = {}
        units: list[Unit] = []
        for part in parts:
            known = self.ledger.unit(part.name)  # of facts that were read again it has as much
            if known is not None and not any(
                found[path] == part.name != self.ledger.owner(path) for path in part.files
            ):
                units.append(known)
            elif isinstance(part, Facts) and part.name:
                facts[part.name] = part
        self.cache.use(unit.name for unit in units)
        if not (self.analysis.in_groups and self.cache.folder) or (
            self.ledger.units
            and len(facts) <= self.cache.few_units
            and len(self.ledger.moves.changes) <= self.cache.few_changes
        ):
            return
        if any(
            self.contents.digest(path) != seen for each in facts.values() for path, seen in each.read.items()
        ):
            return  # it changed meanwhile
        with contextlib.suppress(Lost):
            self.cache.keep_ledger(
                [self._salt, place_of(self.files)],
                self.ledger.after(units, facts, found, self.contents.digest, self.contents.stamp),
            )

    # The cache

    def _kept(self, key: Sequence[str]) -> Facts | None:
        if self.cache is None or not key:
            return None
        return self.cache.get(key, self.contents.digest, self.contents.change)

    def keep(self, group: Sequence[str], facts: Facts, key: Sequence[str] | None = None) -> None:
        cache = self.cache
        if cache is None or not facts.complete:
            return
        if cache.keeps_buffers or not any(path in self.texts for path in group):
            cache.put(key or self._key(group), facts)
            for path, seen in facts.read.items():
                if seen is not None:
                    cache.keep_text(seen, partial(self.contents.content, path, seen))

    def _called_key(self, path: str, called: Sequence[Part]) -> list[str]:
        """The key of what is found in a file with the notes of these together; empty where it cannot be kept."""
        if self.cache is None or not all(part.name for part in called):
            return []
        return [*self._key([path]), "called from", *(part.mark(path) for part in called)]

    def with_calls_from_elsewhere(self, asked: Mapping[str, Sequence[Facts]]) -> dict[str, Facts]:
        """What is found in each file once what other groups know of it is taken together with what its own does, the
        first; nothing where they add nothing."""
        kept = {path: self._kept(self._called_key(path, called)) for path, called in asked.items()}
        found = {path: facts for path, facts in kept.items() if facts is not None}

        def analyse(path: str) -> Facts:
            facts = self.analysis.facts_with_calls(path, asked[path])
            if key := self._called_key(path, asked[path]):
                self.keep([path], facts, key)
            return facts

        found.update(self.parallel.files(analyse, [path for path in asked if path not in found]))
        return found

    @cached_property
    def _salt(self) -> str:
        """What all that is found here depends on, beside files; part of hundreds of keys."""
        from pt2lint import __version__
        from pt2lint.static.cache import digest

        assert self.cache is not None
        analysis = self.analysis
        folders_read = [*getattr(self.settings, "rule_paths", ()), *getattr(self.settings, "models", ())]
        own = self.cache.own_contents(folders_read)
        folders: dict[str, tuple[list[str], str]] = {}
        names = [module_name(path, folders) for path in self.files]
        roots = dict.fromkeys(root for _, root, _ in names)
        tops = sorted({name.partition(".")[0] for name, _, _ in names})
        return digest(
            __version__,
            own,
            sys.version,
            f"{analysis.target} {analysis.roots} {analysis.root_names} {analysis.unsure}",
            digest(*roots, "", *tops),  # these tell of each file what it is called
            digest(*self.analysis.callers.paths),
        )

    def _key(self, group: Sequence[str]) -> list[str]:
        """The key of what is found in a group; empty where nothing is kept."""
        if self.cache is None:
            return []
        # What fixes follow, and no file that is read tells.
        found = dict.fromkeys(habits(path, self._habits) for path in group)
        return [self._salt, *(f"{one.line_length} {one.oldest_torch}" for one in found), *group]
