"""Work of the host inside compiled code: imports, random numbers of Python."""

from __future__ import annotations

import sys

import libcst as cst

from pt2lint.finding import Fix
from pt2lint.fixes.file import file_of
from pt2lint.fixes.imports import import_edit, qualified, torch_name
from pt2lint.fixes.kinds import guess
from pt2lint.fixes.names import binds, uses
from pt2lint.fixes.nodes import ancestors, enclosing_function
from pt2lint.fixes.repaired import Refusal, Repaired, accepted, fix
from pt2lint.fixes.rewrite import rewrite
from pt2lint.fixes.text import source
from pt2lint.rule import FunctionCode

_RANDOM = {
    "random.random": "torch.rand",
    "numpy.random.rand": "torch.rand",
    "numpy.random.randn": "torch.randn",
}


def fixes(function: FunctionCode, node: cst.CSTNode) -> tuple[Fix, ...]:
    """All that fits of: an import moved to the top of the file, a random number drawn by torch."""
    found: list[Repaired] = []
    for outer in (node, *ancestors(function, node)):
        if isinstance(outer, cst.Import | cst.ImportFrom):
            found.append(hoist_import(function, outer))
        if isinstance(outer, cst.BaseStatement):
            break
    if isinstance(node, cst.Call):
        found.append(draw_with_torch(function, node))
    return accepted(*found)


def hoist_import(function: FunctionCode, node: cst.Import | cst.ImportFrom) -> Repaired:
    """An import inside the function at the top of the file instead.

    Refused for relative imports (they may be there to break a cycle), `import *`, names that the function
    binds otherwise or the file imports as something else, and imports under `try` or a condition. Unsafe:
    the module is then loaded with the file, also where the function is never called.
    """
    statement = function.parent(node)
    owner = enclosing_function(function, node)
    if owner is None or not isinstance(statement, cst.SimpleStatementLine) or len(statement.body) > 1:
        return Refusal("the import shares its line")
    if function.parent(statement) is not owner.body:
        return Refusal("the import stands under a condition")
    if isinstance(node, cst.ImportFrom) and (node.relative or isinstance(node.names, cst.ImportStar)):
        return Refusal("a relative import, or one of all names")
    if len(owner.body.body) < 2:
        return Refusal("the function does nothing else")
    given = (
        node.names[0].name
        if isinstance(node, cst.Import) and not isinstance(node.names, cst.ImportStar)
        else getattr(node, "module", None)
    )
    module = source(function, given).split(".")[0] if given is not None else ""
    if module not in sys.stdlib_module_names and module not in file_of(function).loaded:
        return Refusal(f"`{module}` may not be installed, or import this file itself")
    for name in binds(node):
        others = [use for use in uses(owner.body) if use.name == name and use.binds]
        if len(others) > 1 or (name in function.imports and not isinstance(node, cst.Import)):
            return Refusal(f"`{name}` has another meaning too")
    edits = (import_edit(function, source(function, node)), *rewrite(function, {statement: None}))
    return fix("Import at the top of the file: the module is then loaded before anything is compiled.", edits)


def draw_with_torch(function: FunctionCode, node: cst.Call) -> Repaired:
    """`random.random()` in arithmetic with tensors as `torch.rand(())`.

    Unsafe, and not to be proven by comparison: the numbers come from another generator.
    """
    kind = guess(function)
    known = qualified(function, node.func) or ""
    if known not in _RANDOM or node.args:
        return Refusal("not a single random number of Python or NumPy")
    parent = function.parent(node)
    if not isinstance(parent, cst.BinaryOperation):
        return Refusal("the number is not used in arithmetic")
    other = parent.right if parent.left is node else parent.left
    if not kind(other).startswith("tensor"):
        return Refusal("the number does not meet a tensor")
    name, imports = torch_name(function, _RANDOM[known])
    edits = (*imports, *rewrite(function, {node: cst.parse_expression(f"{name}(())")}))
    return fix("Draw with torch, in the graph: other numbers, from torch's own generator.", edits)
