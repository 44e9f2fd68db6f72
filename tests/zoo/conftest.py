"""A zoo of three models, run once: the files that docs/zoo.md shows, and the first command that it gives."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.command import Ran, here

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "zoo.md").read_text(encoding="utf-8")
MODELS = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x: torch.Tensor):
        x = self.linear(x)
        if x.sum() > 0:
            x = x + 1
        return x * 2


class Odd(nn.Module):
    def forward(self, x):
        torch._dynamo.graph_break()
        return x.relu()
"""
SETTINGS = '[tool.pt2lint.verify]\nmodes = ["eval"]\nfurther = false\n'


def shown(name: str) -> str:
    """The file of the page that begins with its name in a comment."""
    [text] = re.findall(rf"^```python\n# {name}\n(.*?)^```$", PAGE, re.M | re.S)
    return str(text)


def commands() -> list[list[str]]:
    """The commands of the page, but for those of other machines."""
    blocks = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.M | re.S)
    lines = [line for block in blocks if "#SBATCH" not in block for line in block.splitlines()]
    return [shlex.split(line) for line in lines]


def pt2lint(folder: Path, *arguments: str) -> Ran:
    """The command in a folder, by itself where it makes processes of its own."""
    if "--executor" not in arguments:
        return here(folder, *arguments)
    command = [sys.executable, "-m", "pt2lint", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def write_zoo(folder: Path) -> None:
    (folder / "models.py").write_text(MODELS)
    (folder / "zoo.py").write_text(shown("zoo.py"))
    (folder / "crew.py").write_text(shown("crew.py"))
    (folder / "pyproject.toml").write_text(SETTINGS)


@dataclass(frozen=True)
class Zoo:
    """The folder after the page's first command, and what that said."""

    folder: Path
    ran: Ran

    @property
    def lines(self) -> list[str]:
        return (self.folder / "results.jsonl").read_text().splitlines(keepends=True)

    def copy(self, folder: Path) -> Path:
        shutil.copytree(self.folder, folder, dirs_exist_ok=True)
        return folder


@pytest.fixture(scope="session")
def zoo(tmp_path_factory: pytest.TempPathFactory) -> Zoo:
    pytest.importorskip("torch")
    folder = tmp_path_factory.mktemp("zoo")
    write_zoo(folder)
    return Zoo(folder, pt2lint(folder, *commands()[0][1:]))
