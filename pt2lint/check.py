"""From paths to findings: discover, lint, verify where asked, and leave out what is switched off or
silenced."""

from __future__ import annotations

import ast
import contextlib
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache as cached
from functools import partial
from typing import TYPE_CHECKING

from pt2lint.finding import Finding, Problem, RulePage, Severity
from pt2lint.project import elsewhere, entries, suppress
from pt2lint.project.across import (
    with_alike_told_once,
    with_causes_told_once,
    with_pasted_told_once,
    without_copies,
)
from pt2lint.project.config import Configs, Settings
from pt2lint.project.defect import defect, over_files
from pt2lint.project.discover import Discovery
from pt2lint.project.gather import gathered
from pt2lint.project.known import Known, Sources
from pt2lint.project.notebook import Notebook, read_notebook
from pt2lint.project.pages import UNUSED, VERIFY_PAGES

if TYPE_CHECKING:
    from pt2lint.dynamic import VerifyResult
    from pt2lint.dynamic.events import Run
    from pt2lint.project.entries import Stamp
    from pt2lint.report.models import Model
    from pt2lint.report.place import Place
    from pt2lint.static.cache import Cache, Scratch

# What gives verdicts: findings and the paths that exist in, the dynamic pass's result out.
# Given the findings, the paths, and the files under these that were linted.
Judge = Callable[[Sequence[Finding], Sequence[str], Sequence[str]], "VerifyResult"]


@dataclass
class Checked:
    """What came out: sorted findings, those that a comment silenced, and what could not be done.

    `texts` holds what was read in place of a file (a notebook's code, standard input), `sources` the text of
    each file that a finding names; `runs` are what the probes of `judge` saw, `after` what they saw with the proven
    fixes, `times` seconds of calls by target, `judged` all that they say of findings, shown or not, `models` a line for
    each that was run, where it is known already.
    """

    files: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    suppressed: list[Finding] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    sources: MutableMapping[str, str] = field(default_factory=dict)
    notebooks: dict[str, Notebook] = field(default_factory=dict)
    pages: dict[str, RulePage] = field(default_factory=dict)
    watched: list[str] = field(default_factory=list)
    runs: Sequence[Run] = ()
    after: Sequence[Run] = ()
    times: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    judged: Sequence[Finding] = ()
    models: Sequence[Model] = ()
    fail_on: dict[str, Severity] = field(default_factory=dict)  # by file, what the settings say
    digests: dict[str, bytes] = field(default_factory=dict)  # of each file as it was before it was linted
    seen: dict[str, str | None] = field(
        default_factory=dict
    )  # of many files, the digests that the linter saw
    stamps: dict[str, Stamp | None] = field(default_factory=dict)  # of files, from before they were read

    @property
    def cells(self) -> dict[str, Sequence[Place]]:
        return {path: notebook.places for path, notebook in self.notebooks.items()}

    @property
    def status(self) -> int:
        """The exit status: 2 where something could not be done, else 1 where a finding fails the run, else 0."""
        return (
            2
            if self.problems
            else int(any(f.fails(self.fail_on.get(f.path, "warning")) for f in self.findings))
        )


def check(
    paths: Sequence[str],
    configs: Configs,
    *,
    texts: Mapping[str, str] | None = None,
    beside: Mapping[str, str] | None = None,
    force_exclude: bool = False,
    judge: Judge | None = None,
    cache_folder: str | None = None,
    memory: Cache | None = None,
    digests: bool = False,
    among: Iterable[str] = (),
    stop: Callable[[], bool] | None = None,
) -> Checked:
    """Lint the paths, each file with the settings nearest to it, and let `judge` give verdicts.

    Never raises for what is in the files; `texts` stands in place of files, `beside` in place of others that these
    import. What is found out about files is kept in `cache_folder`, if there is one, or in `memory`. `digests` asks
    for those of the files, by which a fix knows later that a file still is what was linted. `among` are further files
    that these belong together with: a setting of the process is made in one of all. Once `stop` says so, work ends
    with Stopped.
    """
    started = time.time_ns()
    cache = memory or _cache(cache_folder)
    given = dict(texts or {})
    discovery = Discovery((path for path in paths if path not in given), configs, force_exclude)
    places = {path: at for at, path in enumerate(paths)}  # what is kept is kept of files in this order
    checked = Checked(
        files=sorted([*given, *discovery.files], key=lambda path: places.get(path, -1)),
        problems=discovery.problems,
        notes=discovery.notes,
        texts=given,
    )
    sources = checked.sources = Sources(partial(_source, checked.texts))
    if digests:
        checked.digests = _digests(discovery.files)
    groups: dict[int, tuple[Settings, list[str]]] = {}
    for path in checked.files:
        settings = configs.of(os.path.dirname(path) or ".")
        if path.endswith(".ipynb") and not _open_notebook(checked, path):
            continue
        groups.setdefault(id(settings), (settings, []))[1].append(path)
    checked.problems = configs.problems + checked.problems
    checked.watched = [*configs.watched, *discovery.watched]
    found: list[Finding] = []
    for settings, files in groups.values():
        unsure = settings.pedantic or judge is not None
        found += _lint(files, settings, checked, cache, beside or {}, stop, unsure)
        _add_pages(settings, checked, cache)
        checked.problems += _unknown_codes(settings, checked.pages)
        checked.problems += _unread_roots(settings, paths, checked.files, "root_names" in configs.overrides)
    if judge is not None:
        found = _judged(found, paths, judge, checked)
    of_file = {path: settings for settings, files in groups.values() for path in files}
    kept = cache.known(checked.files) if cache and checked.seen else {}
    known = Known(checked.sources, checked.seen, kept, _statements_around)
    _add_sources(checked, sources, found, known)
    once = partial(_once, checked, among=among, configs=configs, beside=beside or {})
    found = over_files(once, found, checked.problems)
    _settle(checked, found, of_file, judge is not None, known)
    if cache and checked.seen and known.grown:
        cache.keep_known(checked.files, known.to_keep(lambda path: entries.stood(path, started)))
    return checked


