"""What is compiled with `isolate_recompiles=True` counts its compilations by itself: models of other sizes that are
compiled in turn, blocks with a number each, a table of sizes. One compiled function that is given the models is one."""

import torch
from torch import nn


class Wide(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner = nn.Linear(4, width)

    def forward(self, x):
        return self.inner(x).relu()


class Block(nn.Module):
    def __init__(self, index):
        super().__init__()
        self.index = index

    def forward(self, x):
        return x * self.index


class Table:
    def __init__(self):
        self.model = nn.Linear(4, 4)
        self.sized = {}

    def __call__(self, x):
        key = tuple(x.shape)
        if key not in self.sized:
            self.sized[key] = torch.compile(self.model, dynamic=False, isolate_recompiles=True)
        return self.sized[key](x)


@torch.compile(isolate_recompiles=True)
def swept(net, x):
    return net(x).square().mean()


def sweep(x):
    for width in range(2, 22, 2):
        net = Wide(width).eval()
        swept(net, x)  # PTR224 in swept


def run():
    x = torch.ones(2, 4)
    for width in range(2, 22, 2):
        net = torch.compile(Wide(width), isolate_recompiles=True)
        net(x)
    sweep(x)
    blocks = nn.ModuleList([Block(i) for i in range(11)])
    for block in blocks:
        block.compile(isolate_recompiles=True)
    for block in blocks:
        x = block(x)
    table = Table()
    for n in range(2, 14):
        table(torch.ones(n, 4))
    return 0
