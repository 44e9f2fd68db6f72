"""Guards that fixes wrote side by side: one for all that they keep out of compiled code."""

from __future__ import annotations

import ast
import itertools
import warnings
from typing import TypeGuard

from pt2lint.finding import Edit

_GUARD = "is_compiling()"


def one_guard(path: str, before: str, after: str) -> list[Edit]:
    """The edits that take `if not torch.compiler.is_compiling():` out of `after` where what stands right above has
    the same guard, and one of the two was not in `before`."""
    if after.count(_GUARD) <= before.count(_GUARD):
        return []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tree = ast.parse(after)
        except (SyntaxError, ValueError):
            return []
    lines = after.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    old = before.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    edits = []
    for node in ast.walk(tree):
        for body in (getattr(node, name, None) for name in ("body", "orelse", "finalbody")):
            for one, other in itertools.pairwise(body) if isinstance(body, list) else ():
                if _guarded(one) and _guarded(other) and _in_a_row(one, other, lines):
                    above, below = one.body[-1], other.lineno
                    pair = lines[above.lineno - 1 : below]
                    if not any(old[at : at + len(pair)] == pair for at in range(len(old))):
                        edits.append(Edit(path, below, 1, below + 1, 1, ""))
    return edits


def _guarded(statement: ast.stmt) -> TypeGuard[ast.If]:
    """Whether it is `if not torch.compiler.is_compiling():` and nothing else."""
    if not isinstance(statement, ast.If) or statement.orelse:
        return False
    test = ast.unparse(statement.test)
    return test.startswith("not ") and test.endswith(_GUARD) and " " not in test[4:]


def _in_a_row(one: ast.If, other: ast.If, lines: list[str]) -> bool:
    """Whether the two have the same test, nothing between them, and are written in the same way."""

    def indent(statement: ast.stmt) -> str:
        return lines[statement.lineno - 1][: statement.col_offset]

    return (
        ast.dump(one.test) == ast.dump(other.test)
        and other.lineno == (one.end_lineno or 0) + 1
        and other.body[0].lineno == other.lineno + 1
        and lines[other.lineno - 1].endswith(":")
        and indent(one.body[0]) == indent(other.body[0])
        and not indent(other.body[0]).strip()
    )
