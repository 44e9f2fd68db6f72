"""Running the program confirms what the recompilation rules say of calls from code that is not compiled."""

from __future__ import annotations

from pathlib import Path

import pytest

from pt2lint.dynamic import VerifyOptions, verify
from pt2lint.project.config import Settings
from pt2lint.static.engine import lint
from tests.rules_recompile.blocks import marked

PROGRAM = """
import torch
from torch.utils.data import DataLoader, TensorDataset

scales = {f"layer{i}": 1.0 for i in range(20)}

def smooth(x, steps):
    for _ in range(steps):
        x = x + x.roll(1)
    return x

def scaled(x, name):
    return x * scales[name]

def total(parts):
    return sum(parts.values())

def every(*tensors):
    return sum(tensors)

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.step = 0

    def forward(self, x):
        return x / (1 + self.step)

class Plain(torch.nn.Module):
    def forward(self, data):
        return data * 2

def last(ids):
    return ids[-1:] + 1

def main():
    often = torch.compile(smooth, backend="eager")
    by_name = torch.compile(scaled, backend="eager")
    by_key = torch.compile(total, backend="eager")
    many = torch.compile(every, backend="eager")
    longer = torch.compile(last, backend="eager")
    net = torch.compile(Net(), backend="eager")
    model = torch.compile(Plain(), backend="eager")
    x = torch.ones(3)
    seen = []
    ids = torch.ones(4)
    for i in range(12):
        often(x, i + 1)  # PTR207
        by_name(x, f"layer{i}")  # PTR209
        by_key({f"loss{i}": x})  # PTR210
        seen.append(x)
        many(*seen)  # PTR210
        net.step = i  # PTR211
        net(x)
        new = longer(ids)  # PTR213
        ids = torch.cat([ids, new])
    for (batch,) in DataLoader(TensorDataset(torch.ones(10, 4)), batch_size=4):  # PTR212
        model(batch)

if __name__ == "__main__":
    main()
"""


def test_the_program_confirms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(PROGRAM, encoding="utf-8")
    found = lint(["train.py"], Settings(target_torch=(2, 13))).findings
    assert sorted(f"{f.code}:{f.line}" for f in found) == marked(PROGRAM)
    judged = verify(found, ["train.py"], VerifyOptions(timeout=120)).findings
    assert {f"{f.code}:{f.line}": f.verdict for f in judged} == dict.fromkeys(marked(PROGRAM), "confirmed")
    limits = {f.code for f in judged if f.evidence and f.evidence["limit"]}
    assert limits == {"PTR207", "PTR209", "PTR210", "PTR211"}


BLOCKS = """
import torch
from torch import nn
from torch.nn.utils.parametrizations import weight_norm

SCALES = [1.0] * 10

class Numbered(nn.Module):
    def __init__(self, index):
        super().__init__()
        self.index = index

    def forward(self, x):
        return x * SCALES[self.index]  # PTR226

class Normed(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([weight_norm(nn.Linear(3, 3))])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

if __name__ == "__main__":
    numbered = [Numbered(i) for i in range(10)]
    normed = [Normed() for _ in range(10)]
    for block in numbered:
        block.compile(backend="eager")  # PTR226
    for block in normed:
        block.compile(backend="eager")  # PTR226
    x = torch.ones(3)
    for block in [*numbered, *normed]:
        x = block(x)
"""


def test_the_program_confirms_what_each_block_has_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("blocks.py").write_text(BLOCKS, encoding="utf-8")
    found = lint(["blocks.py"], Settings()).findings
    assert sorted(f"{f.code}:{f.line}" for f in found) == marked(BLOCKS)
    judged = verify(found, ["blocks.py"], VerifyOptions(timeout=120)).findings
    assert {f"{f.code}:{f.line}": f.verdict for f in judged} == dict.fromkeys(marked(BLOCKS), "confirmed")
