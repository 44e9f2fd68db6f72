"""Training steps of programs that compile nothing yet: what a person who wants to know would name as roots."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from pt2lint.static.source.nodes import is_range

# Any mention will do: who has chosen what to compile needs no advice on what to name.
_COMPILES = re.compile(
    r"torch[._]compile|_dynamo|from torch import [^\n]*\bcompile\b|(?<!\bre)(?<!\bregex)\.compile\("
)


_SCRIPT = re.compile(r"^if __name__ == [\"']__main__[\"']", re.MULTILINE)


def unread_steps(
    files: Iterable[str], read: Callable[[str], str | None], *, scripts: bool = False
) -> list[str]:
    """The functions and methods that call `backward` once a call, or so many times as a `range` has, as `--roots` takes
    them: "train.py:Trainer.step"; none where any of the files says that it compiles something.

    What goes over the batches of a loader is a whole training and no step of one. Tests are left out. A file that
    cannot be read or parsed has none. `scripts`: of scripts alone, as who imports a file may compile it.
    """
    training: list[tuple[str, str]] = []
    for path in files:
        text = read(path) or ""
        if _COMPILES.search(text):
            return []
        if scripts and not _SCRIPT.search(text):
            continue
        if ".backward(" in text and not os.path.basename(path).startswith(("test", "conftest")):
            training.append((path, text))
    return [f"{path}:{name}" for path, text in training for name in _steps_in(text)]


def _steps_in(text: str) -> Iterator[str]:
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError):
        return
    for statement in body:
        owner = f"{statement.name}." if isinstance(statement, ast.ClassDef) else ""
        for function in statement.body if isinstance(statement, ast.ClassDef) else [statement]:
            if isinstance(function, ast.FunctionDef) and _computes_gradients(function.body):
                yield owner + function.name


def _computes_gradients(body: Sequence[ast.AST]) -> bool:
    """Whether `backward` is called there, outside of functions that are defined there and of loops over data."""
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.While)):
            continue
        if isinstance(node, ast.For | ast.AsyncFor) and not is_range(node.iter):
            continue
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "backward"
        ):
            return True
        if _computes_gradients([*ast.iter_child_nodes(node)]):
            return True
    return False
