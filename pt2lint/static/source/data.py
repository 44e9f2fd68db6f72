"""Source that is data: long runs of lines with nothing but constants, whose syntax tree takes a hundred times
their room."""

from __future__ import annotations

import re

SMALL = 500_000  # characters: what is smaller is parsed as it stands
KEPT = 50  # lines at the start of a run that are left in it

_STRING = r"""[bru]?(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')"""
_CONSTANT = rf"(?:{_STRING}|[-+]?\.?[0-9][\w.]*(?:[-+][0-9]+)?|True|False|None)"
_ROW = (
    rf"{_CONSTANT}(?:[ \t]*,[ \t]*{_CONSTANT})*,?"  # nothing in it can be read in two ways: no search is long
)
# What follows is compiled once a file is that large: that takes as long as to read ten small ones.
_ITEM = rf"(?:{_CONSTANT}|\({_ROW}\)|\[{_ROW}\])"
# It ends with the comma that makes it whole items of a longer literal.
_LINE = rf"[ \t]+(?:{_ITEM}[ \t]*[,:][ \t]*)*{_ITEM}[ \t]*,[ \t]*"

LONG = 100_000  # characters of one line
# No text and no comment begins before the bracket, so what follows it is code.
_OPENS = rf"[^\"'#\n]*?[\[({{](?=(?:{_ITEM}[ \t]*[,:][ \t]*){{{KEPT}}})"
# Whole items, few at a time: a search remembers each.
_ITEMS = rf"(?:{_ITEM}[ \t]*[,:][ \t]*){{0,{4 * KEPT}}}{_ITEM}[ \t]*,[ \t]*"


def without_data(source: str) -> str:
    """The source with such runs cut short: line numbers stay, and so does all that is not a constant."""
    if len(source) < SMALL:
        return source
    lines = source.split("\n")
    run = 0
    is_row = re.compile(_LINE).fullmatch
    for number, line in enumerate(lines):
        if len(line) > LONG:
            lines[number] = _blanked(line)
    for number, line in enumerate([*lines, ""]):
        if line and is_row(line):
            run += 1
            continue
        if run >= 2 * KEPT:
            lines[number - run + KEPT : number] = [""] * (run - KEPT)
        run = 0
    return "\n".join(lines)


def _blanked(line: str) -> str:
    """The line with blanks in place of most constants of a long literal in it: columns stay."""
    opens = re.compile(_OPENS).match(line)
    items = re.compile(_ITEMS)
    first = items.match(line, opens.end()) if opens is not None else None
    if first is None:
        return line
    end = first.end()
    while (more := items.match(line, end)) is not None:
        end = more.end()
    return line[: first.end()] + " " * (end - first.end()) + line[end:]
