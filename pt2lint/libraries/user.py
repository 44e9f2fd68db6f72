"""The user's own models: TOML files that say of names what the files in this folder say of libraries.

A file is a table for each qualified name, with some of these keys (docs/models.md):

    returns   what a call returns, in the words of pt2lint/libraries/words.py
    forward   for a class of modules: what calling an instance returns
    breaks    why Dynamo ends the graph there;  until: the first torch where it does not ("2.15")
    roles     what it does to others: "compiles", "disables", ... (pt2lint/libraries/model.py)

Nothing in a file is run.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from pt2lint.finding import Problem
from pt2lint.libraries.model import ROLES, Library
from pt2lint.libraries.words import wrong

KEYS = ("returns", "forward", "breaks", "until", "roles")
_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+")
_VERSION = re.compile(r"\d+\.\d+")


def read(folders: Sequence[str], problems: list[Problem]) -> list[Library]:
    """A library for each file; `problems` gets a line for whatever cannot be used, and the rest counts."""
    found: list[Library] = []
    for folder in folders:
        if not os.path.isdir(folder):
            problems.append(Problem(folder, "no such folder; correct `models`"))
        for root, below, files in os.walk(folder):
            below.sort()
            for file in sorted(files):
                if file.endswith(".toml"):
                    path = os.path.join(root, file)
                    table, text = _parsed(path, problems)
                    found.append(library(table, path, text, problems))
    return found


def _parsed(path: str, problems: list[Problem]) -> tuple[dict[str, Any], str]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib

    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        return tomllib.loads(text), text
    except OSError as error:
        told = f"cannot be read ({error.strerror or error})"
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        told = f"is not valid TOML ({error})"
    problems.append(Problem(path, f"this file of models {told}; it is left out"))
    return {}, ""


def library(table: Mapping[str, Any], path: str, text: str, problems: list[Problem]) -> Library:
    """What a file says, less what cannot be used."""
    said: dict[str, dict[str, str]] = {"returns": {}, "forward": {}, "breaks": {}, "until": {}}
    roles: dict[str, list[str]] = {}
    for name, row in table.items():
        line = next((n for n, code in enumerate(text.split("\n"), 1) if name in code), None)
        told = _wrong_name(name, row)
        if told is not None:
            problems.append(Problem(path, f"{told}; it is left out", line))
            continue
        for key, value in row.items():
            told = _wrong_value(key, value)
            if told is not None:
                problems.append(Problem(path, f"`{key}` of `{name}` {told}; it is left out", line))
            elif key == "roles":
                for role in value:
                    roles.setdefault(role, []).append(name)
            else:
                said[key][name] = value
    breaks = {}
    for name, why in said["breaks"].items():
        until = said["until"].get(name)
        called = (
            f"{name}.forward" if name in said["forward"] else name
        )  # of a module, at a call of an instance
        breaks[called] = why if until is None else f"{why}\t{until}"
    return Library("", returns=said["returns"], modules=said["forward"], breaks=breaks, roles=roles)


def _wrong_name(name: str, row: object) -> str | None:
    if not isinstance(row, dict):
        return f'`{name}` should be a table, as in ["acme.ops.fused_attention"]'
    if not _NAME.fullmatch(name):
        return f'`{name}` should be a name with its module, in quotes, as in ["acme.ops.fused_attention"]'
    return None


def _wrong_value(key: str, value: object) -> str | None:
    if key not in KEYS:
        return f"is no key of a model{_nearest(key, KEYS)}"
    if key in ("returns", "forward"):
        return wrong(value)
    if key == "roles":
        if not isinstance(value, list) or not all(isinstance(role, str) for role in value):
            return 'should be a list of roles, as in ["disables"]'
        unknown = next((role for role in value if role not in ROLES), None)
        return None if unknown is None else f'holds "{unknown}", which is no role{_nearest(unknown, ROLES)}'
    if not isinstance(value, str) or not value.strip() or "\n" in value:
        return "should be one line of text"
    if key == "until" and not _VERSION.fullmatch(value):
        return 'should be a torch version, as in "2.13"'
    return None


def _nearest(word: str, known: Sequence[str] | Mapping[str, Any]) -> str:
    near = get_close_matches(word, list(known), n=1)
    return f"; did you mean `{near[0]}`?" if near else "; there are " + ", ".join(known)
