"""The static pass: files in, findings out. It interprets, then lets each rule read the functions that hold an
operation it listens to. It knows no rule by name."""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial, reduce
from typing import TYPE_CHECKING, Any
from zlib import crc32

from pt2lint.finding import Finding, Problem, Stopped
from pt2lint.late import load_libcst_late
from pt2lint.op import Range
from pt2lint.project import entries
from pt2lint.project.entries import place_of
from pt2lint.project.habits import Habits, habits
from pt2lint.project.suppress import may_be_ours
from pt2lint.room import with_room
from pt2lint.static import workers
from pt2lint.static.apply_rules import Place, error_in, findings_in, listeners, to_read
from pt2lint.static.contents import Contents
from pt2lint.static.facts import (
    Facts,
    Kinds,
    Late,
    Notes,
    all_kinds,
    all_notes,
    called_from_elsewhere,
    from_plain,
    joined,
    kinds_of_text,
    kinds_to_text,
    marked,
    to_plain,
)
from pt2lint.static.ledger import Ledger, Unit
from pt2lint.static.moved import Lost, told_of, with_lines_plain
from pt2lint.static.source.modules import Module
from pt2lint.static.source.named import inside, unknown
from pt2lint.static.source.nodes import Unit as Lines
from pt2lint.static.source.project import Project, module_name
from pt2lint.static.source.reads import FILES
from pt2lint.static.target import target_torch

if TYPE_CHECKING:
    from pt2lint.libraries.model import Models
    from pt2lint.rule import Rule
    from pt2lint.static.cache import Cache
    from pt2lint.static.source.callers import Callers

Part = Facts | Unit


# About 2,000 lines, counting each file as twice as long as the next power of two below: what is interpreted with one
# memory of what is known, and anew once something that was read changes.
GROUP = 100_000
SHARE = (
    10  # groups that one process takes, if there are enough: what one of them has parsed, the others need not
)
FEW = 6  # groups that are one: who lints a program shall hear of each file what all others know
TOGETHER = 16  # files whose findings a process looks at once more, with what other groups know of them


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
        _ = run.rules, run.models  # what is wrong with them is told whatever is kept of the files
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
    run.problems += unknown(run.root_names, files, run.contents.text)
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


def load_rules(rule_paths: Sequence[str] = (), problems: list[Problem] | None = None) -> list[type[Rule]]:
    """Every rule that can be used (pt2lint/rule/loader.py); LibCST is loaded once one of them has something to read."""
    load_libcst_late()
    from pt2lint.rule import loader

    return loader.load_rules(rule_paths, problems)


