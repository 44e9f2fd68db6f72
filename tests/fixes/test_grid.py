"""Positions inside of images whose sizes are in a tensor: all rows at once, under the real Dynamo."""

import pytest
import torch

from pt2lint.fixes.repairs.grid import all_rows
from pt2lint.fixes.rewrite import Refusal
from tests.fixes import lab

TOWER = """import torch


class Tower(torch.nn.Module):
    merge = 2

    def positions(self, grid):
        places = []
        # one by one
        for t, h, w in grid:
            rows = torch.arange(h).unsqueeze(1).expand(-1, w)
            rows = rows.reshape(h // self.merge, self.merge, w // self.merge, self.merge)
            rows = rows.permute(0, 2, 1, 3)
            rows = rows.flatten()
            columns = torch.arange(w).unsqueeze(0).expand(h, -1)
            columns = columns.reshape(h // self.merge, self.merge, w // self.merge, self.merge)
            columns = columns.permute(0, 2, 1, 3).flatten()
            places.append(torch.stack([rows, columns], dim=-1).repeat(t, 1))
        places = torch.cat(places, dim=0)
        return places

    def forward(self, x: torch.Tensor, grid: torch.Tensor):
        places = self.positions(grid)
        return x * places.sum(1, keepdim=True)
"""
ZIPPED = """import torch


class Table(torch.nn.Module):
    def forward(self, grid, sizes) -> torch.Tensor:
        places = []
        for (t, h, w), size in zip(grid, sizes):
            rows = torch.arange(h, device=grid.device).unsqueeze(1).expand(h, w).reshape(h // size, size, w)
            columns = torch.arange(w).view(1, w).expand(h, w).reshape(h // size, size, w)
            places.append(torch.stack([rows.flatten(), columns.flatten()], dim=-1).repeat(t, 1))
        return torch.cat(places)


class Tower(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.table = Table()

    def forward(self, x: torch.Tensor, grid: torch.Tensor):
        return x * self.table(grid, torch.ones_like(grid[:, 0]) * 2)
"""


def repaired(source):
    code = lab.function_code(source, "positions" if "def positions" in source else "forward")
    return all_rows(code, lab.calls(code, "torch.arange"))


@pytest.mark.parametrize("source", [TOWER, TOWER.replace("in grid:", "in grid.tolist():"), ZIPPED])
def test_all_rows_at_once(source):
    fix = repaired(source)
    assert fix.waits_for_proof
    after = lab.applied(source, fix)
    if source == TOWER:
        assert (
            """    def positions(self, grid, num_rows=None):
        # one by one
        merge = self.merge
        t, h, w = grid.unbind(1)
        counts = t * h * w
        image = torch.repeat_interleave(counts, output_size=num_rows)
        place = torch.arange(image.shape[0], device=grid.device) - (counts.cumsum(0) - counts)[image]
        t, h, w = grid[image].unbind(1)
        place = place % (h * w)
        rows = place // (w * merge) * merge + place // merge % merge
        columns = place // (merge * merge) % (w // merge) * merge + place % merge
        places = torch.stack([rows, columns], dim=-1)
        return places
"""
            in after
        )
        assert "places = self.positions(grid, x.shape[0])" in after
    old, new = lab.load(source).Tower(), lab.load(after).Tower()
    torch._dynamo.reset()
    compiled = torch.compile(new, backend="eager", fullgraph=True)
    for grid in ([[1, 4, 6], [2, 2, 8]], [[3, 2, 4], [1, 4, 8]], [[7, 2, 4]]):
        sizes = torch.tensor(grid)
        x = torch.randn(int(sizes.prod(1).sum()), 2)
        assert compiled(x, sizes).equal(old(x, sizes))
        assert new(x, sizes).equal(old(x, sizes))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("w // self.merge, self.merge)\n            rows = rows.p", "w)\n            rows = rows.p"),
        ("        return places", "        return places, h"),
        ("places.append(torch.stack([rows, columns], dim=-1).repeat(t, 1))", "places.append(repeat(rows, t))"),
        ("for t, h, w in grid", "for t, *hw in grid"),
        ("for t, h, w in grid", "for t, h, w in tolist()"),
        ("torch.arange(h).unsqueeze(1)", "torch.arange(h).unsqueeze()"),
        ("rows = rows.flatten()", "rows = rows.flatten() + t.sqrt()"),
        ("torch.arange(w)", "torch.arange(1, w)"),
        ("torch.stack([rows, columns], dim=-1)", "torch.stack([rows, columns])"),
        ("            places.append(", "            print(h)\n            places.append("),
        ("x: torch.Tensor, grid", "grid"),
        ("places = self.positions(grid)\n", "places = 1\n"),
    ],
)  # fmt: skip
def test_refused(old, new):
    assert TOWER.count(old) == 1
    assert isinstance(repaired(TOWER.replace(old, new)), Refusal)


def test_another_order_of_dimensions():
    other = TOWER.replace("permute(0, 2, 1, 3)", "permute(2, 0, 3, 1)")
    after = lab.applied(other, repaired(other))
    sizes = torch.tensor([[1, 4, 6], [2, 2, 8]])
    x = torch.randn(56, 2)
    assert lab.load(after).Tower()(x, sizes).equal(lab.load(other).Tower()(x, sizes))
