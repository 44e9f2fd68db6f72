"""A sampler that counts its steps: the number picks from a list, from a tensor, and in another object from neither."""

import torch


class Sampler:
    def __init__(self):
        self.at, self.sigmas = 0, [1 - n / 16 for n in range(16)]

    @torch.compile
    def step(self, x):
        x = x * self.sigmas[self.at + 1]
        self.at += 1  # PTR215
        return x


class Table:
    def __init__(self):
        self.at, self.sigmas = 0, torch.linspace(1, 0, 16)

    @torch.compile
    def look(self, x):
        x = x * self.sigmas[self.at]
        self.at += 1  # PTR215 once
        return x


def run():
    sampler, table = Sampler(), Table()
    for _ in range(12):
        sampler.step(torch.ones(3))
        table.look(torch.ones(3))