class _Run:
    """One call of `lint`: the files, the settings, and the rules once they are needed."""

    def __init__(
        self,
        files: Sequence[str],
        settings: Any,
        texts: Mapping[str, str],
        stop: Callable[[], bool] | None = None,
        cache: Cache | None = None,
        unsure: bool = False,
    ) -> None:
        self.files, self.settings, self.texts, self.stop, self.cache = files, settings, texts, stop, cache
        self.contents = Contents(files, texts, cache)
        self._unsure = unsure
        self.ledger = Ledger()
        self._many = False  # groups, so that a ledger pays
        self.problems: list[Problem] = []
        self._habits: dict[str, Habits] = {}
        self._parsed: Project | None = None  # for child processes: what they need not parse
        self._read: dict[str, set[Any]] = {}  # what some of them read of a file (Facts.functions_read)
        self._room = 8_000_000  # bytes of text; bound, it takes ten times as much, and children share it

    @cached_property
    def rules(self) -> list[type[Rule]]:
        return load_rules(getattr(self.settings, "rule_paths", ()), self.problems)

    @cached_property
    def models(self) -> Models:
        from pt2lint.libraries import load

        return load(getattr(self.settings, "models", ()), self.problems)

    @cached_property
    def target(self) -> tuple[int, int]:
        return target_torch(self.settings)

    @property
    def roots(self) -> str:
        return getattr(self.settings, "roots", "modules")

    @property
    def root_names(self) -> tuple[str, ...]:
        return tuple(getattr(self.settings, "root_names", ()))

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
        self._many = len(groups) > 1
        if self.cache is not None and self._many:
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
            missing, self.analyse([groups[i] for i in missing]) if missing else (), strict=True
        ):
            self.keep(groups[i], facts)  # as it comes: who ends a long run shall find that again
            kept[i] = facts
        for i in wanted:
            parts[i] = kept[i]

    def looked_at(self, parts: Iterable[Part]) -> list[str]:
        """All places where a module was sought, or what calls one, and what says what fixes follow."""
        found = {path for part in parts if isinstance(part, Facts) for path in part.looked_at}
        found.update(path for own in self._habits.values() for path in own.files)
        return sorted(found.union(self.ledger.sought(), self._callers.looked_at))

    def seen(self, looked_at: Iterable[str]) -> dict[str, str | None]:
        """The digests of these and of the linted files, where there are many and what was found is kept."""
        if self.cache is None or not self._many:
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
        if not (self._many and self.cache.folder) or (
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
        if self.cache is None:
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
        found: dict[str, Facts] = {}
        for path, called in asked.items():
            key = self._called_key(path, called)
            known = (
                self.cache.get(key, self.contents.digest, self.contents.change)
                if self.cache is not None and key
                else None
            )
            if known is not None:
                found[path] = known
        missing = [path for path in asked if path not in found]
        shares = [missing[at : at + TOGETHER] for at in range(0, len(missing), TOGETHER)]
        if len(shares) < 2 or not workers.can_fork():
            for share in shares:
                gc.collect(0)  # trees refer to their parents, and the command line collects nothing by itself
                found.update((path, self._with_calls(path, asked[path])) for path in share)
            return found
        self._load_all()

        def packed(share: Sequence[str]) -> list[tuple[str, str]]:
            made = [self._with_calls(path, asked[path]) for path in share]
            return [(facts.name, json.dumps(to_plain(facts))) for facts in made]

        for share, sent in zip(shares, workers.spread(packed, shares), strict=True):
            for path, (name, text) in zip(share, sent or (), strict=False):
                found[path] = from_plain(json.loads(text))
                found[path].name = name
        return found | {path: Facts(complete=False) for path in missing if path not in found}  # it died of it

    def _with_calls(self, path: str, called: Sequence[Facts]) -> Facts:
        facts = Facts()
        home = called[0]
        own, own_kinds = home.notes.get(path, {}), home.kinds.get(path, {})
        added, kinds = all_notes(path, home, called[1:]), all_kinds(path, called)
        if added is not None or kinds != own_kinds:
            notes = own if added is None else added
            project = Project(self.texts, self.files, self._places, self._callers.paths)
            module = project.load(path)
            changed = {
                unit: ops
                for unit, ops in notes.items()
                if ops != own.get(unit) or kinds.get(unit, {}) != own_kinds.get(unit, {})
            }
            late = listeners(rule for rule in self.rules if rule.asks_what_is_left)
            if any(True for ops in notes.values() for _ in to_read(late, ops, module, [])):
                changed = notes  # what is left to Python in one function counts in the others
            self.find([module], facts, {path: changed}, lambda _, unit: kinds.get(unit, {}))
            facts.reads_ = project.reads.copy()
            self._places.forget()
            stay = [
                finding
                for finding in home.findings[path]
                if not any(first <= finding.line <= last for first, last in changed)
            ]
            if stay:
                facts.findings[path] += stay
                facts.reads_ = facts.reads_.with_those_of(home.reads.of(path))
            told = {each for finding in facts.findings[path] for each in told_of(finding)}
            facts.read = {each: self.contents.digest(each) for each in (path, *told)}
        if key := self._called_key(path, called):
            self.keep([path], facts, key)
        return facts

    @cached_property
    def _salt(self) -> str:
        """What all that is found here depends on, beside files; part of hundreds of keys."""
        from pt2lint import __version__
        from pt2lint.static.cache import digest, own_contents

        own = own_contents([*getattr(self.settings, "rule_paths", ()), *getattr(self.settings, "models", ())])
        folders: dict[str, tuple[list[str], str]] = {}
        names = [module_name(path, folders) for path in self.files]
        roots = dict.fromkeys(root for _, root, _ in names)
        tops = sorted({name.partition(".")[0] for name, _, _ in names})
        return digest(
            __version__,
            own,
            sys.version,
            f"{self.target} {self.roots} {self.root_names} {self._unsure}",
            digest(*roots, "", *tops),  # these tell of each file what it is called
            digest(*self._callers.paths),
        )

    @cached_property
    def _callers(self) -> Callers:
        from pt2lint.static.source.callers import callers

        return callers(self.files)

    def _key(self, group: Sequence[str]) -> list[str]:
        """The key of what is found in a group; empty where nothing is kept."""
        if self.cache is None:
            return []
        # What fixes follow, and no file that is read tells.
        found = dict.fromkeys(habits(path, self._habits) for path in group)
        return [self._salt, *(f"{one.line_length} {one.oldest_torch}" for one in found), *group]

    @cached_property
    def _places(self) -> Project:
        """Where modules are imported from, for projects of the same files."""
        return Project(self.texts, self.files)

    # The work

    def analyse(self, groups: Sequence[Sequence[str]]) -> Iterator[Facts]:
        """The facts of each group, from child processes where that is worth it."""
        _ = self.rules, self.target, self.models  # once, before there are children
        small = len(groups) == 1 and len(groups[0]) < 8  # not worth a process
        size = min(SHARE, -(-len(groups) // workers.children()))
        first = (
            min(workers.children(), len(groups)) if size > 1 else 0
        )  # what these parse, the others find parsed
        shares = [groups[at : at + 1] for at in range(first)]
        shares += [groups[at : at + size] for at in range(first, len(groups), size)]
        if small or not workers.can_fork():
            for i, share in enumerate(shares):
                if i:
                    gc.collect()  # what the groups before left
                self._parsed = Project(self.texts, self.files)
                if self.cache is not None and self.cache.trees is not None:
                    self._parsed.parse = self.cache.trees.parse
                if self.cache is not None and self.cache.parsed is not None:
                    self._parsed.take_over(*self.cache.parsed)
                made = self.analyse_groups(share)
                if self.cache is not None:
                    self.cache.keep_parsed(self._parsed, {path for facts in made for path in facts.parsed})
                yield from made
            return
        self._load_all()
        self._parsed = Project(self.texts, self.files)
        for share, sent in zip(shares, workers.spread(self._packed_groups, shares), strict=True):
            if sent is not None:
                made = [from_plain(json.loads(each)) for each in sent]
                self._parse_what_others_read(made)
                yield from made
                continue
            # A file that kills its reader shall not cost the others' findings.
            for group in share:
                alone = workers.spread(self.analyse_group, [[path] for path in group])
                yield reduce(joined, map(_died_or, group, alone))

    def go_on(self, *_: object) -> None:
        """Raises Stopped where nobody waits for the answer."""
        if self.stop is not None and self.stop():
            raise Stopped

    def _load_all(self) -> None:
        """Once, before there are children, each of which would: the interpreter, and what makes fixes."""
        repairs = {name for rule in self.rules for name in getattr(rule, "repairs", ())}
        # The first of them load LibCST.
        fixing = ("rule.positions", "fixes.replace", *(f"fixes.repairs.{repair}" for repair in repairs))
        for name in ("static.interpret", "static.interpreter.kinds", *fixing):
            with contextlib.suppress(Exception):  # told of where it is needed
                importlib.import_module(f"pt2lint.{name}")

    def _parse_what_others_read(self, share: Sequence[Facts]) -> None:
        """What a process has parsed beyond its own files, the children still to come may read too: they find it
        parsed, and share the memory that it takes. Of each file, the functions that were read."""
        assert self._parsed is not None
        parsed = {path for facts in share for path in facts.parsed}
        for path in sorted(parsed - self._parsed.parsed()):
            if self._room > 0:
                with contextlib.suppress(OSError, SyntaxError, ValueError, RecursionError, MemoryError):
                    self._room -= len(self._parsed.load(path, whole=False).text)
        there = self._parsed.parsed()
        for facts in share:
            for path, lines, asked in facts.functions_read():
                read = self._read.setdefault(path, set())
                if path in there and not read.issuperset(lines | asked):
                    with contextlib.suppress(OSError, SyntaxError, ValueError, RecursionError, MemoryError):
                        self._parsed.load(path, whole=False).parse_ahead(lines - read, asked - read)
                    read |= lines | asked

    def analyse_groups(self, groups: Sequence[Sequence[str]]) -> list[Facts]:
        return [self.analyse_group(group) for group in groups]

    def _packed_groups(self, groups: Sequence[Sequence[str]]) -> list[str]:
        """The same as texts: who puts hundreds of them together needs little of each."""
        return [json.dumps(to_plain(self.analyse_group(group))) for group in groups]

    def analyse_group(self, group: Sequence[str]) -> Facts:
        # What is made here lives until the end, and looking for garbage among it takes a third of the time.
        collects = gc.isenabled()
        gc.disable()
        try:
            return self._analyse_group(group)
        finally:
            if collects:
                gc.enable()

    def _analyse_group(self, group: Sequence[str]) -> Facts:
        from pt2lint.static.interpret import Interpreter
        from pt2lint.static.interpreter.kinds import kinds_of

        traced = frozenset(op for rule in self.rules for op in rule.ops)
        anywhere = frozenset(op for rule in self.rules if rule.anywhere for op in rule.ops)
        project = Project(self.texts, self.files, self._parsed, self._callers.paths)
        interpreter = Interpreter(project, traced, anywhere, self.models)
        if self.stop is not None:
            events = interpreter.at.events
            events.entered = (*events.entered, self.go_on)
        facts = Facts()
        modules = [m for m in (_load(project, path, facts.problems) for path in group) if m is not None]
        # A comment may silence what is of low confidence: it would seem idle where nobody looked for that.
        runs = [
            partial(interpreter.run, m, self.roots, self.root_names, self._unsure or may_be_ours(m.says))
            for m in modules
        ]
        # Who names roots has said what is compiled.
        offering = modules if self.roots == "modules" and not self.root_names else []
        runs += [partial(interpreter.run_uncalled, m) for m in offering]
        for module, run in zip([*modules, *offering], runs, strict=True):
            named = any(inside(name, module.name, module.path) for name in self.root_names)
            if not named and not module.says("torch"):
                if run.func != interpreter.run:
                    continue
                run = partial(interpreter.run_beside, module)
            try:
                run()
            except RecursionError:
                told = "nested too deeply to follow; some findings may be missing"
                facts.problems.append(Problem(module.path, told))
            except Exception as e:  # an error of ours: the other files are still linted
                told = f"pt2lint failed to follow this file ({error_in(e)})"
                facts.problems.append(Problem(module.path, told))
        facts.notes = interpreter.finished_notes()
        kinds = lru_cache(maxsize=None)(partial(kinds_of, interpreter.at))
        self.find(modules, facts, facts.notes, kinds)
        if self._many:
            facts.kinds = self.kinds(project, facts.notes, kinds)
            if self.cache is not None:  # what is kept goes by them
                facts.marks = marked(facts.notes, facts.kinds, project.place_of)
        facts.parsed = sorted(project.parsed().difference(group))
        facts.read, facts.looked_at, facts.reads_ = (
            {**project.read(), FILES: self.contents.digest(FILES)},
            sorted(project.looked_at),
            project.reads.copy(),
        )
        return facts

    def find(
        self,
        modules: Sequence[Module],
        facts: Facts,
        notes: Mapping[str, Notes],
        kinds: Callable[[Module, Lines], Mapping[Range, str]],
    ) -> None:
        """What the rules say of these files, with what Dynamo leaves to Python known for those who ask for that."""
        from pt2lint.rule.written import Shelf

        left: set[Place] = set()
        cut: dict[Place, int] = {}
        ends: dict[Place, list[Finding]] = {}
        # What the first rules had parsed, the late ones find.
        shelf = (self.cache.shelf if self.cache is not None else None) or Shelf()
        for late in (False, True):
            rules = [rule for rule in self.rules if rule.asks_what_is_left is late]
            for module in modules:
                self.go_on()
                facts.findings.setdefault(module.path, []).extend(
                    findings_in(
                        module,
                        notes,
                        rules,
                        self.target,
                        facts.problems,
                        left,
                        cut,
                        ends,
                        partial(kinds, module),
                        self.go_on,
                        shelf,
                    )
                )

    def kinds(
        self,
        project: Project,
        notes: Mapping[str, Notes],
        kinds: Callable[[Module, Lines], Mapping[Range, str]],
    ) -> Mapping[str, Kinds]:
        """The kinds in the functions in which something may be found, of these notes or those of other groups, by
        rules that ask for kinds."""
        texts: dict[str, str] = {}
        listening = listeners(rule for rule in self.rules if rule.asks_kinds)
        for path, units in notes.items():
            module = project.load(path, whole=False)
            found: Kinds = {}
            for lines, ops in units.items():
                self.go_on()
                if any(to_read(listening, ops, module, [])):
                    with contextlib.suppress(Exception):  # too deep: fixes are made from the text alone
                        if known := kinds(module, lines):
                            found[lines] = known
            if found:
                texts[path] = kinds_to_text(found)
        return Late(texts, kinds_of_text)


def _died_or(path: str, facts: Facts | None) -> Facts:
    """What a process of its own found out about a file, which may have killed it."""
    told = "could not be followed: the process that read it died; exclude it"
    return Facts(problems=[Problem(path, told)], complete=False) if facts is None else facts


def _load(project: Project, path: str, problems: list[Problem]) -> Module | None:
    try:
        return project.load(path)
    except SyntaxError as e:
        problems.append(Problem(path, _unparsed(lambda: project.text(path), e), e.lineno))
    except UnicodeDecodeError as e:
        problems.append(
            Problem(path, f"is not valid {e.encoding}: declare its encoding in the first line, or exclude it")
        )
    except OSError as e:
        problems.append(Problem(path, f"cannot be read: {e.strerror or e}"))
    except ValueError as e:
        problems.append(Problem(path, f"is not Python source ({e}); exclude it"))
    except (RecursionError, MemoryError):
        problems.append(Problem(path, "is nested too deeply to read; exclude it"))
    return None


def _unparsed(text: Callable[[], str], error: SyntaxError) -> str:
    """What to say of a text that this Python does not parse, or another one might."""
    from pt2lint.static.source.newer import newer_python

    with contextlib.suppress(OSError, ValueError, SyntaxError):
        needed = newer_python(text())
        if needed is not None and needed > sys.version_info[:2]:
            return (
                f"is written for Python {needed[0]}.{needed[1]}, which this one, {sys.version.split()[0]}, does not "
                "read: run pt2lint with that Python or a later one, or exclude the file"
            )
    return f"does not parse: {error.msg}; fix it, or exclude the file"
