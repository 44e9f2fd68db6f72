"""The site: links that fit it, every page in its list; the build itself, where MkDocs is installed."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tools import pages_of_site as site

ROOT = Path(__file__).parents[1]


def moved(here: str, text: str) -> str:
    return site.on_page_markdown(text, SimpleNamespace(file=SimpleNamespace(src_uri=here)), None, None)


@pytest.mark.parametrize(
    ("here", "text", "there"),
    [
        ("index.md", "[a](docs/verify.md#options)", "[a](verify.md#options)"),
        ("index.md", "![page](docs/report.png)", "![page](report.png)"),
        ("index.md", "[the model](examples/model.py)", "the model"),
        ("rules/PTB101.md", "[changes](../../CHANGELOG.md)", "[changes](../changes.md)"),
        (
            "rules/PTB101.md",
            "[more](../verify.md) [x](https://x.org)",
            "[more](../verify.md) [x](https://x.org)",
        ),
        ("verify.md", "[gone](nowhere.md)", "[gone](nowhere.md)"),
        ("verify.md", "[gone](../nowhere.py)", "[gone](../nowhere.py)"),
        ("verify.md", "```\n[code](../README.md)\n```", "```\n[code](../README.md)\n```"),
    ],
)
def test_links(here: str, text: str, there: str) -> None:
    assert moved(here, text) == there


def test_every_page_is_in_the_list() -> None:
    listed = str(site.on_config(SimpleNamespace(nav=None)).nav)
    pages = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert {page for page in pages if f"{page}'" not in listed} == set()


@pytest.mark.skipif(importlib.util.find_spec("mkdocs") is None, reason="the extra `docs` is not installed")
@pytest.mark.parametrize(("added", "status"), [("", 0), ("\n[x](nowhere.md)\n", 1)])
def test_a_link_that_leads_nowhere_fails_the_build(tmp_path: Path, added: str, status: int) -> None:
    import shutil

    for name in (
        "docs",
        "tools",
        "README.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "mkdocs.yml",
        "skills",
        "examples",
    ):
        (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, tmp_path / name)
    (tmp_path / "docs" / "verify.md").open("a").write(added)
    command = [sys.executable, "-m", "mkdocs", "build", "--strict"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stderr
    assert ("nowhere.md" in done.stderr) == bool(status)
