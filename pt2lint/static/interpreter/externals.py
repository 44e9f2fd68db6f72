"""What lies outside the project: the library models are asked what it returns and what is to be noted."""

from __future__ import annotations

import ast
from typing import Any

from pt2lint.libraries.call import Call
from pt2lint.libraries.model import Entry
from pt2lint.static.interpreter.frame import Frame
from pt2lint.static.observers.misuse import Misuse
from pt2lint.static.values import (
    LEAF,
    UNKNOWN,
    Ext,
    Instance,
    Seq,
    Tensor,
    Value,
    options,
    tensor_of,
    truth,
)


class Externals(Misuse):
    def sorts(
        self, args: list[Value], kwargs: dict[str, Value], receiver: Value | None = None
    ) -> dict[int | str, str]:
        found: dict[int | str, str] = {i: self.sort(a) for i, a in enumerate(args)}
        found.update({k: self.sort(v) for k, v in kwargs.items()})
        if receiver is not None:
            found["self"] = self.sort(receiver)
            if isinstance(receiver, Tensor) and receiver.leaf == LEAF:
                found["input"] = "self"
        return found

    def call_external(
        self, func: Ext, args: list[Value], kwargs: dict[str, Value], node: Any, frame: Frame
    ) -> Value:
        name, receiver = func.name, func.receiver
        entry = self.models.of(name)
        self.last_external, self.last_call = name, node
        # `frame.inside` and the rest of the place are the caller's.
        if self.listens(entry.op, frame):
            about = tensor_of(receiver) if receiver is not None else None
            if about is None:
                about = next((t for t in map(tensor_of, args) if t is not None), None)
            if about is not None and about is not receiver:
                if entry.given == "tensors":
                    about = about.but(sure=True)
                elif not entry.given:
                    about = None
            self.note(node, entry.op, frame, about=about, args=self.sorts(args, kwargs, receiver))
        if "draws" in entry.roles and truth(kwargs.get("training", UNKNOWN)) is not False:
            self.drawn.append((name, getattr(node, "lineno", 0)))
        method = name.rsplit(".", 1)[-1]
        self.used(receiver, f"{method} in region" if frame.region else method)
        if entry.sizes is not None:
            self.sizes(entry, args, kwargs, node, frame)
        return entry.answer(Call(name, args, kwargs, node, frame, receiver, self))

    def sizes(
        self, entry: Entry, args: list[Value], kwargs: dict[str, Value], node: Any, frame: Frame
    ) -> None:
        """Note a tensor that stands where a size is needed: Dynamo has to read it."""
        if entry.sizes is None or not self.listens("size tensor", frame):
            return
        positions, keywords = entry.sizes
        given = [args[i] for i in positions if i < len(args)] + [kwargs[k] for k in keywords if k in kwargs]
        for value in given:
            parts = [value]
            if isinstance(value, Seq):
                parts = value.elts if value.elts is not None else [value.elem]
            for part in parts:
                tensor = part if isinstance(part, Tensor) else None
                # Of an input, Dynamo knows the number if it has no dimensions; Python itself has to read it.
                if tensor is not None and (not tensor.leaf or tensor.ndim or entry.given == "anything"):
                    self.note(node, "size tensor", frame, about=tensor)
                    return

    def iterated(self, node: ast.expr, value: Value, frame: Frame) -> None:
        for o in options(value):
            if isinstance(o, Instance) and o.external and self.listens(f"iterate {o.external}", frame):
                self.note(node, f"iterate {o.external}", frame)
