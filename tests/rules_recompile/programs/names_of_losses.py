"""Losses under names made of the step's number, and under the same names at each step."""

import torch


@torch.compile
def total(losses):
    return sum(losses.values())


def run():
    for step in range(12):
        total({f"loss_{step}": torch.ones(3)})  # PTR210 in total
    for _ in range(12):
        total({"loss": torch.ones(3)})
