"""Whatever it is given: exit status 2 and one line, the rest is linted, no file is half written."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import pt2lint.check
from tests.cli.test_cli import BAD, GOOD, PLACE, here, run, write

__all__ = ["here", "run"]  # fixtures

ODD = os.fsdecode(b"n\xff.py")
EMPTY = "one of the paths is empty: name a file or a folder (. is the working folder)"
SHOWN = "n\\xff.py"


def pt2lint_process(*arguments: str, **options) -> subprocess.CompletedProcess[bytes]:  # type: ignore[no-untyped-def]
    options.setdefault("capture_output", True)
    return subprocess.run(
        [sys.executable, "-m", "pt2lint", "--no-cache", *arguments], check=False, timeout=60, **options
    )


@pytest.mark.parametrize("format", ["text", "json", "sarif", "github", "html", "baseline"])
def test_a_file_name_that_is_no_utf8(run, format: str) -> None:
    Path(ODD).write_text(BAD)
    if format == "html":
        assert run("--report", "out", ".").status == 1
    elif format == "baseline":
        assert run("--write-baseline", "out", ".").status == 0
        assert run("--baseline", "out", ".").status == 0, "the name is found again"
    else:
        assert run("--format", format, "--output", "out", ".").status == 1
    text = Path("out").read_bytes().decode()
    if format == "sarif":
        [result] = json.loads(text)["runs"][0]["results"]
        uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        assert uri == "n%FF.py"
    elif format == "json":
        assert json.loads(text)[0]["path"] == ODD, "as Python knows it"
    elif format == "baseline":
        assert json.loads(text)["findings"][0]["path"] == ODD
    else:
        assert SHOWN in text


def test_a_diff_of_such_a_file_applies(run) -> None:
    code = "import torch\n\n\n@torch.compile\ndef f(x):\n    print(x.sum())\n    return torch.tensor(3.0).cuda() + x\n"
    texts = {
        ODD: code.encode(),
        "mark.py": b"\xef\xbb\xbf" + code.encode(),
        "latin.py": ("# coding: latin-1\n# größe\n" + code).encode("latin-1"),
        "[a] b.py": code.replace("\n", "\r\n").encode(),
    }
    for name, data in texts.items():
        Path(name).write_bytes(data)
    # Of another age: no patch tells such lines apart.
    old = code.replace("\n", "\r").encode()
    subprocess.run(["git", "init", "--quiet"], check=True)
    patch = pt2lint_process("--diff", "--unsafe-fixes", ".").stdout
    assert run("--diff", "--unsafe-fixes", "--output", "fix.patch", ".").out == ""
    assert Path("fix.patch").read_bytes() == patch
    assert patch.count(b"\n+++ ") == 4
    subprocess.run(["git", "apply", "fix.patch"], check=True)
    applied = {name: Path(name).read_bytes() for name in texts}
    for name, data in texts.items():
        Path(name).write_bytes(data)
    Path("fix.patch").unlink()
    Path("old.py").write_bytes(old)
    Path("aa.py").symlink_to("mark.py")
    assert run("--fix", "--unsafe-fixes", ".").err == ""
    for name, data in texts.items():
        assert Path(name).read_bytes() == applied[name] != data
    assert Path("aa.py").is_symlink()
    assert Path("old.py").read_bytes() == applied["[a] b.py"].replace(b"\r\n", b"\r")


def test_a_diff_goes_to_the_file_that_a_link_leads_to(run, monkeypatch) -> None:
    code = "import torch\n\n\n@torch.compile\ndef f(x):\n    print(x.sum())\n    return torch.tensor(3.0).cuda() + x\n"
    for name in ("mine/m.py", "other/n.py"):
        Path(name).parent.mkdir()
        Path(name).write_text(code)
    Path("mine/a.py").symlink_to("m.py")
    Path("mine/b.py").symlink_to("../other/n.py")
    Path("mine/folder").symlink_to("../other")
    monkeypatch.chdir("mine")
    ran = run("--diff", "--unsafe-fixes", "a.py", "b.py", "folder/n.py", "m.py")
    assert ran.out.count("\n+++ ") == 1
    outside = f"leads to {Path('../other/n.py').resolve()}, outside of the working folder"
    assert ran.err.count(outside) == 1
    subprocess.run(["git", "apply", "-"], input=ran.out.encode(), check=True)
    applied = Path("m.py").read_text()
    Path("m.py").write_text(code)
    assert run("--fix", "--unsafe-fixes", "a.py", "b.py").err == ""
    assert Path("m.py").read_text() == Path("../other/n.py").read_text() == applied != code
    assert Path("a.py").is_symlink()
    assert Path("b.py").is_symlink()


def test_control_characters_do_not_reach_the_terminal(run) -> None:
    name = "a\x1b[31m\n\u202eb.py"
    Path(name).write_text(BAD.replace("item()", "item()  # \x1b[2J"))
    Path("broken\x07.py").write_text("(")
    ran = run(".")
    assert ran.out.startswith("a\\x1b[31m\\n\\u202eb.py:6:12: PTB103")
    assert "6 |     return x.max().item()  # \u241b[2J\n" in ran.out
    assert ran.err.startswith("broken\\x07.py:1: does not parse")
    assert not set("\x1b\x07\u202e") & set(ran.out + ran.err)
    assert "\x1b" not in run("--show-files", ".").out
    assert run("--target-torch", "\x1b", ".").err.startswith("pt2lint: --target-torch \\x1b: ")
    assert "\x1b" not in run("--output", "r.json", "--also-text", ".").out


@pytest.mark.parametrize("path", ["folder", "folder/file/x", "/dev/full", "/proc/none/x"])
@pytest.mark.parametrize("option", ["--output", "--report", "--write-baseline"])
def test_what_cannot_be_written_is_told(run, option: str, path: str) -> None:
    write(bad=BAD)
    Path("folder").mkdir()
    Path("folder/file").touch()
    ran = run(option, path, "bad.py")
    if (option, path) == ("--report", "folder"):  # a page for each model goes there
        assert Path("folder/index.html").exists()
        return
    assert ran.status == 2
    assert ran.err.startswith(f"{path}: cannot be written: ")
    assert ran.err.count("\n") == 1
    assert "Wrote" not in ran.out
    assert sorted(file.name for file in Path("folder").iterdir()) == ["file"]


@pytest.mark.parametrize("option", ["--output", "--report", "--write-baseline", "--commit-message"])
def test_a_report_does_not_take_the_place_of_a_source(run, option: str) -> None:
    write(bad=BAD)
    Path("script").write_text(BAD)
    more = ["--diff"] if option == "--commit-message" else []
    for source in ("bad.py", "script"):
        ran = run(option, f"./{source}", *more, source)
        assert (ran.status, ran.out) == (2, "")
        assert (
            ran.err
            == f"pt2lint: {option} ./{source}: would take the place of a source file; name another file\n"
        )
        assert Path(source).read_text() == BAD
    assert run(option, "bad.py", *more, "script").status == 2
    assert Path("bad.py").read_text() == BAD


def test_two_reports_do_not_go_to_one_file(run) -> None:
    write(bad=BAD)
    ran = run("--output", "out", "--report", "./out", "bad.py")
    assert (ran.status, ran.err) == (2, "pt2lint: --output and --report name the same file, ./out\n")
    assert run("--output", "/dev/null", "--report", "/dev/null", "bad.py").status == 1


def test_a_path_that_is_empty_is_not_the_working_folder(run) -> None:
    write(bad=BAD)
    ran = run("", "--format", "concise")
    assert (ran.status, ran.err) == (2, f"pt2lint: {EMPTY}\n")


def test_a_standard_input_that_is_closed() -> None:
    command = f"{sys.executable} -m pt2lint --no-cache - <&-"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False, timeout=60)
    told = "pt2lint: standard input is closed; give it Python text, or name files\n"
    assert (done.returncode, done.stderr) == (2, told)


def test_a_report_is_whole_or_the_one_that_was_there(run, monkeypatch: pytest.MonkeyPatch) -> None:
    write(bad=BAD)
    Path("out.json").write_text("before")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    ran = run("--output", "out.json", "bad.py")
    assert (ran.status, ran.err) == (2, "out.json: cannot be written: No space left on device\n")
    assert Path("out.json").read_text() == "before"
    assert sorted(path.name for path in Path().iterdir() if path.is_file()) == ["bad.py", "out.json"]


def test_a_pipe_as_the_output_is_written_to() -> None:
    write(bad=BAD)
    done = pt2lint_process("--format", "json", "--output", "/dev/stdout", "bad.py")
    assert json.loads(done.stdout)[0]["code"] == "PTB103"
    assert Path("/dev/stdout").exists()


def test_a_standard_output_that_is_full_or_closed() -> None:
    write(bad=BAD)
    with open("/dev/full", "wb") as full:
        done = pt2lint_process("bad.py", stdout=full, stderr=subprocess.PIPE, capture_output=False)
    told = b"pt2lint: the answer cannot be written: No space left on device\n"
    assert (done.returncode, done.stderr) == (2, told)
    command = f"{sys.executable} -m pt2lint --no-cache bad.py >&- 2>&-"
    assert subprocess.run(["sh", "-c", command], check=False, timeout=60).returncode == 1


def test_json_is_json_whatever_the_terminal() -> None:
    Path("größe.py").write_text(BAD)
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    for format in ("json", "sarif"):
        done = pt2lint_process("--format", format, "größe.py", env=environment)
        assert "größe.py" in str(json.loads(done.stdout)) or "gr%C3%B6" in str(json.loads(done.stdout))


def test_a_working_folder_that_is_gone(tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    command = f"cd gone; rmdir ../gone; {sys.executable} -m pt2lint"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2
    assert done.stderr == "pt2lint: the working folder is not there any more; go to one that is\n"


def test_what_no_one_foresaw_is_one_line_and_status_2(run, monkeypatch: pytest.MonkeyPatch) -> None:
    def check(*arguments: object, **options: object) -> None:
        raise KeyError("first\nsecond")

    monkeypatch.setattr(pt2lint.check, "check", check)
    ran = run(".")
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith("pt2lint: it failed (KeyError: 'first\\nsecond', at cli/test_hostile.py:")
    assert ran.err.endswith("a defect of pt2lint, please report it (PT2LINT_DEBUG=1 shows all of it)\n")
    assert ran.err.count("\n") == 1


ROW = {"path": "bad.py", "code": "PTB103", "text": "return x.max().item()", "count": 1}


@pytest.mark.parametrize(
    "baseline",
    ["[" * 100_000, "{}", "null", "[]", '{"version": 1, "findings": 3}', '{"version": 1, "findings": [3]}']
    + [
        json.dumps({"version": 1, "findings": [{**ROW, key: value}]})
        for key in ROW
        for value in (None, [], {}, 1.5, True, "1" if key == "count" else 1)
    ],
)
def test_a_baseline_with_wrong_types(run, baseline: str) -> None:
    write(bad=BAD)
    Path("b.json").write_text(baseline)
    ran = run("--baseline", "b.json", "bad.py")
    assert ran.status == 2
    assert ran.err == "pt2lint: --baseline b.json: is no baseline that --write-baseline wrote\n"


@pytest.mark.parametrize(
    "setting",
    ["x = " + "[" * 500 + "]" * 500, "x = " + "1" * 5000, 'target-torch = "2.²"', f'target-torch = "{"9" * 5000}.1"',
     'exclude = ["!"]', 'exclude = ["foo\\\\"]', 'per-file-ignores = {"!" = ["PTB"]}', 'select = ["PTB1O3"]',
     'per-file-ignores = {"[a" = ["PTB"]}', 'roots = ["a b"]', "verify = {memory = '8Q'}", "verify = {timeout = nan}",
     'models = ["\\u0000"]', 'rule-paths = ["\\u0000"]', 'severity = {PTB1O3 = "note"}']
)  # fmt: skip
def test_a_wrong_setting_is_one_line_and_the_rest_holds(run, setting: str) -> None:
    write(bad=BAD)
    Path("pyproject.toml").write_text(f"[tool.pt2lint]\n{setting}\n")
    ran = run("bad.py")
    assert ran.status == 2
    assert ran.err.startswith("pyproject.toml: ")
    assert ran.err.count("\n") == 1
    if "select" not in setting:
        assert PLACE in ran.out


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ('assume = "training"', '`assume` should be a list of strings, as in ["training"]'),
        ('exclude = "x"', '`exclude` should be a list of strings, as in ["build/"]'),
        ('models = "x"', '`models` should be a list of strings, as in ["models"]'),
        ("verify = {gpus = 1}", "`gpus` should be a list of strings, not 1"),
        ("verify = {jobs = 'x'}", "`jobs` should be a whole number, not 'x'"),
        ("verify = {made-up = 3}", "`made-up` should be true or false, not 3"),
    ],
)
def test_what_a_setting_should_be_is_told_in_its_own_words(run, setting: str, told: str) -> None:
    write(bad=BAD)
    Path("pyproject.toml").write_text(f"[tool.pt2lint]\n{setting}\n")
    assert run("bad.py").err.rstrip().endswith(told)


@pytest.mark.parametrize("key", ["models", "rule-paths"])
def test_a_folder_that_is_missing_is_told_whatever_is_kept(run, key: str) -> None:
    write(bad=BAD)
    run("--cache-dir", "kept", "bad.py")
    Path("pyproject.toml").write_text(f'[tool.pt2lint]\n{key} = ["nowhere"]\n')
    for _ in range(2):
        ran = run("--cache-dir", "kept", "bad.py")
        assert ran.status == 2
        assert f"nowhere: no such folder; correct `{key}`" in ran.err
        ran = run("--cache-dir", "kept", "--format", "json", "bad.py")
        assert f"nowhere: no such folder; correct `{key}`" in ran.err


def test_each_bad_item_is_told_and_the_others_hold(run) -> None:
    write(bad=BAD, good=GOOD)
    Path("pyproject.toml").write_text(
        '[tool.pt2lint]\nselect = ["PTB", "P-B", "PTS9O"]\nexclude = ["good.py", "foo\\\\"]\n'
        'roots = ["explicit", "bad.f", "a b"]\nper-file-ignores = {"x.py" = ["PTB999", "PTB"], "[a" = ["PTB"]}\n'
        'verify = {memory = "8G"}\n'
    )
    ran = run()
    assert ran.status == 2
    assert ran.out.startswith("bad.py:" + PLACE)
    assert "in 1 file." in ran.out
    lines = [line.removeprefix("pyproject.toml: [tool.pt2lint] ") for line in ran.err.splitlines()]
    assert [line[:58] for line in lines] == [
        '`select` "P-B" is no code; codes look like PTB103, prefixe',
        '`exclude` holds "foo\\", which matches nothing: nothing fol',
        '`roots` should be one of "modules", "explicit", "tensors",',
        '`per-file-ignores` holds "[a", which matches nothing: a `[',
        "`select` names PTS9O: no rule has this code; did you mean ",
        '`per-file-ignores` at "x.py" names PTB999: no rule has thi',
    ]
    assert run("--show-settings").out.count('"8G"') == 1


def test_an_ignore_for_all_files_but_some(run) -> None:
    write(bad=BAD, other=BAD)
    Path("pyproject.toml").write_text('[tool.pt2lint.per-file-ignores]\n"!bad.py" = ["PTB"]\n')
    assert run("--format", "json").out.count('"code": ') == 1
    assert run("bad.py").status == 1


@pytest.mark.parametrize("codec", ["hex", "rot13", "zip", "utf-16", "punycode", "undefined", "no-such"])
def test_an_encoding_that_is_none_of_text(run, monkeypatch: pytest.MonkeyPatch, codec: str) -> None:
    write(bad=BAD)
    Path("c.py").write_text(f"# coding: {codec}\n# noqa: PTB103\nimport torch\n")
    ran = run(".")
    assert ran.status == 2
    assert ran.err.startswith("c.py:")
    assert ran.err.count("\n") == 1
    assert "defect" not in ran.err
    assert PLACE in ran.out
    done = pt2lint_process("-", input=Path("c.py").read_bytes())
    assert done.returncode == 2
    assert done.stderr.count(b"\n") == 1
    assert b"defect" not in done.stderr


def test_fixing_goes_on_after_a_file_that_may_not_be_written(run) -> None:
    code = BAD.replace(
        "return x.max().item()", "y = torch.tensor(1.0).to(x.device)\n    print(x)\n    return y"
    )
    Path("c").mkdir()
    write(a=code, b=code, **{"c/d": code})
    before = Path("b.py").read_text()
    fixable = len([row for row in json.loads(run("--format", "json", "a.py").out) if row["fixes"]])
    assert fixable
    import pt2lint.fixes.edit as edit

    really = edit.replace_file

    def refuse(path: str, data: bytes, read: bytes | None = None) -> None:
        if str(path).endswith("b.py"):
            raise OSError(30, "Read-only file system")
        really(path, data, read)

    pytest.MonkeyPatch().setattr(edit, "replace_file", refuse)
    try:
        ran = run("--fix", "--unsafe-fixes", ".")
    finally:
        edit.replace_file = really
    assert ran.status == 2
    assert ran.err == "b.py: the fixes were not written: Read-only file system\n"
    assert Path("b.py").read_text() == before
    assert Path("a.py").read_text() != code
    assert Path("c/d.py").read_text() != code
    assert f"note: {2 * fixable} findings fixed" in ran.out


def test_a_list_that_holds_itself(run) -> None:
    code = "a = []\n    a.append(a)\n    d = {}\n    d['k'] = d\n    if x.any():\n        return x + 1\n    return x"
    write(bad=BAD.replace("return x.max().item()", code))
    ran = run("bad.py")
    assert (ran.status, ran.err) == (1, "")
    assert "fix (unsafe): Branch with `torch.cond`" in ran.out


def test_a_root_in_no_file_is_told_where_the_whole_project_is_read(run) -> None:
    write(bad=BAD, good=GOOD)
    ran = run("--roots", "explicit,gone.step,bad.f", ".")
    told = "`roots` names `gone.step`, but no file that was read is that module\n"
    assert (ran.status, ran.err) == (2, "pt2lint: " + told)
    assert PLACE in ran.out
    assert run("--roots", "explicit,gone.step", "bad.py").status == 1, "some files only"
    Path("pyproject.toml").write_text('[tool.pt2lint]\nroots = ["explicit", "gone.step"]\n')
    assert run().err == "pyproject.toml: " + told
    assert run("bad.py").status == 1


ENDS = """
import os, signal

from pt2lint.rule import Rule


class Ends(Rule):
    '''It.'''

    code, name, ops = "MINE001", "mine", ("call torch.Tensor.item",)

    def check(self, node, op):
        os.kill(os.getpid(), signal.SIGTERM)
"""


@pytest.mark.skipif(os.name == "nt", reason="its signals are others")
def test_what_is_told_to_end_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "lint").mkdir()
    (tmp_path / "lint" / "ends.py").write_text(ENDS)
    (tmp_path / "pyproject.toml").write_text("[tool.pt2lint]\nrule-paths = ['lint']\n")
    source = "import torch\n\n\n@torch.compile\ndef f(x):\n    return x.max().item()  # noqa: PTB101\n"
    (tmp_path / "m.py").write_text(source)
    (tmp_path / "tmp").mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "pt2lint", "--no-cache", "--fix", "m.py"],
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(tmp_path / "tmp")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 143, done.stderr
    assert not [*(tmp_path / "tmp").iterdir()]
    assert (tmp_path / "m.py").read_text() == source
