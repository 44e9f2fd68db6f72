"""Which files inputs are made up for."""

from __future__ import annotations

import os
from typing import Any

import pytest

from pt2lint.dynamic.options import VerifyOptions
from pt2lint.dynamic.plan import plan, worth_inputs
from tests.command import here
from tests.dynamic.conftest import needs_torch

MODEL = "import torch\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return x\n"


def test_a_file_that_is_named_is_run_though_nothing_was_found(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a folder it takes a finding."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.py").write_text(MODEL)
    path = str((tmp_path / "model.py").resolve())
    assert worth_inputs([], ["."]) == frozenset()
    assert worth_inputs([], ["model.py"]) == {path}
    jobs = plan({path: MODEL}, worth_inputs([], ["model.py"]), VerifyOptions())
    assert [job.kind for job in jobs] == ["made_up"]


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ('warnings.filterwarnings("ignore", category=UserWarning)', "made_up"),
        ("torch.manual_seed(0)", "made_up"),
        ("log = logging.getLogger(__name__)\nlog.setLevel(logging.INFO)", "made_up"),
        ("net = torch.nn.Linear(3, 3)\nnet(torch.ones(3))", "run"),
        ("print(torch.compile(torch.sin)(torch.ones(3)))", "run"),
        ("print(Net()(torch.ones(3)))", "run"),
        ("run()", "run"),
    ],
)
def test_a_setting_at_the_top_makes_no_script_of_a_file(
    line: str, kind: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = f"import logging\nimport warnings\nfrom train import run\n{MODEL}{line}\n"
    path = str((tmp_path / "model.py").resolve())
    (tmp_path / "model.py").write_text(text)
    assert plan({path: text}, worth_inputs([], ["model.py"]), VerifyOptions())[0].kind == kind


@needs_torch
def test_what_linting_leaves_out_is_not_run(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What settings exclude, git ignores, or lies in an environment: it may be a script that does harm."""
    for name in ("model.py", "deploy.py", "ignored.py", "venv/tool.py", "env/tool.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(MODEL)
    (tmp_path / "env" / "pyvenv.cfg").touch()
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("ignored.py\n")
    (tmp_path / "pyproject.toml").write_text('[tool.pt2lint]\nexclude = ["deploy.py"]\n')
    planned: list[set[str]] = []

    def kept(sources: Any, *others: Any) -> list[Any]:
        planned.append({os.path.relpath(path, tmp_path) for path in sources})
        return []

    monkeypatch.setattr("pt2lint.dynamic.run.plan", kept)
    monkeypatch.setattr("pt2lint.zoo.verify.plan", kept)
    here(tmp_path, "--no-cache", "--verify", ".")
    here(tmp_path, "--no-cache", "--verify", "--results", "out.json", ".")
    here(tmp_path, "--no-cache", "--verify", "model.py", "deploy.py")
    assert planned == [{"model.py"}, {"model.py"}, {"model.py", "deploy.py"}]