def _open_notebook(checked: Checked, path: str) -> bool:
    try:
        if path not in checked.texts:
            with open(path, encoding="utf-8-sig") as file:
                data = file.read()
        else:
            data = checked.texts[path]
        checked.notebooks[path] = read_notebook(data)
    except OSError as error:
        checked.problems.append(Problem(path, f"cannot be read: {error.strerror or error}"))
    except ValueError as error:  # a UnicodeDecodeError too
        text = "is not UTF-8 text" if isinstance(error, UnicodeDecodeError) else str(error)
        checked.problems.append(Problem(path, text))
    except RecursionError:
        checked.problems.append(Problem(path, "is nested too deeply to read; exclude it"))
    else:
        checked.texts[path] = checked.notebooks[path].text
        return True
    return False


def _lint(
    files: Sequence[str],
    settings: Settings,
    checked: Checked,
    cache: Cache | None,
    beside: Mapping[str, str],
    stop: Callable[[], bool] | None,
    unsure: bool,
) -> list[Finding]:
    """All that the rules find; what shows with low confidence alone too, where that is wanted.

    What is switched off is left out afterwards: it takes all findings to tell whether a comment silences
    anything, and which of Dynamo's breaks were foreseen.
    """
    from pt2lint.static.engine import lint

    everything = replace(settings, select=(), extend_select=(), ignore=(), pedantic=True)
    named = {path: book.line_named for path, book in checked.notebooks.items()}
    try:
        result = lint(files, everything, {**beside, **checked.texts}, cache, stop, unsure, named)
    except Exception as error:  # a defect of ours must not cost the user the findings in the other files
        if len(files) > 1:
            return [
                finding
                for file in files
                for finding in _lint([file], settings, checked, cache, beside, stop, unsure)
            ]
        checked.problems.append(defect(files[0], error))
        return []
    checked.problems += [problem for problem in result.problems if problem not in checked.problems]
    # Whether a folder is a package is part of what a name in it means.
    # What was sought in vain is watched itself.
    seen = result.seen
    there = [p for p in result.looked_at if (seen[p] is not None if p in seen else os.path.exists(p))]
    folders = {os.path.dirname(path) or "." for path in (*files, *there)}
    checked.watched += [*result.looked_at, *folders]
    checked.seen.update(result.seen)
    checked.stamps.update(result.stamps)
    return result.findings


def _cache(folder: str | None) -> Cache | None:
    from pt2lint.static.cache import Cache

    return Cache(folder) if folder else None


def scratch_cache(folder: str, kept: str | None) -> Scratch:
    """A cache for as long as the folder is there, over what is kept in the other one, which it leaves alone."""
    from pt2lint.static.cache import Scratch

    return Scratch(folder, _cache(kept))


def passing_cache() -> Cache:
    """A cache for as long as somebody holds it, in no folder."""
    from pt2lint.static.memory import Memory

    return Memory()


def _add_pages(settings: Settings, checked: Checked, cache: Cache | None) -> None:
    for page in pages(settings, cache):
        checked.pages[page.code] = page


def _unknown_codes(settings: Settings, known: Iterable[str]) -> Iterator[Problem]:
    """A problem for each code in the settings' file that no rule has: it would silently select nothing."""
    places = [("`select`", settings.select), ("`extend-select`", settings.extend_select)]
    places += [("`ignore`", settings.ignore), ("`severity`", tuple(code for code, _ in settings.severity))]
    places += [(f'`per-file-ignores` at "{pattern}"', codes) for pattern, codes in settings.per_file_ignores]
    for place, codes in places:
        for code in codes:
            if not any(name.startswith(code) for name in known):
                told = (
                    f"[tool.pt2lint] {place} names {code}: no rule has this code{nearest_code(code, known)}"
                )
                yield Problem(settings.source or None, told)


