"""Code that does its worst: the right verdict, the next target goes on, no process stays behind."""

from __future__ import annotations

import functools
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pt2lint.dynamic import nursery
from pt2lint.dynamic.process import interruptible
from tests.dynamic.conftest import Project, needs_torch

pytestmark = needs_torch

STARTED = """
def started():
    open("started", "w").close()
    return inputs()
"""


def until(done: Callable[[], bool]) -> None:
    """Wait until something is so, at most five minutes."""
    for _ in range(3000):
        if done():
            return
        time.sleep(0.1)
    raise AssertionError("it took more than five minutes")


GOOD = """
def good(x):
    if x.sum() > 0:  # HERE
        return x + 1
    return x
"""

# Each ends the child, or must be ended: the body of the target, the words the user reads.
ENDLESS = {
    "ignores signals and sleeps": (
        "[signal.signal(n, signal.SIG_IGN) for n in (2, 15)]; time.sleep(600)",
        r"did not end within 20 s",
    )
}
DEADLY = {
    "segfaults": ("ctypes.string_at(0)", r"ended by SIGSEGV"),
    "os._exit with a status": ("os._exit(3)", r"ended the process with exit status 3 before it was done"),
    "kills itself": ("os.kill(os.getpid(), 9)", r"ended by SIGKILL"),
    "kills its group": ("os.killpg(os.getpgid(0), 9)", r"ended by SIGKILL"),
    "closes every file": ("os.closerange(3, 4096)", r"ended"),
    "hogs memory in children of its own": (
        "[subprocess.Popen([sys.executable, '-c', HOG]) for _ in range(2)]; time.sleep(600)",
        r"used more than 2048 MiB",
    ),
    "aborts": ("os.abort()", r"ended by SIGABRT"),
}

# These are caught where they stand; the process goes on with the next target.
CAUGHT = {
    "sys.exit": ("sys.exit(0)", r"called sys.exit\(0\)"),
    "sys.exit from a handler": ("raise SystemExit('bye')", r"called sys.exit\('bye'\)"),
    "raises KeyboardInterrupt": ("raise KeyboardInterrupt", r"KeyboardInterrupt"),
    "hogs memory": ("x = bytearray(8 << 30)", r"MemoryError"),
    "hogs memory in torch": ("x = torch.zeros(1 << 32)", r"RuntimeError.*memory"),
    "recurses": ("recursing(x)", r"RecursionError"),
    "raises": ("raise ValueError('two\\nlines')", r"ValueError: two \(at"),
}

# These do harm that must not show: the target itself is judged as any other.
HARMLESS = {
    "forks": "if os.fork() == 0: time.sleep(600)",
    "forks and leaves the session": "if os.fork() == 0: os.setsid(); time.sleep(600)",
    "forks and comes back": "os.fork()",
    "starts a program": "subprocess.Popen(['sleep', '600'], start_new_session=True)",
    "prints gigabytes": "[os.write(1, b'x' * (1 << 20)) for _ in range(2000)]",
    "prints to stderr": "[os.write(2, b'x' * (1 << 20)) for _ in range(300)]",
    "prints binary": "os.write(1, bytes(range(256))); os.write(2, bytes(range(256)))",
    "changes directory": "os.chdir('/')",
    "removes its directory": "os.makedirs('gone', exist_ok=True); os.chdir('gone'); os.rmdir(os.getcwd())",
    "replaces sys.stdout": "sys.stdout = sys.stderr = None",
    "closes stdout": "os.close(1) if os.path.exists('/proc/self/fd/1') else None",
    "disables logging": "logging.disable(logging.CRITICAL)",
    "sets its own logging": "logging.config.dictConfig({'version': 1, 'disable_existing_loggers': True})",
    "silences torch's logs": "torch._logging.set_logs(dynamo=logging.CRITICAL)",
    "replaces torch.compile": "torch.compile = None",
    "turns Dynamo off": "torch._dynamo.config.disable = True",
    "forces eager": "torch.compiler.set_stance('force_eager')",
    "sets a default device": "torch.set_default_device('meta')",
    "closes stderr": "os.close(2) if os.path.exists('/proc/self/fd/2') else None",
    "leaves a thread": "threading.Thread(target=time.sleep, args=(600,)).start()",
    "registers an exit that hangs": "atexit.register(time.sleep, 600)",
    "sets an alarm": "signal.alarm(600)",
    "raises at exit": "atexit.register(exec, 'raise OSError')",
    "leaves many threads": "[threading.Timer(600, print).start() for _ in range(50)]",
    "listens on a socket": "KEPT.append(socket.create_server(('127.0.0.1', 0)))",
    "fills the temporary folder": "open(tempfile.mkstemp()[1], 'wb').write(b'x' * (64 << 20))",
    "keeps a pool": "KEPT.append(multiprocessing.get_context('fork').Pool(2))",
}

