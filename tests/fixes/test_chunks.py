"""Attention over chunks one by one, under the real Dynamo."""

import pytest
import torch

from pt2lint.fixes.repairs.chunks import one_attention
from pt2lint.fixes.rewrite import Refusal
from tests.fixes.lab import calls, function_code, prove

HEAD = """import torch
import torch.nn.functional as F


def attend(q, k, v, attention_mask=None, is_causal=False):
    scores = q @ k.transpose(-1, -2)
    if attention_mask is not None:
        scores = scores + attention_mask
    weights = scores.softmax(-1)
    return (weights @ v).transpose(1, 2), weights.sum(-1).sum()


def f(x: torch.Tensor, sizes: torch.Tensor):
    q, k, v = x, x * 2, x - 1
"""
IN_LIST = """\
    # one by one
    parts = [torch.split(t, sizes.tolist(), dim=2) for t in (q, k, v)]

    outs = [
        attend(
            a,
            b,
            c,
            attention_mask=None,  # each sees itself
        )[0]
        for a, b, c in zip(*parts)
    ]
    out = torch.cat(outs, dim=1)
    return out * 2
"""
IN_LOOP = """\
    lengths = sizes.tolist()
    qs = q.split(lengths, 2)
    ks = k.split(lengths, 2)
    vs = v.split(lengths, 2)
    outs, sums = [], []
    for a, b, c in zip(qs, ks, vs):
        out, weight = attend(a, b, c, attention_mask=None, is_causal=False)
        outs.append(out)
        sums.append(weight)
    out = torch.cat(outs, 1)
    return out
"""
OF_TORCH = """\
    lengths = sizes.tolist()
    parts = [t.split(lengths, dim=-2) for t in [q, k, v]]
    outs = []
    for a, b, c in zip(*parts):
        outs.append(F.scaled_dot_product_attention(a, b, c, scale=0.5))
    outs = torch.cat(outs, dim=-2)
    return outs
"""
AT_ONCE = """\
    lengths = sizes.tolist()
    qs = torch.split(q, lengths, 2)
    ks = torch.split(k, lengths, 2)
    vs = torch.split(v, lengths, 2)
    out = torch.cat([F.scaled_dot_product_attention(a, b, c) for a, b, c in zip(qs, ks, vs)], dim=2)
    return out
"""
X = torch.randn(1, 2, 6, 4, generator=torch.Generator().manual_seed(0), requires_grad=True)
EACH_ITS_OWN = """\
    qs = q.split(sizes.tolist(), 2)
    ks = k.split(sizes.tolist(), dim=2)
    vs = torch.split(v, sizes.tolist(), 2)
    out = torch.cat([F.scaled_dot_product_attention(a, b, c) for a, b, c in zip(qs, ks, vs)], dim=2)
    return out
"""
SIZES = [torch.tensor(one) for one in ([2, 4], [6], [1, 2, 3], [3, 0, 3])]


def repaired(text):
    return one_attention(code := function_code(HEAD + text), calls(code, "sizes.tolist"))


def test_masked_in_a_list():
    after = prove(HEAD + IN_LIST, repaired(IN_LIST), [[X, sizes] for sizes in SIZES])
    assert (
        after.removeprefix(HEAD)
        == """\
    # one by one
    chunk_ids = torch.repeat_interleave(sizes, output_size=q.shape[2])
    same_chunk = chunk_ids[:, None] == chunk_ids
    chunk_mask = torch.where(same_chunk, 0.0, float("-inf")).to(q.dtype)[None, None]

    out = attend(
        q,
        k,
        v,
        attention_mask=chunk_mask,  # each sees itself
    )[0]
    return out * 2
"""
    )


@pytest.mark.parametrize(
    ("text", "made"),
    [
        (IN_LOOP, "out, sums = attend(q, k, v, attention_mask=chunk_mask, is_causal=False)\n    return out"),
        (
            OF_TORCH,
            "attention(q, k, v, attn_mask=chunk_ids[:, None] == chunk_ids, scale=0.5)\n    return outs",
        ),
        (EACH_ITS_OWN, "attention(q, k, v, attn_mask=chunk_ids[:, None] == chunk_ids)\n    return out"),
        (AT_ONCE, "attention(q, k, v, attn_mask=chunk_ids[:, None] == chunk_ids)\n    return out"),
    ],
)
def test_masked_in_other_ways(text, made):
    after = prove(HEAD + text, repaired(text), [[X, SIZES[2]]])
    assert "lengths" not in after
    assert made in after


REFUSED = [
    (IN_LIST, ")[0]\n", ")[0] * a\n"),
    (IN_LIST, "attention_mask=None,", "attention_mask=x,"),
    (IN_LIST, "attention_mask=None,", "is_causal=False,"),
    (IN_LIST, "attention_mask=None,", "attention_mask=None, is_causal=True,"),
    (IN_LIST, "zip(*parts)", "zip(*parts) if a.sum() > 0"),
    (IN_LIST, "zip(*parts)", "zip(parts[0], parts[1], parts[0])"),
    (IN_LIST, "return out * 2", "return out * 2, parts"),
    (IN_LIST, "return out * 2", "return out * 2, outs"),
    (IN_LIST, "torch.cat(outs", "torch.stack(outs"),
    (IN_LIST, "\n\n    outs", "\n    q = q + 1\n    outs"),
    (IN_LIST, "dim=2)", "dim=x.dim() - 2)"),
    (IN_LIST, "torch.split", "attend"),
    (IN_LOOP, "return out", "return out, a"),
    (IN_LOOP, "        sums.append(weight)", "        sums.append(weight)\n        print(weight)"),
    (IN_LOOP, "outs, sums = [], []", "outs, sums = [], [1]"),
    (IN_LOOP, "outs, sums = [], []", "outs, sums, more = [], [], []"),
    (IN_LOOP, "(qs, ks, vs)", "(qs, ks)"),
    (IN_LOOP, "ks = k.split(lengths, 2)", "ks = k.split(lengths, 1)"),
    (EACH_ITS_OWN, "ks = k.split(sizes", "ks = k.split(x.shape"),
    (EACH_ITS_OWN, "dim=2)\n    vs", "dim=1)\n    vs"),
    (EACH_ITS_OWN, "    return out", "    return out, ks"),
    (EACH_ITS_OWN, "    ks = k", "    sizes = sizes.flip(0)\n    ks = k"),
    (EACH_ITS_OWN, "    out = torch", "    v = q\n    out = torch"),
    (EACH_ITS_OWN, "(qs, ks, vs)", "(qs, ks, x)"),
    (OF_TORCH, "scale=0.5))", "scale=0.5))\n        print(a)"),
    (OF_TORCH, "scale=0.5", "is_causal=True"),
    (OF_TORCH, "(a, b, c, ", "(a, b, c, None, "),
]


@pytest.mark.parametrize(("text", "old", "new"), REFUSED)
def test_other_loops_are_left(text, old, new):
    assert old in text
    assert isinstance(repaired(text.replace(old, new, 1)), Refusal)
