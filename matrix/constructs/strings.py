# ruff: noqa
"""Strings, bytes and text formats."""

import base64
import functools
import hashlib
import json
import re
import string
import struct
import textwrap
import zlib

import torch
from torch import Tensor

_WORD = re.compile(r"(\w+)_(\d+)")


@functools.lru_cache(maxsize=None)
def _parse_cached(pattern):
    left, right = pattern.split("->")
    return left.split(), right.split()


def _parse(pattern):
    """Parse "a b -> b a" into an order of axes."""
    left, right = [side.split() for side in pattern.split("->")]
    if len(set(left)) != len(left):
        raise ValueError(f"repeated axis in {pattern!r}")
    return [left.index(name) for name in right]


def str_methods(x: Tensor):
    """`split`, `join`, `replace`, `strip`, `startswith`, `lower`, `find`, `count`, `isdigit`"""
    parts = "a,b".split(",")
    text = "-".join(parts).replace("a", "c").strip().lower()
    return x + len(text) + text.startswith("c") + text.find("b") + text.count("b") + "1".isdigit()


def str_more_methods(x: Tensor):
    """`partition`, `rsplit`, `zfill`, `center`, `splitlines`, `removeprefix`, `title`, `translate`"""
    a, _, b = "a.b".partition(".")
    return (
        x
        + len(a.zfill(3))
        + len("a b".rsplit(" ", 1))
        + len("a\nb".splitlines())
        + len("ab".removeprefix("a"))
    )


def str_slicing(x: Tensor):
    """string slices, `in`, `+`, `*`, comparison, iteration"""
    text = "layer" + "_" * 2
    for letter in text[:2]:
        x = x + ord(letter)
    return x + ("y" in text) + (text > "a") + int("12")


def str_join_shape(x: Tensor):
    """`"x".join(map(str, x.shape))`"""
    return x + len("x".join(map(str, x.shape)))


def str_build_equation(x: Tensor):
    """an einsum equation that is built"""
    letters = string.ascii_lowercase[: x.dim()]
    return torch.einsum(f"{letters}->{letters[::-1]}", x)


def parse_pattern(x: Tensor):
    """a pattern parsed in plain Python, then `permute`"""
    return x.permute(_parse("a b -> b a"))


def parse_pattern_cached(x: Tensor):
    """a pattern parsed in an `lru_cache`d function"""
    left, right = _parse_cached("a b -> b a")
    return x + len(left) + len(right)


def re_match(x: Tensor):
    """`re.match`"""
    return x + (re.match(r"\d+", "12a") is not None)


def re_compiled(x: Tensor):
    """a compiled pattern of the module: `match(...).group`"""
    return x + int(_WORD.match("layer_12").group(2))


def re_sub(x: Tensor):
    """`re.sub`, `re.split`, `re.findall`"""
    return x + len(re.sub("a", "b", "aa")) + len(re.split(",", "a,b")) + len(re.findall("a", "aa"))


def str_encode(x: Tensor):
    """`str.encode`"""
    return x + len("ab".encode())


def bytes_methods(x: Tensor):
    """`bytes.replace`"""
    return x + len(b"ab".replace(b"a", b"b"))


def bytes_constant(x: Tensor):
    """`len(b"ab")`, `b"ab"[0]`"""
    return x + len(b"ab") + b"ab"[0]


def bytearray_made(x: Tensor):
    """`bytearray(4)`"""
    return x + len(bytearray(4))


def string_template(x: Tensor):
    """`string.Template`"""
    return x + len(string.Template("$a").substitute(a="b"))


def text_wrap(x: Tensor):
    """`textwrap.dedent`"""
    return x + len(textwrap.dedent("  a"))


def json_dumps(x: Tensor):
    """`json.dumps`"""
    return x + len(json.dumps({"a": 1}))


def json_loads(x: Tensor):
    """`json.loads`"""
    return x + json.loads("[1]")[0]


def hash_text(x: Tensor):
    """`hash` of a string or a tuple"""
    return x + (hash("a") == hash("a")) + (hash((1, 2)) != 0)


def hash_library(x: Tensor):
    """`hashlib.sha256`"""
    return x + len(hashlib.sha256(b"a").hexdigest())


def base64_encode(x: Tensor):
    """`base64.b64encode`"""
    return x + len(base64.b64encode(b"a"))


def struct_pack(x: Tensor):
    """`struct.pack`"""
    return x + len(struct.pack("<i", 1))


def checksum(x: Tensor):
    """`zlib.crc32`"""
    return x + zlib.crc32(b"a") * 0


def chr_ord(x: Tensor):
    """`chr`, `ord`, `hex`, `bin`"""
    return x + len(chr(97)) + ord("a") + len(hex(3)) + len(bin(3))


def format_builtin(x: Tensor):
    """builtin `format`"""
    return x + len(format(3, "04d"))
