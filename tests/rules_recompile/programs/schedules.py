"""Numbers that schedules make, with functions of `math`, by steps and by drawing."""

import math
import random
import time

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


@torch.compile(dynamic=False)
def shrink(x, scale):
    return x * scale


@torch.compile(dynamic=False)
def heat(x, rate):
    return x * rate


@torch.compile(dynamic=False)
def wait(x, seconds):
    return x * seconds


@torch.compile
def drop(x, rate):
    return torch.dropout(x, rate, True)


@torch.compile
def norm(x, eps):
    return torch.layer_norm(x, (4,), None, None, eps)


class Ring(torch.nn.Module):
    def __init__(self, size):
        super().__init__()
        self.size = size
        self.at = 0
        self.side = 0
        self.register_buffer("kept", torch.zeros(16, 4))

    def forward(self, x):
        self.kept[self.at] = x
        self.at = (self.at + 1) % self.size  # PTR202 in forward
        self.side = (self.side + 1) % 2
        return self.kept.mean(0)


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
        soften(x, max(0.5, math.exp(-0.05 * n)))  # PTR207 in soften


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
        blur(x, random.uniform(0.0, 1.0))  # PTR207 in blur


def count(x):
    state = {"step": 0}
    for _ in range(11):
        state["step"] += 1
        update(x, state["step"])  # PTR207 in update


def decay(x):
    scale = 1.0
    for _ in range(11):
        shrink(x, scale)  # PTR207 in shrink
        scale *= 0.9


def regularize(x):
    for n in range(11):
        drop(x, n / 20)  # PTR207 in drop
        norm(x, n / 20 + 0.1)  # PTR207 in norm


class Schedule:
    def rate(self, n):
        return 0.1 * n / 100

    def follow(self, x):
        for n in range(11):
            rate = self.rate(n)
            heat(x, rate)  # PTR220 in heat


def wait_for(x):
    start = time.perf_counter()
    for _ in range(11):
        wait(x, time.perf_counter() - start)  # PTR207 in wait


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
    decay(x)
    regularize(x)
    Schedule().follow(x)
    wait_for(x)
    ring = torch.compile(Ring(16))
    for _ in range(11):
        ring(x)
    stay(x, 3)
    mean = Average(0.99)
    for _ in range(11):
        mean.update(torch.ones(3))
