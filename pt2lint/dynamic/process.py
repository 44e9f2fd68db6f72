"""Start one child process, hear it out, and leave nothing of it behind."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import selectors
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pt2lint.dynamic.events import Failure
from pt2lint.dynamic.nursery import Forked, fork

CHILD = Path(__file__).parent / "child" / "main.py"
MARK = "PT2LINT_VERIFY"
# They would send Dynamo's records elsewhere, or turn Dynamo off.
_UNSET = ("TORCH_LOGS", "TORCH_TRACE", "TORCH_LOGS_OUT", "TORCHDYNAMO_DISABLE", "TORCH_COMPILE_DISABLE")
# What the child says when it starts on something that has the whole time for itself.
RENEWING = ("loaded", "making", "target", "target_done", "step", "no_torch")
_TAIL = 16_384
ROOM = 2**31  # bytes: with less, torch is loaded within the limit, and does not fit where there is too little
# What AOTAutograd imports for the first graph that has a backward, which takes a second: comparing asks for such.
BACKWARD = ("torch._inductor.pattern_matcher",)
STOPPED = Failure("stopped", "it was interrupted")


@dataclass(frozen=True)
class Limits:
    """Seconds for loading and again for each target, or each step of a comparison; bytes for the process and all its
    children together."""

    seconds: float
    memory: int | None


@dataclass(frozen=True)
class Around:
    """What a child starts in: a folder (None: ours), and variables of the environment on top of ours."""

    folder: str | None = None
    environment: tuple[tuple[str, str], ...] = ()


@contextlib.contextmanager
def interruptible(stop: threading.Event) -> Iterator[None]:
    """Set `stop` when Ctrl-C or SIGTERM ends the block, so that threads which run children end them and return.

    SIGTERM raises SystemExit(143) here, unless the program has a handler of its own. It ends the workers of a process
    pool at once: they would take the exception for their task's answer and go on, while the pool waits for their end.
    """
    owner = os.getpid()

    def terminate(number: int, frame: object) -> None:
        if os.getpid() != owner:  # a worker that was forked from here
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        raise SystemExit(128 + number)

    ours = threading.current_thread() is threading.main_thread() and multiprocessing.parent_process() is None
    ours = ours and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    if ours:
        signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    except BaseException:
        stop.set()
        raise
    finally:
        if ours:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


def run_child(
    python: str,
    spec: Mapping[str, Any],
    limits: Limits,
    hear: Callable[[dict[str, Any]], None],
    stop: threading.Event | None = None,
    around: Around | None = None,
) -> Failure | None:
    """Run the child on a specification and hand each of its messages to `hear`.

    Returns None if it said that it was done, else why it ended: a limit, a signal, an exit of its own, or that
    `stop` was set. Kills the child's process group, and every process that still carries its mark, before it returns.
    """
    stop = stop or threading.Event()
    if stop.is_set():
        return STOPPED
    mark = uuid.uuid4().hex
    scratch = tempfile.mkdtemp(prefix="pt2lint-")
    read_end, write_end = os.pipe()
    errors, their_errors = os.pipe()
    around = around or Around()
    environment = {key: value for key, value in os.environ.items() if key not in _UNSET}
    environment.update(around.environment)
    environment.update(
        {MARK: mark, "TMPDIR": scratch, "TORCHINDUCTOR_CACHE_DIR": os.path.join(scratch, "inductor"),
         "PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    )  # fmt: skip
    environment.setdefault("PYTHONHASHSEED", "0")  # sets are in the same order in the runs that are compared
    if "time" not in spec:
        # Threads that wait by spinning take the processor from the others: 20 times the time on a busy machine.
        environment.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    process: subprocess.Popen[bytes] | Forked | None = None
    try:
        spec_path = os.path.join(scratch, "spec.json")
        Path(spec_path).write_text(json.dumps({**spec, "timeout": limits.seconds}), encoding="utf-8")
        begun = time.monotonic()

        def waiting() -> bool:
            return not stop.is_set() and time.monotonic() < begun + limits.seconds

        command = [python, str(CHILD)]
        forked = "time" not in spec and (limits.memory or ROOM) >= ROOM  # elsewhere, loading torch counts
        with interruptible(stop):
            if forked:
                loads = BACKWARD if "observe" in spec else ()
                process = fork(
                    command,
                    spec_path,
                    write_end,
                    their_errors,
                    around.folder,
                    environment,
                    MARK,
                    waiting,
                    loads,
                )
            process = process or subprocess.Popen(
                [*command, spec_path, str(write_end)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=their_errors,
                pass_fds=(write_end,),
                cwd=around.folder,
                env=environment,
                start_new_session=True,
            )
            for end in (write_end, their_errors):
                os.close(end)
            write_end = their_errors = -1
            return _listen(process, read_end, errors, limits, mark, hear, stop)
    except OSError as error:
        return Failure("no python", f"{python} cannot be run: {error.strerror or error}")
    finally:
        if process is not None:
            end_family(process, mark)
        for end in (read_end, write_end, errors, their_errors):
            if end >= 0:
                os.close(end)
        shutil.rmtree(scratch, ignore_errors=True)


def _listen(
    process: subprocess.Popen[bytes] | Forked,
    pipe: int,
    errors: int,
    limits: Limits,
    mark: str,
    hear: Callable[[dict[str, Any]], None],
    stop: threading.Event,
) -> Failure | None:
    """Read both pipes until the child is done, dead or over a limit."""
    selector = selectors.DefaultSelector()
    selector.register(pipe, selectors.EVENT_READ)
    selector.register(errors, selectors.EVENT_READ)
    os.set_blocking(pipe, False)
    os.set_blocking(errors, False)
    pending, tail = b"", b""
    deadline = time.monotonic() + limits.seconds
    next_weighing = 0.0
    while True:
        for key, _ in selector.select(timeout=0.1):
            try:
                data = os.read(key.fd, 1 << 18)
            except BlockingIOError:
                continue
            if not data:
                selector.unregister(key.fileobj)
            if key.fd != pipe:
                tail = (tail + data)[-_TAIL:]
                continue
            *lines, pending = (pending + data).split(b"\n")
            for line in lines:
                try:
                    message = json.loads(line)
                except ValueError:
                    continue  # something of the verified code's own found the pipe
                if message.get("event") == "done":
                    return None
                if message.get("event") in RENEWING:
                    deadline = time.monotonic() + limits.seconds
                hear(message)
            if not data:
                process.poll()
        now = time.monotonic()
        status = process.poll()
        if status is not None and pipe not in [key.fd for key in selector.get_map().values()]:
            return _ended(status, tail)
        if status is not None and now > deadline - limits.seconds + 2 and not _readable(pipe):
            return _ended(status, tail)  # a copy of the child still holds the pipe
        if stop.is_set():
            return STOPPED
        if now > deadline:
            return Failure("timeout", f"it did not end within {limits.seconds:g} s")
        if limits.memory and now > next_weighing:
            used = family_memory(mark)
            if used > limits.memory:
                return Failure("memory", f"it used more than {limits.memory / 2**20:.0f} MiB of memory")
            next_weighing = now + 0.2


def _readable(pipe: int) -> bool:
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        return bool(selector.select(timeout=0))


def _ended(status: int, tail: bytes) -> Failure:
    """Words for a child that ended before it was done."""
    if status < 0:
        with contextlib.suppress(ValueError):
            return Failure("crash", f"it was ended by {signal.Signals(-status).name}")
        return Failure("crash", f"it was ended by signal {-status}")
    last = tail.decode("utf-8", "replace").strip().splitlines()[-1:]
    said = f"; its last words: {last[0][:200]}" if status and last else ""
    return Failure("crash", f"it ended the process with exit status {status} before it was done{said}")


def family(mark: str) -> list[int]:
    """Processes that carry the mark in their environment, wherever they went; only Linux can tell."""
    found = []
    wanted = f"{MARK}={mark}".encode()
    try:
        entries = os.listdir("/proc")
    except OSError:
        return []
    for entry in entries:
        if entry.isdigit():
            with contextlib.suppress(OSError), open(f"/proc/{entry}/environ", "rb") as file:
                if wanted in file.read().split(b"\0"):
                    found.append(int(entry))
    return found


def family_memory(mark: str) -> int:
    """Bytes that the marked processes hold of their own, shared pages not counted twice."""
    page = os.sysconf("SC_PAGE_SIZE")
    total = 0
    for pid in family(mark):
        with (
            contextlib.suppress(OSError, IndexError, ValueError),
            open(f"/proc/{pid}/statm", encoding="ascii") as file,
        ):
            words = file.read().split()
            total += (int(words[1]) - int(words[2])) * page
    return total


def end_family(process: subprocess.Popen[bytes] | Forked, mark: str) -> None:
    """Kill the child's process group and whatever left it, and reap the child."""
    for _ in range(50):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        left = family(mark)
        for pid in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=0.1)
        if process.returncode is not None and not family(mark):
            return
        time.sleep(0.02)
