"""Where a line of a file stands: in which function and statement, and on which branches."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import NamedTuple

Arms = tuple[tuple[int, int], ...]


class Where(NamedTuple):
    """A function by its lines, a statement by its first line, the branches that lead to it, whether it is a check (an
    `assert`, an `if` that does nothing but raise, or `require(test, text)`), the statement's text, of a compound one
    without what it holds, and those of the statements before and after it."""

    function: tuple[int, int, str]
    statement: int
    arms: Arms
    asserts: bool = False
    text: str = ""
    beside: tuple[str, str] = ("", "")


def place_in(body: Sequence[ast.stmt], line: int) -> Where:
    """Where a line stands, by the statements that are there."""
    return _in(body, line, (0, 0, ""), ()) or Where((0, 0, ""), line, ())


def _in(
    body: Sequence[ast.stmt], line: int, function: tuple[int, int, str], arms: Arms, head: str = ""
) -> Where | None:
    """The innermost statement of the body that holds the line. Before the first one stands the block's head."""
    for number, statement in reversed([*enumerate(body)]):
        if not statement.lineno <= line <= (statement.end_lineno or statement.lineno):
            continue
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)) and not function[2]:
            function = (statement.lineno, statement.end_lineno or 0, statement.name)
        for i, (part, chosen) in reversed([*enumerate(_parts(statement))]):
            inner = (*arms, (statement.lineno, i)) if chosen else arms
            within = _in(part, line, function, inner, _text(statement))
            if within is not None:
                return within
        asserts = isinstance(statement, ast.Assert) or _raises(statement) or _demands(statement)
        alone = not function[2] or statement.lineno <= function[0]  # a function may be parsed alone
        around = [] if alone else [head, *map(_text, body[max(number - 1, 0) : number + 2])]
        i = min(number, 1) + 1  # where the statement itself stands in that
        beside = (around[i - 1], "".join(around[i + 1 : i + 2])) if around else ("", "")
        return Where(function, statement.lineno, arms, asserts, _text(statement), beside)
    return None


def _text(statement: ast.stmt) -> str:
    """The statement in one spelling, of a compound one what stands before its colon."""
    if isinstance(statement, (ast.If, ast.While)):
        return f"if {ast.unparse(statement.test)}"
    if isinstance(statement, (ast.For, ast.AsyncFor)):
        return f"for {ast.unparse(statement.target)} in {ast.unparse(statement.iter)}"
    if isinstance(statement, (ast.With, ast.AsyncWith)):
        return f"with {', '.join(map(ast.unparse, statement.items))}"
    return "" if any(_parts(statement)) else ast.unparse(statement)


def _raises(statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.If) or statement.orelse:
        return False
    return len(statement.body) == 1 and isinstance(statement.body[0], ast.Raise)


def _demands(statement: ast.stmt) -> bool:
    """Whether it is a call that is given what has to be true, and what to say otherwise: `require(bool(x.all()),
    "x")`."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or len(call.args) != 2:
        return False
    test, said = call.args
    text = isinstance(said, ast.JoinedStr) or (isinstance(said, ast.Constant) and isinstance(said.value, str))
    is_bool = isinstance(test, ast.Call) and isinstance(test.func, ast.Name) and test.func.id == "bool"
    return text and (is_bool or isinstance(test, (ast.Compare, ast.BoolOp)))


def _parts(statement: ast.stmt) -> Iterator[tuple[list[ast.stmt], bool]]:
    """The statements in a statement, and whether it depends on a test that they run."""
    chosen = isinstance(statement, (ast.If, ast.Match))
    if isinstance(statement, ast.Match):
        yield from ((case.body, True) for case in statement.cases)
    for name in ("body", "orelse", "finalbody"):
        part = getattr(statement, name, None)
        if isinstance(part, list) and part:
            yield part, chosen or (name == "orelse")
    for handler in getattr(statement, "handlers", ()):
        yield handler.body, True