HEAD = """
import atexit, ctypes, logging, logging.config, multiprocessing, os
import signal, socket, subprocess, sys, tempfile, threading, time
import torch

KEPT = []

HOG = "import time; x = b'x' * (1200 << 20); time.sleep(600)"

def recursing(x):
    return recursing(x)
"""


def hostile_file(bodies: dict[str, str]) -> str:
    """A file with a function for each body, which tests a tensor after its worst; and a good one last."""
    text = HEAD
    for number, body in enumerate(bodies.values()):
        text += f"\ndef hostile_{number}(x):\n    if not torch.compiler.is_compiling():\n        {body}\n"
        text += "    if x.sum() > 0:  # HERE\n        x = x * 2\n    return x\n"
    calls = [f"(hostile_{number}, (torch.ones(2),))" for number in range(len(bodies))]
    return text + GOOD + f"\ndef inputs():\n    return [{', '.join([*calls, '(good, (torch.ones(2),))'])}]\n"


def marked_processes(mark: str) -> list[int]:
    """Processes with the mark in their environment: what this test started, at any depth."""
    left = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/environ", "rb") as file:
                    if mark.encode() in file.read() and int(entry) != os.getpid():
                        left.append(int(entry))
            except OSError:
                continue
    return left


@pytest.fixture(scope="module")
def mark() -> Iterator[str]:
    """What marks the processes of these tests. They share one that has torch loaded, and leave it alone."""
    mark = f"test-{uuid.uuid4().hex}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PT2LINT_TEST_MARK", mark)
        patch.setattr(nursery, "_blocks", 0)  # what the suite keeps is not of these tests
        patch.setattr(nursery, "_nurseries", {})
        with nursery.kept():
            yield mark
        assert marked_processes(mark) == []


@pytest.fixture(autouse=True)
def nothing_left_behind(mark: str) -> Iterator[None]:
    yield
    assert left(mark) == []


def left(mark: str) -> list[int]:
    """Marked processes, but for those that children are forked from."""
    kept = [each._process.pid for each in nursery._nurseries.values() if each is not None]
    return [number for number in marked_processes(mark) if number not in kept]


def by_target(problems: list[object]) -> dict[str, str]:
    """The first problem of each target."""
    said: dict[str, str] = {}
    for problem in problems:
        found = re.search(r"\b(hostile_\d+|good)\b", str(problem))
        said.setdefault(found[1] if found else "", str(problem))
    return said


def test_a_deadly_target_fails_and_the_next_goes_on(project: Project) -> None:
    path = project.write("hostile.py", hostile_file({name: body for name, (body, _) in DEADLY.items()}))
    result = project.verify(path, inputs=(f"{path}:inputs",), timeout=120, memory=2048, further=False)
    *hostile, good = [each for each in result.findings if each.code == "PTB100"]
    said = by_target(result.problems)
    for number, ((name, (_, words)), finding) in enumerate(zip(DEADLY.items(), hostile, strict=True)):
        assert re.search(words, said[f"hostile_{number}"]), name
        assert finding.verdict == "failed", name
        assert re.search(words, finding.evidence["reason"]), name
    assert good.verdict == "confirmed"
    assert good.evidence["graph_break"] in ("GB0170", None)
    assert "good" not in said


def test_a_search_for_inputs_without_an_end_costs_the_others_nothing(project: Project) -> None:
    waits = {"before": "x", "hangs": "time.sleep(600)", "after": "x"}
    part = "def {}(x: torch.Tensor):\n    y = x + 1\n    {}\n    print(1)  # HERE\n    return y\n"
    text = "import time\nimport torch\n" + "".join(map(part.format, waits, waits.values()))
    path = project.write("endless.py", text)
    result = project.verify(path, further=False)
    assert [each.verdict for each in result.findings] == ["confirmed", "unreached", "confirmed"]
    assert "the nearest did not come back" in result.findings[1].evidence["reason"]
    assert result.problems == []
    made = [note for note in result.notes if "made-up inputs" in note]
    assert len(made) == 1
    assert re.search(r"before \(.*\), after \(", made[0])


