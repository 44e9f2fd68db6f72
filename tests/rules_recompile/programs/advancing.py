"""Numbers that a method of their object advances, called in each turn: of an object that a compiled module holds, or
that is a global, they go to the limit; of another one they cost once, unless they decide what the graph is."""

import torch


class Clock:
    def __init__(self, most=40):
        self.turn = 1
        self.short = 1
        self.unread = 0
        self.most = most
        self.kept = torch.ones(())
        self.rate = 1.0

    def tick(self):
        self.turn = min(self.most, self.turn + 1)
        self.rate = 0.5 * (1 + self.turn / self.most)

    def blink(self):
        self.short = min(self.short + 1, 2)
        self.unread += 1
        self.kept += 1


class Held(torch.nn.Module):
    def __init__(self, clock):
        super().__init__()
        self.clock = clock
        self.heat = 5.0
        self.k = 1

    def anneal(self):
        self.heat = max(0.5, self.heat * 0.9)

    def widen(self):
        self.k = self.k + 2

    def forward(self, x):
        turns = self.clock.turn
        for _ in range(turns):
            x = x.sin()
        return x / self.heat


class Wide(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.k = 1
        self.parts = torch.nn.ModuleList([torch.nn.Identity() for _ in range(20)])

    def widen(self):
        self.k = min(self.k + 1, len(self.parts))

    def forward(self, x):
        for part in self.parts[: self.k]:
            x = part(x)
        return x / self.k


class Brief(torch.nn.Module):
    def __init__(self, clock):
        super().__init__()
        self.clock = clock

    def forward(self, x):
        return x.repeat(self.clock.short) * self.clock.kept


@torch.compile
def turned(x, clock):
    for _ in range(clock.turn):
        x = x.sin()
    return x


@torch.compile
def divided(x, clock):
    return x / clock.turn


@torch.compile
def brief(x, clock):
    return x.repeat(clock.short)


class Rated(torch.nn.Module):
    def __init__(self, clock):
        super().__init__()
        self.clock = clock

    def forward(self, x):
        return x * self.clock.rate


WATCH = Clock()


@torch.compile
def by_watch(x):
    return x / WATCH.turn


class Trainer:
    def __init__(self):
        self.step = 0
        self.depth = 1

    @torch.compile
    def loss(self, x):
        return x.mean() * (1 + self.step / 1000)

    @torch.compile
    def deep(self, x):
        for _ in range(self.depth):
            x = x.sin()
        return x

    def plain(self, x):
        return x / self.step

    def fit(self, x):
        for _ in range(11):
            self.loss(x)
            self.step += 1  # PTR211 once in loss

    def dig(self, x):
        self.depth += 1  # PTR211 in deep
        self.deep(x)


def hold(x):
    clock = Clock()
    net = Held(clock)
    fast = torch.compile(net)
    for _ in range(11):
        fast(x)
        clock.tick()  # PTR211 in forward


def calm(x):
    wide = Wide()
    fast = torch.compile(wide)
    for _ in range(11):
        fast(x)
        wide.widen()  # PTR211 in forward
    rated = Clock()
    scaled = torch.compile(Rated(rated))
    for _ in range(11):
        scaled(x)
        rated.tick()  # PTR211 in forward
    clock = Clock()
    short = torch.compile(Brief(clock))
    for _ in range(11):
        short(x)
        clock.blink()


def give(x):
    clock, other, few = Clock(), Clock(), Clock(most=3)
    for _ in range(11):
        turned(x, clock)  # PTR220 in turned
        divided(x, other)  # PTR220 once in divided
        clock.tick()
        other.tick()
    for _ in range(11):
        brief(x, few)
        few.blink()


def watch(x):
    for _ in range(11):
        by_watch(x)
        WATCH.tick()  # PTR203 in by_watch


def run():
    x = torch.ones(4)
    hold(x)
    calm(x)
    give(x)
    watch(x)
    trainer = Trainer()
    trainer.fit(x)
    for _ in range(11):
        trainer.dig(x)
    net = Held(Clock())
    slow = torch.compile(net)
    for _ in range(3):
        slow(x)
        net.anneal()
    net.plain = trainer.plain
