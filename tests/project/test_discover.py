"""Which files are read."""

import os
import subprocess
from pathlib import Path

import pytest

from pt2lint.project.config import Configs
from pt2lint.project.discover import Discovery


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def make(*names: str, text: str = "") -> None:
    for name in names:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)


def found(*paths: str, force_exclude: bool = False) -> list[str]:
    return Discovery(paths or ["."], Configs(), force_exclude).files


def test_python_and_notebooks_in_order() -> None:
    make("b.py", "a/c.py", "a/n.ipynb", "readme.md", "x.pyc", "a/b.py")
    assert found() == ["a/b.py", "a/c.py", "a/n.ipynb", "b.py"]
    assert found("b.py", "./a", "b.py", "a/") == ["b.py", "a/b.py", "a/c.py", "a/n.ipynb"]


def test_environments_and_caches_are_not_walked() -> None:
    make(
        "m.py",
        ".venv/v.py",
        "node_modules/n.py",
        "build/b.py",
        "__pycache__/p.py",
        "env/e.py",
        "env/pyvenv.cfg",
    )
    assert found() == ["m.py"]
    assert found("build") == ["build/b.py"]


def test_a_path_that_leads_nowhere_is_a_problem() -> None:
    make("empty/readme.md", "m.py")
    discovery = Discovery(["gone.py", "check", "PTB103", "empty", "m.py"], Configs())
    assert discovery.files == ["m.py"]
    assert [str(problem) for problem in discovery.problems] == [
        "gone.py: no such file or folder",
        "check: no such file or folder; to lint, name the paths alone: pt2lint src",
        "PTB103: no such file or folder; pt2lint rule PTB103 says what a code means",
        "empty: no Python file here (or all are excluded or ignored by git)",
    ]


def test_exclude_holds_for_what_is_found_and_on_request_for_what_is_named() -> None:
    make("m.py", "third_party/t.py", "src/gen_a.py")
    make("pyproject.toml", text='[tool.pt2lint]\nexclude = ["third_party/", "gen_*.py"]\n')
    assert found() == ["m.py"]
    assert found("third_party/t.py", "src/gen_a.py") == ["third_party/t.py", "src/gen_a.py"]
    assert found("third_party/t.py", "src/gen_a.py", "m.py", force_exclude=True) == ["m.py"]


def test_the_nearest_configuration_decides() -> None:
    make("a/x.py", "b/x.py")
    make("pyproject.toml", text='[tool.pt2lint]\nexclude = ["x.py"]\n')
    make("b/pyproject.toml", text="[tool.pt2lint]\n")
    assert found() == ["b/x.py"]


def test_git_ignores_what_git_ignores(here: Path) -> None:
    names = [
        "m.py",
        "out/o.py",
        "a/keep.py",
        "a/gen.py",
        "a/b/gen.py",
        "a/sub/x.py",
        "deep/out/o.py",
        "a/b/k.py",
    ]
    make(*names)
    make(".gitignore", text="/out/\ngen.py\n# no\n\n")
    make("a/.gitignore", text="sub/\n!b/gen.py\n")
    subprocess.run(["git", "init", "--quiet"], check=True)
    listed = subprocess.run(
        ["git", "ls-files", "--others", "--exclude-standard", "*.py"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert found() == sorted(listed.stdout.split())
    assert found("a") == ["a/b/gen.py", "a/b/k.py", "a/keep.py"]
    assert found("out") == ["out/o.py"], "a folder that is named is wanted"
    make("pyproject.toml", text="[tool.pt2lint]\nrespect-gitignore = false\n")
    assert found() == sorted(names)


def test_links_do_not_make_it_go_round() -> None:
    make("a/m.py")
    Path("a/loop").symlink_to(Path("a").absolute())
    Path("a/n.py").symlink_to("m.py")
    assert found() == ["a/m.py", "a/n.py"]


def test_a_file_that_is_named_needs_no_suffix() -> None:
    make("train")
    assert found("train") == ["train"]


def test_a_link_that_leads_round_or_nowhere_is_passed_over() -> None:
    make("m.py", "d/n.py")
    Path("loop.py").symlink_to("loop.py")
    Path("a").symlink_to("b")
    Path("b").symlink_to("a")
    Path("d/gone.py").symlink_to("nowhere.py")
    Path("d/.gitignore").symlink_to(".gitignore")
    assert found() == ["d/n.py", "m.py"]
    discovery = Discovery(["loop.py", "a/x.py"], Configs())
    assert [str(problem) for problem in discovery.problems] == [
        "loop.py: no such file or folder",
        "a/x.py: no such file or folder",
    ]


def test_a_pipe_is_not_waited_for() -> None:
    make("m.py")
    for name in ("pipe.py", "pyproject.toml", ".gitignore"):
        os.mkfifo(name)
    assert found() == ["m.py"]
    discovery = Discovery(["pipe.py", "/dev/zero"], Configs())
    assert discovery.files == []
    assert ["is neither a file nor a folder" in str(problem) for problem in discovery.problems] == [True] * 2


@pytest.mark.parametrize("line", ["!", "foo\\", "[[:what:]]", "a[b"])
def test_a_line_that_is_no_pattern_is_told_and_the_rest_goes_on(line: str) -> None:
    make("m.py", "foo.py", "gen.py")
    subprocess.run(["git", "init", "--quiet"], check=True)
    make(".gitignore", text=f"{line}\ngen.py\n")
    discovery = Discovery(["."], Configs())
    assert (discovery.files, discovery.problems) == (["foo.py", "m.py"], [])
    [note] = discovery.notes
    assert note.startswith(f"{Path('.gitignore').absolute()}:1: `{line}` matches nothing: ")
