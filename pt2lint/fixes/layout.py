"""Long lines broken as a formatter breaks them, so that a fixed file still passes the one its project runs.

As black and ruff do it: what stands in the last brackets goes on a line of its own, indented; where that is still too
long, each part goes on a line of its own, with a comma after the last. A value of several parts (`a and b and c`,
`x if test else y`) gets a pair of brackets of its own.
"""

from __future__ import annotations

import ast
import io
import itertools
import keyword
import re
import tokenize
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from pt2lint.fixes.comments import speaks_to_tool

_OPEN, _CLOSE = ("(", "[", "{"), (")", "]", "}")
_FSTRING = tuple(
    getattr(tokenize, name) for name in ("FSTRING_START", "TSTRING_START") if hasattr(tokenize, name)
)
_FSTRING_END = tuple(
    getattr(tokenize, name) for name in ("FSTRING_END", "TSTRING_END") if hasattr(tokenize, name)
)
_OPERATORS = {
    **dict.fromkeys(("or", "and"), 14),
    **dict.fromkeys(("in", "is", "not", "<", ">", "<=", ">=", "==", "!="), 10),
    "|": 9, "^": 8, "&": 7,
    **dict.fromkeys(("<<", ">>"), 6),
    **dict.fromkeys(("+", "-"), 5),
    **dict.fromkeys(("*", "/", "//", "%", "@"), 4),
}  # fmt: skip
# What a line is broken at, the loosest first.
_CLAUSE, _COMMA, _CHOICE, _TEXTS, _DOT = 20, 18, 16, 12, 1
_METHODS = re.compile(r"(?:\.\w+|\(\))+")  # what a call's value is asked for, without an argument
# What stands around a piece in brackets: an element of a dictionary, arguments, a later part of a sum or choice, a
# clause.
_AROUND = ("{{{}}}", "_({})", "(_ {})", "(_ if _ {})", "[_ for _ in _ {}]")
_HEADS = ("return ", "if ", "while ", "elif ", "assert ")


class _Part(NamedTuple):
    """A token, a text as a whole: how many brackets (or lambdas) are around it, and where it stands."""

    depth: int
    start: int
    end: int
    text: str
    is_text: bool


def broken(line: str, limit: int, step: str) -> list[str]:
    """The line, or the lines it is broken into so that each has at most `limit` characters where that can be.

    `step` is what one level is indented by. A line that is neither a whole statement nor a whole piece of what stands
    in brackets stays. A comment at its end stays there, and so does the line where that speaks to a tool about it.
    """
    text = line.strip()
    indent = line[: len(line) - len(line.lstrip())]
    if len(line) > limit and (parted := _parted(text)) is not None:
        code, comment = parted
        *more, last = broken(indent + code, limit, step)
        return [line] if not more or speaks_to_tool(comment) else [*more, f"{last}  {comment}"]
    if len(line) <= limit:
        return [line]
    if not _is_statement(text):
        around = next((one for one in _AROUND if _same(one.format(text), one.format(text))), None)
        breaker = _Breaker(limit, step)
        all_of_them = around == "_({})" and not text.endswith(",")
        found = (breaker.body if all_of_them else breaker.inside)(text, indent) if around else [line]
        return found if around and _same(around.format("\n".join(found)), around.format(text)) else [line]
    if isinstance(_parsed(text), ast.BoolOp | ast.BinOp | ast.Compare | ast.IfExp):  # brackets are around it
        found = _Breaker(limit, step).inside(text, indent)
        return found if _same("(" + "\n".join(found) + ")", text) else [line]
    found = _Breaker(limit, step).statement(text, indent)
    return found if _same("\n".join(one[len(indent) :] for one in found), text) else [line]


def _parted(text: str) -> tuple[str, str] | None:
    """The code and the comment at its end; None where there is not both."""
    at = next((token.start for token in _tokens(text) if token.type == tokenize.COMMENT), None)
    if at is None or at[0] != 1 or not text[: at[1]].strip():
        return None
    return text[: at[1]].rstrip(), text[at[1] :]


def _is_statement(text: str) -> bool:
    try:
        ast.parse(_whole(text))
    except (SyntaxError, ValueError):
        return False
    return not any(token.type == tokenize.COMMENT for token in _tokens(text))


def _whole(text: str) -> str:
    """The head of a block with a body, and what it continues."""
    before = "if _: pass\n" if text.startswith("elif ") else ""
    return before + (text + " pass" if text.endswith(":") else text)


def _same(one: str, other: str) -> bool:
    try:
        return ast.dump(ast.parse(_whole(one))) == ast.dump(ast.parse(_whole(other)))
    except (SyntaxError, ValueError):
        return False


def _tokens(text: str) -> list[tokenize.TokenInfo]:
    try:
        return list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, IndentationError, SyntaxError):
        return []


