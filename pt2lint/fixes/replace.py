"""LibCST trees with other nodes in the place of some."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import libcst as cst

from pt2lint.rule.tree import children, walk

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
            if isinstance(original, cst.IndentedBlock) and original in self.holders:
                updated = self._spaced(original, updated)
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

    def _spaced(self, original: cst.IndentedBlock, updated: cst.CSTNode) -> cst.CSTNode:
        """Blank lines below what is replaced stay there. One that holds the spaces of a block's indentation is the
        block's own in LibCST, and goes with it."""
        assert isinstance(updated, cst.IndentedBlock)
        lines, footer = [*updated.body], updated.footer
        for at, each in enumerate(original.body):
            made = self.became.get(each, [])
            blank = _blank_below(each) if each in self.new and made and not _blank_below(made[-1]) else []
            if not blank:
                continue
            if at + 1 == len(original.body):
                footer = (*blank, *footer)
                continue
            after = original.body[at + 1]
            became = self.became.get(after, [after])
            if became and (first := became[0]) in lines:
                moved = first.with_changes(leading_lines=(*blank, *first.leading_lines))  # type: ignore[attr-defined]
                lines[lines.index(first)] = moved  # type: ignore[arg-type, call-overload]
                self.became[after] = [moved, *became[1:]]
        return updated.with_changes(body=lines, footer=footer)


def _blank_below(node: cst.CSTNode) -> list[cst.EmptyLine]:
    """The blank lines at the end of a statement's last block."""
    found: list[cst.EmptyLine] = []
    last: cst.CSTNode | None = node
    while last is not None:
        if isinstance(last, cst.IndentedBlock):
            found[:0] = [cst.EmptyLine(indent=False) for line in last.footer if line.comment is None]
        inner = children(last)
        last = inner[-1] if inner and isinstance(inner[-1], _HOLD_BLOCKS) else None
    return found


_HOLD_BLOCKS = (
    cst.IndentedBlock,
    cst.BaseCompoundStatement,
    cst.Else,
    cst.ExceptHandler,
    cst.Finally,
)


def _below(original: cst.CSTNode, new: cst.CSTNode) -> cst.CSTNode:
    """The new node under the comments and blank lines that stood above the original, unless it has its own, or they
    stand in it."""
    above = getattr(original, "leading_lines", ())
    if above and new is not original and hasattr(new, "leading_lines") and not new.leading_lines:
        if not any(getattr(one, "leading_lines", ()) == above for one in walk(new)):
            return new.with_changes(leading_lines=above)
    return new
