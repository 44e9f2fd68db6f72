"""Context managers that were made before the compiled code runs, which Dynamo enters only where that makes them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from pt2lint.static.interpreter.frame import Env, Frame
from pt2lint.static.source.nodes import walk
from pt2lint.static.values import Instance, Value, options

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context

OWN = "kept manager"
OF_TORCH = "kept manager of torch"


def kept(at: Context, value: Value, node: ast.expr, env: Env, frame: Frame) -> str:
    """What is entered where that is there already, as an attribute of a module or a global; "" else. Of several that
    it may be one has to be such a manager: the others do nothing (`contextlib.nullcontext()`)."""
    if not isinstance(node, (ast.Attribute, ast.Name)):
        return ""
    given = [option for option in options(value) if isinstance(option, Instance)]
    made = [each for each in given if _has_to_be_made(at, each)]
    if len(given) < len(list(options(value))) or not made:
        return ""
    if all(each.cls and at.classes.is_module(each.cls) for each in given) or _is_there(at, node, env, frame):
        return OF_TORCH if any(each.cls is None for each in made) else OWN
    return ""


def _has_to_be_made(at: Context, manager: Instance) -> bool:
    if manager.cls is None:
        return at.models.plays(manager.external or "", "entered where made")
    if manager.cls in at.objects.made_traced:
        return False
    if not any(at.classes.find_method(manager.cls, name) for name in ("__enter__", "__exit__")):
        return False
    bases = at.classes.bases(manager.cls)[1]
    return at.classes.is_module(manager.cls) or all(at.models.plays(e, "base of managers") for e in bases)


def _is_there(at: Context, node: ast.Attribute | ast.Name, env: Env, frame: Frame) -> bool:
    if isinstance(node, ast.Name):
        return node.id not in env and node.id in frame.module.assigned
    owner = at.expressions.again(node.value, env, frame)
    if not isinstance(owner, Instance) or owner.cls is None or not at.classes.is_module(owner.cls):
        return False
    if at.classes.find_method(owner.cls, node.attr):
        return False  # a property, which may make it
    return not _is_set(node.attr, at, owner)


def _is_set(name: str, at: Context, owner: Instance) -> bool:
    """Whether a method other than `__init__` gives the object another one."""
    assert owner.cls is not None
    for cls in at.classes.bases(owner.cls)[0]:
        for method in cls.methods.values():
            if method.name != "__init__" and any(
                isinstance(part, ast.Attribute) and part.attr == name and isinstance(part.ctx, ast.Store)
                for part in walk(method)
            ):
                return True
    return False
