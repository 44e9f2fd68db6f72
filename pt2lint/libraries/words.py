"""The short words for values in which the tables and the users' models speak.

tensor, tensor:bool :int :float     a tensor, of that class of dtype (:byte: torch.uint8)
tensors, tensors:N                  a tuple of tensors (of N)
array                               a NumPy array, which Dynamo traces as a tensor
first                               a tensor like the first argument
self                                what it is called on (or was given first)
tuple(A,B,...)   list(A)   A|B      a mixed tuple, a list of A, either
bool int float number str bytes list dict set dtype device slice none object any
true false                          that constant;  dtype:float16 and the like: that dtype; dtype:float: one of several
off                                 a flag that is False
release                             the version of torch, as a text
platform   system                   sys.platform, platform.system(): of the machine that pt2lint runs on
size                                torch.Size or a tuple of ints;  range
data:bool, data:list ...            a Python value that is read out of a tensor's data
instance NAME                       an object of that external type
"""

from __future__ import annotations

import os
import re
import sys

from pt2lint.static.values import (
    BOOL,
    FLOAT,
    INT,
    NONE,
    OBJECT,
    SIZE,
    STR,
    UNKNOWN,
    Dict,
    Instance,
    Py,
    Seq,
    Tensor,
    Value,
    join_all,
)
from pt2lint.static.values.release import RELEASE

Origin = tuple[str, int, str] | None

SIMPLE: dict[str, Value] = {
    "bool": BOOL,
    "int": INT,
    "float": FLOAT,
    "number": FLOAT,
    "str": STR,
    "bytes": Py("bytes"),
    "dtype": Py("dtype"),
    "device": Py("device"),
    "slice": Py("slice"),
    "none": NONE,
    "object": OBJECT,
    "true": Py("bool", True),
    "false": Py("bool", False),
    "any": UNKNOWN,
    "release": Py("str", RELEASE),
    "platform": Py("str", sys.platform),
    # What platform.system() says, whose import takes 3 ms.
    "system": Py("str", os.uname().sysname if hasattr(os, "uname") else "Windows"),
}
_WORD = re.compile(
    r"tensor(:(bool|byte|int|float))?|tensors(:\d+)?|array|first|self|size|range|packed|list|dict|set|frozenset|tuple"
    r"|data:(bool|int|float|number|list|str|any)|dtype:(bool|byte|int|float)\d*|dtype:bfloat16|instance [\w.]+"
)


def value_of(
    words: str,
    origin: Origin,
    sure: bool = True,
    owner: Value | None = None,
    dtype: str | None = None,
) -> Value:
    """The value that the words stand for."""
    simple = SIMPLE.get(words)
    if simple is not None:
        return simple
    if "|" in words and len(alternatives := split(words, "|")) > 1:
        return join_all(value_of(w, origin, sure, owner) for w in alternatives)
    if words.startswith("tuple("):
        return Seq([value_of(w, origin, sure, owner) for w in split(words[6:-1], ",")], None, "tuple")
    if words.startswith("list("):
        return Seq(None, value_of(words[5:-1], origin, sure, owner), "list")
    if words.startswith("tensors"):
        tensor = Tensor(None, origin, sure)
        count = words[8:]
        return Seq([tensor] * int(count), None, "tuple") if count else Seq(None, tensor, "tuple")
    if words.startswith("tensor"):
        return Tensor(dtype or words[7:] or None, origin, sure)
    if words == "self":
        return owner if owner is not None else Tensor(None, origin, sure)
    if words.startswith("instance "):
        return Instance(None, words[9:])
    return _container(words, origin, sure)


def _container(words: str, origin: Origin, sure: bool) -> Value:
    if words in ("list", "tuple", "set", "frozenset"):
        return Seq(None, UNKNOWN, words)
    if words == "dict":
        return Dict({})
    if words == "array":
        return Tensor(None, origin, sure, True)
    if words == "size":
        return Seq(None, SIZE, "tuple")
    if words == "range":
        return Seq(None, INT, "range")
    if words.startswith("dtype:"):
        return Py("dtype", words[6:])
    if words.startswith("data:"):
        known = words[5:]
        if known in ("bool", "int", "float", "number"):
            return Py("float" if known == "number" else known, read=True)
        return Seq(None, Py("object", read=True)) if known in ("list", "any") else OBJECT
    return UNKNOWN


def wrong(words: object) -> str | None:
    """What is wrong with the words, in a few of our own; None where they can be read."""
    if not isinstance(words, str) or not words:
        return 'should be a text such as "tensor"'
    parts = split(words, "|")
    if len(parts) > 1:
        return next((told for part in parts if (told := wrong(part))), None)
    for opening in ("tuple(", "list("):
        if words.startswith(opening) and words.endswith(")"):
            return next(
                (told for part in split(words[len(opening) : -1], ",") if (told := wrong(part))), None
            )
    if words in SIMPLE or _WORD.fullmatch(words):
        return None
    return f'"{words}" is no kind of value'


def split(text: str, separator: str) -> list[str]:
    """Split at separators outside parentheses."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        if c == "(":
            depth += 1
        elif c == ")":
            depth -= 1
        elif c == separator and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    parts.append(text[start:])
    return parts
