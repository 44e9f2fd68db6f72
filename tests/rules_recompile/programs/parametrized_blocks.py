"""Blocks that are compiled one by one, with a layer whose weight is parametrized: it has a class of its own in each."""

import torch
from torch import nn
from torch.nn.utils import parametrize
from torch.nn.utils.parametrizations import orthogonal, spectral_norm, weight_norm


class Doubled(nn.Module):
    def forward(self, weight):
        return weight * 2


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layers = nn.ModuleList([weight_norm(nn.Linear(width, width)) for _ in range(2)])

    def forward(self, x):
        for layer in self.layers:
            x = x + torch.relu(layer(x))
        return x


class Registered(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)
        parametrize.register_parametrization(self.layer, "weight", Doubled())

    def forward(self, x):
        return torch.tanh(self.layer(x))


class Nested(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner = Registered(width)

    def forward(self, x):
        return self.inner(x) * 3


class Spectral(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = spectral_norm(nn.Linear(width, width))

    def forward(self, x):
        return torch.sigmoid(self.layer(x))


class Orthogonal(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)
        orthogonal(self.layer)

    @torch.compile
    def forward(self, x):
        return torch.cos(self.layer(x))  # PTR226


class Model(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.blocks = nn.ModuleList([Spectral(width) for _ in range(depth)])

    def forward(self, x):
        for block in self.blocks:
            x = block(x)  # PTR226 in forward
            if x.isnan().any():
                break
        return x


def run():
    x = torch.ones(2, 4)
    residual = nn.ModuleList([Residual(4) for _ in range(10)])
    nested = nn.ModuleList([Nested(4) for _ in range(10)])
    for block in residual:
        block.compile()  # PTR226 in forward
    for block in nested:
        block.compile()  # PTR226 in forward
    for block in [*residual, *nested]:
        x = block(x)
    for block in [Orthogonal(4) for _ in range(10)]:
        x = block(x)
    return torch.compile(Model(4, 10))(x)
