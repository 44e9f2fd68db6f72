"""The code of a function that no finding is in, as repairs read it: made from the text of its file."""

from __future__ import annotations

import ast

from pt2lint.fixes.file import file_at
from pt2lint.rule import FunctionCode


def function_at(path: str, text: str, line: int, target: tuple[int, int] = (2, 13)) -> FunctionCode | None:
    """The function of the file's top level, or the method of one of its classes, that holds the line."""
    file = file_at(path, text)
    found: ast.FunctionDef | None = None
    body: list[ast.stmt] = file.tree.body
    while body:
        around = next((one for one in body if _first(one) <= line <= (one.end_lineno or one.lineno)), None)
        found = around if isinstance(around, ast.FunctionDef) else None
        body = around.body if isinstance(around, ast.ClassDef) else []
    if found is None:
        return None
    first = _first(found)
    lines = "".join(one + "\n" for one in file.lines[first - 1 : found.end_lineno])
    imports = {one.local: one.target for one in file.imports}
    return FunctionCode(path, lines, first, (), target, imports, source=file.source, file_tree=file.tree)


def _first(statement: ast.stmt) -> int:
    decorators = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(one.lineno for one in decorators)])
