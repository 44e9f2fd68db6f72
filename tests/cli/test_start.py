"""Start-up: what is imported, and the answer that is kept."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.cli.test_cli import BAD, GOOD, PLACE


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    monkeypatch.delenv("PT2LINT_CACHE_DIR", raising=False)
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    Path("m.py").write_text(BAD)
    return project


def pt2lint(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pt2lint", *arguments]
    time.sleep(0.06)  # beyond the clock's tick, within which nothing is kept
    return subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **environment}, check=False
    )


def imported(code: str) -> set[str]:
    def modules(code: str) -> set[str]:
        shown = f"{code}\nimport sys; print(*sys.modules)"
        done = subprocess.run([sys.executable, "-c", shown], capture_output=True, text=True, check=True)
        return set(done.stdout.splitlines()[-1].split())

    return modules(code) - modules("from __future__ import annotations")


def test_importing_the_command_line_imports_next_to_nothing() -> None:
    assert imported("import pt2lint.cli") == {"pt2lint", "pt2lint.cli"}


def test_a_file_without_findings_loads_no_libcst() -> None:
    run = "import sys; had = set(sys.modules); from pt2lint.cli import main; main(['--no-cache', {!r}])"
    # The others are of Python, and what they are good for a run of one file does in a shorter way.
    others = "importlib.metadata", "_hashlib", "pickle", "tempfile", "configparser"
    shown = (
        run + f"; print('libcst._nodes' in sys.modules, *(set(sys.modules) - had).intersection({others!r}))"
    )
    Path("good.py").write_text(GOOD)
    for name, loaded in (("good.py", "False"), ("m.py", "True")):
        done = subprocess.run(
            [sys.executable, "-c", shown.format(name)], capture_output=True, text=True, check=True
        )
        assert done.stdout.splitlines()[-1] == loaded, name


def test_rules_that_hear_of_nothing_are_not_loaded() -> None:
    """Once a run has kept what each of them listens to."""
    code = (
        "import sys; from pt2lint.cli import main; main([{!r}])\n"
        "loaded = [name for name in sys.modules if name.startswith('pt2lint.rules.') and name.count('.') == 3]\n"
        "print(len(loaded), 'pt2lint.rules.graph_break.tensor_item' in loaded)"
    )
    Path("other.py").write_text(BAD.replace("import torch", "import torch\n\n"))
    shown = []
    for name in ("m.py", "other.py"):
        time.sleep(0.06)
        run = [sys.executable, "-c", code.format(name)]
        done = subprocess.run(run, capture_output=True, text=True, check=True)
        *told, loaded = done.stdout.splitlines()
        assert any("PTB103" in line for line in told)
        shown.append(loaded.split())
    assert int(shown[0][0]) > 100
    assert int(shown[1][0]) < 40
    assert shown[0][1] == shown[1][1] == "True"


def test_libcst_is_whole_however_it_is_first_used() -> None:
    """By a name, a submodule, several names, and as what was imported before it was loaded."""
    uses = ("libcst.Name('x')", "__import__('libcst.matchers').Name('x')", "first.Name('x')")
    for use in uses:
        code = (
            "from pt2lint.late import load_libcst_late; load_libcst_late(); import sys, libcst as first, libcst\n"
            f"assert 'libcst._nodes' not in sys.modules\nmade = {use}\nfrom libcst import Name, matchers\n"
            "import libcst\nassert isinstance(made, Name) and first.Name is libcst.Name is Name\n"
            "assert matchers.matches(libcst.parse_expression('x'), matchers.Name())\n"
            "other = made.with_changes(value='x')\n"
            "assert other.deep_equals(made) and other != made and len({other, made, made}) == 2\n"
            "assert 'Name(' in repr(made)\n"
            "import abc, dataclasses; assert dataclasses.dataclass.__module__ == 'dataclasses'\n"
            "assert type(abc.ABC) is abc.ABCMeta and type(Name) is type"
        )
        subprocess.run([sys.executable, "-c", code], check=True)


def test_a_kept_answer_imports_next_to_nothing() -> None:
    first = pt2lint("m.py")
    assert first.returncode == 1
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "pt2lint", "m.py"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == first.stdout
    order = [
        line.split("|")[-1].strip() for line in done.stderr.splitlines() if line.startswith("import time:")
    ]
    names = set(order[order.index("site") + 1 :])  # what comes before is Python's and the environment's
    assert {name for name in names if name.startswith("pt2lint")} == {
        "pt2lint",
        "pt2lint.cli",
        "pt2lint.cli.last_answer",
        "pt2lint.digests",
        "pt2lint.project",
        "pt2lint.project.entries",
    }
    # What each of them takes is a good part of what such a run takes.
    assert not names & {"json", "hashlib", "_hashlib", "pathlib", "platformdirs", "pickle", "argparse"}


def kept(folder: str = "../caches/pt2lint") -> list[Path]:
    return sorted(Path(folder).glob("answer-*"))


def test_the_answer_is_kept_and_given_again() -> None:
    first = pt2lint(".")
    assert len(kept()) == 1
    before = kept()[0].stat().st_mtime_ns
    again = pt2lint(".")
    assert (again.returncode, again.stdout, again.stderr) == (first.returncode, first.stdout, first.stderr)
    assert kept()[0].stat().st_mtime_ns == before
    assert os.listdir() == ["m.py"]  # nothing is left where the code is


def test_every_change_is_noticed() -> None:
    assert PLACE in pt2lint(".").stdout
    # Same size, same time of content: the time of the metadata tells.
    seen = Path("m.py").stat()
    Path("m.py").write_text(BAD.replace("item", "mean"))
    os.utime("m.py", ns=(seen.st_atime_ns, seen.st_mtime_ns))
    assert PLACE not in pt2lint(".").stdout
    Path("new.py").write_text(BAD)
    assert "new.py:" + PLACE in pt2lint(".").stdout
    Path("pyproject.toml").write_text("[tool.pt2lint]\nignore = ['PTB']\n")
    assert PLACE not in pt2lint(".").stdout
    Path("pyproject.toml").unlink()
    assert PLACE in pt2lint(".").stdout
    Path("sub").mkdir()
    Path("sub", "deep.py").write_text(BAD)
    assert "sub/deep.py:" in pt2lint(".").stdout
    Path("sub", "deep.py").unlink()
    assert "sub/deep.py:" not in pt2lint(".").stdout


def test_an_imported_file_that_changes_is_noticed() -> None:
    Path("helper.py").write_text("def g(x):\n    return x.max()\n")
    Path("m.py").write_text(
        "import torch\nfrom helper import g\n\n@torch.compile\ndef f(x):\n    return g(x).item()\n"
    )
    assert "m.py:6:12: PTB103" in pt2lint("m.py").stdout
    Path("helper.py").write_text("def g(x):\n    return {'item': 3}\n")
    assert "PTB103" not in pt2lint("m.py").stdout


def test_what_is_printed_depends_on_the_arguments_and_the_terminal() -> None:
    plain = pt2lint("m.py")
    assert pt2lint("m.py", "--format", "json").stdout.startswith("[")
    assert "\x1b[" in pt2lint("m.py", FORCE_COLOR="1").stdout
    assert pt2lint("m.py").stdout == plain.stdout


def test_a_broken_or_locked_cache_is_no_error() -> None:
    first = pt2lint("m.py")
    kept()[0].write_bytes(b"nonsense")
    assert pt2lint("m.py").stdout == first.stdout
    assert pt2lint("m.py", "--cache-dir", "m.py/no").stdout == first.stdout


def test_no_cache_writes_none() -> None:
    pt2lint("--no-cache", "m.py")
    assert kept() == []
    pt2lint("--cache-dir", "elsewhere", "m.py")
    assert kept() == []
    assert len(kept("elsewhere")) == 1
    assert Path("elsewhere/.gitignore").read_text() == "*\n"
    pt2lint("m.py", PT2LINT_CACHE_DIR="third")
    assert kept() == []
    assert len(kept("third")) == 1


def test_an_answer_that_came_with_the_code_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody else's pt2lint wrote it, whole and for this very place; then it says that nothing was found."""
    from pt2lint.project import entries

    first = pt2lint("m.py")
    places = [".pt2lint_cache", "theirs"]
    mine = os.environ["XDG_CACHE_HOME"]
    monkeypatch.setenv("XDG_CACHE_HOME", mine + "-of-another")
    for folder in places:
        pt2lint("m.py", "--cache-dir", folder)
        for path in Path(folder).glob("*-*"):
            data = entries.read(str(path))
            assert data
            entries.write(str(path), data.replace(b"PTB103", b"PTB999"))
    assert "PTB999" in pt2lint("m.py", "--cache-dir", "theirs").stdout  # so another would
    monkeypatch.setenv("XDG_CACHE_HOME", mine)
    assert pt2lint("m.py").stdout == first.stdout
    for folder in places:
        assert pt2lint("m.py", "--cache-dir", folder).stdout == first.stdout


