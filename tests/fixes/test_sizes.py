"""Sizes and lists that are read out of tensors and need not be, under the real Dynamo."""

import libcst as cst
import pytest
import torch

from pt2lint.fixes.purity import callee
from pt2lint.fixes.repairs.bounds import at_most_rows
from pt2lint.fixes.repairs.passed_on import as_tensor
from pt2lint.fixes.repairs.ragged import at_once
from pt2lint.fixes.repairs.rows import looked_up
from pt2lint.fixes.repairs.uncut import whole
from pt2lint.fixes.repairs.unique_rows import of_one_width
from pt2lint.fixes.rewrite import Refusal
from tests.fixes.lab import applied, calls, function_code, nodes, prove

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


def repeated(text):
    code = function_code(HEAD + text)
    return at_once(code, next(one for one in nodes(code, cst.Call) if callee(one) == "repeat"))


REPEATED = [
    (
        "    t = torch.cat([x[i, 1].repeat(n[i]) for i in range(len(n))]).to(y.dtype)\n    return (y + 0.5) / t\n",
        "t = x[torch.repeat_interleave(n, output_size=y.shape[0]), 1].to(y.dtype)",
    ),
    (
        "    h = y[:, None]\n    t = torch.cat([x[i].repeat(n[i], 1) for i in range(len(x))], 0)\n    return t * -h\n",
        "t = x[torch.repeat_interleave(n, output_size=h.shape[0])]",
    ),
]


@pytest.mark.parametrize(("text", "made"), REPEATED)
def test_rows_are_repeated_at_once(text, made):
    fix = repeated(text)
    assert fix.waits_for_proof
    assert made in prove(HEAD + text, fix, COUNTS)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("range(len(n))", "range(2)"),
        ("range(len(n))", "range(len(y))"),
        ("range(len(n))", "range(len(n)) if i"),
        ("n[i]", "n[i] + 1"),
        ("n[i]", "n[0]"),
        ("x[i, 1]", "x[i, i]"),
        ("x[i, 1]", "x[1]"),
        ("repeat(n[i])", "repeat(n[i], 2)"),
        ("(y + 0.5)", "(y + x.sum())"),
        ("(y + 0.5)", "y[0]"),
        ("(y + 0.5) / t", "y, t"),
        ("torch.cat", "torch.stack"),
    ],
)
def test_other_rows_are_left(old, new):
    text = REPEATED[0][0]
    assert old in text
    assert isinstance(repeated(text.replace(old, new)), Refusal)


CUT = """\
    ids = n % 3
    last = ids.max().item()
    end = -(-(last + 1) // 1)
    # as far as asked for
    both = [x, x * 2]
    rows = torch.cat([one[:end] for one in both], dim=-1)
    rows = rows.reshape(-1, rows.shape[-1])
    rows = rows.index_select(0, ids)
    return rows
"""


def test_a_table_is_looked_up_whole():
    after = prove(HEAD + CUT, repaired(whole, CUT, "ids.max().item"), COUNTS)
    assert "    rows = torch.cat(both, dim=-1)\n" in after
    assert "last" not in after
    assert "# as far" in after


def test_other_bounds_are_cut_off():
    text = "    k = n.max()\n    return (x[None, : k + 1, :1][0])[n]\n"
    inside = [[X, torch.tensor(ids), Y] for ids in ([0, 2], [1, 1], [2])]
    assert "return (x[None, :, :1][0])[n]" in prove(HEAD + text, repaired(whole, text, "n.max"), inside)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("index_select(0, ids)", "sum() + ids"),
        ("index_select(0, ids)", "index_select(0, ids) + rows.sum()"),
        ("index_select(0, ids)", "index_select(0, n)"),
        ("return rows", "return both, end"),
        ("    rows = rows.index", "    ids = ids + 1\n    rows = rows.index"),
        ("one[:end]", "one[1:end]"),
        ("one[:end]", "one[:end:2]"),
        ("one[:end]", "one[:end] * end"),
        ("ids.max()", "ids.min()"),
        ("    both", "    end = 2\n    both"),
    ],
)
def test_other_cuts_are_left(old, new):
    assert old in CUT
    text = CUT.replace(old, new)
    assert isinstance(repaired(whole, text, f"{'ids.min' if 'min' in new else 'ids.max'}().item"), Refusal)


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


