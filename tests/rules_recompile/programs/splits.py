"""Texts that a loop lists, in a function that a break in it leaves to Python: what it calls compiles for each."""

import torch


def batch(split):
    data = torch.ones(10) if split == "train" else torch.zeros(10)
    return data[torch.arange(4)]


def passed(x, label):
    return x + 1


@torch.compile
def estimate():
    out = {}
    for split in ["train", "val"]:
        losses = torch.zeros(4)
        for k in range(4):
            losses[k] = passed(batch(split), split).sum().item()  # PTR220 once in batch
        out[split] = losses.mean()
    return out


def run():
    for _ in range(3):
        estimate()
