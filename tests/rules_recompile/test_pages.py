"""Every recompilation rule's page, run: its example recompiles, what it offers instead does not."""

from __future__ import annotations

from pathlib import Path

import libcst as cst
import pytest

from pt2lint.op import Op
from pt2lint.rule import Rule
from pt2lint.rule.loader import load_rules
from tests.rules_recompile.blocks import block, codes
from tests.rules_recompile.running import outcome

RULES = [r for r in load_rules() if r.code.startswith("PTR")]
SILENT = [r for r in load_rules() if r.code.startswith("PTS")]
OLD = {"PTS358": (2, 9)}  # what only an old torch does
OVERHEAD = ("compile-per-call",)  # costs time at every call, but no recompilation


@pytest.mark.parametrize("rule", [r for r in RULES if r.name in OVERHEAD], ids=lambda r: r.code)
def test_example_is_slower(rule: type[Rule]) -> None:
    example, instead = (outcome(block(rule, s), again=True) for s in ("Example", "Use instead"))
    assert example.value is None
    assert instead.value is None
    assert example.frames
    assert example.seconds > 3 * instead.seconds


@pytest.mark.parametrize("rule", [r for r in RULES if r.name not in OVERHEAD], ids=lambda r: r.code)
def test_example_recompiles_and_instead_does_not(rule: type[Rule]) -> None:
    example = outcome(block(rule, "Example"))
    assert not isinstance(example.value, BaseException), example.value
    assert example.recompiled
    instead = outcome(block(rule, "Use instead"))
    assert not isinstance(instead.value, BaseException), instead.value
    assert instead.frames
    assert not instead.recompiled


@pytest.mark.parametrize("rule", [*RULES, *SILENT], ids=lambda r: r.code)
def test_rule_fires_on_example_and_not_on_instead(rule: type[Rule], tmp_path: Path) -> None:
    target = OLD.get(rule.code)
    found = codes(block(rule, "Example"), tmp_path, target=target)
    assert [c for c in found if c.startswith(rule.code)]
    assert not codes(block(rule, "Use instead"), tmp_path, rule.code[:3], target)


@pytest.mark.parametrize("rule", [r for r in RULES if not r.asks_kinds], ids=lambda r: r.code)
def test_asks_for_no_kinds(rule: type[Rule], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Groups of files tell each other the kinds in functions only where a rule says that it asks for them."""
    check = rule.check

    def checked(self: Rule, node: cst.CSTNode, op: Op) -> None:
        kinds, self.function.kinds = self.function.kinds, lambda: pytest.fail(f"{rule.code} asks for kinds")
        check(self, node, op)
        self.function.kinds = kinds

    monkeypatch.setattr(rule, "check", checked)
    assert [c for c in codes(block(rule, "Example"), tmp_path) if c.startswith(rule.code)]
