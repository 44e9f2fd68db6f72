"""Children forked from a process that has torch loaded: each is spared the seconds that loading takes.

Only on Linux, and only within `kept()`; elsewhere, and where anything is in the way, a child loads torch by itself.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence

# Variables that differ from child to child, beside its mark, and are nothing to torch while it is loaded.
OWN = ("TMPDIR", "TORCHINDUCTOR_CACHE_DIR", "PYTEST_CURRENT_TEST")


class Forked:
    """A child that another process forked, as far as it is used like a subprocess.Popen."""

    def __init__(self, pid: int, news: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._news = news

    def poll(self) -> int | None:
        if self.returncode is None and select.select([self._news], [], [], 0)[0]:
            self.returncode = int(_line(self._news) or -9)  # without the process that forked it, it is killed
            os.close(self._news)
        return self.returncode

    def wait(self, timeout: float) -> None:
        """Raises subprocess.TimeoutExpired."""
        if self.returncode is None:
            select.select([self._news], [], [], timeout)
        if self.poll() is None:
            raise subprocess.TimeoutExpired("a forked child", timeout)


class Nursery:
    """The process for the children of an interpreter with an environment.

    The user's folder is not on its path: modules there that are named like one that torch needs do not hide it.
    """

    def __init__(self, command: list[str], folder: str, environment: Mapping[str, str]) -> None:
        self._requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._lock = threading.Lock()
        self._ready = False
        with theirs:
            self._process = subprocess.Popen(
                [*command, "nursery", str(theirs.fileno())],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),), cwd=folder, env=environment, start_new_session=True,
            )  # fmt: skip

    def fork(
        self, request: Mapping[str, object], results: int, errors: int, waiting: Callable[[], bool]
    ) -> Forked | None:
        """A child for the request, once torch is loaded; None where that fails, or nobody is `waiting` any more."""
        with self._lock:
            while not self._ready:
                if not waiting():
                    return None
                if select.select([self._requests], [], [], 0.1)[0]:
                    if not self._requests.recv(16):
                        return None
                    self._ready = True
            news, theirs = os.pipe()
            try:
                socket.send_fds(self._requests, [json.dumps(request).encode()], [results, errors, theirs])
            except OSError:
                os.close(news)
                return None
            finally:
                os.close(theirs)
        number = _line(news)
        if number:
            return Forked(int(number), news)
        os.close(news)
        return None

    def end(self) -> None:
        self._requests.close()
        if not self._ready:
            self._process.kill()  # it still loads torch, and has no children
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _line(pipe: int) -> bytes:
    """The next line, read byte by byte, as another may follow; empty where there is no end of one."""
    line = b""
    while not line.endswith(b"\n"):
        byte = os.read(pipe, 1)
        if not byte:
            return b""
        line += byte
    return line


_lock = threading.Lock()
_blocks = 0  # of kept() that are open
_nurseries: dict[tuple[object, ...], Nursery | None] = {}  # None: no child could be had of it


@contextlib.contextmanager
def kept() -> Iterator[None]:
    """Within the block children are forked. Blocks may lie in one another, and in several threads; with the last one
    the processes end."""
    global _blocks
    with _lock:
        _blocks += 1
    try:
        yield
    finally:
        with _lock:
            _blocks -= 1
            over = [] if _blocks else [*_nurseries.values()]
            if over:
                _nurseries.clear()
        for nursery in over:
            if nursery is not None:
                nursery.end()


def fork(
    command: list[str], specification: str, results: int, errors: int, folder: str | None,
    environment: Mapping[str, str], mark: str, waiting: Callable[[], bool], loads: Sequence[str],
) -> Forked | None:  # fmt: skip
    """A child that does what `command + [specification, results]` would; None where it has to be started by itself.

    `results` and `errors` are descriptors to write to, `mark` the name of the variable that marks its processes,
    `loads` modules that it will import, as others like it will. Waits until torch is loaded, as long as `waiting` says
    so.
    """
    if not _blocks or sys.platform != "linux":
        return None
    common = {name: value for name, value in environment.items() if name not in (mark, *OWN)}
    folder = folder or os.getcwd()
    relative = any(p and not os.path.isabs(p) for p in environment.get("PYTHONPATH", "").split(os.pathsep))
    key = (*command, folder if relative else "", *common.items())
    with _lock:
        if key not in _nurseries:
            blank = {mark: "0" * len(environment[mark])}  # a child writes its own over it
            _nurseries[key] = Nursery(command, folder, {**common, **blank})
        nursery = _nurseries[key]
    if nursery is None:
        return None
    own = {name: environment[name] for name in (mark, *OWN) if name in environment}
    request = {"specification": specification, "environment": own, "folder": folder, "loads": [*loads]}
    child = nursery.fork(request, results, errors, waiting)
    if child is None and waiting():
        with _lock:
            mine = _nurseries.get(key) is nursery
            if mine:
                _nurseries[key] = None
        if mine:
            nursery.end()
    return child
