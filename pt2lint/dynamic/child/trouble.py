"""What stood in the way of a call, or of building what is called: the search learns of it, and the user reads it."""

from __future__ import annotations

import linecache
import os
import re
import sysconfig
import traceback
from typing import NamedTuple

import torch

from .asserted import sizes_asserted

LONGEST, LONGEST_LINE = 200, 80  # characters that are told
_OTHERS = tuple(
    os.path.join(os.path.realpath(each), "")
    for each in (
        os.path.dirname(os.path.dirname(torch.__file__)),
        os.path.dirname(os.path.abspath(__file__)),
        sysconfig.get_path("stdlib"),
    )
)


class Trouble(NamedTuple):
    """`text` is what is wrong, in words, "" for nothing. Of an error also what it may not say itself: the pairs of
    `sizes` that an assertion finds to differ, the argument that is `absent` (None), the `place` in the user's code."""

    text: str = ""
    sizes: tuple[tuple[int, int], ...] = ()
    absent: str = ""
    place: str = ""

    def is_about(self, argument: str) -> bool:
        return argument == self.absent or re.search(rf"\b{argument}\b", self.text) is not None

    def told(self) -> str:
        """The first line of the words, with the place."""
        return self.text.split("\n")[0][:LONGEST].removesuffix(": ") + self.place


def trouble_of(error: BaseException) -> Trouble:
    text = f"raised {type(error).__name__}: {error}"
    sizes = tuple(sizes_asserted(error))
    return Trouble(text, sizes, "" if sizes else _absent(error), _place(error))


def _absent(error: BaseException) -> str:
    """Of an error about None, or an assertion without words, the argument that is None in the line of the outermost
    call that has such a one."""
    if "NoneType" not in str(error) and (str(error) or not isinstance(error, AssertionError)):
        return ""
    for frame, line in traceback.walk_tb(error.__traceback__):
        code = frame.f_code
        arguments = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        words = re.findall(r"\w+", linecache.getline(code.co_filename, line))
        for name in arguments:
            if name in words and frame.f_locals.get(name, error) is None:
                return name
    return ""


def _place(error: BaseException) -> str:
    """ " (net.py:12)": the innermost line of the user's own code; with the line where the error says nothing."""
    own = [
        (frame.f_code.co_filename, line)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if not frame.f_code.co_filename.startswith(("<", *_OTHERS))
    ]
    if not own:
        return ""
    path, line = own[-1]
    relative = os.path.relpath(path)
    place = f"{os.path.basename(path) if relative.startswith(os.pardir) else relative}:{line}"
    said = linecache.getline(path, line).strip()[:LONGEST_LINE]
    return f" ({place}{'' if str(error) or not said else f': `{said}`'})"
