"""The site: links that fit it, every page in its list; the build itself, where MkDocs is installed."""

from __future__ import annotations

import importlib.util
import os
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


def git(folder: Path, *words: str) -> str:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    done = subprocess.run(["git", *identity, *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


def checkout(folder: Path) -> None:
    """What the site is made of, and links to what its pages link to."""
    for name in git(ROOT, "ls-files", "-z").split("\0"):
        if name.endswith((".md", ".png", ".yml")) or name.startswith("tools/"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes((ROOT / name).read_bytes())
    for name in ("pt2lint", "rules", "examples", "benchmarks", "matrix"):
        if not (folder / name).exists():
            (folder / name).symlink_to(ROOT / name)


@pytest.mark.skipif(importlib.util.find_spec("mkdocs") is None, reason="the extra `docs` is not installed")
@pytest.mark.parametrize(("added", "status"), [("", 0), ("\n[x](nowhere.md)\n", 1)])
def test_a_link_that_leads_nowhere_fails_the_build(tmp_path: Path, added: str, status: int) -> None:
    checkout(tmp_path)
    (tmp_path / "docs" / "verify.md").open("a").write(added)
    command = [sys.executable, "-m", "mkdocs", "build", "--strict"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stderr
    assert ("nowhere.md" in done.stderr) == bool(status)


def test_a_drawing_is_a_table() -> None:
    text = "a\n```mermaid\nflowchart TD\n    a --> b\n    a --> c\n    b --> c\n```\nb\n"
    table = "| box | arrows to |\n|---|---|\n| `a` | `b`, `c` |\n| `b` | `c` |\n"
    assert moved("architecture.md", text) == f"a\n{table}b\n"


@pytest.mark.skipif(importlib.util.find_spec("mike") is None, reason="the extra `docs` is not installed")
def test_the_workflow_publishes_a_copy_for_each_version(tmp_path: Path) -> None:
    """Its script, as a runner would run it, in a clone whose `origin` is a folder."""
    text = (ROOT / ".github" / "workflows" / "site.yml").read_text()
    block = text.split("- run: |\n", 1)[1]
    script = "\n".join(line[10:] for line in block.splitlines())
    source, origin = tmp_path / "source", tmp_path / "origin"
    git(tmp_path, "init", "-q", "--bare", str(origin))
    checkout(source)
    git(source, "init", "-q", "-b", "main")
    git(source, "remote", "add", "origin", str(origin))
    git(source, "add", "-A")
    git(source, "commit", "-qm", "x")
    (source / ".venv").mkdir()
    (source / ".venv" / "bin").symlink_to(Path(sys.executable).parent)
    path = os.pathsep.join(
        part for part in os.environ["PATH"].split(os.pathsep) if part != str(Path(sys.executable).parent)
    )
    for kind, name in (("tag", "v0.1.0"), ("branch", "main")):
        environment = {**os.environ, "PATH": path, "GITHUB_REF_TYPE": kind, "GITHUB_REF_NAME": name}
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
        done = subprocess.run(
            command, cwd=source, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
    there = git(origin, "ls-tree", "--name-only", "gh-pages").split()
    assert {*there} == {"0.1.0", "index.html", "latest", "main", "versions.json"} | ({".nojekyll"} & {*there})
