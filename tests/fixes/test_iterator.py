"""A list in the place of an iterator that has to outlive a graph break, where it gives the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from pt2lint.static.engine import lint
from tests.linting import findings

CODE = """
import itertools
import torch

layer = torch.nn.Linear(4, 4)

def part(y, rows):
    print()
    return y + sum(row.sum() for row in rows)

@torch.compile
def f(x: torch.Tensor, rows):
    y = torch.relu(x)
    {body}
"""


@pytest.mark.parametrize(
    ("body", "offered"),
    [
        ("return part(y, layer.parameters())", ["list(layer.parameters())"]),
        (
            "return part(y, itertools.chain([x], layer.buffers()))",
            ["list(itertools.chain([x], layer.buffers()))"],
        ),
        ("held = layer.parameters()\n    print()\n    return part(y, held)", ["list(layer.parameters())"]),
        # which may have no end, and which is empty the second time
        ("return part(y, itertools.chain([x], rows))", []),
        ("return part(y, itertools.chain([x], itertools.count()))", []),
        ("held = layer.parameters()\n    print()\n    return part(y, held) + part(y, held)", []),
    ],
)
def test_a_list_is_offered_where_it_gives_the_same(tmp_path: Path, body: str, offered: list[str]) -> None:
    path = tmp_path / "m.py"
    path.write_text(CODE.format(body=body))
    findings = [f for f in lint([str(path)]).findings if f.code == "PTB197"]
    assert len(findings) == 1
    assert [edit.text for fix in findings[0].fixes for edit in fix.edits] == offered


@pytest.mark.parametrize(
    "made", ["list(layer.parameters())", "[*layer.parameters()]", "dict(layer.named_parameters())"]
)
def test_what_is_gone_over_at_once_outlives_the_break(made: str) -> None:
    assert "PTB197" not in [f.code for f in findings(CODE.format(body=f"return part(y, {made})"))]
