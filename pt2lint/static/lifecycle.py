"""The later life of objects that rules ask about: what is done with an optimizer after it is made."""

from __future__ import annotations

from typing import Any

from pt2lint.static.core import Core
from pt2lint.static.frame import Frame
from pt2lint.static.values import Instance, Py, Seq, Value, Wrapped


class Lifecycle(Core):
    """`made` holds one object for each place that makes one; `uses` what is done with it, by `id`."""

    made: dict[tuple[str, int, int, str], Instance]
    settings: dict[int, tuple[Wrapped, dict[str, str]]]

    def external_object(
        self, name: str, args: list[Value], kwargs: dict[str, Value], node: Any, frame: Frame
    ) -> Instance:
        """An object whose later life a rule may ask about (an optimizer): one for each place that makes it."""
        key = (frame.module.path, getattr(node, "lineno", 0), getattr(node, "col_offset", 0), name)
        made = self.made.get(key)
        if made is None:
            made = self.made[key] = Instance(None, name)
            self.uses[id(made)] = set()
            column = frame.module.column(node.lineno, node.col_offset)
            self.made_at[frame.module.path, node.lineno, column, f"call {name}"] = made
        for a in [*args, *kwargs.values()]:
            if isinstance(a, Instance) and id(a) in self.uses:
                self.uses[id(a)].add(f"given to {name}")
        return made

    def used(self, owner: Value | None, what: str) -> None:
        """Remember what is done with an object, if it is one whose life is followed."""
        if isinstance(owner, Instance) and id(owner) in self.uses:
            self.uses[id(owner)].add(what)

    def param_groups(self, optimizer: Instance) -> Seq:
        """`optimizer.param_groups`: what is done with a group counts as done with the optimizer."""
        group = optimizer.attrs.get("param_groups")
        if not isinstance(group, Instance):
            group = optimizer.attrs["param_groups"] = Instance(None, "torch.optim.Optimizer.param_group")
            self.uses[id(group)] = self.uses.setdefault(id(optimizer), set())
        return Seq(None, group, "list")

    def assigned_item(self, owner: Instance, index: Value) -> None:
        """`owner[index] = ...`"""
        if isinstance(index, Py) and isinstance(index.const, str):
            self.used(owner, f"set {index.const}")

    def compiled_method(self, owner: Value | None, name: str) -> None:
        """torch.compile was given a bound method of an external object."""
        self.used(owner, f"{name.rsplit('.', 1)[-1]} in region")


__all__ = ["Lifecycle"]
