"""How a file spells what it imports, and the import that a name takes."""

from __future__ import annotations

import re

import libcst as cst

from pt2lint.finding import Edit
from pt2lint.fixes.file import file_of
from pt2lint.fixes.names import Use, uses
from pt2lint.fixes.repaired import NO_IMPORT, TOO_NEW, Refused
from pt2lint.rule import FunctionCode
from pt2lint.rule.syntax import dotted
from pt2lint.rule.tree import walk

_SINCE = {
    "torch._higher_order_ops.print": (2, 13),
    "torch.compiler.is_compiling": (2, 1),
    "torch.compiler.assume_constant_result": (2, 1),
    "torch.cond": (2, 2),
    "torch.library.custom_op": (2, 4),
    "torch.get_autocast_dtype": (2, 4),
}


def torch_name(
    function: FunctionCode, qualified: str, line: int | None = None
) -> tuple[str, tuple[Edit, ...]]:
    """How the file spells a name of torch, and the import to add where it cannot yet.

    `line`: the name is to be read when the file is loaded, at this line; else when the function runs. Where torch
    is not surely there by then, and the file has reasons not to import it, or where the project's oldest torch does not
    have the name, `fix` refuses what these edits are part of.
    """
    file = file_of(function)
    since = _SINCE.get(qualified)
    if since is not None and file.oldest_torch is not None and file.oldest_torch < since:
        return qualified, (TOO_NEW,)
    own = _own_names(function)
    for local, target in function.imports.items():
        there = file.bound(local, line) in (("always",) if line is not None else ("always", "sometimes"))
        if local in own or local in file.rebound or not there:
            continue
        if target == qualified:
            return local, ()
        if qualified.startswith(target + ".") and target.split(".")[0] == "torch" and "." not in local:
            rest = qualified[len(target) :]
            # A submodule is an attribute of its package only once it was imported: torch itself does so for
            # all that repairs use.
            return local + rest, ()
    if line is None and "torch" in own:
        imported = any(isinstance(use.node, cst.ImportAlias) for use in own["torch"])
        return qualified, () if imported and len(own["torch"]) == 1 else (NO_IMPORT,)
    free = file.bound("torch") == "no" and "torch" not in own and "torch" not in file.rebound
    if not free or not file.loads_torch:
        return qualified, (NO_IMPORT,)
    return qualified, (import_edit(function, "import torch"),)


def _own_names(function: FunctionCode) -> dict[str, list[Use]]:
    """The names that the function binds itself, its parameters too, with the places."""
    known: dict[str, list[Use]] | None = function.memo.get("own names")
    if known is None:
        known = function.memo["own names"] = {}
        found = [
            Use(one.name.value, True, one) for one in walk(function.module) if isinstance(one, cst.Param)
        ]
        for one in walk(function.module):
            found += [use for use in uses(one.body) if use.binds] if isinstance(one, cst.FunctionDef) else []
        for use in found:
            known.setdefault(use.name, []).append(use)
    return known


def imported_as(function: FunctionCode, module: str) -> str | None:
    """What the file calls a module that it imports."""
    return next((local for local, target in function.imports.items() if target == module), None)


def import_edit(function: FunctionCode, statement: str) -> Edit:
    """The edit that adds an import statement at its place among the file's others."""
    words = statement.split()
    line, above, below = file_of(function).place_of(words[1])
    return Edit(function.path, line, 1, line, 1, f"{above}{statement}\n{below}")


def math_function(function: FunctionCode, name: str) -> tuple[str, tuple[Edit, ...]]:
    """What a function of `math` is called in the file, and the import that this takes."""
    for local, target in function.imports.items():
        if target == "math":
            return f"{local}.{name}", ()
        if target == f"math.{name}":
            return local, ()
    if "math" in function.imports or re.search(r"\bmath\b", function.text):
        raise Refused("`math` means something else here")
    return f"math.{name}", (import_edit(function, "import math"),)


def qualified(function: FunctionCode, node: cst.BaseExpression) -> str | None:
    """What a dotted name means by the file's imports: `F.relu` is "torch.nn.functional.relu"."""
    head, dot, rest = dotted(node).partition(".")
    return function.imports[head] + dot + rest if head in function.imports else None


def meant(function: FunctionCode, node: cst.BaseExpression) -> str:
    """The same, or the name as it is written where the file's imports do not say: a function may import it itself."""
    return qualified(function, node) or dotted(node)
