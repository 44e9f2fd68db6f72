"""What compiled code gets at by the name of a global. Dynamo takes whole numbers in it for constants, and guards on
each: in an attribute, a dictionary or a list, one object further in, and where its own methods change it (measured on
2.13)."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from pt2lint.static.interpreter.frame import Env, Frame
from pt2lint.static.values import Py, Value, options

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context


def is_by_global(at: Context, place: ast.expr, env: Env, frame: Frame) -> bool:
    """Whether the name that a place begins with is a global's, or is the object of a method that is called of one."""
    head = head_of(place)
    if head is None:
        return False
    if head not in env:
        return head not in (frame.closure or {})  # of this file, of another one, a class
    return env[head] is frame.me and is_global_object(at, frame.me, frame)


def head_of(place: ast.expr) -> str | None:
    """The name that a place begins with: `a` of `a.b[0].c`."""
    while isinstance(place, (ast.Attribute, ast.Subscript)):
        place = place.value
    return place.id if isinstance(place, ast.Name) else None


def is_global_object(at: Context, owner: Value | None, frame: Frame) -> bool:
    """Whether it is a global of the file of the function that compiling starts with, which is no method of it."""
    root = frame.first
    return (
        owner is not None
        and owner is not root.me
        and any(owner in options(at.names.global_name(root.module, name)) for name in root.module.assigned)
    )


def is_whole(value: Value) -> bool:
    """Whether it is a whole number of Python, and none that was read out of a tensor."""
    return isinstance(value, Py) and value.type == "int" and not value.read
