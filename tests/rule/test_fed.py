"""Which calls are given the batches of a loader."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from pt2lint.rule.fed import FEEDS, feeds


def test_calls_of_one_line_have_an_order() -> None:
    """Else what is told of a loader would change from run to run."""
    names = [f"part{n:02}" for n in range(50)]
    op: Any = SimpleNamespace(uses=frozenset(f"{FEEDS}m.py:3\t{name}" for name in names))
    assert [fed[-1] for fed in feeds(op)] == names
