"""[tool.pt2lint]: what it may hold, which file wins, and what is said of mistakes."""

from pathlib import Path

import pytest

from pt2lint.project.config import KEYS, Configs, Settings, read_config


def written(folder: Path, text: str) -> str:
    path = folder / "pyproject.toml"
    path.write_text(text)
    return str(path)


def problems(folder: Path, text: str) -> list[str]:
    path = written(folder, text)
    return [str(problem).removeprefix(f"{path}: ") for problem in read_config(path)[1]]


def test_every_key_is_read(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        """
        [tool.pt2lint]
        select = ["PTB", "ptr201,PTS"]
        extend-select = ["PTX"]
        ignore = ["PTB103"]
        exclude = ["third_party/"]
        respect-gitignore = false
        target-torch = "2.9.1+cpu"
        roots = ["explicit", "pkg.mod:Class.method", "train.step", "5-1.Nets/Net (greedy).py:decode"]
        rule-paths = ["lint"]
        pedantic = true
        [tool.pt2lint.per-file-ignores]
        "tests/**" = ["PTB101"]
        [tool.pt2lint.verify]
        timeout = 20
        """,
    )
    settings, wrong = read_config(path)
    assert wrong == []
    assert settings == Settings(
        select=("PTB", "PTR201", "PTS"),
        extend_select=("PTX",),
        ignore=("PTB103",),
        per_file_ignores=(("tests/**", ("PTB101",)),),
        exclude=("third_party/",),
        respect_gitignore=False,
        target_torch=(2, 9),
        roots="explicit",
        root_names=("pkg.mod:Class.method", "train.step", "5-1.Nets/Net (greedy).py:decode"),
        rule_paths=(str(tmp_path / "lint"),),
        pedantic=True,
        verify={"timeout": 20},
        root=str(tmp_path),
    )
    named = {name.replace("-", "_") for name in KEYS}
    assert named == set(vars(settings)) - {"root", "root_names", "source"}


ROOTS_ARE = 'should be one of "modules", "explicit", "tensors", or a list with names such as "train.step"'
LIST = 'should be a list of strings, as in ["PTB", "PTR201"]'


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("selct = []", "has no key `selct`; did you mean `select`?"),
        ("foo = []", "has no key `foo`; its keys are " + ", ".join(KEYS)),
        ("per_file_ignores = {}", "has no key `per_file_ignores`; did you mean `per-file-ignores`?"),
        ("extend-exclude = []", "has no key `extend-exclude`; did you mean `exclude`?"),
        ('select = "PTB"', f"`select` {LIST}"),
        (
            "exclude = ['src\\old\\*.py']",
            r'`exclude` holds "src\old\*.py", which matches nothing: folders are written with `/`',
        ),
        ('ignore = ["PTB-1"]', '`ignore` "PTB-1" is no code; codes look like PTB103, prefixes like PTB'),
        ("pedantic = 1", "`pedantic` should be true or false"),
        ("target-torch = 2.9", '`target-torch` should be a torch version, as in "2.13"'),
        ("roots = 'all'", f'`roots` {ROOTS_ARE}; "all" is neither'),
        ("roots = 3", f"`roots` {ROOTS_ARE}"),
        ("roots = ['explicit', 'tensors']", '`roots` should hold one of "explicit" and "tensors", not both'),
        ("verify = 3", "`verify` should be a table: [tool.pt2lint.verify]"),
        ("exclude = [1]", '`exclude` should be a list of strings, as in ["build/"]'),
        ("per-file-ignores = []", '`per-file-ignores` should be a table, as in {"tests/**" = ["PTB101"]}'),
    ],
)
def test_a_mistake_is_named_and_the_rest_holds(tmp_path: Path, text: str, problem: str) -> None:
    path = written(tmp_path, f"[tool.pt2lint]\n{text}\nextend-select = ['PTS']\n")
    settings, [found] = read_config(path)
    assert str(found) == f"{path}: [tool.pt2lint] {problem}"
    assert settings.extend_select == ("PTS",)
    configs = Configs()
    assert configs.of(str(tmp_path)).extend_select == ("PTS",)
    assert configs.problems == [found]


def test_a_mistake_in_the_verify_table(tmp_path: Path) -> None:
    [found] = problems(tmp_path, "[tool.pt2lint.verify]\ntimout = 3\n")
    assert found == "[tool.pt2lint.verify] has no key `timout`; did you mean `timeout`?"


