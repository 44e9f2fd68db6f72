"""Models of other sizes that are compiled in turn, where a loop makes them and where a function does that it calls; and
models of one size, or after what was compiled is forgotten."""

import torch
from torch import nn


class Wide(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner = nn.Linear(4, width)

    def forward(self, x):
        return self.layers(x)

    def layers(self, x):
        return self.inner(x).relu()


def wide_of(width, x):
    net = Wide(width)
    net.compile()
    return net(x)  # PTR224 in forward


def suggested(trial, x):
    width = trial.suggest_int("width", 2, 60)
    net = torch.compile(Wide(width))
    return net(x)  # PTR224 in forward


class Trial:
    def __init__(self, number):
        self.number = number

    def suggest_int(self, name, low, high):
        return low + self.number % (high - low)


def run():
    x = torch.ones(2, 4)
    for width in range(2, 22, 2):
        net = Wide(width).eval()
        fast = torch.compile(net)
        for _ in range(2):
            fast(x)  # PTR224 in forward
    for width in range(22, 42, 2):
        wide_of(width, x)
    for number in range(10):
        suggested(Trial(number), x)
    for width in range(2, 22, 2):
        torch._dynamo.reset()
        net = torch.compile(Wide(width))
        net(x)
    for net in [torch.compile(Wide(8)) for _ in range(10)]:
        net(x)
    return 0
