"""Work in child processes: it ends with the process that asked for it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pt2lint.static import workers

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no child processes to fork here")

# Each task tells its number and works on, in Python or in C, for longer than the test waits.
PARENT = """\
import os, re, sys
from pt2lint.static import workers

def work(how):
    open(f"{os.getpid()}.started", "w").close()
    if how == "C":
        re.match(r"(a*)*b", "a" * 60)
    while True:
        pass

BEFORE
print(list(workers.spread(work, TASKS)))
"""
BY_WATCHING = "workers.PR_SET_PDEATHSIG = 0  # a system whose kernel does not do it"


def alive(pid: int) -> bool:
    """Whether the process still runs: what its new parent has yet to fetch does not."""
    try:
        os.kill(pid, 0)
        state = subprocess.run(
            ["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False
        )
    except ProcessLookupError:
        return False
    return state.stdout.strip()[:1] not in ("", "Z")


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGTERM])
@pytest.mark.parametrize(("before", "tasks"), [("", ["Python", "C"]), (BY_WATCHING, ["Python", "Python"])])
def test_no_child_outlives_its_parent(
    tmp_path: Path, before: str, tasks: list[str], sent: signal.Signals
) -> None:
    if "C" in tasks and sys.platform != "linux":
        pytest.skip("only Linux ends a process that is deep in C code")
    code = PARENT.replace("BEFORE", before).replace("TASKS", repr(tasks))
    parent = subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path)
    wanted = min(2, workers.processors())
    children: list[int] = []
    try:
        deadline = time.monotonic() + 60
        while len(children) < wanted:
            assert time.monotonic() < deadline
            assert parent.poll() is None
            time.sleep(0.02)
            children = [int(path.stem) for path in tmp_path.glob("*.started")]
        assert all(alive(child) for child in children)
        parent.send_signal(sent)
        parent.wait(10)
        deadline = time.monotonic() + 2
        while any(alive(child) for child in children) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert [child for child in children if alive(child)] == []
    finally:
        parent.kill()
        parent.wait()
        for child in children:
            if alive(child):
                os.kill(child, signal.SIGKILL)


def test_a_lint_that_is_killed_leaves_no_process(tmp_path: Path) -> None:
    """The command itself, with work for minutes: functions that call one another with ever other arguments."""
    body = "".join(f"    x = f{{}}(x + {i}, {i})\n" for i in range(40))
    for number in range(12):
        code = "".join(
            f"def f{i}(x, n=0):\n{body.replace('{}', str(i + 1))}    return x\n\n" for i in range(600)
        )
        decorated = "import torch\n\n\n@torch.compile\n" + code + "def f600(x, n=0):\n    return x.item()\n"
        (tmp_path / f"m{number}.py").write_text(decorated)
    parent = subprocess.Popen(
        [sys.executable, "-m", "pt2lint", "--no-cache", "."], cwd=tmp_path, stdout=subprocess.DEVNULL
    )
    try:
        children: list[int] = []
        deadline = time.monotonic() + 60
        while not children and time.monotonic() < deadline:
            assert parent.poll() is None
            found = subprocess.run(
                ["ps", "-o", "pid=", "--ppid", str(parent.pid)], capture_output=True, text=True, check=False
            )
            children = [int(pid) for pid in found.stdout.split()]
            time.sleep(0.02)
        assert children
    finally:
        parent.kill()
        parent.wait()
    deadline = time.monotonic() + 2
    while any(alive(child) for child in children) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert [child for child in children if alive(child)] == []


@pytest.mark.parametrize(
    ("processors", "memory", "children"),
    [(1, 64, 1), (4, 2, 4), (16, 2, 4), (16, 8, 8), (16, 64, 16), (96, 512, 16)],
)
def test_there_are_as_many_children_as_processors_and_memory_for_them(
    monkeypatch: pytest.MonkeyPatch, processors: int, memory: int, children: int
) -> None:
    monkeypatch.setattr(workers, "processors", lambda: processors)
    monkeypatch.setattr(os, "sysconf", {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": memory << 18}.__getitem__)
    assert workers.children() == children
