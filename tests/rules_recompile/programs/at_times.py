"""Numbers that only some turns count on, and those of an iterator that outlives the call."""

import itertools

import torch

STEPS = itertools.count()


@torch.compile
def noisy(x):
    return x + 0.1 * next(STEPS)  # PTR203


@torch.compile
def own(x):
    steps = itertools.count()
    return x + next(steps)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = itertools.count(1)

    def forward(self, x):
        return x / next(self.calls)  # PTR203


@torch.compile
def roll(x, k):
    for _ in range(k):
        x = x.sin()
    return x


@torch.compile
def draft(x, k):
    for _ in range(k):
        x = x.cos()
    return x


@torch.compile
def still(x, k):
    for _ in range(k):
        x = x.tan()
    return x


def some(x):
    k = 1
    for n in range(22):
        roll(x, k)  # PTR220 in roll
        if n % 2 == 0:
            k += 1


def chosen(x):
    k = 12
    for n in range(22):
        draft(x, k)  # PTR220 in draft
        k = k + 1 if n % 2 else k - 2


def once(x):
    k = j = 1
    for n in range(11):
        still(x, k)
        if n == 5:
            k += 1
    for n in range(11):
        still(x, j)
        j = 2 if n > 4 else 1


def run():
    x = torch.ones(4)
    net = torch.compile(Net())
    for _ in range(11):
        noisy(x)
        own(x)
        net(x)
    some(x)
    chosen(x)
    once(x)
