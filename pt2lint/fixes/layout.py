"""Long lines broken as a formatter breaks them, so that a fixed file still passes the one its project runs.

As black and ruff do it: what stands in the last brackets goes on a line of its own, indented; where that is still too
long, each part goes on a line of its own, with a comma after the last.
"""

from __future__ import annotations

import ast
import io
import itertools
import tokenize
from collections.abc import Sequence

_OPEN, _CLOSE = "([{", ")]}"
_FSTRING = tuple(
    getattr(tokenize, name) for name in ("FSTRING_START", "TSTRING_START") if hasattr(tokenize, name)
)
_FSTRING_END = tuple(
    getattr(tokenize, name) for name in ("FSTRING_END", "TSTRING_END") if hasattr(tokenize, name)
)
# Operators at which a line may be broken, the loosest first.
_OPERATORS: tuple[tuple[str, ...], ...] = (
    ("if", "else"),
    ("or",),
    ("and",),
    ("in", "is", "not", "<", ">", "<=", ">=", "==", "!="),
    ("|",),
    ("&",),
    ("+", "-"),
    ("*", "/", "//", "%", "@"),
)


def broken(line: str, limit: int, step: str) -> list[str]:
    """The line, or the lines it is broken into so that each has at most `limit` characters where that can be.

    `step` is what one level is indented by. A line that is no whole statement, or holds a comment, stays.
    """
    text = line.strip()
    indent = line[: len(line) - len(line.lstrip())]
    if len(line) <= limit or not _is_statement(text):
        return [line]
    found = _split(text, indent, limit, step)
    return found if _same("\n".join(one[len(indent) :] for one in found), text) else [line]


def _is_statement(text: str) -> bool:
    try:
        ast.parse(text + " pass" if text.endswith(":") else text)
    except (SyntaxError, ValueError):
        return False
    return not any(token.type == tokenize.COMMENT for token in _tokens(text))


def _same(one: str, other: str) -> bool:
    tail = " pass" if other.endswith(":") else ""
    try:
        return ast.dump(ast.parse(one + tail)) == ast.dump(ast.parse(other + tail))
    except (SyntaxError, ValueError):
        return False


def _tokens(text: str) -> list[tokenize.TokenInfo]:
    try:
        return list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, IndentationError, SyntaxError):
        return []


def _marks(text: str) -> list[tuple[int, int, str]]:
    """(depth, offset, text) of every bracket, comma, operator and keyword outside of texts; an opening bracket and its
    closing one have the depth around them. () where the text is broken over lines."""
    marks, depth, inside = [], 0, 0
    for token in _tokens(f"({text})"):  # in brackets, since it may be a part that is no statement
        inside += (token.type in _FSTRING) - (token.type in _FSTRING_END)
        if inside or token.type not in (tokenize.OP, tokenize.NAME) or token.start[0] != 1:
            continue
        if token.string in _CLOSE:
            depth -= 1
        marks.append((depth - 1, token.start[1] - 1, token.string))
        if token.string in _OPEN:
            depth += 1
    return marks[1:-1]


def _texts(text: str) -> list[int]:
    """Where each of several texts begins; nothing where there is anything else."""
    starts, inside = [], 0
    for token in _tokens(f"({text})")[1:]:
        if not inside and token.type in (tokenize.STRING, *_FSTRING):
            starts.append(token.start[1] - 1)
        elif (
            not inside and token.type in (tokenize.NAME, tokenize.NUMBER, tokenize.OP) and token.string != ")"
        ):
            return []
        inside += (token.type in _FSTRING) - (token.type in _FSTRING_END)
    return starts


def _pairs(text: str) -> list[tuple[int, int]]:
    """The offsets of the outermost brackets that hold something, with their closing ones."""
    found, start = [], 0
    for depth, at, mark in _marks(text):
        if depth == 0 and mark in _OPEN:
            start = at
        elif depth == 0 and mark in _CLOSE and text[start + 1 : at].strip():
            found.append((start, at))
    return found


