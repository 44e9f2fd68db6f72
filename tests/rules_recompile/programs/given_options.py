"""Options that a module was given, and that code outside of it sets: constants of the graph, each compiled anew. So is
the rate of a dropout that a schedule sets."""

import torch
from torch import nn


class Options:
    def __init__(self):
        self.epoch, self.seen = 0, 0


class Part(nn.Module):
    def __init__(self, state):
        super().__init__()
        self.state = state

    def forward(self, x):
        return x * 2 if self.state["turn"] > 5 else x


class Warm(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.args = args

    def forward(self, x):
        return x * self.args.epoch if self.args.epoch < 20 else x


class Held(nn.Module):
    def __init__(self, state):
        super().__init__()
        self.part, self.drop = Part(state), nn.Dropout(0.1)

    def forward(self, x):
        return self.drop(self.part(x))


class Unread(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.args = args

    def forward(self, x):
        return x + 1


def set_rate(model, rate):
    for part in model.modules():
        if isinstance(part, nn.Dropout):
            part.p = rate  # PTR211 in forward


def train(epochs):
    options, other, state = Options(), Options(), {"turn": 0}
    warm, held, unread = Warm(options), Held(state), Unread(other)
    steps = [torch.compile(part) for part in (warm, held, unread)]
    first, second, third = steps
    for epoch in range(epochs):
        options.epoch = epoch  # PTR211 in forward
        other.epoch = epoch
        options.seen = epoch * 64
        state["turn"] = epoch  # PTR211 in forward
        first(torch.ones(2))
        second(torch.ones(2))
        third(torch.ones(2))


def anneal(epochs):
    model = nn.ModuleList([nn.Dropout(0.5)])
    step = torch.compile(Dropping(model))
    for epoch in range(epochs):
        rate = 0.5 * (1 - epoch / epochs)
        set_rate(model, rate)
        step(torch.ones(2))


class Dropping(nn.Module):
    def __init__(self, parts):
        super().__init__()
        self.parts = parts

    def forward(self, x):
        return self.parts[0](x)


def run():
    train(12)
    anneal(12)
