"""What a function that `checkpoint` runs changes outside of itself (PTB198): where it does, and when."""

from __future__ import annotations

from pathlib import Path

import pytest

import pt2lint
from pt2lint.finding import Finding

EXPERTS = """import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.loss = None
        self.kept = []

    def forward(self, x):
        y = self.layer(x)
        {change}
        return y


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Experts()

    def forward(self, x, save: bool):
        {run}
        return x
"""
RUN = "x = checkpoint(self.block, x, use_reentrant=False)"
EITHER = f"if save:\n            {RUN}\n        else:\n            x = self.block(x)"
TURNED = f"if not save:\n            x = self.block(x)\n        else:\n            {RUN}"


def lint(path: Path, text: str) -> list[Finding]:
    path.write_text(text)
    return [f for f in pt2lint.lint([str(path)]) if f.code == "PTB198"]


@pytest.mark.parametrize("run", [EITHER, TURNED])
def test_the_way_through_the_checkpoint_alone_says_when(tmp_path: Path, run: str) -> None:
    found = lint(tmp_path / "m.py", EXPERTS.format(change="self.loss = y.mean()", run=run))
    assert [(f.line, f.when) for f in found] == [(15, ("save",))]


def test_a_call_outside_of_it_is_no_way_to_it_however_often_the_module_ran(tmp_path: Path) -> None:
    calls = "".join(f"\n        x = self.block(x, {str(i)!r})" for i in range(40))
    text = EXPERTS.format(change="self.loss = y.mean()", run=f"if save:\n            {RUN}{calls}")
    found = lint(tmp_path / "m.py", text.replace("def forward(self, x):", 'def forward(self, x, kind=""):'))
    assert [(f.line, f.when) for f in found] == [(15, ("save",))]


def test_without_a_checkpoint_it_is_none(tmp_path: Path) -> None:
    assert not lint(tmp_path / "m.py", EXPERTS.format(change="self.loss = y.mean()", run="x = self.block(x)"))


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ("self.kept.append(y)", "self.kept.append(y)"),
        ("self.kept[0] = y", "self.kept[0]"),
        ("self.kept += [y]", "self.kept"),
        ("self.sizes = x.shape[1]", "self.sizes"),
    ],
)
def test_what_is_changed_is_named(tmp_path: Path, change: str, code: str) -> None:
    found = lint(tmp_path / "m.py", EXPERTS.format(change=change, run=RUN))
    assert [f.message.split("`")[1] for f in found] == [code]


@pytest.mark.parametrize("change", ["self.loss = None", "y = y[:]", "kept = [y]; kept.append(y)"])
def test_what_stays_as_it_was_is_none(tmp_path: Path, change: str) -> None:
    assert not lint(tmp_path / "m.py", EXPERTS.format(change=change, run=RUN))


def test_either_of_two_functions_is_told(tmp_path: Path) -> None:
    run = "x = checkpoint(self.one, x)\n        x = checkpoint(self.two, x)"
    more = "".join(f"\n    def {name}(self, x):\n        return self.block(x)\n" for name in ("one", "two"))
    [found] = lint(tmp_path / "m.py", EXPERTS.format(change="self.loss = y.mean()", run=run) + more)
    assert found.message.endswith("Dynamo leaves all of `Net.one` or `Net.two` to Python")


def test_two_in_one_function_are_one(tmp_path: Path) -> None:
    text = EXPERTS.format(change="self.loss = y.mean()\n        self.kept.append(y)", run=RUN)
    found = lint(tmp_path / "m.py", text)
    assert [(f.severity, f.also) for f in found if f.severity != "note"] == [("warning", (16,))]
