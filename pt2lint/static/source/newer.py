"""Which Python reads a text that this one does not."""

from __future__ import annotations

import re
from collections.abc import Iterator

# LibCST's parser ends the process where its stack runs out, which takes some thousand levels.
DEEPEST, LONGEST, ELIFS = 200, 3000, 500
_TOKEN = re.compile(r"\n|\w+|[^\w\s]")


def newer_python(text: str) -> tuple[int, int] | None:
    """The first Python that reads the text, as (3, 14); None where LibCST, which knows them all, does not either."""
    if not _is_shallow(text):
        return None
    import libcst as cst

    try:
        module = cst.parse_module(text)
    except Exception:  # it also raises what is not a ParserSyntaxError
        return None

    needed = (3, 10)
    try:
        for node in _nodes(module):
            needed = max(needed, _first(node))
    except RecursionError:
        return None
    return needed


def _is_shallow(text: str) -> bool:
    """Whether nothing in the text can be nested deeply: not many brackets, nor long statements, nor many branches."""
    depth = length = elifs = 0
    for found in _TOKEN.finditer(text):
        token = found[0]
        length += 1
        if token == "\n":
            length = length if depth else 0
        elif token in "([{":
            depth += 1
        elif token in ")]}":
            depth = max(0, depth - 1)
        elif token == "elif":
            elifs += 1
        if depth > DEEPEST or length > LONGEST or elifs > ELIFS:
            return False
    return all(len(line) - len(line.lstrip()) <= DEEPEST for line in text.split("\n"))


def _nodes(module: object) -> Iterator[object]:
    pending = [module]
    while pending:
        node = pending.pop()
        yield node
        pending += getattr(node, "children", ())


def _first(node: object) -> tuple[int, int]:
    """The first Python that has what this node of a tree stands for."""
    import libcst as cst

    if type(node).__name__ == "TemplatedString":  # LibCST 1.8.3 and later
        return (3, 14)
    if isinstance(node, (cst.ExceptHandler, cst.ExceptStarHandler)):
        if isinstance(node.type, cst.Tuple) and not node.type.lpar:
            return (3, 14)
        return (3, 11) if isinstance(node, cst.ExceptStarHandler) else (3, 10)
    if isinstance(node, cst.TypeParam) and node.default is not None:
        return (3, 13)
    if isinstance(node, (cst.TypeAlias, cst.TypeParameters)):
        return (3, 12)
    if isinstance(node, cst.FormattedString) and _is_nested(node):
        return (3, 12)
    if isinstance(node, cst.SubscriptElement) and isinstance(node.slice, cst.Index) and node.slice.star:
        return (3, 11)
    return (3, 10)


def _is_nested(string: object) -> bool:
    """Whether an expression in an f-string holds its quotes, a backslash or a comment."""
    import libcst as cst

    assert isinstance(string, cst.FormattedString)
    empty = cst.Module([])
    for part in string.parts:
        if isinstance(part, cst.FormattedStringExpression):
            code = empty.code_for_node(part)
            if (
                string.quote in code
                or "\\" in code
                or "#" in code
                or ("\n" in code and len(string.quote) == 1)
            ):
                return True
    return False
