"""Arguments of a user's functions may be called as the details of an operation are (pt2lint/op.py): the two are never
taken for each other."""

from __future__ import annotations

import re
from keyword import kwlist
from pathlib import Path

import pytest

from pt2lint import op
from pt2lint.project.config import Settings
from pt2lint.static.engine import lint

CALLS = """
import torch

@torch.compile
def scaled(x, KEY):
    return x * KEY

@torch.compile
def picked(x, KEY):
    return x[: int(KEY)]

@torch.compile
def filled(KEY):
    return torch.ones(4) * KEY

@torch.compile
def added(rows, KEY):
    return sum(rows) * KEY

class Trainer:
    def __init__(self, model, start):
        self.model, self.step, self.other = torch.compile(model), 0, start

    def turn(self, x):
        self.step += 1
        self.other += 1
        self.model(x, KEY=self.other)
        return self.model(x, KEY=self.step)

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = torch.nn.Linear(4, 4)

    def forward(self, x, KEY=1):
        return self.lin(x) * KEY

class Stack(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.nets = torch.nn.ModuleList(Net() for _ in range(3))

    def part(self, x, KEY):
        return self.nets[0](x) + KEY

    def forward(self, x):
        for i in range(3):
            if x.sum() > i:
                x = self.part(x, KEY=i)
        return x

def main(x, loader, start, count):
    trainer = Trainer(Net(), start)
    for i in range(100):
        scaled(x, KEY=i)
        scaled(x, **{"KEY": i})
        picked(x, KEY=x.max().item())
        trainer.turn(x)
    before = start
    for epoch in range(start, count):
        filled(KEY=before)
        before = epoch
    for i, KEY in enumerate(loader):
        scaled(KEY, KEY=len(KEY))
        picked(x, KEY=i / 2)
    return added((row for row in x), KEY=2)
"""
WORDS = sorted(
    {*re.findall(r'"(\w+)"', op.__doc__ or "")} - {"self", "torch", *kwlist}
)  # no argument is called `try`
PLAIN = "argument"


def told(name: str, word: str, path: Path) -> list[tuple[str, int, str, str]]:
    """What is told where the argument has this name; the name and the word are left out of it."""
    path.write_text(CALLS.replace("KEY", name))
    found = lint([str(path)], Settings(target_torch=(2, 13))).findings
    return sorted(
        (f.code, f.line, f.severity, re.sub(rf"\b({word}|{PLAIN})\b", "", f.message)) for f in found
    )


@pytest.mark.parametrize("word", WORDS)
def test_an_argument_may_be_called_as_a_detail_is(word: str, tmp_path: Path) -> None:
    plain = told(PLAIN, word, tmp_path / "m.py")
    assert {line for _, line, _, _ in plain} == {28, 48, 55, 57, 61, 65, 66}
    assert told(word, word, tmp_path / "m.py") == plain
