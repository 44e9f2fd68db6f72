"""Load rules: the pack's, and those of the user's own folders. A file that cannot be used costs only its rules."""

from __future__ import annotations

import builtins
import importlib
import importlib.util
import os
import pkgutil
import re
import traceback
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, get_args

import pt2lint.op
from pt2lint.finding import Problem, RulePage, Severity

if TYPE_CHECKING:
    from pt2lint.rule import Rule

PACK = "pt2lint.rules."
_CODE = re.compile(r"[A-Z]+[0-9]+")


def load_rules(rule_paths: Sequence[str] = (), problems: list[Problem] | None = None) -> list[type[Rule]]:
    """Every rule that can be used, by code; `problems` gets a line for each file or rule that cannot."""
    folders = tuple(importlib.import_module("pt2lint.rules").__path__)
    rules, told = _loaded(folders, rule_paths) if rule_paths else _pack(folders)
    if problems is not None:
        problems += told
    return [*rules]


@cache
def _pack(folders: tuple[str, ...]) -> tuple[list[type[Rule]], list[Problem]]:
    """The rules that come with pt2lint, which a language server asks for at each keystroke."""
    return _loaded(folders, ())


def _loaded(folders: Sequence[str], rule_paths: Sequence[str]) -> tuple[list[type[Rule]], list[Problem]]:
    told: list[Problem] = []
    rules: dict[str, type[Rule]] = {}
    for module in _modules(folders, rule_paths, told):
        for rule in _rules_of(module):
            # Those that come with pt2lint are asked by its tests.
            wrong = None if module.__name__.startswith(PACK) else _wrong(rule)
            other = rules.get(getattr(rule, "code", ""))
            if wrong is None and other is not None and other is not rule:
                wrong = f"claims the code {rule.code}, which {_file(other.__module__)} has already"
            if wrong is None:
                rules[rule.code] = rule
            else:
                told.append(Problem(module.__file__, f"rule `{rule.__name__}` is left out: it {wrong}"))
    return [rules[code] for code in sorted(rules)], told


def rules_in(modules: Iterable[str]) -> list[type[Rule]]:
    """The rules of these modules, of which `load_rules` could use all, by code."""
    found = (rule for name in {*modules} for rule in _rules_of(importlib.import_module(name)))
    return sorted(found, key=lambda rule: rule.code)


def rule_pages(settings: Any) -> list[RulePage]:
    """The pages of the rules that can be used."""
    return [rule.page() for rule in load_rules(getattr(settings, "rule_paths", ()))]


def _modules(folders: Sequence[str], rule_paths: Sequence[str], problems: list[Problem]) -> Iterator[Any]:
    for found in pkgutil.walk_packages(folders, PACK):
        if not found.ispkg:
            path = getattr(found.module_finder, "path", "")
            try:
                yield importlib.import_module(found.name)
            except Exception as error:
                problems.append(_unloaded(os.path.join(path, found.name.rpartition(".")[2] + ".py"), error))
    for folder in rule_paths:
        if not os.path.isdir(folder):
            problems.append(Problem(folder, "no such folder; correct `rule-paths`"))
        for path in _files(folder):
            name = "pt2lint_user_rules_" + os.path.relpath(path, folder)[:-3].replace(os.sep, "_")
            spec = importlib.util.spec_from_file_location(name, path)
            assert spec is not None
            assert spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            try:
                spec.loader.exec_module(module)
            except (Exception, SystemExit) as error:
                problems.append(_unloaded(path, error))
            else:
                yield module


def _files(folder: str) -> Iterator[str]:
    for root, _, files in os.walk(folder):
        for file in sorted(files):
            if file.endswith(".py") and file != "__init__.py":
                yield os.path.join(root, file)


def _unloaded(path: str, error: BaseException) -> Problem:
    """Where in the file it went wrong, and what Python says."""
    lines = [at.lineno for at in traceback.extract_tb(error.__traceback__) if at.filename == path]
    line = error.lineno if isinstance(error, SyntaxError) else lines[-1] if lines else None
    text = error.msg if isinstance(error, SyntaxError) else str(error).split("\n", 1)[0]
    told = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return Problem(path, f"this rule file does not load ({told}); its rules are left out", line)


def _rules_of(module: Any) -> Iterator[type[Rule]]:
    """The rules that a module defines; a base class of rules has no code."""
    from pt2lint.rule import Rule

    for value in vars(module).values():
        if isinstance(value, type) and issubclass(value, Rule) and value.__module__ == module.__name__:
            if getattr(value, "code", None) is not None:
                yield value


def _wrong(rule: type[Rule]) -> str | None:
    """What a rule lacks that all need, in words that follow "it"; None where nothing is wrong."""
    if not isinstance(rule.code, str) or not _CODE.fullmatch(rule.code):
        return f"has the code {rule.code!r}, and codes look like PTB103"
    if not isinstance(getattr(rule, "name", None), str):
        return 'lacks a name, as in name = "tensor-item"'
    ops = getattr(rule, "ops", None)
    if not isinstance(ops, tuple) or not all(isinstance(op, str) for op in ops):
        return "lacks `ops`, the operations that it listens to: a tuple of strings (pt2lint/op.py)"
    for op in ops:
        if (meant := never(op)) is not None:
            return f"listens to `{op}`, which is no operation{meant}; pt2lint/op.py lists them"
    if not (rule.__doc__ or "").strip():
        return "lacks a docstring, which is its page"
    if rule.severity not in get_args(Severity):
        return f"has the severity {rule.severity!r}, and there are {', '.join(get_args(Severity))}"
    try:
        rule.page()
    except Exception as error:
        return f"has no page ({type(error).__name__}: {error})"
    return None


@cache
def operations() -> tuple[str, ...]:
    """The operations that there are, as pt2lint/op.py lists them: "test tensor", "call NAME"."""
    heads = [line.split("  ")[0] for line in re.findall(r"^- (`.*)", pt2lint.op.__doc__ or "", re.MULTILINE)]
    return tuple(name for head in heads for name in re.findall(r"`([^`]+)`", head))


def never(op: str) -> str | None:
    """Of an operation that never happens what may be meant, in words that follow it; None where it may happen."""
    from difflib import get_close_matches

    for listed in operations():
        verb, named, _ = listed.partition("NAME")
        # A NAME is qualified, Python's own too: `call builtins.print`.
        if op == listed or (named and op.startswith(verb) and "." in op):
            return None
    verb, _, name = op.partition(" ")
    near = (
        [f"{verb} builtins.{name}"]
        if hasattr(builtins, name)
        else get_close_matches(op, operations(), 1, 0.75)
    )
    return f" (`{near[0]}`?)" if near else ""


def _file(module: str) -> str:
    import sys

    return str(
        getattr(sys.modules.get(module), "__file__", None) or module.removeprefix("pt2lint_user_rules_")
    )
