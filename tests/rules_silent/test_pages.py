"""Every silent-misuse rule's page, run: the example does not do what it says, what is offered instead does.

What "does not do what it says" means: nothing is compiled, or the graph breaks, or `run()` gives something
else than it gives where torch.compile does nothing, or it raises.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from pt2lint.rule import Rule
from pt2lint.rule.loader import load_rules
from tests.rules_recompile.blocks import block
from tests.rules_recompile.running import outcome, same

RULES = [r for r in load_rules() if r.code.startswith("PTS")]
CUDA = {"PTS338"}  # what only a GPU shows: its page says where it was measured


def symptoms(source: str) -> list[str]:
    compiled, eager = outcome(source), outcome(source, compiling=False)
    if isinstance(compiled.value, BaseException):
        return [f"raises {compiled.value!r}"]
    assert not isinstance(eager.value, BaseException), eager.value
    found = []
    if not compiled.frames:
        found.append("nothing compiled")
    if compiled.breaks:
        found.append("the graph breaks")
    if not same(compiled.value, eager.value):
        found.append(f"{compiled.value!r} is not {eager.value!r}")
    return found


RESULTS = sorted((Path(__file__).parents[2] / "matrix" / "results").glob("rules-*.json"))
# Where an example shows nothing, as its page says under "Versions".
FINE = {
    ("PTS308", "2.15"),
    ("PTS311", "2.6"),
    ("PTS335", "2.6"),
    ("PTS335", "2.9"),
    ("PTS340", "2.6"),
    ("PTS340", "2.9"),
    ("PTS342", "2.6"),
    ("PTS342", "2.9"),
    ("PTS345", "2.15"),
    ("PTS358", "2.13"),
    ("PTS358", "2.15"),
}
INSTALLED = ".".join(torch.__version__.split(".")[:2])


@pytest.mark.parametrize("rule", RULES, ids=lambda r: r.code)
def test_example_misleads_and_instead_does_not(rule: type[Rule], monkeypatch: pytest.MonkeyPatch) -> None:
    if rule.code in CUDA and not torch.cuda.is_available():
        pytest.skip("there is no GPU")
    monkeypatch.setenv("TORCHDYNAMO_DISABLE", "0")  # put back after a block that sets it
    fine = (rule.code, INSTALLED) in FINE
    assert bool(symptoms(block(rule, "Example"))) is not fine
    monkeypatch.setenv("TORCHDYNAMO_DISABLE", "0")
    assert symptoms(block(rule, "Use instead")) == []


@pytest.mark.parametrize("path", RESULTS, ids=lambda p: p.stem)
def test_every_example_was_measured_on_every_version(path: Path) -> None:
    measured = json.loads(path.read_text(encoding="utf-8"))
    version = ".".join(measured["torch"].split(".")[:2])
    missing = {rule.code for rule in RULES} - set(measured["rules"]) - CUDA
    assert not missing, "run python -m tests.rules_recompile.measure with each interpreter"
    for rule in RULES:
        if rule.code in CUDA:
            continue
        example, instead = (measured["rules"][rule.code][s] for s in ("Example", "Use instead"))
        shows = example["error"] or example["breaks"] or not example["frames"] or not example["same"]
        assert bool(shows) is ((rule.code, version) not in FINE), rule.code
        clean = instead["same"] and not instead["breaks"] and not instead["error"]
        assert bool(instead["frames"] and clean), rule.code
