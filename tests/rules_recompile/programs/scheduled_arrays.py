"""Schedules that are kept as arrays, indexed by the epoch: Dynamo takes an element by a number that it knows alone; and
those that functions of NumPy compute, of whose numbers it makes constants."""

import numpy as np
import torch


class Loss(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.heats = np.linspace(0.1, 1.0, 12)
        self.register_buffer("rates", torch.linspace(0.1, 1.0, 12))

    def forward(self, x, epoch):
        return x / self.heats[epoch]


class Kept(Loss):
    def forward(self, x, epoch):
        return x / self.rates[epoch]


class Warmup:
    def __init__(self):
        self.steps = 0
        self.alphas = [0.1 * n for n in range(40)]

    def scale(self):
        return np.minimum(np.power(self.steps, -0.5), 1e-3 * self.steps)

    @torch.compile
    def step(self, x):
        self.steps += 1  # PTR215 in step
        return x * self.scale()

    def weigh(self, x, n):
        return x * self.alphas[n]


@torch.compile
def decayed(x, t):
    return x * np.exp(-t / 2)


@torch.compile
def weighed(x, n):
    return warmup.weigh(x, n)


@torch.compile
def rooted(x):
    return x / np.sqrt(x.shape[0])  # PTR230


warmup = Warmup()
compiled = torch.compile(Loss())
kept = torch.compile(Kept())


def run():
    x = torch.ones(3)
    for epoch in range(11):
        compiled(x, epoch)  # PTR207 once in forward
        kept(x, epoch)  # PTR220 once in forward
        warmup.step(x)
        decayed(x, epoch / 40)  # PTR207 in decayed
        weighed(x, epoch)  # PTR207 in weighed
        rooted(torch.ones(epoch + 2))  # PTR213 in rooted
