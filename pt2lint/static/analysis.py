"""What one process finds out about a group of files: it interprets them, then lets each rule read the functions that
hold an operation it listens to. It knows no rule by name, and nothing that is kept of earlier runs."""

from __future__ import annotations

import contextlib
import gc
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING, Any

from pt2lint.finding import Finding, Problem, Stopped
from pt2lint.late import load_libcst_late
from pt2lint.op import Range
from pt2lint.project.suppress import may_be_ours
from pt2lint.static.apply_rules import Place, error_in, findings_in, listeners, to_read
from pt2lint.static.contents import Contents
from pt2lint.static.facts import (
    Facts,
    Kinds,
    Late,
    Notes,
    all_kinds,
    all_notes,
    kinds_of_text,
    kinds_to_text,
    marked,
)
from pt2lint.static.moved import told_of
from pt2lint.static.source.modules import Module
from pt2lint.static.source.named import inside
from pt2lint.static.source.nodes import Unit as Lines
from pt2lint.static.source.project import Project
from pt2lint.static.source.reads import FILES
from pt2lint.static.target import target_torch

if TYPE_CHECKING:
    from pt2lint.libraries.model import Models
    from pt2lint.rule import Rule
    from pt2lint.static.cache import Cache
    from pt2lint.static.source.callers import Callers


