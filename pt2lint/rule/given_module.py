"""What rules about modules that a function is given share: a caller may have compiled them."""

from __future__ import annotations

import libcst as cst

from pt2lint.finding import Fix, Severity
from pt2lint.op import Op
from pt2lint.rule import Rule


def severity(op: Op) -> Severity | None:
    """The rule's own where the file compiles modules itself; elsewhere it is a note."""
    return None if op.detail("compiles") == "yes" else "note"


def inside(name: str) -> str:
    """The module inside of the wrapper of torch.compile, where there is one."""
    return f'getattr({name}, "_orig_mod", {name})'


def original(text: str, op: Op) -> str:
    """The module inside of the wrapper of torch.compile, which is there, or may be; "" where what holds the wrapper
    (DistributedDataParallel) need not be there either."""
    within = op.detail("within").rstrip(".")
    if op.detail("maybe"):
        return "" if within else inside(text)
    return f"{text}.{within}._orig_mod" if within else f"{text}._orig_mod"


def ask_original(rule: Rule, node: cst.Attribute, op: Op, says: str) -> list[Fix]:
    """`compiled.children()` -> `compiled._orig_mod.children()`"""
    inner = original(rule.text(node.value), op)
    return [rule.fix(says, rule.edit(node.value, inner))] if inner else []
