"""Training with gradients and evaluation without: compiled for each once."""

import torch

model = torch.compile(torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Dropout(0.1)))


@torch.no_grad()
def evaluate():
    model.eval()
    loss = model(torch.ones(2, 4)).sum()  # PTR222 once in inner
    model.train()
    return loss


other = torch.compile(torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Dropout(0.1)), backend="eager")


def run():
    other.train()
    other(torch.ones(2, 4))
    other.eval()
    other(torch.ones(2, 4))  # PTR222 once in inner
    for _epoch in range(4):
        for _ in range(3):
            model(torch.ones(2, 4)).sum().backward()
        evaluate()
