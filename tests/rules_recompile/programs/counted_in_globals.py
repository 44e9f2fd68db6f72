import torch
from torch.optim import Optimizer


class Clock:
    def __init__(self):
        self.ticks = 0
        self.seen = {"n": 0}
        self.row = [0, 0]

    def tick(self, x):
        self.ticks += 1  # PTR203 in ticked
        return x * self.ticks

    def see(self, x):
        self.seen["n"] += 1  # PTR203 in saw
        return x * self.seen["n"]

    def place(self, x):
        self.row[1] += 1  # PTR203 in placed
        return x * self.row[1]


class Table:
    counts = {"n": 0}


class Holder:
    def __init__(self):
        self.clock = Clock()


class Descent(Optimizer):
    def __init__(self, params):
        super().__init__(params, {"lr": 0.1})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            if "step" not in group:
                group["step"] = 0
            group["step"] += 1  # PTR203 in descend
            for p in group["params"]:
                p.add_(p.grad, alpha=-0.1 / (1 - 0.9 ** group["step"]))


CLOCK, OWN, HELD, COUNTS, GIVEN = Clock(), Clock(), Holder(), {"n": 0}, {"n": 0}
ROW, INNER = [0], {"a": {"n": 0}}
WEIGHT = torch.nn.Parameter(torch.ones(3))
WEIGHT.grad = torch.ones(3)
OPTIMIZER = Descent([WEIGHT])


@torch.compile
def ticked(x):
    return CLOCK.tick(x)


@torch.compile
def saw(x):
    return CLOCK.see(x)


@torch.compile
def held(x):
    HELD.clock.ticks += 1  # PTR203
    return x * HELD.clock.ticks


@torch.compile
def counted(x):
    COUNTS["n"] += 1  # PTR203
    return x * COUNTS["n"]


@torch.compile
def placed(x):
    return CLOCK.place(x)


@torch.compile
def row(x):
    ROW[0] += 1  # PTR203
    return x * ROW[0]


@torch.compile
def inner(x):
    INNER["a"]["n"] += 1  # PTR203
    return x * INNER["a"]["n"]


@torch.compile
def of_class(x):
    Table.counts["n"] += 1  # PTR203
    return x * Table.counts["n"]


@torch.compile
def given(x, counts):
    counts["n"] += 1  # PTR218 once
    return x * counts["n"]


@torch.compile
def descend():
    OPTIMIZER.step()


own = torch.compile(OWN.tick)


def run():
    x = torch.ones(3)
    for _ in range(12):
        x = ticked(x) + saw(x) + held(x) + counted(x) + given(x, GIVEN) + own(x)
        x = placed(x) + row(x) + inner(x) + of_class(x)
        descend()
