"""What is compiled with `fullgraph=True`: Dynamo captures more there, and raises where the graph breaks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pt2lint.finding import Finding
from pt2lint.project.config import Settings
from pt2lint.static.engine import lint

SOURCE = """
import torch

def number(x):
    return x.sum().item()

@torch.compile(fullgraph=True)
def whole(x):
    print(x[x > 0] * x.max().item())
    return x if x.min() > 0 else -x

@torch.compile(fullgraph=True)
def either(x):
    return x * number(x)

def sampled(x):
    return x[x > 0]

sample = torch.compile(sampled, fullgraph=True)
sample(torch.ones(3))
"""


def found(tmp_path: Path, text: str, target: tuple[int, int]) -> list[Finding]:
    (tmp_path / "m.py").write_text(text)
    settings = replace(Settings(), target_torch=target)
    return [one for one in lint([str(tmp_path / "m.py")], settings).findings if one.code.startswith("PTB")]


def test_what_it_captures_is_a_note_and_what_breaks_is_an_error(tmp_path: Path) -> None:
    every = found(tmp_path, SOURCE, (2, 13))
    seen = [one for one in every if one.severity != "note"]
    captured = [one for one in every if one.severity == "note"]
    assert {(one.code, one.line) for one in captured} == {
        ("PTB103", 5),
        ("PTB120", 9),
        ("PTB103", 9),
        ("PTB120", 17),
    }
    assert all("captures it" in one.message for one in captured)
    assert [(one.code, one.line, one.severity) for one in seen] == [
        ("PTB101", 9, "error"),
        ("PTB110", 10, "error"),
    ]
    assert all("`fullgraph=True` makes this an error when it is compiled" in one.message for one in seen)


def test_an_older_torch_captures_nothing_more(tmp_path: Path) -> None:
    assert [(one.code, one.line) for one in found(tmp_path, SOURCE, (2, 9))] == [
        ("PTB103", 5),
        ("PTB101", 9),
        ("PTB120", 9),
        ("PTB103", 9),
        ("PTB110", 10),
        ("PTB120", 17),
    ]


def test_what_is_compiled_in_parts_as_well_is_told(tmp_path: Path) -> None:
    more = "@torch.compile\ndef other(x):\n    return -number(x)\n"
    number = next(one for one in found(tmp_path, SOURCE + more, (2, 13)) if one.line == 5)
    assert (number.code, number.line, number.severity) == ("PTB103", 5, "warning")
    assert "fullgraph" not in number.message
