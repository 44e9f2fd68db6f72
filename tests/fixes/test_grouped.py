"""Rows that are split by how many there are for each weight: every weight with all rows, under the real Dynamo."""

import libcst as cst
import pytest
import torch

from pt2lint.fixes.elsewhere import function_at
from pt2lint.fixes.repairs.grouped import every_weight
from pt2lint.fixes.rewrite import Refusal
from tests.fixes import lab

ROUTER = """import torch
import torch.nn.functional as F


class Experts(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(3, 5, 4))

    def forward(self, x, sizes):
        chunks = x.split(sizes, dim=0)
        made = []
        # one after the other
        for i in range(3):
            made.append(F.linear(chunks[i], self.weight[i]))
        results = torch.cat(made, dim=0)
        return results


class Router(torch.nn.Module):
    def forward(self, chosen: torch.Tensor):
        sizes = F.one_hot(chosen, 3).sum(0)
        sizes = sizes.tolist()
        _, order = chosen.sort(0)
        return order, sizes


class Both(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.router, self.experts = Router(), Experts()

    def forward(self, x, chosen: torch.Tensor):
        order, sizes = self.router(chosen)
        return self.experts(x[order], sizes)
"""
HERE = """import torch


class Both(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.experts = torch.nn.ModuleList(torch.nn.Linear(4, 5) for _ in range(3))

    def forward(self, x, chosen: torch.Tensor):
        order = chosen.argsort()
        sizes = torch.bincount(chosen, minlength=3).tolist()
        chunks = torch.split(x[order], sizes)
        made = []
        for rows, expert in zip(chunks, self.experts):
            made.append(expert(rows))
        return torch.cat(made)
"""


def repaired(source):
    line = next(n for n, text in enumerate(source.splitlines(), 1) if "tolist" in text)
    code = function_at("m.py", source, line)
    return every_weight(code, next(one for one in lab.nodes(code, cst.Call) if "tolist" in str(one.func)))


@pytest.mark.parametrize("source", [ROUTER, HERE], ids=["from the router", "in one function"])
def test_every_weight_is_given_all_rows(source):
    fix = repaired(source)
    assert fix.waits_for_proof
    after = lab.applied(source, fix)
    assert "tolist" not in after
    if source is ROUTER:
        assert (
            """        expert_ids = torch.repeat_interleave(sizes, output_size=x.shape[0])
        results = 0.0
        # one after the other
        for i in range(3):
            rows = (expert_ids == i)[:, None]
            results = torch.where(rows, F.linear(torch.where(rows, x, 0.0), self.weight[i]), results)
        return results
"""
            in after
        )
    else:
        assert "        inputs = x[order]\n        expert_ids =" in after
    torch.manual_seed(0)
    old = lab.load(source).Both()
    new = lab.load(after).Both()
    new.load_state_dict(old.state_dict())
    torch._dynamo.reset()
    # Dynamo has no kernel without data for bincount; what counts is what comes after it.
    compiled = torch.compile(new, backend="eager", fullgraph=source is ROUTER)
    for chosen in ([0, 2, 1, 0], [1, 1, 1, 1], [2, 0, 0, 2]):
        x = torch.randn(4, 4)
        x[1, 2] = float("inf")
        given = torch.tensor(chosen)
        torch.testing.assert_close(compiled(x, given), old(x, given), equal_nan=True)
    x, given = torch.randn(4, 4), torch.tensor([0, 0, 2, 2])
    for module in (old, new):
        module(x, given).pow(2).sum().backward()
    for one, other in zip(old.parameters(), new.parameters(), strict=True):
        torch.testing.assert_close(one.grad, other.grad)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("dim=0)\n        made = []", "dim=1)\n        made = []"),
        ("chunks[i], self", "chunks[i] + chunks[0], self"),
        ("        return results", "        return results, chunks"),
        ("        return results", "        return results[: sizes[0]]"),
        ("return order, sizes", "return order, sizes[0]"),
        ("        _, order", "        sizes = [1, 1, 2]\n        _, order"),
        ("range(3):", "range(3):\n            x = x + 1"),
        ("made = []", "made = [x]"),
    ],
)
def test_refused(old, new):
    assert ROUTER.count(old) == 1
    assert isinstance(repaired(ROUTER.replace(old, new)), Refusal)
