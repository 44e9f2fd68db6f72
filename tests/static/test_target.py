"""Which torch findings speak of."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pt2lint.static.target import NEWEST_TORCH, target_torch


@pytest.mark.parametrize(
    ("folders", "expected"),
    [
        (["torch_geometric-2.6.1.dist-info", "torch-2.9.1+cpu.dist-info"], (2, 9)),
        (["torch.egg-info"], (2, 7)),  # how a checkout is installed by itself
        (["torch-vision-0.2.dist-info"], NEWEST_TORCH),
        ([], NEWEST_TORCH),
    ],
)
def test_the_target_is_the_torch_that_is_installed(
    folders: list[str], expected: tuple[int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in folders:
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "PKG-INFO").write_text("Metadata-Version: 2.1\nName: torch\nVersion: 2.7.0\n")
    standard = [folder for folder in sys.path if "site-packages" not in folder]
    monkeypatch.setattr(sys, "path", [str(tmp_path / "nowhere"), str(tmp_path), *standard])
    assert target_torch(None) == expected
