"""What a release needs: workflows, forms, and the pages that say who may rely on what."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import pt2lint

ROOT = Path(__file__).parents[1]
GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
FORMS = sorted(path for path in (GITHUB / "ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml")


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows(path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "check_jsonschema",
        "--builtin-schema",
        "vendor.github-workflows",
        str(path),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", [*WORKFLOWS, ROOT / "action.yml"], ids=lambda path: path.name)
def test_actions_are_pinned_by_hash(path: Path) -> None:
    used = re.findall(r"uses: (\S+)", path.read_text())
    assert used
    assert [each for each in used if not re.search(r"@[0-9a-f]{40}$", each)] == []


def test_what_workflows_make_is_made() -> None:
    targets = {name for path in WORKFLOWS for name in re.findall(r"run: make (\S+)", path.read_text())}
    assert {"test", "demo", "release-check"} <= targets
    for target in sorted(targets):
        subprocess.run(["make", "--dry-run", target], cwd=ROOT, check=True, capture_output=True)


def test_a_release_is_published_without_a_token() -> None:
    text = (GITHUB / "workflows" / "release.yml").read_text()
    assert "id-token: write" in text
    assert "secrets." not in text


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.name)
def test_forms_ask_for_what_verify_prints(path: Path) -> None:
    text = path.read_text()
    assert "pt2lint --verify FILE" in text
    command = [
        sys.executable,
        "-m",
        "check_jsonschema",
        "--builtin-schema",
        "vendor.github-issue-forms",
        str(path),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_versions_agree() -> None:
    cited = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), re.M)
    [first, *_] = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert (cited and cited[1]) == first == pt2lint.__version__


def test_the_two_commands_of_a_clone_stand_near_the_top() -> None:
    head = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()[:35]
    for target in ("demo", "test"):
        assert any(line.startswith(f"make {target} ") for line in head)
        subprocess.run(["make", "--dry-run", target], cwd=ROOT, check=True, capture_output=True)
