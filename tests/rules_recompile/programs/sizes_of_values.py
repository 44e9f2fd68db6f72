"""Sizes that values, draws and lists of lengths decide."""

import random

import torch
import torch.nn.functional as F


@torch.compile(dynamic=False)
def score(x):
    return x.softmax(-1).sum()


@torch.compile(dynamic=False)
def crop(x):
    return x.mean()


@torch.compile(dynamic=False)
def piece(x):
    return x.cumsum(0)


@torch.compile(dynamic=False)
def picture(x):
    return x.relu()


@torch.compile(dynamic=False)
def always(x):
    return x + 1


def run():
    torch.manual_seed(0)
    random.seed(0)
    sound = torch.randn(1, 4000)
    for n in range(16):
        x = torch.randn(32, 4)
        keep = torch.rand(32) > 0.3
        score(x[keep])  # PTR206 in score
        length = random.randint(10, 2000)
        crop(sound[..., :length])  # PTR206 in crop
        size = 8 + 2 * n
        picture(F.interpolate(torch.randn(1, 3, 4, 4), size=(size, size)))  # PTR206 in picture
        always(x[:, n % 2 :][:, :2])
        always(torch.where(keep[:, None], x, 0.0)[:, :2])
    for part in torch.split(torch.randn(64, 2), 16):
        always(part)
    for part in torch.split(torch.randn(91, 2), torch.arange(1, 14).tolist()):  # each of another length
        piece(part)  # PTR206 in piece
