"""Parameters of a compiled module that code which is not compiled freezes, or no longer does."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from pt2lint.static.interpreter.frame import Env, Frame
from pt2lint.static.source.nodes import walk
from pt2lint.static.values import Instance, Seq, Value, Wrapped, options

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context

FLAG, SETS = "requires_grad", "requires_grad_"
GIVES = ("parameters", "named_parameters")


class Unfrozen:
    def __init__(self, at: Context) -> None:
        self.at = at

    def called(
        self, node: ast.Call, func: Value, args: list[Value], result: Value, env: Env, frame: Frame
    ) -> None:
        """`net.head.requires_grad_(True)`, `parameter.requires_grad_()`"""
        if isinstance(node.func, ast.Attribute) and node.func.attr == SETS:
            self.looked_at(node, node.func.value, env, frame)

    def assigned(
        self, target: ast.expr, owner: Value, value: Value, index: Value | None, env: Env, frame: Frame
    ) -> None:
        """`parameter.requires_grad = True`"""
        if isinstance(target, ast.Attribute) and target.attr == FLAG:
            self.looked_at(target, target.value, env, frame)

    def looked_at(self, node: ast.expr, place: ast.expr, env: Env, frame: Frame) -> None:
        if frame.region or not self.at.calls.roots.modules or not self.at.notebook.listens("unfreeze", frame):
            return
        whole = part = self.gone_over(place, frame) or place
        while True:
            if self.is_compiled(self.at.expressions.quietly(whole, env, frame)):
                head = whole
                while isinstance(head, ast.Attribute | ast.Subscript):
                    head = head.value
                details = {"of": ast.unparse(part), "head": ast.unparse(head)}
                self.at.notebook.note(node, "unfreeze", frame, details=details)
                return
            if not isinstance(whole, ast.Attribute | ast.Subscript):
                return
            whole = whole.value  # a part of what is compiled

    def gone_over(self, place: ast.expr, frame: Frame) -> ast.expr | None:
        """`net.head` where a loop over `net.head.parameters()` binds the name."""
        function, found = self.at.functions.running(), None
        for loop in walk(function if function is not None else frame.module.tree):
            if not isinstance(loop, ast.For) or not isinstance(place, ast.Name):
                continue
            over = loop.iter
            around = loop.lineno <= place.lineno <= (loop.end_lineno or 0)
            bound = any(isinstance(n, ast.Name) and n.id == place.id for n in ast.walk(loop.target))
            if around and bound and isinstance(over, ast.Call) and isinstance(over.func, ast.Attribute):
                found = over.func.value if over.func.attr in GIVES else found
        return found

    def is_compiled(self, value: Value) -> bool:
        """Whether it is what torch.compile returned of a module, or a module that it was given; of an `nn.Sequential`,
        whether it was given any, as each look at a global makes a new one."""
        modules = self.at.calls.roots.modules
        return any(
            (isinstance(o, Wrapped) and o.how == "compiled" and isinstance(o.inner, Instance | Seq))
            or (isinstance(o, Instance) and any(o is one for one in modules))
            or (isinstance(o, Seq) and any(isinstance(one, Seq) and one.type == o.type for one in modules))
            for o in options(value)
        )
