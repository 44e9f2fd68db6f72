"""The check before every write: nothing is lost that a fix does not say it replaces.

It compares the text before and after, by tokens, and knows nothing of how an edit was made: of the fix it takes only
the ranges of what is replaced (`Edit.replaces`). Outside of them every token, comment and blank line stands where it
stood, in order; the comments inside are somewhere in the new text, and so is each function and class.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from pt2lint.finding import Edit

_LINE_END = re.compile(r"\r\n|\r|\n")
_LAYOUT = (tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
Point = tuple[int, int]
INDENT, END = "indent", "end"  # kinds of items beside the tokens' own strings


@dataclass
class _Item:
    """One token of code, or the indentation or the end of a logical line; `gap` are the comments, and None for each
    blank line, that stand before it."""

    kind: str
    text: str
    start: Point
    end: Point
    gap: list[str | None] = field(default_factory=list)
    places: list[tuple[Point, str]] = field(default_factory=list)  # of the comments in the gap

    @property
    def key(self) -> tuple[str, str]:
        return self.kind, self.text


def replaced_by(edits: Iterable[Edit]) -> list[tuple[int, int, int, int]]:
    """What the edits say they replace: ranges (line, column, end line, end column), counted from 1."""
    found: dict[tuple[int, int, int, int], None] = {}
    for edit in edits:
        for place in edit.replaces or ((edit.line, edit.column, edit.end_line, edit.end_column),):
            found[place] = None
    return list(found)


def what_is_lost(old: str, new: str, replaced: Sequence[tuple[int, int, int, int]]) -> str | None:
    """What of the old text is missing in the new one although no range says that it is replaced; None: nothing.

    A comment may go only where a range is exactly its own. The answer is worded to follow "the fix".
    """
    if not set(_LINE_END.findall(new)) <= (set(_LINE_END.findall(old)) or {"\n"}):
        return "would mix line ends"
    spans = [
        ((line, column - 1), (end_line, end_column - 1)) for line, column, end_line, end_column in replaced
    ]
    try:
        old, new = _LINE_END.sub("\n", old), _LINE_END.sub("\n", new)
        trees = _parsed(old), _parsed(new)
        first, old, new = _around_change(old, new, trees, spans)
        before, after = _items(old, first), _items(new, first)
    except (SyntaxError, IndentationError, tokenize.TokenError) as error:
        return f"leaves text that has no tokens ({error.args[0]})"
    missing = _definitions(trees[0]) - _definitions(trees[1])
    if missing:
        return f"would lose `{next(iter(missing))}`"
    exempt = Counter(
        text
        for item in before
        for place, text in item.places
        if (place, (place[0], place[1] + len(text))) in spans
    )
    gone = _comments(before) - _comments(after) - exempt
    if gone:
        text = next(iter(gone))
        line = next(place[0] for item in before for place, one in item.places if one == text)
        return f"would lose the comment `{text}` (line {line})"
    return _Match(before, after, _pieces(before, spans), exempt).trouble()


def code_is_same(old: str, new: str) -> bool:
    """Whether two texts differ in nothing but comments that the new one has more, or that are longer in it."""
    try:
        before, after = _items(old), _items(new)
    except (SyntaxError, tokenize.TokenError):
        return False
    if [item.key for item in before] != [item.key for item in after]:
        return False
    for one, other in zip(before, after, strict=True):
        blank = one.gap.count(None) == other.gap.count(None)
        left = [text for text in other.gap if text is not None]
        for text in one.gap:
            if text is not None:
                match = next((each for each in left if _grew(text, each)), None)
                if match is None:
                    return False
                left.remove(match)
        if not blank:
            return False
    return True


def _grew(old: str, new: str) -> bool:
    """Whether the new text is the old one with something put in."""
    rest = iter(new)
    return all(character in rest for character in old)


def _around_change(
    old: str, new: str, trees: tuple[ast.Module, ast.Module], spans: Sequence[tuple[Point, Point]]
) -> tuple[int, str, str]:
    """(first line, old text, new text): the statements of the top level that differ or are said to be replaced, and at
    least one before and one after them. What is left out is line for line the same, and no statement goes across."""
    one, other = old.split("\n"), new.split("\n")
    shortest = min(len(one), len(other))
    same = next((n for n in range(shortest) if one[n] != other[n]), shortest)
    alike = next((n for n in range(shortest - same) if one[-1 - n] != other[-1 - n]), shortest - same)
    starts, new_starts = _statements(trees[0]), _statements(trees[1])
    longer = len(other) - len(one)
    first = min([same, *(start[0] for start, _ in spans)])
    last = max([len(one) - alike, *(end[0] for _, end in spans)])
    heads = [line for line in starts if line <= first]
    tails = [line for line in starts if line > last and line + longer in new_starts]
    head = heads[-2] if len(heads) > 1 else 1
    if len(tails) > 1:
        one, other = [*one[: tails[1] - 1], ""], [*other[: tails[1] + longer - 1], ""]
    return head, "\n".join(one[head - 1 :]), "\n".join(other[head - 1 :])


def _statements(tree: ast.Module) -> list[int]:
    """The first lines of the statements of the top level that begin a line of their own, decorators included."""
    found, end = [], 0
    for statement in tree.body:
        first = min([statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", ()))])
        if first > end and statement.col_offset == 0:
            found.append(first)
        end = statement.end_lineno or statement.lineno
    return found


def _items(text: str, first: int = 1) -> list[_Item]:
    """The items of a text whose first line is the line `first` of the file."""
    found: list[_Item] = []
    gap: list[str | None] = []
    places: list[tuple[Point, str]] = []
    fresh = True  # whether a logical line is about to begin
    text = _LINE_END.sub("\n", text)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        kind = token.type
        start, end = (token.start[0] + first - 1, token.start[1]), (token.end[0] + first - 1, token.end[1])
        if kind == tokenize.COMMENT:
            gap.append(token.string)
            places.append((start, token.string))
            continue
        if kind == tokenize.NL:
            if not token.line.strip():
                gap.append(None)
            continue
        if kind in _LAYOUT and kind != tokenize.ENDMARKER:
            continue
        if fresh and kind != tokenize.ENDMARKER:
            indent = token.line[: start[1]]
            found.append(_Item(INDENT, indent, (start[0], 0), start, gap, places))
            gap, places, fresh = [], [], False
        string = "" if kind in (tokenize.NEWLINE, tokenize.ENDMARKER) else token.string
        name = END if kind == tokenize.NEWLINE else tokenize.tok_name[kind]
        found.append(_Item(name, string, start, end, gap, places))
        gap, places = [], []
        fresh = kind == tokenize.NEWLINE
    return found


def _comments(items: Iterable[_Item]) -> Counter[str]:
    return Counter(text for item in items for text in item.gap if text is not None)


def _definitions(tree: ast.Module) -> Counter[str]:
    """The names of all functions and classes. Expressions hold none: most of a tree is passed over."""
    found: Counter[str] = Counter()
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found[node.name] += 1
        for name in ("body", "orelse", "finalbody", "handlers", "cases"):
            below = getattr(node, name, None)
            if isinstance(below, list):
                pending += below
    return found


def _parsed(text: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


def _pieces(items: Sequence[_Item], spans: Iterable[tuple[Point, Point]]) -> list[tuple[int, int]]:
    """The replaced ranges as (first, end) of items, in order, those that meet joined."""
    found = []
    for start, end in spans:
        first = next(
            (n for n, item in enumerate(items) if item.end > start or item.start >= start), len(items)
        )
        while first < len(items) and items[first].start < items[first].end <= start:
            first += 1
        last = first
        while last < len(items) and items[last].start < end and items[last].kind != "ENDMARKER":
            last += 1
        found.append(_widened(items, first, last))
    joined: list[tuple[int, int]] = []
    for first, last in sorted(found):
        if joined and first <= joined[-1][1] and (first < joined[-1][1] or first < last):
            joined[-1] = (joined[-1][0], max(last, joined[-1][1]))
        elif not joined or (first, last) != joined[-1]:
            joined.append((first, last))
    return joined


def _widened(items: Sequence[_Item], first: int, last: int) -> tuple[int, int]:
    """A range with the parentheses right around it, the semicolon beside it, and the whole line where it is one."""
    if first == last:
        return first, last
    while first > 0 and last < len(items) and items[first - 1].text == "(" and items[last].text == ")":
        first, last = first - 1, last + 1
    if first > 0 and items[first - 1].text == ";":
        first -= 1
    elif last < len(items) and items[last].text == ";":
        last += 1
    if first > 0 and last < len(items):
        if items[first - 1].kind == INDENT and items[last].kind == END:
            return first - 1, last + 1
        if items[first - 1].kind == INDENT and items[last].kind == INDENT:
            return first - 1, last
    if first < len(items) and items[first].kind == INDENT and last < len(items) and items[last].kind == END:
        return first, last + 1
    return first, last


class _Match:
    """The pieces of the old text between what is replaced, sought one after the other in the new text."""

    def __init__(
        self, old: list[_Item], new: list[_Item], replaced: Sequence[tuple[int, int]], exempt: Counter[str]
    ) -> None:
        self.old, self.new, self.exempt = old, new, exempt
        self.keys = [item.key for item in new]
        ends = [0, *(last for _, last in replaced)]
        starts = [*(first for first, _ in replaced), len(old)]
        self.kept = list(zip(ends, starts, strict=True))
        self.seen: set[tuple[int, int]] = set()
        self.furthest = (0, 0)  # the last piece that was sought, and how much of it was found
        self.blank: _Item | None = None  # where a blank line went missing at a border

    def trouble(self) -> str | None:
        if self.follows(0, 0):
            return None
        if self.blank is not None and self.furthest[0] == len(self.kept):
            return f"would lose the blank lines before line {self.blank.start[0]}"
        piece = min(self.furthest[0], len(self.kept) - 1)
        first, end = self.kept[piece]
        at = first + self.furthest[1]
        if piece == len(self.kept) - 1 and piece:  # the end of the text has to fit: what does not, from there
            back = 1
            while back <= min(end - first, len(self.new)) and self.same(end - back, len(self.new) - back):
                back += 1
            at = max(first, end - back)
        at = min(at, len(self.old) - 1)
        text = next((one.text for one in self.old[at:] if one.text.strip()), "the end")
        return f"would change line {self.old[at].start[0]} (at `{text}`), which it does not say it replaces"

    def follows(self, piece: int, at: int) -> bool:
        """Whether the pieces from this one on are found in the new text from `at` on."""
        if piece == len(self.kept):
            self.furthest = (piece, 0)
            return at == len(self.new)
        if (piece, at) in self.seen:
            return False
        self.seen.add((piece, at))
        self.furthest = max(self.furthest, (piece, 0))
        first, end = self.kept[piece]
        last = piece == len(self.kept) - 1
        for start in self.candidates(first, end, at, anchored=piece == 0, at_end=last):
            if self.is_there(piece, start):
                if not self.blanks_stay(piece, at, start):
                    self.furthest = (len(self.kept), 0)
                elif self.follows(piece + 1, start + end - first):
                    return True
        return False

    def candidates(self, first: int, end: int, at: int, anchored: bool, at_end: bool) -> Iterator[int]:
        """Where in the new text a piece may begin."""
        room = len(self.new) - (end - first)
        if anchored and at_end:
            yield from [0] if room == 0 else []
        elif anchored:
            yield 0
        elif at_end:
            yield from [room] if room >= at else []
        elif first == end:
            yield from range(at, room + 1)
        else:
            key = self.old[first].key
            yield from (n for n in range(at, room + 1) if self.keys[n] == key)

    def is_there(self, piece: int, start: int) -> bool:
        first, end = self.kept[piece]
        for offset in range(end - first):
            if not self.same(first + offset, start + offset, inner=offset > 0 or piece == 0):
                self.furthest = max(self.furthest, (piece, offset))
                return False
        return True

    def same(self, old: int, new: int, inner: bool = True) -> bool:
        """Whether one item is the other, with the same comments and blank lines before it; further comments may be."""
        if new >= len(self.new) or self.old[old].key != self.new[new].key:
            return False
        if not inner:
            return True
        gap, other = self.old[old].gap, self.new[new].gap
        rest = iter(other)
        wanted = [one for one in gap if one is None or not self.exempt[one]]
        return all(any(one == each for each in rest) for one in wanted) and gap.count(None) == other.count(
            None
        )

    def blanks_stay(self, piece: int, at: int, start: int) -> bool:
        """Whether there still are blank lines before and after what is replaced, now new[at:start]."""
        if piece == 0:
            return True
        first, end = self.kept[piece - 1][1], self.kept[piece][0]
        before = first < end and None in self.old[first].gap
        after = end < len(self.old) and self.old[end].kind == INDENT and None in self.old[end].gap
        behind = start < len(self.new) and None in self.new[start].gap
        ahead = at < len(self.new) and None in self.new[at].gap
        if start == 0 and at == 0:
            fits = True  # blank lines part nothing at the start of a text
        elif first == end or at == start:
            fits = not after or behind or ahead
        else:
            fits = (not after or behind) and (not before or self.old[first].kind != INDENT or ahead)
        if not fits:
            self.blank = self.old[end] if after else self.old[first]
        return fits
