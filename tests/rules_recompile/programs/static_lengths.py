"""Sentences of every length through a model compiled with `dynamic=False`, and one whose length is marked."""

import torch

embed = torch.nn.Embedding(10, 4)


@torch.compile(dynamic=False)
def encode(ids):
    return embed(ids).mean(0)


@torch.compile
def encode_any(ids):
    return embed(ids).mean(0)


def run():
    for n in range(2, 14):
        encode(torch.zeros(n, dtype=torch.int64))  # PTR206 in encode
    for n in range(2, 14):
        ids = torch.zeros(n, dtype=torch.int64)
        torch._dynamo.mark_dynamic(ids, 0)
        encode_any(ids)
