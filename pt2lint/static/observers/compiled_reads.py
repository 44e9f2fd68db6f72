"""Attributes of what torch.compile returned that are read."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from pt2lint.static.interpreter.frame import Frame
from pt2lint.static.source.modules import ClassInfo
from pt2lint.static.source.nodes import (
    FunctionNode,
    is_name,
    is_own,
    own_name,
    parameters_in,
    unit_of,
    walk,
)
from pt2lint.static.values import (
    UNKNOWN,
    Ext,
    Func,
    Instance,
    Tensor,
    Value,
    Wrapped,
    is_stack,
    may_be_plain,
    options,
)

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context

MANY = (
    2  # calls of torch functions on tensors that make a method worth compiling; or one product with its own
)
# How a text that is looked for, or taken off, in names ends.
PREFIXES = ('_orig_mod."', "_orig_mod.'", "_orig_mod.{", "_orig_mod\\.")


class CompiledReads:
    def __init__(self, at: Context) -> None:
        self.at = at

    def read(self, owner: Wrapped, name: str, node: ast.expr, frame: Frame, among: Value) -> None:
        """An attribute of what torch.compile returned is read."""
        inner = owner.inner
        module = all(  # as it may be for the other ways that the code may have gone
            one is UNKNOWN
            or is_stack(one)
            or (isinstance(one, Instance) and (one.cls is None or self.at.classes.is_module(one.cls)))
            for one in options(inner)
        )
        if module and self.at.notebook.listens("attribute of compiled", frame):
            words = self.words_of_compiled(inner, name, frame)
            if owner.within:
                words["within"] = owner.within
            if may_be_plain(among) or self._is_made_plain(node, frame):
                words["maybe"] = "yes"
            self.at.notebook.note(node, "attribute of compiled", frame, details=words)

    def _is_made_plain(self, place: ast.expr, frame: Frame) -> bool:
        """Whether it is asked of what the object keeps of an argument of its `__init__`, and some code of the project
        makes such an object with what is not compiled, as far as reading tells."""
        while isinstance(place, ast.Attribute) and not is_own(place):
            place = place.value
        cls = frame.own_class
        found = self.at.classes.find_method(cls, "__init__") if cls is not None else None
        if cls is None or found is None or not is_own(place):
            return False
        kept = {value.id for method, value in cls.assigned(place.attr) if isinstance(value, ast.Name)}
        maker = Func(found[1], found[0].module, found[0].env, Instance(cls), found[0])
        passed = self.at.functions.passed
        passed.read(maker.module)
        passed.read_callers(maker)
        given = passed.seen.get(maker.node, {})
        return any(
            not isinstance(one, Wrapped) or one.how != "compiled"
            for name in kept
            for one in options(given.get(name, UNKNOWN))
        )

    def words_of_compiled(self, inner: Value, name: str, frame: Frame) -> dict[str, str]:
        """What rules are told of `compiled.name`."""
        words = {"name": "constant " + repr(name), "self": self.at.types.sort(inner)}
        found = (
            self.at.classes.find_method(inner.cls, name)
            if isinstance(inner, Instance) and inner.cls
            else None
        )
        if found is not None:
            words["method"] = self.compute(*found) or self.computes(*found)
        elif isinstance(inner, Instance) and inner.cls is not None:
            value = self.at.objects.state(inner).get(name, UNKNOWN)
            layer = isinstance(value, Instance) and (
                value.cls is None or self.at.classes.is_module(value.cls)
            )
            if (layer or is_stack(value)) and id(value) not in self.at.calls.roots.settings:
                words["part"] = "module"
        if frame.module.says("_orig_mod"):
            prefix = any(map(frame.module.says, PREFIXES))
            words["aware"] = "of the prefix" if prefix else "of the module"
        return words

    def compute(self, cls: ClassInfo, node: FunctionNode) -> str:
        """What a method does that compiling could speed up: "calls self", "calls forward", "calls NAME", or ""."""
        me = own_name(node)
        if not me:
            return ""
        for decorator in node.decorator_list:
            named = decorator.func if isinstance(decorator, ast.Call) else decorator
            value = self.at.expressions.quietly(named, cls.env or {}, Frame(cls.module, (1, 1), ""))
            if not isinstance(value, Ext) or not self.at.models.plays(value.name, "without gradients"):
                return ""
        layers = {name for name, value in cls.layers() if self._makes_module(value, cls)}
        for part in walk(node):
            if isinstance(part, ast.Call):
                callee = part.func
                if is_name(callee, me):
                    return "calls self"
                if isinstance(callee, ast.Attribute) and is_name(callee.value, me):
                    if callee.attr == "forward":
                        return "calls forward"
                    if callee.attr in layers:
                        return f"calls {callee.attr}"
        return ""

    def computes(self, cls: ClassInfo, node: FunctionNode) -> str:
        """ "computes" where a method that is given something does several things to tensors, else ""."""
        parameters = {p.arg for p in parameters_in(node.args)[1:]}
        if not parameters or node.decorator_list:
            return ""
        me = self.at.objects.instance(cls)
        frame = Frame(cls.module, unit_of(node), "", cls=cls)
        env = {**(cls.env or {}), own_name(node): me}
        done = 0
        for part in walk(node):
            if isinstance(part, ast.Call) and isinstance(part.func, (ast.Name, ast.Attribute)):
                callee = self.at.expressions.quietly(part.func, env, frame)
                if isinstance(callee, Ext) and self.at.models.takes_tensor_first(callee.name):
                    done += 1
            elif isinstance(part, ast.BinOp):
                # `(y - self.shift) * self.scale`: arithmetic with what the module holds as tensors.
                held = [s for s in (part.left, part.right) if isinstance(s, ast.Attribute)]
                if isinstance(part.op, ast.MatMult) or any(
                    isinstance(self.at.expressions.quietly(s, env, frame), Tensor) for s in held
                ):
                    done += MANY
        return "computes" if done >= MANY else ""

    def _makes_module(self, value: ast.expr, cls: ClassInfo) -> bool:
        if not isinstance(value, ast.Call):
            return False
        callee = self.at.expressions.quietly(value.func, cls.env or {}, Frame(cls.module, (1, 1), ""))
        if isinstance(callee, Ext):
            return self.at.models.of(callee.name).forward is not None
        info = getattr(callee, "info", None)
        return info is not None and self.at.classes.is_module(info)
