"""The documentation: what it shows is tried, what it links is there, and its generated pages are the rules'."""

from __future__ import annotations

import importlib.util
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import pt2lint
from pt2lint.cli import main
from pt2lint.project.config import Settings
from pt2lint.rule.loader import load_rules
from pt2lint.static.engine import lint
from tests.rules.cases import Case, asked_of_dynamo, blocks

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"


def fences(page: str, language: str) -> list[str]:
    text = (DOCS / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)


def test_a_page_for_every_rule() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "rule_pages.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_links_lead_somewhere() -> None:
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *DOCS.rglob("*.md")]:
        for link in re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8")):
            if not re.match(r"[a-z]+:", link):
                assert (page.parent / link).exists(), f"{page.name} links {link}"


def test_the_changes_of_a_version_can_be_read() -> None:
    for changes in re.split(r"(?m)^## ", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))[1:]:
        assert len(changes.split()) <= 600, changes[:60]


def test_every_page_is_in_the_index() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for page in [*DOCS.glob("*.md"), DOCS / "rules" / "README.md"]:
        assert f"({page.relative_to(ROOT)})" in readme, page


def test_how_it_decides() -> None:
    """The lines that name a code are reported with it, and no others."""
    values, conditions = fences("how-it-decides.md", "python")
    for line, finding in zip(
        [line for line in conditions.splitlines() if "# PTB" in line],
        lint(["m.py"], Settings(target_torch=(2, 13)), {"m.py": conditions}).findings,
        strict=True,
    ):
        assert line.endswith(f"# {finding.code}, {finding.only_where}")
    code = values
    named = [re.search(r"# (PT[A-Z]\d+)$", line) for line in code.splitlines()]
    wanted = [(number, found[1]) for number, found in enumerate(named, 1) if found]
    assert wanted
    found = lint(["m.py"], Settings(target_torch=(2, 13), pedantic=True), {"m.py": code}).findings
    assert [(finding.line, finding.code) for finding in found] == wanted


@pytest.fixture
def own_rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with the rules of writing-a-rule.md and the file that the page shows."""
    monkeypatch.chdir(tmp_path)
    rule, model, cuda, test = fences("writing-a-rule.md", "python")
    Path("lint").mkdir()
    Path("lint/peak_memory.py").write_text(rule)
    Path("lint/cuda_call.py").write_text(cuda)
    Path("m.py").write_text(model)
    Path("test_lint.py").write_text(test)
    Path("pyproject.toml").write_text(fences("writing-a-rule.md", "toml")[0])
    return tmp_path


def test_writing_a_rule(own_rules: Path, capsys: pytest.CaptureFixture[str]) -> None:
    [said] = fences("writing-a-rule.md", "text")
    assert main(["m.py"]) == 1
    assert said.strip() in capsys.readouterr().out
    assert [finding.code for finding in pt2lint.lint(["m.py"])] == ["ACME101"]
    assert main(["rule", "ACME101"]) == 0
    assert "## Use instead" in capsys.readouterr().out
    tested = runpy.run_path("test_lint.py")
    Path("scratch").mkdir()
    tested["test_peak_memory"](own_rules / "scratch")
    Path("cuda.py").write_text(
        "import torch\n\n\n@torch.compile\ndef f(x: torch.Tensor):\n    return x.cuda() + 1\n"
    )
    assert main(["--fix", "--notes", "cuda.py"]) == 0
    assert 'return x.to("cuda") + 1' in Path("cuda.py").read_text()


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
def test_its_example_breaks_and_its_advice_does_not(own_rules: Path) -> None:
    [rule] = [rule for rule in load_rules(["lint"]) if rule.code == "ACME101"]
    kinds = {
        "example": blocks(rule, "Example")[0], "instead": blocks(rule, "Use instead")[0],
        "invalid": rule.INVALID[0], "valid": rule.VALID[0],
    }  # fmt: skip
    with asked_of_dynamo(own_rules) as dynamo:
        for kind, text in kinds.items():
            row = dynamo(Case(rule, kind, 0, text))
            assert bool(row["breaks"]) == (kind in ("example", "invalid")), kind
            assert row["breaks"] or row["fullgraph"] == "equal"


@pytest.mark.parametrize("number", range(len(fences("ci.md", "yaml"))))
def test_ci_recipes(number: int, tmp_path: Path) -> None:
    """Workflows and hooks are what their tools take, and every pt2lint command line in them is one."""
    text = fences("ci.md", "yaml")[number]
    path = tmp_path / (".pre-commit-config.yaml" if text.startswith("repos:") else "workflow.yml")
    path.write_text(text)
    if text.startswith("repos:"):
        command = [sys.executable, "-m", "pre_commit", "validate-config", str(path)]
    else:
        schema = "vendor.github-workflows" if "runs-on:" in text else "vendor.gitlab-ci"
        command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_command_lines_in_the_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every option that a page or the README names is one of pt2lint's."""
    help = subprocess.run(
        [sys.executable, "-m", "pt2lint", "--help"], capture_output=True, text=True, check=True
    ).stdout
    known = {*re.findall(r"--[a-z-]+", help), "--strict-markers"}
    for page in [ROOT / "README.md", *DOCS.glob("*.md")]:
        text = page.read_text(encoding="utf-8")
        for command in re.findall(r"pt2lint((?: +[^`\n|]+)?)", text):
            if command.startswith(" --") or " --" in command[:40]:
                for option in re.findall(
                    r"(?<![\w-])--[a-z][a-z-]+", command.split("--run")[0].split("#")[0]
                ):
                    assert option in known, f"{page.name}: pt2lint{command}"


def test_from_python(tmp_path: Path) -> None:
    [code] = fences("python.md", "python")
    (tmp_path / "src").mkdir()
    (tmp_path / "train.py").write_text(
        "import torch\n\n\n@torch.compile\ndef f(x):\n    return x.max().item()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ},
    )
    assert done.stdout.startswith("train.py:6:12: PTB103 `x.max().item()` moves")
    assert "    unsafe " in done.stdout
    assert pt2lint.lint(tmp_path) == pt2lint.lint(str(tmp_path)) == pt2lint.lint([tmp_path]) != []
