"""skills/pt2lint/SKILL.md: what is written there is done, in its order, on a project that needs it."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command import Ran, here

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "skills" / "pt2lint" / "SKILL.md").read_text(encoding="utf-8")
COMMANDS = [
    line.strip()
    for block in re.findall(r"```console\n(.*?)```", TEXT, re.S)
    for line in block.strip().splitlines()
]

MODEL = """\
import copy

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        kept = copy.deepcopy(x)
        return self.linear(x) + kept
"""
INPUTS = """\
import torch
from model import Net


def cases():
    return Net(), (torch.ones(2, 4),)
"""
SETTINGS = """\
[tool.pt2lint.verify]
targets = ["inputs.py:cases"]
modes = ["eval"]
further = false
"""


def run(command: str, folder: Path) -> Ran:
    name, *words = shlex.split(command)
    if name == "pt2lint":
        return here(folder, *words)
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    done = subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def test_its_head() -> None:
    """The common format: a name, that of the folder, and a description of at most 1024 characters."""
    head = re.match(r"---\nname: (.+)\ndescription: (.+)\n---\n", TEXT)
    assert head is not None
    assert head[1] == "pt2lint"
    assert len(head[2]) <= 1024
    assert len(TEXT.splitlines()) < 120


def test_the_command_prints_it(tmp_path: Path) -> None:
    assert run("pt2lint skill", tmp_path).out == TEXT


def test_its_commands_are_commands(tmp_path: Path) -> None:
    """On files that have nothing to run, in no time."""
    (tmp_path / "model.py").write_text("x = 1\n")
    (tmp_path / "inputs.py").write_text("def cases():\n    return (lambda: 1), ()\n")
    (tmp_path / "test_model.py").write_text("def test():\n    pass\n")
    assert len(COMMANDS) == 9
    for command in COMMANDS:
        if "--inputs" not in command:  # test_the_loop
            done = run(command, tmp_path)
            assert (done.status, "Traceback" in done.err) == (0, False), command
    assert json.loads((tmp_path / "findings.json").read_text()) == []


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
def test_the_loop(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(MODEL)
    (tmp_path / "inputs.py").write_text(INPUTS)
    (tmp_path / "pyproject.toml").write_text(SETTINGS)
    [code] = re.findall(r"```python\n(.*?)```", TEXT, re.S)
    (tmp_path / "test_model.py").write_text("\n".join(line[3:] for line in code.splitlines()) + "\n")
    lint, _, verify, _, _, _, fix, again, tests = COMMANDS

    done = run(lint, tmp_path)
    assert done.out.startswith("model.py:13:16: PTB130: `copy.deepcopy(x)`")
    assert "| next: pt2lint --verify model.py\n" in done.out
    done = run(verify, tmp_path)
    assert done.out.startswith("model.py:13:16: PTB130 confirmed: `copy.deepcopy(x)`")
    assert (
        " | GB4198 Attempted to copy.deepcopy a tensor | fix (unsafe, proven): Clone the tensor" in done.out
    )
    assert "| next: pt2lint --verify --fix --inputs inputs.py:cases model.py\n" in done.out
    done = run(fix, tmp_path)
    assert (done.status, done.err) == (0, "")
    assert "kept = x.detach().clone()" in (tmp_path / "model.py").read_text()
    done = run(again, tmp_path)
    assert (done.status, done.out) == (0, "Nothing found in 1 file.\n")
    done = run(tests, tmp_path)
    assert (done.status, "2 passed" in done.out) == (0, True), done.out
