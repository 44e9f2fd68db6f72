"""How long a search may take, in time of the processor: it comes as far on a busy machine."""

from __future__ import annotations

import os
import time

WAITING = 6  # times as long by the clock, since code may wait instead of work


class Allowance:
    """So many seconds, from now on, of the processor: of this thread and of the processes that it waited for."""

    def __init__(self, seconds: float) -> None:
        self.end, self.latest = used() + seconds, time.monotonic() + WAITING * seconds

    def over(self) -> bool:
        return used() > self.end or time.monotonic() > self.latest


def used() -> float:
    times = os.times()
    return time.thread_time() + times.children_user + times.children_system
