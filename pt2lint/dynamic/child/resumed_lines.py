"""The lines of code that Dynamo resumes after a break, which it tells wrongly after calls over several lines."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

LONGEST = 8  # units of bytecode that one entry of Python's table of lines covers

Update = Callable[[Any, int], None]


@contextlib.contextmanager
def told_right() -> Iterator[None]:
    """Have Dynamo step to an instruction's line once.

    For one of more than eight units (the look-up of a method) it writes several entries, each with the whole step
    from the line before (torch 2.13, Python 3.11 on): what follows `linspace(`, two lines, `).view(1)` is told that
    far off. Given in pieces, all but the first of them step nowhere.
    """
    import torch._dynamo.bytecode_transformation as rewriting

    writer: Any = getattr(rewriting, "linetable_311_writer", None)
    if writer is None:
        yield
        return

    def in_pieces(first: int) -> tuple[list[int], Update]:
        table, update = writer(first)

        def whole(positions: Any, size: int) -> None:
            while size > LONGEST:
                update(positions, LONGEST)
                size -= LONGEST
            update(positions, size)

        return table, whole

    rewriting.linetable_311_writer = in_pieces
    try:
        yield
    finally:
        rewriting.linetable_311_writer = writer
