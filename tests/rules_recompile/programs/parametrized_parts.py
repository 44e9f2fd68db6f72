"""Blocks whose layers are parametrized, and that are not compiled again: parts of one graph, or with a hook instead of
a parametrization, or a layer that nothing calls."""

import torch
from torch import nn
from torch.nn.utils import weight_norm as with_hooks
from torch.nn.utils.parametrizations import spectral_norm, weight_norm


class Spectral(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = spectral_norm(nn.Linear(width, width))

    def forward(self, x):
        return torch.sigmoid(self.layer(x))


class Hooked(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = with_hooks(nn.Linear(width, width))

    def forward(self, x):
        return torch.sin(self.layer(x))


class Unused(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)
        self.head = weight_norm(nn.Linear(width, width))

    def forward(self, x):
        return torch.exp(self.layer(x))


class Apart(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = weight_norm(nn.Linear(width, width))

    def forward(self, x):
        return torch.tan(self.layer(x))


class Whole(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.blocks = nn.ModuleList([Spectral(width) for _ in range(depth)])

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


def run():
    x = torch.ones(2, 4)
    hooked = nn.ModuleList([Hooked(4) for _ in range(10)])
    unused = nn.ModuleList([Unused(4) for _ in range(10)])
    for block in hooked:
        block.compile()
    for block in unused:
        block.compile()
    apart = nn.ModuleList([Apart(4) for _ in range(10)])
    for block in apart:
        block.compile(isolate_recompiles=True)
    for block in [*hooked, *unused, *apart]:
        x = block(x)
    return torch.compile(Whole(4, 10))(x)