def test_tidying_leaves_the_users_files_alone() -> None:
    os.mkdir("mine")
    mine = ["answer-to-everything", "facts-about-me.json", "facts-0123456789abcdef0123456789abcdef.json"]
    for name in mine:
        Path("mine", name).write_text("mine")
        os.utime(Path("mine", name), (1, 1))
    os.symlink(Path("m.py").absolute(), "mine/tidied")
    os.utime("m.py", (1, 1))
    pt2lint("m.py", "--cache-dir", "mine")
    assert all(Path("mine", name).read_text() == "mine" for name in mine)
    assert Path("m.py").read_text() == BAD


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_a_flipped_bit_does_not_change_the_answer(here: Path, at: float, bit: int) -> None:
    from pt2lint.cli import last_answer

    arguments = ["m.py"]
    if not kept():
        os.utime("m.py", (1, 1))
        watch = last_answer.Watch(arguments)
        watch._started += 10**10
        watch.store(["m.py"], "out\n", "", 1)
    [path] = kept()
    whole = path.read_bytes()
    assert last_answer.recall(arguments) == ("out\n", "", 1)
    place = int(at * len(whole))
    path.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << bit]) + whole[place + 1 :])
    assert last_answer.recall(arguments) is None
    path.write_bytes(whole[:place])
    assert last_answer.recall(arguments) is None
    path.write_bytes(whole)


def test_an_answer_goes_by_what_the_files_were_before_they_were_read(here: Path) -> None:
    from pt2lint.cli import last_answer
    from pt2lint.project import entries

    os.utime("m.py", (1, 1))
    before = entries.stamp("m.py")
    Path("m.py").write_text(GOOD)
    os.utime("m.py", (1, 1))
    for known, answer in (({"m.py": before}, None), ({}, ("out\n", "", 1))):
        watch = last_answer.Watch(["m.py"])
        watch._started += 10**10
        watch.store(["m.py"], "out\n", "", 1, known)
        assert last_answer.recall(["m.py"]) == answer


def test_files_without_findings_too() -> None:
    Path("m.py").write_text(GOOD)
    assert pt2lint("m.py").stdout == pt2lint("m.py").stdout == "Nothing found in 1 file.\n"
