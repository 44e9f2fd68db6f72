"""Loops that go over the rows of a tensor, one after the other, and loops within loops: Python's own work over data."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import tree
from pt2lint.rule.tree import is_name

if TYPE_CHECKING:
    from pt2lint.rule import FunctionCode

PICKS = ("narrow", "select", "index_select")  # methods that take one row, or some, by their numbers
KEPT = ("is a buffer", "`torch.nn.Parameter`")  # in `Op.why`: of the module's own, and no data


def is_row_by_row(function: FunctionCode, node: cst.CSTNode, op: Op) -> bool:
    """Whether a loop or a comprehension does it again and again, for no layers, nor for one part of the object at a
    time: `for i in range(n): x = self.experts[i](x[chosen == i])`."""
    loop = _innermost(function, node)
    if op.layers or loop is None or (op.inside != "loop" and not isinstance(loop, cst.BaseComp)):
        return False
    turn = loop.for_in.target if isinstance(loop, cst.BaseComp) else getattr(loop, "target", None)
    return turn is None or not any(_is_part(each, turn) for each in tree.walk(loop))


def is_nested(function: FunctionCode, node: cst.CSTNode, op: Op) -> bool:
    """Whether it stands in loops or comprehensions within others, or beside the inner one in the outer one, and none of
    them calls a part of the object: an algorithm over Python's own data."""
    around = list(_loops_around(function, node))
    if op.layers or not around:
        return False
    within = list(tree.walk(around[-1]))
    return any(_is_loop(each) for each in within[1:]) and not _runs_parts(within)


def reads_row(function: FunctionCode, node: cst.CSTNode, op: Op) -> bool:
    """Whether it asks for values of one row of a tensor that a loop picks, `sizes[i].item()`, and the loop calls no
    part of the object: what a batch holds, read sample by sample."""
    loop = _innermost(function, node)
    if op.layers or loop is None or any(words in op.why for words in KEPT):
        return False
    within = list(tree.walk(loop))
    return not _runs_parts(within) and _Rows(function, loop, within).reads(node)


def counts_turns(function: FunctionCode, node: cst.CSTNode, op: Op) -> bool:
    """Whether it is what loops go over that call no part of the object, `for i in torch.unique(ids).tolist():`, by
    itself or under the name that it is given: values decide how often they run, and for what."""
    if op.layers or any(words in op.why for words in KEPT):
        return False
    inner, here = node, function.parent(node)
    while isinstance(here, (cst.Attribute, cst.Call)) and inner in (
        getattr(here, "value", None),
        getattr(here, "func", None),
    ):
        inner, here = here, function.parent(here)
    loops: list[cst.CSTNode | None] = [here]
    heads = [inner]
    if isinstance(here, cst.Assign) and isinstance(here.targets[0].target, cst.Name):
        name = here.targets[0].target
        within = tree.walk(function.module)
        heads = [n for n in within if is_name(n, name.value) and n is not name]
        loops = [function.parent(head) for head in heads]
    return bool(loops) and all(
        isinstance(loop, cst.For) and head is loop.iter and not _runs_parts([*tree.walk(loop)])
        for head, loop in zip(heads, loops, strict=True)
    )


