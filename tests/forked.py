"""Scripts that need torch and a process of their own: forked from one that has loaded it, which takes seconds."""

from __future__ import annotations

import multiprocessing
import os
import runpy
import subprocess
import sys
import tempfile
from pathlib import Path

FORKS = "forkserver" in multiprocessing.get_all_start_methods()
_context = multiprocessing.get_context("forkserver" if FORKS else "spawn")
if FORKS:
    _context.set_forkserver_preload(["torch._dynamo"])  # type: ignore[attr-defined]


def run(script: Path, *arguments: str, timeout: float = 300) -> subprocess.CompletedProcess[str]:
    """`python SCRIPT ARGUMENTS`, with one thread for torch. AssertionError if it takes more than so many seconds."""
    with tempfile.TemporaryDirectory() as folder:
        process = _context.Process(target=_run, args=(str(script), arguments, folder))
        process.start()
        process.join(timeout)
        if process.exitcode is None:
            process.kill()
            raise AssertionError(f"{script} took more than {timeout} s")
        out, err = (Path(folder, name).read_text(encoding="utf-8") for name in ("out", "err"))
    return subprocess.CompletedProcess([str(script), *arguments], process.exitcode, out, err)


def _run(script: str, arguments: tuple[str, ...], folder: str) -> None:
    for number, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(os.path.join(folder, name), os.O_CREAT | os.O_WRONLY), number)
    import torch

    torch.set_num_threads(1)
    sys.argv = [script, *arguments]
    sys.path.insert(0, os.path.dirname(script))
    runpy.run_path(script, run_name="__main__")
