"""What costs one recompilation or two: a state that is kept, a size that a schedule sets, tiles, fakes and blocks."""

import torch
from torch import nn
from torch.nn import functional


class Cell(nn.Module):
    def remember(self, x, hidden):
        return x if hidden is None else x + hidden

    def forward(self, x, hidden=None):
        return torch.tanh(self.remember(x, hidden))


class Player:
    def __init__(self):
        self.cell = torch.compile(Cell())
        self.hidden = None

    def act(self, x):
        self.hidden = self.cell(x, self.hidden)  # PTR225 once in forward
        return self.hidden


class Scaled(nn.Module):
    def __init__(self, rate):
        super().__init__()
        self.rate = rate

    def forward(self, x):
        return x * self.rate


class Trainer:
    def __init__(self):
        self.step, self.fast = 0, torch.compile(self.scaled_step)

    def scaled_step(self, x):
        return x * min(1.0, self.step / 10)

    def fit(self, steps):
        for _ in range(steps):
            self.fast(torch.ones(2))
            self.step += 1  # PTR211 once in scaled_step


@torch.compile
def flagged(x, last):
    return x * 2 if last else x + 1


def accumulate(steps):
    for step in range(steps):
        flagged(torch.ones(2), (step + 1) % 4 == 0)  # PTR220 once in flagged


@torch.compile
def loss_of(x):
    return x.mean()


@torch.compile
def seen(x):
    return x.sum()


@torch.compile
def filtered(x):
    return x * 2


def resolution_at(epoch):
    return 8 + 4 * (epoch // 3)


def grow(epochs):
    for epoch in range(epochs):
        size = resolution_at(epoch)
        for _ in range(2):
            images = torch.rand(2, 3, 16, 16)
            images = functional.interpolate(images, size=(size, size))
            loss_of(images)  # PTR213 once in loss_of


def lengthen(data, steps, most):
    for step in range(steps):
        length = min(most, 8 * (1 + step // 4))
        seen(data[:, :length])  # PTR213 once in seen


def tiled(image, tile):
    height, width = image.shape
    for y in range(0, height, tile):
        for x in range(0, width, tile):
            bottom, right = min(y + tile, height), min(x + tile, width)
            filtered(image[y:bottom, x:right])  # PTR213 once in filtered


def block_by_block(rates):
    blocks = [Scaled(rate) for rate in rates]
    steps = [torch.compile(block) for block in blocks]  # PTR226 once in forward
    for step in steps:
        step(torch.ones(3))


def run():
    player = Player()
    for _ in range(4):
        player.act(torch.ones(2))
    Trainer().fit(12)
    accumulate(12)
    grow(9)
    lengthen(torch.ones(2, 64), 12, 48)
    tiled(torch.ones(10, 10), 4)
    block_by_block([0.1, 0.2, 0.3])
