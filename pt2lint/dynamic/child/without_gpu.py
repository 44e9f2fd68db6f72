"""On a machine without a GPU: code that asks for one (`x.cuda()`, `device="cuda"`) is run on the CPU.

Only what names the device is changed, as a file is imported, and every line stays where it is. What asks whether there
is a GPU is told the truth, and what compares a device with "cuda" compares it.
"""

from __future__ import annotations

import ast
import importlib.machinery
import os
import re
from collections.abc import Callable, Sequence
from typing import Any

import torch

_DEVICE = re.compile(r"cuda(:\d+)?")
_LEFT = re.compile(
    r"torch\.cuda\.(?!\w+Tensor$)\w+|torch\.(amp|backends)\..*|.*(is_available|autocast|GradScaler)"
)


class _OnCpu(ast.NodeTransformer):
    """Puts on the CPU what a file puts on a GPU; `lines` are those that were changed."""

    def __init__(self) -> None:
        self.lines: set[int] = set()

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        return node if "is_available" in ast.unparse(node.test) else self.generic_visit(node)

    def visit_If(self, node: ast.If) -> ast.AST:
        return node if "is_available" in ast.unparse(node.test) else self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if _LEFT.fullmatch(ast.unparse(node.func)):
            return node
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "cuda":
            self.lines.add(node.lineno)
            node.func.attr, node.args, node.keywords = "cpu", [], []
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if re.fullmatch(r"torch\.cuda\.\w+Tensor", ast.unparse(node)):
            self.lines.add(node.lineno)
            return ast.copy_location(ast.Attribute(node.value.value, node.attr, node.ctx), node)  # type: ignore[attr-defined]
        return self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if not isinstance(node.value, str) or not _DEVICE.fullmatch(node.value):
            return node
        self.lines.add(node.lineno)
        return ast.copy_location(ast.Constant("cpu"), node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        if not node.values or getattr(node.values[0], "value", None) != "cuda:":
            return node
        self.lines.add(node.lineno)
        return ast.copy_location(ast.Constant("cpu"), node)


def install(roots: Sequence[str], tell: Callable[[str], None]) -> None:
    """Have files under the roots, and under the folder that this process runs in, imported so; `tell` is given a line
    for each root that was changed, and one for all other files."""
    if torch.cuda.is_available():
        return
    folders = (*roots, os.getcwd())
    told: set[str] = set()

    def tell_once(path: str, changed: set[int]) -> None:
        lines = sorted(changed)
        where = f"(line {', '.join(map(str, lines[:5]))}{', ...' if lines[5:] else ''})"
        own = path in roots
        shown = os.path.relpath(path) if path.startswith(os.getcwd() + os.sep) else path
        said = "torch sees no GPU here: `cuda` "
        said = f"{shown}: {said}{where}" if own else f"{said}in what is imported"
        if said not in told:
            told.add(said)
            tell(f"{said} is taken for the CPU")

    before = importlib.machinery.SourceFileLoader.get_code

    def get_code(self: Any, fullname: str) -> Any:
        path = os.path.realpath(self.path)
        if (
            any(path == each or path.startswith(each + os.sep) for each in folders)
            and "site-packages" not in path
        ):
            text = self.get_data(self.path)
            if b"cuda" in text and b"def cuda(" not in text:
                tree, mended = ast.parse(text), _OnCpu()
                mended.visit(tree)
                if mended.lines:
                    tell_once(path, mended.lines)
                    return compile(tree, self.path, "exec", dont_inherit=True)
        return before(self, fullname)

    importlib.machinery.SourceFileLoader.get_code = get_code  # type: ignore[method-assign]