def _unread_roots(
    settings: Settings, paths: Iterable[str], files: Sequence[str], from_command_line: bool
) -> Iterator[Problem]:
    """A problem for each name in `roots` that means none of the files, where the whole project was read."""
    folders = [os.path.abspath(path) for path in paths if os.path.isdir(path)] if settings.root_names else []
    root = os.path.abspath(settings.root) + os.sep
    # Of some files only, as pre-commit names them, the module may well be none.
    if not folders or not (from_command_line or any(root.startswith(folder + os.sep) for folder in folders)):
        return
    from pt2lint.static.source.named import inside
    from pt2lint.static.source.project import module_name

    modules = [(module_name(path)[0], path) for path in files]
    for name in settings.root_names:
        if not any(inside(name, module, path) for module, path in modules):
            place = None if from_command_line else settings.source or None
            yield Problem(place, f"`roots` names `{name}`, but no file that was read is that module")


def unread_steps(checked: Checked, *, scripts: bool = False) -> list[str]:
    """Training steps of files, or of the scripts among them, that compile nothing, as `roots` would name them."""
    from pt2lint.static.source import training

    return training.unread_steps(checked.files, partial(_source, checked.texts), scripts=scripts)


def nearest_code(word: str, known: Iterable[str]) -> str:
    """What to say after "no rule has this code"."""
    from difflib import get_close_matches

    digits = word.upper().translate({ord("O"): "0", ord("I"): "1", ord("L"): "1"})
    codes = [*known]
    near = [code for code in codes if code.startswith(digits)] or get_close_matches(
        digits, codes, n=1, cutoff=0.6
    )
    return f"; did you mean {near[0]}?" if near else "; --list-rules prints them all"


def pages(settings: Settings, cache: Cache | None = None) -> list[RulePage]:
    """The page of every code there is, by code; with what was kept of them no rule is loaded again."""

    def made() -> list[RulePage]:
        from pt2lint.rule.loader import rule_pages

        return rule_pages(settings)

    of_rules = made() if cache is None else cache.pages([*settings.rule_paths], made)
    return sorted([*of_rules, *VERIFY_PAGES, UNUSED], key=lambda page: page.code)


def _judged(found: list[Finding], paths: Iterable[str], judge: Judge, checked: Checked) -> list[Finding]:
    outside = [finding for finding in found if finding.path in checked.texts]
    there = [path for path in paths if os.path.exists(path) and path not in checked.texts]
    if outside:
        checked.notes.append("notebooks and standard input are not verified")
    linted = [path for path in checked.files if path not in checked.texts]
    result = judge([finding for finding in found if finding not in outside], there, linted)
    checked.problems += result.problems
    checked.notes += result.notes
    checked.runs, checked.after, checked.times = result.events.runs, result.after, result.times
    checked.judged, checked.models = result.findings, result.models
    return sorted([*result.findings, *outside], key=lambda finding: finding.sort_key)


def _add_sources(checked: Checked, sources: Sources, found: Iterable[Finding], known: Known) -> None:
    """The files that findings name, and those whose suppressions must be looked at even where nothing was found in
    them."""
    named = {finding.path for finding in found} | {step.path for finding in found for step in finding.flow}
    for path in checked.files:
        with contextlib.suppress(OSError):
            if known.may_be_silenced(path, partial(_content, checked.texts, path)):
                named.add(path)
    for path in named:
        sources.add(path, late=known.has(path))


def _content(texts: Mapping[str, str], path: str) -> bytes:
    return texts[path].encode() if path in texts else _read_bytes(path)


def _statements_around(text: str, line: int) -> Sequence[ast.stmt]:
    """The statements of a text around a line, as the linter parses them."""
    from pt2lint.static.change import around

    return around(text, line)


def _source(texts: Mapping[str, str], path: str) -> str | None:
    """What is in a file or stands in its place; None where it cannot be read: the report then has no excerpt."""
    from pt2lint.fixes.edit import read_source

    try:
        return texts[path] if path in texts else read_source(path)[0].removeprefix("\ufeff")
    except (OSError, ValueError):
        return None


