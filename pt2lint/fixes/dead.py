"""Imports that fixes leave without a reader: taken out with them."""

from __future__ import annotations

import ast
import re
import warnings
from collections import Counter
from collections.abc import Iterator

import libcst as cst

from pt2lint.finding import Edit


def dead_imports(path: str, before: str, after: str) -> list[Edit]:
    """The edits that take out of `after` the imports at its top level whose names it no longer reads, and `before` did.

    Imports of a package's `__init__` are for others, those under a condition or with a comment have a reason: they
    stay.
    """
    if path.endswith("__init__.py"):
        return []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            old, new = ast.parse(before), ast.parse(after)
        except (SyntaxError, ValueError):
            return []
    gone = set(_read(old)) - set(_read(new))
    if not gone:
        return []
    lines = after.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    edits = []
    for statement in new.body:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            local = [alias.asname or alias.name.split(".")[0] for alias in statement.names]
            kept = [alias for alias, name in zip(statement.names, local, strict=True) if name not in gone]
            if len(kept) < len(local) and getattr(statement, "module", "") != "__future__":
                edit = _without(path, lines, statement, {a.asname or a.name for a in kept})
                edits += [edit] if edit is not None else []
    return edits


def _read(tree: ast.Module) -> Iterator[str]:
    count: Counter[str] = Counter()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store):
            count[node.id] += 1
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if not node.value.count(" "):  # in `__all__`, or an annotation in quotes
                count.update(re.findall(r"\w+", node.value))
    return iter(count)


def _without(
    path: str, lines: list[str], statement: ast.Import | ast.ImportFrom, kept: set[str]
) -> Edit | None:
    first, last = statement.lineno, statement.end_lineno or statement.lineno
    text = "\n".join(lines[first - 1 : last])
    try:
        made = cst.parse_statement(text)
    except cst.ParserSyntaxError:
        return None
    if "#" in text or ";" in text or not isinstance(made, cst.SimpleStatementLine):
        return None
    if not kept:
        return Edit(path, first, 1, last + 1, 1, "") if last < len(lines) else None
    (only,) = made.body
    if not isinstance(only, cst.Import | cst.ImportFrom) or isinstance(only.names, cst.ImportStar):
        return None
    names = [one for one in only.names if (one.evaluated_alias or one.evaluated_name) in kept]
    if not text.rstrip().endswith(")"):
        names[-1] = names[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
    new = cst.Module([made.with_changes(body=[only.with_changes(names=names)])]).code.rstrip("\n")
    return Edit(path, first, 1, last, len(lines[last - 1]) + 1, new)
