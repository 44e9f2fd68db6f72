"""Sizes and lists that are read out of tensors and need not be, under the real Dynamo."""

import pytest
import torch

from pt2lint.fixes.kinds import guess
from pt2lint.fixes.repaired import Refusal
from pt2lint.fixes.repairs.passed_on import as_tensor
from pt2lint.fixes.repairs.sized import inferred
from tests.fixes.lab import calls, function_code, prove

HEAD = """import torch


def scaled(x, sizes):
    if isinstance(sizes, list):
        sizes = torch.tensor(sizes)
    return x * sizes.sum()


def f(x: torch.Tensor, n: torch.Tensor, y: torch.Tensor):
"""
X, Y = torch.randn(3, 2, requires_grad=True), torch.randn(6, requires_grad=True)
COUNTS = [[X, torch.tensor(counts), Y] for counts in ([1, 2, 3], [0, 6, 0], [3, 2, 1])]


def repaired(repair, text, call):
    return repair(code := function_code(HEAD + text), calls(code, call))


PASSED = "    sizes = (n[1:] - n[:-1]).tolist()\n    return scaled(x, sizes) + scaled(x, sizes=sizes)\n"


def test_a_tensor_is_passed_on():
    after = prove(HEAD + PASSED, repaired(as_tensor, PASSED, "(n[1:] - n[:-1]).tolist"), COUNTS)
    assert "    sizes = n[1:] - n[:-1]\n" in after


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("scaled(x, sizes)", "x * sum(sizes)"),
        ("scaled(x, sizes)", "x.view(sizes)"),
        ("scaled(x, sizes)", "torch.tensor(sizes)"),
        ("scaled(x, sizes)", "scaled(2, sizes)"),
        ("scaled(x, sizes)", "y.other(x, sizes)"),
        ("scaled(x, sizes)", "scaled(x, *sizes)"),
        ("scaled(x, sizes)", "sizes[0] * x"),
        ("    return", "    sizes = 2\n    return"),
    ],
)
def test_other_lists_are_left(old, new):
    assert old in PASSED
    text = PASSED.replace(old, new)
    assert isinstance(repaired(as_tensor, text, "(n[1:] - n[:-1]).tolist"), Refusal)


@pytest.mark.parametrize("size", ["-1", "(-1  # the rest\n    )", "*x.shape[1:]"])
def test_a_size_is_left_to_torch_once(size):
    for sizes in (f"n[0] * 1, {size}", f"({size}, n[0] * 1)"):
        code = function_code(HEAD + f"    return x.view({sizes})\n")
        assert isinstance(inferred(code, calls(code, "x.view"), guess(code)), Refusal)


def test_a_size_among_starred_ones_stays():
    code = function_code(HEAD + "    return x.view((2, *n))\n")
    assert isinstance(inferred(code, calls(code, "x.view"), guess(code)), Refusal)
