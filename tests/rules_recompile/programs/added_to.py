"""Compiled functions that add to a list they are given, which the caller keeps, empties, or makes anew."""

import collections

import torch


@torch.compile
def noted(x, losses):
    losses.append(x.sum())
    return x * 2


@torch.compile
def told(x, stats):
    stats["loss"].append(x.sum())
    return x + 1


@torch.compile
def made(x, stats):
    stats.setdefault("loss", []).append(x.sum())
    return x + 2


@torch.compile
def emptied(x, losses):
    losses.append(x.sum())
    return x + 3


@torch.compile
def anew(x, losses):
    losses.append(x.sum())
    return x + 4


@torch.compile
def drained(x, losses):
    losses.append(x.sum())
    losses.pop()
    return x + 5


class Trainer:
    def __init__(self):
        self.stats = collections.defaultdict(list)
        self.step = torch.compile(step)

    def train(self, x):
        for _ in range(10):
            self.step(x, self.stats)  # PTR210 in step


def step(x, stats):
    stats["loss"] += [x.sum()]
    return x * 3


def run():
    losses, stats, first, rest = [], {"loss": []}, {}, []
    x = torch.ones(3)
    for _ in range(10):
        noted(x, losses)  # PTR210 in noted
        told(x, stats=stats)  # PTR210 in told
        made(x, first)  # PTR210 in made
        emptied(x, rest)
        rest.clear()
        fresh = []
        anew(x, fresh)
        drained(x, rest)
    Trainer().train(x)
