"""Models of other sizes that a compiled function is given in turn; and models of one size."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, width, depth=2):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(width, width) for _ in range(depth)])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


@torch.compile
def swept(net, x):
    return net(x).square().mean()


@torch.compile
def trained(net, x):
    return net(x).square().mean()


@torch.compile
def routed(expert, x):
    return expert(x).sum(-1)


@torch.compile
def alike(net, x):
    return net(x).square().mean()


def sweep(widths):
    for width in widths:
        net = Net(width).eval()
        swept(net, torch.ones(4, width))  # PTR224 in swept


experts = [nn.Linear(8, 8 * (i + 1)) for i in range(10)]


def run():
    torch._dynamo.config.allow_unspec_int_on_nn_module = False
    sweep(range(2, 22, 2))
    members = [Net(n) for n in range(2, 22, 2)]
    for n, net in zip(range(2, 22, 2), members, strict=True):
        trained(net, torch.ones(2, n))  # PTR224 in trained
    for expert in experts:
        routed(expert, torch.ones(4, 8))  # PTR224 in routed
    for _ in range(10):
        net = Net(8)
        alike(net, torch.ones(4, 8))
    return 0
