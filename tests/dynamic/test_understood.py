"""Breaks that no rule foresaw, in statements that a rule knows once the function is known to be compiled."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pt2lint.cli import main
from pt2lint.finding import Finding
from pt2lint.project.config import Configs, Settings
from pt2lint.static.engine import lint
from pt2lint.understood import Understood
from tests.dynamic.conftest import needs_torch

CODE = """\
import torch
from torch import nn

HANDLERS = {}


def register(function):
    HANDLERS[function.__name__] = function


@register
def by_item(x):
    return x + x.sum().item()


class Helper:
    def run(self, x):
        return (
            x + x.max().item()
        )


def outer():
    def inner(x):
        return x.item()
    return inner


class Net(nn.Module):
    def forward(self, x: torch.Tensor):
        for function in HANDLERS.values():
            x = function(x)
        return x


def example_inputs():
    return Net(), (torch.ones(3, 4),)
"""


def unforeseen(line: int, id: str | None = "GB0124", column: int = 5) -> Finding:
    return Finding(
        "PTB900", "unforeseen-graph-break", "Dynamo breaks the graph here: why", "m.py", line, column, line, 30,
        verdict="confirmed", evidence={"graph_break": id, "reason": "why"},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("line", "id", "place"),
    [
        (13, "GB0124", (13, 16)),
        (13, None, (13, 16)),  # torch 2.6 gives no id
        (19, "GB0124", (19, 17)),
        (25, "GB0124", None),  # no name leads to a function in a function
        (8, "GB0124", None),
        (900, "GB0124", None),
    ],
)
def test_the_rule_that_knows_the_statement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: int, id: str | None, place: tuple[int, int] | None
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("m.py").write_text(CODE)
    given = unforeseen(line, id)
    [found] = Understood(Configs())([given])
    if place is None:
        assert found == given
        return
    assert (found.code, found.verdict, found.line, found.column) == ("PTB900", "confirmed", *place)
    assert found.evidence == {"graph_break": id, "reason": "why", "rule": "PTB103"}
    assert found.message.startswith("Dynamo breaks the graph here: why (as PTB103 says: `x.")
    assert found.fixes[0].description.startswith("Keep the value as a tensor")


def test_what_nobody_asked_for_has_no_fixes_to_prove(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("m.py").write_text(CODE)
    item = next(
        one for one in lint(["m.py"], Settings(root_names=("m:by_item",))).findings if one.code == "PTB103"
    )
    assert item.fixes
    [kept] = Understood(Configs({"select": ("PTB103",)}))([item])
    [left, unforeseen_left] = Understood(Configs({"select": ("PTB110",)}))([item, unforeseen(13)])
    assert kept == item
    assert left == replace(item, fixes=())
    assert unforeseen_left == unforeseen(13)


def test_a_break_by_another_name_has_the_fixes_to_try(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One rule alone speaks of the statement: whether its fixes take the break away their proof tells."""
    monkeypatch.chdir(tmp_path)
    Path("m.py").write_text(CODE)
    given = unforeseen(13, "GB0059")
    [found] = Understood(Configs())([given])
    assert found.fixes[0].description.startswith("Keep the value as a tensor")
    assert replace(found, fixes=()) == given


STEP = """\
import torch


def step(net, x):
    net(x).sum().backward()
"""


def test_a_break_by_another_name_has_no_advice_that_cannot_be_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A break within DistributedDataParallel is none of `backward()`."""
    monkeypatch.chdir(tmp_path)
    Path("m.py").write_text(STEP)
    given = unforeseen(5, "GB0156")
    assert Understood(Configs())([given]) == [given]
    [found] = Understood(Configs())([unforeseen(5, None)])
    assert "as PTB160 says" in found.message


CHECK = """\
import torch


def checked(cond, msg, error_type=ValueError):
    if not callable(msg):
        def said():
            return msg
    else:
        said = msg
    torch._check_with(error_type, cond, said)
"""


def test_what_reading_alone_is_not_sure_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether a message that is given closes over a tensor: only that it broke there says so."""
    monkeypatch.chdir(tmp_path)
    Path("m.py").write_text(CHECK)
    [found] = Understood(Configs())([unforeseen(10, "GB9158")])
    assert "as PTB113 says" in found.message
    assert found.fixes[0].edits[0].text.startswith("    if not cond:\n        raise error_type(said())")
    assert not lint(["m.py"], Settings(root_names=("m:checked",))).findings


@needs_torch
def test_its_fix_is_proven_and_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pyproject.toml").write_text('[tool.pt2lint.verify]\nmodes = ["eval"]\nfurther = false\n')
    Path("m.py").write_text(CODE)
    assert main(["--verify", "--fix", "--unsafe-fixes", "m.py"]) == 0
    assert "1 finding fixed" in capsys.readouterr().out
    assert "    return x + x.sum().detach()\n" in Path("m.py").read_text()