def test_what_is_raised_fails_and_the_rest_goes_on(project: Project) -> None:
    path = project.write("hostile.py", hostile_file({name: body for name, (body, _) in CAUGHT.items()}))
    result = project.verify(path, inputs=(f"{path}:inputs",), memory=4096, further=False)
    said = by_target(result.problems)
    *hostile, good = [each for each in result.findings if each.code == "PTB100"]
    for number, (_, words) in enumerate(CAUGHT.values()):
        assert re.search(words, said[f"hostile_{number}"])
    assert [each.verdict for each in hostile] == ["failed"] * len(CAUGHT)
    for finding, (_, words) in zip(hostile, CAUGHT.values(), strict=True):
        assert re.search(words.removesuffix(r" \(at"), finding.evidence["reason"])
    assert good.verdict == "confirmed"


def test_harm_to_the_process_does_not_show(project: Project, capfd: pytest.CaptureFixture[str]) -> None:
    path = project.write("hostile.py", hostile_file(HARMLESS))
    here = os.getcwd()
    result = project.verify(path, inputs=(f"{path}:inputs",), further=False)
    judged = [each for each in result.findings if each.code == "PTB100"]
    assert result.problems == []
    assert {
        name: each.verdict for name, each in zip([*HARMLESS, "good"], judged, strict=True)
    } == dict.fromkeys([*HARMLESS, "good"], "confirmed")
    assert os.getcwd() == here
    assert capfd.readouterr() == ("", "")


def test_what_does_not_end_is_ended_while_other_files_go_on(project: Project) -> None:
    waits = project.write("waits.py", HEAD + "\ndef inputs():\n    time.sleep(600)\n")
    sleeps = project.write("sleeps.py", hostile_file({name: body for name, (body, _) in ENDLESS.items()}))
    good = project.write(
        "good.py", "import torch\n" + GOOD + "\ndef inputs():\n    return good, (torch.ones(2),)\n"
    )
    inputs = tuple(f"{path}:inputs" for path in (waits, sleeps, good))
    result = project.verify(inputs=inputs, timeout=20, jobs=3, further=False)
    assert [str(problem) for problem in result.problems] == [
        f"inputs {waits}:inputs: it did not end within 20 s",
        "hostile_0: it did not end within 20 s",
    ]
    assert [(Path(each.path).name, each.verdict) for each in result.findings] == [
        ("good.py", "confirmed"),
        ("sleeps.py", "failed"),
        ("sleeps.py", "confirmed"),
    ]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_whoever_stops_pt2lint_stops_all_of_it(number: int, project: Project) -> None:
    path = project.write("hang.py", hostile_file({"hangs": "[1 for _ in iter(int, 1)]"}) + STARTED)
    command = [sys.executable, "-m", "pt2lint", "--verify", "--inputs", f"{path}:started", path]
    # Python leaves Ctrl-C alone where whoever started it ignored that, as a shell does in the background.
    heeded = functools.partial(signal.signal, number, signal.SIG_DFL)
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, preexec_fn=heeded
    ) as running:
        until(lambda: os.path.exists("started"))
        running.send_signal(number)
        _, said = running.communicate(timeout=120)
    assert running.returncode == 128 + number
    assert b"Traceback" not in said


def test_a_child_ends_with_a_parent_that_is_killed(project: Project, mark: str) -> None:
    path = project.write("hang.py", hostile_file({"hangs": "[1 for _ in iter(int, 1)]"}) + STARTED)
    command = [sys.executable, "-m", "pt2lint", "--verify", "--inputs", f"{path}:started", path]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as running:
        until(lambda: os.path.exists("started"))
        running.kill()
    until(lambda: left(mark) == [])


def _work(started: Path) -> None:
    try:
        started.touch()
        time.sleep(60)
    except BaseException:  # as a pool's worker does, which sends it back for the task's answer
        time.sleep(60)


def test_a_pools_worker_ends_when_the_pool_says_so(tmp_path: Path) -> None:
    with interruptible(threading.Event()):
        worker = multiprocessing.get_context("fork").Process(target=_work, args=(tmp_path / "started",))
        worker.start()
    try:
        deadline = time.monotonic() + 60
        while not (tmp_path / "started").exists():
            assert time.monotonic() < deadline
            time.sleep(0.01)
        worker.terminate()
        worker.join(20)
        assert worker.exitcode == -signal.SIGTERM
    finally:
        worker.kill()


def test_what_has_no_time_to_load_torch_is_not_told_that_it_lacks_memory(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nursery, "_blocks", 0)
    monkeypatch.setattr(nursery, "_nurseries", {})
    path = project.write("net.py", "import torch\n\ndef inputs():\n    return torch.sin, (torch.ones(2),)\n")
    result = project.verify(path, inputs=(f"{path}:inputs",), timeout=0.05, memory=4096)
    assert "did not end within" in str(result.problems[0])
