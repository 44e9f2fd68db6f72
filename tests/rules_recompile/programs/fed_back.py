"""What a compiled function returns longer than it was given, and is given again; dictionaries with other keys."""

import torch


class Attend(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = torch.nn.Linear(4, 4)

    def forward(self, x, past):
        past = past + [self.lin(x)]  # noqa: RUF005
        return x + torch.cat(past).mean(0), past


class Optional(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = torch.nn.Linear(4, 4)

    def forward(self, x, past=None):
        k = self.lin(x)
        past = (k,) if past is None else (*past, k)
        return x + torch.cat(past).mean(0), past


class Written(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = torch.nn.Linear(4, 4)

    def forward(self, x, past, at):
        past = [torch.index_copy(p, 0, at, self.lin(x)) for p in past]
        return x + past[0].mean(0), past


class Block(torch.nn.Module):
    def forward(self, inputs):
        x, *skips, last = inputs
        return (x + 1, *skips, x, last)


class Level(torch.nn.Module):
    def forward(self, inputs):
        x, *skips, last = inputs
        return (x + 1, *skips, last)


@torch.compile
def adds(x, seen):
    longer = [*seen, x * 2]
    if x.shape[0] > 100:
        longer.append(x)
    return longer


@torch.compile
def sums(table):
    return sum(table.values())


@torch.compile
def alike(table):
    return sum(table.values()) * 2


def run():
    x, past = torch.ones(1, 4), []
    with torch.no_grad():
        attend = torch.compile(Attend())
        for _ in range(12):
            x, past = attend(x, past)  # PTR210 in forward
        optional, past = torch.compile(Optional()), None
        for _ in range(12):
            x, past = optional(x, past)  # PTR210 in forward
        written, past = torch.compile(Written()), [torch.zeros(12, 4)]
        for n in range(12):
            x, past = written(x, past, torch.tensor([n]))
        state = torch.ones(3), torch.ones(1)
        block = torch.compile(Block())
        for _ in range(12):
            state = block(state)  # PTR210 in forward
        state = torch.ones(3), torch.ones(2), torch.ones(1)
        level = torch.compile(Level())
        for _ in range(12):
            state = level(state)
    seen = []
    for _ in range(12):
        seen = adds(torch.ones(3), seen)  # PTR210 in adds
    for n in range(1, 12):
        sums({f"loss {i}": torch.ones(2) for i in range(n)})  # PTR210 in sums
        sums({n: torch.ones(2)})  # PTR210 in sums
        alike({i: torch.ones(2) for i in range(3)})