def test_a_file_that_is_no_toml(tmp_path: Path) -> None:
    [found] = problems(tmp_path, "[tool.pt2lint\n")
    assert found.startswith("is not valid TOML, so its [tool.pt2lint] is left out: ")
    assert "\n" not in found
    [found] = problems(tmp_path, "[tool]\npt2lint = 3\n")
    assert found == "`tool.pt2lint` should be a table: [tool.pt2lint]"


@pytest.mark.parametrize("name", ["pt2lint", "tool.PT2Lint", "tool.pt2-lint"])
def test_a_section_that_nothing_reads_is_told(tmp_path: Path, name: str) -> None:
    written(tmp_path, f"[{name}]\nselect = ['PTB']\n[tool.black]\n")
    configs = Configs()
    configs.of(str(tmp_path))
    [found] = configs.problems
    assert found.message == f"[{name}] is read by nothing: the settings stand in [tool.pt2lint]"


def test_a_broken_file_of_another_tool_is_none_of_our_business(tmp_path: Path) -> None:
    written(tmp_path, "[tool.black\n")
    assert Configs().of(str(tmp_path)).select == ()


def test_the_nearest_file_with_a_section_wins(tmp_path: Path) -> None:
    written(tmp_path, "[tool.pt2lint]\nselect = ['PTB']\n")
    near, nearer = tmp_path / "a", tmp_path / "a" / "b"
    nearer.mkdir(parents=True)
    written(near, "[tool.black]\n")
    assert Configs().of(str(nearer)).select == ("PTB",)
    written(near, "[tool.pt2lint]\nselect = ['PTS']\n")
    assert Configs().of(str(nearer)).select == ("PTS",)
    configs = Configs()
    assert configs.of(str(nearer)) is configs.of(str(near))
    assert configs.of(str(tmp_path)).select == ("PTB",)


def test_the_command_line_wins(tmp_path: Path) -> None:
    written(tmp_path, "[tool.pt2lint]\nselect = ['PTB']\npedantic = true\n")
    settings = Configs({"select": ("PTS",)}).of(str(tmp_path))
    assert (settings.select, settings.pedantic) == (("PTS",), True)


def test_another_file_needs_no_section(tmp_path: Path) -> None:
    path = tmp_path / "lint.toml"
    path.write_text("select = ['PTB']\n")
    assert read_config(str(path))[0].select == ("PTB",)
    path.write_text("[tool.pt2lint]\nselect = ['PTS']\n")
    assert read_config(str(path))[0].select == ("PTS",)


@pytest.mark.parametrize(
    ("select", "ignore", "codes"),
    [
        ((), (), {"PTB103", "PTB110", "PTR201"}),
        (("PTB",), (), {"PTB103", "PTB110"}),
        (("PTB", "PTR201"), ("PTB110",), {"PTB103", "PTR201"}),
        (("PTB103",), ("PTB",), {"PTB103"}),
        (("PTB103",), ("PTB103",), set()),
        (("",), ("PTB",), {"PTR201"}),
        ((), ("",), set()),
        (("PTB103",), ("",), {"PTB103"}),
    ],
)
def test_the_longer_prefix_decides(select: tuple[str, ...], ignore: tuple[str, ...], codes: set[str]) -> None:
    settings = Settings(select=select, ignore=ignore)
    assert {code for code in ("PTB103", "PTB110", "PTR201") if settings.selects(code)} == codes


def test_extend_select_adds() -> None:
    assert Settings(ignore=("PTB",), extend_select=("PTB103",)).selects("PTB103")
    assert not Settings(select=("PTB",), extend_select=("PTR201",)).selects("PTS301")


def test_per_file_ignores_are_relative_to_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ignores = (("tests/**", ("PTB",)), ("/conf.py", ("",)))
    settings = Settings(per_file_ignores=ignores, root=str(tmp_path))
    assert not settings.wants("PTB103", "tests/deep/test_m.py")
    assert settings.wants("PTR201", str(tmp_path / "tests" / "test_m.py"))
    assert settings.wants("PTB103", "src/tests.py")
    assert not settings.wants("PTR201", "conf.py")
    assert settings.wants("PTR201", "src/conf.py")
    (tmp_path / "src").mkdir()
    monkeypatch.chdir(tmp_path / "src")
    assert not settings.wants("PTB103", "../tests/test_m.py")
