"""A compiled training step with a learning-rate schedule: `python examples/train.py --steps 20`."""

import argparse

import torch
from torch import nn


def build() -> nn.Module:
    return nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 1))


def batches(steps: int):
    generator = torch.Generator().manual_seed(0)
    for _ in range(steps):
        x = torch.randn(32, 16, generator=generator)
        yield x, x.sum(dim=1, keepdim=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=3)
    steps = parser.parse_args().steps

    model = build()
    # the schedule changes a number that is compiled into the step
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)
    # fine: this rate is a tensor, an input of the compiled step rather than a part of it
    averages = torch.optim.SGD(model.parameters(), lr=torch.tensor(1e-2))

    forward = torch.compile(model, backend="eager")

    @torch.compile(backend="eager")
    def update() -> None:
        optimizer.step()

    for step, (x, y) in enumerate(batches(steps)):
        loss = nn.functional.mse_loss(forward(x), y)
        loss.backward()
        update()
        scheduler.step()
        averages.zero_grad()
        print(f"step {step}: loss {loss.item():.4f}")  # fine: this function is not compiled


if __name__ == "__main__":
    main()
