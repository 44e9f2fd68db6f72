"""What takes the prefix of a compiled module off names, and takes more or less off than that."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pt2lint.static.interpreter.frame import Frame
from pt2lint.static.source.modules import ClassInfo, Module
from pt2lint.static.source.nodes import unit_of, walk

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context

OPERATION = "cut name"
PREFIX = "_orig_mod"


class CutNames:
    def __init__(self, at: Context) -> None:
        self.at = at

    def read_through(self, module: Module, classes: list[ClassInfo]) -> None:
        if OPERATION not in self.at.notebook.anywhere or not module.says(PREFIX):
            return
        for place, title in _places(module):
            calls = [node for node in walk(place) if isinstance(node, ast.Call)]
            mends = any(map(_mends, calls))
            for call in calls:
                how = _how(call)
                if how and not (mends and how != "letters"):
                    frame = Frame(module, unit_of(place), title)
                    self.at.notebook.note(call, OPERATION, frame, details={"how": how})


def _places(module: Module) -> Iterator[tuple[ast.stmt, str]]:
    for statement in module.tree.body:
        if isinstance(statement, ast.ClassDef):
            for method in statement.body:
                if isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef):
                    yield method, f"`{statement.name}.{method.name}`"
        else:
            named = isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef)
            yield statement, f"`{statement.name}`" if named else ""  # type: ignore[attr-defined]


def _how(call: ast.Call) -> str:
    """What is wrong with `name.lstrip("_orig_mod.")`, `name.replace("_orig_mod", "")`; "" for all other calls."""
    if not isinstance(call.func, ast.Attribute):
        return ""
    does, texts = call.func.attr, _texts(call)
    if does in ("lstrip", "strip") and texts in ([PREFIX], [f"{PREFIX}."]):
        return "letters"
    if does == "replace" and texts in ([PREFIX, ""], [f".{PREFIX}", "."], [f"{PREFIX}.", "."]):
        return "dots"
    return ""


def _mends(call: ast.Call) -> bool:
    """`cut(name).lstrip(".")`, `name.replace("..", ".")`, or the prefix with its dot, taken off before."""
    does = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    first = _texts(call)[:1]
    if does in ("lstrip", "strip") and first == ["."]:
        return True
    return does in ("replace", "removeprefix") and first in ([".."], ["."], [f"{PREFIX}."])


def _texts(call: ast.Call) -> list[str]:
    given = [one.value if isinstance(one, ast.Constant) else None for one in call.args]
    return [one for one in given if isinstance(one, str)]
