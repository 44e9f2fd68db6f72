"""Inputs made up for a module: searched on fake tensors first."""

from __future__ import annotations

import os
from typing import Any

import pytest

from tests.dynamic.conftest import needs_torch

pytestmark = needs_torch


@pytest.fixture
def seen() -> list[tuple[str, tuple[int, ...]]]:
    """(kind of tensor, shape) of each call of the modules below in this process."""
    return []


def modules(seen: list[tuple[str, tuple[int, ...]]]) -> Any:
    import torch

    class Attention(torch.nn.Module):
        def __init__(self, dim: int) -> None:
            super().__init__()
            self.mix = torch.nn.MultiheadAttention(dim, 2, batch_first=True)
            self.used = False

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            seen.append((type(x).__name__, tuple(x.shape)))
            self.used = True
            batch, length, width = x.shape
            out: torch.Tensor = self.mix(x, x, x)[0]
            return out.reshape(batch, length * width)

    class ReadsValues(Attention):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return super().forward(x) * x.max().item()

    return Attention, ReadsValues


def test_shapes_are_searched_on_fake_tensors(seen: list[tuple[str, tuple[int, ...]]]) -> None:
    from pt2lint.dynamic.child.made_up import made_for_class

    attention, _ = modules(seen)
    target = made_for_class("Attention", attention)
    assert target is not None
    assert seen == [("Tensor", (2, 5, 8))]  # many shapes come before it
    assert not target.function.used  # type: ignore[attr-defined]
    assert target.how == "made-up inputs: x float32[2, 5, 8], dim=8"


def test_what_reads_values_is_searched_on_real_tensors(seen: list[tuple[str, tuple[int, ...]]]) -> None:
    from pt2lint.dynamic.child.made_up import made_for_class

    _, reads_values = modules(seen)
    target = made_for_class("ReadsValues", reads_values)
    assert target is not None
    assert [tuple(each.shape) for each in target.calls[0][0]] == [(2, 5, 8)]
    assert ("Tensor", (2, 8)) in seen


def test_the_search_leaves_no_fake_tensor_behind() -> None:
    import torch

    from pt2lint.dynamic.child.made_up import made_for

    cache: list[torch.Tensor] = []

    def masked(x: torch.Tensor) -> torch.Tensor:
        if not cache:
            cache.append(torch.ones(8))
        return x * cache[0]

    assert made_for("masked", masked, [], {}) is not None
    assert [type(each) for each in cache] == [torch.Tensor]


def test_a_search_that_dies_or_ends_in_nothing_finds_nothing() -> None:
    from pt2lint.dynamic.child.made_up import in_a_fork

    assert in_a_fork(lambda: [3, 1]) == [3, 1]
    assert in_a_fork(lambda: os._exit(3)) == []
    assert in_a_fork(lambda: [1 // 0]) == []
