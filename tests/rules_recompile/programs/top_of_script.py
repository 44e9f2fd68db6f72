"""Loops at the top of a script, whose number compiled code reads as a global."""

import torch

net = torch.nn.Linear(4, 4)


@torch.compile
def train_step(x):
    rate = min(1.0, step / 100)
    return net(x).pow(2).mean() * rate


@torch.compile
def of_epoch(x):
    return net(x) * epoch


@torch.compile
def given(x, step):
    return net(x) / step


@torch.compile
def over_data(batches):
    total = 0.0
    for batch in batches:
        total += net(batch).sum().item()
        if total > 100:
            print(turn, total)
    return total


for turn in range(12):  # noqa: B007
    over_data([torch.ones(2, 4)] * 3)

for step in range(12):  # PTR203 in train_step  # noqa: B007
    train_step(torch.ones(2, 4))

for step, x in enumerate([torch.ones(2, 4)] * 12):
    print(step, x.shape)

for step in range(1, 12):
    given(torch.ones(2, 4), torch.tensor(step))

for epoch in range(3):  # noqa: B007
    of_epoch(torch.ones(2, 4))


def run():
    pass