def _once(
    checked: Checked,
    found: Sequence[Finding],
    among: Iterable[str],
    configs: Configs,
    beside: Mapping[str, str],
) -> list[Finding]:
    """The findings, with a setting of the process as an edit in one file of a project at most."""
    if not any(fix.is_setting and not fix.by_hand for finding in found for fix in finding.fixes):
        return [*found]
    from pt2lint.fixes.edit import EditError, read_source
    from pt2lint.fixes.once import settings_once

    @cached
    def text_of(path: str) -> str:
        if path in beside:
            return beside[path]
        if path not in checked.sources and path not in checked.texts:
            try:
                return read_source(path)[0]
            except (OSError, EditError):
                return ""
        return checked.texts.get(path) or checked.sources.get(path, "")

    def project_of(path: str) -> object:
        # What a notebook sets holds in the notebook alone.
        return path if path.endswith(".ipynb") else configs.of(os.path.dirname(path) or ".").root

    return settings_once(found, [*dict.fromkeys([*checked.files, *among])], text_of, project_of)


def _digests(paths: Iterable[str]) -> dict[str, bytes]:
    from pt2lint.fixes.edit import digest

    found = {}
    for path in paths:
        try:
            found[path] = digest(_read_bytes(path))
        except OSError:
            continue  # linting says so
    return found


def _read_bytes(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _settle(
    checked: Checked,
    found: Sequence[Finding],
    of_file: Mapping[str, Settings],
    verified: bool,
    known: Known,
) -> None:
    """Leave out what is not wanted, apply the comments, and report those that silence nothing."""
    by_path: dict[str, list[Finding]] = {path: [] for path in checked.sources}

    def done(path: str) -> list[str]:
        with contextlib.suppress(OSError):
            return known.done(path, partial(_content, checked.texts, path))
        return []

    def weighed(some: Sequence[Finding]) -> list[Finding]:
        return elsewhere.weighed(some, checked.files, done)

    for finding in over_files(weighed, found, checked.problems):
        by_path.setdefault(finding.path, []).append(finding)
    broken = {problem.path for problem in checked.problems}
    fallback = next(iter(of_file.values()), None)
    for path, findings in by_path.items():
        settings = of_file.get(path, fallback)
        if settings is None:
            continue
        checked.fail_on[path] = settings.fail_on  # type: ignore[assignment]
        kept, silenced = [finding for finding in findings if _shown(finding, settings)], []
        try:
            marks = known.comments(path)
            kept, silenced = (
                [
                    _weighed(finding, settings)
                    for finding in _assumed(part, settings)
                    if _shown(finding, settings)
                ]
                for part in suppress.split(findings, marks)
            )
            if path in of_file and path not in broken:
                idle = suppress.unused(path, marks, _looked_for(settings, path, checked.pages, verified))
                kept += [finding for finding in idle if _shown(finding, settings)]
            kept = gathered(kept, partial(known.place, path))
        except Exception as error:  # what is found stands, each by itself
            checked.problems.append(defect(path, error))
        checked.findings += kept
        checked.suppressed += silenced
    for step in (
        partial(without_copies, known=known),
        with_causes_told_once,
        partial(with_pasted_told_once, known=known),
        partial(with_alike_told_once, known=known),
    ):
        checked.findings = over_files(step, checked.findings, checked.problems)
    checked.findings.sort(key=lambda finding: finding.sort_key)
    checked.suppressed.sort(key=lambda finding: finding.sort_key)


def _assumed(findings: Sequence[Finding], settings: Settings) -> list[Finding]:
    """The findings that what is assumed leaves, without the conditions that it decides."""
    if not settings.assume:
        return [*findings]
    from pt2lint.project.assume import assumed, parse

    held = [parse(text) for text in settings.assume]
    return [left for finding in findings if (left := assumed(finding, held)) is not None]


def _weighed(finding: Finding, settings: Settings) -> Finding:
    """The finding with the severity that it has here: as the settings say of the longest prefix of its code, else a
    note where it seldom happens or is meant."""
    chosen = max(
        ((len(code), level) for code, level in settings.severity if finding.code.startswith(code)),
        default=None,
    )
    if chosen is not None:
        return finding.weighed(chosen[1])  # type: ignore[arg-type]
    return finding.weighed("note") if finding.note and finding.severity != "note" else finding


def _shown(finding: Finding, settings: Settings) -> bool:
    """Unsure findings show on request, or once Dynamo has confirmed them."""
    sure = finding.confidence == "high" or settings.pedantic or finding.verdict == "confirmed"
    return sure and settings.wants(finding.code, finding.path)


def _looked_for(
    settings: Settings, path: str, pages: Mapping[str, RulePage], verified: bool
) -> Callable[[str], bool]:
    def looked_for(prefix: str) -> bool:
        codes = [code for code in pages if code.startswith(prefix)]
        # What only running finds cannot be said to be missing by a run that only read; a code that no rule
        # has is idle wherever its family is looked for.
        from_verify = {page.code for page in VERIFY_PAGES}
        if not verified and (from_verify & set(codes)):
            return False
        return all(settings.wants(code, path) for code in codes or [prefix])

    return looked_for
