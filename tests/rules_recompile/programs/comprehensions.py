"""Comprehensions that call what is compiled: as loops that do so. And parameters that are made alike."""

import torch


@torch.compile
def product(rows, start, end):
    out = rows[start]
    for i in range(start + 1, end):
        out = out @ rows[i]
    return out


@torch.compile
def scaled(x, scale):
    return x * scale


@torch.compile
def halved(weight):
    return weight / weight.abs().amax()


@torch.compile
def doubled(weight):
    return weight * 2


@torch.compile
def tripled(weight):
    return weight * 3


def products(rows, parts):
    return [product(rows, 0, i + 1) for i in range(parts)]  # PTR207 in product


def pairs(x):
    return {(i, j): scaled(x, j) for i in range(2) for j in [1, 2, 3] if i < j}


def few(rows):
    return [product(rows, 0, 2) for _ in range(20)]


def all_of(net):
    return {name: halved(p) for name, p in net.named_parameters()}  # PTR224 in halved


def all_doubled(model):
    return [doubled(p.data) for p in model.parameters()]


def alike():
    model = torch.nn.Sequential(*[torch.nn.Linear(4, 4, bias=False) for _ in range(12)])
    for p in model.parameters():
        doubled(p.data)
    all_doubled(model)
    ranks = torch.nn.Sequential(*[torch.nn.Linear(4, 4) for _ in range(12)])
    for p in ranks.parameters():
        if p.ndim == 2:
            tripled(p)


def run():
    products(torch.ones(24, 2, 2), 14)
    few(torch.ones(24, 2, 2))
    pairs(torch.ones(3))
    all_of(torch.nn.Sequential(*[torch.nn.Linear(4 + i, 5 + i, bias=False) for i in range(12)]))
    alike()
