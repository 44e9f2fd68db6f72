"""Methods and shared values that Dynamo does not call: told where they are called, and where they are mended."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from pt2lint.static.engine import lint

CASES = {
    "length of shared memory": """
import torch
from torch import multiprocessing as mp

class Storage:
    def __init__(self):
        self._len = mp.Value("i", 0)

    def __len__(self):
        return self._len.value  # PTB143

STORAGE = Storage()

@torch.compile
def sample(x):
    return x * len(STORAGE)
""",
    "class methods of a function": """
import torch

class Exp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.exp()

    @classmethod
    def backward(cls, ctx, grad):  # PTB191
        return grad

    @classmethod
    def run(cls, x):
        return cls.apply(x)  # PTB191

class Net(torch.nn.Module):
    def forward(self, x):
        return Exp.run(x)
""",
    "decorators above and below": """
import torch

class Norm(torch.nn.Module):
    @torch.no_grad()
    @staticmethod
    def above(x):
        return x.mean()

    @staticmethod
    @torch.no_grad()
    def below(x):
        return x.mean()

    def forward(self, x):
        return Norm.above(x) + Norm.below(x)  # PTB190
""",
    "parameters of an optimizer": """
import torch

def toggle(optimizer, on):
    for group in optimizer.param_groups:
        for p in group["params"]:
            p.requires_grad = on  # PTB161

@torch.compile
def step(optimizer: torch.optim.Optimizer, x):
    toggle(optimizer, False)
    return x * 2
""",
    "the members of an enumeration": """
import enum
import torch

class Kind(enum.Enum):
    A = 1

@torch.compile
def f(x, names):
    return x * max(Kind, key=lambda kind: kind.value).value + len(max(names, key=len))
""",
}


@pytest.mark.parametrize("name", CASES)
def test_told(name: str) -> None:
    text = CASES[name]
    wanted = [
        (line.rsplit("# ", 1)[1], number) for number, line in enumerate(text.split("\n"), 1) if "# PT" in line
    ]
    found = lint(["m.py"], SimpleNamespace(target_torch=(2, 13)), {"m.py": text}).findings
    assert [(f.code, f.line) for f in found] == wanted
