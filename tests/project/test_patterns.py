"""Patterns as in .gitignore: git itself is the judge."""

import re
import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pt2lint.project import patterns
from pt2lint.project.config import Configs
from pt2lint.project.discover import Discovery

NAMES = ["a", "b", "ab", "ba", "aab", "a b", "-", "]", "[a]", "*", "!a", "#a", "a\\"]


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with files and folders of every name, three deep."""
    folder = tmp_path_factory.mktemp("tree")
    for name in NAMES:
        for file in (f"{name}.py", f"{name}/b.py", f"{name}/a/ab.py", f"{name}/b/{name}.py"):
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_text("")
    subprocess.run(["git", "init", "--quiet"], cwd=folder, check=True)
    return folder


piece = st.sampled_from(
    ["a", "b", "*", "**", "?", "[ab]", "[!a]", "[^b]", "[a-b]", "[]]", "[]-a]", "[[:alpha:]]", "[-a]", "[\\]]",
     "\\*", "\\a", "/", "/", "/**/", ".py", " ", "[b-a]", "-", "#", "!", "\\"]
)  # fmt: skip
lines = st.lists(
    st.tuples(st.sampled_from(["", "", "!", "/", "\\", "**/"]), st.lists(piece, max_size=6))
    .map(lambda drawn: drawn[0] + "".join(drawn[1]))
    .filter(
        lambda line: not re.search(r"[^/]\*\*|\*\*[^/]|\\/", line)
    ),  # there git keeps to its manual only nearly
    min_size=1,
    max_size=4,
)


def same_as_git(tree: Path, drawn: list[str]) -> None:
    (tree / ".gitignore").write_text("\n".join(drawn) + "\n")
    listed = subprocess.run(
        ["git", "ls-files", "--others", "--exclude-per-directory=.gitignore", "-z", "*.py"],
        cwd=tree, check=True, capture_output=True,
    ).stdout.decode()  # fmt: skip
    found = Discovery([str(tree)], Configs()).files
    assert sorted(str(Path(path).relative_to(tree)) for path in found) == sorted(listed.split("\0")[:-1]), (
        drawn
    )


@given(lines)
@settings(max_examples=60)
def test_as_git_decides(tree: Path, drawn: list[str]) -> None:
    same_as_git(tree, drawn)


@pytest.mark.parametrize(
    "line", ["*a" * 40 + "*b", "**/a" * 40 + "/b", "a" + "?*" * 60 + "b", "*[a]" * 40 + "b"]
)
def test_no_pattern_makes_it_slow(line: str) -> None:
    pattern = patterns.parse(line)
    assert pattern is not None
    started = time.perf_counter()
    assert not pattern.matches(["a" * 250], False)
    assert not pattern.matches(["a"] * 1000, False)
    assert time.perf_counter() - started < 2
