"""Suggest torch._dynamo.mark_dynamic where a change of shape was seen to recompile."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping

from pt2lint.dynamic.events import Recompile
from pt2lint.dynamic.statements import statements_of
from pt2lint.finding import Edit, Fix

# As torch 2.6 to 2.15 word it: tensor 'x' size mismatch at index 0. expected 4, actual 5
_SIZE = re.compile(r"tensor '(?:L\['(?P<local>\w+)'\]|(?P<name>\w+))' size mismatch at index (?P<dim>\d+)")


def mark_dynamic(
    recompile: Recompile, guards: Iterable[str], sources: Mapping[str, str], shown: Mapping[str, str]
) -> tuple[Fix, ...]:
    """A fix that marks the changing dimensions before each call of the function that was recompiled.

    Empty where no call is found whose argument is a plain name, or the file does not import torch.
    """
    sizes = {
        (found["local"] or found["name"], int(found["dim"]))
        for guard in guards
        if (found := _SIZE.search(guard))
    }
    if not sizes or recompile.path not in sources:
        return ()
    statements = statements_of(sources[recompile.path])
    function = statements.function(recompile.line) if statements else None
    if function is None:
        return ()
    parameters = [arg.arg for arg in (*function.args.posonlyargs, *function.args.args)]
    if parameters[:1] == ["self"]:
        parameters = parameters[1:]
    # A graph break makes functions of their own of what follows it: their arguments are not the caller's.
    sizes = {(name, dim) for name, dim in sizes if name in parameters}
    edits: list[Edit] = []
    marks: list[str] = []
    for path, source in sources.items():
        if "compile" not in source:
            continue  # most files: not worth a parse
        for call, statement in _calls(source, recompile, function, same_file=path == recompile.path):
            torch = _torch_name(source)
            for name, dim in sorted(sizes):
                argument = _argument(call, parameters, name)
                if torch is None or not isinstance(argument, ast.Name):
                    continue
                mark = f"{torch}._dynamo.mark_dynamic({argument.id}, {dim})"
                place = (shown[path], statement.lineno, statement.col_offset + 1)
                edit = Edit(
                    *place,
                    statement.lineno,
                    statement.col_offset + 1,
                    f"{mark}\n{' ' * statement.col_offset}",
                )
                if edit not in edits:
                    edits.append(edit)
                    marks.append(mark)
    if not edits:
        return ()
    what = ", ".join(f"dimension {dim} of `{name}`" for name, dim in sorted(sizes))
    return (Fix(f"Say before the call that {what} changes: `{marks[0]}`", "unsafe", tuple(edits)),)


def _torch_name(source: str) -> str | None:
    """How the file spells torch."""
    statements = statements_of(source)
    for node in statements.tree.body if statements else []:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name == "torch":
                    return alias.asname or "torch"
                if alias.name.startswith("torch.") and alias.asname is None:
                    return "torch"
    return None


def _calls(
    source: str, recompile: Recompile, function: ast.FunctionDef | ast.AsyncFunctionDef, same_file: bool
) -> list[tuple[ast.Call, ast.stmt]]:
    """Calls of what was compiled from the function, with their statements.

    A call counts if its name was bound to torch.compile(...) of the function or of an instance of its
    class, or if it is the decorated function's own.
    """
    statements = statements_of(source)
    if statements is None:
        return []
    tree = statements.tree
    owner = _class_of(recompile.line, tree) if same_file else None
    names = {function.name} if same_file and _is_compiled(function) else set()
    instances: set[str] = set()
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.value, ast.Call)):
            continue
        target, called = ast.unparse(node.targets[0]), ast.unparse(node.value.func)
        if owner and called.rpartition(".")[2] == owner:
            instances.add(target)
        if called.rpartition(".")[2] == "compile" and node.value.args:
            compiled = node.value.args[0]
            inner = ast.unparse(compiled.func) if isinstance(compiled, ast.Call) else ast.unparse(compiled)
            if (
                inner in instances
                or inner.rpartition(".")[2] in {owner, function.name}
                or (owner is None and not same_file)
            ):
                names.add(target)
    for node in ast.walk(tree):  # model.compile() in place
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "compile"
            and ast.unparse(node.func.value) in instances
        ):
            names.add(ast.unparse(node.func.value))
    found: list[tuple[ast.Call, ast.stmt]] = []
    for statement in ast.walk(tree):
        if isinstance(statement, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Return)):
            for call in ast.walk(statement):
                if isinstance(call, ast.Call) and ast.unparse(call.func) in names:
                    found.append((call, statement))
    return found


def _class_of(line: int, tree: ast.Module) -> str | None:
    """The innermost class that holds a line."""
    classes = [
        node for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and node.lineno <= line <= (node.end_lineno or line)
    ]  # fmt: skip
    return classes[-1].name if classes else None


def _is_compiled(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any("compile" in ast.unparse(decorator) for decorator in function.decorator_list)


def _argument(call: ast.Call, parameters: list[str], name: str) -> ast.expr | None:
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    if name in parameters and parameters.index(name) < len(call.args):
        argument = call.args[parameters.index(name)]
        return None if isinstance(argument, ast.Starred) else argument
    return None
