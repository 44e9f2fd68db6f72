"""Blocks that a graph break in the loop over them parts: each is compiled by itself, and reads a number of its own
where a cache is given."""

import torch
from torch import nn


class Cache:
    def __init__(self, depth):
        self.keys = [None] * depth

    def update(self, layer, k):
        self.keys[layer] = k
        return k * 2


class Attention(nn.Module):
    def __init__(self, width, index):
        super().__init__()
        self.index = index
        self.keys = nn.Linear(width, width)

    def forward(self, x, cache):
        k = self.keys(x)
        if cache is not None:
            k = cache.update(self.index, k)
        return x + k


class Block(nn.Module):
    def __init__(self, width, index):
        super().__init__()
        self.attention = Attention(width, index)

    def forward(self, x, cache=None):
        y = self.attention(x, cache)
        if y.isnan().any():
            y = x
        return y


class Plain(nn.Module):
    def __init__(self, width, index):
        super().__init__()
        self.index = index
        self.layer = nn.Linear(width, width)

    def forward(self, x, cache=None):
        return self.layer(x)


class Model(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.blocks = nn.ModuleList([Block(width, i) for i in range(depth)])
        self.plain = nn.ModuleList([Plain(width, i) for i in range(depth)])

    def forward(self, x, cache=None):
        for block in self.blocks:
            x = block(x, cache)  # PTR226 in forward
        return x


class Whole(Model):
    def forward(self, x, cache=None):
        for plain in self.plain:
            x = plain(x, cache)
        return x


class Parted(Model):
    def forward(self, x, cache=None):
        for plain in self.plain:
            x = plain(x, cache)
            print(x.sum().item())
        return x


def run():
    x, cache = torch.ones(2, 8), Cache(10)
    for kind in (Model, Whole, Parted):
        with torch.no_grad():
            torch.compile(kind(8, 10))(x, cache)
