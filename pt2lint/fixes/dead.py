"""Imports that fixes leave without a reader: taken out with them."""

from __future__ import annotations

import ast
import contextlib
import os
import re
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import libcst as cst

from pt2lint.finding import Edit
from pt2lint.packages import package_of
from pt2lint.project.discover import SKIPPED

_WORD = re.compile(r"\w+")
MOST = 50_000  # files around, beyond which nobody looks who takes what


def dead_imports(path: str, before: str, after: str) -> list[Edit]:
    """The edits that take out of `after` the imports at its top level whose names it no longer reads, and `before` did.

    Imports of a package's `__init__` are for others, and so are those that a file around takes from here; those under a
    condition or with a comment have a reason: they stay.
    """
    if path.endswith("__init__.py"):
        return []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            new = ast.parse(after)
            imported = {
                alias.asname or alias.name.split(".")[0]
                for statement in new.body
                if isinstance(statement, ast.Import | ast.ImportFrom)
                for alias in statement.names
            }
            if not imported & (Counter(_WORD.findall(before)) - Counter(_WORD.findall(after))).keys():
                return []  # most fixes leave them all: nothing need be read
            old = ast.parse(before)
        except (SyntaxError, ValueError):
            return []
    gone = imported & (_read(old) - _read(new))
    gone -= _taken_elsewhere(path, gone)
    if not gone:
        return []
    lines = after.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    edits = []
    whole: list[range] = []  # the lines of statements of which nothing stays
    for statement in new.body:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            local = [alias.asname or alias.name.split(".")[0] for alias in statement.names]
            kept = [alias for alias, name in zip(statement.names, local, strict=True) if name not in gone]
            if len(kept) == len(local) or getattr(statement, "module", "") == "__future__":
                continue
            if kept:
                edit = _without(path, lines, statement, {a.asname or a.name for a in kept})
                edits += [edit] if edit is not None else []
            elif _is_plain(lines, statement):
                end = (statement.end_lineno or statement.lineno) + 1
                first = (
                    whole.pop().start if whole and whole[-1].stop == statement.lineno else statement.lineno
                )
                whole.append(range(first, end))
    return [*edits, *(_cut(path, lines, one) for one in whole)]


def _taken_elsewhere(path: str, names: set[str]) -> set[str]:
    """Those of a module's names that files of its repository, or package, import from there or ask it for; all where
    one does by `from module import *`."""
    stem = re.escape(os.path.splitext(os.path.basename(path))[0])
    import_from = re.compile(
        rf"^[ \t]*from[ \t]+(?:[\w.]*\.)?{stem}[ \t]+import\b((?:[^\n\\(]|\\\n|\([^)]*\))*)", re.MULTILINE
    )
    asked = re.compile(rf"\b{stem}\.(\w+)")
    found: set[str] = set()
    for text in _around(path) if names else ():
        if text is None:
            return names
        for match in import_from.finditer(text):
            found.update(names if "*" in match[1] else _WORD.findall(match[1]))
        found.update(asked.findall(text))
        if names <= found:
            break
    return names & found


def _around(path: str) -> Iterator[str | None]:
    """The texts of the Python files of a file's repository, or where that is none of its package or folder; None where
    they are too many."""
    own = Path(path).absolute()
    top = next((one for one in own.parents if (one / ".git").exists()), Path(package_of(str(own.parent))[1]))
    seen = 0
    for folder, below, files in os.walk(top):
        below[:] = [one for one in below if not one.startswith(".") and one not in SKIPPED]
        seen += len(files)
        if seen > MOST:
            yield None
            return
        for other in (Path(folder, name) for name in files if name.endswith(".py")):
            if other != own:
                with contextlib.suppress(OSError):
                    yield other.read_text("utf-8", "replace")


def _read(tree: ast.Module) -> set[str]:
    """The names that are read, those in `__all__` and in annotations in quotes included."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and " " not in node.value:
            names.update(_WORD.findall(node.value))
    return names


def _text(lines: list[str], statement: ast.stmt) -> str:
    return "\n".join(lines[statement.lineno - 1 : statement.end_lineno])


def _is_plain(lines: list[str], statement: ast.stmt) -> bool:
    """Whether the statement has its lines for itself, and no comment speaks of it."""
    text = _text(lines, statement)
    above = lines[statement.lineno - 2] if statement.lineno > 1 else ""
    below = (statement.end_lineno or statement.lineno) < len(lines)
    return below and not ("#" in text or ";" in text or above.lstrip().startswith("#"))


def _cut(path: str, lines: list[str], gone: range) -> Edit:
    """The lines taken out, with the blank lines around them that would then part nothing."""
    first, end = gone.start, gone.stop
    above = first
    while above > 1 and not lines[above - 2].strip():
        above -= 1
    if above == 1:  # the file would begin with blank lines
        while end < len(lines) and not lines[end - 1].strip():
            end += 1
    elif above < first and end <= len(lines) and not lines[end - 1].strip():
        return Edit(path, above, 1, end, 1, "")
    return Edit(path, above if above == 1 else first, 1, end, 1, "")


def _without(
    path: str, lines: list[str], statement: ast.Import | ast.ImportFrom, kept: set[str]
) -> Edit | None:
    """The statement with the kept names alone; None where that cannot be written."""
    text = _text(lines, statement)
    try:
        made = cst.parse_statement(text)
    except cst.ParserSyntaxError:
        return None
    if not _is_plain(lines, statement) or not isinstance(made, cst.SimpleStatementLine):
        return None
    (only,) = made.body
    if not isinstance(only, cst.Import | cst.ImportFrom) or isinstance(only.names, cst.ImportStar):
        return None
    names = [one for one in only.names if (one.evaluated_alias or one.evaluated_name) in kept]
    if not text.rstrip().endswith(")"):
        names[-1] = names[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
    new = cst.Module([made.with_changes(body=[only.with_changes(names=names)])]).code.rstrip("\n")
    last = statement.end_lineno or statement.lineno
    return Edit(path, statement.lineno, 1, last, len(lines[last - 1]) + 1, new)