def _split(text: str, indent: str, limit: int, step: str) -> list[str]:
    if len(indent) + len(text) <= limit:
        return [indent + text]
    starts = _texts(text.removesuffix(","))
    if len(starts) > 1:  # texts that stand one after the other
        return [indent + text[a:b].strip() for a, b in itertools.pairwise([*starts, len(text)])]
    message = _message_of(text)
    if message and len(indent) + message + 2 <= limit:
        inner = _body(text[message:].strip(), indent + step, limit, step, False)
        return [indent + text[:message] + " (", *inner, indent + ")"]
    head = text.removesuffix(":")
    pairs = _pairs(head if text.endswith(":") else text)
    for start, end in reversed(pairs):
        before, body, after = text[: start + 1], text[start + 1 : end].strip(), text[end:]
        if len(indent) + len(after) > limit or (
            len(indent) + len(before) > limit and (start, end) != pairs[0]
        ):
            continue
        subscript = before.endswith("[") and before[:-1].strip() and before[-2:-1] not in " =(,"
        return [indent + before, *_body(body, indent + step, limit, step, not subscript), indent + after]
    value = _value_of(text)
    if value:
        return [
            indent + text[:value] + "(",
            *_body(text[value:], indent + step, limit, step, False),
            indent + ")",
        ]
    return [indent + text]


def _message_of(text: str) -> int:
    """Where the text that an assertion says begins, behind its comma; 0 where there is none, or more than a text."""
    if not text.startswith("assert "):
        return 0
    commas = [at for depth, at, mark in _marks(text) if depth == 0 and mark == ","]
    said = text[commas[0] + 1 :].strip() if len(commas) == 1 else ""
    return commas[0] + 1 if said and isinstance(_parsed(said), ast.Constant | ast.JoinedStr) else 0


def _parsed(text: str) -> ast.expr | None:
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError):
        return None


def _value_of(text: str) -> int:
    """Where the value of an assignment or a return begins, which brackets can be put around; 0 for others."""
    if text.startswith("return "):
        return len("return ")
    assigns = [at for depth, at, mark in _marks(text) if depth == 0 and mark == "="]
    return assigns[-1] + 2 if assigns and text[assigns[-1] :][:2] == "= " else 0


def _body(body: str, indent: str, limit: int, step: str, arguments: bool) -> list[str]:
    """What stands in brackets, on lines of its own."""
    if len(indent) + len(body) <= limit and not body.endswith(","):
        return [indent + body]
    marks = _marks(body)
    commas = [at for depth, at, mark in marks if depth == 0 and mark == ","]
    plain = not any(depth == 0 and mark in ("lambda", "for") for depth, _, mark in marks)
    if commas and (plain or "lambda" not in body.split(",")[0]):
        parts = _parts(body, [(at, at + 1) for at in _outside_lambdas(marks, commas)])
        lines = []
        for part in parts:
            inner = _split(part + ",", indent, limit, step)
            lines += inner
        if not arguments and len(parts) > 1 and not body.endswith(","):
            lines[-1] = lines[-1].removesuffix(",")
        return lines
    clauses = _clauses(marks)
    if clauses:
        parts = [body[a:b].strip() for a, b in itertools.pairwise([0, *clauses, len(body)])]
        return [one for part in parts for one in _body(part, indent, limit, step, False)]
    for operators in _OPERATORS:
        at = [at for depth, at, mark in marks if depth == 0 and mark in operators and at]
        if at and plain:
            cuts = [0, *at, len(body)]
            parts = [body[a:b].strip() for a, b in itertools.pairwise(cuts)]
            if operators[0] == "in":
                break
            return [one for part in parts if part for one in _split(part, indent, limit, step)]
    return _split(body, indent, limit, step)


def _clauses(marks: Sequence[tuple[int, int, str]]) -> list[int]:
    """Where the `for` and `if` of a comprehension begin behind its element; none where it is not plain."""
    outer = [(at, mark) for depth, at, mark in marks if depth == 0]
    behind = list(itertools.dropwhile(lambda one: one[1] != "for" or not one[0], outer))
    if any(mark in ("lambda", "async") for _, mark in outer) or any(mark == "else" for _, mark in behind):
        return []
    return [at for at, mark in behind if mark in ("for", "if")]


def _outside_lambdas(marks: Sequence[tuple[int, int, str]], commas: Sequence[int]) -> list[int]:
    """The commas that separate arguments, not a lambda's parameters."""
    kept, in_lambda = [], False
    for depth, at, mark in marks:
        if depth == 0 and mark == "lambda":
            in_lambda = True
        elif depth == 0 and mark == ":":
            in_lambda = False
        elif at in commas and depth == 0 and not in_lambda:
            kept.append(at)
    return kept


def _parts(text: str, cuts: Sequence[tuple[int, int]]) -> list[str]:
    found, start = [], 0
    for a, b in cuts:
        found.append(text[start:a].strip())
        start = b
    return [part for part in [*found, text[start:].strip()] if part]
