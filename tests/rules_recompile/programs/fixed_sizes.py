"""Sizes and numbers that the code makes constants of the graph, and options that are handed on."""

import types

import torch


class Rows(torch.nn.Module):
    def note(self, text):
        return

    def forward(self, x: torch.Tensor):
        rows, width = x.shape
        self.note(f"{rows} rows")  # PTR230
        torch._assert(width > 0, f"of {rows}")  # PTR230
        pads = [0] * rows  # PTR230
        y = x.new_zeros(width)
        for row in x:  # PTR230
            y = y + row
        for i in range(rows):  # PTR230
            y = y + x[i]
        halves = [x[i] / 2 for i in range(rows)]  # PTR230
        return torch.nn.functional.avg_pool1d(x.T, x.shape[0]).sum() + y + sum(halves) + len(pads)  # PTR230


class Attention(torch.nn.Module):
    def forward(self, q: torch.Tensor, mask: torch.Tensor | None = None):
        _, _, n, _ = q.shape
        causal = mask is None and n > 1
        known = n > 1 and mask is None
        attend = torch.nn.functional.scaled_dot_product_attention
        y = attend(q, q, q, mask, 0.0, q.size(2) == 4)  # PTR230
        if mask is None:
            y = y + attend(q, q, q, is_causal=causal)  # PTR230
        y = y + attend(q, q, q, attn_mask=mask, is_causal=known)
        return y + attend(q, q, q, attn_mask=mask, is_causal=True if n > 1 else False)  # noqa: SIM210


@torch.compile
def padded(x):
    rest = x.shape[0] % 4
    if x.shape[0] % 4 != 0:  # PTR230 once
        x = torch.nn.functional.pad(x, (0, 0, 0, 4 - rest))
    if x.shape[0] > 10_000:
        raise ValueError(f"{x.shape[0]} rows")
    for _ in range(x.dim()):
        x = x + 1
    for _ in range(x.shape[-1]):
        x = x + 1
    return x


class Cache(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("keys", torch.zeros(2, 16, 3))

    def write(self, x, at):
        self.keys[:, at] = x  # PTR231 in forward
        return self.keys

    def forward(self, x, step: int, until: int = 4):
        return self.write(x, step).sum() + self.keys[:, :until].sum()


class Heads(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.heads = torch.nn.ModuleList([torch.nn.Linear(3, 3) for _ in range(12)])

    def forward(self, x, at: int):
        return self.heads[at - self.config.first](x)  # PTR231 in forward


class BareHeads(Heads):
    def forward(self, task, x):
        return self.heads[task - self.config.first](x)  # PTR231 in forward


@torch.compile
def sampled(x, temperature):
    return x / temperature


@torch.compile
def picked(x, n):
    return x[:, n]


def sample(x, temperature: float = 0.7):
    return sampled(x, temperature)  # PTR220 once in sampled


def all_of(x):
    for n in range(12):
        picked(x, n)  # PTR207 in picked


attend = torch.compile(torch.nn.functional.relu, dynamic=False)  # PTR206 in inner


def run():
    rows, cache = torch.compile(Rows()), torch.compile(Cache())
    heads = torch.compile(Heads(types.SimpleNamespace(first=2)))
    bare = torch.compile(BareHeads(types.SimpleNamespace(first=2)))
    for n in range(2, 13):
        x = torch.ones(n, 3)
        rows(x)  # PTR213 in forward
        cache(torch.ones(3), n)  # PTR207 in forward
        heads(torch.ones(3), n)  # PTR207 in forward
        bare(n, torch.ones(3))  # PTR207 in forward
        sample(x, n / 10)
    for n in range(5, 13):
        padded(torch.ones(n, 4))
        attend(torch.ones(n, 3))
    all_of(torch.ones(2, 12))
