"""The command in the tests' own process: what it verifies runs in children of one that has torch loaded."""

from __future__ import annotations

import contextlib
import io
import os
from dataclasses import dataclass
from pathlib import Path

from pt2lint.cli import main


@dataclass(frozen=True)
class Ran:
    """What a command did."""

    status: int
    out: str
    err: str


def here(folder: Path, *arguments: str) -> Ran:
    """The command in that folder."""
    before, out, err = os.getcwd(), io.StringIO(), io.StringIO()
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = main(list(arguments))
    finally:
        os.chdir(before)
    return Ran(status, out.getvalue(), err.getvalue())