class _Rows:
    """`turns` are the names that each turn of a loop sets anew, `rows` those that hold a row of a tensor."""

    def __init__(self, function: FunctionCode, loop: cst.CSTNode, within: list[cst.CSTNode]) -> None:
        self.function = function
        self._kind = importlib.import_module("pt2lint.fixes.kinds").guess(function)
        self.turns: set[str] = set()
        self.rows: set[str] = set()
        for head in [loop] if isinstance(loop, cst.For) else _clauses(loop):
            self.turns |= set(_names(head.target))
            self.rows |= set(self._rows_of(head.target, head.iter))
        for part in within:
            if isinstance(part, cst.Assign) and self.reads(part.value):
                self.rows |= {name for each in part.targets for name in _names(each.target)}

    def reads(self, node: cst.CSTNode) -> bool:
        return any(self._is_row(part) for part in tree.walk(node))

    def _is_row(self, part: cst.CSTNode) -> bool:
        if isinstance(part, cst.Name):
            return part.value in self.rows
        if isinstance(part, cst.Subscript):
            return self._numbers(part.slice) and self._is_tensor(part.value)
        return (
            isinstance(part, cst.Call)
            and isinstance(part.func, cst.Attribute)
            and part.func.attr.value in PICKS
            and self._numbers(part.args)
            and self._is_tensor(part.func.value)
        )

    def _numbers(self, parts: object) -> bool:
        """Whether what chooses the row is what a turn sets, or is counted from it."""
        return any(
            isinstance(name, cst.Name) and name.value in self.turns
            for part in (parts if isinstance(parts, (list, tuple)) else ())
            for name in tree.walk(part)
        )

    def _rows_of(self, target: cst.CSTNode, over: cst.CSTNode) -> Iterator[str]:
        """The names of a loop's target that are rows of a tensor: of `for i, (a, b) in enumerate(zip(x, y))` `a` and
        `b`."""
        targets = [each.value for each in target.elements] if isinstance(target, cst.Tuple) else []
        called = over.func.value if isinstance(over, cst.Call) and isinstance(over.func, cst.Name) else ""
        if called == "enumerate" and len(targets) == 2 and isinstance(over, cst.Call) and over.args:
            yield from self._rows_of(targets[1], over.args[0].value)
        elif called == "zip" and isinstance(over, cst.Call) and len(targets) == len(over.args):
            for each, arg in zip(targets, over.args, strict=True):
                yield from self._rows_of(each, arg.value)
        elif isinstance(target, cst.Name) and self._is_tensor(over):
            yield target.value

    def _is_tensor(self, node: cst.CSTNode) -> bool:
        kind = self._kind(node)
        return isinstance(kind, str) and kind.startswith("tensor")


def _innermost(function: FunctionCode, node: cst.CSTNode) -> cst.CSTNode | None:
    """The loop or comprehension around it that runs it again and again: what a comprehension goes over is made once."""
    inner, loop = node, function.parent(node)
    while loop is not None and (not _is_loop(loop) or isinstance(inner, cst.CompFor)):
        inner, loop = loop, function.parent(loop)
    return loop


def _loops_around(function: FunctionCode, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    inner, here = node, function.parent(node)
    while here is not None and not isinstance(here, cst.FunctionDef):
        if _is_loop(here) and inner is not getattr(here, "iter", None) and not isinstance(inner, cst.CompFor):
            yield here
        inner, here = here, function.parent(here)


def _clauses(comprehension: cst.CSTNode) -> Iterator[cst.CompFor]:
    clause = getattr(comprehension, "for_in", None)
    while clause is not None:
        yield clause
        clause = clause.inner_for_in


def _names(target: cst.CSTNode) -> Iterator[str]:
    yield from (part.value for part in tree.walk(target) if isinstance(part, cst.Name))


def _runs_parts(within: list[cst.CSTNode]) -> bool:
    """Whether a loop, of which that is all, calls a part of the object."""
    heads = (each for each in within if isinstance(each, (cst.For, cst.CompFor)))
    named = {name for head in heads for name in _names(head.target)}
    for each in within:
        if isinstance(each, cst.Assign) and _is_own(each.value):  # `expert = self.experts[i]`
            named |= {name for target in each.targets for name in _names(target.target)}
    return any(_calls_part(each, named) for each in within)


def _calls_part(node: cst.CSTNode, named: set[str]) -> bool:
    """`self.layer(x)`, `self.layers[i](x)`, or `layer(x)` of the turn `layer`."""
    if not isinstance(node, cst.Call):
        return False
    callee: cst.CSTNode = node.func
    while isinstance(callee, cst.Subscript):
        callee = callee.value
    return callee.value in named if isinstance(callee, cst.Name) else _is_own(callee)


def _is_own(node: cst.CSTNode) -> bool:
    """`self.layer`, `self.layers[i]`"""
    while isinstance(node, cst.Subscript):
        node = node.value
    return isinstance(node, cst.Attribute) and is_name(node.value, "self")


def _is_loop(node: cst.CSTNode) -> bool:
    return isinstance(node, (cst.For, cst.While, cst.BaseComp))


def _is_part(node: cst.CSTNode, turn: cst.CSTNode) -> bool:
    """`self.experts[i]`, of the turn `i`."""
    if not isinstance(node, cst.Subscript) or not isinstance(node.value, cst.Attribute):
        return False
    index = node.slice[0].slice
    return isinstance(index, cst.Index) and index.value.deep_equals(turn)
