"""A module that counts its calls to warm up, beside a buffer that does."""

import torch
from torch import nn


class Warm(nn.Module):
    def __init__(self):
        super().__init__()
        self.seen = 0
        self.register_buffer("counted", torch.tensor(0))

    def forward(self, x):
        self.seen += 1  # PTR202
        return x * min(self.seen / 100, 1.0)


class Buffered(Warm):
    def forward(self, x):
        self.counted += 1
        return x * (self.counted / 100).clamp(max=1.0)


warm, buffered = torch.compile(Warm()), torch.compile(Buffered())


def run():
    for _ in range(12):
        warm(torch.ones(4))
        buffered(torch.ones(4))
