"""A file that is linted alone, beside programs that nobody lints."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from pt2lint.project.config import Settings
from pt2lint.static.cache import Cache
from pt2lint.static.engine import lint
from tests.command import here
from tests.files import written

LOOP = """
import torch

def generate(model, n):
    ids = torch.zeros(1, 1, dtype=torch.long)
    for _ in range(n):
        ids = torch.cat([ids, model(ids)], dim=1)
    return ids
"""
AVERAGE = """
class Average:
    def __init__(self, model):
        self.shadow = {n: p.clone() for n, p in model.named_parameters()}

    def update(self, model):
        for name, p in model.named_parameters():
            if name in self.shadow:
                self.shadow[name].lerp_(p, 0.1)
"""
NET = """
import torch
from torch import nn

class Net(nn.Module):
    def forward(self, x):
        return x[:, -1:]

"""
TRAIN = NET + "from part import Average\n\n\ndef main():\n    net = Net()\n    own = Average(net)\n"
FAST = "torch.compile(Net(), dynamic=False)"
CASES = {
    "a script calls a function": (
        LOOP,
        {"main.py": f"{NET}from part import generate\ngenerate({FAST}, 20)\n"},
        ["PTR206"],
    ),
    "nothing is compiled": (LOOP, {"main.py": f"{NET}from part import generate\ngenerate(Net(), 20)\n"}, []),
    "another file compiles": (
        LOOP,
        {
            "build.py": f"{NET}\ndef build():\n    return {FAST}\n",
            "main.py": "from build import build\nfrom part import generate\n\ngenerate(build(), 20)\n",
        },
        ["PTR206"],
    ),
    "a file that does not name torch": (
        AVERAGE,
        {"train.py": f"{TRAIN}    own.update(torch.compile(net))\n"},
        ["PTS317"],
    ),
    "one that is updated by the original": (AVERAGE, {"train.py": f"{TRAIN}    own.update(net)\n"}, []),
}


def told(folder: Path, part: str, others: dict[str, str]) -> list[str]:
    (folder / "pyproject.toml").write_text("")
    written(folder, {"part.py": part, **others})
    found = lint([str(folder / "part.py")], Settings(target_torch=(2, 13))).findings
    return [f.code for f in found if f.severity != "note"]


@pytest.mark.parametrize("name", CASES)
def test_what_the_programs_beside_it_do(name: str, tmp_path: Path) -> None:
    part, others, codes = CASES[name]
    assert told(tmp_path, part, others) == codes


def test_a_program_above_it(tmp_path: Path) -> None:
    others = {"../main.py": f"{NET}from parts.part import generate\ngenerate({FAST}, 20)\n"}
    (tmp_path / "parts").mkdir()
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "parts" / "part.py").write_text(LOOP)
    (tmp_path / "main.py").write_text(others["../main.py"])
    found = lint([str(tmp_path / "parts" / "part.py")], Settings(target_torch=(2, 13))).findings
    assert [f.code for f in found] == ["PTR206"]


def test_it_is_read_again_once_it_changes(tmp_path: Path) -> None:
    part, others, codes = CASES["a script calls a function"]
    assert told(tmp_path, part, others) == codes
    assert told(tmp_path, part, CASES["nothing is compiled"][1]) == []


def test_what_is_kept_of_a_file_goes_by_the_programs_beside_it(tmp_path: Path) -> None:
    part, others, codes = CASES["a script calls a function"]
    (tmp_path / "pyproject.toml").write_text("")
    path = tmp_path / "part.py"
    path.write_text(part)
    cache = Cache(str(tmp_path / "kept"))

    def kept() -> list[str]:
        return [f.code for f in lint([str(path)], Settings(target_torch=(2, 13)), cache=cache).findings]

    assert kept() == []
    (tmp_path / "main.py").write_text(others["main.py"])
    assert kept() == codes
    (tmp_path / "main.py").write_text("print()\n")
    assert kept() == []


def test_the_answer_that_is_kept_goes_by_them_too(tmp_path: Path) -> None:
    part, others, codes = CASES["a script calls a function"]
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "part.py").write_text(part)
    (tmp_path / "main.py").write_text("print()\n")

    def answer() -> str:
        time.sleep(0.05)  # what was changed just now may change unseen, and nothing is kept
        return here(tmp_path, "part.py", "--cache-dir", "kept", "--target-torch", "2.13").out

    assert "Nothing found" in answer()
    assert len([*tmp_path.glob("kept/answer-*")]) == 1
    (tmp_path / "main.py").write_text(others["main.py"])
    assert codes[0] in answer()
    (tmp_path / "main.py").unlink()
    assert "Nothing found" in answer()


@pytest.mark.skipif(os.name == "nt", reason="its names are texts")
def test_a_file_whose_name_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text("import torch\n")
    path = os.path.join(str(tmp_path), os.fsdecode(b"\xff.py"))
    with open(path, "w") as file:
        file.write("import torch\n\n\n@torch.compile\ndef f(x):\n    return x.max().item()\n")
    assert [finding.code for finding in lint([path], Settings()).findings] == ["PTB103"]
