"""The command line, on real files: what is printed, what is written and the exit status."""

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import pt2lint
from pt2lint.check import check
from pt2lint.cli import main
from pt2lint.cli.edits import fix
from pt2lint.cli.options import command_parser
from pt2lint.finding import Edit, Fix
from pt2lint.fixes.edit import digest
from pt2lint.project.config import Configs
from pt2lint.static.analysis import Analysis
from pt2lint.static.facts import Facts

BAD = """\
import torch


@torch.compile
def f(x):
    return x.max().item()
"""
GOOD = BAD.replace(".item()", "")
PLACE = "6:12: PTB103 "


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    return tmp_path


class Ran:
    def __init__(self, status: int, out: str, err: str) -> None:
        self.status, self.out, self.err = status, out, err

    @property
    def codes(self) -> list[str]:
        return [row["code"] for row in json.loads(self.out)]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]):  # type: ignore[no-untyped-def]
    def run(*arguments: str) -> Ran:
        try:
            status = main(list(arguments))
        except SystemExit as end:  # argparse
            status = int(end.code or 0)
        out, err = capsys.readouterr()
        return Ran(status, out, err)

    return run


def write(**files: str) -> None:
    for name, text in files.items():
        Path(f"{name}.py").write_text(text)


def test_findings_and_status(run) -> None:
    write(bad=BAD, good=GOOD)
    ran = run("bad.py", "good.py")
    assert (ran.status, ran.err) == (1, "")
    assert ran.out.startswith("bad.py:" + PLACE)
    assert "6 |     return x.max().item()\n" in ran.out
    assert run("good.py").out == "Nothing found in 1 file.\n"
    assert run("good.py").status == 0
    assert run("--quiet", "good.py").out == ""
    assert run("--exit-zero").status == 0
    assert run().status == 1, "the working folder is what is read by default"


def test_bad_input_is_one_line_each_and_the_rest_is_linted(run) -> None:
    write(bad=BAD, syntax="def f(:\n    pass\n")
    Path("binary.py").write_bytes(b"\x00\x01\xff\xfe\x80")
    Path("latin.py").write_bytes("x = 'größe'\n".encode("latin-1"))
    Path("nul.py").write_bytes(b"x = 1\x00\n")
    Path("book.ipynb").write_text("{]")
    Path("empty").mkdir()
    broken = ["syntax.py", "binary.py", "latin.py", "nul.py", "gone.py", "empty", "book.ipynb"]
    ran = run("bad.py", *broken)
    assert ran.status == 2
    assert "bad.py:" + PLACE in ran.out
    lines = ran.err.splitlines()
    assert len(lines) == 7
    for name in ("syntax.py:1: does not parse", "binary.py: ", "latin.py: ", "nul.py: ", "gone.py: no such",
                 "empty: no Python file", "book.ipynb: is no Jupyter notebook"):  # fmt: skip
        assert sum(line.startswith(name) for line in lines) == 1, (name, lines)
    assert "Traceback" not in ran.err
    assert "7 problems" in ran.out


def test_a_declared_encoding_is_read(run) -> None:
    text = "# -*- coding: latin-1 -*-\nname = 'größe'\n" + BAD
    Path("latin.py").write_bytes(text.encode("latin-1"))
    Path("mark.py").write_bytes(b"\xef\xbb\xbf" + BAD.encode())
    ran = run("latin.py", "mark.py")
    assert (ran.status, ran.err) == (1, "")
    assert "latin.py:8:12: PTB103" in ran.out
    assert "mark.py:6:12: PTB103" in ran.out


