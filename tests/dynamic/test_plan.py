"""Which files inputs are made up for."""

from __future__ import annotations

from typing import Any

import pytest

from pt2lint.dynamic.options import VerifyOptions
from pt2lint.dynamic.plan import plan, worth_inputs

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
