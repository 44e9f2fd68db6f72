"""A text parsed once more after an edit: statements that the edit leaves as and where they were are taken from the tree
of the text before, with all that is known of them; only what stands between is parsed.

An editor's file is parsed at each stroke of a key, most of which change one line of one function.
"""

from __future__ import annotations

import ast
from collections import OrderedDict
from collections.abc import Sequence
from itertools import takewhile

from pt2lint.static.source.data import SMALL
from pt2lint.static.source.nodes import parse, unit_of

FEW = 4  # files whose trees are kept: one of 3,000 lines takes 25 MB


class Trees:
    """The trees of the files that were parsed last, as they were. Who is given one may note in its nodes what he finds
    out of them alone; he is done with it once the next one is parsed."""

    def __init__(self) -> None:
        self._last: OrderedDict[str, tuple[str, ast.Module]] = OrderedDict()

    def parse(self, source: str, path: str) -> ast.Module:
        """What `nodes.parse` gives, and raises."""
        known = self._last.get(path)
        tree = reparsed(*known, source) if known is not None else None
        if tree is None:
            tree = parse(source, path)
        self._last[path] = source, tree
        self._last.move_to_end(path)
        if len(self._last) > FEW:
            self._last.popitem(last=False)
        return tree


def reparsed(before: str, tree: ast.Module, source: str) -> ast.Module | None:
    """The tree of the source, made of parts of another text's tree; None where none is to be had so."""
    if max(len(before), len(source)) >= SMALL or any(sign in before + source for sign in "\r\f\t\0"):
        return None
    edit = _Edit(before.split("\n"), source.split("\n"))
    try:
        body = edit.body(tree.body, 1, len(edit.old), top=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return None if body is None else ast.Module(body, [])


class _Edit:
    """What became of the lines of a text. `first` and `last` are the lines, counted from 1, of the old text between
    those that both begin and end with; where `last` is less, lines came in before `first`."""

    def __init__(self, old: list[str], new: list[str]) -> None:
        self.old, self.new, self.more = old, new, len(new) - len(old)
        alike = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))
        rest = min(len(old), len(new)) - alike
        ends = zip(old[::-1][:rest], new[::-1][:rest], strict=True)
        self.first = alike + 1
        self._end: tuple[int | None, int | None] = (None, None)  # of what was parsed last in a class
        self.last = len(old) - sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], ends))

    def body(self, old: Sequence[ast.stmt], first: int, last: int, top: bool) -> list[ast.stmt] | None:
        """The statements of the top level, or of a class, in these lines of the old text, as they are now."""
        if not top and any(each.col_offset != old[0].col_offset for each in old):
            return None
        starts = [unit_of(each)[0] for each in old]
        if any(start <= (above.end_lineno or 0) for start, above in zip(starts[1:], old, strict=False)):
            return None  # two on one line
        begun = sum(1 for start in starts if start <= self.first)
        if not begun and not top:
            return None  # the header of the class
        # Lines that came or went move all below: what stands there is parsed as well.
        touched = len(old) if self.more else sum(1 for start in starts if start <= self.last)
        touched = max(touched, begun)
        here = starts[begun - 1] if begun else first
        there = starts[touched] - 1 if touched < len(old) else last
        kept, after = [*old[: max(begun - 1, 0)]], [*old[touched:]]
        changed = old[begun - 1] if begun else None
        if top and isinstance(changed, ast.ClassDef):
            end = starts[begun] - 1 if begun < len(old) else last
            inner = self._in_class(changed, here, end) if self.last <= end else None
            if inner is not None:
                rest = self._parsed(end + 1 + self.more, there + self.more, True) if touched > begun else []
                return [*kept, inner, *rest, *after]
        return [*kept, *self._parsed(here, there + self.more, top, old), *after]

    def _in_class(self, cls: ast.ClassDef, first: int, last: int) -> ast.ClassDef | None:
        """The class in these lines, where all that changed is some of what stands in it."""
        if unit_of(cls.body[0])[0] <= cls.lineno:
            return None
        try:
            body = self.body(cls.body, first, last, top=False)
        except SyntaxError:
            return None  # as far as its lines alone tell
        if body is None:
            return None
        made = ast.ClassDef(**{name: getattr(cls, name) for name in cls._fields})
        ast.copy_location(made, cls)
        made.body = body
        if body[-1] is not cls.body[-1]:
            made.end_lineno, made.end_col_offset = self._end
        return made

    def _parsed(self, first: int, last: int, top: bool, among: Sequence[ast.stmt] = ()) -> list[ast.stmt]:
        """The statements in these lines of the new text. Raises SyntaxError where they are none by themselves."""
        text = "\n".join(self.new[first - 1 : last])
        if last < len(self.new):
            text += "\n"
        if top:
            return parse("\n" * (first - 1) + text, "part").body
        body = parse("\n" * (first - 2) + "if 1:\n" + text, "part").body
        block = body[0]
        if len(body) > 1 or not isinstance(block, ast.If) or block.orelse:
            raise SyntaxError("more than is in the class")
        if block.body[0].col_offset != among[0].col_offset:
            raise SyntaxError("indented otherwise")
        self._end = block.end_lineno, block.end_col_offset
        return block.body
