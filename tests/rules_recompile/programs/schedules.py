"""Numbers that schedules make, with functions of `math`, by steps and by drawing."""

import math
import random

import torch


@torch.compile(dynamic=False)
def soften(x, heat):
    return torch.softmax(x / heat, -1)


@torch.compile
def cool(x, heat):
    return torch.softmax(x / heat, -1)


@torch.compile
def window(x, width):
    return x * (torch.arange(4) < width)


@torch.compile
def average(kept, weights, rate):
    return kept * rate + weights * (1 - rate)


@torch.compile(dynamic=False)
def blur(x, level):
    return x + level


@torch.compile(dynamic=False)
def update(x, step):
    return x / (1 - 0.9**step)


@torch.compile
def still(x, most):
    return x * most


class Average:
    def __init__(self, most):
        self.kept = torch.ones(3)
        self.most = most
        self.turns = 0

    def update(self, weights):
        self.turns += 1
        rate = min(self.most, (1 + self.turns) / (10 + self.turns))
        self.kept = average(self.kept, weights, rate)  # PTR220 once in average


def soften_all(x):
    for n in range(11):
        soften(x, max(0.5, math.exp(-0.05 * n)))  # PTR207 in soften, PTR220


def cool_all(x):
    for n in range(11):
        heat = max(0.5, math.exp(-0.05 * n))
        cool(x, heat)  # PTR220 once in cool


def widen(x, total):
    for n in range(total):
        width = int(n / total * 64) // 8 * 8
        window(x, width)  # PTR220 once in window


def draw(x):
    for _ in range(11):
        blur(x, random.uniform(0.0, 1.0))  # PTR207 in blur, PTR220


def count(x):
    state = {"step": 0}
    for _ in range(11):
        state["step"] += 1
        update(x, state["step"])  # PTR207 in update, PTR220


def stay(x, total):
    for _ in range(11):
        still(x, max(0.5, math.exp(-0.05 * total)))


def run():
    x = torch.ones(4)
    soften_all(x)
    cool_all(x)
    widen(x, 22)
    draw(x)
    count(x)
    stay(x, 3)
    mean = Average(0.99)
    for _ in range(11):
        mean.update(torch.ones(3))
