"""All rules: their names and pages, and that what they declare exists."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pt2lint.rule import GraphBreak, Rule
from pt2lint.rule.loader import load_rules, never
from pt2lint.static.engine import lint
from tests.rules.cases import blocks

RULES = load_rules()
BREAKS = [rule for rule in RULES if issubclass(rule, GraphBreak)]


def by_name(rule: type[Rule]) -> str:
    return rule.name


@pytest.mark.parametrize("rule", RULES, ids=by_name)
def test_declares_what_exists(rule: type[Rule]) -> None:
    assert re.fullmatch(r"PT[BRS]\d{3}", rule.code)
    assert Path(inspect.getfile(rule)).stem == rule.name.replace("-", "_")
    assert rule.ops
    assert [op for op in rule.ops if never(op) is not None] == []
    assert len(set(rule.ops)) == len(rule.ops)
    assert all(re.fullmatch(r"GB\d{4}", id) for id in rule.graph_breaks)


@pytest.mark.parametrize("rule", RULES, ids=by_name)
def test_page_has_its_sections(rule: type[Rule]) -> None:
    page = rule.page()
    headings = ["## What happens", "## Example", "## Use instead", "## Versions"]
    assert [line for line in page.help.splitlines() if line.startswith("## ")] == headings
    assert len(blocks(rule, "Example")) == len(blocks(rule, "Use instead")) == 1
    assert page.summary.endswith(".")
    assert [id for id in rule.graph_breaks if id not in page.help] == []  # the page names them


def test_names_are_unique() -> None:
    assert len({rule.name for rule in RULES}) == len(RULES)


@pytest.mark.parametrize("rule", BREAKS, ids=by_name)
def test_repairs_and_cases(rule: type[GraphBreak]) -> None:
    for name in rule.repairs:
        assert callable(importlib.import_module(f"pt2lint.fixes.repairs.{name}").fixes)
    assert rule.says == "" or "{code}" in rule.says
    assert rule.VALID or rule.INVALID or rule.code == "PTB184"


def said(body: str, target: tuple[int, int], imports: str = "") -> list[str]:
    parameters = "x: torch.FloatTensor, m: torch.BoolTensor, i: torch.LongTensor"
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    text = f"import torch\n{imports}\n@torch.compile\ndef f({parameters}):\n{lines}"
    settings = SimpleNamespace(target_torch=target)
    return [finding.code for finding in lint(["case.py"], settings, {"case.py": text}).findings]


@pytest.mark.parametrize(
    ("body", "imports", "code", "breaks"),
    [
        # Measured on torch 2.6, 2.9, 2.13 and 2.15, in this order.
        ("return torch.split(x, i.tolist())", "", "PTB105", (False, False, True, True)),
        ("return x + x[0].tolist()[0]", "", "PTB105", (True, True, True, True)),
        ("return x + copy.deepcopy([1, 2])[0]", "import copy", "PTB130", (True, True, False, False)),
        ("return copy.deepcopy(x)", "import copy", "PTB130", (True, True, True, True)),
        ("return x + random.random()", "import random", "PTB141", (True, True, True, False)),
        ("return x + random.choice([1, 2])", "import random", "PTB141", (True, True, True, True)),
        ("return x + len(re.sub('a', 'b', 'aa'))", "import re", "PTB185", (True, False, False, False)),
        ("return torch.combinations(i).sum() + x", "", "PTB121", (True, True, True, False)),
        ("return x.to_sparse().to_dense()", "", "PTB170", (False, True, True, True)),
        ("return x.to_sparse_csr() @ x", "", "PTB170", (False, True, True, True)),
        ("torch.cuda.manual_seed(0)\nreturn x + 1", "", "PTB151", (False, False, True, True)),
    ],
)
def test_silent_where_a_version_does_not_break(
    body: str, imports: str, code: str, breaks: tuple[bool, ...]
) -> None:
    targets = ((2, 6), (2, 9), (2, 13), (2, 15))
    assert tuple(code in said(body, target, imports) for target in targets) == breaks


@pytest.mark.parametrize(
    ("body", "where", "part"),
    [
        ("for _ in range(2):\n    print(1)\n    x = x + 1\nreturn x", "a loop", "whole"),
        (
            "try:\n    x = x + x.sum().item()\nexcept RuntimeError:\n    pass\nreturn x",
            "a `try`",
            "rest of the",
        ),
    ],
)
def test_says_where_a_break_costs_more_of_its_function(body: str, where: str, part: str) -> None:
    text = f"import torch\n@torch.compile\ndef f(x: torch.Tensor):\n    {body.replace(chr(10), chr(10) + '    ')}\n"
    (finding,) = lint(["case.py"], SimpleNamespace(target_torch=(2, 13)), {"case.py": text}).findings
    assert finding.severity == "error"
    assert finding.message.endswith(f"inside {where} Dynamo then gives up the {part} function")


def test_says_where_a_break_costs_the_function_that_calls() -> None:
    text = """
import torch

class Block(torch.nn.Module):
    def forward(self, x):
        print(x)
        return x

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = torch.nn.ModuleList([Block(), Block()])

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x
"""
    settings = SimpleNamespace(target_torch=(2, 13))
    (finding,) = lint(["case.py"], settings, {"case.py": text}).findings
    assert finding.severity == "error"
    assert finding.message.endswith(
        "called inside a loop of `Model.forward`, which Dynamo then gives up as a whole"
    )


SOLVER = """
import torch

class Solver:
    def __init__(self, rate):
        self.rate = rate

    def run(self, x):
        print("a step")
        return x * self.rate

    def __call__(self, x):
        return self.run(x)

class Other(Solver):
    pass

KINDS = {"one": Solver, "other": Other}
kept = Solver(2)

def passed(solver, x):
    return solver.run(x)

def f(x: torch.Tensor):
    BODY
"""


@pytest.mark.parametrize(
    ("body", "left"),
    [
        ("return Solver(2).run(x.sin()) + 1", True),
        ("solver = Solver(2)\n    return solver.run(x.sin()) + 1", True),
        ("solver = KINDS['other'](2)\n    return solver.run(x.sin()) + 1", True),
        ("return Solver(2)(x.sin()) + 1", False),
        ("return kept.run(x.sin()) + 1", False),
        ("return passed(Solver(2), x.sin()) + 1", False),
        ("solver = Solver(2)\n    n = x.sum().item()\n    return solver.run(x.sin()) + n", False),
    ],
)
def test_a_method_of_what_a_function_makes_leaves_it_to_python(body: str, left: bool) -> None:
    text = SOLVER.replace("BODY", body)
    found = lint(
        ["m.py"], SimpleNamespace(target_torch=(2, 13)), {"m.py": f"{text}\ntorch.compile(f)\n"}
    ).findings
    (said,) = [finding for finding in found if finding.code == "PTB101"]
    assert ("called on an object made in `f`, which Dynamo then gives up" in said.message) is left
    assert (said.severity == "error") is left
    assert bool(computed_by(text, "sin")) is not left


def computed_by(text: str, name: str) -> list[str]:
    """The graphs in which a function of the code is, once `f` is compiled and called."""
    import torch

    made: dict[str, Any] = {}
    exec(text, made)
    graphs: list[str] = []

    def backend(graph: Any, _: Any) -> Any:
        graphs.append(str(graph.graph))
        return graph

    torch._dynamo.reset()
    torch.compile(made["f"], backend=backend)(torch.ones(4))
    return [graph for graph in graphs if name in graph]
