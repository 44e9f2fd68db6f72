"""End a program that shows nothing new any more, as one does that trains for days."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

SHARE = 0.1  # of the time limit without anything new: then the program is ended
LEAST = 5.0  # seconds of it
LONGEST = 0.7  # of the time limit: then the program is ended if it showed anything, since the limit loses all
REPEATS = 3  # calls since the last that was new
UNWINDING = 10.0  # seconds that the program has for its `finally` blocks before it is told again
COMPILING = "convert_frame.py"  # the file of Dynamo whose functions run while it compiles


class Stopped(BaseException):
    """Raised inside the program; not an Exception, so that what it retries after errors does not take it."""


class Patience:
    """How long a program may go on, which began now. `factor` times the usual time passes without anything new."""

    def __init__(self, limit: float, factor: float = 1.0) -> None:
        self.seconds = factor * max(LEAST, SHARE * limit)
        self.longest = LONGEST * limit
        self.start = self.since = time.monotonic()
        self.new = self.calls = 0
        self.told: float | None = None
        self.process = os.getpid()

    @property
    def stopped(self) -> bool:
        """Whether the program was told to end: whatever it raised or did then, it did not end by itself."""
        return self.told is not None

    def look(self, new: int, calls: int) -> None:
        """Raise Stopped where it is time. `new` counts what the program showed so far, `calls` what it called.

        Only in the main thread: elsewhere it would end the thread, and in a fork only the fork.
        """
        now = time.monotonic()
        if new != self.new:
            self.new, self.calls, self.since = new, calls, now
        same = calls - self.calls >= REPEATS and now - self.since >= self.seconds
        if not same and (not new or now - self.start < self.longest):
            return
        if threading.current_thread() is not threading.main_thread() or os.getpid() != self.process:
            return
        if self.told is None or now - self.told >= UNWINDING:
            self.told = now
            raise Stopped

    @contextlib.contextmanager
    def ticking(self, new: Callable[[], int]) -> Iterator[None]:
        """Look again and again by a timer, where no call of the program comes by; never while Dynamo compiles.

        A program that ends before the first tick, or sets an alarm of its own, sees nothing of it.
        """
        ticks = 0

        def tick(number: int, frame: Any) -> None:
            nonlocal ticks
            ticks += 1
            while frame is not None:
                if os.path.basename(frame.f_code.co_filename) == COMPILING:
                    return
                frame = frame.f_back
            self.look(new(), ticks)

        before = signal.signal(signal.SIGALRM, tick)
        signal.siginterrupt(signal.SIGALRM, False)
        signal.setitimer(signal.ITIMER_REAL, self.seconds / 4, self.seconds / 8)
        try:
            yield
        finally:
            # An alarm of the program's own is not ours to end; `as_before` does that.
            if signal.getsignal(signal.SIGALRM) is tick:
                signal.setitimer(signal.ITIMER_REAL, 0)
                signal.signal(signal.SIGALRM, before if before is not None else signal.SIG_DFL)
