"""Methods under `@torch.compile`: one whose objects have a weight of any size, one that all have alike."""

import torch


class Norm(torch.nn.Module):
    def __init__(self, size, eps=1e-6):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(size))
        self.eps = eps

    @torch.compile(dynamic=True)  # PTR226 in forward
    def forward(self, x):
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + self.eps) * self.weight


class Up(torch.nn.Module):
    def __init__(self, size):
        super().__init__()
        self.size = size
        self.up = torch.nn.Linear(self.size, 2 * self.size)

    @torch.compile  # PTR226 in lift
    def lift(self, x):
        return self.up(x)


class Alike(torch.nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(size))

    @torch.compile
    def apply_to(self, x):
        return x * self.weight


class Whole(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inside = torch.nn.ModuleList([Alike(4) for _ in range(11)])

    def forward(self, x):
        for part in self.inside:
            x = part.apply_to(x)
        return x


def run():
    for x in [torch.ones(2, size) for size in range(4, 16)]:
        Norm(x.shape[1])(x)
        Up(x.shape[1]).lift(x)
    Whole()(torch.ones(2, 4))
