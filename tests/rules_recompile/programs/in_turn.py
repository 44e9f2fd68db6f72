"""What a loop over a few things gives in turn, and one tensor in two forms: compiled for each once."""

import enum

import torch


class Pool(enum.Enum):
    MEAN = 1
    MAX = 2
    FIRST = 3


@torch.compile
def cast(x):
    return x.sin()


@torch.compile
def made(x):
    return x.cos()


@torch.compile
def shaped(x):
    return x.tan()


@torch.compile
def strided(x):
    return x @ x.mT


@torch.compile
def pooled(x, pool):
    return x.mean() if pool is Pool.MEAN else x.amax() if pool is Pool.MAX else x[0]


@torch.compile
def named(x, name):
    return x.sin() if name == "sin" else x.cos() if name == "cos" else x


@torch.compile
def flagged(x, causal):
    return x.tril() if causal else x


@torch.compile
def turned(x):
    return x.sum(0)


@torch.compile
def doubled(x):
    return x.sum(1)


@torch.compile
def alike(x):
    return x.exp()


LAID_OUT = [torch.ones(4, 6), torch.ones(6, 4).t()]


@torch.compile
def of_global(x):
    return x.sum(0)


def run():
    for one in LAID_OUT:
        of_global(one)  # PTR220 once in of_global
    x = torch.ones(4, 6)
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        cast(x.to(dtype))  # PTR220 once in cast
        y = torch.ones(4, dtype=dtype)
        made(y)  # PTR220 once in made
        alike(x.to(dtype).float())
    for shape in ((4,), (2, 4), (2, 2, 4)):
        shaped(torch.ones(shape))  # PTR220 once in shaped
    for one in [x, torch.ones(6, 4).t(), torch.ones(8, 6)[::2]]:
        strided(one)  # PTR220 once in strided
        alike(one.contiguous())
    for pool in Pool:
        pooled(x, pool)  # PTR220 once in pooled
    for name in ("sin", "cos", "none"):
        named(x, name)  # PTR220 once in named
    for causal in (True, False):
        flagged(x, causal)  # PTR220 once in flagged
    for _ in range(3):
        turned(x)
        turned(x.t())  # PTR222 once in turned
        doubled(x)
        doubled(x.double())  # PTR222 once in doubled
        alike(x.t().contiguous())
        alike(x.float())
    for size in ((4, 6), (4, 6)):
        alike(torch.ones(size))
