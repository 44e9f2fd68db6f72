"""Patterns as in .gitignore, matched in time that grows with pattern and path, whatever they hold.

What git takes for a pattern that matches nothing (a lone `!`, a `\\` at the end, a `[` without its `]`) is an error.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

_CLASSES = {
    "alnum": "a-zA-Z0-9", "alpha": "a-zA-Z", "blank": " \\t", "cntrl": "\\x00-\\x1f\\x7f", "digit": "0-9",
    "graph": "!-~", "lower": "a-z", "print": " -~", "punct": "!-/:-@\\[-`{-~", "space": "\\s", "upper": "A-Z",
    "xdigit": "0-9a-fA-F",
}  # fmt: skip
_RANGE = re.compile(r"\[:(\w+):\]|(\\?.)(?:-(?!\])(\\?.))?", re.S)
_NOTHING = re.compile(r"(?!)")


@dataclass(frozen=True)
class Pattern:
    """One line of a .gitignore. `parts` are what each part of a path must match, None for `**`."""

    parts: tuple[re.Pattern[str] | None, ...]
    negated: bool
    only_folders: bool

    def matches(self, path: Sequence[str], is_folder: bool) -> bool:
        """Whether the pattern names just this path (not one above it)."""
        if self.only_folders and not is_folder:
            return False
        part = at = 0
        after_star, retry = -1, 0  # the part after the last `**`, and where it is tried next
        while at < len(path):
            here = self.parts[part] if part < len(self.parts) else _NOTHING
            if here is None:
                if part + 1 == len(self.parts):
                    return True  # `a/**` names what is in a, so at least one part more
                part += 1
                after_star, retry = part, at
            elif here.fullmatch(path[at]):
                part, at = part + 1, at + 1
            elif after_star >= 0:
                retry += 1
                part, at = after_star, retry
            else:
                return False
        return part == len(self.parts)


@lru_cache(maxsize=4096)
def parse(line: str) -> Pattern | None:
    """The pattern in a line; None for an empty line, a comment and a lone `/`.

    Raises ValueError, with words that follow "is no pattern: ", for what could never match.
    """
    text = line.rstrip("\n\r")
    while text.endswith((" ", "\t")) and not text.endswith(("\\ ", "\\\t")):
        text = text[:-1]
    if not text or text.startswith("#"):
        return None
    negated = text.startswith("!")
    text = text.removeprefix("!")
    if not text:
        raise ValueError("nothing follows the `!`")
    only_folders = text.endswith("/")
    text = text.removesuffix("/")
    if not text:
        return None
    names = text.removeprefix("/").split("/")
    parts = [None if name == "**" else _compiled(name) for name in names]
    if "/" not in text:
        parts.insert(0, None)
    kept = [part for i, part in enumerate(parts) if part is not None or i == 0 or parts[i - 1] is not None]
    return Pattern(tuple(kept), negated, only_folders)


def _compiled(name: str) -> re.Pattern[str]:
    """What one part of a path must match: a star takes as little as it can and gives nothing back, so that no
    number of stars makes it slow (as `fnmatch` does it)."""
    chunks = [""]
    at = 0
    while at < len(name):
        character = name[at]
        at += 1
        if character == "*":
            chunks.append("")
        elif character == "?":
            chunks[-1] += "."
        elif character == "[":
            inside, at = _set(name, at)
            chunks[-1] += inside
        elif character == "\\":
            if at == len(name):
                raise ValueError("nothing follows the `\\` at the end")
            chunks[-1] += re.escape(name[at])
            at += 1
        else:
            chunks[-1] += re.escape(character)
    first, *rest = chunks
    pattern = first
    for number, chunk in enumerate(rest[:-1]):
        if chunk:
            pattern += f"(?=(?P<g{number}>.*?{chunk}))(?P=g{number})"
    if rest:
        pattern += ".*" + rest[-1]
    return re.compile(pattern, re.S)


def _set(name: str, at: int) -> tuple[str, int]:
    """The regular expression for a set such as `[a-c]`, whose `[` ends before `at`, and where it ends."""
    negated = name[at : at + 1] in ("!", "^") and at < len(name)
    at += negated
    inside = ""
    first = True
    while first or name[at : at + 1] != "]":
        found = _RANGE.match(name, at)
        if found is None or found[2] == "\\":
            raise ValueError("a `[` has no `]`")
        first, at = False, found.end()
        if found[1]:
            if found[1] not in _CLASSES:
                raise ValueError(f"there is no class [:{found[1]}:]")
            inside += _CLASSES[found[1]]
            continue
        start, end = found[2][-1], (found[3] or found[2])[-1]
        # Of a range that runs backwards git takes the first character.
        inside += f"{re.escape(start)}-{re.escape(end)}" if start <= end else re.escape(start)
    return f"[{'^' * negated}{inside}]", at + 1


def decide(patterns: Sequence[Pattern], path: Sequence[str], is_folder: bool) -> bool | None:
    """What the last pattern that names just this path says: True to ignore, False not to, None for no word."""
    for pattern in reversed(patterns):
        if pattern.matches(path, is_folder):
            return not pattern.negated
    return None


def decide_under(patterns: Sequence[Pattern], path: Sequence[str], is_folder: bool) -> bool | None:
    """As `decide`; and what is in an ignored folder is ignored."""
    for length in range(1, len(path)):
        if decide(patterns, path[:length], True):
            return True
    return decide(patterns, path, is_folder)
