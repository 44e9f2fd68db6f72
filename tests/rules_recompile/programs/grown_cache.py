"""Models that keep keys or count positions where a flag is set, or are given positions, called token by token."""

import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("keys", torch.zeros(1, 1, 4), persistent=False)
        self.register_buffer("window", torch.zeros(1, 2, 4), persistent=False)

    def forward(self, x, use_cache=False):
        self.window = torch.cat([self.window, x], dim=1)[:, -2:]
        if use_cache:
            self.keys = torch.cat([self.keys, x], dim=1)  # PTR204
            x = x + self.keys.sum(1, keepdim=True)
        return x + self.window.sum(1, keepdim=True)


class Refilled(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.zeros(1, 1, 4))

    def forward(self, x):
        self.seen = x
        self.seen = torch.cat([self.seen, x], dim=1)
        return self.seen * 2


class Counting(nn.Module):
    def __init__(self):
        super().__init__()
        self.at = 0

    def forward(self, x, use_cache=False, more=False):
        if use_cache:
            x = x + self.at
            self.at += x.shape[1]  # PTR202
        return x

    def reset(self):
        self.at = 0


class Placed(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("keys", torch.zeros(1, 20, 4))

    def forward(self, x, at):
        self.keys[:, at] = x
        return self.keys.sum(1)


def steps(model, x):
    for _ in range(12):
        x = model(x[:, -1:], use_cache=True)
    return x


def run():
    attention, counting, refilled = Attention(), Counting(), Refilled()
    attention.compile()
    counting.compile()
    refilled.compile()
    counting.reset()
    for _ in range(3):
        refilled(torch.ones(1, 1, 4))
    steps(attention, torch.ones(1, 1, 4))
    steps(counting, torch.ones(1, 1, 4))
    placed = torch.compile(Placed())
    for i in range(12):
        placed(torch.ones(1, 4), torch.tensor(i))  # PTR207 in forward
