"""The wheel: all that belongs into it is in it, and what it installs works, away from the repository."""

from __future__ import annotations

import json
import os
import subprocess
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

from tests.conftest import ROOT

CODE = "import torch\n\n\n@torch.compile\ndef f(x):\n    return x.max().item()\n"


def test_what_is_in_it(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    wanted = {str(path.relative_to(ROOT)) for path in (ROOT / "pt2lint").rglob("*.py")}
    wanted |= {str(path.relative_to(ROOT)) for path in (ROOT / "pt2lint").rglob("*.json")}
    wanted |= {f"pt2lint/{path.relative_to(ROOT)}" for path in (ROOT / "rules").rglob("*.py")}
    assert wanted | {"pt2lint/py.typed", "pt2lint/skill/SKILL.md"} == {
        name for name in names if ".dist-info/" not in name
    }
    [info] = {name.split("/")[0] for name in names if ".dist-info/" in name}
    data = zipfile.ZipFile(wheel).read(f"{info}/METADATA").decode()
    metadata = Parser().parsestr(data)
    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert {"verify", "server"} <= {*metadata.get_all("Provides-Extra", [])}
    assert not any(
        line.startswith("torch") for line in metadata.get_all("Requires-Dist", []) if "extra" not in line
    )
    points = zipfile.ZipFile(wheel).read(f"{info}/entry_points.txt").decode()
    assert "pt2lint = pt2lint.cli:main" in points
    assert "[pytest11]\npt2lint = pt2lint.integrations.pytest_plugin" in points


@pytest.fixture
def run(installed: str, tmp_path: Path):  # type: ignore[no-untyped-def]
    (tmp_path / "m.py").write_text(CODE)
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [str(Path(installed).parent / "pt2lint"), *arguments]
        return subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=300
        )

    return run


def test_the_command(run, installed: str, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    code = "import pt2lint, pt2lint.rules; print(pt2lint.__file__, *pt2lint.rules.__path__)"
    where = subprocess.run(
        [installed, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout
    prefix = str(Path(installed).parents[1])
    assert all(os.path.realpath(path).startswith(os.path.realpath(prefix)) for path in where.split())
    done = run("m.py")
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("m.py:6:12: PTB103 ")
    assert run("rule", "PTB103").stdout.startswith("# tensor-item (PTB103)")
    assert run("--list-rules").stdout.count("\n") == len([*(ROOT / "docs" / "rules").glob("PT*.md")])


def test_code_scanning(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    done = run("--output", "out.sarif", "--exit-zero", ".")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    log = json.loads((tmp_path / "out.sarif").read_text())
    [result] = log["runs"][0]["results"]
    assert result["ruleId"] == "PTB103"
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "m.py"
