"""What this machine has."""

from __future__ import annotations

import os
from contextlib import suppress


def processors() -> int:
    with suppress(AttributeError, OSError):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def machine_memory() -> int | None:
    """Bytes of memory of this machine, None where the system does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return None