def test_a_broken_section_is_told_and_the_files_linted(run) -> None:
    write(bad=BAD)
    Path("pyproject.toml").write_text("[tool.pt2lint]\nselct = ['PTS']\n")
    ran = run("bad.py")
    assert ran.status == 2
    assert ran.err == "pyproject.toml: [tool.pt2lint] has no key `selct`; did you mean `select`?\n"
    assert PLACE in ran.out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--inputs", "m:f"], "--inputs is of use only with --verify"),
        (["--unsafe-fixes"], "--unsafe-fixes goes with --fix"),
        (["--fix", "--diff"], "choose one of"),
        (["--select", "PTB1O3"], "--select PTB1O3: no rule has this code; did you mean PTB103?"),
        (["--ignore", "a-b"], '--ignore: "A-B" is no code'),
        (["--roots", "all"], '--roots all: it should be one of "modules",'),
        (["--target-torch", "new"], '--target-torch new: should be a torch version, as in "2.13"'),
        (["--target-torch", "1.13"], "--target-torch 1.13: is 1.13, which has no torch.compile"),
        (
            ["--assume", "dtype=int8"],
            "no floating-point dtype; there are float16, bfloat16, float32 and float64",
        ),
        (["--verify", "--memory", "lots"], '`memory` should be a size such as "8G" or "512M", not "lots"'),
        (["--verify", "--memory", "inf"], 'such as "8G" or "512M", not "inf"'),
        (["--verify", "--timeout", "-3"], "should be positive"),
        (["--verify", "--timeout", "nan"], "should be positive"),
        (["--timeout", "0"], "--timeout is of use only with --verify"),
        (["--write-budget"], "--write-budget is of use only with --verify"),
        (["--roots", "all,f.g,a b"], '"a b" is neither'),
        (["--config", "gone.toml"], "--config gone.toml: no such file"),
        (["--baseline", "gone.json"], "make it with --write-baseline gone.json"),
        (["--baseline", "."], "--baseline .: Is a directory"),
        (["--since", "HEAD"], "is in no git repository"),
        (["--source-root", "."], "--source-root goes with --trace"),
        (["--trace", "gone"], "--trace gone: no such folder"),
        (["--trace", ".", "--verify"], "choose one of --verify"),
        (["--also-text"], "--also-text goes with --output"),
    ],
)
def test_a_command_line_that_cannot_be(run, arguments: list[str], told: str) -> None:
    write(bad=BAD)
    ran = run(*arguments, "bad.py")
    assert ran.status == 2
    assert ran.err.startswith("pt2lint: ")
    assert told in ran.err
    assert ran.err.count("\n") == 1


def test_select_and_ignore(run) -> None:
    write(bad=BAD)
    assert run("--ignore", "PTB", "bad.py").status == 0
    assert run("--select", "PTR,PTX", "bad.py").status == 0
    assert run("--select", "ALL", "bad.py").status == 1
    assert run("--ignore", "PTB", "--select", "PTB103", "bad.py").status == 1
    Path("pyproject.toml").write_text('[tool.pt2lint]\nper-file-ignores = {"b*.py" = ["PTB103"]}\n')
    assert run("bad.py").status == 0


def test_json_sarif_github_and_output(run) -> None:
    write(bad=BAD)
    assert run("--format", "json", "bad.py").codes == ["PTB103"]
    assert run("--format", "github", "bad.py").out.startswith("::warning title=pt2lint PTB103")
    ran = run("--output", "out/r.sarif", "bad.py")
    assert (ran.status, ran.out) == (1, "")
    log = json.loads(Path("out/r.sarif").read_text())
    assert log["runs"][0]["results"][0]["ruleId"] == "PTB103"
    assert PLACE in run("--output", "r.json", "--also-text", "bad.py").out
    assert json.loads(Path("r.json").read_text())[0]["code"] == "PTB103"
    Path("folder.json").mkdir()
    ran = run("--output", "folder.json", "bad.py")
    assert ran.status == 2
    assert ran.err.startswith("folder.json: cannot be written")


def test_sarif_paths_are_the_repositorys(run, monkeypatch: pytest.MonkeyPatch) -> None:
    Path(".git").mkdir()
    Path("src").mkdir()
    Path("src/bad.py").write_text(BAD)

    def uri(*arguments: str) -> str:
        log = json.loads(run("--format", "sarif", *arguments).out)
        location = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
        return str(location["uri"])

    assert uri("src") == "src/bad.py"
    monkeypatch.chdir("src")
    assert uri(".") == "src/bad.py"
    assert run("--format", "github", ".").out.count("file=src/bad.py,") == 1


