"""Decorators that make of a method what Dynamo cannot call."""

from __future__ import annotations

import libcst as cst

from pt2lint.finding import Edit
from pt2lint.fixes.rewrite import Refusal, Repaired, fix, source
from pt2lint.rule import FunctionCode
from pt2lint.rule.tree import walk


def static(function: FunctionCode, node: cst.CSTNode) -> Repaired:
    """`@classmethod def backward(cls, ctx, grad)` as `@staticmethod def backward(ctx, grad)`. `node` is the name of the
    method.

    Refused where other decorators stand there, and where it reads the class. Unsafe where a subclass inherits it.
    """
    method = function.parent(node)
    if not isinstance(method, cst.FunctionDef) or len(method.decorators) != 1:
        return Refusal("no method with one decorator is defined there")
    [decorator] = method.decorators
    params = method.params.params
    if source(function, decorator.decorator) != "classmethod" or len(params) < 2:
        return Refusal("it is no class method that is given something")
    line, column, _, _ = function.range(params[0])
    next_line, next_column, _, _ = function.range(params[1])
    edits = [
        Edit(function.path, *function.range(decorator.decorator), "staticmethod"),
        Edit(function.path, line, column, next_line, next_column, ""),
    ]
    me = params[0].name.value
    if any(isinstance(part, cst.Name) and part.value == me for part in walk(method.body)):
        return Refusal("it reads the class, of which Dynamo knows nothing there")
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
