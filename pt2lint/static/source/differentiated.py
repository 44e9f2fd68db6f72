"""Which calls of a function, or of a script, give what it computes gradients of."""

from __future__ import annotations

import ast
from collections.abc import Collection

from pt2lint.static.source.hooked import statements
from pt2lint.static.source.nodes import walk


def calls_behind(root: ast.AST, words: Collection[str]) -> list[ast.Call]:
    """`loss_of(model, x)` where `loss = loss_of(model, x)` and `(loss / 2).backward()`, which is one of the `words`."""
    given: dict[str, list[ast.expr]] = {}
    pending: list[ast.expr] = []
    for node in statements(root):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in words:
            pending.append(node.func.value)
        elif isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)) and node.value is not None:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                for part in walk(target):
                    if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                        given.setdefault(part.id, []).append(node.value)
    found: list[ast.Call] = []
    seen: set[str] = set()
    while pending:
        parts = [*walk(pending.pop())]
        calls = [part for part in parts if isinstance(part, ast.Call)]
        found += calls
        callees = [call.func for call in calls]  # how `model` was made tells nothing of what it gives
        for part in parts:
            if isinstance(part, ast.Name) and part.id not in seen and part not in callees:
                seen.add(part.id)
                pending += given.get(part.id, ())
    return found
