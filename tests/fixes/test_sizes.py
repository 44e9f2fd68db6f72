"""Sizes and lists that are read out of tensors and need not be, under the real Dynamo."""

import pytest
import torch

from pt2lint.fixes.repairs.passed_on import as_tensor
from pt2lint.fixes.repairs.rows import looked_up
from pt2lint.fixes.rewrite import Refusal
from tests.fixes.lab import applied, calls, function_code, prove

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


ROTARY = """import torch


class Rotary(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("inv_freq", torch.linspace(1, 2, 4))

    def forward(self, seqlen: int):
        seq = torch.arange(seqlen, device=self.inv_freq.device, dtype=self.inv_freq.dtype)
        freqs = torch.outer(seq, self.inv_freq)
        return freqs


class f(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.rotary = Rotary()

    def forward(self, x: torch.Tensor, n: torch.Tensor, y: torch.Tensor):
        ids = torch.stack([n, n % 2], -1)
        # as long as it has to be
        longest = ids.max() + 1
        table = self.rotary(longest)
        return x.sum() * table[ids].flatten(1)
"""


def rows(text):
    return looked_up(code := function_code(text, "forward"), calls(code, "torch.arange"))


def test_only_the_rows_that_are_looked_up_are_computed():
    fix = rows(ROTARY)
    assert fix.waits_for_proof
    after = prove(ROTARY, fix, COUNTS)
    assert "        inv_freq = self.rotary.inv_freq\n" in after
    assert "return x.sum() * (ids.unsqueeze(-1).to(inv_freq) * inv_freq).flatten(1)\n" in after
    assert "longest =" not in after
    assert "# as long" in after
    here = "    seq = torch.arange(n.max() + 1)\n    t = torch.outer(seq, y[:2])\n    return t[n]\n"
    code = function_code(HEAD + here)
    after = applied(HEAD + here, looked_up(code, calls(code, "torch.arange")))
    assert after.endswith("    factors = y[:2]\n    return n.unsqueeze(-1).to(factors) * factors\n")
    other = ROTARY.replace("outer(seq", "einsum('i,j->ij', seq").replace("longest)", "ids.max() + 1)")
    assert "(ids.unsqueeze(-1).to(inv_freq) * inv_freq)" in applied(other, rows(other))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("table[ids]", "table[:, ids]"),
        ("table[ids]", "table[ids] + table.sum()"),
        ("table[ids]", "table[n > 1]"),
        ("self.rotary(longest)", "self.rotary(longest).cos()"),
        ("return freqs", "return freqs.cos()"),
        ("return freqs", "print(freqs)\n        return freqs"),
        ("torch.arange(seqlen", "torch.arange(1, seqlen"),
        ("dtype=self.inv_freq.dtype", "dtype=torch.float64"),
        ("torch.outer(seq, self.inv_freq)", "torch.outer(self.inv_freq, seq)"),
        ("torch.outer(seq, self.inv_freq)", "torch.outer(seq, self.inv_freq) * seq[:, None]"),
        ("self.rotary = Rotary()", "self.rotary = torch.nn.Identity()"),
        ("(self, seqlen: int)", "(self, seqlen: int, scale=1)"),
        ("ids.max() + 1", "ids.pop() + 1"),
    ],
)
def test_other_tables_are_left(old, new):
    assert old in ROTARY
    assert isinstance(rows(ROTARY.replace(old, new)), Refusal)