class Analysis:
    """Files to facts, as the settings say. `problems` is told what is wrong with rules and models; once `stop` says so,
    Stopped is raised; `unsure`: what has low confidence is looked for, too."""

    def __init__(
        self,
        files: Sequence[str],
        settings: Any,
        texts: Mapping[str, str],
        contents: Contents,
        problems: list[Problem],
        cache: Cache | None = None,
        stop: Callable[[], bool] | None = None,
        unsure: bool = False,
    ) -> None:
        self.files, self.settings, self.texts, self.contents = files, settings, texts, contents
        self.problems, self.cache, self.stop, self.unsure = problems, cache, stop, unsure
        self.in_groups = False  # each group notes what the others need of it
        self.parsed: Project | None = None  # what need not be parsed here

    @cached_property
    def rules(self) -> list[type[Rule]]:
        load_libcst_late()  # once one of them has something to read
        from pt2lint.rule.loader import load_rules

        return load_rules(getattr(self.settings, "rule_paths", ()), self.problems)

    @cached_property
    def _listening(self) -> list[tuple[str, list[str], bool]]:
        """Of each rule its module, the operations that it listens to, and whether it hears of them anywhere."""

        def made() -> list[Any]:
            return [(rule.__module__, rule.ops, rule.anywhere) for rule in self.rules]

        def to_keep() -> list[Any]:
            found = made()
            return [] if self.problems else found  # each run is to tell of a rule that does not load

        of_the_user = getattr(self.settings, "rule_paths", ())
        if self.cache is None or "rules" in vars(self) or of_the_user:
            return made()
        return self.cache.of_rules("listening", (), to_keep) or made()

    def _rules_for(self, notes: Mapping[str, Notes]) -> list[type[Rule]]:
        """The rules that listen to what is noted; all, where they are loaded. To load all takes a tenth of a run."""
        if "rules" in vars(self):
            return self.rules
        load_libcst_late()
        from pt2lint.rule.loader import rules_in

        noted = {op.name for units in notes.values() for ops in units.values() for op in ops}
        return rules_in(module for module, ops, _ in self._listening if not noted.isdisjoint(ops))

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

    @cached_property
    def callers(self) -> Callers:
        from pt2lint.static.source.callers import callers

        return callers(self.files)

    @cached_property
    def _places(self) -> Project:
        """Where modules are imported from, for projects of the same files."""
        return Project(self.texts, self.files)

    def start(self, in_memory: bool = False) -> None:
        """What is parsed from here on, the groups to come find parsed; `in_memory`: what the cache holds there, too."""
        self.parsed = Project(self.texts, self.files)
        if in_memory and self.cache is not None:
            if self.cache.trees is not None:
                self.parsed.parse = self.cache.trees.parse
            if self.cache.parsed is not None:
                self.parsed.take_over(*self.cache.parsed)

    def keep_parsed(self, made: Sequence[Facts]) -> None:
        """The cache holds in memory what these read beyond their own files."""
        if self.cache is not None and self.parsed is not None:
            self.cache.keep_parsed(self.parsed, {path for facts in made for path in facts.parsed})

    def _go_on(self, *_: object) -> None:
        """Raises Stopped where nobody waits for the answer."""
        if self.stop is not None and self.stop():
            raise Stopped

    def facts(self, group: Sequence[str]) -> Facts:
        """What there is to know of these files, each parsed and interpreted as far as the others ask."""
        # What is made here lives until the end, and looking for garbage among it takes a third of the time.
        collects = gc.isenabled()
        gc.disable()
        try:
            return self._facts(group)
        finally:
            if collects:
                gc.enable()

    def _facts(self, group: Sequence[str]) -> Facts:
        from pt2lint.static.interpret import Interpreter
        from pt2lint.static.interpreter.kinds import kinds_of

        traced = frozenset(op for _, ops, _ in self._listening for op in ops)
        anywhere = frozenset(op for _, ops, anywhere in self._listening if anywhere for op in ops)
        project = Project(self.texts, self.files, self.parsed, self.callers.paths)
        interpreter = Interpreter(project, traced, anywhere, self.models)
        if self.stop is not None:
            events = interpreter.at.events
            events.entered = (*events.entered, self._go_on)
        facts = Facts()
        modules = [m for m in (_load(project, path, facts.problems) for path in group) if m is not None]
        # A comment may silence what is of low confidence: it would seem idle where nobody looked for that.
        runs = [
            partial(interpreter.run, m, self.roots, self.root_names, self.unsure or may_be_ours(m.says))
            for m in modules
        ]
        # Who names roots has said what is compiled.
        offering = modules if self.roots == "modules" and not self.root_names else []
        runs += [partial(interpreter.uncalled.run, m) for m in offering]
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
        self._find(modules, facts, facts.notes, kinds)
        if self.in_groups:
            facts.kinds = self._kinds(project, facts.notes, kinds)
            if self.cache is not None:  # what is kept goes by them
                facts.marks = marked(facts.notes, facts.kinds, project.place_of)
        facts.parsed = sorted(project.parsed().difference(group))
        facts.read, facts.looked_at, facts.reads_ = (
            {**project.read(), FILES: self.contents.digest(FILES)},
            sorted(project.looked_at),
            project.reads.copy(),
        )
        return facts

    def _find(
        self,
        modules: Sequence[Module],
        facts: Facts,
        notes: Mapping[str, Notes],
        kinds: Callable[[Module, Lines], Mapping[Range, str]],
    ) -> None:
        """What the rules say of these files, with what Dynamo leaves to Python known for those who ask for that."""
        heard = self._rules_for(notes)
        from pt2lint.rule.written import Shelf

        left: set[Place] = set()
        cut: dict[Place, int] = {}
        ends: dict[Place, list[Finding]] = {}
        # What the first rules had parsed, the late ones find.
        shelf = (self.cache.shelf if self.cache is not None else None) or Shelf()
        for late in (False, True):
            rules = [rule for rule in heard if rule.asks_what_is_left is late]
            for module in modules:
                self._go_on()
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
                        self._go_on,
                        shelf,
                    )
                )

    def _kinds(
        self,
        project: Project,
        notes: Mapping[str, Notes],
        kinds: Callable[[Module, Lines], Mapping[Range, str]],
    ) -> Mapping[str, Kinds]:
        """The kinds in the functions in which something may be found, of these notes or those of other groups, by
        rules that ask for kinds."""
        texts: dict[str, str] = {}
        listening = listeners(tuple(rule for rule in self.rules if rule.asks_kinds))
        for path, units in notes.items():
            module = project.load(path, whole=False)
            found: Kinds = {}
            for lines, ops in units.items():
                self._go_on()
                if any(to_read(listening, ops, module, [])):
                    with contextlib.suppress(Exception):  # too deep: fixes are made from the text alone
                        if known := kinds(module, lines):
                            found[lines] = known
            if found:
                texts[path] = kinds_to_text(found)
        return Late(texts, kinds_of_text)

    def facts_with_calls(self, path: str, called: Sequence[Facts]) -> Facts:
        """What is found in a file once what other groups know of it is taken together with what its own does, the
        first; nothing where they add nothing."""
        facts = Facts()
        home = called[0]
        own, own_kinds = home.notes.get(path, {}), home.kinds.get(path, {})
        added, kinds = all_notes(path, home, called[1:]), all_kinds(path, called)
        if added is not None or kinds != own_kinds:
            notes = own if added is None else added
            project = Project(self.texts, self.files, self._places, self.callers.paths)
            module = project.load(path)
            changed = {
                unit: ops
                for unit, ops in notes.items()
                if ops != own.get(unit) or kinds.get(unit, {}) != own_kinds.get(unit, {})
            }
            late = listeners(tuple(rule for rule in self.rules if rule.asks_what_is_left))
            if any(True for ops in notes.values() for _ in to_read(late, ops, module, [])):
                changed = notes  # what is left to Python in one function counts in the others
            self._find([module], facts, {path: changed}, lambda _, unit: kinds.get(unit, {}))
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
        return facts


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
