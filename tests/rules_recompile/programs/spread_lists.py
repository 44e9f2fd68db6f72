"""Lists that a turn makes longer, as parts of a tuple or a list of their own; and some of one length."""

import torch


@torch.compile
def joined(inputs):
    h, *rest = inputs
    for one in rest:
        h = h + one
    return h


@torch.compile
def stacked(history):
    return torch.stack(history).sum(0)


@torch.compile
def listed(history):
    return torch.stack(history).sum(0)


@torch.compile
def paired(inputs):
    h, first, second = inputs
    return h + first * second


def run():
    h, skips, frames, seen = torch.ones(3), [], [], []
    pair = [torch.ones(3), torch.ones(3)]
    for _ in range(11):
        skips.append(torch.ones(3))
        frames.append(torch.ones(3))
        seen.append(torch.ones(3))
        joined((h, *skips))  # PTR207 in joined
        stacked(tuple(frames))  # PTR207 in stacked
        listed([h, *seen])  # PTR207 in listed
        paired((h, *pair))
        paired((h, *skips[-2:])) if len(skips) > 1 else None
