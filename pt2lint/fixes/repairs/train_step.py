"""A train step that is compiled as a whole: compile what computes the loss, and leave the rest to Python."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterable, Iterator

import libcst as cst

from pt2lint.finding import LEFT_TO_YOU, Edit, Fix
from pt2lint.fixes.rewrite import qualified
from pt2lint.rule import FunctionCode, breaks_on, measured

BACKWARD = ("call torch.Tensor.backward", "call torch.autograd.backward")
# What cannot move into another function, or means something else there.
STAYS = (
    ast.Return,
    ast.Yield,
    ast.YieldFrom,
    ast.Await,
    ast.Break,
    ast.Continue,
    ast.Global,
    ast.Nonlocal,
    ast.Delete,
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.Lambda,
    ast.NamedExpr,
    ast.Import,
    ast.ImportFrom,
)
LOOKS_AROUND = {"super", "locals", "vars", "eval", "exec", "dir", "__class__"}


def fixes(function: FunctionCode, node: cst.CSTNode) -> Iterator[Fix]:
    """The statements above `loss.backward()` in a function of their own, which takes the decorator `@torch.compile`.

    Offered for a function with that decorator and no other, where these statements stand in a row, and it is plain
    which names they take and leave. They compute what they computed, in the order in which they did.
    """
    del node
    step = _step(function)
    if step is None:
        return
    taken = _block(function, step)
    if not taken:
        return
    names = _names(step, taken)
    if names is None:
        return
    inputs, outputs = names
    method = function.text[:1] in " \t"
    first = step.args.args[0].arg if method and step.args.args else ""
    if method and not first:
        return
    name = f"{step.name}_loss"
    if name in function.source:
        return
    lines = function.text.split("\n")
    indent = lines[0][: len(lines[0]) - len(lines[0].lstrip())]
    top, end = taken[0].lineno - 1, taken[-1].end_lineno or 0
    body = lines[top:end]
    inner = body[0][: len(body[0]) - len(body[0].lstrip())]
    decorator = lines[0 : step.lineno - 1]
    given = [name for name in inputs if name != first]
    parameters = ", ".join([first, *given] if method else given)
    made = [*decorator, f"{indent}def {name}({parameters}):", *body, f"{inner}return {', '.join(outputs)}"]
    called = f"{inner}{', '.join(outputs)} = {f'{first}.' if method else ''}{name}({', '.join(given)})"
    start = function.first_line
    yield Fix(
        f"Compile what computes the loss: `{name}` takes it over, with the decorator, and `{step.name}` runs as plain "
        f"Python around it; {LEFT_TO_YOU}.",
        "unsafe",
        (
            Edit(
                function.path,
                start,
                1,
                start + step.lineno - 1,
                1,
                "\n".join(made) + "\n" * (2 if method else 3),
            ),
            Edit(function.path, start + top, 1, start + end - 1, len(lines[end - 1]) + 1, called),
        ),
    )


def _step(function: FunctionCode) -> ast.FunctionDef | None:
    """The function, if torch.compile decorates it and nothing else does."""
    found = next((n for n in function.module.body if isinstance(n, cst.FunctionDef | cst.If)), None)
    while isinstance(found, cst.If):
        found = next((n for n in found.body.body if isinstance(n, cst.FunctionDef)), None)
    if found is None or len(found.decorators) != 1:
        return None
    decorator = found.decorators[0].decorator
    target = decorator.func if isinstance(decorator, cst.Call) else decorator
    if qualified(function, target) != "torch.compile":
        return None
    try:
        parsed = ast.parse(textwrap.dedent(function.text)).body[0]
    except (SyntaxError, ValueError):
        return None
    return parsed if isinstance(parsed, ast.FunctionDef) else None


def _block(function: FunctionCode, step: ast.FunctionDef) -> list[ast.stmt]:
    """The statements in a row, none of which breaks the graph, that stand nearest above the first `backward()`."""
    known = measured()[1]
    breaking: set[int] = set()
    backward: set[int] = set()
    for op in function.ops:
        line = op.line - function.first_line + 1
        if op.name in BACKWARD:
            backward.add(line)
        if op.name in known and breaks_on(op.name, function.target):
            breaking.add(line)

    def holds(statement: ast.stmt, lines: set[int]) -> bool:
        return any(statement.lineno <= line <= (statement.end_lineno or 0) for line in lines)

    at = next((i for i, statement in enumerate(step.body) if holds(statement, backward)), None)
    if at is None or not isinstance(step.body[at], ast.Expr):
        return []
    end = at
    while end and holds(step.body[end - 1], breaking):
        end -= 1
    start = end
    while start and _moves(step.body[start - 1]) and not holds(step.body[start - 1], breaking):
        start -= 1
    return step.body[start:end]


def _moves(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return False  # a docstring
    return not any(
        isinstance(part, STAYS) or (isinstance(part, ast.Name) and part.id in LOOKS_AROUND)
        for part in ast.walk(statement)
    )


def _names(step: ast.FunctionDef, taken: list[ast.stmt]) -> tuple[list[str], list[str]] | None:
    """What the statements take of the function's own names, and leave to what comes after; None where a name may not be
    bound."""
    a = step.args
    if a.vararg or a.kwarg or any(isinstance(n, (ast.Global, ast.Nonlocal)) for n in ast.walk(step)):
        return None
    first, last = step.body.index(taken[0]), step.body.index(taken[-1])
    parameters = [p.arg for p in (*a.posonlyargs, *a.args, *a.kwonlyargs)]
    before = step.body[:first]
    own = {*parameters, *_bound(before, plain=False)}
    sure = {*parameters, *_bound(before, plain=True)}
    read = _read(taken)
    inputs = [name for name in read if name in own]
    left = _bound(taken, plain=False)
    outputs = [name for name in left if name in set(_read(step.body[last + 1 :]))]
    if not set(inputs) <= sure or not set(outputs) <= set(_bound(taken, plain=True)) or not outputs:
        return None
    return inputs, outputs


def _read(statements: Iterable[ast.stmt]) -> list[str]:
    """The names that are read, `x += 1` included, in their order."""
    found: dict[str, None] = {}
    for statement in statements:
        for part in ast.walk(statement):
            if isinstance(part, ast.AugAssign) and isinstance(part.target, ast.Name):
                found[part.target.id] = None
            elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
                found[part.id] = None
    return list(found)


def _bound(statements: Iterable[ast.stmt], plain: bool) -> list[str]:
    """The names that are bound; with `plain`, those that surely are: by an assignment at the top."""
    found: dict[str, None] = {}
    for statement in statements:
        if plain and not isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.With)):
            continue
        for part in ast.walk(statement):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                found[part.id] = None
    return list(found)
