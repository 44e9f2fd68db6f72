"""The pytest plugin, by real runs of pytest in a project of its own: one run, which imports torch once."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
pytest_plugins = ["pytester"]

MODEL = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor):
        x = self.linear(x)
        if x.abs().max() > 10.0:
            x = x / 2
        return x + 1


class Good(nn.Module):
    def forward(self, x, scale=1):
        return x.relu() * scale


def step(x, n):
    return x + n


def broken(x):
    y = x + 1
    torch._dynamo.graph_break()
    return y * 2


def unannotated(x):
    return x.sum().item() + x
"""
TESTS = """
import logging
import os

import pytest
import torch

from model import Good, Net, broken, step, unannotated

x = torch.ones(2, 4)
module_level = torch.compile(broken, backend="eager")


def test_one_graph(compiles):
    assert compiles.in_one_graph(Good(), x, scale=2).equal(x * 2)


def test_one_graph_fails(compiles):
    compiles.in_one_graph(Net(), x)


def test_a_function_that_nothing_says_is_compiled(compiles):
    compiles.in_one_graph(unannotated, x)


def test_fullgraph_fails(compiles):
    compiles.in_one_graph(torch.compile(Net(), fullgraph=True, backend="eager"), x)


def test_two_graphs(compiles):
    compiles.in_graphs(2, Net(), x)
    compiles.in_graphs(2, module_level, x)


def test_errors_are_the_callables_own(compiles):
    with pytest.raises(TypeError):
        compiles.in_one_graph(step, x)


def test_recompilations(compiles):
    results = compiles.with_recompilations(2, step, [(x, 1), {"x": x, "n": 2}, (x, True)])
    assert [float(each[0, 0]) for each in results] == [2, 3, 2]
    assert len(compiles.with_recompilations(1, Good(), [x, torch.ones(3, 4)])) == 2


def test_recompilations_fail(compiles):
    compiles.with_recompilations(1, step, [(x, 1), (x, 2), (x, 3.5)])


@pytest.mark.compiles_in_one_graph
def test_marked(compiles):
    torch.compile(Good(), backend="aot_eager")(x)
    compiles.in_one_graph(Good(), x)


@pytest.mark.compiles_in_one_graph
@pytest.mark.parametrize("time", [1, 2])
def test_marked_fails_every_time(time):
    module_level(x)


@pytest.mark.compiles_in_one_graph
class TestClass:
    def test_in_a_class_fails(self):
        module_level(x)

    @pytest.mark.pt2lint(graph_breaks=1, graphs=2, recompilations=0)
    def test_the_nearest_marker_wins(self):
        module_level(x)


@pytest.mark.pt2lint(recompilations=0)
def test_marked_recompilation_fails():
    f = torch.compile(step, backend="eager")
    f(x, 1), f(x, 2)


@pytest.mark.compiles_in_one_graph
def test_nothing_compiled_fails():
    pass


@pytest.mark.pt2lint(graph=1)
def test_wrong_marker_fails():
    pass


@pytest.mark.compiles_in_one_graph
def test_own_failure_is_explained():
    module_level(x)
    assert x is None


def test_budget(compiles):
    compiles.within_budget("model.Net", Net(), x)


@pytest.mark.pt2lint(budget="model.Net")
def test_budget_of_a_whole_test():
    torch.compile(Net(), backend="eager")(x)


@pytest.mark.pt2lint(budget="model.step")
def test_budget_fails():
    f = torch.compile(step, backend="eager")
    f(x, 1), f(x, 2), f(x, 2.5)


def test_no_budget_fails(compiles):
    compiles.within_budget("model.Good", Good(), x)


def test_a_switch_that_turns_compiling_off_fails(compiles, monkeypatch):
    monkeypatch.setenv("TORCHDYNAMO_DISABLE", "1")
    compiles.in_one_graph(Good(), x)


def test_nothing_stays_behind():
    assert "call_user_compiler" in torch._dynamo.output_graph.OutputGraph.call_user_compiler.__qualname__
    assert not torch._logging._internal.log_state.artifact_names
    for logger in logging.root.manager.loggerDict.values():
        assert not {"debug", "info", "warning"} & set(vars(logger))
"""


