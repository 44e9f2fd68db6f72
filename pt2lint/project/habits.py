"""What a project's own files say that fixes follow: how long a line may be, and the oldest torch on which it runs."""

from __future__ import annotations

import os
import re
import sys
from typing import Any, NamedTuple

# `torch>=2.1`, `torch ~= 2.1`, and poetry's `torch = "^2.1"`.
_NEEDS_TORCH = re.compile(r"""(?<![\w.-])torch["']?\s*(?:=\s*["'])?(?:>=|~=|==|\^)\s*(\d+)\.(\d+)""")
_REQUIREMENTS = ("pyproject.toml", "setup.cfg", "setup.py", "requirements.txt")
_RUFF_AND_BLACK: dict[str, list[tuple[str, ...]]] = {
    "ruff.toml": [("line-length",)],
    ".ruff.toml": [("line-length",)],
    "pyproject.toml": [("tool", "ruff", "line-length"), ("tool", "black", "line-length")],
}
_WIDEST = 120
_FLAKE8 = ("setup.cfg", ".flake8", "tox.ini")
_FILES = {*_REQUIREMENTS, *_RUFF_AND_BLACK, *_FLAKE8}


class Habits(NamedTuple):
    """The line length that ruff, black or flake8 is told, and the oldest torch of the requirements, None where nothing
    says; and the files that were read for it."""

    line_length: int | None
    oldest_torch: tuple[int, int] | None
    files: tuple[str, ...]


NONE = Habits(None, None, ())


def habits(path: str, known: dict[str, Habits] | None = None) -> Habits:
    """Of a file: what stands nearest, from its folder up to the repository's own. `known`: what was found for folders,
    for those who ask of many files."""
    known = {} if known is None else known
    folder = os.path.dirname(path)
    if folder not in known:
        known[folder] = _from(os.path.abspath(folder), known)
    return known[folder]


def _from(folder: str, known: dict[str, Habits]) -> Habits:
    """What stands nearest, from an absolute folder up."""
    if folder not in known:
        own, above = _own(folder), NONE
        around = os.path.dirname(folder)
        is_whole = own.line_length is not None and own.oldest_torch is not None
        if not is_whole and around != folder and not os.path.exists(os.path.join(folder, ".git")):
            above = _from(around, known)
        known[folder] = Habits(
            above.line_length if own.line_length is None else own.line_length,
            own.oldest_torch or above.oldest_torch,
            (*own.files, *above.files),
        )
    return known[folder]


def _own(folder: str) -> Habits:
    """What the files of one folder say."""
    try:
        there = sorted(_FILES.intersection(os.listdir(folder)))
    except OSError:
        return NONE
    files = {name: os.path.join(folder, name) for name in there}
    texts = {name: _text(path) for name, path in files.items()}
    asked = [(int(a), int(b)) for name in _REQUIREMENTS for a, b in _NEEDS_TORCH.findall(texts.get(name, ""))]
    return Habits(_line_length(texts), min(asked, default=None), (*files.values(),))


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError):
        return ""


def _line_length(texts: dict[str, str]) -> int | None:
    for name, keys in _RUFF_AND_BLACK.items():
        table = _toml(texts.get(name, ""))
        for key in keys:
            value: Any = table
            for part in key:
                value = value.get(part) if isinstance(value, dict) else None
            if isinstance(value, int) and 20 <= value <= 1000:
                return value
    return next((told for name in _FLAKE8 if (told := _ini(texts.get(name, ""))) is not None), None)


def _toml(text: str) -> dict[str, Any]:
    if "line-length" not in text:
        return {}
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError):
        return {}


def _ini(text: str) -> int | None:
    if not re.search(r"max.line.length", text):
        return None
    import configparser  # of many projects none has a file of this kind

    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read_string(text)
        for key in ("max-line-length", "max_line_length"):
            if parser.has_option("flake8", key):
                told = parser.getint("flake8", key)
                # A larger one only turns the check off: flake8 breaks no line.
                return told if told <= _WIDEST else None
    except (configparser.Error, ValueError):
        pass
    return None
