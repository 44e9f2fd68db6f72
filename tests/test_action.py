"""The GitHub action: its schema, and its script as a runner would run it."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BAD = "import torch\n\n\n@torch.compile\ndef f(x):\n    return x.max().item()\n"


def test_the_schema() -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-actions"]
    done = subprocess.run([*command, str(ROOT / "action.yml")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_workflow_in_the_readme(tmp_path: Path) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    [workflow] = re.findall(r"```yaml\n(name: pt2lint\n.*?)```", readme, flags=re.DOTALL)
    path = tmp_path / "workflow.yml"
    path.write_text(workflow)
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows"]
    done = subprocess.run([*command, str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def script() -> str:
    """What the step `check` runs: the indented lines after its `run: |`."""
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    block = text.split("id: check\n", 1)[1].split("run: |\n", 1)[1]
    lines = []
    for line in block.splitlines():
        if not line.startswith(" " * 8):
            break
        lines.append(line[8:])
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("paths", "arguments", "status", "fails"),
    [
        ("src", "", 1, False),
        ("src", "--ignore 'PTB, PTR'", 0, False),
        ("src gone", "", 2, True),
        ("src other", "", 1, False),
    ],
)
def test_the_script(tmp_path: Path, paths: str, arguments: str, status: int, fails: bool) -> None:
    runner = tmp_path / "runner"
    (runner / "pt2lint").mkdir(parents=True)
    (runner / "pt2lint" / "bin").symlink_to(Path(sys.executable).parent)
    for folder in ("src", "other"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "m.py").write_text(BAD)
    environment = {
        **os.environ, "RUNNER_TEMP": str(runner), "GITHUB_OUTPUT": str(tmp_path / "output"),
        "PATHS": paths, "ARGS": arguments, "SARIF": "out/r.sarif",
    }  # fmt: skip
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script()],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode != 0) == fails, done.stderr
    assert (tmp_path / "output").read_text() == f"status={status}\n"
    results = json.loads((tmp_path / "out" / "r.sarif").read_text())["runs"][0]["results"]
    assert len(results) == (0 if status == 0 else len(paths.replace("gone", "").split()))
    assert ("Found" in done.stdout) == (status != 0)
