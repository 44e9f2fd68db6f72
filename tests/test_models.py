"""A user's own models: the page's example, what they change, and what is said of a file that cannot be used."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pt2lint.libraries import known, load
from pt2lint.libraries.model import ROLES
from pt2lint.libraries.words import wrong
from pt2lint.project.config import Configs, Settings
from pt2lint.static.cache import Cache
from pt2lint.static.engine import LintResult, lint
from tests.test_docs import fences


def project(folder: Path, models: str, code: str) -> Path:
    (folder / "lint").mkdir()
    (folder / "lint" / "acme.toml").write_text(models)
    (folder / "pyproject.toml").write_text('[tool.pt2lint]\nmodels = ["lint"]\n')
    (folder / "model.py").write_text(code)
    return folder / "model.py"


def linted(path: Path) -> LintResult:
    return lint([str(path)], Configs().of(str(path.parent)))


def test_the_example_of_the_page(tmp_path: Path) -> None:
    models, settings = fences("models.md", "toml")
    [code] = fences("models.md", "python")
    path = project(tmp_path, models, code)
    assert settings == '[tool.pt2lint]\nmodels = ["lint/models"]\n'
    result = linted(path)
    assert result.problems == []
    lines = code.splitlines()
    wanted = [(n, found[1]) for n, line in enumerate(lines, 1) if (found := re.search(r"# (PT\w\d+)$", line))]
    assert [(f.line, f.code) for f in result.findings] == wanted
    [shown] = fences("models.md", "text")
    for finding in result.findings:
        assert (
            f"model.py:{finding.line}:{finding.column}: {finding.code} {finding.message.split(': `')[0]}"
            in shown
        )
    assert lint([str(path)], Settings()).findings == []


def test_a_model_wins_over_the_code(tmp_path: Path) -> None:
    code = """
import torch
def check(x):
    return x.sum() > 0
def f(x: torch.Tensor):
    if check(x):
        return x
    return -x
compiled = torch.compile(f)
"""
    path = project(tmp_path, '["model.check"]\nreturns = "bool"\n', code)
    assert [f.code for f in lint([str(path)]).findings] == ["PTB110"]
    assert linted(path).findings == []


def test_a_module_that_breaks_does_so_where_it_is_called(tmp_path: Path) -> None:
    code = """
from torch import nn
from acme.nn import Router
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.router = Router()
    def forward(self, x):
        return self.router(x)
"""
    path = project(tmp_path, '["acme.nn.Router"]\nforward = "tensor"\nbreaks = "it asks for counts"\n', code)
    assert [(f.line, f.code) for f in linted(path).findings] == [(9, "PTB187")]


@pytest.mark.parametrize(("target", "count"), [((2, 13), 1), ((2, 15), 0)])
def test_until(tmp_path: Path, target: tuple[int, int], count: int) -> None:
    code = "import torch, acme\n@torch.compile\ndef f(x):\n    acme.log(x)\n    return x\n"
    path = project(tmp_path, '["acme.log"]\nbreaks = "it logs"\nuntil = "2.15"\n', code)
    settings = Settings(models=(str(tmp_path / "lint"),), target_torch=target)
    assert len(lint([str(path)], settings).findings) == count


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("nonsense", None, "not valid TOML"),
        ('fused = "tensor"', 1, "should be a table"),
        ("[fused]\nreturns = 'tensor'", 1, "a name with its module"),
        ('\n["a.f"]\nreturn = "tensor"', 2, "is no key of a model; did you mean `returns`?"),
        ('["a.f"]\nreturns = "tensr"', 1, '"tensr" is no kind of value'),
        ('["a.f"]\nreturns = "tuple(tensor,what)"', 1, '"what" is no kind of value'),
        ('["a.f"]\nroles = ["disable"]', 1, 'holds "disable", which is no role; did you mean `disables`?'),
        ('["a.f"]\nroles = "disables"', 1, "should be a list of roles"),
        ('["a.f"]\nbreaks = 3', 1, "should be one line of text"),
        ('["a.f"]\nbreaks = "so"\nuntil = "soon"', 1, "should be a torch version"),
    ],
)
def test_what_cannot_be_used_is_one_line(text: str, line: int | None, says: str, tmp_path: Path) -> None:
    good = '["acme.log"]\nbreaks = "it logs"\n'
    code = "import torch, acme\n@torch.compile\ndef f(x):\n    acme.log(x)\n    return x\n"
    path = project(tmp_path, good, code)
    (tmp_path / "lint" / "bad.toml").write_text(text)
    result = linted(path)
    [problem] = result.problems
    assert says in problem.message
    assert problem.message.endswith("it is left out")
    assert "\n" not in problem.message
    assert (problem.path, problem.line) == (str(tmp_path / "lint" / "bad.toml"), line)
    assert [f.code for f in result.findings] == ["PTB187"]  # the other file counts


def test_no_such_folder(tmp_path: Path) -> None:
    problems: list = []
    load((str(tmp_path / "none"),), problems)
    assert [p.message for p in problems] == ["no such folder; correct `models`"]


def test_a_changed_model_is_seen_through_the_cache(tmp_path: Path) -> None:
    code = "import torch, acme\n@torch.compile\ndef f(x):\n    acme.log(x)\n    return x\n"
    path = project(tmp_path, '["acme.log"]\nbreaks = "it logs"\n', code)
    cache = Cache(str(tmp_path / "cache"))
    settings = Configs().of(str(path.parent))
    assert len(lint([str(path)], settings, cache=cache).findings) == 1
    (tmp_path / "lint" / "acme.toml").write_text('["acme.log"]\nreturns = "none"\n')
    assert lint([str(path)], settings, cache=cache).findings == []


@pytest.mark.parametrize("library", known(), ids=lambda library: library.name)
def test_what_ships_says_what_can_be_read(library) -> None:
    for words in (library.returns, library.constants, library.types):
        assert [said for said in words.values() if wrong(said)] == []
    assert set(library.roles) <= set(ROLES)
    assert library.given in ("tensors", "anything", "")
