"""What a function changes that was there before, where an operator has it traced as a graph of its own: what
`torch.utils.checkpoint.checkpoint` runs, and the branches of `torch.cond`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from pt2lint.static.interpreter.frame import Env, Frame
from pt2lint.static.source.nodes import MAKERS, FunctionNode, parts
from pt2lint.static.values import NO_CONST, Dict, Ext, Instance, Py, Seq, Tensor, Value, options

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context

OPERATION = "change outside"
LISTS = ("list", "deque")


class OuterChanges:
    def __init__(self, at: Context) -> None:
        self.at = at

    def assigned(
        self, target: ast.expr, owner: Value, value: Value, index: Value | None, env: Env, frame: Frame
    ) -> None:
        """`self.aux = y.mean()`, `kept["key"] = y`, `nonlocal n; n = y`."""
        if not self._listens(frame):
            return
        if isinstance(target, ast.Subscript):
            if isinstance(owner, Dict) or (isinstance(owner, Seq) and owner.type in LISTS):
                if self._is_outside(target.value, env, frame):
                    self._note(target, "item", frame)
        elif _is_other_each_time(value):
            if isinstance(target, ast.Name):
                self._note(target, "name", frame)  # a global or a nonlocal one: no other makes an event
            elif isinstance(target, ast.Attribute) and self._is_outer(owner, target.value, env, frame):
                self._note(target, "attribute", frame)

    def changed(self, target: ast.expr, current: Value, made: Value, env: Env, frame: Frame) -> None:
        """`self.calls += 1`, `self.seen += [y]`"""
        if not self._listens(frame) or any(isinstance(one, Tensor) for one in options(current)):
            return
        if isinstance(target, ast.Attribute):
            for owner in options(self.at.expressions.again(target.value, env, frame)):
                if self._is_outer(owner, target.value, env, frame):
                    self._note(target, "attribute", frame)
        elif isinstance(target, ast.Name) and (target.id in frame.globals or target.id in frame.nonlocals):
            self._note(target, "name", frame)

    def calling(self, node: ast.Call, func: Value, env: Env, frame: Frame) -> None:
        """`kept.append(y)`"""
        callee = node.func
        if not isinstance(callee, ast.Attribute) or not isinstance(func, Ext) or not self._listens(frame):
            return
        if self.at.models.plays(func.name, "fills") and self._is_outside(callee.value, env, frame):
            self._note(node, "collection", frame)

    def _listens(self, frame: Frame) -> bool:
        return frame.within is not None and self.at.notebook.listens(OPERATION, frame)

    def _note(self, node: ast.expr, how: str, frame: Frame) -> None:
        assert frame.within is not None
        operator, body = frame.within
        self.at.notebook.note(
            node, OPERATION, frame, details={"how": how, "operator": operator, "runs": body.title}
        )

    def _is_outside(self, place: ast.expr, env: Env, frame: Frame) -> bool:
        """Whether the collection at that place was there before the operator ran the function."""
        while isinstance(place, ast.Subscript):
            place = place.value
        if isinstance(place, ast.Attribute):
            return any(
                self._is_outer(owner, place.value, env, frame)
                for owner in options(self.at.expressions.again(place.value, env, frame))
            )
        if not isinstance(place, ast.Name):
            return False
        if place.id in frame.globals or place.id in frame.nonlocals:
            return True
        return self._is_outer_name(place.id, env, frame)

    def _is_outer_name(self, name: str, env: Env, frame: Frame) -> bool:
        """Whether the function that runs was given what lies under the name, or found it around itself."""
        assert frame.within is not None
        first = frame.within[1] is frame
        function = self.at.functions.running()
        if name not in env:
            return first if name in (frame.closure or {}) else name in frame.module.assigned
        value = env[name]
        if isinstance(function, FunctionNode):
            stored = [n for n in parts(function, ast.Name) if n.id == name and isinstance(n.ctx, ast.Store)]
            if stored:
                given = [p.value for p in parts(function, ast.Assign) if any(t in stored for t in p.targets)]
                is_one = len(stored) == 1 and len(given) == 1 and isinstance(given[0], ast.Attribute)
                return is_one and self._is_outside(given[0], env, frame)
            named = (function.args.vararg, function.args.kwarg)
            if any(star is not None and star.arg == name for star in named):
                return False
        return first and name in frame.parameters and isinstance(value, (Dict, Seq, Instance))

    def _is_outer(self, owner: Value, place: ast.expr, env: Env, frame: Frame) -> bool:
        """Whether an object was there before the operator ran the function."""
        assert frame.within is not None
        function = self.at.functions.running()
        if not isinstance(owner, Instance) or owner.cls is None:
            return False
        if isinstance(function, FunctionNode) and function.name in MAKERS:
            return False  # it makes the object
        if self.at.classes.is_module(owner.cls):
            return True
        if isinstance(place, ast.Name) and self._is_outer_name(place.id, env, frame):
            return True
        here: Frame | None = frame
        while here is not None and here.region and not here.entry:
            me = here.me
            if isinstance(me, Instance) and me.cls is not None and me is not owner:
                if any(owner is o for held in self.at.objects.state(me).values() for o in options(held)):
                    return True
            here = here.parent
        return False


def _is_other_each_time(value: Value) -> bool:
    """Whether a tensor, a number that is computed or a list is kept. What is always the same is no change where it was
    there before."""
    return any(
        isinstance(one, (Tensor, Seq, Dict)) or (isinstance(one, Py) and one.const is NO_CONST)
        for one in options(value)
    )
