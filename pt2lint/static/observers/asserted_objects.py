"""An `assert` of a list of tensors, a module or another object, which Dynamo would assert in the graph."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from pt2lint.static.interpreter.frame import Frame
from pt2lint.static.values import Dict, Instance, Seq, Tensor, Value, is_none, options

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context

OP = "assert object"
COLLECTIONS = ("list", "tuple", "set")
OF_MODULES = ("ModuleList", "Sequential", "ParameterList")
DEEPEST = 4  # collections in collections


class AssertedObjects:
    def __init__(self, at: Context) -> None:
        self.at = at

    def asserted(self, node: ast.Assert, asked: ast.expr, value: Value, frame: Frame) -> None:
        if not frame.region or not self.at.notebook.listens(OP, frame):
            return
        given = [o for o in options(value) if is_none(o) is not True]
        kinds = {self.kind(o) for o in given}
        if given and "" not in kinds:
            asks = {self.asks(o) for o in given}
            if asks == {"length"} and len(given) < len(options(value)):
                asks = {"there, and length"}
            details = {"what": min(kinds), "asks": asks.pop() if len(asks) == 1 else ""}
            self.at.notebook.note(asked, OP, frame, details=details)

    def kind(self, value: Value, depth: int = 0) -> str:
        """What a value is that Dynamo takes for no constant; "" where it may be one, or a tensor."""
        if depth > DEEPEST or isinstance(value, Tensor):
            return ""
        if isinstance(value, Instance):
            return self.kind_of_object(value)
        if isinstance(value, Dict):
            items = [*value.items.values(), value.elem]
            return "dictionary" if any(self.keeps(one, depth) for one in items) else ""
        if isinstance(value, Seq) and value.type in OF_MODULES:
            return "module"
        if isinstance(value, Seq) and value.type in COLLECTIONS:
            if value.owner is None and self.keeps(value.elem, depth):
                return value.type
            return value.type if any(self.keeps(one, depth) for one in value.elts or ()) else ""
        return ""

    def keeps(self, value: Value, depth: int) -> bool:
        """Whether an element surely is a tensor or an object."""
        given = options(value)
        return all(isinstance(o, Tensor) or self.kind(o, depth + 1) for o in given)

    def kind_of_object(self, value: Instance) -> str:
        cls = value.cls
        if cls is None:
            return "module" if self.at.models.makes_modules(value.external or "") else ""
        if self.at.classes.is_module(cls):
            return "module"
        constant = any(self.at.models.plays(base, "enumeration") for base in self.at.classes.bases(cls)[1])
        return "" if constant else "object"

    def asks(self, value: Value) -> str:
        """What Python asks for the truth of it: its "length", nothing where it only has to be "there"; "" where its
        class says more."""
        if not isinstance(value, Instance):
            return "length"
        cls = value.cls
        if cls is None:
            return "there"
        own = any(self.at.classes.find_method(cls, name) for name in ("__bool__", "__len__"))
        known = self.at.classes.is_module(cls) or not self.at.classes.bases(cls)[1]
        return "there" if known and not own else ""
