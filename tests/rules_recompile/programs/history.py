"""Lists of a script: one that an epoch empties, one that nothing does, one made anew by each call."""

import torch

model = torch.nn.Linear(4, 4)
losses = []
epoch_losses = []


@torch.compile
def forward(x):
    parts = []
    parts.append(model(x))
    loss = parts[0].pow(2).mean()
    losses.append(loss.detach())  # PTR204
    return loss


@torch.compile
def evaluate(x):
    loss = model(x).pow(2).mean()
    epoch_losses.append(loss)  # PTR204
    return loss


def run():
    for _epoch in range(2):
        for _ in range(12):
            forward(torch.ones(2, 4))
            evaluate(torch.ones(2, 4))
        del epoch_losses[:]
