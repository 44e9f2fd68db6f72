"""Sizes that a function of the project gives what it returns: `batch(data, n)`, whose `n` says how long."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pt2lint.static.interpreter.frame import Frame
from pt2lint.static.interpreter.syntax import parameters_of
from pt2lint.static.observers.padding import Padding
from pt2lint.static.source.nodes import (
    FunctionNode,
    assigned_once,
    is_range,
    last_word,
    parameters_in,
    unit_of,
    walk,
)
from pt2lint.static.values import Func

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context

MADE = ("zeros", "ones", "empty", "rand", "randn", "full", "arange")  # of a size
STACKED = ("stack", "vstack", "cat", "concat", "hstack", "pad_sequence")
MAX_DEPTH = 4
KEPT = "pt2lint_sized"


class Sized:
    def __init__(self, at: Context) -> None:
        self.at = at
        self.padding = Padding(at)
        self._loops: dict[ast.AST, list[ast.For]] = {}

    def words(self, node: ast.Call, frame: Frame) -> dict[str, str]:
        """{"sized 0": "n\\tm"}: the arguments that say how long the first argument is, which a function makes."""
        words: dict[str, str] = {}
        given: list[tuple[int | str, ast.expr]] = [*enumerate(node.args)]
        given += [(k.arg, k.value) for k in node.keywords if k.arg is not None]
        for key, value in given:
            if by := self.padded(value, frame):
                words[f"yields {key}"] = by
            made = self.made(value, frame)
            func = self.callee(made, frame) if made is not None else None
            if made is None or func is None:
                continue
            decide = deciding(func.node) if not isinstance(func.node, ast.Lambda) else frozenset()
            passed = [*zip(parameters_of(func), made.args, strict=False)]
            passed += [(k.arg, k.value) for k in made.keywords if k.arg is not None]
            texts = [ast.unparse(a) for name, a in passed if name in decide]
            if texts:
                words[f"sized {key}"] = "\t".join(texts)
        return words

    def padded(self, value: ast.expr, frame: Frame) -> str:
        """`max(len(row) for row in rows)`, as long as which a generator of the project makes each `x` of `for x in
        batches(rows)`; "" where it is nothing of the kind."""
        if not isinstance(value, ast.Name):
            return ""
        whole = self.at.functions.running() or frame.module.tree
        if whole not in self._loops:
            self._loops[whole] = [part for part in walk(whole) if isinstance(part, ast.For)]
        for loop in self._loops[whole]:
            around = loop.lineno <= value.lineno <= (loop.end_lineno or 0)
            if around and isinstance(loop.iter, ast.Call) and ast.unparse(loop.target) == ast.unparse(value):
                func = self.callee(loop.iter, frame)
                if func is None or isinstance(func.node, ast.Lambda):
                    return ""
                given = [part.value for part in walk(func.node) if isinstance(part, ast.Yield)]
                if len(given) == 1 and isinstance(given[0], ast.Name | ast.Call):
                    call = self.padding.pads(func.node, Frame(func.module, unit_of(func.node), ""))
                    return ast.unparse(call) if call is not None else ""
        return ""

    def made(self, value: ast.expr, frame: Frame) -> ast.Call | None:
        """The call that makes it: itself, the one that its name is assigned, or of which it takes an item."""
        if isinstance(value, ast.Subscript):
            value = value.value
        if isinstance(value, ast.Name):
            around = self.at.functions.running() or frame.module.tree
            value = assigned_once(value, around, unpacked=True)
        return value if isinstance(value, ast.Call) else None

    def callee(self, call: ast.Call, frame: Frame) -> Func | None:
        env = {}
        running = self.at.functions.running()
        if isinstance(call.func, ast.Attribute) and running is not None and frame.me is not None:
            first = [p.arg for p in parameters_in(running.args)][:1]
            env = dict.fromkeys(first, frame.me)
        func = self.at.expressions.quietly(call.func, env, frame)
        return func if isinstance(func, Func) else None


def deciding(function: FunctionNode) -> frozenset[str]:
    """The parameters that say how long something is of which the function returns, by the text of it."""
    known: frozenset[str] | None = function.__dict__.get(KEPT)
    _ = function.body  # which notes that it is read
    if known is None:
        names = {p.arg for p in parameters_in(function.args)}
        bound: dict[str, list[ast.expr]] = {}
        for part in walk(function):
            if isinstance(part, ast.Assign):
                for target in part.targets:
                    if isinstance(target, ast.Name):
                        bound.setdefault(target.id, []).append(part.value)
        returned = [p.value for p in walk(function) if isinstance(p, ast.Return) and p.value is not None]
        found = {
            name
            for value in returned
            for one in (value.elts if isinstance(value, ast.Tuple) else [value])
            for size in _sizes(one, bound, MAX_DEPTH)
            for name in _names(size, bound, MAX_DEPTH)
        }
        known = function.__dict__[KEPT] = frozenset(found & names)
    return known


def _sizes(value: ast.expr, bound: dict[str, list[ast.expr]], depth: int) -> Iterator[ast.expr]:
    """What says how long it is: bounds of a slice, sizes that torch is given, how often a comprehension turns."""
    if not depth:
        return
    if isinstance(value, ast.Name):
        for one in bound.get(value.id, ()):
            yield from _sizes(one, bound, depth - 1)
    elif isinstance(value, ast.Subscript):
        parts = value.slice.elts if isinstance(value.slice, ast.Tuple) else [value.slice]
        for part in parts:
            if isinstance(part, ast.Slice) and (length := _length(part)) is not None:
                yield length
        if not any(isinstance(part, ast.Slice) for part in parts):
            return
        yield from _sizes(value.value, bound, depth - 1)
    elif isinstance(value, ast.ListComp):
        over = value.generators[0].iter
        if is_range(over) and len(value.generators) == 1 and not value.generators[0].ifs:
            yield from over.args  # type: ignore[attr-defined]
        yield from _sizes(value.elt, bound, depth - 1)
    elif isinstance(value, ast.Call):
        word = last_word(value.func)
        if word in MADE:
            yield from _given(value)
        elif word in STACKED and value.args:
            yield from _sizes(value.args[0], bound, depth - 1)
        elif word in ("to", "cuda", "float", "long", "clone", "contiguous", "unsqueeze", "pin_memory"):
            if isinstance(value.func, ast.Attribute):
                yield from _sizes(value.func.value, bound, depth - 1)


def _given(call: ast.Call) -> Iterator[ast.expr]:
    if last_word(call.func) == "full":
        call = ast.Call(call.func, call.args[:1], [])
    for argument in call.args:
        yield from argument.elts if isinstance(argument, ast.Tuple | ast.List) else [argument]


def _length(part: ast.Slice) -> ast.expr | None:
    """`n` of `[:n]` and of `[i : i + n]`"""
    if part.step is not None or part.upper is None:
        return None
    if part.lower is None:
        return part.upper
    if isinstance(part.upper, ast.BinOp) and isinstance(part.upper.op, ast.Add):
        for side, other in ((part.upper.left, part.upper.right), (part.upper.right, part.upper.left)):
            if ast.unparse(side) == ast.unparse(part.lower):
                return other
    return None


def _names(value: ast.expr, bound: dict[str, list[ast.expr]], depth: int) -> set[str]:
    """The names that a number is computed of, with sums and products alone."""
    if isinstance(value, ast.BinOp):
        return _names(value.left, bound, depth) | _names(value.right, bound, depth)
    if not isinstance(value, ast.Name):
        return set()
    made = bound.get(value.id, [])
    if len(made) == 1 and depth:
        return {value.id} | _names(made[0], bound, depth - 1)
    return {value.id} if not made else set()
