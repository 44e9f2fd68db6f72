"""Attributes that `net.apply(...)` sets of each part: where they are constants of the graph, as the `p` of a dropout
and the `momentum` of a batch norm are, each number is compiled again."""

from functools import partial

import torch
from torch import nn


def net():
    return nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Dropout(0.1))


def set_momentum(part, momentum):
    if isinstance(part, nn.BatchNorm1d):
        part.momentum = momentum


def slower(part):
    if isinstance(part, nn.BatchNorm1d):
        part.momentum = part.momentum * 0.9


def mark(part, epoch):
    part.epoch = epoch
    rate = 0.2
    if isinstance(part, nn.Dropout):
        part.p = rate


def by_lambda(x, net):
    fast = torch.compile(net)
    for epoch in range(11):
        net.apply(lambda part: set_momentum(part, 0.1 / (1 + epoch)))  # PTR211 in inner  # noqa: B023
        fast(x)


def by_partial(x, net):
    fast = torch.compile(net)
    for epoch in range(11):
        momentum = 0.1 * 0.9**epoch
        net.apply(partial(set_momentum, momentum=momentum))  # PTR211 in inner
        fast(x)


def by_name(x, net):
    fast = torch.compile(net)
    for epoch in range(11):
        rate = epoch / 20
        net.apply(lambda m: isinstance(m, nn.Dropout) and setattr(m, "p", rate))  # PTR211 in inner  # noqa: B023
        fast(x)


def by_itself(x, net):
    fast = torch.compile(net)
    for _ in range(11):
        net.apply(slower)  # PTR211 in inner
        fast(x)


def by_loop(x, net):
    fast = torch.compile(net)
    for epoch in range(11):
        for part in net.modules():
            if isinstance(part, nn.BatchNorm1d):
                part.eps = 0.1 / (1 + epoch)  # PTR211 in inner
        fast(x)


def same(x, net, other):
    fast = torch.compile(net)
    rate = 0.3
    for epoch in range(11):
        net.apply(lambda part: set_momentum(part, rate))
        net.apply(lambda part: mark(part, epoch))  # noqa: B023
        other.apply(lambda part: set_momentum(part, 0.1 / (1 + epoch)))  # noqa: B023
        fast(x)


def run():
    x = torch.ones(2, 4)
    by_lambda(x, net())
    by_partial(x, net())
    by_name(x, net())
    by_itself(x, net())
    by_loop(x, net())
    same(x, nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4)), nn.Sequential(nn.BatchNorm1d(4)))
