"""Whether a module holds weights: what compiling is for. A metric, a transform of data, a matcher holds none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pt2lint.libraries.model import FOREIGN
from pt2lint.static.source.modules import ClassInfo
from pt2lint.static.values import UNKNOWN, Dict, Instance, Py, Seq, Tensor, Value, options

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context


class Weights:
    """`hears` of nothing; asks each class once."""

    def __init__(self, at: Context) -> None:
        self.at = at
        self._known: dict[ClassInfo, bool] = {}

    def of(self, cls: ClassInfo) -> bool:
        """Whether an object of the class holds weights, or something of which that cannot be told."""
        known = self._known.get(cls)
        if known is None:
            self._known[cls] = False  # one that holds itself holds what else is in it
            known = self._known[cls] = self._asked(cls)
        return known

    def _asked(self, cls: ClassInfo) -> bool:
        order, external, hazy = self.at.classes.bases(cls)
        if hazy or not all(self._is_plain_base(base) for base in external):
            return True
        state = self.at.objects.state(self.at.objects.instance(cls))
        if any(self._holds(value, False) for value in [*state.values()]):
            return True  # as of most: without reading what all its methods and its bases' do
        called, above, seen = set[str](), set[str](), set[str]()
        for one in order:
            replaced = seen - above  # by a class below, which does not call them
            for name in (name for name in one.methods if name not in replaced):
                known = one.does(name)
                called |= known.called
                above |= known.above
                if known.adds:
                    return True
            seen |= one.methods.keys()
        return any(self._holds(value, True) for name, value in state.items() if name in called)

    def _is_plain_base(self, base: str) -> bool:
        entry = self.at.models.of(base)
        if "module base" in entry.roles:
            return True
        if not self.at.models.makes_modules(base):
            return self.at.models.library_of(base).closed  # a class of which nothing is known may hold some
        return entry.forward is not None and "holds weights" not in entry.roles

    def _holds(self, value: Value, called: bool, depth: int = 0) -> bool:
        for o in options(value):
            if o is UNKNOWN or (isinstance(o, Py) and o.type == "object"):
                if called:
                    return True  # `self.model(x)`, whatever it was given as
            elif isinstance(o, Tensor):
                if o.origin is not None and "Parameter`" in o.origin[2]:
                    return True
            elif isinstance(o, Instance):
                if o.cls is not None:
                    if self.at.classes.is_module(o.cls) and self.of(o.cls):
                        return True
                elif o.external and self.has_weights(o.external, called):
                    return True
            elif isinstance(o, (Seq, Dict)) and depth < 3:
                inner = [*(o.elts or ())] if isinstance(o, Seq) else [*o.items.values()]
                if any(self._holds(each, False, depth + 1) for each in [*inner, o.elem]):
                    return True
                if isinstance(o, Seq) and o.elts is None and o.elem is UNKNOWN and called:
                    return True
        return False

    def are_none(self, value: Value) -> bool:
        """Whether it surely is a module without weights: a loss, an activation, one of the project's own."""
        return all(
            isinstance(o, Instance)
            and (
                self.at.classes.is_module(o.cls) and not self.of(o.cls)
                if o.cls is not None
                else self.at.models.of(o.external or "").forward is not None
                and not self.has_weights(o.external or "", True)
            )
            for o in options(value)
        )

    def has_weights(self, external: str, called: bool) -> bool:
        """Whether a module of a library holds weights; one of which nothing is known, or no more than that it is a
        module, may, where it is called."""
        entry = self.at.models.of(external)
        if entry.forward is None:
            return called and (entry.library is FOREIGN or "module base" in entry.roles)
        return "holds weights" in entry.roles


def is_scalar(value: Value) -> bool:
    """Whether it is a tensor of no dimensions, as a loss is, or begins with one, or holds some under names."""
    return any(
        (isinstance(o, Tensor) and o.ndim == 0)
        or (isinstance(o, Seq) and bool(o.elts) and o.elts is not None and is_scalar(o.elts[0]))
        or (isinstance(o, Dict) and any(isinstance(v, Tensor) and v.ndim == 0 for v in o.items.values()))
        for o in options(value)
    )


def is_plain(value: Value, depth: int = 0) -> bool:
    """Whether it is made of numbers and texts of Python, and holds no tensor."""
    if isinstance(value, Py):
        return value.type in ("int", "float", "bool", "str")
    if isinstance(value, Seq):
        inside = value.elts if value.elts is not None else [value.elem]
        return depth < 3 and bool(inside) and all(is_plain(each, depth + 1) for each in inside)
    if isinstance(value, Dict):
        inside = [*value.items.values()] or [value.elem]
        return depth < 3 and all(is_plain(each, depth + 1) for each in inside)
    return False
