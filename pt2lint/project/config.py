"""Settings: what `[tool.pt2lint]` in the nearest pyproject.toml and the command line say.

The table `KEYS` is all there is to configure; any other key is an error that names the nearest one.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from pt2lint.finding import Problem
from pt2lint.project import patterns

LEVELS = ("note", "warning", "error")
ROOTS = ("modules", "explicit", "tensors")
_TORCH = re.compile(r"(\d{1,4})\.(\d{1,4})(?![^.+\w])", re.ASCII)
_MISNAMED = re.compile(rb"^\s*\[\s*(tool\.)?pt2[-_]?lint\b", re.MULTILINE | re.IGNORECASE)
_NAME = re.compile(r"[\w./\\-]*\w:\w+(\.\w+)*|[^:]+\.py:\w+(\.\w+)*|\w+(\.\w+)+")


class PartlyWrong(ValueError):
    """A value some of whose items cannot be used: `told` has a line for each of these, `rest` is the value
    without them."""

    def __init__(self, told: list[str], rest: Any) -> None:
        super().__init__("; ".join(told))
        self.told, self.rest = told, rest


@dataclass(frozen=True)
class Settings:
    """What to look for, where, and how.

    Codes are prefixes: "PTB" means every PTB rule. An empty `select` means all. `exclude` and the patterns
    of `per_file_ignores` are gitignore patterns relative to `root`, the folder of the pyproject.toml (or
    the working folder). `target_torch` is (major, minor); None: the installed torch, else the newest known.
    `roots` says what counts as compiled: "modules" (every nn.Module.forward, and all that is compiled
    explicitly), "explicit", or "tensors" (also functions whose parameters are tensors); `root_names` are
    functions, methods and classes that count as compiled besides ("train.step"). `rule_paths` are
    folders of further rules, `assume` what holds where the code runs
    (pt2lint/project/assume.py), `severity` the severity of codes or prefixes, whatever the place says; `fail_on` the
    lowest one that makes the exit status 1, `models` folders of files that say what libraries do. `verify` is the
    table for `--verify`, `budget` what models may have at most ({"models.Net": {"graphs": 1}}). `source` is the file
    that they were read from, as it is shown ("": none was).
    """

    select: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    exclude: tuple[str, ...] = ()
    respect_gitignore: bool = True
    target_torch: tuple[int, int] | None = None
    roots: str = "modules"
    root_names: tuple[str, ...] = ()
    rule_paths: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    pedantic: bool = False
    assume: tuple[str, ...] = ()
    severity: tuple[tuple[str, str], ...] = ()
    fail_on: str = "warning"
    verify: Mapping[str, Any] = field(default_factory=dict, hash=False)
    budget: Mapping[str, Mapping[str, int]] = field(default_factory=dict, hash=False)
    root: str = "."
    source: str = field(default="", compare=False)

    def selects(self, code: str) -> bool:
        """Whether this code is looked for: the longest prefix of it decides, `ignore` on a tie."""
        chosen = self.select + self.extend_select if self.select else ("", *self.extend_select)
        wanted = max((len(prefix) for prefix in chosen if code.startswith(prefix)), default=-1)
        unwanted = max((len(prefix) for prefix in self.ignore if code.startswith(prefix)), default=-1)
        return wanted > unwanted

    def wants(self, code: str, path: str) -> bool:
        """Whether a finding with this code is wanted in this file."""
        return self.selects(code) and not (
            self.per_file_ignores and code.startswith(self._ignored_in(path) or ("\0",))
        )

    def _ignored_in(self, path: str) -> tuple[str, ...]:
        return tuple(
            code
            for pattern, codes in self.per_file_ignores
            if matches((pattern.removeprefix("!"),), path, self.root) != pattern.startswith("!")
            for code in codes
        )


def matches(lines: tuple[str, ...], path: str, root: str, folder: bool = False) -> bool:
    """Whether one of the gitignore patterns, which are relative to `root`, names the file or a folder above
    it."""
    relative = os.path.relpath(os.path.abspath(path), os.path.abspath(root)).replace(os.sep, "/")
    if relative == "." or relative.startswith("../"):
        relative = os.path.abspath(path).replace(os.sep, "/").lstrip("/")
    return bool(patterns.decide_under(_parsed(lines), relative.split("/"), folder))


@cache
def _parsed(lines: tuple[str, ...]) -> list[patterns.Pattern]:
    """The patterns of a setting, which were looked at when it was read."""
    return [pattern for line in lines if (pattern := patterns.parse(line)) is not None]


# How each key's value is read. A reader returns the value for Settings or raises ValueError("should be ...").


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError("should be true or false")
    return value


def _strings(value: object, such: str) -> tuple[str, ...]:
    """A list of strings, `such` as this one in TOML."""
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError(f"should be a list of strings, as in {such}")
    return tuple(value)


def _folders(such: str) -> Callable[[object], tuple[str, ...]]:
    def folders(value: object) -> tuple[str, ...]:
        names = _strings(value, such)
        if any("\0" in name for name in names):
            raise ValueError("holds a NUL character, which no name of a folder does")
        return names

    return folders


def _codes(value: object) -> tuple[str, ...]:
    codes: list[str] = []
    wrong: list[str] = []
    for item in _strings(value, '["PTB", "PTR201"]'):
        try:
            codes += parse_codes(item)
        except ValueError as error:
            wrong.append(str(error))
    if wrong:
        raise PartlyWrong(wrong, tuple(codes))
    return tuple(codes)


def _codes_by_file(value: object) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if not isinstance(value, dict):
        raise ValueError('should be a table, as in {"tests/**" = ["PTB101"]}')
    read: list[tuple[str, tuple[str, ...]]] = []
    wrong: list[str] = []
    for pattern, listed in value.items():
        try:
            # As in Ruff: in all files but these.
            _parse_pattern(pattern[1:] if pattern.startswith("!") and len(pattern) > 1 else pattern)
            read.append((pattern, _codes(listed)))
        except PartlyWrong as error:
            read.append((pattern, error.rest))
            wrong += [f'at "{pattern}": {told}' for told in error.told]
        except ValueError as error:
            wrong.append(str(error) if "holds" in str(error) else f'at "{pattern}" {error}')
    if wrong:
        raise PartlyWrong(wrong, tuple(read))
    return tuple(read)


def _patterns(value: object) -> tuple[str, ...]:
    lines = _strings(value, '["build/"]')
    wrong: dict[str, str] = {}
    for line in lines:
        try:
            _parse_pattern(line)
        except ValueError as error:
            wrong[line] = str(error)
    if wrong:
        raise PartlyWrong([*wrong.values()], tuple(line for line in lines if line not in wrong))
    return lines


def _parse_pattern(line: str) -> None:
    try:
        if re.search(r"\\\w", line):
            raise ValueError("folders are written with `/`")
        if patterns.parse(line) is None and line.strip() in ("", "/"):
            raise ValueError("it names nothing")
    except ValueError as error:
        raise ValueError(f'holds "{line}", which matches nothing: {error}') from None


def parse_roots(value: object) -> tuple[str, tuple[str, ...]]:
    """(one of ROOTS, names) from one of ROOTS, a name such as "train.step" or "pkg.mod:Class.method", or a
    list of them; where only names are given, the first of ROOTS goes with them.

    Raises PartlyWrong where some of a list are neither, ValueError for anything else.
    """
    items = value if isinstance(value, list) and value else [value]
    kinds = [item for item in items if item in ROOTS]
    names: list[Any] = [item for item in items if item not in ROOTS]
    wrong = []
    for name in names:
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            known = ", ".join(f'"{root}"' for root in ROOTS)
            told = f'; "{name}" is neither' if isinstance(name, str) else ""
            wrong.append(f'should be one of {known}, or a list with names such as "train.step"{told}')
    if len(kinds) > 1:
        raise ValueError(f'should hold one of "{kinds[0]}" and "{kinds[1]}", not both')
    good = tuple(name for name in names if isinstance(name, str) and _NAME.fullmatch(name))
    if wrong:
        raise PartlyWrong([*dict.fromkeys(wrong)], (kinds[0] if kinds else ROOTS[0], good))
    return kinds[0] if kinds else ROOTS[0], good


def _level(value: object) -> str:
    if value not in LEVELS:
        raise ValueError(f"should be one of {', '.join(LEVELS)}")
    return str(value)


def _severities(value: object) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, dict):
        raise ValueError('should be a table, as in {"PTB101" = "note"}')
    read: list[tuple[str, str]] = []
    for codes, level in value.items():
        try:
            read += [(code, _level(level)) for code in parse_codes(codes)]
        except ValueError as error:
            raise ValueError(f'at "{codes}" {error}') from None
    return tuple(read)


def parse_assumptions(value: object) -> tuple[str, ...]:
    """A list such as ["training", "dtype=float16"]; raises PartlyWrong where one of them says nothing."""
    from pt2lint.project.assume import parse

    held: list[str] = []
    wrong: list[str] = []
    for text in _strings(value, '["training"]'):
        try:
            parse(text)
            held.append(text)
        except ValueError as error:
            wrong.append(str(error))
    if wrong:
        raise PartlyWrong(wrong, tuple(held))
    return tuple(held)


def _table(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError("should be a table: [tool.pt2lint.verify]")
    return value


LIMITS = ("graphs", "graph_breaks", "recompilations")


def _budgets(value: object) -> dict[str, dict[str, int]]:
    if not isinstance(value, dict):
        raise ValueError("should be a table: [tool.pt2lint.budget]")
    read: dict[str, dict[str, int]] = {}
    wrong: list[str] = []
    for name, limits in value.items():
        given = (
            {key.replace("-", "_"): most for key, most in limits.items()} if isinstance(limits, dict) else {}
        )
        if (
            not given
            or given.keys() - {*LIMITS}
            or not all(type(most) is int and most >= 0 for most in given.values())
        ):
            keys = ", ".join(limit.replace("_", "-") for limit in LIMITS)
            wrong.append(f'at "{name}" should be a table with numbers for {keys}, as in {{graphs = 1}}')
        else:
            read[name] = given
    if wrong:
        raise PartlyWrong(wrong, read)
    return read


def parse_codes(text: str) -> tuple[str, ...]:
    """Codes or prefixes separated by commas, in capitals; "ALL" is the prefix of all.

    Raises ValueError for what cannot be a code.
    """
    codes = tuple(code.strip().upper() for code in text.split(",") if code.strip())
    for code in codes:
        if not code.isalnum():
            raise ValueError(f'"{code}" is no code; codes look like PTB103, prefixes like PTB')
    return tuple("" if code == "ALL" else code for code in codes)


def parse_torch(value: object) -> tuple[int, int]:
    """A torch version such as "2.13" as (2, 13); raises ValueError for anything else."""
    found = _TORCH.match(value) if isinstance(value, str) else None
    if found is None:
        raise ValueError('should be a torch version, as in "2.13"')
    version = int(found[1]), int(found[2])
    if version < (2, 0):
        raise ValueError(f"is {value}, which has no torch.compile: it came with torch 2.0")
    return version


KEYS: dict[str, Callable[[object], Any]] = {
    "select": _codes,
    "extend-select": _codes,
    "ignore": _codes,
    "per-file-ignores": _codes_by_file,
    "exclude": _patterns,
    "respect-gitignore": _flag,
    "target-torch": parse_torch,
    "roots": parse_roots,
    "rule-paths": _folders('["lint"]'),
    "models": _folders('["models"]'),
    "pedantic": _flag,
    "assume": parse_assumptions,
    "severity": _severities,
    "fail-on": _level,
    "verify": _table,
    "budget": _budgets,
}


def read_config(path: str, overrides: Mapping[str, Any] | None = None) -> tuple[Settings, list[Problem]]:
    """Settings from one TOML file, and what is wrong with it: a bad key keeps its default.

    A pyproject.toml is read at [tool.pt2lint]; any other file (`--config pt2lint.toml`) at its top where it
    has no such section. `overrides` are Settings fields that the command line gave; they win.
    """
    root = os.path.dirname(os.path.abspath(path))
    shown = os.path.relpath(path) if not os.path.relpath(path).startswith("..") else path
    values: dict[str, Any] = {"root": root, "source": shown}
    problems: list[Problem] = []
    for key, value in _section(path, shown, problems).items():
        if key not in KEYS:
            problems.append(Problem(shown, f"[tool.pt2lint] has no key `{key}`{_nearest(key)}"))
            continue
        try:
            values[key.replace("-", "_")] = KEYS[key](value)
        except PartlyWrong as error:
            values[key.replace("-", "_")] = error.rest
            problems += [Problem(shown, f"[tool.pt2lint] `{key}` {told}") for told in error.told]
        except ValueError as error:
            problems.append(Problem(shown, f"[tool.pt2lint] `{key}` {error}"))
    if "roots" in values:
        values["roots"], values["root_names"] = values["roots"]
    if values.get("verify"):
        from pt2lint.dynamic.options import options_from

        try:
            options_from(values["verify"])
        except ValueError as error:
            del values["verify"]
            problems.append(Problem(shown, f"[tool.pt2lint.verify] {error}"))
    for key in ("rule_paths", "models"):
        if key in values:
            values[key] = tuple(os.path.join(root, folder) for folder in values[key])
    return Settings(**{**values, **(overrides or {})}), problems


def _section(path: str, shown: str, problems: list[Problem]) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib

    try:
        with open(path, "rb") as file:
            document = tomllib.load(file)
    except OSError as error:
        problems.append(Problem(shown, f"cannot be read: {error.strerror or error}"))
        return {}
    except ValueError as error:  # of tomllib, of a decoder, or for a number with too many digits
        problems.append(Problem(shown, f"is not valid TOML, so its [tool.pt2lint] is left out: {error}"))
        return {}
    except RecursionError:
        problems.append(Problem(shown, "is nested too deeply to read, so its [tool.pt2lint] is left out"))
        return {}
    tool = document.get("tool")
    section = tool.get("pt2lint") if isinstance(tool, dict) else None
    if section is None:
        section = {} if os.path.basename(path) == "pyproject.toml" else document
        for name in _misnamed(document, tool) if not section else ():
            told = f"[{name}] is read by nothing: the settings stand in [tool.pt2lint]"
            problems.append(Problem(shown, told))
    if not isinstance(section, dict):
        problems.append(Problem(shown, "`tool.pt2lint` should be a table: [tool.pt2lint]"))
        return {}
    return section


def _misnamed(document: Mapping[str, Any], tool: object) -> Iterator[str]:
    """The tables that somebody took for [tool.pt2lint]."""
    for before, table in (("", document), ("tool.", tool if isinstance(tool, dict) else {})):
        yield from (
            before + key for key in table if key.lower().replace("-", "").replace("_", "") == "pt2lint"
        )


def _nearest(key: str) -> str:
    from difflib import get_close_matches

    word = key.lower().replace("_", "-")
    bare = word.removeprefix("extend-")  # as other linters name what adds to a list
    near = [bare] if bare in KEYS else get_close_matches(word, KEYS, n=1)
    return f"; did you mean `{near[0]}`?" if near else "; its keys are " + ", ".join(KEYS)


def _is_ours(path: str) -> bool:
    """Whether a pyproject.toml stands there that has a [tool.pt2lint] section, or one that was meant to be."""
    try:
        if stat.S_ISREG(os.stat(path).st_mode):  # reading a pipe would wait for who writes into it
            with open(path, "rb") as file:
                data = file.read()
                return b"tool.pt2lint" in data or _MISNAMED.search(data) is not None
    except OSError:
        pass
    return False


class Configs:
    """The settings of each folder, each pyproject.toml read once.

    `problems` collects what is wrong with them, `watched` every place that was looked at. With `config`
    that one file is used for everything.
    """

    def __init__(self, overrides: Mapping[str, Any] | None = None, config: str | None = None) -> None:
        self.overrides = dict(overrides or {})
        self.problems: list[Problem] = []
        self.watched: list[str] = []
        self._by_path: dict[str | None, Settings] = {}
        self._by_folder: dict[str, Settings] = {}
        self._configs: dict[str, str | None] = {}  # by folder: the file of its settings
        self._only = config

    def of(self, folder: str) -> Settings:
        """The settings for files in this folder."""
        folder = os.path.abspath(folder)
        if folder not in self._by_folder:
            path = self._only or self._nearest(folder)
            if path not in self._by_path:
                self._by_path[path] = self._read(path)
            self._by_folder[folder] = self._by_path[path]
        return self._by_folder[folder]

    def _nearest(self, folder: str) -> str | None:
        """The nearest pyproject.toml that has a [tool.pt2lint] section, from the folder upwards; None if none has.

        Every place looked at is watched, once: a change there can change the answer.
        """
        sought: list[str] = []
        found = None
        while folder not in self._configs:
            sought.append(folder)
            path = os.path.join(folder, "pyproject.toml")
            self.watched.append(path)
            if _is_ours(path):
                found = path
                break
            parent = os.path.dirname(folder)
            if parent == folder:
                break
            folder = parent
        else:
            found = self._configs[folder]
        self._configs.update(dict.fromkeys(sought, found))
        return found

    def _read(self, path: str | None) -> Settings:
        if path is None:
            return replace(Settings(root=os.getcwd()), **self.overrides)
        self.watched.append(path)
        settings, problems = read_config(path, self.overrides)
        self.problems += problems
        return settings
