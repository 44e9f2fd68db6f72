"""Numbers that are another one at each call: an object counts in them, a loop of a caller, or a framework."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from pt2lint.static.interpreter.frame import TEXT, Frame
from pt2lint.static.interpreter.syntax import dotted
from pt2lint.static.source.modules import ClassInfo
from pt2lint.static.source.nodes import (
    FunctionNode,
    parameters_in,
    parts,
)
from pt2lint.static.values import (
    Instance,
    Value,
)

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context


class Counters:
    def __init__(self, at: Context) -> None:
        self.at = at
        self._counted: dict[ClassInfo, set[str]] = {}

    def words(self, frame: Frame) -> dict[str, str]:
        """{"counts": "self.step epoch"}: numbers that the object whose method runs counts in, and that the method
        reads, and parameters that a loop of a caller counts; {"texts": "name"}: those that are given a text of many;
        {} if there are none."""
        definition = self.at.functions.running()
        if definition is None:
            return {}
        given = {p.arg for p in parameters_in(definition.args)} if frame.counted else set()
        hook = self.framework_counts(frame.me, definition)
        found = [*sorted(given & frame.counted), *sorted(self.own_counts(frame.me, definition) | hook)]
        words = {"counts": " ".join(found)} if found else {}
        if texts := sorted(name for name in given if name + TEXT in frame.counted):
            words["texts"] = " ".join(texts)
        return {**words, "hook": "yes"} if hook else words

    def own_counts(self, me: Value | None, definition: FunctionNode) -> set[str]:
        """Attributes ("self.step") that the object counts in, and that its method reads."""
        if not isinstance(me, Instance) or me.cls is None:
            return set()
        own = self._counted.get(me.cls)
        if own is None:
            all_counting = [each for cls in self.at.classes.bases(me.cls)[0] for each in cls.counting()]
            own = self._counted[me.cls] = {name for one in all_counting for name in one.counted}
            own |= {one.method for one in all_counting if one.shown & own}
        return {f"self.{part.attr}" for part in parts(definition, ast.Attribute) if part.attr in own}

    def framework_counts(self, me: Value | None, definition: FunctionNode) -> set[str]:
        """Attributes ("self.current_epoch", "self.trainer.global_step") in which the framework counts that calls the
        method."""
        named = self.at.models.last_words("counted by a framework")
        return {
            dotted(part) or ""
            for part in parts(definition, ast.Attribute)
            if part.attr in named and self.at.objects.counted_by_framework(me, part.attr)
        }