@lru_cache(maxsize=256)
def _parts(text: str) -> tuple[_Part, ...]:
    """The tokens of an expression or of a piece of one; () where it is broken over lines."""
    found: list[_Part] = []
    depth, inside, start = 0, 0, 0
    lambdas: list[tuple[int, bool]] = []  # how deep their insides are, and whether their parameters are over
    for token in _tokens(f"({text}\n)")[1:]:  # in brackets, since it may be a part that is no statement
        if token.start[0] != 1:
            if token.type in (tokenize.NL, tokenize.NEWLINE, tokenize.ENDMARKER) or token.string in (")", ""):
                continue
            return ()
        at, end = token.start[1] - 1, token.end[1] - 1
        if token.type in _FSTRING:
            start = start if inside else at
            inside += 1
        elif token.type in _FSTRING_END:
            inside -= 1
            if not inside:
                found.append(_Part(depth, start, end, text[start:end], True))
        elif inside or token.type == tokenize.NL:
            continue
        elif token.type == tokenize.STRING:
            found.append(_Part(depth, at, end, token.string, True))
        else:
            word = token.string
            if lambdas and lambdas[-1][0] == depth and (word in _CLOSE or (word == "," and lambdas[-1][1])):
                lambdas.pop()
                depth -= 1
            depth -= word in _CLOSE
            found.append(_Part(depth, at, end, word, False))
            if lambdas and lambdas[-1][0] == depth and word == ":":
                lambdas[-1] = (depth, True)
            depth += word in _OPEN or word == "lambda"
            if word == "lambda":
                lambdas.append((depth, False))
    return tuple(found)


def _is_operand(part: _Part) -> bool:
    """Whether a value ends here, so that an operator behind it has two sides."""
    if part.is_text or part.text in _CLOSE:
        return True
    named = part.text[:1].isalnum() or part.text[:1] == "_" or part.text == "..."
    return named and (not keyword.iskeyword(part.text) or part.text in ("None", "True", "False"))


def _cuts(text: str) -> tuple[int, list[int]]:
    """(how loosely, where) a piece of code is parted: at the loosest of what joins its parts; (0, []) where nothing is.
    A comma stays with what is before it, everything else goes to what is behind."""
    found: dict[int, list[int]] = {}
    outer = [part for part in _parts(text) if part.depth == 0]
    in_clause, waits_for_in = False, False
    chain: list[int] = []
    for at, part in enumerate(outer):
        before = outer[at - 1] if at else None
        if part.text == "," and not part.is_text:
            if text[part.end :].strip():
                found.setdefault(_COMMA, []).append(part.end)
            continue
        word = "" if part.is_text else part.text
        if before is None:
            in_clause = waits_for_in = word == "for"
            continue
        if part.is_text and before.is_text:
            found.setdefault(_TEXTS, []).append(part.start)
        elif word in ("for", "async"):
            if before.text != "async":
                found.setdefault(_CLAUSE, []).append(part.start)
            in_clause = waits_for_in = True
        elif word == "if" and in_clause and not _has_else(outer[at + 1 :]):
            found.setdefault(_CLAUSE, []).append(part.start)
        elif word in ("if", "else"):
            found.setdefault(_CHOICE, []).append(part.start)
        elif word == "in" and waits_for_in:
            waits_for_in = False
        elif word in _OPERATORS and _is_operand(before):
            found.setdefault(_OPERATORS[word], []).append(part.start)
        elif (
            word == "." and before.text in (")", "]") and outer[at + 2 : at + 3] and outer[at + 2].text == "("
        ):
            chain.append(part.start)
    if len(chain) > 1:  # calls one after the other
        found.setdefault(_DOT, []).extend(chain)
    if not found:
        return 0, []
    loosest = max(found)
    return loosest, found[loosest]


def _has_else(rest: Sequence[_Part]) -> bool:
    until = itertools.takewhile(lambda part: part.text not in ("for", "if"), rest)
    return any(part.text == "else" for part in until)


def _pairs(text: str) -> list[tuple[int, int]]:
    """The offsets of the outermost brackets that hold something, with their closing ones."""
    found, start = [], 0
    for part in _parts(text):
        if part.depth == 0 and not part.is_text and part.text in _OPEN:
            start = part.start
        elif (
            part.depth == 0
            and not part.is_text
            and part.text in _CLOSE
            and text[start + 1 : part.start].strip()
        ):
            found.append((start, part.start))
    return found


