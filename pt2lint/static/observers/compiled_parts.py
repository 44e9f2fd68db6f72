"""The modules that torch.compile was given, and those inside of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pt2lint.static.values import Dict, Instance, Seq, Value

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context


class CompiledParts:
    def __init__(self, at: Context) -> None:
        self.at = at
        self._parts: dict[int, Instance] = {}
        self._read_of = 0  # modules that were compiled when the parts were looked for

    def has(self, module: Instance) -> bool:
        """Whether the module was given to torch.compile, or is in one that was; for one of torch's own, whether any of
        its class is."""
        if module.cls is None:
            return any(part.external == module.external for part in self.all().values())
        return id(module) in self.all()

    def all(self) -> dict[int, Instance]:
        """The modules that torch.compile was given, and those inside of them, by their id."""
        modules = self.at.calls.roots.modules
        if len(modules) != self._read_of:
            self._read_of = len(modules)
            self._parts = {}
            for module in modules:
                self._add_parts(module)
        return self._parts

    def _add_parts(self, value: Value) -> None:
        if isinstance(value, Seq):
            for part in value.elts if value.elts is not None else [value.elem]:
                self._add_parts(part)
        elif isinstance(value, Dict):
            for part in [*value.items.values(), value.elem]:
                self._add_parts(part)
        elif isinstance(value, Instance) and id(value) not in self._parts:
            if value.cls is None or self.at.classes.is_module(value.cls):
                self._parts[id(value)] = value
                for part in self.at.objects.state(value).values() if value.cls is not None else ():
                    self._add_parts(part)
