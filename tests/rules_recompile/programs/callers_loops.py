"""What the loop of a caller counts: each number goes to the limit where it is a constant, and costs one elsewhere."""

import torch

STEP = 0


class Options:
    def __init__(self):
        self.epoch = 0


options = Options()


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.temperature, self.rate = 1, 0.0

    def forward(self, x, depth):
        for _ in range(min(depth + 1, 100)):
            x = torch.tanh(x)
        return x / self.temperature * self.rate


class Cell(torch.nn.Module):
    def forward(self, x):
        _, length, _ = x.shape
        h = x[:, 0]
        for t in range(length):  # PTR230
            h = torch.tanh(h + x[:, t])
        return h


@torch.compile
def counted(x):
    return x * STEP


@torch.compile
def configured(x):
    return x + options.epoch


@torch.compile
def scaled(x, epoch):
    return x * epoch


model, cell = torch.compile(Net()), torch.compile(Cell())


def set_temperature(net, step):
    net.temperature = step + 1  # PTR211 in forward


def train_step(x, depth):
    return model(x, depth)  # PTR207 in forward


def train_epoch(epoch, x):
    set_temperature(model, epoch)
    scaled(x, epoch)  # PTR220 once in scaled
    return train_step(x, depth=epoch + 2)


def run():
    global STEP
    x = torch.ones(3)
    for epoch in range(11):
        STEP = epoch  # PTR203 in counted
        options.epoch = epoch  # PTR203 in configured
        train_epoch(epoch, x)
        counted(x)
        configured(x)
        cell(torch.ones(2, epoch + 2, 3))  # PTR213 in forward
