"""The pipe to the parent: one JSON object a line, written by this process alone."""

from __future__ import annotations

import json
import os
import threading
from typing import Any, NoReturn


class Wire:
    """Write end of the result pipe. A fork of the process (the verified code may fork) has no part in it."""

    def __init__(self, fd: int) -> None:
        os.set_inheritable(fd, False)
        self.fd: int | None = fd
        self.lock = threading.Lock()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._close_copy)

    def _close_copy(self) -> None:
        if self.fd is not None:
            os.close(self.fd)
        self.fd = None

    def send(self, event: str, **fields: Any) -> None:
        """Send one event. In a fork that came back into our code this ends the fork instead."""
        if self.fd is None:
            os._exit(0)
        fields["event"] = event
        line = (json.dumps(fields, default=repr) + "\n").encode("utf-8", "replace")
        with self.lock:
            while line:
                line = line[os.write(self.fd, line) :]

    def finish(self) -> NoReturn:
        """End the process at once: neither threads nor exit handlers of the verified code can hold it."""
        if self.fd is not None:
            os.close(self.fd)
        os._exit(0)
