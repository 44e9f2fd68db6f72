"""Experts in a loop, each given all rows, under the real Dynamo."""

import libcst as cst
import pytest
import torch

from pt2lint.fixes.repairs.experts import fixes
from tests.fixes import lab

HEAD = """import torch
from torch.nn.functional import one_hot


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.experts = torch.nn.ModuleList([torch.nn.Linear(5, 5) for _ in range(4)])
        self.gate = torch.nn.Linear(5, 4)

    def forward(self, x):
        scores = self.gate(x).softmax(-1)
        weights, top = scores.topk(2)
        best = scores.argmax(-1)
        out = torch.zeros_like(x)
"""
PLACES = """mask = one_hot(top, num_classes=4).permute(2, 1, 0)
found = mask.sum(dim=(-1, -2)).gt(0).nonzero()
for i in found:
    {index}
    slots, rows = torch.where(mask[i]{squeezed})
    # what chose it
    part = x[None, rows].reshape(-1, 5)
    part = self.experts[i](part) * weights[rows, slots, None]
    out.index_add_(0, rows, part.to(x.dtype))
"""
WAYS = {
    "where": """for i, expert in enumerate(self.experts):
    rows, slots = torch.where(top == i)
    if rows.numel() == 0:
        continue
    out[rows] += weights[rows, slots, None] * expert(x[rows])
""",
    "nonzero": """for i in range(len(self.experts)):
    rows, slots = torch.nonzero(top == i, as_tuple=True)
    part = self.experts[i](x[rows, :])
    out[rows] += (weights[rows, slots] * part.T).T
""",
    "counted": """counts = torch.bincount(top.flatten(), minlength=4).tolist()
for i, expert in enumerate(self.experts):
    if counts[i] == 0:
        continue
    rows, slots = torch.where(top == i)
    out[rows] += expert(x[rows]) * weights[rows, slots, None]
""",
    "places": PLACES.format(index="pass", squeezed=".squeeze(0)"),
    "places as numbers": PLACES.format(index="i = i[0]", squeezed=""),
    "places by numbers of another name": PLACES.replace("for i in found", "for place in found").format(
        index="i = int(place.item())", squeezed=".squeeze(0)"
    ),
    "places in a row": PLACES.replace(".nonzero()", ".nonzero(as_tuple=False).view(-1)").format(
        index="pass", squeezed=""
    ),
    "places without gradients": PLACES.replace(
        "    slots, rows = torch.where(mask[i]{squeezed})",
        "    with torch.no_grad():\n        slots, rows = torch.where(mask[i])",
    ).format(index="i = i[0]"),
    "places by number": PLACES.format(index="pass", squeezed=".squeeze(0)").replace(
        "self.experts[i]", "getattr(self.experts, f'{i[0]}')"
    ),
    "mask": """for i, expert in enumerate(self.experts):
    mask = best == i
    if mask.any():
        # what chose it
        out[mask] = expert(x[mask]) * scores[mask, i, None]
""",
    "mask, not asked": """for i, expert in enumerate(self.experts):
    mask = best == i
    part = x[mask]
    out[mask] += expert(part)
""",
}


def model(text):
    return (
        HEAD
        + "".join(f"        {line}\n" for line in text.strip().split("\n") if line.strip() != "pass")
        + "        return out\n"
    )


def repaired(source):
    """The one fix, at whatever asks for it."""
    code = lab.function_code(source, "forward")
    found = {
        fix: None
        for one in (*lab.nodes(code, cst.Call), *lab.nodes(code, cst.Subscript))
        for fix in fixes(code, one)
    }
    return list(found)


@pytest.mark.parametrize("way", WAYS)
def test_all_rows(way):
    source = model(WAYS[way])
    [fix] = repaired(source)
    assert fix.waits_for_proof
    after = lab.applied(source, fix)
    for comment in ("# what chose it",):
        assert (comment in after) == (comment in source)
    assert "nonzero" not in after
    assert "bincount" not in after
    old, new = (lab.load(text).Model() for text in (source, after))
    new.load_state_dict(old.state_dict())
    torch._dynamo.reset()
    compiled = torch.compile(new, backend="eager", fullgraph=True)
    for number in range(3):
        x = torch.randn(6, 5, generator=torch.Generator().manual_seed(number))
        # With a row that is NaN in the last turn: gradients of what it did not choose stay finite.
        x[0, 0] = torch.nan if number == 2 else 1.0
        results = []
        for one in (old, new, compiled):
            one.zero_grad()
            given = x.clone().requires_grad_()
            value = one(given)
            value[1:].sum().backward()
            results.append([value, given.grad, *(p.grad for p in one.parameters())])
        for other in results[1:]:
            for a, b in zip(results[0], other, strict=True):
                if a is not None or b is not None:
                    torch.testing.assert_close(b, torch.zeros_like(b) if a is None else a, equal_nan=True)


@pytest.mark.parametrize(
    ("way", "old", "new"),
    [
        ("where", "enumerate(self.experts)", "self.pairs"),
        ("where", "expert(x[rows])", "expert(x[rows], rows)"),
        ("where", "expert(x[rows])", "expert(x[rows + 1])"),
        ("where", "out[rows] +=", "out[rows] ="),
        ("where", "expert(x[rows])\n", "expert(x[rows])\n    x = x[rows]\n"),
        ("places", "found = mask", "found = other"),
        ("places", "for i in found", "print(found)\nfor i in found"),
        ("places as numbers", "i = i[0]", "i = i[0] + 1"),
        ("places", "self.experts[i](part)", "self.experts[i](part) + i.sum()"),
        ("mask", "x[mask])", "x[mask], mask)"),
        ("mask", "    if mask.any()", "    if best.any()"),
        ("mask, not asked", "expert(part)\n", "expert(part)\n    print(mask)\n"),
        ("mask, not asked", "expert(part)\n", "part\n    best = torch.max(out, -1)[1]\n"),
    ],
)
def test_refused(way, old, new):
    assert old in WAYS[way]
    assert not repaired(model(WAYS[way].replace(old, new)))
