"""The code of a function that no finding is in, as repairs read it: made from the text of its file."""

from __future__ import annotations

import ast

from pt2lint.fixes.file import File, file_at, file_of, first_line
from pt2lint.rule import FunctionCode
from pt2lint.rule.written import Shelf

ANY_TORCH = (2, 13)  # what is asked of it holds for all


def neighbour(function: FunctionCode, line: int) -> FunctionCode | None:
    """The same as `function_at` in the file of a function, which repairs ask for again and again."""
    return _at(file_of(function), line, function.target, function.shelf)


def function_at(path: str, text: str, line: int) -> FunctionCode | None:
    """The function of the file's top level, or the method of one of its classes, that holds the line."""
    return _at(file_at(path, text), line, ANY_TORCH, None)


def _at(file: File, line: int, target: tuple[int, int], shelf: Shelf | None) -> FunctionCode | None:
    found: ast.FunctionDef | None = None
    body: list[ast.stmt] = file.tree.body
    while body:
        around = next(
            (one for one in body if first_line(one) <= line <= (one.end_lineno or one.lineno)), None
        )
        found = around if isinstance(around, ast.FunctionDef) else None
        body = around.body if isinstance(around, ast.ClassDef) else []
    if found is None:
        return None
    first = first_line(found)
    lines = "".join(one + "\n" for one in file.lines[first - 1 : found.end_lineno])
    imports = {one.local: one.target for one in file.imports}
    code = FunctionCode(
        file.path, lines, first, (), target, imports, source=file.source, file_tree=file.tree, shelf=shelf
    )
    try:
        _ = code.module
    except Exception:  # LibCST, which has errors of its own, reads no form feed before a block
        return None
    return code
