"""The GitHub action: its schema, and its script as a runner would run it."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
import yaml

from tests.conftest import SOURCES

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


def filled(text: str, inputs: dict[str, str], outputs: dict[str, str]) -> str:
    """A text of the action with its expressions as a runner fills them in."""
    text = re.sub(r"\$\{\{ *inputs\.([\w-]+) *\}\}", lambda found: inputs[found[1]], text)
    return re.sub(r"\$\{\{ *steps\.check\.outputs\.(\w+) *\}\}", lambda found: outputs[found[1]], text)


def holds(condition: str | None, inputs: dict[str, str], outputs: dict[str, str]) -> bool:
    """Whether a step runs: the action's conditions are comparisons that are joined by &&."""
    words = re.sub(r"^\$\{\{|\}\}$", "", condition or "always()").split("&&")
    values = {f"inputs.{name}": value for name, value in inputs.items()}
    values |= {f"steps.check.outputs.{name}": value for name, value in outputs.items()}
    for word in map(str.strip, words):
        if word == "always()":
            continue
        left, sign, right = re.fullmatch(r"(\S+) (==|!=) '(.*)'", word).groups()
        if (values.get(left, "") == right) != (sign == "=="):
            return False
    return True


def test_all_steps_as_a_runner_takes_them(tmp_path: Path) -> None:
    """Installs the action's own folder into an environment of its own, checks, and stops where a step fails.

    The checkout holds modules that are called as those of Python that the steps load: none of them runs.
    """
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    inputs = {name: str(one["default"]) for name, one in action["inputs"].items()} | {"fail": "true"}
    source, work, runner = tmp_path / "action", tmp_path / "work", tmp_path / "runner"
    for folder in (work, runner):
        folder.mkdir()
    for name in SOURCES:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        source.mkdir(exist_ok=True)
        copy(ROOT / name, source / name)
    (work / "m.py").write_text(BAD)
    for name in ("argparse", "logging", "shlex", "shutil", "subprocess", "types", "venv"):
        (work / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').write(__name__)\n1 / 0\n")
    environment = {
        **os.environ, "RUNNER_TEMP": str(runner), "GITHUB_OUTPUT": str(tmp_path / "output"),
        "GITHUB_ACTION_PATH": str(source), "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        # What it depends on is here already: nothing is fetched.
        "PYTHONPATH": sysconfig.get_path("purelib"), "PIP_NO_INDEX": "1", "PIP_NO_DEPS": "1",
        "PIP_NO_BUILD_ISOLATION": "0",
    }  # fmt: skip
    outputs: dict[str, str] = {}
    ran: list[str] = []
    failed = 0
    for step in action["runs"]["steps"]:
        if (failed and "always()" not in step.get("if", "")) or not holds(step.get("if"), inputs, outputs):
            continue
        ran.append(step["name"])
        if "run" not in step:
            assert filled(step["with"]["sarif_file"], inputs, outputs) == "pt2lint.sarif"
            continue
        own = {name: filled(value, inputs, outputs) for name, value in step.get("env", {}).items()}
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", filled(step["run"], inputs, outputs)],
            cwd=work, env={**environment, **own}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        failed = failed or done.returncode
        assert step["name"] == "Fail on findings" or done.returncode == 0, done.stderr
        if (tmp_path / "output").exists():
            outputs = dict(line.split("=", 1) for line in (tmp_path / "output").read_text().splitlines())
    assert ran == ["Install", "Check", "Upload", "Fail on findings"]
    assert (failed, outputs) == (1, {"status": "1", "report": "written"})
    assert not holds(step["if"], inputs | {"fail": "false"}, outputs)
    assert not holds(step["if"], inputs, {"status": "0"})
    assert (runner / "pt2lint" / "bin" / "pt2lint").exists()
    assert not (tmp_path / "ran").exists()
    assert json.loads((work / "pt2lint.sarif").read_text())["runs"][0]["results"]


def checked(
    folder: Path, paths: str, arguments: str, sarif: str = "out/r.sarif"
) -> subprocess.CompletedProcess[str]:
    """The step `check`, in a folder with a finding in `src` and in `other`."""
    runner = folder / "runner"
    (runner / "pt2lint").mkdir(parents=True)
    (runner / "pt2lint" / "bin").symlink_to(Path(sys.executable).parent)
    for name in ("src", "other"):
        (folder / name).mkdir()
        (folder / name / "m.py").write_text(BAD)
    environment = {
        **os.environ, "RUNNER_TEMP": str(runner), "GITHUB_OUTPUT": str(folder / "output"),
        "PATHS": paths, "ARGS": arguments, "SARIF": sarif,
    }  # fmt: skip
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script()],
        cwd=folder, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip


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
    done = checked(tmp_path, paths, arguments)
    assert (done.returncode != 0) == fails, done.stderr
    assert (tmp_path / "output").read_text() == f"status={status}\nreport=written\n"
    results = json.loads((tmp_path / "out" / "r.sarif").read_text())["runs"][0]["results"]
    assert len(results) == (0 if status == 0 else len(paths.replace("gone", "").split()))
    assert ("Found" in done.stdout) == (status != 0)


def test_arguments_that_no_shell_would_take_fail_the_step(tmp_path: Path) -> None:
    done = checked(tmp_path, "src", "--select 'PTR")
    assert done.returncode != 0
    assert "No closing quotation" in done.stderr
    assert not (tmp_path / "output").exists()


def test_a_report_may_lie_outside_of_the_checkout(tmp_path: Path) -> None:
    """hashFiles, which a condition could ask, sees no file that does."""
    sarif = tmp_path / "runner" / "r.sarif"
    assert checked(tmp_path, "src", "", str(sarif)).returncode == 0
    assert sarif.exists()
    assert (tmp_path / "output").read_text() == "status=1\nreport=written\n"
