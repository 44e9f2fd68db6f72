"""The number of an epoch in a text made by `format`: compiled once more, then for any number."""

import torch

model = torch.nn.Linear(4, 4)


@torch.compile
def train(x, epoch):
    prefix = "Epoch: [{}]".format(epoch)  # noqa: UP032
    return model(x).sum(), prefix


def run():
    for epoch in range(12):
        train(torch.ones(2, 4), epoch)  # PTR220 once in train
