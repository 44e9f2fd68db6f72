"""Comments of what a rewrite replaces: found in its text, and put where they belong in the new one.

A comment goes with the statement that takes the place of its own: one that does the same or binds the same name, else
the first. It stands above that statement, or at its end where it stood at an end and is the only one. A comment that
speaks to a tool about its line (`# type: ignore`, `# noqa`, `# pragma: no cover`) stays on the line that has all of
that line's code; where none has, it would speak of something else, and the rewrite is refused.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import libcst as cst

from pt2lint.rule.tree import parents, positions, spend, walk
from pt2lint.rule.written import Written

# What tools read at the line that they report of.
_MARK = re.compile(
    r"#\s*(type:|noqa|pragma|pylint:|pyright:|pyre-|pyrefly:|ty:|mypy:|fmt:\s*skip|nosec|ruff:|isort:|pt2lint:|yapf:|codespell:|lint)",
    re.IGNORECASE,
)
_TYPE = re.compile(r"#\s*type:")  # mypy wants it to be the first
_WIDTH = 88  # a line that holds a comment at its end may be as long, or as long as the function's longest


@dataclass(frozen=True)
class Comment:
    """A comment of a text, by line from 1 and column from 0; `alone`: nothing else stands in its line."""

    line: int
    column: int
    text: str
    alone: bool


def speaks_to_tool(comment: str) -> bool:
    """Whether a tool reads the comment at the line that it reports of."""
    return _MARK.match(comment) is not None


# On a line of its own it speaks of the next one.
_OF_NEXT = re.compile(r"#\s*(type:\s*ignore|pyre-|pyrefly:|ty:|pylint:\s*disable-next)", re.IGNORECASE)


def of_next_line(above: Sequence[cst.EmptyLine]) -> tuple[Sequence[cst.EmptyLine], Sequence[cst.EmptyLine]]:
    """The lines above a statement, parted before the first of those right above it that speaks to a tool of it."""
    at = len(above)
    for line in range(len(above) - 1, -1, -1):
        comment = above[line].comment
        if comment is None:
            break
        at = line if _OF_NEXT.match(comment.value) else at
    return above[:at], above[at:]


# A call, a dotted name or code in quotes that a comment names: "``.item()`` keeps the precision".
_NAMED = re.compile(r"`+([^`]+)`+|([\w.]+)\(\)|\b([A-Za-z_]\w*(?:\.\w+)+)")
_WORD = re.compile(r"\w+")


def speak_of_gone(lines: Sequence[str], at: int, before: Sequence[str], after: Sequence[str]) -> bool:
    """Whether a comment right above `lines[at]`, or among the lines `after` that begin there and take the place of
    those `before`, names code which was in these and is no longer."""
    first = at
    while first > 0 and lines[first - 1].lstrip().startswith("#"):
        first -= 1
    told = [line.partition("#")[2] for line in (*lines[first:at], *after)]
    named = {
        word for one in told for pair in _NAMED.findall(one) for word in _WORD.findall("".join(pair))[-1:]
    }
    if not named:
        return False
    was, now = ({*_WORD.findall("\n".join(one.partition("#")[0] for one in of))} for of in (before, after))
    return bool(named & (was - now))


@lru_cache(maxsize=16)  # several fixes of one function are looked at one after the other
def comments(text: str) -> Sequence[Comment]:
    """All comments in order. Raises SyntaxError (TokenError among it) where the text has no tokens."""
    try:
        return [
            Comment(*token.start, token.string, not token.line[: token.start[1]].strip())
            for token in tokenize.generate_tokens(io.StringIO(text, newline="").readline)
            if token.type == tokenize.COMMENT
        ]
    except tokenize.TokenError as error:
        raise SyntaxError(str(error)) from None


def lost(old: Sequence[Comment], new: Sequence[Comment]) -> list[Comment]:
    """The comments of the old text that the new one holds fewer times."""
    missing = Counter(one.text for one in old) - Counter(one.text for one in new)
    if not missing:
        return []
    # Of equal ones those are gone that have no partner in order.
    from difflib import SequenceMatcher

    pairs = SequenceMatcher(None, [one.text for one in old], [one.text for one in new], autojunk=False)
    kept = {block.a + at for block in pairs.get_matching_blocks() for at in range(block.size)}
    found: list[int] = []
    for at in sorted(range(len(old)), key=lambda at: at in kept):
        if missing[old[at].text] > 0:
            missing[old[at].text] -= 1
            found.append(at)
    return [old[at] for at in sorted(found)]


def carry(
    before: Written,
    after: cst.Module,
    became: Mapping[cst.CSTNode, Sequence[cst.CSTNode]],
    code: str,
    stale: Sequence[str],
) -> str | None:
    """The code of `after` with the comments that `before`, whose code is `code`, has more, but for the stale ones; None
    where one speaks to a tool about a line that is gone.

    `became` says of each replaced node what stands in its place (nothing where it was removed), and of each node
    around one what it was built anew as.
    """
    text = after.code
    if "#" not in code:
        return text
    try:
        gone = lost(comments(code), comments(text))
    except SyntaxError:
        return text
    for said in stale:
        at = next((at for at, one in enumerate(gone) if one.text == said), None)
        gone = gone if at is None else [*gone[:at], *gone[at + 1 :]]
    if not gone:
        return text
    return _Carrier(before, after, became, code).put(gone, text)


class _Carrier:
    def __init__(
        self,
        before: Written,
        after: cst.Module,
        became: Mapping[cst.CSTNode, Sequence[cst.CSTNode]],
        code: str,
    ) -> None:
        self.became, self.old_lines = became, code.split("\n")
        self.old, self.new = before.positions, positions(after)
        self.old_parents, self.new_parents = before.parents, parents(after)
        spend(len(self.old_parents))  # they are sorted
        self.old_statements = sorted(
            (one for one in self.old_parents if _is_statement(one)), key=lambda one: self.old[one][:2]
        )
        self.orphans: set[Comment] = set()  # whose statement nothing takes the place of
        self.before_others: set[Comment] = (
            set()
        )  # of these, what stood before the comments of the next statement
        self.width = max(_WIDTH, *map(len, self.old_lines))

    def put(self, gone: Sequence[Comment], text: str) -> str | None:
        """The new text with the comments: above their statements, at their ends, or on the lines they speak of; None
        where one of these is gone."""
        lines = text.split("\n")
        targets: dict[cst.CSTNode, list[Comment]] = {}
        for comment in gone:
            target = self.target(comment)
            if target is not None:
                targets.setdefault(target, []).append(comment)
        above: list[tuple[int, list[str]]] = []
        ends: list[tuple[int, str]] = []
        free = _ends(text)
        for target, given in targets.items():
            start, end = self.span(target)
            places = [n for n in range(start, end + 1) if n in free]
            own = [one for one in given if one.alone or not speaks_to_tool(one.text)]
            for one in given:
                if one not in own:
                    place = _with_code(self.old_lines[one.line - 1][: one.column], lines, places)
                    if place is None or one in self.orphans:
                        return None
                    ends.append((place, one.text))
            simple = isinstance(target, cst.SimpleStatementLine) and start == end
            if simple and len(own) == 1 and self.at_end(own[0]) and own[0] not in self.orphans:
                line = lines[start - 1].rstrip("\r")
                if start in free and "#" not in line and len(line) + 2 + len(own[0].text) <= self.width:
                    ends.append((start, own[0].text))
                    own = []
            before = [one.text for one in own if one in self.before_others]
            if before:
                first = start
                while lines[first - 2].lstrip().startswith("#"):
                    first -= 1
                above.append((first, before))
            if len(before) < len(own):
                above.append((start, [one.text for one in own if one not in self.before_others]))
        for number, said in ends:
            lines[number - 1] = _with_end(lines[number - 1], said)
        for number, texts in sorted(above, reverse=True):
            line = lines[number - 1]
            indent = line[: len(line) - len(line.lstrip())]
            tail = "\r" if line.endswith("\r") else ""
            lines[number - 1 : number - 1] = [indent + one + tail for one in texts]
        return "\n".join(lines)

    def span(self, statement: cst.CSTNode) -> tuple[int, int]:
        """The first line of a statement, its decorators among it, and the last line of it or of its header."""
        start, _, end, _ = self.new[statement]
        decorators = getattr(statement, "decorators", ())
        if decorators:
            start = min(start, self.new[decorators[0]][0])
        body = getattr(statement, "body", None)
        if isinstance(body, cst.IndentedBlock):
            end = self.new[body.header][0]
        elif isinstance(body, cst.BaseSuite):
            end = self.new[body][0]
        return start, end

    def at_end(self, comment: Comment) -> bool:
        """Whether the comment stands right behind a statement, or behind the header of one."""
        owner = self.owner(comment)
        if owner is None or comment.alone:
            return False
        if isinstance(owner, cst.SimpleStatementLine):
            return self.old[owner][2] == comment.line
        return self.old[owner][0] == comment.line

    def owner(self, comment: Comment) -> cst.CSTNode | None:
        """The statement of the old text that the comment is about."""
        place = (comment.line, comment.column)
        earlier = [one for one in self.old_statements if self.old[one][:2] <= place]
        later = next((one for one in self.old_statements if self.old[one][:2] > place), None)
        last = earlier[-1] if earlier else None
        if last is None or later is None or self.inside(last, place):
            return last or later
        return last if comment.alone and comment.column > self.old[later][1] else later

    def inside(self, statement: cst.CSTNode, place: tuple[int, int]) -> bool:
        """Whether a place is in the lines of the statement, of its header where it has a body."""
        body = getattr(statement, "body", None)
        if isinstance(body, cst.IndentedBlock):
            first = body.body[0] if body.body else body
            return place < self.old[first][:2] and place[0] <= self.old[body.header][0]
        return place[0] <= self.old[statement][2]

    def target(self, comment: Comment) -> cst.CSTNode | None:
        """The statement of the new text that the comment goes to."""
        owner = self.owner(comment)
        if owner is None:
            return None
        here: cst.CSTNode | None = self.replaced_at(comment, owner)
        while here is not None:
            made = self.statements(here)
            if made:
                return self.fitting(owner, made)
            if here in self.became:
                break
            here = self.old_parents.get(here)
        if here is None:
            return None
        return self.instead(here) or self.next_to(here, comment)

    def replaced_at(self, comment: Comment, owner: cst.CSTNode) -> cst.CSTNode:
        """The node around the comment that was replaced, or its statement."""
        place = (comment.line, comment.column)
        for node in self.became:
            line, column, end_line, end_column = self.old[node]
            if (line, column) <= place < (end_line, end_column) and not self.holds(node):
                return node
        here: cst.CSTNode | None = owner
        while here is not None:
            if here in self.became and not self.holds(here):
                return here
            here = self.old_parents.get(here)
        return owner

    def holds(self, node: cst.CSTNode) -> bool:
        """Whether the node is only around one that was replaced."""
        made = self.became[node]
        return (
            len(made) == 1
            and type(made[0]) is type(node)
            and any(child in self.became for child in walk(node) if child is not node)
        )

    def statements(self, node: cst.CSTNode) -> list[cst.CSTNode]:
        """The statements that stand in the place of a node, or that hold what does."""
        found: list[cst.CSTNode] = []
        for one in self.became.get(node, [node] if node in self.new else []):
            here: cst.CSTNode | None = one
            if isinstance(one, cst.Else):
                found += one.body.body
                continue
            while here is not None and not _is_statement(here):
                here = self.new_parents.get(here)
            if here is not None and here in self.new and here not in found:
                found.append(here)
        return found

    def instead(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """What stands in place of a removed statement and of those right before it: what binds the same name, else the
        last of it."""
        for one in reversed(self.siblings(node)[0]):
            if one not in self.became or self.holds(one):
                break
            made = self.statements(one)
            if made:
                return _binding(node, made) or made[-1]
        return None

    def next_to(self, node: cst.CSTNode, comment: Comment) -> cst.CSTNode | None:
        """The statement of its block that is left behind a removed one, else the one before it."""
        self.orphans.add(comment)
        before, after = self.siblings(node)
        for one in (*after, *reversed(before)):
            if self.statements(one):
                if one in after:
                    self.before_others.add(comment)
                return self.statements(one)[0]
        return None

    def siblings(self, node: cst.CSTNode) -> tuple[list[cst.CSTNode], list[cst.CSTNode]]:
        """The statements before and after one in its block."""
        body = getattr(self.old_parents.get(node), "body", ())
        block = list(body) if isinstance(body, list | tuple) else []
        at = next((n for n, one in enumerate(block) if one is node), 0)
        return block[:at], block[at + 1 :]

    def fitting(self, owner: cst.CSTNode, made: Sequence[cst.CSTNode]) -> cst.CSTNode:
        """Of the new statements the one that does what the old one did, binds the same name or returns as it did."""
        code = _code(owner)
        inner = [one for top in made for one in walk(top) if _is_statement(one) and one in self.new]
        for one in inner:
            if _code(one) == code:
                return one
        if not isinstance(owner, cst.SimpleStatementLine):
            return made[0]
        binding = _binding(owner, made)
        if binding is None and _returns(owner):
            return next((one for one in reversed(made) if _returns(one)), made[0])
        return binding or made[0]


def _binding(owner: cst.CSTNode, made: Sequence[cst.CSTNode]) -> cst.CSTNode | None:
    """The first of these statements that binds a name which the owner binds."""
    from pt2lint.fixes.names import binds

    names = set(binds(owner)) if isinstance(owner, cst.SimpleStatementLine) else set[str]()
    return next(
        (one for one in made if isinstance(one, cst.SimpleStatementLine) and names & set(binds(one))), None
    )


def _is_statement(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.SimpleStatementLine | cst.BaseCompoundStatement)


def _returns(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.SimpleStatementLine) and isinstance(node.body[-1], cst.Return)


def _code(node: cst.CSTNode) -> str:
    """A statement's code, its header's where it has a body, without comments and layout."""
    if isinstance(node, cst.SimpleStatementLine):
        node = node.with_changes(leading_lines=(), trailing_whitespace=cst.TrailingWhitespace())
    text = cst.Module([node]).code  # type: ignore[list-item]
    return "".join(text.split())


def _ends(text: str) -> set[int]:
    """The lines of the text at whose end a comment can stand."""
    found = set()
    for token in tokenize.generate_tokens(io.StringIO(text, newline="").readline):
        if token.type in (tokenize.NEWLINE, tokenize.NL):
            found.add(token.start[0])
    return found


def _with_code(code: str, lines: Sequence[str], among: Sequence[int]) -> int | None:
    """The first line that has all words of the code."""
    words = Counter(re.findall(r"\w+", code))
    return next((n for n in among if words <= Counter(re.findall(r"\w+", lines[n - 1]))), None)


def _with_end(line: str, comment: str) -> str:
    """The line with a comment at its end; a type checker's goes before others."""
    tail = "\r" if line.endswith("\r") else ""
    body = line.rstrip("\r").rstrip()
    there = next((one for one in _tokens(body)), None)
    if there is not None and _TYPE.match(comment):
        return f"{body[:there]}{comment}  {body[there:]}{tail}"
    return f"{body}  {comment}{tail}"


def _tokens(line: str) -> list[int]:
    """Where the comment of a line starts, by its tokens as far as they go."""
    try:
        for token in tokenize.generate_tokens(io.StringIO(line.strip()).readline):
            if token.type == tokenize.COMMENT:
                return [token.start[1] + len(line) - len(line.lstrip())]
    except (SyntaxError, tokenize.TokenError):
        at = line.find("  #")
        return [at + 2] if at >= 0 else []
    return []
