"""Shell completion, in the shells themselves where they are installed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

CASES = {
    "pt2lint --verif": {"--verify"},
    "pt2lint mo": {"model.py"},
    "pt2lint --fix model.py mo": {"model.py"},
    "pt2lint ser": {"server"},
    "pt2lint rule PTB10": {"PTB101", "PTB103"},
    "pt2lint completion ": {"bash", "zsh", "fish"},
    "pt2lint --select PTB10": {"PTB101", "PTB103"},
    "pt2lint --format s": {"sarif"},
    "pt2lint --roots ": {"modules", "explicit", "tensors"},
}


@pytest.fixture
def folder(tmp_path: Path, installed: str) -> Path:
    (tmp_path / "model.py").touch()
    for shell in ("bash", "zsh", "fish"):
        done = subprocess.run(
            [installed, "-m", "pt2lint", "completion", shell],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
        (tmp_path / shell).mkdir()
        (tmp_path / shell / "_pt2lint").write_text(done.stdout)
    return tmp_path


def output(folder: Path, *command: str) -> str:
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True, timeout=60).stdout


def test_bash(folder: Path) -> None:
    script = (
        "source bash/_pt2lint\n"
        'COMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); COMPREPLY=(); _shtab_pt2lint; echo "${COMPREPLY[*]}"'
    )
    for line, wanted in CASES.items():
        assert wanted <= {*output(folder, "bash", "-c", script, "bash", *line.split(" ")).split()}, line


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
def test_fish(folder: Path) -> None:
    for line, wanted in CASES.items():
        said = output(folder, "fish", "--no-config", "-c", f"source fish/_pt2lint; complete -C '{line}'")
        assert wanted <= {row.split("\t")[0] for row in said.splitlines()}, line


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
def test_zsh(folder: Path) -> None:
    """It parses, and takes any number of paths after any option."""
    assert output(folder, "zsh", "-n", "zsh/_pt2lint") == ""
    text = (folder / "zsh" / "_pt2lint").read_text()
    assert '"*:files and folders' in text
    for words in ("rule server completion skill", "bash zsh fish", "(text concise json sarif github)"):
        assert words in text
