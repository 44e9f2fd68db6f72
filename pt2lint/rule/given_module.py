"""What rules about modules that a function is given share: a caller may have compiled them."""

from __future__ import annotations

from pt2lint.finding import Severity
from pt2lint.op import Op


def severity(op: Op) -> Severity | None:
    """The rule's own where the file compiles modules itself; elsewhere it is a note."""
    return None if op.arg("compiles") == "yes" else "note"


def inside(name: str) -> str:
    """The module inside of the wrapper of torch.compile, where there is one."""
    return f'getattr({name}, "_orig_mod", {name})'


def original(text: str, op: Op) -> str:
    """The module inside of the wrapper of torch.compile, which is there, or may be."""
    held = f"{text}.{op.arg('within')}".rstrip(".")
    return inside(held) if op.arg("maybe") else f"{held}._orig_mod"
