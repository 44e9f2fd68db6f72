"""Work spread over child processes: each task has one of its own, whose memory and crashes end with it."""

from __future__ import annotations

import gc
import os
import select
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import TypeVar

from pt2lint.machine import machine_memory, processors

Task = TypeVar("Task")
Result = TypeVar("Result")
LOOK = 0.5  # seconds between two looks at whether the parent is there
PR_SET_PDEATHSIG = 1  # of <linux/prctl.h>
FEW = 4  # children at a time, whatever the memory: each may take a few hundred MiB
MOST = 16
EACH = 1 << 30  # bytes of the machine's memory for each child beyond the first few


def can_fork() -> bool:
    """Whether a child may safely go on from where this process is: not if other threads are at work."""
    threading = sys.modules.get("threading")
    return hasattr(os, "fork") and (threading is None or threading.active_count() == 1)


def children() -> int:
    """How many may work at a time."""
    return min(processors(), MOST, max(FEW, (machine_memory() or 0) // EACH))


def spread(function: Callable[[Task], Result], tasks: Sequence[Task]) -> Iterator[Result | None]:
    """`function(task)` for each task, in order; None where the child died. Results are pickled."""
    import pickle  # to lint one file takes no child

    jobs = min(children(), len(tasks))
    answers: dict[int, Result | None] = {}
    running: dict[int, tuple[int, int, list[bytes]]] = {}  # pipe -> (task, child, what it sent)
    started = given = 0
    try:
        while given < len(tasks):
            while started < len(tasks) and len(running) < jobs:
                child, pipe = _start(function, tasks[started])
                running[pipe] = (started, child, [])
                started += 1
            for pipe in select.select(list(running), [], [])[0]:
                task, child, sent = running[pipe]
                data = os.read(pipe, 1 << 20)
                if data:
                    sent.append(data)
                    continue
                del running[pipe]
                os.close(pipe)
                status = os.waitpid(child, 0)[1]
                answers[task] = pickle.loads(b"".join(sent)) if status == 0 else None
            while given in answers:
                yield answers.pop(given)
                given += 1
    finally:
        for pipe, (_, child, _) in running.items():
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            os.close(pipe)


def _start(function: Callable[[Task], Result], task: Task) -> tuple[int, int]:
    """(child, the pipe on which its result comes)."""
    read, write = os.pipe()
    parent = os.getpid()
    child = os.fork()
    if child:
        os.close(write)
        return child, read
    status = 1
    try:
        os.close(read)
        gc.disable()  # all memory ends with the process
        _end_with(parent)
        import pickle

        data = pickle.dumps(function(task), pickle.HIGHEST_PROTOCOL)
        with open(write, "wb") as pipe:
            pipe.write(data)
        status = 0
    finally:
        # No handler, buffer or `finally` of the parent's may run a second time here.
        os._exit(status)


def _end_with(parent: int) -> None:
    """End this process soon after its parent has, however that ended."""
    import threading
    import time

    if sys.platform == "linux":
        with suppress(ImportError, OSError, AttributeError):
            import ctypes

            # The kernel does it, even while this process is deep in C code.
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(LOOK)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
