"""Values that the files around a module have for names: defaults of command lines, JSON and YAML, dictionaries."""

from __future__ import annotations

import ast
import contextlib
import functools
import json
import os
import re
from collections.abc import Iterator
from typing import Any

from .allowance import Allowance

# What is read for values of names: files of a folder, the bytes of one and of all, folders, and how long in seconds of
# the processor.
MOST_FILES = 60
MOST_BYTES = 300_000
MOST_BYTES_IN_ALL = 5_000_000
MOST_FOLDERS = 1000
SECONDS = 3.0
SKIPPED = "__pycache__ build data dataset datasets dist node_modules site-packages venv wandb".split()


@functools.cache
def project_values(path: str) -> list[dict[str, Any]]:
    """Values that the files around a module have for names, those of the nearest folder first."""
    here, folder = os.getcwd(), os.path.dirname(os.path.realpath(path))
    folders = [folder]
    while folder.startswith(here + os.sep):
        folder = os.path.dirname(folder)
        folders.append(folder)
    found: list[dict[str, Any]] = []
    left = MOST_BYTES_IN_ALL
    for place in _places(folders):
        text = read(place)
        left -= len(text)
        if left < 0:
            break
        with contextlib.suppress(ValueError, SyntaxError, RecursionError):
            readers = {".json": _values_of_json, ".py": values_of_program}
            found += filter(None, readers.get(os.path.splitext(place)[1], _values_of_yaml)(text))
    return found


def _places(folders: list[str]) -> Iterator[str]:
    """The programs in the folders, and the JSON and YAML files in and below them, each once: those of a folder before
    what lies deeper. Many of these in one folder are data."""
    walked: set[str] = set()
    allowance = Allowance(SECONDS)
    for top in folders:
        pending = [top]
        for folder in pending:
            if folder in walked:
                continue
            if len(walked) == MOST_FOLDERS or allowance.over():
                return
            walked.add(folder)
            try:
                entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
            except OSError:
                continue
            if folder != top and any(entry.name == "pyvenv.cfg" for entry in entries):
                continue
            programs = [entry.path for entry in entries if folder == top and entry.name.endswith(".py")]
            yield from programs[:MOST_FILES]
            files = [entry.path for entry in entries if entry.name.endswith((".json", ".yaml", ".yml"))]
            yield from files if len(files) <= MOST_FILES else ()
            pending += [
                entry.path
                for entry in entries
                if not entry.name.startswith(".")
                and entry.name not in SKIPPED
                and entry.is_dir(follow_symlinks=False)
            ]


def read(place: str) -> str:
    """The text of a file, "" where it is large or cannot be read."""
    try:
        if os.path.getsize(place) > MOST_BYTES or not os.path.isfile(place):
            return ""
        with open(place, encoding="utf-8") as file:
            return file.read()
    except (OSError, ValueError):
        return ""


def _values_of_json(text: str) -> list[dict[str, Any]]:
    data = json.loads(text)
    if not isinstance(data, dict):
        return []
    inner = [each for each in data.values() if isinstance(each, dict)]
    return [{key: each for group in (*inner, data) for key, each in group.items()}]


def _values_of_yaml(text: str) -> list[dict[str, Any]]:
    """Numbers, words and lists of these that stand behind a name in its line: all that can be told without YAML."""
    found: dict[str, Any] = {}
    for name, value in re.findall(r"(?m)^[ \t]*(?:- )?(\w+):[ \t]+([^\s#][^#\n]*)", text):
        word = value.strip().strip("\"'")
        if word.lower() in ("true", "false"):
            found[name] = word.lower() == "true"
        elif re.fullmatch(r"[A-Za-z][\w.-]*", word):
            found[name] = None if word == "null" else word
        else:
            with contextlib.suppress(ValueError, SyntaxError):
                found[name] = ast.literal_eval(word)
    return [found]


def values_of_program(text: str) -> list[dict[str, Any]]:
    """The defaults of a command line, and dictionaries that are written out."""
    if "add_argument" not in text and "{" not in text:
        return []
    options: dict[str, Any] = {}
    found = [options]
    for node in ast.walk(ast.parse(text)):
        if (
            isinstance(node, ast.Dict)
            and len(node.keys) > 2
            and all(isinstance(k, ast.Constant) for k in node.keys)
        ):
            try:
                found.append(ast.literal_eval(node))
            except (ValueError, TypeError):
                continue
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "add_argument":
            given = {
                each.arg: each.value.value for each in node.keywords if isinstance(each.value, ast.Constant)
            }
            names = [a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
            if not names:
                continue
            name = str(given.get("dest") or max(names, key=len).lstrip("-").replace("-", "_"))
            if "default" in given:
                options[name] = given["default"]
            elif "action" in given:
                options[name] = given["action"] == "store_false"
    return found