@pytest.fixture(autouse=True)
def from_the_wheel(installed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What pytester runs is pt2lint as users have it."""
    monkeypatch.setattr(sys, "executable", installed)


def test_the_fixture_and_the_markers(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(model=MODEL, test_model=TESTS)
    budgets = '"model.Net" = {graphs = 2}\n"model.step" = {graphs = 3, recompilations = 1}\n'
    pytester.makepyprojecttoml(f"[tool.pt2lint.budget]\n{budgets}")
    result = pytester.runpytest_subprocess(
        "--strict-markers", "-p", "no:cacheprovider", "-rA", "-o", "addopts="
    )
    text = str(result.stdout)
    outcomes = {name: word for word, name in re.findall(r"^(PASSED|FAILED) test_model.py::(\S+)", text, re.M)}
    assert len(outcomes) == 23
    expected = {name: "FAILED" if "fail" in name else "PASSED" for name in outcomes}
    expected["test_a_function_that_nothing_says_is_compiled"] = "FAILED"
    assert outcomes == expected
    told = [
        "compiling `Net` led to 1 graph break and 2 graphs; at most 0 graph breaks and 1 graph wanted",
        "model.py:12:12: PTB110 `x.abs().max() > 10.0` makes this `if` depend on values in a tensor",
        "12 |         if x.abs().max() > 10.0:",
        "= confirmed: GB0170 Data-dependent branching",
        "compiling `Net` led to 1 graph break and 0 graphs; at most 0 graph breaks and 1 graph wanted",
        "PTB103 `x.sum().item()` moves a value from the tensor to Python",
        "compiling `step` led to 3 graphs and 2 recompilations; at most 1 recompilation wanted",
        "PTR900 `step` was recompiled 2 times",
        "compiling in this test led to 1 graph break and 2 graphs; at most 0 graph breaks wanted",
        "model.py:28:5: PTB184 `torch._dynamo.graph_break()` ends the graph",  # told by who calls it: the test
        "compiling in this test led to 2 graphs and 1 recompilation; at most 0 recompilations wanted",
        "compiling in this test led to no graph at all: Dynamo met no operation on a tensor",
        "the marker `pt2lint` takes graph_breaks, graphs, recompilations (numbers, each by its name)",
        "compiling in this test led to 3 graphs and 2 recompilations; at most 3 graphs and 1 recompilation wanted",
        "[tool.pt2lint.budget] has no `model.Good`, but model.Net, model.step",
        "TORCHDYNAMO_DISABLE in the environment switches torch.compile off",
        "Captured pt2lint call",
    ]
    for words in told:
        assert words in text, words
    failure = text.split("___ test_one_graph_fails ___")[1].split("\n____")[0]
    assert "torch.__trace" not in failure


def test_costs_nothing_where_it_is_not_used(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import sys

        def test(request):
            assert request.config.pluginmanager.has_plugin("pt2lint")
            assert sys.modules["pt2lint"].__file__.startswith(sys.prefix)
            loaded = {name for name in sys.modules if name.split(".")[0] in ("pt2lint", "torch", "libcst", "rich")}
            assert loaded == {"pt2lint", "pt2lint.integrations", "pt2lint.integrations.pytest_plugin"}
            import pt2lint.finding
            assert "@pytest_ar" not in vars(pt2lint.finding), "its assertions were rewritten"
        """
    )
    pytester.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)


def test_the_page_shows_what_there_is() -> None:
    """docs/pytest.md: its test file collects, and it names every method and limit."""
    from pt2lint.integrations.pytest_plugin import LIMITS, Compiles

    page = (Path(__file__).parents[2] / "docs" / "pytest.md").read_text(encoding="utf-8")
    for name in [name for name in vars(Compiles) if not name.startswith("_")]:
        assert f"compiles.{name}(" in page
    for name in LIMITS:
        assert name in page
    for block in re.findall(r"```python\n(.*?)```", page, re.S):
        compile(block, "docs/pytest.md", "exec")
