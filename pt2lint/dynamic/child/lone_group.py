"""A process group of this process alone, for code that asks for one and is run without those that start it."""

from __future__ import annotations

import contextlib
import re

import torch.distributed

_ABSENT = re.compile(r"(?i)default process group has not been initialized")


def made_for(error: BaseException) -> bool:
    """Make one where an error says that there is none; whether it did.

    It is torch's own fake group: of one process it gives what a true one does (on torch 2.13 and 2.15; on 2.6
    `reduce_scatter` and `all_to_all` leave the result as it was), opens no connection, and lives on in a fork.
    """
    if not _ABSENT.search(str(error)) or not torch.distributed.is_available():
        return False
    if torch.distributed.is_initialized():
        return False
    with contextlib.suppress(Exception):
        from torch.testing._internal.distributed.fake_pg import FakeStore

        torch.distributed.init_process_group("fake", store=FakeStore(), rank=0, world_size=1)
    return torch.distributed.is_initialized()


def said() -> list[str]:
    """What the reader is told of it."""
    there = torch.distributed.is_available() and torch.distributed.is_initialized()
    return ["in a process group of one"] if there and torch.distributed.get_backend() == "fake" else []