def test_stdin(run, monkeypatch: pytest.MonkeyPatch) -> None:
    def give(text: bytes) -> None:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))

    give(BAD.encode())
    assert run("-").out.startswith("-:" + PLACE)
    give(BAD.encode())
    assert run("-", "--stdin-filename", "pkg/m.py").out.startswith("pkg/m.py:" + PLACE)
    give(GOOD.replace("x.max()", "x.max()  # noqa: PTB103").encode())
    ran = run("-", "--fix", "--stdin-filename", "m.py")
    assert ran.out == GOOD
    assert not Path("m.py").exists()
    give(b"\xff\xfe")
    assert run("-").status == 2


def test_fix_writes_and_diff_shows(run) -> None:
    stale = GOOD.replace("x.max()", "x.max()  # noqa: PTB103")
    write(m=stale)
    ran = run("--diff", "m.py")
    assert ran.status == 1
    assert "-    return x.max()  # noqa: PTB103\n+    return x.max()\n" in ran.out
    assert Path("m.py").read_text() == stale
    ran = run("--fix", "m.py")
    assert ran.status == 0
    assert ran.out == "note: 1 finding fixed\nNothing found in 1 file.\n"
    assert Path("m.py").read_text() == GOOD


def test_a_setting_is_made_once(run) -> None:
    """Reading alone does not see that it helps, so the finding stays."""
    write(m=BAD)
    assert run("--fix", "--unsafe-fixes", "m.py").status in (0, 1)
    text = Path("m.py").read_text()
    assert max(text.count(line) for line in text.splitlines() if line.strip()) == 1


def test_unused_suppressions(run) -> None:
    write(m=GOOD.replace("x.max()", "x.max()  # noqa: PTB103, PT001, PTB900"))
    ran = run("--format", "json", "m.py")
    assert ran.codes == ["PTX001"]
    assert "no `PTB103` is reported" in ran.out
    assert run("--ignore", "PTB103", "m.py").status == 0, "what was not looked for cannot be missing"
    assert run("--ignore", "PTX", "m.py").status == 0


def test_suppressed_findings_are_shown_on_request(run) -> None:
    write(m=BAD.replace(".item()", ".item()  # noqa: PTB103"))
    assert run("m.py").status == 0
    ran = run("--show-suppressed", "m.py")
    assert ran.status == 0
    assert "[suppressed]" in ran.out
    [row] = json.loads(run("--show-suppressed", "--format", "json", "m.py").out)
    assert row["suppressed"] is True


def test_add_noqa(run) -> None:
    write(m=BAD)
    assert run("--add-noqa", "m.py").status == 0
    assert Path("m.py").read_text() == BAD.replace(".item()", ".item()  # noqa: PTB103")
    assert run("m.py").status == 0


def test_baseline_survives_moved_lines(run) -> None:
    write(m=BAD)
    ran = run("--write-baseline", "known.json", "m.py")
    assert (ran.status, ran.out) == (0, "Wrote 1 finding to known.json.\n")
    write(m=BAD.replace("import torch", "import os\nimport torch") + BAD[13:].replace("f(x)", "g(x)"))
    ran = run("--baseline", "known.json", "m.py")
    assert ran.status == 1
    assert "m.py:12:12" in ran.out
    assert "m.py:7:12" not in ran.out
    assert "note: 1 finding in known.json is left out" in ran.out
    Path("known.json").write_text("[]")
    assert run("--baseline", "known.json", "m.py").err.endswith(
        "is no baseline that --write-baseline wrote\n"
    )


def git(*arguments: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *identity, *arguments], check=True, capture_output=True)


def test_since_reports_changed_lines(run) -> None:
    write(m=BAD, untouched=BAD)
    git("init", "--quiet")
    git("add", "--all")
    git("commit", "--quiet", "--message", "one")
    assert run("--since", "HEAD").status == 0
    write(m=BAD.replace("max", "min"), fresh=BAD)
    ran = run("--since", "HEAD", "--format", "json")
    assert [row["path"] for row in json.loads(ran.out)] == ["fresh.py", "m.py"]
    ran = run("--since", "nothing")
    assert (ran.status, ran.err) == (2, "pt2lint: --since nothing: git knows no such revision\n")


