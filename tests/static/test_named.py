"""Roots that the settings name: "train.step", "pkg.mod:Class.method"."""

from pathlib import Path

import pytest

from pt2lint.project.config import Settings
from pt2lint.static.engine import lint
from pt2lint.static.source.named import inside

CODE = """\
import torch


class Trainer:
    def step(self, x: torch.Tensor):
        return x.max().item()

    def log(self, x: torch.Tensor):
        return x.max().item()


class Late(Trainer):
    pass


def step(x: torch.Tensor):
    return x.min().item()


def log(x: torch.Tensor):
    return x.min().item()
"""
METHOD, FUNCTION = 6, 17


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pkg").mkdir()
    Path("pkg/__init__.py").touch()
    Path("pkg/train.py").write_text(CODE)


@pytest.mark.parametrize(
    ("names", "lines"),
    [
        ((), []),
        (("train.step",), [FUNCTION]),
        (("pkg.train.step",), [FUNCTION]),
        (("pkg.train:step",), [FUNCTION]),
        (("train.Trainer.step",), [METHOD]),
        (("train:Trainer.step", "train:step"), [METHOD, FUNCTION]),
        (("train:Late.step",), [METHOD]),
        (("other.step", "otrain.step"), []),
        (("pkg/train.py:step", "loose/main.py:step"), [FUNCTION]),
        (("train.py:Trainer.step",), [METHOD]),
        (("./pkg/train.py:step",), [FUNCTION]),
        (("kg/train.py:step", "main/train.py:step"), []),
    ],
)
def test_what_is_named_is_compiled(names: tuple[str, ...], lines: list[int]) -> None:
    result = lint(["pkg/train.py"], Settings(roots="explicit", root_names=names))
    assert [(f.line, f.code) for f in result.findings] == [(line, "PTB103") for line in lines]
    assert result.problems == []
    assert all("is compiled" in f.flow[0].message for f in result.findings)


def test_a_name_that_its_module_does_not_define() -> None:
    result = lint(["pkg/train.py"], Settings(root_names=("train.stpe", "train:Gone.step", "elsewhere.gone")))
    assert [str(problem) for problem in result.problems] == [
        "`roots` names `train.stpe`, but pkg/train.py defines no `stpe`; did you mean `step`?",
        "`roots` names `train:Gone.step`, but pkg/train.py defines no `Gone`",
    ]


def test_two_modules_of_one_name_need_not_both_define_it() -> None:
    Path("train.py").write_text("import torch\n")
    result = lint(["pkg/train.py", "train.py"], Settings(root_names=("train.step",)))
    assert result.problems == []
    assert [f.line for f in result.findings] == [FUNCTION]


def test_places() -> None:
    assert inside("a.b:C.m", "a.b") == inside("a.b.C.m", "a.b") == inside("b.C.m", "x.a.b") == ["C", "m"]
    assert inside("b:m", "ab") is inside("a.b:m", "b") is inside("b.m", "m") is None


@pytest.mark.parametrize("name", ["loose/main.py:step", "loose.main:step", "main:step", "loose.main.step"])
def test_a_folder_that_is_no_package(name: str) -> None:
    Path("loose").mkdir()
    Path("loose/main.py").write_text(CODE)
    result = lint(["loose/main.py", "pkg/train.py"], Settings(roots="explicit", root_names=(name,)))
    assert [(f.path, f.line) for f in result.findings] == [("loose/main.py", FUNCTION)]
    assert result.problems == []


def test_one_that_does_not_exist_leaves_the_others() -> None:
    names = ("train.step", "train.stepp", "pkg/train.py:Trainer.lgo")
    result = lint(["pkg/train.py"], Settings(roots="explicit", root_names=names))
    assert [f.line for f in result.findings] == [FUNCTION]
    assert [str(p) for p in result.problems] == [
        "`roots` names `train.stepp`, but pkg/train.py defines no `stepp`; did you mean `step`?",
        "`roots` names `pkg/train.py:Trainer.lgo`, but `Trainer` defines no `lgo`; did you mean `log`?",
    ]
