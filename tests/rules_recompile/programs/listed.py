"""Lists of another length at each turn, and what is left of samples at the last."""

import torch
import torch.nn.functional as F


@torch.compile
def mean(frames: list[torch.Tensor]):
    return torch.stack(frames).mean(0)


@torch.compile
def middle(frames: list[torch.Tensor]):
    return torch.stack(frames).mean(0)


@torch.compile
def few(frames: list[torch.Tensor]):
    return torch.stack(frames).mean(0)


@torch.compile
def double(x):
    return x * 2


@torch.compile
def treble(x):
    return x * 3


@torch.compile
def loss(logits, labels):
    return F.cross_entropy(logits.float(), labels)


def listed():
    for n in range(2, 14):
        frames = [torch.ones(4) for _ in range(n)]
        mean(frames)  # PTR207 in mean


def cut(frames: list[torch.Tensor]):
    for n in range(1, 13):
        middle(frames[:n])  # PTR207 in middle


def alike():
    for _ in range(2, 14):
        few([torch.ones(4) for _ in range(3)])


def in_parts(x, size=8):
    for i in range(0, len(x), size):
        double(x[i : i + size])  # PTR213 once in double


def in_whole_parts(x):
    for i in range(0, 32, 8):
        treble(x[i : i + 8])


def learn(logits, labels):
    kept = labels != -100
    return loss(logits[kept], labels[kept])  # PTR213 once in loss


def run():
    listed()
    cut([torch.ones(4) for _ in range(13)])
    alike()
    in_parts(torch.ones(30, 2))
    in_whole_parts(torch.ones(32, 2))
    for n in range(6):
        labels = torch.arange(16) % 8
        labels[: 2 * n] = -100
        learn(torch.ones(16, 8), labels)
