"""A rule that cannot be used costs one clear line, and its own findings alone."""

import textwrap
from pathlib import Path

import pt2lint.rules
import pytest

from pt2lint.cli import main

CODE = """\
import torch


@torch.compile
def f(x):
    return x.max().item()
"""
RULE = '''\
from pt2lint.rule import Rule, calls


class Mine(Rule):
    """Mine.

    ## What happens

    Nothing.
    """

    code = "ACM001"
    name = "mine"
    ops = calls("torch.Tensor", "item")

    def check(self, node, op):
        self.report(node, op, f"`{self.text(node)}` is not liked here")
'''


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):  # type: ignore[no-untyped-def]
    monkeypatch.chdir(tmp_path)
    Path("m.py").write_text(CODE)
    Path("lint").mkdir()
    Path("pyproject.toml").write_text("[tool.pt2lint]\nrule-paths = ['lint']\n")

    def run(rule: str, *arguments: str) -> tuple[int, str, list[str]]:
        Path("lint/mine.py").write_text(textwrap.dedent(rule))
        status = main([*(arguments or ["m.py"]), "--no-cache"])
        out, err = capsys.readouterr()
        return status, out, [line.replace(f"{tmp_path}/", "") for line in err.splitlines()]

    return run


def test_a_rule_of_the_users_own(run) -> None:  # type: ignore[no-untyped-def]
    status, out, problems = run(RULE)
    assert (status, problems) == (1, [])
    assert "ACM001 `x.max().item()` is not liked here" in out
    assert "PTB103" in out


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        ("def", "lint/mine.py:1: this rule file does not load (SyntaxError: invalid syntax); its rules"),
        ("x = 1\nraise KeyError('a')", "lint/mine.py:2: this rule file does not load (KeyError: 'a'); its"),
        (
            "import sys\nsys.exit(3)",
            "lint/mine.py:2: this rule file does not load (SystemExit: 3); its rules",
        ),
        ("import nowhere", "(ModuleNotFoundError: No module named 'nowhere'); its rules are left out"),
        (
            RULE.replace("ACM001", "mine"),
            "rule `Mine` is left out: it has the code 'mine', and codes look like",
        ),
        (RULE.replace("ACM001", "PTB103"), "it claims the code PTB103, which "),
        (RULE.replace('name = "mine"', ""), 'it lacks a name, as in name = "tensor-item"'),
        (RULE.replace("ops = calls", "wanted = calls"), "it lacks `ops`"),
        (
            RULE.replace('calls("torch.Tensor", "item")', '("call torch.Tensor.item", "test tensr")'),
            "it listens to `test tensr`, which is no operation (`test tensor`?); pt2lint/op.py lists them",
        ),
        (
            RULE.replace('calls("torch.Tensor", "item")', '("call print",)'),
            "it listens to `call print`, which is no operation (`call builtins.print`?); pt2lint/op.py lists them",
        ),
        (
            RULE.replace('code = "ACM001"', 'code = "ACM001"\n    severity = "bad"'),
            "it has the severity 'bad'",
        ),
        (RULE.replace("self.text(node)", "node.gone"), "m.py:6: rule ACM001 failed here (AttributeError: "),
        (
            RULE + "\n    @classmethod\n    def accepts(cls, op):\n        return op.gone\n",
            "m.py:6: rule ACM001 failed here (AttributeError: ",
        ),
    ],
)
def test_a_rule_that_cannot_be_used(run, rule: str, told: str) -> None:  # type: ignore[no-untyped-def]
    status, out, problems = run(rule)
    assert status == 2
    [problem] = problems
    assert told in problem
    assert "PTB103" in out
    assert "ACM001" not in out
    assert "PTB103" in run(rule, "--list-rules")[1]


def test_a_repair_that_raises_costs_the_fix_alone(run) -> None:  # type: ignore[no-untyped-def]
    message = 'f"`{self.text(node)}` is not liked here"'
    status, out, [problem] = run(
        RULE.replace(message, message + ", fixes=(self.text(n.gone) for n in [node])")
    )
    assert status == 2
    assert "m.py:6: rule ACM001 failed here (AttributeError: " in problem
    assert "ACM001 `x.max().item()` is not liked here" in out


def test_a_folder_that_is_not_there(run) -> None:  # type: ignore[no-untyped-def]
    Path("pyproject.toml").write_text("[tool.pt2lint]\nrule-paths = ['rules']\n")
    assert run(RULE)[::2] == (2, ["rules: no such folder; correct `rule-paths`"])


def test_a_broken_file_in_the_pack(run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    pack = tmp_path / "pack"
    pack.mkdir()
    (pack / "torn.py").write_text("import nowhere_at_all\n")
    monkeypatch.setattr(pt2lint.rules, "__path__", [*pt2lint.rules.__path__, str(pack)])
    status, out, problems = run(RULE)
    assert status == 2
    assert "PTB103" in out
    told = "this rule file does not load (ModuleNotFoundError: No module named 'nowhere_at_all')"
    assert problems == [f"pack/torn.py:1: {told}; its rules are left out"]
