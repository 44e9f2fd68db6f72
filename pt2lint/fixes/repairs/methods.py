"""Decorators that make of a method what Dynamo cannot call."""

from __future__ import annotations

import libcst as cst

from pt2lint.finding import Edit
from pt2lint.fixes.file import file_of, has_derived
from pt2lint.fixes.repaired import Refusal, Repaired, fix
from pt2lint.fixes.text import source
from pt2lint.rule import FunctionCode
from pt2lint.rule.tree import is_name, placed, walk


def static(function: FunctionCode, node: cst.CSTNode, owner: str) -> Repaired:
    """`@classmethod def backward(cls, ctx, grad)` as `@staticmethod def backward(ctx, grad)`; methods that it calls of
    `cls` it calls of the class by its name, `owner`. `node` is the name of the method.

    Refused where it does anything else with the class, `super()` included, or a class of the file that is derived from
    this one may have such methods of its own. Unsafe where a subclass elsewhere inherits it.
    """
    method = function.parent(node)
    if not isinstance(method, cst.FunctionDef) or len(placed(method.params)) < 2:
        return Refusal("no method that is given something is defined there")
    decorators = [d for d in method.decorators if source(function, d.decorator) == "classmethod"]
    if len(decorators) != 1:
        return Refusal("`classmethod` is not one of its decorators")
    first, second = placed(method.params)[:2]
    line, column, _, _ = function.range(first)
    next_line, next_column, _, _ = function.range(second)
    edits = [
        Edit(function.path, *function.range(decorators[0].decorator), "staticmethod"),
        Edit(function.path, line, column, next_line, next_column, ""),
    ]
    for part in walk(method.body):
        if is_name(part, "super"):
            return Refusal("`super()` needs the class")
        if is_name(part, first.name.value):
            called = function.parent(part)
            if isinstance(called, cst.Attribute) and called.attr is part:
                continue
            call = function.parent(called) if isinstance(called, cst.Attribute) else None
            if not isinstance(call, cst.Call) or call.func is not called:
                return Refusal("it reads the class, of which Dynamo knows its methods there")
            if has_derived(file_of(function).tree, owner):
                return Refusal("a class that is derived from this one may have that method anew")
            edits.append(Edit(function.path, *function.range(part), owner))
    return fix("Make it a static method, as torch.autograd.Function asks for: it is given the same.", edits)


def outermost(function: FunctionCode, place: str) -> Repaired:
    """`@staticmethod` above the other decorators, which are then given the function itself. `place`: the lines of the
    first decorator and of `@staticmethod`."""
    first, last = map(int, place.split())
    above = function.source.split("\n")[first - 1 : last]
    if not above or above[-1].strip() != "@staticmethod":
        return Refusal("the decorators do not stand in lines of their own")
    text = "\n".join([above[-1], *above[:-1]]) + "\n"
    return fix(
        "Put `@staticmethod` first: what stands below it is then given the function, and Dynamo looks through it.",
        (Edit(function.path, first, 1, last + 1, 1, text),),
    )
