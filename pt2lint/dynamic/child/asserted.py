"""The sizes that a failed assertion compares: `assert length == height * width` says which length is wanted."""

from __future__ import annotations

import ast
import inspect
import textwrap
import traceback
import types
from collections.abc import Iterator
from typing import Any

# What is computed again computes no more than numbers: methods of tensors that say sizes, `len` and `int`.
_SIZES = ("size", "dim", "numel", "len", "int")
_PLAIN = (
    ast.expr_context, ast.operator, ast.unaryop, ast.Name, ast.Attribute, ast.Subscript, ast.Slice, ast.Constant,
    ast.BinOp, ast.UnaryOp, ast.Tuple, ast.List, ast.Call,
)  # fmt: skip


def sizes_asserted(error: BaseException) -> list[tuple[int, int]]:
    """The numbers of each comparison that failed, (32, 24) of `height == self.size`; of `width % heads == 0` the width
    and the next one that fits. Empty where others are compared, or the code is not to be read."""
    if not isinstance(error, AssertionError):
        return []
    calls = [*traceback.walk_tb(error.__traceback__)]
    return [pair for call in calls[-1:] for node in _comparisons(*call) for pair in _pairs(node, call[0])]


def _pairs(node: ast.Compare, frame: types.FrameType) -> Iterator[tuple[int, int]]:
    """The numbers that a comparison finds to differ; of two tuples each."""
    (one, other), names = (node.left, node.comparators[0]), {**frame.f_globals, **frame.f_locals}
    if isinstance(one, ast.BinOp) and isinstance(one.op, ast.Mod) and ast.unparse(other) == "0":
        for number, by in zip(_numbers(one.left, names), _numbers(one.right, names)):  # noqa: B905
            if by and number % by:
                yield number, number + by - number % by
        return
    had, wanted = _numbers(one, names), _numbers(other, names)
    if len(had) == len(wanted):
        yield from (pair for pair in zip(had, wanted) if pair[0] != pair[1])  # noqa: B905 -- Python 3.9


def _comparisons(frame: types.FrameType, line: int) -> Iterator[ast.Compare]:
    """What the assertion in this line of a function compares, in order, each with one other value."""
    code = frame.f_code
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(code)))
    except (OSError, TypeError, SyntaxError):
        return
    within = line - code.co_firstlineno + 1
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert) and node.lineno <= within <= (node.end_lineno or node.lineno):
            values = node.test.values if isinstance(node.test, ast.BoolOp) else [node.test]
            for each in (each for each in values if isinstance(each, ast.Compare)):
                sides = [each.left, *each.comparators]  # `a == b == c`
                links = zip(sides, each.ops, sides[1:])  # noqa: B905 -- Python 3.9
                yield from (ast.Compare(a, [by], [b]) for a, by, b in links if isinstance(by, ast.Eq))


def _numbers(node: ast.expr, names: dict[str, Any]) -> tuple[int, ...]:
    """The whole number, or the several ones of a shape, that an expression gives; none of others, and where computing
    it might do more."""
    for each in ast.walk(node):
        if not isinstance(each, _PLAIN):
            return ()
        if isinstance(each, ast.Call):
            called = each.func.attr if isinstance(each.func, ast.Attribute) else getattr(each.func, "id", "")
            if called not in _SIZES:
                return ()
    try:
        value = eval(compile(ast.Expression(node), "<assertion>", "eval"), names)
    except Exception:
        return ()
    several = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    return several if all(type(each) is int for each in several) else ()
