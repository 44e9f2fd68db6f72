"""Notes: true but seldom worth acting on; counted in one line, shown on request, and no reason for a run to fail."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pt2lint.cli import main

CODE = """
import torch
from torch import nn

class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = None

    @torch.compiler.disable
    def log(self, x):
        return x

    def forward(self, x: torch.Tensor, verbose=False):
        if self.table is None:
            self.table = x.sum().item()
        if verbose:
            print("it runs")
        return self.log(x)
"""
METRIC = """
import torch
from .metric import Metric

class Mean(Metric):
    def update(self, x: torch.Tensor):
        self.total = x.sum().item()

    def forward(self, x: torch.Tensor):
        return self.read(x)

    def read(self, x: torch.Tensor):
        return x.sum().item()
"""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("m.py").write_text(CODE)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[str, int]:
    status = main(["--no-cache", *arguments])
    return capsys.readouterr().out, status


def test_one_line_counts_them_and_no_run_fails(capsys: pytest.CaptureFixture[str]) -> None:
    out, status = run(capsys, "m.py")
    assert out.splitlines() == [
        "Nothing found in 1 file. 4 notes, true but seldom worth acting on: --notes shows them."
    ]
    assert status == 0
    assert run(capsys, "--fail-on", "note", "m.py")[1] == 1


def test_they_are_told_on_request_with_why(capsys: pytest.CaptureFixture[str]) -> None:
    out, status = run(capsys, "--notes", "m.py")
    assert "= note: `verbose` is off by default" in out
    assert "= note: once" in out
    assert "Found 4 findings" in out
    assert status == 0
    rows = json.loads(run(capsys, "--format", "json", "m.py")[0])
    assert [(row["code"], row["severity"]) for row in rows] == [
        ("PTR217", "note"), ("PTB103", "note"), ("PTB101", "note"), ("PTB183", "note")
    ]  # fmt: skip


def test_settings_override_and_assumptions_switch_on(capsys: pytest.CaptureFixture[str]) -> None:
    rows = json.loads(run(capsys, "--format", "json", "--assume", "verbose=True", "m.py")[0])
    assert [row["severity"] for row in rows] == ["note", "note", "warning", "note"]
    Path("pyproject.toml").write_text('[tool.pt2lint]\nseverity = { PTB1 = "error", PTB101 = "note" }\n')
    out, status = run(capsys, "--format", "json", "m.py")
    assert [row["severity"] for row in json.loads(out)] == ["note", "error", "note", "error"]
    assert status == 1
    Path("pyproject.toml").write_text('[tool.pt2lint]\nfail-on = "notes"\n')
    assert main(["m.py"]) == 2
    assert "should be one of note, warning, error" in capsys.readouterr().err


def test_a_metric_is_compiled_by_nobody_until_somebody_does(capsys: pytest.CaptureFixture[str]) -> None:
    Path("torchmetrics").mkdir()
    Path("torchmetrics/__init__.py").touch()
    Path("torchmetrics/metric.py").write_text("from torch import nn\n\nclass Metric(nn.Module):\n    pass\n")
    Path("torchmetrics/mean.py").write_text(METRIC)
    offered = ("note", "in code that no model calls")
    rows = json.loads(run(capsys, "--format", "json", "torchmetrics")[0])
    assert [(row["severity"], row["note"]) for row in rows] == [
        offered,
        ("note", "in code that is seldom compiled"),
    ]
    Path("torchmetrics/mean.py").write_text(METRIC + "\nfast = torch.compile(Mean())\n")
    rows = json.loads(run(capsys, "--format", "json", "torchmetrics")[0])
    assert [(row["severity"], row["note"]) for row in rows] == [offered, ("warning", "")]


FIT = """\
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)

    def forward(self, x):
        return self.layer(x)

    def fit(self, x: torch.Tensor, epochs: int):
        for epoch in range(epochs):
            loss = self(x).sum()
            print(f"epoch {epoch}: {loss}")
"""


def test_code_that_no_model_calls_is_not_fixed(capsys: pytest.CaptureFixture[str]) -> None:
    """Nobody guards the prints of a loop that is never compiled; who compiles it says so."""
    Path("kept").mkdir()
    Path("kept/__init__.py").touch()
    Path("kept/fit.py").write_text(FIT)
    rows = json.loads(run(capsys, "--format", "json", "kept")[0])
    assert [(row["code"], row["note"]) for row in rows] == [("PTB101", "in code that no model calls")]
    command = ["--no-cache", "--diff", "--unsafe-fixes", "kept"]
    assert main([*command, "--notes"]) == 0
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err == "0 findings would be fixed\n"
    rows = json.loads(run(capsys, "--format", "json", "--roots", "kept.fit:Net.fit", "kept")[0])
    assert {row["note"] for row in rows} == {""}


def test_they_are_fixed_on_request_only(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--no-cache", "--diff", "--unsafe-fixes", "m.py"]) == 0
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err == "0 findings would be fixed; 1 note has a fix too (--notes)\n"
    assert main(["--no-cache", "--diff", "--unsafe-fixes", "--notes", "m.py"]) == 1
    told = capsys.readouterr()
    assert "print" in told.out
    assert "--notes" not in told.err
    assert main(["--no-cache", "--fix", "--unsafe-fixes", "m.py"]) == 0
    assert Path("m.py").read_text() == CODE
    assert "1 note has a fix too (--notes)" in capsys.readouterr().out