BOUNDS = (
    HEAD.replace(
        "def f",
        """def attend(x, bounds):
    lengths = bounds[1:] - bounds[:-1]
    which = torch.repeat_interleave(lengths, output_size=x.shape[0])
    return x.cumsum(0) * (which[:, None] == which).sum(0)


def f""",
    )
    + """\
    # each part so often
    bounds = torch.repeat_interleave(n[:, 1] * n[:, 2], n[:, 0]).cumsum(
        dim=0,
        dtype=torch.int32,  # as kernels ask for
    )
    bounds = torch.nn.functional.pad(bounds, (1, 0))
    now = bounds
    return attend(y, bounds=now) * x.sum()
"""
)
PARTS = [[X, torch.tensor(parts), Y] for parts in ([[1, 2, 3]], [[2, 1, 2], [1, 2, 1]], [[6, 1, 1]])]


def bounded(text):
    code = function_code(text)
    found = [one for one in nodes(code, cst.Call) if callee(one) == "repeat_interleave"]
    return at_most_rows(code, found[0])


@pytest.mark.parametrize(
    ("old", "new", "count"),
    [
        ("", "", "y.shape[0]"),
        (
            "torch.repeat_interleave(n[:, 1] * n[:, 2], ",
            "(n[:, 1] * n[:, 2]).repeat_interleave(",
            "y.shape[0]",
        ),
        ("    now =", "    z = torch.clone(y)\n    now =", "y.shape[0]"),
    ],
)
def test_bounds_are_as_many_as_rows(old, new, count):
    text = BOUNDS.replace(old, new).replace("attend(y", "attend(z" if "z =" in new else "attend(y")
    after = prove(text, fix := bounded(text), PARTS)
    assert fix.waits_for_proof
    assert f"torch.arange({count}, device=times.device)\n" in after
    assert "    bounds = lengths.cumsum(\n" in after
    assert "# each part" in after
    assert "# as kernels" in after


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("n[:, 0])", "n[:, 0], dim=0)"),
        ("n[:, 0])", "n.pop())"),
        (".cumsum(", ".add("),
        ("attend(y, bounds=now)", "attend(bounds, bounds=now)"),
        ("attend(y, bounds=now)", "attend(bounds=now)"),
        ("attend(y, bounds=now)", "attend(y * 2, bounds=now)"),
        ("    now = bounds\n    return attend(y", "    z = y * 2\n    now = bounds\n    return attend(z"),
    ],
)
def test_other_bounds_are_left(old, new):
    assert old in BOUNDS
    assert isinstance(bounded(BOUNDS.replace(old, new)), Refusal)


OWN = (
    HEAD.replace("import torch\n", "import torch\nfrom torch.nn.utils.rnn import pad_sequence\n", 1)
    + """\
    # each once
    own = [torch.unique(t, sorted=True) for t in torch.unbind(n)]
    ids = pad_sequence(own, batch_first=True, padding_value=-1)
    return (ids * 2 * (ids != -1)).sum(1) * x.sum()
"""
)
IDS = [
    [X, torch.tensor(ids), Y] for ids in ([[3, 1, 3], [2, 2, 2]], [[1, 2, 3]], [[0, 5, 0, 5], [4, 0, 2, 4]])
]


def own_values(text):
    code = function_code(text)
    return of_one_width(code, calls(code, "torch.unique"))


@pytest.mark.parametrize(
    ("old", "new"),
    [("", ""), ("torch.unbind(n)", "n"), ("torch.unbind(n)", "n.unbind()"), (", sorted=True", "")],
)
def test_own_values_of_rows_are_of_one_width(old, new):
    text = OWN.replace(old, new)
    fix = own_values(text)
    assert fix.waits_for_proof
    after = prove(text, fix, IDS)
    assert "# each once\n    if torch.compiler.is_compiling():\n" in after
    assert "ids = ordered.masked_fill(repeated, -1)\n" in after


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("sorted=True", "return_inverse=True"),
        ("torch.unbind(n)", "torch.unbind(n, 1)"),
        ("torch.unbind(n)", "n.flip(0).split(1)"),
        ("batch_first=True, ", ""),
        ("return ", "return len(own) * "),
        ("    ids =", "    y = x\n    ids ="),
    ],
)
def test_other_values_are_left(old, new):
    assert old in OWN
    assert isinstance(own_values(OWN.replace(old, new)), Refusal)