def test_since_takes_names_as_they_are_and_follows_renames(run) -> None:
    git("init")
    Path("[b].py").write_text(GOOD)
    write(b=GOOD, old=BAD)
    git("add", ".")
    git("commit", "-m", "one")
    Path("[b].py").write_text(BAD)
    git("mv", "old.py", "new.py")
    ran = run("--since", "HEAD")
    assert ran.out.startswith("[b].py:" + PLACE)
    assert "new.py" not in ran.out, "no line of it has changed"
    Path("new.py").write_text(BAD.replace("max", "min"))
    assert "new.py:" + PLACE in run("--since", "HEAD").out
    Path(".gitattributes").write_text("*.py -diff\n")
    assert "[b].py:" + PLACE in run("--since", "HEAD").out


def test_since_refuses_what_git_does_not_know_also_where_nothing_is_found(run) -> None:
    write(good=GOOD)
    assert "is in no git repository" in run("--since", "HEAD", "good.py").err
    git("init")
    ran = run("--since", "nothing", "good.py")
    assert (ran.status, ran.err) == (2, "pt2lint: --since nothing: git knows no such revision\n")


def test_since_in_a_shallow_clone_says_so(run, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("full").mkdir()
    monkeypatch.chdir("full")
    git("init", "--initial-branch=main")
    for text in (GOOD, GOOD + "\n", BAD):
        write(bad=text)
        git("add", ".")
        git("commit", "-m", "more")
    git("branch", "other", "HEAD~1")
    git("clone", "--depth=1", "--no-single-branch", f"file://{Path.cwd()}", "../shallow")
    monkeypatch.chdir("../shallow")
    ran = run("--since", "HEAD~2", "bad.py")
    assert ran.status == 2
    assert "this clone is shallow: deepen it (git fetch --unshallow" in ran.err
    ran = run("--since", "origin/other", "bad.py")
    assert ran.out.startswith("bad.py:" + PLACE)
    assert "note: this clone is shallow" in ran.out
    git("fetch", "--unshallow")
    assert "note" not in run("--since", "origin/other", "bad.py").out


def notebook(*cells: str) -> str:
    document = {
        "cells": [
            {"cell_type": "markdown", "metadata": {}, "source": ["# Größe\n"]},
            *(
                {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [],
                 "source": cell.splitlines(keepends=True)}
                for cell in cells
            ),
        ],
        "metadata": {"language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }  # fmt: skip
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def test_a_notebook_is_placed_and_fixed_by_cell(run) -> None:
    magic = "%matplotlib inline\nimport torch\n!ls"
    code = BAD.removeprefix("import torch\n\n\n").rstrip("\n")
    shell = "%%bash\nls *.py"
    stale = "y = 1  # noqa: PTB103"
    Path("n.ipynb").write_text(notebook(magic, code, shell, stale))
    ran = run("n.ipynb")
    assert (ran.status, ran.err) == (1, "")
    assert ran.out.startswith("n.ipynb:cell 3:3:12: PTB103 ")
    assert "n.ipynb:cell 5:1:8: PTX001" in ran.out
    row = json.loads(run("--format", "json", "n.ipynb").out)[0]
    assert (row["cell"], row["line"]) == (3, 3)

    log = json.loads(run("--format", "sarif", "n.ipynb").out)
    region = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]
    line = Path("n.ipynb").read_text().splitlines()[region["startLine"] - 1]
    assert line[region["startColumn"] - 1 : region["endColumn"] - 1] == "x.max().item()"

    assert run("--fix", "n.ipynb").status == 1
    assert Path("n.ipynb").read_text() == notebook(magic, code, shell, "y = 1")


def test_lines_that_a_notebook_s_findings_tell_are_those_of_its_cells(run) -> None:
    shell = "%%bash\nls *.py"
    code = "import torch\n@torch.compile\ndef f(x):\n    y = x.max()\n\n    return y.item()"
    two = "z = torch.zeros(3)\nf(z)"
    three = "import torch\n@torch.compile\ndef g(x):\n    return x.max().item()\ng(z)"
    Path("n.ipynb").write_text(notebook(shell, code, two, three))
    for _ in range(2):  # the second time what was kept is told
        out = run("n.ipynb").out
        assert "n.ipynb:cell 3:6:12: PTB103 " in out
        assert "`Tensor.max` returns a tensor (line 4)" in out
        assert "n.ipynb:cell 5:4:12: PTB103 " in out
        assert "`Tensor.max` returns a tensor (line 4)" in out.partition("cell 5:4:12")[2]
    made = "import torch\nk = torch.ones(1)"
    Path("n.ipynb").write_text(notebook(shell, made, "@torch.compile\ndef f():\n    return k.item()\nf()"))
    assert "returns a tensor (line 2 of cell 3)" in run("n.ipynb").out


def test_files_named_as_modules_are_not_run(run) -> None:
    """`python -m` seeks modules in the folder that it is called in first: a linter would run what it reads."""
    names = ("copy", "dataclasses", "libcst", "tokenize", "argparse", "platformdirs", "pygls")
    write(**dict.fromkeys(names, BAD + "\n\nraise SystemExit('it was run')\n"))
    for call in ([*(f"{name}.py" for name in names)], ["--diff", "."], ["server", "--help"]):
        done = subprocess.run(
            [sys.executable, "-m", "pt2lint", *call], capture_output=True, text=True, check=False
        )
        assert "it was run" not in done.stderr
        assert done.returncode == int(call[0] == "copy.py"), done.stderr


def own_rule(lost: int = 0, then: str = "pass") -> None:
    """A rule of the project: its fix leaves out `.item()`, and with it that many lines more; then it does something.

    `count` is how often it was asked before, in this lint.
    """
    Path("pyproject.toml").write_text("[tool.pt2lint]\nselect = ['MINE']\nrule-paths = ['lint']\n")
    Path("lint").mkdir()
    Path("lint/mine.py").write_text(f"""\
from pathlib import Path

from pt2lint.finding import Edit, Fix
from pt2lint.rule import Rule


class Mine(Rule):
    '''It.'''

    code, name, ops = "MINE001", "mine", ("call torch.Tensor.item",)
    asked = []

    def check(self, node, op):
        count, path = len(self.asked), self.function.path
        self.asked.append(path)
        edit = Edit(path, op.line, 1, op.line + 1 + {lost}, 1, "    return x.max()\\n")
        self.report(node, op, "it", fixes=[Fix("Leave it out", "safe", (edit,))])
        {then}
""")


@pytest.mark.parametrize("cache", [["--cache-dir", "kept"], ["--no-cache"]])
def test_what_a_fix_is_tried_on_is_not_linted_anew_once_it_is_written(
    cache: list[str],
    run,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    analysed: list[Sequence[str]] = []
    plain = Analysis.facts

    def counted(self: Analysis, group: Sequence[str]) -> Facts:
        analysed.append(group)
        return plain(self, group)

    monkeypatch.setattr(Analysis, "facts", counted)
    own_rule()
    write(m=BAD)
    assert "1 finding fixed" in run(*cache, "--fix", ".").out
    assert len(analysed) == 2  # as the file was, and as it was to be
    kept = run(*cache, "--format", "json", ".")
    assert len(analysed) == (2 if "--cache-dir" in cache else 3)
    assert (kept.status, kept.out) == (0, run("--no-cache", "--format", "json", ".").out)


def test_what_is_saved_while_it_lints_is_not_overwritten(run) -> None:
    own_rule(then='Path(path).write_text("saved = 1\\n")')
    write(m=BAD)
    ran = run("--fix", "m.py")
    assert Path("m.py").read_text() == "saved = 1\n"
    assert (ran.status, ran.err) == (
        2,
        "m.py: the file has changed since it was linted; run pt2lint again\n",
    )
    assert "0 findings fixed" in ran.out
    assert sorted(os.listdir()) == ["lint", "m.py", "pyproject.toml"]


def test_what_is_saved_between_fixing_and_writing_is_not_overwritten(run) -> None:
    """The finding that stays is asked about first once the fixed texts are linted."""
    own_rule(then='count == 0 and op.line == 12 and Path("m.py").write_text("saved = 1\\n")')
    left = BAD.replace(".item()", ".item()\n    # why").replace("return", "if x.ndim:\n        return", 1)
    write(m=BAD + "\n\n" + left.removeprefix("import torch\n\n\n").replace("def f", "def g"), n=BAD)
    ran = run("--fix", "m.py", "n.py")
    assert Path("m.py").read_text() == "saved = 1\n"
    assert "m.py: the fixes were not written: the file has changed since it was read" in ran.err
    assert ran.status == 2
    assert ".item()" not in Path("n.py").read_text()


def test_a_fix_that_loses_a_comment_leaves_the_file_and_says_so(run) -> None:
    own_rule(lost=1)
    write(m=BAD + "    # why\n", n=BAD + "\n")
    ran = run("--fix", "m.py", "n.py")
    assert Path("m.py").read_text() == BAD + "    # why\n"
    assert Path("n.py").read_text() == BAD.replace(".item()", "")
    assert ran.status == 2
    assert ran.err == "m.py:6: a fix was left out: it would lose the comment `# why` (line 7)\n"
    assert "m.py:6:12: MINE001" in ran.out
    assert "1 finding fixed" in ran.out


def test_a_proven_fix_that_findings_have_in_common_leaves_none_of_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    write(m=BAD.replace("    return", "    print(x)\n    return"))
    edit = Edit("m.py", 6, 1, 8, 1, "    return x\n")
    both = Fix("Both at once.", "unsafe", (edit,))
    checked = check(["m.py"], Configs())
    first, second = checked.findings
    checked.findings = [replace(first, fixes=(replace(both, proven=True),)), replace(second, fixes=(both,))]
    checked.digests = {"m.py": digest(Path("m.py").read_bytes())}
    options = command_parser().parse_args(["--fix", "--unsafe-fixes", "--format", "text", "m.py"])
    assert fix(options, Configs(), checked, None) == 0
    assert capsys.readouterr().out == "note: 1 finding fixed\nNothing found in 1 file.\n"


@pytest.mark.parametrize(
    ("lost", "after", "why"),
    [
        (1, "\n    # why", "it would lose the comment `# why`"),
        (1, "", "it would lose the comment `# %% pt2lint: code cell 4`"),
    ],
)
def test_a_notebook_that_would_lose_something_is_left_as_it_is(run, lost: int, after: str, why: str) -> None:
    own_rule(lost=lost)
    text = notebook("import torch", BAD.removeprefix("import torch\n\n\n").rstrip("\n") + after, "y = 1")
    Path("n.ipynb").write_text(text)
    ran = run("--fix", "n.ipynb")
    assert Path("n.ipynb").read_text() == text
    assert ran.status == 2
    assert why in ran.err
    assert "MINE001" in ran.out


def test_what_is_fixed_keeps_its_mode_owner_and_attributes(run) -> None:
    own_rule()
    write(m=BAD)
    os.chmod("m.py", 0o640)
    kept = {}
    if hasattr(os, "setxattr"):
        with contextlib.suppress(OSError):  # not every file system has them
            os.setxattr("m.py", "user.note", b"mine")
            kept["user.note"] = b"mine"
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        os.chown("m.py", 1234, 4321)
    before = os.stat("m.py")
    assert run("--fix", "m.py").status == 0
    assert Path("m.py").read_text() == BAD.replace(".item()", "")
    after = os.stat("m.py")
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)
    assert {name: os.getxattr("m.py", name) for name in kept} == kept


def test_statistics_rules_settings_and_files(run) -> None:
    write(bad=BAD)
    assert run("--statistics", "bad.py").out == "1  PTB103  tensor-item\n"
    rules = run("--list-rules").out
    for code in ("PTB103", "PTB900", "PTR900", "PTX001"):
        assert f"{code}  " in rules
    Path("pyproject.toml").write_text("[tool.pt2lint]\nselect = ['PTB']\ntarget-torch = '2.9'\n")
    settings = run("--show-settings", "--pedantic").out
    assert 'select = ["PTB"]\n' in settings
    assert 'target-torch = "2.9"\n' in settings
    assert "pedantic = true\n" in settings
    assert run("--show-files").out == "bad.py\n"


def test_a_rules_page(run) -> None:
    text = run("rule", "ptb103").out
    assert text.startswith("# tensor-item (PTB103)")
    assert "## Use instead" in text
    assert run("rule", "tensor-item").out == text
    assert json.loads(run("rule", "PTB103", "--format", "json").out)["code"] == "PTB103"
    ran = run("rule", "PTB1O3")
    assert (ran.status, ran.err) == (2, "pt2lint: no rule has the code PTB1O3; did you mean PTB103?\n")
    assert run("rule", "PTB11").err == "pt2lint: no rule has the code PTB11; did you mean PTB110?\n"
    assert run("rule", "item").err == "pt2lint: no rule has the code item; did you mean tensor-item?\n"


def test_help_says_that_verify_runs_code(run) -> None:
    ran = run("--help")
    assert ran.status == 0
    assert "With --verify it RUNS the code it is given" in ran.out
    assert "Exit status: 0" in ran.out
    assert run("--version").out == f"pt2lint {pt2lint.__version__}\n"


def test_verify_judges(run) -> None:
    write(m=BAD + "\n\ndef example_inputs():\n    return f, (torch.ones(3),)\n")
    ran = run("--verify", "--format", "json", "m.py")
    [row] = json.loads(ran.out)
    assert (ran.status, row["verdict"], row["evidence"]["graph_break"]) == (1, "confirmed", "GB0124")


def test_inputs_that_do_not_import(run) -> None:
    write(m=BAD)
    ran = run("--verify", "--inputs", "nowhere:f", "m.py")
    assert ran.status == 2
    assert "nowhere" in ran.err
    assert ran.err.count("\n") == 1
    assert PLACE in ran.out


def test_a_package_that_is_missing_is_told_with_what_to_do(run) -> None:
    write(m="import nowhere_to_be_found\n" + BAD)
    told = [line for line in run("--verify", "m.py").out.splitlines() if "nowhere_to_be_found" in line]
    another = "(--python PATH names another interpreter); what uses that is not run"
    assert told == [f"note: m.py: not installed: nowhere_to_be_found {another}"]


def test_a_package_that_is_missing_where_the_file_cannot_do_without(run) -> None:
    write(m="import nowhere_to_be_found\nNAMES = [*nowhere_to_be_found.names]\n" + BAD)
    ran = run("--verify", "m.py")
    told = [line for line in ran.err.splitlines() if "No module named 'nowhere_to_be_found'" in line]
    assert len(told) == 1
    assert told[0].endswith("; install it, or name the interpreter that has it: --python PATH (at m.py:1)")


def test_a_part_of_a_package_that_this_version_has_not(run) -> None:
    write(m="import json.not_there\n" + BAD)
    told = [line for line in run("--verify", "m.py").out.splitlines() if "json.not_there" in line]
    ways = (
        "install the version of json that the code was written for; --python PATH names another interpreter"
    )
    assert told == [f"note: m.py: not installed: json.not_there ({ways}); what uses that is not run"]


def test_a_path_that_is_missing_is_told_once_with_verify_too(run) -> None:
    ran = run("--verify", "gone.py")
    assert (ran.status, ran.err) == (2, "gone.py: no such file or folder\n")
    assert "note" not in ran.out


def test_trace_judges_by_what_a_job_left(run) -> None:
    write(m=BAD.replace("torch.compile", 'torch.compile(backend="eager")') + "\n\nf(torch.ones(3))\n")
    subprocess.run([sys.executable, "m.py"], check=True, env={**os.environ, "TORCH_TRACE": "logs"})
    [row] = json.loads(run("--trace", "logs", "--format", "json", "m.py").out)
    assert (row["verdict"], row["evidence"]["graph_break"]) == ("confirmed", "GB0124")
    Path("none").mkdir()
    ran = run("--trace", "none", "m.py")
    assert ran.status == 2
    assert ran.err.startswith("none: no TORCH_TRACE logs here")


def test_the_api_finds_the_same() -> None:
    write(m=BAD)
    [finding] = pt2lint.lint([Path("m.py")])  # type: ignore[list-item]
    assert (finding.code, finding.line) == ("PTB103", 6)


def test_a_closed_pipe_is_no_error() -> None:
    write(**{f"m{number}": BAD * 20 for number in range(30)})
    done = subprocess.run(
        f"{sys.executable} -m pt2lint --no-cache . | head -1",
        shell=True,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "PTB103" in done.stdout
    assert done.stderr == ""


def test_a_terminal_without_unicode_is_no_error() -> None:
    write(m=BAD.replace(".item()", ".item(), 'größe'"))
    done = subprocess.run(
        [sys.executable, "-m", "pt2lint", "m.py"], capture_output=True, text=True, check=False,
        env={"PYTHONIOENCODING": "ascii", "PATH": ""},
    )  # fmt: skip
    assert done.returncode == 1
    assert "gr\\xf6\\xdfe" in done.stdout


def test_what_a_module_shows_by_itself_is_sought_where_it_is_asked_for(run) -> None:
    code = """
import torch
from torch import nn

class Inner(nn.Module):
    def forward(self, x: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
        return x * scale.item()

class Outer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = Inner()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.inner(x, 2.0)
"""
    Path("m.py").write_text(code)
    assert run("m.py").status == 0
    ran = run("--pedantic", "m.py")
    assert (ran.status, "m.py:7:20: PTB103" in ran.out) == (1, True)
    # A comment that silences it is not idle because nobody asked.
    for comment in ("pt2lint: ignore[PTB103]", "noqa: PTB103", "NOQA: PTB103"):
        Path("m.py").write_text(code.replace("item()", f"item()  # {comment}"))
        ran = run("m.py")
        assert (ran.status, "Nothing found" in ran.out) == (0, True), comment


NET = """\
import torch


class Net(torch.nn.Module):
    def forward(self, x):
        return x * 2
"""
TRAINER = """\
import torch.nn.functional as F


class Trainer:
    def update(self, model, optimizer, x, y):
        for _ in range(4):
            loss = F.mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
"""
EPOCH = """\
import torch.nn.functional as F


def epoch(model, optimizer, loader):
    for x, y in loader:
        F.mse_loss(model(x), y).backward()
        optimizer.step()
"""
SCALER = """\
class Scaler:
    def backward(self, loss):
        scaled = loss * self.scale
        scaled.backward()

    def __call__(self, loss, optimizer):
        self.scaler.scale(loss).backward()
        self.scaler.step(optimizer)
"""


def test_a_program_that_compiles_nothing_is_told_which_training_step_to_name(run) -> None:  # type: ignore[no-untyped-def]
    Path("net.py").write_text(NET)
    Path("train.py").write_text(TRAINER)
    assert run(".").out == (
        "note: no torch.compile here: the forward of each module was read, as if somebody compiled it, and what"
        " trains for notes; to hold a training step to it too: --roots modules,train.py:Trainer.update\n"
        "Nothing found in 2 files. 3 notes, true but seldom worth acting on: --notes shows them.\n"
    )
    assert "train.py:8:13: PTB166" in run("--roots", "modules,train.py:Trainer.update", ".").out


def test_so_it_is_told_where_something_else_fails_or_a_script_is_named_alone(run) -> None:  # type: ignore[no-untyped-def]
    Path("net.py").write_text(NET.replace("x * 2", "print(x)"))
    Path("train.py").write_text(TRAINER)
    failing = run(".")
    assert (failing.status, "--roots modules,train.py:Trainer.update\nFound 1 finding" in failing.out) == (
        1,
        True,
    )
    script = 'if __name__ == "__main__":\n    Trainer()\n'
    Path("train.py").write_text(TRAINER + script)
    assert "--roots modules,train.py:Trainer.update\n" in run("train.py").out
    Path("train.py").write_text(f"from torch import compile\n{TRAINER}{script}")
    assert "training step" not in run("train.py").out


@pytest.mark.parametrize(
    ("name", "text", "arguments"),
    [
        ("compiled.py", "import torch\nfrom net import Net\nnet = torch.compile(Net())\n", ["."]),
        ("train.py", EPOCH, ["."]),  # a whole training is no step of one
        ("train.py", SCALER, ["."]),  # nor is what is given the loss
        ("test_train.py", TRAINER, ["."]),
        ("net.py", NET, ["net.py", "train.py"]),  # who imports train.py may compile it
        ("net.py", NET, ["--roots", "modules,train.py:Trainer.update", "--quiet", "."]),
        ("net.py", NET, ["--format", "concise", "."]),
        ("net.py", NET, ["--force-exclude", "."]),
        ("broken.py", "def f(:\n", ["."]),
    ],
)
def test_else_training_steps_are_not_spoken_of(run, name: str, text: str, arguments: list[str]) -> None:  # type: ignore[no-untyped-def]
    Path("net.py").write_text(NET)
    Path("train.py").write_text(TRAINER if name != "test_train.py" else "")
    Path(name).write_text(text)
    assert "training step" not in run(*arguments).out
