"""A function as it is written: its LibCST tree with positions, which stay as long as its text does."""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Mapping
from functools import cache, cached_property

import libcst as cst

from pt2lint.rule import tree

ROOM = 300_000  # characters of the functions that a process keeps which lints the same file again and again


@cache
def _rank(kind: type[cst.CSTNode]) -> int:
    """2 for expressions, 1 for statements, 0 for all else."""
    if issubclass(kind, cst.BaseExpression):
        return 2
    return int(issubclass(kind, (cst.BaseStatement, cst.BaseSmallStatement)))


class Written:
    """`text` is whole lines at any indentation; lines are those of a module of its own, which has a line above.

    `indent` is that of a block of the file, "" where it has none.
    """

    def __init__(self, text: str, indent: str) -> None:
        self.text, self.indent = text, indent

    @cached_property
    def code(self) -> str:
        """The text as a module of its own, which a header line makes of source at any indentation."""
        return ("if 1:\n" if self.text[:1] in " \t" else "\n") + self.text

    @cached_property
    def module(self) -> cst.Module:
        made = cst.parse_module(self.code)
        # LibCST takes the white space before a method for one level, also where it is more.
        # A form feed before a block is white space to Python, but no indent to build new code with.
        return tree.indented(made, (self.indent or made.default_indent).replace("\f", "") or "    ")

    @cached_property
    def positions(self) -> Mapping[cst.CSTNode, tree.Place]:
        return tree.positions(self.module)

    @cached_property
    def parents(self) -> Mapping[cst.CSTNode, cst.CSTNode]:
        with tree.effort(sys.maxsize):  # no repair's own: the next one finds them there
            return tree.parents(self.module)

    @cached_property
    def nodes(self) -> Mapping[tree.Place, cst.CSTNode]:
        """The node at each place: an expression rather than the statement that is nothing else."""
        nodes: dict[tree.Place, cst.CSTNode] = {}
        for node, place in self.positions.items():
            rank = _rank(node.__class__)
            if rank and (rank == 2 or place not in nodes):
                nodes[place] = node
        return nodes


class Shelf:
    """Functions as they were written when they were read last. What was not asked for longest goes first."""

    def __init__(self, room: int = ROOM) -> None:
        self._known: OrderedDict[tuple[str, str], Written] = OrderedDict()
        self._room = room

    def written(self, text: str, indent: str) -> Written:
        found = self._known.get((text, indent))
        if found is None:
            found = self._known[text, indent] = Written(text, indent)
            self._room -= len(text)
        self._known.move_to_end((text, indent))
        while self._room < 0:
            self._room += len(self._known.popitem(last=False)[1].text)
        return found
