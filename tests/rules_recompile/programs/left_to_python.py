"""Training and evaluation that are compiled, and left to Python for what breaks in their loops, and a function that a
break cuts in two: what they call, and that function, is compiled by itself, for each way in which it is called."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x):
        return self.layer(x)


class Meter:
    def __init__(self):
        self.total = 0.0

    def update(self, value):
        self.total += value


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)


def loss_of(y, reduce):
    return y.square().mean() if reduce else y.square().sum()


def shifted(x, by):
    return x + by


@torch.compile
def train(batches):
    meter = Meter()
    for n, x in enumerate(batches):
        loss = loss_of(net(shifted(x, n)), True)  # PTR220 once in shifted
        loss.backward()
        optimizer.step()
        meter.update(loss.item())
    return meter.total


@torch.compile
def evaluate(batches):
    meter = Meter()
    with torch.no_grad():
        for x in batches:
            y = net(x)  # PTR222 once in forward
            meter.update(loss_of(y, True).item())  # PTR222 once in loss_of
            meter.update(loss_of(y, False).item())  # PTR222 once in loss_of
    return meter.total


@torch.compile
def whole(x):
    with torch.no_grad():
        return loss_of(net(x), False)


def shown(*rows):
    y = torch.stack([torch.stack(list(row)) for row in rows])
    print(len(rows))
    return y.sum(0)


@torch.compile
def twice(x):
    y = shown([x, x])
    return y + shown([x, x], [x, x])  # PTR222 once in shown


def run():
    batches = [torch.ones(2, 4)] * 3
    for _ in range(3):
        train(batches)
        evaluate(batches)
        whole(batches[0])
        twice(batches[0])
