"""A number of steps that grows with the epoch, and decides how often a loop of the compiled sampler turns."""

import torch


@torch.compile
def sample(x, steps):
    for _ in range(steps):
        x = (x + x.roll(1)) / 2
    return x


def run():
    for epoch in range(12):
        sample(torch.arange(4.0), epoch + 1)  # PTR207 in sample
