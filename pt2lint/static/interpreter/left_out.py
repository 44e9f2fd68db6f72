"""Functions of tensors that `torch.compiler.disable` keeps out of every graph, where no call of them is in sight."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from pt2lint.static.interpreter.frame import Frame, entry, title
from pt2lint.static.source.nodes import FunctionNode, unit_of
from pt2lint.static.values import Func, Value, Wrapped

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context
    from pt2lint.static.interpreter.guards import Path

LEFT_OUT = "define disabled"


def is_left_out(value: Value) -> bool:
    return isinstance(value, Wrapped) and value.how == "disabled"


def tell(at: Context, func: Func, guards: Path) -> None:
    """Note the decorator that keeps the function out, unless a call of it in compiled code is told of in the file."""
    node = func.node
    if isinstance(node, ast.Lambda) or (node, func.module.path) in at.calls.left_out:
        return
    decorator = _disabler(at, func, node)
    frame = entry(func.module, unit_of(node))
    if decorator is None or not at.notebook.listens(LEFT_OUT, frame):
        return
    frame.context = at.conditions.contexts.root(node, guards)
    notebook, outer = at.notebook, at.notebook.started
    notebook.started = (frame.context, notebook.clock, True)
    words = {"name": title(func)}
    notebook.note(decorator, LEFT_OUT, frame, details=words)
    notebook.started = outer


def _disabler(at: Context, func: Func, node: FunctionNode) -> ast.expr | None:
    frame = Frame(func.module, unit_of(node), "", cls=func.defined_in, closure=func.env)
    for decorator in node.decorator_list:
        value = at.calls.decorator(decorator, func.env or {}, frame)
        if is_left_out(at.calls.decorate(func, [value], frame)):
            return decorator
    return None
