"""Numbers that methods make of a count, that a loop counts to what nothing says a number is, and a module that is
given to what compiles it."""

import torch


@torch.compile
def weigh(x, weight):
    return x * weight


@torch.compile
def soften(x, heat):
    return torch.softmax(x / heat, -1)


@torch.compile
def blend(x, part):
    return x + part


@torch.compile
def same(x, most):
    return x * most


@torch.compile
def mix(x, share):
    return x * share


class Trainer:
    def __init__(self, warmup):
        self.warmup = warmup
        self.seen = 0
        self.most = 1.0

    def weight(self):
        if self.seen == 0:
            return 0.5
        return min(self.most, self.seen / self.warmup)

    def heat(self) -> float:
        return 1.0 + self.seen * 0.1

    def still(self):
        return self.most

    def is_late(self):
        return self.seen > 100

    def step(self, x):
        self.seen += 1
        heat = self.heat()
        x = weigh(x, self.weight())  # PTR220 once in weigh
        x = soften(x, heat)  # PTR220 once in soften
        x = same(x, self.still())
        return x if self.is_late() else x + 1


class Wrapper:
    def __init__(self, model):
        self.model = torch.compile(model)
        self.steps = 0

    def step(self, x):
        self.steps += 1
        return self.model(x, self.steps / 100)  # PTR220 once in forward


class Scaled(torch.nn.Module):
    def forward(self, x, scale):
        return x * scale


def count(x, total):
    for n in range(total):
        x = blend(x, n / total)  # PTR220 once in blend
    return x


def count_on(x, settings):
    step = 0
    while step < settings.steps:
        for _ in range(settings.parts):
            share = min(1.0, step / settings.steps)
            x = mix(x, share)  # PTR220 once in mix
            step += 1
    return x


def in_parts(x, total, most):
    for start in range(0, total, most):
        x = same(x, min(most, total - start))
    return x


class Settings:
    steps = 11
    parts = 3


def run():
    x = torch.ones(3)
    trainer, wrapper = Trainer(7), Wrapper(Scaled())
    for _ in range(11):
        trainer.step(x)
        wrapper.step(x)
    count(x, 11)
    count_on(x, Settings())
    in_parts(x, 33, 3)
