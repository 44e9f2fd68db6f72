"""LibCST trees with other nodes in the place of some."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import libcst as cst

from pt2lint.rule.tree import children

if TYPE_CHECKING:
    from pt2lint.fixes.rewrite import New


class Replace(cst.CSTTransformer):
    """Builds anew only what holds a replaced node."""

    def __init__(self, root: cst.CSTNode, new: Mapping[cst.CSTNode, New]) -> None:
        super().__init__()
        self.new = new
        self.holders: set[cst.CSTNode] = set()
        self.became: dict[cst.CSTNode, list[cst.CSTNode]] = {}
        self._find(root)

    def _find(self, node: cst.CSTNode) -> bool:
        if node in self.new:
            return True
        found = False
        for child in children(node):
            found = self._find(child) or found
        if found:
            self.holders.add(node)
        return found

    def on_visit(self, node: cst.CSTNode) -> bool:
        return node in self.holders

    def on_leave(self, original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:  # type: ignore[override]
        if original not in self.new:
            if original in self.holders:
                self.became[original] = [updated]
            return updated
        new = self.new[original]
        made = [] if new is None else [new] if isinstance(new, cst.CSTNode) else list(new)
        made[:1] = [_below(original, one) for one in made[:1]]
        self.became[original] = made
        if not made:
            return cst.RemoveFromParent()  # type: ignore[return-value]
        if isinstance(new, cst.CSTNode):
            return made[0]
        return cst.FlattenSentinel(made)  # type: ignore[return-value]


def _below(original: cst.CSTNode, new: cst.CSTNode) -> cst.CSTNode:
    """The new node under the comments and blank lines that stood above the original, unless it has its own."""
    above = getattr(original, "leading_lines", ())
    if above and new is not original and hasattr(new, "leading_lines") and not new.leading_lines:
        return new.with_changes(leading_lines=above)
    return new