class _Breaker:
    def __init__(self, limit: int, step: str) -> None:
        self.limit, self.step = limit, step

    def statement(self, text: str, indent: str) -> list[str]:
        message = _message_of(text)
        if message and len(indent) + message + 2 <= self.limit:
            inner = self.body(text[message:].strip(), indent + self.step)
            return [indent + text[:message] + " (", *inner, indent + ")"]
        start = _value_of(text)
        tail = ":" if text.endswith(":") else ""
        value = text[start:].removesuffix(tail) if start else ""
        target_fits = len(indent) + start + 1 <= self.limit
        if (
            value
            and target_fits
            and not self.stands_alone(value, indent, start)
            and self.gains(value, indent)
        ):
            inner = self.body(value, indent + self.step)
            return [indent + text[:start] + "(", *inner, indent + ")" + tail]
        return self.at_brackets(text, indent)

    def stands_alone(self, value: str, indent: str, start: int) -> bool:
        """Whether a value that is broken at its own brackets reads as well as in brackets around all of it."""
        cuts = _cuts(value)[1]
        pairs = _pairs(value)
        if len(cuts) > 1 or not pairs:
            return False
        if value[0] in _OPEN and pairs[0][0] == 0 and len(indent) + len(value) - pairs[0][1] <= self.limit:
            return True
        if not cuts and _METHODS.fullmatch(value, pairs[-1][1] + 1):
            return len(indent) + start + pairs[-1][0] + 1 <= self.limit
        if not value.endswith(_CLOSE) or pairs[-1][1] != len(value) - 1:
            return False  # it ends with `()`, or with no brackets
        return len(pairs) > 1 or len(indent) + start + pairs[-1][0] + 1 <= self.limit

    def gains(self, value: str, indent: str) -> bool:
        """Whether brackets around the value help: it fits then, or it can be broken in them."""
        return len(indent + self.step) + len(value) <= self.limit or bool(_cuts(value)[1] or _pairs(value))

    def at_brackets(self, text: str, indent: str) -> list[str]:
        """Broken at the last brackets, or at those before them where the line before these were too long."""
        pairs = _pairs(text.removesuffix(":") if text.endswith(":") else text)
        chosen = next(
            (
                (start, end)
                for start, end in reversed(pairs)
                if len(indent) + start + 1 <= self.limit and len(indent) + len(text) - end <= self.limit
            ),
            pairs[-1] if pairs else None,
        )
        if chosen is None:
            return [indent + text]
        before, body, after = (
            text[: chosen[0] + 1],
            text[chosen[0] + 1 : chosen[1]].strip(),
            text[chosen[1] :],
        )
        head = [indent + before]
        if len(indent) + len(before) > self.limit and chosen != pairs[0]:
            head = self.at_brackets(before[:-1], indent)
            head[-1] += before[-1]
        held = [part for part in _parts(text) if part.end <= chosen[0]]
        of_value = bool(held) and _is_operand(held[-1])  # a call, or an element of something
        return [*head, *self.body(body, indent + self.step, not of_value), indent + after]

    def body(self, body: str, indent: str, display: bool = False) -> list[str]:
        """What stands in brackets, on lines of its own; that of a list and its like always element by element."""
        loosest, cuts = _cuts(body)
        fits = len(indent) + len(body) <= self.limit and not body.endswith(",")
        if fits and not (display and loosest == _COMMA):
            return [indent + body]
        if loosest != _COMMA:
            return self.inside(body, indent)
        pieces = [body[a:b].strip() for a, b in itertools.pairwise([0, *cuts, len(body)])]
        return [one for piece in pieces for one in self.inside(piece.removesuffix(",") + ",", indent)]

    def inside(self, text: str, indent: str) -> list[str]:
        """A piece of what stands in brackets."""
        if len(indent) + len(text) <= self.limit:
            return [indent + text]
        loosest, cuts = _cuts(text)
        if not cuts or loosest == _COMMA:
            return self.at_brackets(text, indent)
        pieces = [text[a:b].strip() for a, b in itertools.pairwise([0, *cuts, len(text)])]
        return [one for piece in pieces for one in self.inside(piece, indent)]


def _message_of(text: str) -> int:
    """Where the text that an assertion says begins, behind its comma; 0 where there is none, or more than a text."""
    if not text.startswith("assert "):
        return 0
    commas = [part.start for part in _parts(text) if part.depth == 0 and part.text == ","]
    said = text[commas[0] + 1 :].strip() if len(commas) == 1 else ""
    return commas[0] + 1 if said and isinstance(_parsed(said), ast.Constant | ast.JoinedStr) else 0


def _parsed(text: str) -> ast.expr | None:
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError):
        return None


def _value_of(text: str) -> int:
    """Where the value begins that brackets can be put around: what is assigned, returned or tested; 0 for others."""
    head = next((one for one in _HEADS if text.startswith(one)), None)
    if head is not None:
        return len(head) if head != "assert " or not _has_message(text) else 0
    assigns = [part for part in _parts(text) if part.depth == 0 and not part.is_text and _assigns(part.text)]
    return assigns[-1].end + 1 if assigns and text[assigns[-1].end : assigns[-1].end + 1] == " " else 0


def _has_message(text: str) -> bool:
    return any(part.depth == 0 and part.text == "," for part in _parts(text))


def _assigns(text: str) -> bool:
    return text == "=" or (text.endswith("=") and text not in ("==", "!=", "<=", ">=", ":="))
