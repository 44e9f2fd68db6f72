"""One GPU for each target that runs: who has a lock file has the GPU, in every process of the machine."""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence


@contextlib.contextmanager
def one_of(names: Sequence[str], stop: threading.Event | None = None) -> Iterator[str | None]:
    """The name of a GPU that nobody else has while the block runs, waiting for one where it must; None of none.

    The system gives the lock back when the process ends, however it ends.
    """
    if not names:
        yield None
        return
    import fcntl

    folder = os.path.join(tempfile.gettempdir(), f"pt2lint-gpus-{os.getuid()}")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    while True:
        for name in names:
            path = os.path.join(folder, re.sub(r"[^\w-]", "_", name))
            with open(path, "ab") as file:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except OSError:
                    continue
                yield name
                return
        if stop is not None and stop.is_set():
            yield None
            return
        time.sleep(0.2)
