"""Training steps of programs that compile nothing yet: what a person who wants to know would name as roots."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from pt2lint.static.source.nodes import is_range, made_once, parameters_in

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

    What goes over the batches of a loader is a whole training and no step of one, and what is given the loss, as a
    scaler of losses is, a part of one. Tests are left out. A file that cannot be read or parsed has none. `scripts`: of
    scripts alone, as who imports a file may compile it.
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
            if isinstance(function, ast.FunctionDef) and any(
                not _is_given(loss, function) for loss in _losses(function.body)
            ):
                yield owner + function.name


def _is_given(loss: ast.expr, function: ast.FunctionDef) -> bool:
    """Whether the function was given the loss, which it scales at most: `scaled = loss * self.scale`."""
    if isinstance(loss, ast.Name):
        made = made_once(function).get(loss.id)
        if made is not None and made.lineno < loss.lineno:
            return _is_given(made, function)
        bound = [n for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
        given = [each.arg for each in parameters_in(function.args)]
        return loss.id in given and loss.id not in [name.id for name in bound]
    if isinstance(loss, ast.BinOp):
        return _is_given(loss.left, function) or _is_given(loss.right, function)
    if isinstance(loss, ast.Call) and isinstance(loss.func, ast.Attribute) and loss.func.attr == "scale":
        return bool(loss.args) and _is_given(loss.args[0], function)
    return False


def _losses(body: Sequence[ast.AST]) -> Iterator[ast.expr]:
    """What `backward` is called of there, outside of functions that are defined there and of loops over data."""
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
            yield node.func.value
        yield from _losses([*ast.iter_child_nodes(node)])
