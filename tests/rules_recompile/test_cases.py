"""Code that the recompilation rules must report, at the lines whose comments say so, and code that they must not."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from pt2lint.finding import Finding
from pt2lint.fixes.edit import apply_edits
from pt2lint.project.config import Settings
from pt2lint.rule.loader import load_rules
from pt2lint.static.engine import lint
from tests.linting import findings, headed
from tests.rules_recompile.blocks import block, codes, marked
from tests.rules_recompile.running import outcome, same

CASES = {
    "a number that grows up to a size": """
class Ring(torch.nn.Module):
    def __init__(self, size):
        super().__init__()
        self.size = size
        self.filled = 0
        self.warm = 0

    def forward(self, x):
        self.filled = min(self.filled + x.shape[0], self.size)  # PTR202
        self.warm = min(self.warm + 1, 4)
        return x * self.filled
""",
    "a list that an object in a list keeps": """
class Timer:
    def __init__(self):
        self.seen = []

    def ended(self, loss):
        self.seen.append(loss.detach())  # PTR204

class Last:
    def ended(self, loss):
        self.loss = [loss]
        self.loss.append(loss * 2)

class Trainer:
    def __init__(self, model, watchers):
        self.model, self.watchers = model, watchers
        self.run = torch.compile(self.step)

    def step(self, x):
        loss = self.model(x).mean()
        for watcher in self.watchers:
            watcher.ended(loss)
        return loss

def train(batches):
    trainer = Trainer(torch.nn.Linear(2, 2), [Timer(), Last()])
    for x in batches:
        trainer.run(x)
""",
    "pieces of one size": """
@torch.compile
def doubled(x):
    return x * 2

def run():
    for part in torch.ones(2, 16).split(4, dim=1):
        doubled(part)
    for part in torch.ones(2, 18).split(4, dim=1):
        doubled(part)  # PTR213
    whole = torch.ones(16, 2)
    for part in whole.chunk(4):
        doubled(part)
    for part in torch.split(whole, 5):
        doubled(part)  # PTR213
""",
    "what forward defines and a decorator compiles": """
class Net(torch.nn.Module):
    def forward(self, x):
        @torch.compile  # PTR205
        def scale(y):
            return y * 2

        @torch.compile
        def kept(y):
            return y * 3

        def plain(y):
            return y * 4

        self.kept = kept
        return scale(x) + kept(x) + plain(x)

def make():
    @torch.compile
    def scale(y):
        return y * 2

    return scale(torch.ones(3))
""",
    "a number that what comes from elsewhere is given": """
class Runner:
    def __init__(self, model):
        self.model = torch.compile(model)
        self.most = 3
        self.steps = 0

    def step(self, x):
        self.steps += 1
        part = self.steps / 100
        self.model(x, part=part)  # PTR220
        self.model(x, torch.tensor(part), self.most)
""",
    "parts that a loop finds, options that are spread, and numbers in a tuple": """
import typing

class Noise(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.epoch = self.seen = 0

    def forward(self, x):
        return x + self.epoch

class Plain(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.noise = Noise()

class Batch(typing.NamedTuple):
    x: torch.Tensor
    length: int
    rows: int

@torch.compile
def deep(x, depth=1, gain=1.0):
    for _ in range(depth):
        x = torch.sin(x) * gain
    return x

@torch.compile
def encode(batch):
    return batch.x * batch.length

@torch.compile
def decode(x, plan):
    return x * plan.levels

def train(sizes, plan):
    net = torch.nn.Sequential(torch.nn.Linear(4, 4), Noise())
    other = torch.nn.Sequential(Noise())
    compiled = torch.compile(net)
    options = {"gain": 0.5}
    for epoch in range(100):
        for module in net.modules():
            if isinstance(module, Noise):
                module.epoch = epoch  # PTR211
                module.seen = epoch
        for module in Plain().modules():
            module.epoch = epoch
        x = compiled(torch.ones(2, 4))
        options["depth"] = epoch + 1  # PTR207
        deep(x, **options)
        encode(Batch(x, epoch, 3))  # PTR220
        encode(Batch(x, 3, epoch))
        plan = dataclasses.replace(plan, levels=epoch, seen=1)
        decode(x, plan)  # PTR220
    for n in sizes:
        deep(x, int(n), 0.5)  # PTR207
        deep(x, int(len(sizes)), 0.5)
""",
    "batches that a generator pads": """
def batches(rows):
    for at in range(0, len(rows), 3):
        yield torch.nn.utils.rnn.pad_sequence(rows[at : at + 3], batch_first=True)

def longest(rows):
    for at in range(0, len(rows), 3):
        part = rows[at : at + 3]
        x = torch.zeros(len(part), max(len(row) for row in part), 4)
        yield x

def fixed(rows, max_length=40):
    for at in range(0, len(rows), 3):
        part = rows[at : at + 3]
        yield torch.zeros(len(part), max_length, max(len(row) for row in part) * 0 + 4)

rows = [torch.ones(n * 7 % 37 + 2, 4) for n in range(60)]
static = torch.compile(torch.nn.Linear(4, 4), dynamic=False)
free = torch.compile(torch.nn.Tanh())
for batch in batches(rows):
    static(batch)  # PTR206

def run():
    for batch in longest(rows):
        static(batch)  # PTR206
    for batch in fixed(rows):
        static(batch)
    for batch in longest(rows):
        free(batch)  # PTR213
""",
    "a number that an element is computed of": """
TABLE = [torch.ones(3) * n for n in range(40)]

def key(n):
    return n * 2

def half(n):
    return n // 20

@torch.compile
def by_product(x, n):
    return x + TABLE[2 * n + 1]

@torch.compile
def by_name(x, n):
    place = n + 1
    return x + TABLE[place]

@torch.compile
def by_function(x, n):
    return x + TABLE[key(n)]

@torch.compile
def by_few(x, n):
    return x + TABLE[half(n)]

def run():
    x = torch.ones(3)
    for step in range(12):
        by_product(x, step)  # PTR207
        by_name(x, step)  # PTR207
        by_function(x, step)  # PTR207
        by_few(x, step)  # PTR220
""",
    "what a loop or a helper makes for compiled code": """
def targets_for(epoch, y):
    return {f"stage{epoch}": y}

def named(y):
    return {"target": y}

@torch.compile
def loss(out, targets):
    return sum((out - t).sum() for t in targets.values())

@torch.compile
def score(tokens, table):
    return table[torch.tensor(tokens)].sum()

@torch.compile
def repeat(x, n):
    for _ in range(n):
        x = x * 2
    return x

@torch.compile
def step_all(opt):
    opt.step()  # PTB165

def run(x, lengths: torch.Tensor, table):
    tokens = [0]
    kept = [0]
    same = [0]
    for epoch in range(20):
        targets = targets_for(epoch, x)
        loss(x, targets)  # PTR210
        loss(x, named(x))
        score(tokens, table)  # PTR207
        score(kept, table)  # PTR207
        score(same, table)
        tokens = tokens + [epoch]
        kept = [*kept, epoch]
        same = [*same[1:], epoch]
    for n in lengths:
        repeat(x, n.item())  # PTR220
    nets = [nn.Linear(2, 2) for _ in range(10)]
    optimizers = [torch.optim.SGD(net.parameters(), lr=torch.tensor(0.1)) for net in nets]
    for opt in optimizers:
        step_all(opt)  # PTR223
""",
    "counted in a hook": """
class Schedule:
    def __init__(self, model):
        self.step = 0
        model.register_forward_pre_hook(self.before)

    def before(self, module, args):
        self.step += 1  # PTR202
        return (args[0] * self.step,)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 4)

    def forward(self, x):
        return self.body(x)

def run(x):
    net = Net()
    Schedule(net.body)
    net = torch.compile(net)
    for _ in range(12):
        net(x)
""",
    "counted in an object that is a hook": """
class Average:
    def __init__(self):
        self.seen, self.every = 0, 0
        self.mean = torch.zeros(4)

    def __call__(self, module, args, output):
        self.seen += 1  # PTR202
        self.mean += (output.detach().mean(0) - self.mean) / self.seen

class Printed:
    def __init__(self):
        self.calls = 0

    def __call__(self, module, args, output):
        self.calls += 1

def run(x):
    net = nn.Sequential(nn.Linear(4, 4), nn.GELU())
    average = Average()
    net[0].register_forward_hook(average)
    net = torch.compile(net)
    for _ in range(12):
        net(x)

def look(x):
    net = nn.Sequential(nn.Linear(4, 4), nn.GELU())
    net[0].register_full_backward_hook(Printed())
    net = torch.compile(net)
    for _ in range(12):
        net(x)
""",
    "a compilation for each size": """
class Cache:
    def __init__(self, model):
        self.model = model
        self.compiled = {}

    def by_shape(self, x):
        key = tuple(x.shape)
        if key not in self.compiled:
            self.compiled[key] = torch.compile(self.model, dynamic=False)  # PTR206
        return self.compiled[key](x)

    def by_length(self, x):
        if x.size(0) not in self.compiled:
            self.compiled[x.size(0)] = torch.compile(self.model, dynamic=False)  # PTR206
        return self.compiled[x.size(0)](x)

    def by_name(self, name, x):
        if name not in self.compiled:
            self.compiled[name] = torch.compile(self.model, dynamic=False)
        return self.compiled[name](x)

    def plain(self, x):
        if x.shape not in self.compiled:
            self.compiled[x.shape] = torch.compile(self.model)
        return self.compiled[x.shape](x)
""",
    "lists that are cut once they are long": """
class Bank(torch.nn.Module):
    def __init__(self, size=64):
        super().__init__()
        self.bank = []
        self.few = []
        self.last = []
        self.kept = []
        self.size = size

    def forward(self, x):
        self.bank.append(x)  # PTR204
        if len(self.bank) > self.size:
            self.bank.pop(0)
        self.few.append(x)
        if len(self.few) > 4:
            self.few.pop(0)
        self.kept.append(x)  # PTR204
        while len(self.kept) >= 20:
            del self.kept[0]
        self.last.append(x)
        if len(self.last) > 9:
            self.last.pop(0)
        self.last.clear()
        return sum(self.bank)

torch.compile(Bank())(torch.ones(3))
""",
    "a number set in a module that is compiled with dynamic=False": """
class Scaled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = 1.0

    def forward(self, x):
        return x * self.scale

net = Scaled()
other = Scaled()
fast = torch.compile(net, dynamic=False)
also = torch.compile(other)
for step in range(12):
    net.scale = step / 12  # PTR211
    fast(torch.ones(3))
    other.scale = step / 12  # PTR211: a note
    also(torch.ones(3))
""",
    "numbers that dynamic=True makes inputs of the graph": """
@torch.compile(dynamic=True)
def scaled(x, by):
    return x * by

@torch.compile(dynamic=True)
def dropped(x, rate):
    return torch.nn.functional.dropout(x, rate)

@torch.compile(dynamic=True)
def named(x, mode):
    return x if mode == "a" else x + 1

x = torch.ones(3)
for i in range(20):
    scaled(x, i / 20)
scaled(x, 2.5)
scaled(x, 1.5)
scaled(x, None)  # PTR222
dropped(x, 0.5)
dropped(x, 0.25)  # PTR222
named(x, "a")
named(x, "b")  # PTR222
""",
    "rows of a buffer that are filled": """
class Window(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("kept", torch.zeros(6, 2))
        self.filled = 0

    def forward(self, new):
        n = new.shape[0]
        if self.filled < self.kept.shape[0]:
            self.kept[self.filled : self.filled + n] = new
            self.filled += n  # PTR202
        else:
            self.kept[-n:] = new
        return self.kept.sum()

torch.compile(Window())(torch.ones(2, 2))
""",
    "a number that is whole at the first call alone": """
class Moving(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.phase, self.step, self.scale = 0, 0.25, 1

    def forward(self, x):
        self.phase += self.step
        self.scale = self.scale / 2
        return x + self.phase * self.scale

torch.compile(Moving())(torch.ones(2))
""",
    "a number to which each turn adds a fraction, and one that a loop goes over": """
@torch.compile
def moved(x, t):
    return x * t

class Noised(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.sigma = 1.0

    def forward(self, x):
        return x / self.sigma

@torch.compile
def summed(x, added):
    return x * added

def sample(x):
    t, dt = 0.0, 0.05
    while t < 1:
        x = moved(x, t)  # PTR220
        t += dt
    at = 0.0
    for _ in range(20):
        at = at + 0.05
        x = moved(x, at)  # PTR220
    added, by = torch.zeros(3), 0.5
    for _ in range(20):
        added += by
        x = summed(x, added)
    return x

sample(torch.ones(3))
net = Noised()
fast = torch.compile(net)
for sigma in torch.linspace(1, 0.1, 20).tolist():
    net.sigma = sigma  # PTR211: a note
    fast(torch.ones(3))
""",
    "a number that each call sets before it counts, by methods": """
class Estimates(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.counter = self.seen = self.late = 0

    def reset(self):
        self.counter = 0

    def reset_late(self):
        self.late = 0

    def estimate(self, x):
        self.counter += 1
        self.seen += 1  # PTR202
        self.late += 1  # PTR202
        return x * self.counter

    def forward(self, x):
        if self.training:
            return x
        self.reset()
        y = torch.cat([self.estimate(x) for _ in range(4)])
        self.reset_late()
        return y

class Direct(Estimates):
    def forward(self, x):
        self.counter = 0
        self.late = self.seen = 0
        return self.estimate(self.estimate(x))
""",
    "a list that each run makes anew, and fills in a loop": """
class Kept(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers, self.depth = torch.nn.ModuleList(torch.nn.Linear(3, 3) for _ in range(3)), 3
        self.seen = []

    def forward(self, x):
        self.seen = []
        self.seen.append(x)
        for i in range(self.depth):
            x = self.layers[i](x)
            self.seen.append(x.detach())
        return x

    def faster(self):
        return torch.compile(self)

    def score(self, x):
        return self.forward(x).mean().item()
""",
    "a method that counts": """
class Grown(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(3, 3) for _ in range(12))
        self.depth = 1
        self.rate = 0.5
        self.unread = 0
        self.register_buffer("seen", torch.tensor(0))

    def grow(self):
        self.depth += 1

    def soften(self):
        self.rate -= 0.01

    def count(self):
        self.unread += 1
        self.seen += 1

    def reset(self):
        if self.depth > 3:
            self.depth += 1

    def forward(self, x):
        for layer in self.layers[: self.depth]:
            x = layer(x)
        return x * self.rate + self.seen

net = Grown()
fast = torch.compile(net)
for epoch in range(12):
    fast(torch.ones(2, 3))
    net.grow()  # PTR211
    net.soften()  # PTR211: a note
    net.count()
    net.reset()
    if epoch % 3 == 0:
        net.grow()  # PTR211: a note
net.grow()
""",
    "a list or a set of a compiled module that grows": """
class Growing(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = torch.nn.ModuleList([torch.nn.Linear(3, 3)])
        self.active = set()
        self.window = [1.0]
        self.losses = []

    def grow(self):
        self.blocks.append(torch.nn.Linear(3, 3))

    def start(self):
        self.window.clear()
        self.window.append(1.0)

    def log(self, loss):
        self.losses.append(loss)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        if "last" in self.active:
            x = x + 1
        return x + sum(self.window)

net = Growing()
for _ in range(20):
    net.grow()
fast = torch.compile(net)
for step in range(20):
    fast(torch.ones(2, 3))
    net.blocks.append(torch.nn.Linear(3, 3))  # PTR211
    net.grow()  # PTR211
    net.active.add(f"part{step}")  # PTR211
    net.active.add("last")
    net.losses.append(step)
    net.log(step)
    net.start()
    if step % 10 == 0:
        fast.blocks.append(torch.nn.Linear(3, 3))  # PTR211: a note
for step in range(20):
    net.window.append(step / 20)
    fast(torch.ones(2, 3))
    net.window.pop(0)
for step in range(20):
    net.grow()
""",
    "what a function makes of a loop's number": """
class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.keep = 4
        self.name = "a"
        self.parts = torch.nn.ParameterDict({"a": torch.ones(3)})

    def use(self, name):
        self.name = name

    def forward(self, x):
        return x[: self.keep] * self.parts[self.name]

def keep_at(step):
    return 32 - 2 * step

def stepped(step):
    return 4 if step < 100 else 8

def prune(steps):
    net = Block()
    fast = torch.compile(net)
    for step in range(steps):
        net.keep = keep_at(step)  # PTR211
        net.keep = stepped(step)  # PTR211: a note
        fast(torch.ones(3))

def serve(names: list[str]):
    net = Block()
    fast = torch.compile(net)
    for name in names:
        net.use(name)  # PTR211
        fast(torch.ones(3))
    for name in ("a", "b"):
        net.use(name)
        fast(torch.ones(3))
    for name in names:
        net.name = name  # PTR211
        fast(torch.ones(3))

def grow(steps):
    fixed = torch.compile(Block(), dynamic=False)
    for step in range(steps):
        n = keep_at(step)
        ids = torch.randint(0, 9, (2, n + 1))
        fixed(ids[:, :-1])  # PTR206, PTR222
        fixed(ids[:, :4])

@torch.compile
def generate(ids, many):
    for _ in range(many):
        ids = torch.cat([ids, ids[:, -1:]], 1)
    return ids

for n in (3, 5, 2, 6, 4, 7, 8, 1, 9, 10):
    generate(torch.ones(1, 4), n)  # PTR207
for n in (3, 5, 3, 5, 3, 5, 3, 5, 3, 5):
    generate(torch.ones(1, 4), many=n)
""",
    "numbers that compiled code counts in a class": """
class Net(nn.Module):
    calls = 0
    depth = 0
    kept = 0
    steps = 0

    @classmethod
    def tick(cls):
        cls.steps += 1  # PTR203
        return cls.steps

    def forward(self, x):
        type(self).depth += 1
        type(self).kept += 1  # PTR203
        Net.calls += 1  # PTR203
        y = x + Net.calls + self.tick() + self.kept
        type(self).depth -= 1
        return y

net = torch.compile(Net())
def run(x):
    for _ in range(20):
        net(x)
""",
    "what Python's mathematics make of a number": """
import math

@torch.compile
def decayed(x, t, rate):
    return x * math.exp(-t / rate)

@torch.compile
def kept(x, t):
    return x * math.cos(math.pi * t) * math.sqrt(t) * 0.9 ** t

@torch.compile
def scaled(q):
    return q * math.log(q.shape[0])  # PTR230

@torch.compile
def rooted(q):
    return q / math.sqrt(q.shape[0])

def run(x):
    for step in range(40):
        decayed(x, step / 40, 0.5)  # PTR207
        decayed(x, 0.5, 1 + step)  # PTR207
        kept(x, step / 40)  # PTR220
        scaled(x)
        rooted(x)
""",
    "what NumPy makes of a number": """
import numpy as np

@torch.compile
def decayed(x, t, rate):
    return x * np.exp(-t / rate)

@torch.compile
def clipped(x, t):
    return x * float(np.clip(t / 10, 0, 2))

@torch.compile
def rooted(q):
    return q / np.sqrt(q.shape[0])  # PTR230

@torch.compile
def squared(x, a):
    return x * torch.as_tensor(np.square(a))

class Warmup:
    def __init__(self):
        self.steps = 0

    def scale(self):
        return np.minimum(np.power(self.steps, -0.5), 1e-3 * self.steps)

    @torch.compile
    def step(self, x):
        self.steps += 1  # PTR215
        return x * self.scale()

class Resumed:
    def __init__(self, steps, turns, size):
        self.steps, self.turns, self.size = steps, turns, size

    @torch.compile
    def step(self, x):
        self.steps += 1  # PTR215
        self.turns += 1
        self.size += 2
        return x * np.power(self.steps, -0.5) / self.turns * np.sqrt(self.size)

def run(x):
    warmup = Warmup()
    for step in range(1, 40):
        decayed(x, step / 40, 0.5)  # PTR207
        clipped(x, step)  # PTR207
        squared(x, np.ones(4) * 2)
        rooted(x)
        warmup.step(x)
""",
    "a step that a tensor counts": """
def scaled(p, step):
    return p / step

def run(states, ps):
    fixed = torch.compile(scaled, dynamic=False)
    total, count = torch.tensor(0.0), 0
    kept = {"step": 0.0}
    for n, p in enumerate(ps):
        state = states[n % 2]
        if len(state) == 0:
            state["step"] = torch.tensor(0.0)
        state["step"] += 1
        kept["step"] += 1
        total += 1
        count += 1
        fixed(p, state["step"])
        fixed(p, total)
        fixed(p, kept["step"])  # PTR207
        fixed(p, count)  # PTR207
""",
    "a list of an object that a global name leads to": """
class Schedule:
    def __init__(self):
        self.alphas = [0.1 * n for n in range(40)]

    def weigh(self, x, n):
        return x * self.alphas[n]

    def scale(self, x, n):
        return x * n

schedule = Schedule()

@torch.compile
def denoise(x, n):
    return schedule.weigh(x, n)

@torch.compile
def scaled(x, n):
    return schedule.scale(x, n)

@torch.compile
def of_argument(schedule, x, n):
    return schedule.scale(x, n)

def run(x):
    for n in range(30, -1, -1):
        denoise(x, n)  # PTR207
        scaled(x, n)  # PTR220
""",
    "how deep contexts are nested": """
class Depth:
    def __init__(self):
        self.active = 0
        self.entered = 0

    def __enter__(self):
        self.active += 1
        self.entered += 1  # PTR202
        return self

    def __exit__(self, *_):
        self.active -= 1

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.depth = Depth()

    def forward(self, x):
        with self.depth:
            return x * 2 if self.depth.active else x
""",
    "loops that begin at the end": """
@torch.compile
def returns(rewards: torch.Tensor, rate: float):
    sums, last = torch.zeros_like(rewards), 0.0
    for t in reversed(range(rewards.shape[0])):  # PTR230
        last = rewards[t] + rate * last
        sums[t] = last
    return sums
""",
    "buffers that are joined to": """
class Kept(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("keys", None)
        self.register_buffer("values", None)
        self.register_buffer("window", torch.zeros(1, 4))
        self.register_buffer("seen", torch.zeros(1, 4))
        self.plain = torch.zeros(1, 4)

    def forward(self, x):
        if self.keys is None:
            self.keys, self.values = x, x  # PTR217
        else:
            self.keys = torch.cat([self.keys, x])  # PTR204
            values = self.values
            longer = torch.cat((values, x))
            self.values = longer  # PTR204
        self.window = torch.cat([self.window, x])[-2:]
        self.seen = x
        self.seen = torch.cat([self.seen, x])
        self.plain = torch.cat([self.plain, x])
        return self.keys + self.values

class Emptied(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("rows", torch.zeros(0, 4))

    def forward(self, x):
        self.rows = torch.cat([self.rows, x])
        return self.rows.sum(0)

    def reset(self):
        self.rows = torch.zeros(0, 4)

def run(rows):
    kept, emptied = torch.compile(Kept()), torch.compile(Emptied())
    for x in rows:
        emptied.reset()
        kept(emptied(x))
""",
    "options of a loader in a dictionary": """
from torch.utils.data import DataLoader, TensorDataset

net = torch.compile(nn.Linear(4, 4))
data = TensorDataset(torch.ones(10, 4))
many = torch.cuda.device_count() > 1
workers = {"num_workers": 1} if many else {}

def train(loader):
    for (x,) in loader:
        net(x).sum().backward()

def whole(**more):
    options = {"batch_size": 4}
    if many:
        options.update({"shuffle": True})
    full = {"drop_last": True} if many else {}
    for loader in (DataLoader(data, batch_size=4, **full), DataLoader(data, batch_size=4, **more)):
        for (x,) in loader:
            net(x)
    for (x,) in DataLoader(data, **options):  # PTR212
        net(x)

train(DataLoader(data, batch_size=4, **workers))  # PTR212
whole()
""",
    "objects of one class, whichever it is": """
class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)

    @classmethod
    def named(cls, width):
        return cls(width)

    def forward(self, x):
        return self.layer(x)

if torch.cuda.is_available():
    model = Net(4)
else:
    model = Net.named(8)
model = torch.compile(model)

@torch.no_grad()
def estimate():
    return model(torch.ones(1, 4))  # PTR222

def step(optimizer):
    def closure():
        optimizer.zero_grad()
        loss = model(torch.ones(1, 4)).sum()
        loss.backward()
        return loss
    optimizer.step(closure)

step(torch.optim.LBFGS(model.parameters()))
estimate()
""",
    "a teacher beside a compiled student": """
from torch.utils.data import DataLoader, TensorDataset

class Net(nn.Module):
    def forward(self, x):
        return x * 2

def distill():
    teacher, student = Net(), torch.compile(Net(), dynamic=False)
    loader = DataLoader(TensorDataset(torch.ones(10, 4)), batch_size=4)
    for (x,) in loader:
        student(x).sub(teacher(x)).sum().backward()

def distill_any():
    teacher, student = Net(), torch.compile(Net(), dynamic=None)
    loader = DataLoader(TensorDataset(torch.ones(10, 4)), batch_size=4)  # PTR212
    for (x,) in loader:
        student(x).sub(teacher(x)).sum().backward()

def train():
    model = Net()
    loader = DataLoader(TensorDataset(torch.ones(10, 4)), batch_size=4)  # PTR212
    for (x,) in loader:
        model(x).sum().backward()
""",
    "modules whose forward is compiled": """
class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(3, 3)

    def forward(self, x, by):
        return self.inner(x) * by

class Itself(Scaled):
    def __init__(self):
        super().__init__()
        self.forward = torch.compile(self.forward)

    def steps(self, x):
        for i in range(9):
            x = self(x, i / 2)  # PTR220
        return x

class InPlace(Scaled):
    def __init__(self):
        super().__init__()
        self.compile()

def run(x):
    model = Scaled()
    model.forward = torch.compile(model.forward)
    itself, in_place = Itself(), InPlace()
    for i in range(9):
        model(x, i / 2)  # PTR220
        itself(x, i / 2)  # PTR220
        in_place(x, i / 2)  # PTR220

class Plain(Scaled):
    pass

def other(x):
    model, plain = Scaled(), Plain()
    model.forward = torch.compile(model.forward)
    for i in range(9):
        plain(x, i / 2)
""",
    "marks that are lost": """
model = torch.compile(torch.nn.Linear(3, 3))

def train(loader, device):
    for batch in loader:
        torch._dynamo.mark_dynamic(batch, 0)  # PTR229
        model(batch.to(device)).sum().backward()
    for batch in loader:
        torch._dynamo.maybe_mark_dynamic(batch, 0)  # PTR229
        batch = batch.detach() / 2
        with torch.autocast(device):
            model(batch)

def temporary(n):
    x = torch.ones(n, 3)
    torch._dynamo.mark_dynamic(x.double(), 0)  # PTR229
    return model(x)

def marked(loader, device):
    for batch in loader:
        torch._dynamo.mark_dynamic(batch, 0)
        model(batch).sum().backward()
        batch = batch.to(device)
        model(batch)
    for batch in loader:
        torch._dynamo.mark_dynamic(batch, 0)
        batch = batch.to(device)
        torch._dynamo.mark_dynamic(batch, 0)
        model(batch)
    for batch in loader:
        torch._dynamo.mark_dynamic(batch["ids"], 0)
        model(batch["ids"])
    for batch in loader:
        torch._dynamo.mark_dynamic(batch, 0)
        batch = batch.requires_grad_()
        model(batch.contiguous())
    for batch in loader:
        torch._dynamo.mark_dynamic(batch, 0)
        batch = next(loader)
        model(batch)
""",
    "functions that make what they are asked for as long": """
def crop(data, n):
    at = torch.randint(len(data) - n, (2,))
    return torch.stack([data[j : j + n] for j in at])

def picture(i, extra=0):
    side = 16 + 2 * i
    image = torch.rand(3, side, 8)
    return image, extra

def boxes(count):
    return [torch.ones(4) for _ in range(1 + count)]

def level(n):
    part = torch.rand(n, 3)
    return part.mean(0)

def first(n):
    return torch.ones(4) * n

@torch.compile(dynamic=False)
def static(x):
    return x * 2

still = torch.compile(lambda x: x + 1, dynamic=False)
alike = torch.compile(lambda x: x + 2, dynamic=False)

@torch.compile
def auto(x):
    return x * 2

@torch.compile
def fuse(parts):
    total = 0
    for part in parts:
        total = total + part
    return total

class Source:
    def draw(self, n):
        return torch.zeros(n, 2)

    def run(self):
        for step in range(20):
            auto(self.draw(step))  # PTR213

def run(data):
    for step in range(20):
        size = 8 + 2 * step
        x = crop(data, size)
        static(x)  # PTR206
        auto(crop(data, n=size))  # PTR213
        image = picture(step)
        static(image[0][None])
        still(crop(data, 8))
        alike(level(step))
        alike(first(step))
        fuse(boxes(step))  # PTR207
        fuse(boxes(3))
""",
    "blocks whose compiled method reads their number": """
class Block(nn.Module):
    def __init__(self, index, width):
        super().__init__()
        self.index = index
        self.width = width
        self.fc = nn.Linear(4, 4)

    @torch.compile
    def forward(self, x):
        if self.index == 3:  # PTR226
            x = x * 2
        return self.fc(x) * self.width

class Same(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width

    @torch.compile(dynamic=True)
    def forward(self, x):
        return x * self.width

class Plain(nn.Module):
    def __init__(self, index):
        super().__init__()
        self.index = index

    @torch.compiler.disable
    def forward(self, x):
        return x * self.index

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(i, 4) for i in range(12)])
        self.same = nn.ModuleList([Same(4) for i in range(12)])
        self.plain = nn.ModuleList([Plain(i) for i in range(12)])
""",
    "a place in a cache": """
class Cache(nn.Module):
    def __init__(self):
        super().__init__()
        self.at, self.room = 0, 64
        self.register_buffer("kept", torch.zeros(64, 4))

    def forward(self, x):
        n = x.shape[0]
        if self.at + n > self.room:
            self.at -= n  # PTR202
        self.kept[self.at : self.at + n] = x
        self.at += n  # PTR202
        return self.kept[: self.at].sum()

cache = torch.compile(Cache())
""",
    "numbers that dictionaries and objects hold": """
from dataclasses import dataclass
from types import SimpleNamespace

@dataclass
class Lengths:
    cu: torch.Tensor
    longest: int = 1
    unread: int = 2

@torch.compile
def attend(x, meta):
    return x.mul(meta["longest"]) + meta["cu"]

@torch.compile
def packed(x, lengths):
    return x * lengths.longest + lengths.cu

@torch.compile(dynamic=False)
def fixed(x, lengths):
    return x * lengths.longest + lengths.cu

def run(x, masks, n=0):
    options = Lengths(x)
    other = {"longest": 1, "cu": x}
    for step in range(20):
        lens = masks.sum(1)
        meta = {"longest": int(lens.max()), "cu": lens}
        attend(x, meta)  # PTR220
        attend(x, {"longest": 3, "cu": lens, "unread": lens.max().item()})
        packed(x, Lengths(lens, longest=lens.max().item()))  # PTR220
        packed(x, Lengths(lens, longest=4, unread=lens.max().item()))
        ctx = Lengths(cu=lens, longest=lens.max().item())
        fixed(x, ctx)  # PTR220
        options.longest = step / 20
        options.unread = step
        packed(x, options)  # PTR220
        other["longest"] = step + 1
        attend(x, other)  # PTR220
        n = n + 1
        fixed(x, Lengths(lens, n + n))
""",
    "numbers in a dictionary that a function makes": """
def collate(mask, room):
    lens = mask.sum(-1)
    return {"longest": int(lens.max()), "cu": lens[room:], "width": mask.shape[-1]}

@torch.compile
def attend(x, packed):
    return x.mul(packed["longest"]) + packed["cu"]

@torch.compile
def scaled(x, longest):
    return x * longest

def run(x, masks):
    fixed = collate(masks[0], 1)
    for mask in masks:
        packed = collate(mask, 1)
        attend(x, packed)  # PTR220
        attend(x, collate(mask, 2))  # PTR220
        scaled(x, packed["longest"])  # PTR220
        scaled(x, packed["width"])
        attend(x, fixed)
        scaled(x, fixed["longest"])
""",
    "numbers in a tuple, in an object made by position, and in a function that a turn makes": """
import time
from dataclasses import dataclass

class Options:
    def __init__(self, rate, name=""):
        self.rate = rate
        self.name = name

@dataclass
class Sizes:
    height: int
    width: int = 4

@torch.compile
def resized(x, size):
    return nn.functional.interpolate(x, size=size)

@torch.compile
def scaled(x, options):
    return x * options.rate

@torch.compile
def shaped(x, sizes):
    return x.view(sizes.height, 4)

@torch.compile
def applied(fn, x):
    return fn(x)

@torch.compile(dynamic=False)
def stamped(x, now):
    return x * now

def less(weight):
    return lambda x: x - weight

def run(x, sizes, weight):
    for n in range(2, 14):
        resized(x, (n, n))  # PTR220
        resized(x, (n, 8))  # PTR220
        resized(x, (8, 8))
        size = (n * 2, n)
        resized(x, size)  # PTR220
        scaled(x, Options(n / 10))  # PTR220
        scaled(x, Options(1, f"{n}"))
        shaped(torch.ones(n * 4), Sizes(n))  # PTR213 PTR220
        stamped(x, time.time())  # PTR207

        def moved(x, weight=weight):
            return x * weight - n

        def still(x, n=1):
            return x * weight - n

        applied(moved, x)  # PTR220
        applied(still, x)
        applied(lambda x: x * n, x)  # PTR220
        applied(lambda x, k=n: x * k, x)  # PTR220
        applied(lambda n: n * weight, x)
        applied(less(n), x)  # PTR220
        applied(less(2), x)
""",
    "parameters that are unfrozen": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(3, 3), nn.Linear(3, 3)
        self.layers = nn.ModuleList([nn.Linear(3, 3) for _ in range(12)])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.head(self.body(x))

def late(x):
    net = Net()
    net.body.requires_grad_(False)
    model = torch.compile(net)
    for p in model.parameters():
        p.requires_grad = False
    for epoch in range(30):
        net.head.requires_grad_(True)
        for p in net.head.parameters():
            p.requires_grad = True
        if epoch == 3:
            net.body.requires_grad_(True)  # PTR228
            for name, p in net.named_parameters():
                p.requires_grad = True  # PTR228
        x.requires_grad_(epoch > 3)
        model(x).sum().backward()

def gradually(x):
    net = Net()
    net.compile()
    for epoch in range(30):
        for p in net.layers[-epoch].parameters():
            p.requires_grad_(True)  # PTR228
        net(x).sum().backward()

def others(x):
    net, teacher = Net(), Net()
    model = torch.compile(net)
    for epoch in range(30):
        if epoch == 2:
            teacher.requires_grad_(True)
        model(x).sum().backward()
    if x.numel():
        net.requires_grad_(False)

late(torch.ones(3))
""",
    "pieces that are joined": """
def score(x):
    return x.sum()

def run(chosen, rejected, n):
    fast = torch.compile(score)
    same = torch.compile(lambda x: x * 2)
    for one, other in zip(torch.chunk(chosen, n), torch.chunk(rejected, n)):
        both = torch.cat([one, other], dim=0)
        fast(both)  # PTR213
        same(torch.cat([chosen, rejected]))
""",
    "numbers that a trainer counts in": """
from torch.nn import functional as F

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.step, self.rate, self.unread = 0, 0.0, 0
        self.lin = nn.Linear(4, 4)

    def forward(self, x):
        return F.dropout2d(self.lin(x), self.rate) / (1 + self.step)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(Block() for _ in range(3))
        self.drop = nn.Dropout(0.1)
        self.norms = nn.ModuleList(nn.LayerNorm(4) for _ in range(12))

    def set_step(self, step):
        for block in self.blocks:
            block.step = step

    def set_unread(self, step):
        for block in self.blocks:
            block.unread = step

    def forward(self, x, at, weight):
        for block in self.blocks:
            x = block(x)
        return self.drop(self.norms[at](x)) * weight  # PTR231

@torch.compile
def stretched(x, scale):
    return F.interpolate(x, scale_factor=scale)

class Trainer:
    def __init__(self):
        self.net = Net()
        self.model = torch.compile(self.net)
        self.step, self.epoch, self.fixed, self._frames = 0, 0, 3, 0

    @property
    def frames(self):
        return self._frames * 4

    @property
    def size(self):
        return self.fixed

    def collect(self, x):
        self._frames += 1
        return self.model(x, self.frames, 1.0) + self.model(x, self.size, 1.0)  # PTR207

    def train_step(self, x):
        self.net.set_step(self.step)  # PTR211
        self.net.set_step(self.fixed)
        self.net.set_unread(self.step)
        self.net.set_step(3)
        weight = min(1.0, self.step / 100)
        for block in self.net.blocks:
            block.rate = self.step / 100  # PTR211
        for part in self.net.modules():
            if isinstance(part, nn.Dropout):
                part.p = self.step / 100  # PTR211
        loss = self.model(x, self.step, weight)  # PTR207 PTR220
        self.step += 1
        return loss + self.model(x, self.fixed, 1.0)

    def fit(self, data, n):
        for epoch in range(n):
            self.epoch = epoch
            self.model(data, self.epoch, 1.0)  # PTR207
            for layer in self.net.blocks:
                layer.step = epoch  # PTR211
            stretched(data, 1 + epoch / 10)  # PTR207
""",
    "what a forward calls that is compiled by itself": """
class Norm(nn.Module):
    def __init__(self, eps):
        super().__init__()
        self.eps = eps

@torch.compile
def norm(layer, x):
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + layer.eps)

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.before, self.after = Norm(1e-5), Norm(1e-6)

    def forward(self, x, max_len=None):
        x = norm(self.before, x)[:max_len]  # PTR220
        return norm(self.after, x)  # PTR220

class Model(nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.blocks = nn.ModuleDict({str(i): Block() for i in range(depth)})

    def compile_blocks(self):
        for block in self.blocks.values():
            block.compile()

    def forward(self, x, lengths=None):
        longest = None
        if lengths is not None:
            longest = max(lengths)
        for block in self.blocks.values():
            x = block(x, max_len=longest)  # PTR220
        return x
""",
    "a setting under a name": """
class Layer:
    def __init__(self):
        self.scaling = {"a": 1.0}

    def scale(self, by):
        for name in self.scaling:
            self.scaling[name] *= by

class Linear(nn.Module, Layer):
    def forward(self, x):
        for name in ("a",):
            scaling = self.scaling[name]
            x = x if scaling == 1 else x * scaling  # PTR219
        return x

compiled = torch.compile(Linear())
""",
    "blocks with a number each": """
class Attention(nn.Module):
    def __init__(self, width, layer_idx):
        super().__init__()
        self.layer_idx = layer_idx
        self.query = nn.Linear(width, width)

    def forward(self, x, cache):
        return cache.update(self.query(x), self.layer_idx)

class Block(nn.Module):
    def __init__(self, width, layer_idx):
        super().__init__()
        self.attention = Attention(width, layer_idx=layer_idx)

    def forward(self, x, cache):
        return x + self.attention(x, cache)

class Often(Block):
    def __init__(self, width, layer_idx):
        super().__init__(width, layer_idx)
        self.first = layer_idx == 0
        self.layer_idx = layer_idx

    def forward(self, x, cache=None):
        if cache is not None:
            cache.update(x, self.layer_idx)
        return x if self.first else -x

class Model(nn.Module):
    def __init__(self, depth, width):
        super().__init__()
        self.layers = nn.ModuleList([Block(width, i) for i in range(depth)])
        self.alike = nn.ModuleList([Block(width, 0) for i in range(depth)])
        self.often = nn.ModuleList([Often(width, i) for i in range(depth)])
        self.later = [torch.compile(Block(width, i + 1)) for i in range(depth)]  # PTR226
        self.last = torch.compile(Block(width, depth))

    def compile_layers(self):
        for i, layer in enumerate(self.layers):
            self.layers[i] = torch.compile(layer)  # PTR226
        for layer in self.often:
            layer.compile()  # PTR226
""",
    "two ways that are one": """
@torch.compile
def norm(x, squared):
    return x.square().mean() if squared else x.abs().mean()

@torch.compile
def scaled(x, twice):
    return x * 2 if twice else x

@torch.compile
def parts(x, size):
    for n in range(0, len(x), size):
        yield x[n : n + size]

@torch.compile
def counted(x, verbose):
    for n in range(3):
        x = x + x.sum().item()
    return x if verbose else x * 2

def chosen(x: torch.Tensor, kind: str):
    if kind == "l2":
        return norm(x, True)
    else:
        return norm(x, False)

def in_turn(x: torch.Tensor):
    for n in range(9):
        if n % 2:
            scaled(x, True)
        else:
            scaled(x, False)  # PTR222

def left_or_not_compiled(x: torch.Tensor):
    list(parts(x, 2)), list(parts(x, 4))
    return counted(x, True) + counted(x, False)
""",
    "parameters, and what is None at first": """
@torch.compile
def update(p, g, rate=0.1):
    return p - rate * g

@torch.compile
def step(x, past=None, hidden=None):
    past = x if past is None else torch.cat([past, x], 1)
    return past.mean(1), past

@torch.compile
def flat(x):
    return x / x.norm()

@torch.compile
def update_all(params, grads):
    for p, g in zip(params, grads):
        p.sub_(g)

class Own(torch.optim.Optimizer):
    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                g = p.grad
                g = g.add(p, alpha=0.1)
                p.copy_(update(p, g))  # PTR224
                p.view(-1).copy_(update(p.view(-1), g.view(-1)))
                p.copy_(flat(g.reshape(len(g), -1)).view(p.shape))  # PTR224
                p.copy_(flat(g.reshape(-1)).view(p.shape))  # PTR222
                update(torch.ones(3), torch.ones(3), g.norm().item())  # PTR220

class Grouped(torch.optim.Optimizer):
    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            by_shape, by_device = defaultdict(list), {}
            for p in group["params"]:
                by_shape[p.shape, p.dtype].append(p)
                by_device.setdefault(p.device, []).append(p)
            for params in by_shape.values():
                update_all(params, [p.grad for p in params])  # PTR224
            for key, params in by_shape.items():
                grads = [p.grad for p in params]
                update_all(grads, grads)
                update_all(grads, params)  # PTR224
                update(torch.stack(grads), torch.stack(grads))
            for params in by_device.values():
                update_all(params, [p.grad for p in params])

class Kept:
    def __init__(self, model: torch.nn.Module):
        self.matrices = [p for p in model.parameters() if p.ndim == 2]
        self.tables = list(model.buffers())

    def step(self):
        for i, p in enumerate(self.matrices):
            p.copy_(update(p, p.grad))  # PTR224
        for table in self.tables:
            update(table, table)

def all_of(model: torch.nn.Module):
    for name, p in model.named_parameters():
        update(p.detach(), torch.zeros_like(p))  # PTR224
    for x in [torch.ones(3)] * 9:
        update(x, x)

def generate(x: torch.Tensor):
    past, hidden = None, None
    cache = None
    other = None
    for _ in range(20):
        y, cache = step(x, cache, hidden)  # PTR225
        other = torch.ones(3, 4)
        step(x, other)  # PTR222
    return y

@torch.compile
def explore(x, dones=None, unread=None):
    return x if dones is None else x * dones.sum()

def rollout(envs, n):
    dones = late = unread = None
    first = None
    for _ in range(n):
        first = envs.first()
        explore(first, dones=dones, unread=unread)  # PTR225
        explore(first, late)
        explore(first, first)
        if envs.ready():
            late = envs.late()
        _, dones, unread = envs.step()

    def evaluate():
        dones = envs.reset()
        return dones

def from_the_start(x: torch.Tensor):
    past = torch.ones(3, 1)
    for _ in range(20):
        y, past = step(x, past)  # PTR222
    return y
""",
    "a model that nothing compiles here, beside a function that is": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.norm = nn.BatchNorm1d(4)

    def forward(self, x):
        return self.norm(self.layer(x))

class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x):
        return self.layer(x)

@torch.compile
def loss_of(y):
    return y.square().mean()

def main(batches):
    net, plain = Net(), Plain()
    for x in batches:
        net.train()
        plain.train()
        loss_of(net(x) + plain(x)).backward()
        net.eval()
        plain.eval()
        net(x)  # PTR222
        plain(x)
        with torch.no_grad():
            plain(x)  # PTR222
""",
    "schedules, which compute with numbers of Python alone": """
import math

@torch.compile
def rate(step, warm_up=10, most=1e-3):
    return most * min(step / warm_up, 0.5 * (1 + math.cos(math.pi * step)))

@torch.compile
def adjust(optimizer, step, options):
    for group in optimizer.param_groups:
        group["lr"] = options.rate * step

@torch.compile
def scaled(x, step):
    return x * step

def main(batches, optimizer, options):
    for step, x in enumerate(batches):
        rate(step)
        adjust(optimizer, step, options)
        scaled(x, step)  # PTR220
""",
    "state that changes in a function that is left to Python": """
steps = 0

class Agent:
    def __init__(self):
        self.steps, self.total, self.seen = 0, 0, []

    def train(self, batches):
        self.steps += 1  # PTR215
        print(self.steps)
        for x in batches:
            x.sum().item()
        self.total += 1
        self.seen.append(x)
        return x * self.total

@torch.compile
def left(batches):
    global steps
    for x in batches:
        x.sum().item()
    steps += 1
    return x * steps

@torch.compile
def whole(x):
    global steps
    steps += 1  # PTR203
    return x * steps

agent = Agent()
train = torch.compile(agent.train)

def main(batches: list[torch.Tensor]):
    train(batches)
    left(batches)
    whole(batches[0])
""",
    "numbers after a break": """
import time

@torch.compile
def train(model, x):
    start = time.time()  # PTR221
    loss = model(x).sum()
    print(time.time() - start)
    return loss.item(), x.mean().item()  # PTR221

@torch.compile
def evaluate(model, x):
    start = time.time()
    loss = model(x).sum().item()
    return loss

@torch.compile
def left_to_python(model, loader):
    start, total = time.time(), 0.0
    for x in loader:
        total += model(x).sum().item() / 2
    return total, time.time() - start

@torch.compile
def unrolled(x):
    largest = x.max().item()  # PTR221
    for _ in range(2):
        x = x.sin()
    return x / largest

def scaled(x):
    largest = x.max().item()  # PTR221
    return x / largest

@torch.compile
def in_turn(x):
    for _ in range(2):
        x = scaled(x).sin()
    return x
""",
    "methods that wait while the graph breaks": """
import re

def largest(x):
    return x.max().item()

@torch.compile
def collected(x, rows: list[float], table: dict[str, float]):
    kept = []
    kept.append(x.sum().item())  # PTR232
    kept.append(1 if x.sum() > 0 else 2)  # PTR232
    kept.extend([largest(x)])  # PTR232
    rows.insert(0, x.sum().item())  # PTR232
    text = "{} {}".format(float(x.sum()), x.mean().item())  # PTR232
    table.update(a=x.sum().item())  # PTR232
    kept.extend(each.item() for each in [x.sum(), x.mean()])
    table["a"] = x.sum().item()
    kept += [x.sum().item()]
    value = x.sum().item()
    kept.append(value)
    kept.append(x.sum())
    x.sum().item().is_integer()
    return x + 1

@torch.compile
def last(x):
    kept = [x.mean()]
    kept.append(x.sum().item())
    return kept

@torch.compile
def in_a_loop(x):
    kept = []
    for _ in range(3):
        kept.append(x.sum().item())
    return x + 1

class Own:
    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

@torch.compile
def under_a_manager(x):
    kept = []
    with Own():
        kept.append(x.sum().item())
    return x + 1

class Net(torch.nn.Module):
    def forward(self, x):
        kept = []
        with torch.no_grad():
            kept.append(x.sum().item())  # PTR232
        try:
            return self.reported(kept, x) + 1
        finally:
            self.last = kept

    def reported(self, kept, x):
        kept.append(x.sum().item())
        print(kept)
        return x
""",
    "learning rates": """
from torch import optim
from torch.optim import AdamW, SGD
from torch.optim.lr_scheduler import LambdaLR

model = torch.nn.Linear(3, 3)
by_global = AdamW(model.parameters(), 1e-3)  # PTR201
scheduler = LambdaLR(by_global, lambda e: 1.0)

@torch.compile
def train(x):
    model(x).sum().backward()
    by_global.step()

def by_closure():
    optimizer = optim.SGD(model.parameters(), lr=0.1)  # PTR201
    @torch.compile(fullgraph=False)
    def f():
        optimizer.step()  # PTR223
    decay = optim.lr_scheduler.StepLR(optimizer=optimizer, step_size=1)
    f()
    decay.step()

def by_parameter(rate: float):
    optimizer = torch.optim.SGD(model.parameters(), rate)  # PTR201
    def f(o):
        o.step()  # PTR223
    f = torch.compile(f)
    for group in optimizer.param_groups:
        group["lr"] = 1
    f(optimizer)

def by_options(args, **more):
    scheduled = SGD(model.parameters(), lr=args.lr)  # PTR201
    constant = SGD(model.parameters(), lr=args.lr)
    passed_on = SGD(model.parameters(), **more)
    def f():
        scheduled.step()  # PTR223
        constant.step()  # PTR223
        passed_on.step()  # PTR223
    torch.compile(f)()
    optim.lr_scheduler.StepLR(scheduled, 1).step()
    optim.lr_scheduler.StepLR(passed_on, 1).step()

class Trainer:
    def __init__(self):
        self.optimizer = SGD(model.parameters())  # PTR201
        self.step = torch.compile(self._step)

    def _step(self):
        self.optimizer.step()

class TensorTrainer:
    def __init__(self):
        self.optimizer = SGD(model.parameters(), lr=torch.tensor(1e-3))

    @torch.compile
    def step(self):
        self.optimizer.step()

def not_compiled():
    optimizer = SGD(model.parameters(), lr=0.1)
    decay = optim.lr_scheduler.StepLR(optimizer, 1)
    optimizer.step()
    decay.step()

class Adam:
    def __init__(self, params, lr):
        self.lr = lr
    def step(self):
        pass

def own_optimizer():
    torch.compile(Adam([], lr=0.1).step)()
""",
    "state": """
COUNT = 0
RATE = 1.0
SEEN = []
TABLE = []

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.step = 0
        self.rate = 1.0
        self.seen = []
        self.cache = []
        self.register_buffer("counted", torch.tensor(0))

    def reset(self):
        self.cache = []

    def forward(self, x):
        self.step += 1  # PTR202
        self.step = self.step + 1  # PTR202
        self.fresh = 0
        self.fresh += 2
        self.rate *= 0.9
        self.counted += 1
        self.seen.append(x)  # PTR204
        self.cache.append(x)
        out = []
        out.append(x)
        if not torch.compiler.is_compiling():
            self.step += 1
        return out[0] * self.step

    def prepare(self):
        self.step += 1
        SEEN.append(1)

KEPT = "kept"
SHORT = {"one": [], "two": []}

class Renamed(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.kept = []
        self.lost = []
        self.added = []
        self.joined = []
        self.short = []
        self.tables = {"a": [], "b": 0}
        self.emptied = {"a": []}
        self.put, self.set = {}, {}

    def forward(self, x):
        kept = getattr(self, KEPT)
        kept.append(x)  # PTR204
        lost = self.lost
        lost.append(x)
        lost.pop(0)
        self.added += [x]  # PTR204
        self.joined = self.joined + [x]  # PTR204
        self.short = self.short + [x]
        self.tables["a"].append(x)  # PTR204
        self.tables["b"] += 1  # PTR218
        self.emptied["a"].append(x)
        self.put.setdefault("a", []).append(x)  # PTR204
        self.set.setdefault("a", []).append(x)
        self.set["a"] = []
        SHORT["one"].append(x)  # PTR204
        SHORT["none"].append(x)
        return x * 2

    def clear(self):
        self.emptied["a"].clear()
        self.short = []

class Mean(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.total, self.most, self.rows = 0, 0, 0

    def forward(self, x):
        self.total += x.detach().sum()
        self.most = self.most + x.detach().max()
        self.rows += x.shape[0]  # PTR202
        return x * 2

class Watch(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.seen = []
        self.calls = 0

    def forward(self, x):
        self.seen.append(x)
        self.calls += 1
        return x

@torch.compile
def f(x):
    global COUNT, RATE
    COUNT += 1  # PTR203
    RATE *= 0.9
    SEEN.append(x)  # PTR204
    TABLE.append(x)
    return x * COUNT

def g():
    global COUNT
    COUNT += 1
    TABLE.clear()
""",
    "tensors that a test of their values replaces": """
import torch

class Range(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("low", torch.tensor(float("inf")))
        self.register_buffer("table", torch.zeros(0))
        self.high = torch.zeros(())
        self.mean = None

    def forward(self, x):
        low = x.detach().min()
        if self.table.numel() == 0:
            self.table = torch.arange(4.0)  # PTR217
        if self.mean is None:
            self.mean = low + 2  # PTR217
        if torch.isinf(self.low):
            self.low = low
        else:
            self.low = self.low + 0.1 * (low - self.low)
        if self.high == 0:
            self.high = low + 1
        return x + 1

torch.compile(Range())(torch.ones(3))
""",
    "state that outlives the call": """
MEMO = {}
TABLE = None

def table(x):
    global TABLE
    if TABLE is None:
        TABLE = torch.arange(4, device=x.device)  # PTR217
    return TABLE

@torch.compile
def masked(x):
    names = {}
    names.setdefault(x.shape[0], 1), MEMO.setdefault("seen", 1)
    return x * MEMO.setdefault(x.shape[0], torch.ones(x.shape[0]))  # PTR217

class Angles:
    def __init__(self):
        self.cos = torch.arange(4.0)

    def at(self, x):
        self.cos = self.cos.to(x)  # PTR216
        return self.cos

class Net(torch.nn.Module):
    biases = {}

    def __init__(self):
        super().__init__()
        self.angles = Angles()
        self.freqs = torch.arange(4.0)
        self.tables = [torch.arange(4.0), torch.arange(8.0)]
        self.pair = (torch.arange(4.0), torch.arange(8.0))
        self.named = {"a": torch.arange(4.0)}
        self.other = torch.arange(4.0)
        self.layers = [torch.nn.Linear(4, 4)]
        self.register_buffer("kept", torch.zeros(4))
        self.last = None
        self.masks = {}
        self.hidden = torch.zeros(4)
        self.strength = 1
        self.limit = 1
        self.state = None
        self.seen = None

    def set_strength(self, strength):
        self.strength = strength

    def mask(self, n, device):
        key = (n, device)
        if self.last is None or self.last[0] != key:
            self.last = (key, torch.ones(n, device=device))  # PTR217
        return self.last[1]

    def forward(self, x):
        self.freqs = self.freqs.to(x.device)  # PTR216
        self.tables = [t.to(x.device) for t in self.tables]  # PTR216
        self.pair = tuple(t.to(x.device) for t in self.pair)  # PTR216
        self.other, self.last_x = self.other.to(x), x  # PTR216
        self.named = {k: v.to(x.device) for k, v in self.named.items()}  # PTR216
        self.layers = [layer.to(x.device) for layer in self.layers]
        local = [t.to(x.device) for t in self.tables]
        self.kept = self.kept.to(x.device)
        self.hidden = self.hidden * 2 + x
        if type(x) not in MEMO:
            MEMO[type(x)] = 1.0  # PTR217
        found = self.masks.get(x.device)
        if found is None:
            found = self.masks[x.device] = torch.ones(4)  # PTR217
        try:
            own = MEMO[x.device]
        except KeyError:
            own = MEMO[x.device] = torch.ones(4)  # PTR217
        if not hasattr(self, "late"):
            self.late = torch.ones(4)  # PTR217
        y = x if self.state is None else x + self.state
        self.state, self.scale = y.detach(), 2.0  # PTR217
        if self.seen is not None:
            y = y + 1
        self.seen = 1
        if self.strength == 1 and self.limit > 0:  # PTR219
            return x
        own = {}
        if "a" not in own:
            own["a"] = x
        if x.device not in Net.biases:
            Net.biases[x.device] = torch.ones(4)  # PTR217
        return x * self.freqs * self.mask(4, x.device) * self.angles.at(x) * found + table(x)

class Descent(torch.optim.Optimizer):
    def step(self):
        for group in self.param_groups:
            k = group["k"]
            for p in group["params"]:
                state = self.state[p]
                if not state:
                    state["step"] = 0
                    state["sum"] = torch.zeros_like(p)
                state["step"] += 1  # PTR218
                state["sum"] += p.grad
                self.add(p, state)
            group["k"] = k + 1  # PTR218
            group["calls"] = group.get("calls", 0) + 1  # PTR218
            total, turns = group["total"], group["turns"]
            turns += 1
            p = total / turns
            group["turns"] = turns  # PTR218
            group["total"] = total

    def add(self, p, state):
        state["step"] = state["step"] + 1  # PTR218
        p.add_(state["sum"], alpha=1 / state["step"])

def run(params):
    descent = Descent(params, dict(k=0, turns=0, total=0))
    torch.compile(descent.step)()

def watched(name):
    seen = {}

    def run(x):
        if name not in seen:
            seen[name] = x.max()  # PTR217
        else:
            seen[name] = torch.maximum(seen[name], x.max())
        inner = {}

        def keep(value):
            if name not in inner:
                inner[name] = value
            return inner[name]

        return keep(x)

    return torch.compile(run)
""",
    "arguments that change": """
class Layer(torch.nn.Module):
    def __init__(self, index):
        super().__init__()
        self.index = index
        self.lin = torch.nn.Linear(4, 4)

    def forward(self, x):
        return self.lin(x) + self.index

class Plain(torch.nn.Module):
    def forward(self, x):
        return x + 1

@torch.compile
def run(layer, x):
    return layer(x)

@torch.compile
def norm(grads):
    return torch.stack([g.norm() for g in grads]).norm()

@torch.compile
def cut(x, n):
    return x[:, :n]

def length(step):
    return 10 * step + 1

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([Layer(i) for i in range(12)])
        self.plain = torch.nn.ModuleList([Plain() for i in range(12)])

    def every(self, x):
        for layer in self.layers:
            x = run(layer, x)  # PTR220
        for layer in self.plain:
            x = run(layer, x)  # PTR222
        return x

def train(net, x, mask, lens, params, fixed: int):
    net.every(x)
    cut(x, int(mask.sum(-1).max()))  # PTR220
    cut(x, max(lens))  # PTR220
    cut(x, fixed)  # PTR220
    cut(x, len(lens))
    grads = [p.grad for p in params if p.grad is not None]
    norm(grads)  # PTR220
    norm([p.grad for p in params])
    pairs = []
    for p in params:
        if p.grad is None:
            continue
        pairs.append((p, p.grad))
    ps, gs = zip(*pairs)
    norm(gs)  # PTR220
    norm(list(gs))  # PTR220
    norm([g.float() for g in gs])  # PTR220
    norm([p.float() for p in params])
    for step in range(100):
        cut(x, length(step))  # PTR220
        cut(x, length(3))
    for t in torch.arange(10):
        cut(x, t.item())  # PTR220

def generate(x, sigmas: list[float], total, n: int):
    before = 0
    for at in range(3, total):
        cut(x, before)  # PTR220, PTR222
        before = at
    for at, sigma in enumerate(sigmas):
        cut(x, sigma)  # PTR220
        cut(x, sigmas[at])  # PTR220
        cut(x, float(sigma))  # PTR220
        cut(x, (at + 1) / (at + 10))  # PTR220
        cut(x, sigmas[0])
        cut(x, n)  # PTR220

train(Net(), torch.ones(2, 4), torch.ones(2, 4), [1], [], 3)
""",
    "calls": """
def scale(x):
    return x * 2

def repeat(x, n, xs=()):
    for _ in range(n):
        x = x + 1
    for y in xs:
        x = x + y
    return x

compiled = torch.compile(repeat)
fixed = torch.compile(scale, dynamic=False)
free = torch.compile(scale)

def loops(x, blocks, data):
    seen = []
    for n in range(3, 40):
        compiled(x, n)  # PTR207
        compiled(x, 3)
        compiled(x, len(data))
        seen.append(x)
        compiled(x, 3, seen)  # PTR207
        fixed(x[:n])  # PTR206
        fixed(torch.ones(n, 3))  # PTR206
        fixed(x[n])
        fixed(torch.ones(3) * n)  # PTR222
        free(x[:n])  # PTR213
        parts = []
        parts.append(x)
        compiled(x, 3, parts)
        torch.compile(scale)(x)  # PTR205
        once = torch.compile(scale)  # PTR205
        once(x)
    for _ in range(3):
        torch._dynamo.reset()
        torch.compile(scale)(x)
    for _ in range(12):
        torch.compile(scale, isolate_recompiles=True)(x)  # PTR205
    for block in blocks:
        torch.compile(block)(x)
        step = torch.compile(block)
        step(x)
    for i, block in enumerate(blocks):
        blocks[i] = torch.compile(block)
    for batch in data:
        compiled(x, batch)

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fast = torch.compile(scale)
        self.late = None

    def forward(self, x):
        if self.late is None:
            self.late = torch.compile(scale)
        x = torch.compile(scale)(x)  # PTR205
        return self.late(self.fast(x))

torch._dynamo.config.recompile_limit = 64  # PTR208
torch._dynamo.config.cache_size_limit = 4
often = torch.compile(scale, recompile_limit=64)  # PTR208
seldom = torch.compile(scale, recompile_limit=4)
""",
    "functions that are made and compiled at each call": """
class Net(torch.nn.Module):
    def __init__(self, compiled: bool):
        super().__init__()
        self.compiled = compiled
        self.late = None

    def forward(self, x):
        def piece(y):
            return y * 2

        if self.compiled:
            piece = torch.compile(piece)  # PTR205
        return torch.cat([piece(y) for y in (x, x)])

class Kept(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.late = None

    def forward(self, x):
        if self.late is None:
            def piece(y):
                return y * 2

            piece = torch.compile(piece)
            self.late = piece
        return self.late(x)
""",
    "names of a module's parts": """
class Adapted(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.rates = {"a": 0.1, "b": 0.2}
        self.scales = torch.nn.ParameterDict({name: torch.nn.Parameter(torch.ones(3)) for name in self.rates})

    @property
    def names(self) -> list[str]:
        return list(self.rates)

    def delta(self, name: str, x):
        return x * self.scales[name]

    def forward(self, x):
        for name in self.names:
            if torch.rand(1) > self.rates[name]:
                x = x + self.delta(name, x)
        return x

compiled = torch.compile(Adapted())
for batch in range(9):
    compiled(torch.ones(3))
""",
    "texts, keys and numbers that are constants": """
import torch.nn.functional as F

scales = {}

class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(3, 3) for _ in range(n)])

    def forward(self, x, i, p, name=None):
        x = self.inner(self.layers[i](x), p)  # PTR231
        if name == "a":
            x = x + 1
        return x

    def inner(self, x, p):
        return F.dropout(x, p)

def total(*xs):
    return sum(xs)

def table(d, **kw):
    return sum(d.values()) + sum(kw.values())

@torch.compile
def scaled(x, name, n):
    for c in x.chunk(n):
        x = x + c.sum()
    return x * scales[name]

@torch.compile
def named(x, name, k):
    return x * k

@torch.compile
def parted(x, name):
    return x * len(name.split("."))

@torch.compile
def attribute(x, name):
    return x * getattr(torch, name)

@torch.compile
def cut(x, size):
    return torch.cat(x.split(size)) + size

@torch.compile
def annotated(x, name: str):
    return x * scales[name]

@torch.compile
def joined(xs: list):
    return torch.cat(xs)

heads = torch.nn.ModuleDict()

def main(data, names: list[str], total_steps, k: int, layers):
    model = torch.compile(Net(40))
    every = torch.compile(total)
    by_key = torch.compile(table)
    seen, kept, held, anew = [], {}, {}, {}
    rows = [None] * 100
    i = 0
    for batch in data:
        p = i / 100
        model(batch, i, 0.5)  # PTR207
        model(batch, 3, p)  # PTR207, PTR222
        model(batch, 3, 0.5, f"s{i}")  # PTR209
        model(batch, 3, 0.5, name="s%d" % i)  # PTR209
        model(batch, 3, 0.5, "s{}".format(i))  # PTR209
        scaled(batch, "x" + str(i), 3)  # PTR209
        scaled(batch, "x", i * k)  # PTR207
        scaled(batch, "x", i * total_steps)
        scaled(batch, "x", i * batch)
        scaled(batch, "x", i // 8)  # PTR220
        named(batch, f"s{i}", i)  # PTR220
        seen.append(batch)
        every(*seen)  # PTR210
        every(*data)
        by_key({f"k{i}": batch})  # PTR210
        by_key({}, **{f"a{i}": batch})  # PTR210
        kept[f"a{i}"] = held["b"] = anew[f"a{i}"] = batch
        by_key(kept)  # PTR210
        by_key({}, **kept)  # PTR210
        by_key(held)
        anew = {}
        by_key(anew)
        parts, pieces, once = {}, [], []
        for n in range(i + 1):
            parts[f"k{n}"] = batch
            pieces.append(batch)
        for n in range(4):
            once.append(batch)
        by_key(parts)  # PTR210
        every(*once)
        joined(pieces)  # PTR207
        joined(once)
        rows[i] = batch
        by_key(rows)
        by_key({"k": batch})
        i += 1
    for name in names:
        scaled(data, name, 3)  # PTR209
    for name in layers:
        scaled(data, name, 3)
        annotated(data, name)  # PTR209
        parted(data, name)  # PTR209
        attribute(data, name)  # PTR209
        cut(data, name)
    for name in heads:
        scaled(data, name, 3)  # PTR209
    for name in ("train", "eval"):
        scaled(data, name, 3)  # PTR220
    for i in range(4):
        model(data, i, 0.1, f"s{i}")  # PTR222
    for i in reversed(range(40)):
        model(data, i, 0.1)  # PTR207
""",
    "state of objects that others hold": """
import dataclasses

class Constant:
    def __init__(self, values):
        self.values = torch.tensor(values)
        self.cache = {}

    def get(self, dtype, device):
        kept = self.cache.get((dtype, device))
        if kept is None:
            kept = self.values.to(dtype=dtype, device=device)
            self.cache[dtype, device] = kept  # PTR217
        return kept

class Local:
    def __init__(self):
        self.cache = {}

    def get(self, dtype):
        if dtype not in self.cache:
            self.cache[dtype] = torch.ones(3, dtype=dtype)
        return self.cache[dtype]

SIGNS = Constant([1, -1, -1])

class Counter:
    def __init__(self):
        self.step = 0

    def tick(self):
        self.step += 1  # PTR202

class Calls:
    def __init__(self):
        self.count = 0

    def tick(self):
        self.count += 1  # PTR215

@dataclasses.dataclass
class State:
    scale: torch.Tensor

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.state, self.counter = State(torch.ones(3)), Counter()

    def forward(self, x):
        self.state.scale = self.state.scale.to(x)  # PTR216
        self.counter.tick()
        return x * self.state.scale * SIGNS.get(x.dtype, x.device) * Local().get(x.dtype)

class Trainer:
    def __init__(self):
        self.calls = Calls()

    @torch.compile
    def step(self, x):
        self.calls.tick()
        return x * 2
""",
    "a prompt, and then what a step gives": """
class Speaker(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.encode, self.decode = torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)
        self.plain = torch.nn.Linear(3, 3)

    def optimize(self):
        self.encode = torch.compile(self.encode)
        self.decode = torch.compile(self.decode)

    def say(self, prompt, more):
        x = self.encode(prompt)  # PTR222
        y = self.plain(prompt)
        for _ in range(20):
            x = self.encode(x[:, -1:]) + self.decode(x[:, -1:])
            y = self.plain(y[:, -1:])
        return x, y
""",
    "a list that an object keeps": """
class Policy(nn.Module):
    def forward(self, seen):
        return torch.stack([x.mean() for x in seen])

class Agent:
    def __init__(self):
        self.policy = torch.compile(Policy())
        self.seen = []
        self.kept = []
        self.last = []
        self.episode = []

    def watch(self, x):
        self.seen.append(x)
        return self.policy(self.seen)  # PTR207

    def act(self, x):
        self.episode.append(x)
        self.policy(self.episode)  # PTR207
        self.kept.append(x)
        self.policy(self.kept)
        self.last.append(x)
        self.last = self.last[-4:]
        return self.policy(self.last)

    def reset(self):
        self.episode = []

    def flush(self):
        self.kept.clear()

def run(agent: Agent, x):
    for _ in range(10):
        agent.reset()
        for _ in range(20):
            agent.act(x)
            agent.flush()
""",
    "blocks with a text of their own": """
class Keyed(nn.Module):
    def __init__(self, name):
        super().__init__()
        self.name, self.scale = name, 2

    def forward(self, x, kept):
        kept[self.name] = x  # PTR226
        return x * self.scale

class Asking(nn.Module):
    def __init__(self, index):
        super().__init__()
        self.name = "layers." + str(index)

    def forward(self, x):
        return x * 2 if self.name.endswith("0") else x

class Told(nn.Module):
    def __init__(self, name):
        super().__init__()
        self.name = name

    def forward(self, x):
        with torch.profiler.record_function(self.name):
            return x * 2

keyed = nn.ModuleList([Keyed(f"layers.{i}") for i in range(12)])
asking = nn.ModuleList([Asking(i) for i in range(12)])
told = nn.ModuleList([Told(f"layers.{i}") for i in range(12)])
for block in keyed:
    block.compile()  # PTR226
for block in asking:
    block.compile()  # PTR226
for block in told:
    block.compile()
""",
    "blocks with a number by which something is picked": """
class Named(nn.Module):
    def __init__(self, block, index, scale):
        super().__init__()
        self.block, self.scale = block, scale
        self.index = index

    def forward(self, x, kept):
        return self.block(x) * kept[f"block.{self.index}.scale"]  # PTR226

class Picking(nn.Module):
    def __init__(self, index, table):
        super().__init__()
        self.index = index
        self.table = table

    def forward(self, x):
        return x * self.table[self.index]  # PTR226

class Adding(nn.Module):
    def __init__(self, index):
        super().__init__()
        self.index = index
        self.tables = [1, 2]

    def forward(self, x, cache):
        if self.training:
            x = x * self.tables[self.index]
        return cache.update(x, self.index)

class Processor:
    def __call__(self, attention, x):
        return attention.out(x) * getattr(attention, "place", 0)  # PTR226

class Model(nn.Module):
    def __init__(self, depth, table):
        super().__init__()
        self.named = [Named(nn.Linear(4, 4), i, 0.1) for i in range(depth)]
        self.picking = nn.ModuleList([Picking(i, table) for i in range(depth)])
        self.adding = nn.ModuleList([Adding(i) for i in range(depth)])
        for index, layer in enumerate(self.picking):
            layer.attention.place = index
""",
    "attributes set from outside": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.step = 0
        self.mode = "a"
        self.unread = 0
        self.rate = 0.0
        self.drop = nn.Dropout(0.1)
        self.flag = True

    def forward(self, x):
        if self.step > 3 and self.mode == "b" and self.flag:
            x = x + 1
        return self.drop(x) * self.rate / (1 + self.temperature)

    def prepare(self):
        return self.unread

    @property
    def temperature(self):
        return self.rate

    @temperature.setter
    def temperature(self, value):
        self.rate = value

net = Net()
model = torch.compile(net)
other = nn.Linear(3, 3)

class Plain:
    step = 0

def train(loader, compiled: Plain):
    for epoch in range(100):
        net.step = epoch  # PTR211
        model.step = epoch + 1  # PTR211
        model.mode = f"e{epoch}"  # PTR211
        net.unread = epoch
        net.rate = epoch / 100  # PTR211
        net.drop.p = epoch / 100  # PTR211
        net.flag = epoch > 3
        net.temperature = epoch
        other.step = epoch
        compiled.step = epoch
        for x in loader:
            model(x)
    for i in range(3):
        net.step = i
        model(x)
    net.step = 7

class Late(Net):
    def forward(self, x):
        return x * self.step

def in_place(loader):
    late = Late()
    late.compile()
    for x in loader:
        late.step += 1  # PTR211
        late(x)
""",
    "numbers that callers count": """
STEP = 0
SHARED = {"at": 0, "unread": 0, "size": [0]}
PLACES = [0, 1]

class Options:
    epoch = 0

options = Options()

@torch.compile
def shared(x):
    return x * SHARED["at"] + PLACES[0] + SHARED["size"][0]

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scales, self.step, self.rate = [1.0, 2.0], 0, 0.1
        self.table = {"step": 0, "unread": 0}
        self.drop = nn.Dropout(0.1)

    def forward(self, x, at):
        return self.drop(x * self.scales[at] * self.step + STEP + options.epoch) + self.table["step"]  # PTR231

    def set_rates(self, rate):
        self.step = rate

    def generate(self, x, n):
        for i in range(n):
            self.step = i  # PTR211
            x = self(x, 0)
        return x

@torch.compile
def rows(x, steps):
    out = x[0]
    for row in x:  # PTR230
        for _ in range(steps % 2):
            out = out + row
    return out

@torch.compile
def columns(x):
    out = x
    for at in range(x.size(1)):  # PTR230
        out = out + x[:, at : at + 1]
    return out

@torch.compile
def folded(x):
    if x.size(0) % 4:  # PTR230
        x = x + 1
    return x.cos()

@torch.compile
def capped(x, n):
    for _ in range(min(n, 3)):
        x = x * 2
    return x

net = Net()
model = torch.compile(net)
own = Net()
own.forward = torch.compile(own.forward)
own.generate(torch.ones(3), 20)

def again(x, i):
    return model(x, i)  # PTR207

def few(x, i):
    return model(x, i)

def bound_anew(x, i):
    i = i % 2
    return model(x, i)

def set_step(step):
    net.step = 3 * step + 1  # PTR211

def set_half(step):
    net.step = step % 2

def local():
    options, PLACES = Options(), [0]
    for n in range(20):
        options.epoch = PLACES[0] = n
        columns(torch.ones(3, 2))

def main(x, args):
    global STEP
    step, schedule = 0, [2 * i for i in range(100)]
    while step < args.steps:
        again(x, i=step)
        set_half(step)
        capped(x, step)  # PTR220
        step += 1
    for i, y in enumerate(reversed(x)):
        set_step(i)
    for i in range(3):
        few(x, i)
        STEP = i
    for i in range(100):
        STEP = i % 3
        bound_anew(x, i)
    for i in range(100):
        STEP = i  # PTR203
        options.epoch = i + 1  # PTR203
        options.other = i
        SHARED["at"] = i  # PTR203
        SHARED["unread"] = i
        PLACES[0] = i  # PTR203
        PLACES[1] = i
        PLACES[i % 2] = i
        net.table["step"] = i  # PTR211
        net.table["unread"] = i
        net.set_rates(schedule[i])  # PTR211
        rows(torch.ones(i, 3), 0)  # PTR213
        rows(torch.ones(3, i), 0)  # PTR213
        columns(torch.ones(3, i))  # PTR213
""",
    "numbers that Lightning counts": """
import pytorch_lightning as pl

class VAE(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(8, 8)
        self.epoch, self.beta, self.late = 0, 0.0, False

    def on_train_epoch_start(self):
        self.epoch = self.current_epoch  # PTR211
        self.beta = self.current_epoch / 10  # PTR211
        self.late = self.current_epoch > 5

    def weight(self):
        return min(1.0, self.global_step / 10)  # PTR202

    def forward(self, x):
        return self.net(x) * self.beta + self.epoch

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = (self(x) - y).pow(2).mean() * self.weight()
        if self.trainer.current_epoch > 3 and self.late:  # PTR202
            loss = loss * 2
        return loss

    def on_validation_epoch_end(self):
        print(self.current_epoch)

class Own(pl.LightningModule):
    current_epoch = 0

    def forward(self, x):
        return x * self.current_epoch

class Apart(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.compile(nn.Linear(8, 8))

    def training_step(self, batch, batch_idx):
        return self.net(batch).mean() * self.current_epoch

def main(data):
    model, own = torch.compile(VAE()), torch.compile(Own())
    own(data)
    pl.Trainer(max_epochs=30).fit(model, data)
    pl.Trainer(max_epochs=30).fit(Apart(), data)
""",
    "sizes": """
def g(x):
    return x * 2

f = torch.compile(g)
s = torch.compile(g, dynamic=False)
d = torch.compile(g, dynamic=True)

def main(x, data):
    for n in range(2, 40):
        f(x[:, :n])  # PTR213
        s(x[:, n:])  # PTR206
        d(x[:n])
        f(x[..., :n])  # PTR213
        f(x[n:n + 4])
        f(x[n])
        f(x[: n % 2])
        f(torch.full((4,), n))
        f(torch.full((4, n), 1.0))  # PTR213, PTR222
        f(torch.arange(n))  # PTR213
        f(torch.arange(n, n + 8))
        f(torch.zeros(2, n, 4))  # PTR213, PTR222
    ids = x
    while ids.shape[1] < 100:
        with torch.no_grad():
            new = f(ids)  # PTR213
        ids = torch.cat([ids, new], dim=1)
    while ids.shape[1] < 100:
        torch._dynamo.mark_dynamic(ids, 1)
        new = f(ids)
        ids = torch.cat([ids, new], dim=1)
    seen, ids = [data], data
    for _ in range(40):
        new = f(torch.stack(seen, dim=1))  # PTR213
        seen.append(new)
        f(torch.stack([x, new]))
        f(ids)  # PTR213
        ids = torch.cat((ids, new), dim=-1)
    most, window = 8, x
    for _ in range(40):
        cropped = window if window.size(1) <= most else window[:, -most:]
        new = f(cropped)  # PTR213
        f(x[:, -most:])
        window = torch.cat([window, new], dim=1)
    window = x
    for _ in range(40):
        new = f(window[:, -most:])  # PTR213
        window = torch.cat([window, new], dim=1)
    for n in (8, 16, 32):
        f(x[:n])
    a = b = 3
    while a < 100:
        a, c = c + 1, a
        b = b * 2 + 1
        d = e + 1
        e = d + b
        f(x[:a], b, f"{d}", d + e)
""",
    "loaders": """
from torch.utils.data import DataLoader
from tqdm import tqdm

def train_epoch(model, loader, optimizer, device):
    for i, (x, y) in enumerate(tqdm(loader)):
        x, y = x.to(device), y.to(device)
        with torch.autocast("cuda"):
            out = model(x)
        (out - y).sum().backward()
        optimizer.step()

@torch.no_grad()
def evaluate(model, loader):
    for batch in loader:
        model(**batch)  # PTR222

def marked(model, loader):
    for x in loader:
        torch._dynamo.mark_dynamic(x, 0)
        model(x)

def main(data, held_out, sampler, drop):
    model = torch.compile(torch.nn.Linear(3, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=torch.tensor(0.1))
    train_epoch(model, DataLoader(data, 64, shuffle=True), optimizer, "cuda")  # PTR212
    evaluate(model, DataLoader(held_out, batch_size=128))  # PTR212
    train_epoch(model, DataLoader(data, batch_size=64, drop_last=True), optimizer, "cuda")
    train_epoch(model, DataLoader(data, batch_size=64, drop_last=drop), optimizer, "cuda")
    evaluate(model, DataLoader(held_out))
    evaluate(model, DataLoader(held_out, batch_sampler=sampler))
    marked(model, DataLoader(held_out, batch_size=128))
    evaluate(torch.nn.Linear(3, 3), DataLoader(held_out, batch_size=128))
    evaluate(torch.compile(torch.nn.Linear(3, 3), dynamic=True), DataLoader(held_out, batch_size=128))
    model = torch.nn.parallel.DistributedDataParallel(model)
    evaluate(model, DataLoader(held_out, batch_size=32))  # PTR212
    for x, y in DataLoader(data, batch_size=16, shuffle=True):  # PTR212
        step(model, y, x.cuda())

def step(model, target, inputs):
    return (model(inputs) - target).sum()
""",
    "the last batch of a loader, for a model that nothing compiles here": """
from torch.utils.data import DataLoader

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x):
        return self.layer(x)

@torch.compile
def loss_of(y):
    return y.square().mean()

def main(data, held_out):
    net = Net()
    loader = DataLoader(data, batch_size=64, shuffle=True)  # PTR212
    for x, y in loader:
        (net(x) - y).square().mean().backward()
    for x in DataLoader(held_out, batch_size=64, drop_last=True):
        net(x).sum().backward()
    for x in DataLoader(held_out, batch_size=64):
        x.sum()
""",
    "the last batch of a loader, in a script that trains what nothing compiles": """
import sys
from torch.utils.data import DataLoader
from tqdm import tqdm

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x):
        return self.layer(x)

def train(loader, net):
    if sys.stdout.isatty():
        loader = tqdm(loader)
    for i, (x, y) in enumerate(loader):
        (net(x) - y).square().mean().backward()

@torch.no_grad()
def evaluate(loader, net):
    bar = tqdm(loader)
    for x, y in bar:
        net(x)  # PTR222

def main(data, held_out):
    net = Net()
    train(DataLoader(data, batch_size=64), net)  # PTR212
    evaluate(DataLoader(held_out, batch_size=64), net)  # PTR212
""",
    "gradients that another network made, in a script that trains what nothing compiles": """
class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, z):
        return self.layer(z)

class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 1)

    def forward(self, x):
        return self.layer(x)

generator, critic, other = Generator(), Critic(), Critic()
for real in [torch.ones(2, 4)] * 10:
    fake = generator(torch.ones(2, 4))
    (-critic(fake).mean()).backward()
    fake = fake.view(2, 4)
    (critic(fake.detach()) - critic(real)).mean().backward()  # PTR222
    other = fake.detach()
""",
    "sizes that are kept": """
class Net(nn.Module):
    def __init__(self, k):
        super().__init__()
        self.masks = {}
        self.by_layer = {}
        self.longest = 0
        self.last = 0
        self.width = k
        self.register_buffer("pos", torch.zeros(0))

    def mask(self, n, device):
        if (n, device) not in self.masks:
            self.masks[n, device] = torch.ones(n, n, device=device)  # PTR214
        return self.masks[n, device]

    def forward(self, x, i):
        b, n = x.shape
        if n > self.longest:
            self.longest = n  # PTR214
            self.pos = torch.arange(n)
        self.last = x.size(0)
        if self.checked and self.last != n:
            raise ValueError
        if n == self.width:
            return x
        self.width = n  # PTR214
        self.masks[str(n)] = x  # PTR214, PTR230
        self.masks[f"{n} wide"] = x  # PTR214
        self.masks[n // 128] = x
        self.by_layer[i] = x
        self.by_layer["x"] = x
        found = {}
        found[n] = x
        return x @ self.mask(n, x.device) + self.pos[:n]

class Reset(nn.Module):
    def __init__(self):
        super().__init__()
        self.seen = {}

    def forward(self, x):
        self.seen = {}
        self.seen[x.shape[0]] = x
        return x * 2
""",
    "who compiles what, and who wants gradients": """
from elsewhere import create_model, prepare

class Net(nn.Module):
    def forward(self, x):
        return torch.sin(x)

class Free(nn.Module):
    def forward(self, x):
        return torch.cos(x)

def epoch(model, free, loader, optimizer):
    for x in loader:
        optimizer.zero_grad()
        loss = model(x).sum() + free(torch.ones(3)).sum()
        prepare(loss)
        optimizer.step()

def main(loader, optimizer):
    model = create_model("net")
    print(sum(p.numel() for p in model.parameters()))
    model.compile()
    epoch(model, Free(), loader, optimizer)
    with torch.no_grad():
        model(torch.ones(3))  # PTR222
        Free()(torch.ones(3))
    other = create_model("net")
    other(torch.ones(3)).sum().backward()
    other.load(3)
    with torch.no_grad():
        other(torch.ones(3))

@torch.compile
def shrink(p):
    return p * 0.9

def updates(parameters):
    for p in parameters:
        shrink(p)
        yield p

class Own(torch.optim.Optimizer):
    @torch.no_grad()
    def step(self, closure=None):
        return list(updates(self.param_groups[0]["params"]))

def fit(net: nn.Module, optimizer: Own):
    net(torch.ones(3)).sum().backward()
    optimizer.step()

@torch.compile
def sample(x, mask=None):
    return x if mask is None else x * mask

def act(x):
    with torch.no_grad():
        return sample(x)  # PTR222

def learn(x):
    sample(x, torch.ones(3)).sum().backward()

def train(x: torch.Tensor):
    act(x)
    learn(x)
""",
    "requests": """
from fastapi import FastAPI

app = FastAPI()
net = torch.nn.Linear(3, 3)

@app.post("/predict")
def predict(x):
    return torch.compile(net)(x)  # PTR205

@app.post("/load")
def load(path, x):
    own = torch.load(path)
    return torch.compile(own)(x)

def script(x):
    return torch.compile(net)(x)
""",
    "a 0-dim tensor that picks a row": """
TABLE = torch.ones(40, 3)

@torch.compile
def scaled(x, t):
    return x * TABLE[t]

@torch.compile
def by_row(x, t):
    return x * TABLE[t]

@torch.compile
def looked_up(x, t):
    return x * F.embedding(t, TABLE)

def run(x):
    for step in range(40):
        scaled(x, torch.tensor(step))  # PTR207
        by_row(x, torch.tensor([step]))
    for t in torch.arange(39).flip(0):
        scaled(x, t)  # PTR207
        by_row(x, t.view(1))
        looked_up(x, t)
    for t in torch.arange(3):
        scaled(x, t)
    for t in torch.linspace(0, 1, 12):
        looked_up(x, t.long())
""",
    "lists of classes": """
import collections

class Recorder(nn.Module):
    seen = []
    kept = []
    last = []

    def forward(self, x):
        Recorder.seen.append(x.sum())  # PTR204
        self.kept.append(x.sum())  # PTR204
        type(self).last.append(x.sum())
        return x * 2

class Emptied(nn.Module):
    anew: list = []

    def forward(self, x):
        Emptied.anew = []
        Emptied.anew.append(x.sum())
        return x * 2

class Own(nn.Module):
    own = []

    def __init__(self):
        super().__init__()
        self.own = torch.zeros(3)

    def forward(self, x):
        self.own.add_(x)
        return x * 2

class Frames(nn.Module):
    def __init__(self, k=12, few=4):
        super().__init__()
        self.frames = collections.deque(maxlen=k)
        self.few = collections.deque(maxlen=few)

    def forward(self, x):
        self.frames.append(x)  # PTR204
        self.few.append(x)
        return x * 2

def run(x):
    nets = [torch.compile(net) for net in (Recorder(), Emptied(), Own(), Frames())]
    for _ in range(20):
        for net in nets:
            net(x)
        Recorder.last.clear()
""",
    "texts that a caller hands on": """
class Lora(nn.Module):
    def __init__(self, names):
        super().__init__()
        self.up = nn.ModuleDict({name: nn.Linear(3, 3) for name in names})
        self.active = names[0]

    def forward(self, x):
        return self.up[self.active](x)

NAMES = [f"user{i}" for i in range(12)]
FEW = ["a", "b"]
SCALES = {name: torch.ones(3) for name in NAMES}
net = nn.Sequential(Lora(NAMES), nn.ReLU(), Lora(NAMES))
compiled = torch.compile(net)

def switch(model, name):
    for part in model.modules():
        if isinstance(part, Lora):
            part.active = name  # PTR211

def switch_few(model, name):
    for part in model.modules():
        if isinstance(part, Lora):
            part.active = name

@torch.compile
def scaled(x, name):
    return x * SCALES[name]

def serve(x, name):
    return scaled(x, name)  # PTR209

def serve_one(x, name):
    return scaled(x, name)

for name in NAMES:
    switch(net, name)
    compiled(torch.ones(3))
    serve(torch.ones(3), name)
for i in range(40):
    switch(net, NAMES[i % 12])
    switch_few(net, FEW[i % 2])
    switch_few(net, NAMES[0])
    compiled(torch.ones(3))
    scaled(torch.ones(3), NAMES[i])  # PTR209
    serve_one(torch.ones(3), NAMES[0])
for few in FEW:
    switch_few(net, few)
    compiled(torch.ones(3))
""",
    "numbers of a list that a caller hands on": """
class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.depth = 1
        self.gain = 1.0

    def forward(self, x):
        for _ in range(self.depth):
            x = x * self.gain
        return x

TABLES = {round(0.1 * i, 1): torch.ones(3) for i in range(12)}
net = Scaled()
compiled = torch.compile(net)

@torch.compile
def shifted(x, sigma):
    return x + TABLES[sigma]

@torch.compile
def by_gain(x):
    return x * gain

def deepen(model, depth):
    model.depth = depth  # PTR211

def repeat(model, depth):
    model.depth = depth

def amplify(model, gain):
    model.gain = gain  # PTR211: a note

for depth in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10):
    deepen(net, depth)
    compiled(torch.ones(3))
for depth in (1, 2, 1, 2, 1, 2, 1, 2, 1, 2):
    repeat(net, depth)
    compiled(torch.ones(3))
for gain in [i * 0.1 for i in range(12)]:
    amplify(net, gain)
    compiled(torch.ones(3))
    by_gain(torch.ones(3))
for i in range(12):
    shifted(torch.ones(3), round(0.1 * i, 1))  # PTR207
""",
}


@pytest.mark.parametrize("name", CASES)
def test_reported_where_the_comments_say(name: str, tmp_path: Path) -> None:
    source = headed(CASES[name])
    assert sorted(codes(source, tmp_path, "PTR")) == marked(source)


TRAIN = """
import torch
{imports}
model = torch.nn.Linear(4, 4)
optimizer = {make}
scheduler = torch.optim.lr_scheduler.{schedule}
step = torch.compile(optimizer.step)

def run():
    rates = []
    for _ in range(4):
        model(torch.ones(2, 4)).sum().backward()
        step()
        scheduler.step()
        rates += [round(float(g["lr"]), 6) for g in optimizer.param_groups]
    return rates, [p.detach().clone() for p in model.parameters()]
"""
MAKES = (
    ("", "torch.optim.Adam(model.parameters(), lr=1e-3)"),
    ("", "torch.optim.SGD(model.parameters())"),
    ("from torch.optim import RMSprop", "RMSprop(model.parameters(), 0.5)"),
    ("from torch import optim", "optim.AdamW(\n    params=model.parameters(),\n    weight_decay=0.1,\n)"),
    ("", "torch.optim.Adam(model.parameters(), lr=1e-3, foreach=True, capturable=True)"),
)


@pytest.mark.parametrize(("imports", "make"), MAKES)
def test_a_tensor_rate_does_not_recompile_and_gives_the_same(imports: str, make: str) -> None:
    import torch

    source = TRAIN.format(imports=imports, make=make, schedule="ExponentialLR(optimizer, 0.5)")
    (finding,) = findings(source, target_torch=(2, 13))
    (fix,) = finding.fixes
    assert fix.applicability == "unsafe"
    repaired = apply_edits(source, fix.edits)
    before, after = outcome(source), outcome(repaired)
    assert not isinstance(before.value, BaseException), before.value
    assert before.recompiled
    assert not isinstance(after.value, BaseException), after.value
    assert not after.recompiled
    assert before.value[0] == after.value[0]
    for a, b in zip(before.value[1], after.value[1], strict=True):
        torch.testing.assert_close(a, b)


@pytest.mark.parametrize(
    ("make", "schedule", "target"),
    [
        (
            "torch.optim.Adam(model.parameters(), lr=1e-3, foreach=True)",
            "ExponentialLR(optimizer, 0.5)",
            (2, 13),
        ),
        (
            'torch.optim.SGD([{"params": model.parameters()}], lr=1e-3)',
            "ExponentialLR(optimizer, 0.5)",
            (2, 13),
        ),
        ("torch.optim.SGD(model.parameters(), lr=1e-3)", "ReduceLROnPlateau(optimizer)", (2, 9)),
    ],
)
def test_no_fix_where_a_tensor_would_change_the_rates(
    make: str,
    schedule: str,
    target: tuple[int, int],
) -> None:
    source = TRAIN.format(imports="", make=make, schedule=schedule)
    (finding,) = findings(source, target_torch=target)
    assert finding.code == "PTR201"
    assert not finding.fixes


def test_a_number_in_a_tensor_is_an_input_from_2_15_on() -> None:
    source = headed(CASES["a 0-dim tensor that picks a row"])
    assert "PTR207" in {f.code for f in findings(source, target_torch=(2, 13))}
    assert "PTR207" not in {f.code for f in findings(source, target_torch=(2, 15))}


def test_the_targeted_torch_changes_what_is_said() -> None:
    source = TRAIN.format(imports="", make=MAKES[0][1], schedule="ExponentialLR(optimizer, 0.5)")
    said = {t: findings(source, target_torch=t)[0].message for t in ((2, 5), (2, 6), (2, 15))}
    assert "every change" in said[2, 5]
    assert "once more" in said[2, 6]
    assert said[2, 6] == said[2, 15]


COUNTS = """
import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0
        self.linear = torch.nn.Linear(3, 3)

    def forward(self, x):
        y = self.linear(x)
{body}

net = torch.compile(Net())

def run():
    x = torch.arange(3.0, requires_grad=True)
    total = 0
    for _ in range(11):
        total = total + net(x).sum()
    total.backward()
    return total.detach(), x.grad
"""
COUNTED = (
    "self.calls += 1\nreturn y * 2",
    "self.calls += 1\nreturn y * self.calls",
    "self.calls = self.calls + 2\nreturn y / (1 + self.calls) + 0.5 ** self.calls * y",
    "self.calls -= 1\nreturn y * (x > self.calls)",
)
KEPT = (
    "self.calls += 1\nreturn y * float(self.calls > 3)",
    "self.calls += 1\nreturn y * 2 if self.calls > 3 else y",
    "self.calls += 1\nreturn y * 2 if self.calls % 2 == 0 else y",
    "self.calls += 1\nreturn y.roll(self.calls)",
    "self.calls += 1\nrate = 1 / self.calls\nreturn y * rate",
    "self.calls += x.shape[0]\nreturn y",
    "self.calls *= 2\nreturn y",
    "self.calls += 1\nreturn y\n\ndef reset(self):\n    self.calls = 0",
    "self.calls += 1\nreturn y\n\ndef extra_repr(self):\n    return str(self.calls)",
)


def counting(body: str, path: Path) -> tuple[str, list[Finding]]:
    lines = [line if line.startswith("def") else "    " + line for line in body.splitlines()]
    source = COUNTS.format(body="\n".join(("    " + line).rstrip() for line in lines))
    path.write_text(source, encoding="utf-8")
    return source, [
        f for f in lint([str(path)], Settings(target_torch=(2, 13))).findings if f.code == "PTR202"
    ]


@pytest.mark.parametrize("body", COUNTED)
def test_a_counter_in_a_buffer_does_not_recompile_and_gives_the_same(body: str, tmp_path: Path) -> None:
    import torch

    source, findings = counting(body, tmp_path / "m.py")
    fix = findings[0].fixes[0]
    assert fix.applicability == "unsafe"
    before, after = outcome(source), outcome(apply_edits(source, fix.edits))
    assert isinstance(before.value, tuple), before.value
    assert isinstance(after.value, tuple), after.value
    assert before.recompiled
    assert not after.recompiled
    assert not after.breaks
    for one, other in zip(before.value, after.value, strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("self.calls += 1\nreturn y[:, : self.calls]", "as an argument that ends the slice it costs one"),
        ("self.calls += 1\nreturn y[self.calls]", "as an argument that picks from a tensor it costs one"),
        (
            "self.calls += 1\nreturn y[:, self.calls]",
            "a buffer of one dimension costs none, with `index_copy_`",
        ),
        (
            "self.calls += 1\nreturn y[:, self.calls, : self.calls]",
            "as an argument that ends the slice it costs one",
        ),
        ("self.calls += 1\nreturn y * self.calls", "a buffer costs none"),
    ],
)
def test_a_number_that_picks_needs_more_than_a_buffer(body: str, says: str, tmp_path: Path) -> None:
    _, (finding,) = counting(body, tmp_path / "m.py")
    assert finding.message.endswith(f"; {says}")
    assert bool(finding.fixes[0].edits) is (says == "a buffer costs none")


@pytest.mark.parametrize("body", KEPT)
def test_no_buffer_where_a_number_may_be_needed(body: str, tmp_path: Path) -> None:
    _, findings = counting(body, tmp_path / "m.py")
    assert findings
    assert not any(fix.edits for fix in findings[0].fixes)  # what to do by hand is told


def test_a_number_that_decides_what_runs_is_counted_outside(tmp_path: Path) -> None:
    _, (finding,) = counting(
        "if self.calls % 2:\n    y = y * 2\nself.calls += 1\nreturn y", tmp_path / "m.py"
    )
    assert finding.fixes[0].description.startswith(
        "Count where the compiled code is called, and decide there"
    )


IN_A_LOOP = """
import torch

def scale(x):
    return x * 2

def run():
    found = []
    for n in range(3):
{body}
    return found
"""
BODIES = (
    "found.append(torch.compile(scale, dynamic=True)(torch.ones(n + 2)))",
    "fast = torch.compile(scale)\nfound.append(fast(torch.ones(3)))",
)


@pytest.mark.parametrize("body", BODIES)
def test_compiling_moves_before_the_loop(body: str, tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    source = IN_A_LOOP.format(body=textwrap.indent(body, " " * 8))
    path.write_text(source, encoding="utf-8")
    (finding,) = lint([str(path)], Settings(target_torch=(2, 13))).findings
    (fix,) = finding.fixes
    repaired = apply_edits(source, fix.edits)
    path.write_text(repaired, encoding="utf-8")
    assert not lint([str(path)], Settings(target_torch=(2, 13))).findings
    before, after = outcome(source), outcome(repaired)
    assert after.frames
    assert same(before.value, after.value)


def test_a_marked_dimension_is_compiled_once(tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    for rule in ("PTR206", "PTR213", "PTR212"):
        source = block(next(r for r in load_rules() if r.code == rule), "Example")
        path.write_text(source, encoding="utf-8")
        (finding,) = lint([str(path)], Settings(target_torch=(2, 13))).findings
        assert finding.code == rule
        for fix in finding.fixes:
            after = outcome(apply_edits(source, fix.edits))
            assert after.frames
            assert not after.recompiled, fix.description
            assert after.value is None


def test_an_attribute_costs_little_on_torch_2_6() -> None:
    source = block(next(r for r in load_rules() if r.code == "PTR211"), "Example")
    codes = {t: [(f.code, f.severity) for f in findings(source, target_torch=t)] for t in ((2, 6), (2, 9))}
    assert codes == {(2, 6): [("PTR211", "note")], (2, 9): [("PTR211", "warning")]}


def test_each_number_is_a_cuda_graph_of_its_own() -> None:
    source = block(next(r for r in load_rules() if r.code == "PTR220"), "Example")
    as_graphs = source.replace("@torch.compile", '@torch.compile(mode="reduce-overhead")')
    plain, graphs = (next(f for f in findings(each) if f.code == "PTR220") for each in (source, as_graphs))
    assert (plain.severity, graphs.severity) == ("note", "warning")
    assert "records a CUDA graph for each" in graphs.message
    assert "CUDA graph" not in plain.message


LOADED = """
import torch
from torch.utils.data import DataLoader

model = torch.compile(torch.nn.Linear(3, 3))

def evaluate(data):
    for x in DataLoader(data, batch_size=8):
        {call}
"""


@pytest.mark.parametrize(
    ("call", "fixed"),
    [
        ("y = model(x)", "        torch._dynamo.mark_dynamic(x, 0)\n        y = model(x)\n"),
        ("\ty = model(x)", None),
        ("with torch.no_grad(): model(x)", None),
        ("model(*x)", None),
        ("model(x[0])", None),
    ],
)
def test_a_batch_is_marked_where_a_line_fits(call: str, fixed: str | None) -> None:
    source = LOADED.replace("        {call}", call if call[0] == "\t" else "        " + call)
    if call[0] == "\t":
        source = source.replace("    for x", "\tfor x").replace("\ty =", "\t\ty =")
    (finding,) = findings(source, target_torch=(2, 13))
    marks = [apply_edits(source, f.edits) for f in finding.fixes if "mark_dynamic" in f.description]
    assert [text.endswith(fixed or "") for text in marks] == ([True] if fixed else [])


WHOLE = """
import torch
from torch.utils.data import DataLoader

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(3, 3)

    def forward(self, batch{annotation}):
        return {computed}

model = torch.compile(Net())

def evaluate(data):
    for {target} in DataLoader(data, batch_size=8):
        {before}
        y = model({name})
"""


@pytest.mark.parametrize(
    ("target", "before", "name", "computed", "annotation", "marked"),
    [
        ("batch", "pass", "batch", "self.fc(batch)", "", True),
        ("batch", "batch = batch.to(0)", "batch", "batch.view(-1).sum()", "", True),
        ("batch, y", "pass", "batch", "self.compute(batch)", "", True),
        ("batch", "x = batch['x']", "x", "self.compute(batch)", "", True),
        ("batch", "x, y = batch", "x", "self.compute(batch)", "", True),
        # What nobody knows may be a dictionary, on which a mark raises, or leaves a key.
        ("batch", "pass", "batch", "self.compute(batch)", "", False),
        ("batch", "batch = moved(batch)", "batch", "self.fc(batch['x'])", ": dict", False),
        ("n, batch", "pass", "batch", "self.compute(batch)", "", False),
        ("x, batch", "pass", "batch", "self.fc(batch['x'])", ": dict[str, torch.Tensor]", False),
    ],
)
def test_a_batch_that_may_be_no_tensor_is_not_marked(
    target: str, before: str, name: str, computed: str, annotation: str, marked: bool, tmp_path: Path
) -> None:
    source = WHOLE.format(target=target, before=before, name=name, computed=computed, annotation=annotation)
    if target == "n, batch":
        source = source.replace(
            "in DataLoader(data, batch_size=8)", "in enumerate(DataLoader(data, batch_size=8))"
        )
    (tmp_path / "m.py").write_text(source, encoding="utf-8")
    (finding,) = [
        f
        for f in lint([str(tmp_path / "m.py")], Settings(target_torch=(2, 13))).findings
        if f.code == "PTR212"
    ]
    assert any("mark_dynamic" in f.description for f in finding.fixes) == marked


def test_one_function_leads_to_training_and_to_sampling(tmp_path: Path) -> None:
    """In files that do not import each other."""
    (tmp_path / "loss.py").write_text("def loss(model, x):\n    return model(x).sum()\n", encoding="utf-8")
    (tmp_path / "sample.py").write_text(
        "import torch\n\n@torch.no_grad()\ndef sample(model, x):\n    return model(x)\n", encoding="utf-8"
    )
    main = """
import torch
from loss import loss

def main(model: torch.nn.Module):
    from sample import sample
    model = torch.compile(model)
    loss(model, torch.ones(3)).backward()
    return sample(model, torch.ones(3))
"""
    (tmp_path / "main.py").write_text(main, encoding="utf-8")
    found = lint([str(path) for path in tmp_path.iterdir()], Settings(pedantic=True)).findings
    assert [(f.code, Path(f.path).name, f.line) for f in found] == [("PTR222", "sample.py", 5)]


def test_what_lies_in_another_file(tmp_path: Path) -> None:
    (tmp_path / "state.py").write_text(
        "STEP = 0\nMEMO = {}\nTABLE = {}\nclass Run:\n    window = most = 1\nrun = Run()\n"
    )
    source = headed("""
import state
from state import TABLE, run

class Net(torch.nn.Module):
    def forward(self, x):
        if x.device not in state.MEMO:
            state.MEMO[x.device] = torch.ones(4)  # PTR217
        return x + state.MEMO[x.device]

@torch.compile
def g(x):
    return x * state.STEP

for step in range(100):
    state.STEP += 1  # PTR203
    g(torch.ones(4))

class Layer(torch.nn.Module):
    drops = seen = kept = 0

    def __init__(self):
        super().__init__()
        self.kept = 1

    def forward(self, x):
        return x[: run.window] * TABLE["scale"] * self.drops * self.kept

def train():
    layer = torch.compile(Layer())
    for step in range(100):
        run.window = step + 2  # PTR203
        run.most = step + 2
        TABLE["scale"] = step  # PTR203
        TABLE["other"] = step
        Layer.drops = step  # PTR203
        Layer.seen = Layer.kept = step
        layer(torch.ones(4))
""")
    assert sorted(codes(source, tmp_path, "PTR")) == marked(source)


def test_blocks_whose_forward_the_settings_name_are_compiled_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    block = """
class Attention(torch.nn.Module):
    def __init__(self, index):
        super().__init__()
        self.index = index

    def forward(self, x, cache=None):
        if cache is not None:
            x = cache.update(x, self.index)
        return x

class {name}(torch.nn.Module):
    def __init__(self, index):
        super().__init__()
        self.attention = Attention(index)
        self.index = index

    def forward(self, x, cache=None):
        return self.attention(x, cache) * {by}

{name.lower}s = torch.nn.ModuleList([{name}(i) for i in range(10)])
"""
    for name, by in (("Seldom", "2"), ("Always", "self.index"), ("Unnamed", "self.index")):
        text = block.replace("{name.lower}", name.lower()).replace("{name}", name).replace("{by}", by)
        Path(f"{name.lower()}.py").write_text(headed(text), encoding="utf-8")
    settings = Settings(root_names=("seldom:Seldom.forward", "always:Always.forward"))
    found = lint(["seldom.py", "always.py", "unnamed.py"], settings).findings
    told = [(f.path, f.when, f.severity) for f in found if f.code == "PTR226"]
    assert told == [("always.py", (), "warning"), ("seldom.py", ("cache is not None",), "note")]


def test_a_kept_number_that_is_a_constant_is_a_warning() -> None:
    source = """
import torch

@torch.compile
def noise(x, state):
    state["step"] += 1
    n = state["step"]
    return sum(x * i for i in range(n))

@torch.compile
def update(x, state):
    state["step"] += 1
    return x * 0.9 ** state["step"] if state["step"] > 3 else x * state["rate"]

kept = {"step": 0}
"""
    found = findings(source)
    assert [(f.code, f.line, f.severity) for f in found] == [("PTR218", 6, "warning"), ("PTR218", 12, "note")]


MENDED = {
    "converted into a variable": """
import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.arange(3.0)

    def forward(self, x):
        self.scale = self.scale.to(x.dtype)  # kept
        return x * self.scale

net = Net()
call = torch.compile(net)
""",
    "converted into a variable, a buffer": """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, size=3):
        super().__init__()
        if size == 3:
            self.scale = torch.arange(3.0).view(3)
        else:
            self.scale = torch.ones(size)

    def forward(self, x):
        self.scale = self.scale.type_as(x)  # kept
        return x * self.scale

net = Net()
assert "scale" not in net.state_dict()
call = torch.compile(net)
""",
    "made with the module": """
import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.size = 3
        self.scale = None  # until it is known where

    def forward(self, x):
        if self.scale is None:
            self.scale = torch.arange(float(self.size), device=x.device)
        return x * self.scale

net = Net()
call = torch.compile(net)
""",
    "counted in a tensor": """
import torch

def update(x, state):
    state["step"] += 1
    return x * 0.5 ** state["step"]

kept = {"step": 0}
compiled = torch.compile(update)

def call(x):
    return compiled(x, kept)
""",
}


@pytest.mark.parametrize("name", MENDED)
def test_kept_state_is_mended(name: str, tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    run = "\n\ndef run():\n    return [call(torch.ones(3, dtype=torch.bfloat16)) for _ in range(11)]\n"
    path.write_text(MENDED[name] + run, encoding="utf-8")
    (finding,) = lint([str(path)], Settings()).findings
    before = path.read_text(encoding="utf-8")
    after = apply_edits(before, finding.fixes[0].edits)
    assert before.count("#") == after.count("#")
    assert ("buffer" in name) == (
        '        self.register_buffer("scale", torch.ones(size), persistent=False)\n' in after
    )
    first, second = outcome(before), outcome(after)
    assert first.recompiled
    assert not second.recompiled
    assert same(first.value, second.value)
    path.write_text(after, encoding="utf-8")
    assert lint([str(path)], Settings()).findings == []


AT = """
import torch

def table():
    return torch.arange(3.0)

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.arange(3.0)

    def at(self, *x):
        self.scale = self.scale.to(x[0])
        return self.scale

    def forward(self, x):
        return x * self.at(x)
"""


@pytest.mark.parametrize(
    ("method", "given", "made", "mended"),
    [
        ("at", "x[0]", "torch.arange(3.0)", True),
        ("at", "*x", "torch.arange(3.0)", False),
        ("to", "x[0]", "torch.arange(3.0)", False),
        ("at", "x[0]", "table()", False),  # no buffer: moved at each call
        ("at", "x[0].device", "table()", False),
        ("at", "torch.float16", "table()", True),
        ("at", "x[0].dtype", "table()", True),
        ("at", "above", "torch.arange(3.0)", False),  # made anew at each call where it is not left converted
    ],
)
def test_what_is_converted_may_be_kept_so(
    method: str, given: str, made: str, mended: bool, tmp_path: Path
) -> None:
    path = tmp_path / "m.py"
    text = AT.replace("at(", f"{method}(").replace("to(x[0])", f"to({given})")
    if given == "above":
        text = text.replace(
            "        self.scale = self.scale.to(above)",
            "        if self.scale.device != x[0].device:\n            self.scale = torch.arange(3.0)\n"
            "        self.scale = self.scale.to(x[0])",
        )
    path.write_text(text.replace("torch.arange(3.0)", made), encoding="utf-8")
    (finding,) = (one for one in lint([str(path)], Settings()).findings if one.code == "PTR216")
    assert bool(finding.fixes) == mended


PADDED = """
import torch
import torch.nn.functional as F
from functools import partial
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader
from transformers import DataCollatorWithPadding

ROWS = [torch.arange(3 + i // 4) for i in range(48)]
tokenizer = None


def stacked(rows, **_):
    return pad_sequence(rows, batch_first=True)


def by_hand(rows):
    longest = max(len(row) for row in rows)
    return torch.stack([F.pad(row, (0, longest - len(row))) for row in rows])


def texts(rows):
    return tokenizer([r["text"] for r in rows], padding=True, return_tensors="pt")["input_ids"]


def fixed(rows):
    return tokenizer(rows, padding="max_length", max_length=max(map(len, rows)))


def cut(rows):
    return torch.stack([row[:3] for row in rows])


class Collate:
    def __call__(self, rows):
        return stacked(rows)

    def other(self, rows):
        return pad_sequence(rows)


class Both:
    def __call__(self, rows):
        return {"ids": pad_sequence([r for r in rows], batch_first=True)}


def train():
    model = torch.compile(nn.Embedding(99, 4)COMPILED)
    collate = DataCollatorWithPadding(tokenizer)
    aligned = DataCollatorWithPadding(tokenizer, pad_to_multiple_of=64)
    both = Both()
    loader = DataLoader(ROWS, batch_size=4, drop_last=True, collate_fn=COLLATE)
    for ids in loader:
        MARK
        model(ids)


train()
"""


@pytest.mark.parametrize("compiled", ["", ", dynamic=False", ", dynamic=True"])
@pytest.mark.parametrize(
    ("collate", "pads"),
    [
        ("stacked", True),
        ("partial(stacked, batch_first=True)", True),
        ("by_hand", True),
        ("texts", True),
        ("collate", True),
        ("both", True),
        ("Collate().other", True),
        ("fixed", False),
        ("cut", False),
        ("aligned", False),
        ("None", False),
    ],
)
def test_batches_padded_to_the_longest(compiled: str, collate: str, pads: bool) -> None:
    source = PADDED.replace("COMPILED", compiled).replace("COLLATE", collate).replace("MARK", "pass")
    told = {"": ["note"], ", dynamic=False": ["warning"], ", dynamic=True": []}[compiled] if pads else []
    found = [f for f in findings(source, target_torch=(2, 13)) if f.code == "PTR227"]
    assert [f.severity for f in found] == told


@pytest.mark.parametrize(
    ("compiled", "mark", "times"),
    [
        ("", "pass", 1),
        (", dynamic=False", "pass", 8),
        (", dynamic=True", "pass", 0),
        ("", "torch._dynamo.mark_dynamic(ids, 1)", 0),
    ],
)
def test_what_padded_batches_cost(compiled: str, mark: str, times: int) -> None:
    source = PADDED.replace("COMPILED", compiled).replace("COLLATE", "stacked").replace("MARK", mark)
    source = source.replace(
        "from transformers import DataCollatorWithPadding", "DataCollatorWithPadding = lambda *_, **__: None"
    )
    source = source.removesuffix("train()\n").replace("def train", "def run")
    assert len(outcome(source).recompiled) == times


MADE_AS_LONG = """
import torch
from torch import nn

def crop(data, n):
    return torch.stack([data[j : j + n] for j in (0, 3)])

def boxes(count):
    return [torch.ones(4) for _ in range(1 + count)]

def fuse(parts):
    total = 0
    for part in parts:
        total = total + part
    return total

def attend(x, meta):
    return x * meta["longest"]

class Block(nn.Module):
    def __init__(self, index):
        super().__init__()
        self.index = index

    @torch.compile
    def forward(self, x):
        return x * 2 if self.index == 3 else x + 1

class Cache(nn.Module):
    def __init__(self):
        super().__init__()
        self.at = 0
        self.register_buffer("kept", torch.zeros(64, 4))

    def forward(self, x):
        n = x.shape[0]
        if self.at + n > 64:
            self.at -= n
        self.kept[self.at : self.at + n] = x
        self.at += n
        return self.kept[: self.at].sum()

class Slots(nn.Module):
    def __init__(self, at):
        super().__init__()
        self.at = at
        self.register_buffer("kept", torch.zeros(2, 64))

class Placed(Slots):
    def forward(self, x):
        self.kept[:, self.at] = x
        self.at += 1
        return self.kept.sum()

class Copied(Slots):
    def __init__(self):
        super().__init__(0)
        del self.at
        self.register_buffer("at", torch.zeros(1, dtype=torch.long))

    def forward(self, x):
        self.kept.index_copy_(1, self.at, x[:, None])
        self.at += 1
        return self.kept.sum()

class Given(Slots):
    def forward(self, x, at: int):
        self.kept[:, at : at + 1] = x[:, None]
        return self.kept[:, : at + 1].sum()

class Place(Slots):
    def forward(self, x, at):
        self.kept[:, at] = x
        return self.kept.sum()

def run():
    made = MADE
    for n in range(12):
        CALL
"""


@pytest.mark.parametrize(
    ("made", "call", "times"),
    [
        ("torch.compile(fuse, dynamic=False)", "made(crop(torch.ones(99), n + 8))", 8),
        ("torch.compile(torch.relu, dynamic=False)", "made(crop(torch.ones(99), n + 8))", 8),
        ("torch.compile(torch.relu)", "made(crop(torch.ones(99), n + 8))", 1),
        ("torch.compile(fuse)", "made(boxes(n))", 8),
        ("[Block(n) for n in range(12)]", "made[n](torch.ones(3))", 8),
        ("[Block(4) for n in range(12)]", "made[n](torch.ones(3))", 0),
        ("torch.compile(nn.Linear(4, 4))", "made(torch.ones(2, 1 if n else 9, 4))", 1),
        ("torch.compile(Cache())", "made(torch.ones(2, 4))", 8),
        ("torch.compile(Placed(0))", "made(torch.ones(2))", 8),
        ("torch.compile(Copied())", "made(torch.ones(2))", 0),
        ("torch.compile(Given(0))", "made(torch.ones(2), n)", 1),
        ("torch.compile(Place(0))", "made(torch.ones(2), n)", 8),
        ("torch.compile(Place(0))", "made(torch.ones(2, 1), torch.tensor([n]))", 0),
        ("torch.compile(attend)", 'made(torch.ones(2, 4), {"longest": torch.tensor(n + 4).item()})', 1),
        ("torch.compile(attend, dynamic=False)", 'made(torch.ones(2), {"longest": n + 4})', 8),
        ("torch.compile(attend, dynamic=False)", 'made(torch.ones(2), {"longest": torch.tensor(n)})', 0),
    ],
)
def test_what_sizes_and_numbers_of_others_cost(made: str, call: str, times: int) -> None:
    assert len(outcome(MADE_AS_LONG.replace("MADE", made).replace("CALL", call)).recompiled) == times


GROWS_BEHIND = """\
import torch
import torch.utils.checkpoint
from torch import nn

CALLS = []

class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        CALLS.append(1)
        return gradient * 2

@torch.compile(backend="eager")
def scaled(x):
    return Scale.apply(x).sum()

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)
        self.norms = []

    def forward(self, x):
        h = self.lin(x)
        h.register_hook(lambda gradient: self.norms.append(gradient.shape[0]))
        return h.relu().sum()

made = torch.compile(Net(), backend="eager")

@torch.compile(backend="eager")
def checkpointed(x):
    def block(y):
        CALLS.append(1)
        return y.sin()
    return torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False).sum()

def run():
    for _ in range(11):
        CALL(torch.ones(2, 4, requires_grad=True)).backward()
"""


def test_a_tensor_that_a_test_of_its_values_replaces_costs_nothing() -> None:
    whole = CASES["tensors that a test of their values replaces"].rpartition("torch.compile")[0]
    whole += (
        "net = torch.compile(Range())\n\ndef run():\n    for _ in range(5):\n        net(torch.ones(3))\n"
    )
    filled, rest = whole.index("        if self.table"), whole.index("        if torch.isinf")
    assert outcome(whole).recompiled  # by what PTR217 tells of
    assert not outcome(whole[:filled] + whole[rest:]).recompiled


@pytest.mark.parametrize("call", ["scaled", "made", "checkpointed"])
def test_a_list_that_grows_in_a_backward_or_a_hook_costs_nothing(call: str, tmp_path: Path) -> None:
    source = GROWS_BEHIND.replace("CALL(", f"{call}(")
    assert not outcome(source).recompiled
    (tmp_path / "m.py").write_text(source)
    assert "PTR204" not in {finding.code for finding in lint([str(tmp_path / "m.py")], Settings()).findings}


@pytest.mark.parametrize(
    ("reads", "fixed"),
    [
        ('return x * 0.9 ** state["n"]', True),
        ('n = torch.pow(x, state["n"])\n    return n', True),
        # What is added to in place would be in the list, too.
        ('seen.append((1, state["n"]))\n    return x', False),
        ("return x\n\ndef shown(state):\n    print(f\"{state['n']:d} calls\")", False),
        ('return x\n\ndef left(state):\n    return 3 > state["n"]', False),
        ('return x\n\ndef saved(state):\n    return [state["n"]]', False),
        ('return x\n\ndef rest(state):\n    return 3 - state["n"]', True),
    ],
)
def test_a_number_that_is_kept_or_shown_stays_one(reads: str, fixed: bool, tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    path.write_text(
        "import torch\n\nseen = []\nkept = {'n': 0}\n\n@torch.compile\n"
        f'def f(x, state):\n    state["n"] += 1\n    {reads}\n\nf(torch.ones(1), kept)\n'
    )
    (finding,) = (f for f in lint([str(path)], Settings(pedantic=True)).findings if f.code == "PTR218")
    assert bool(finding.fixes) is fixed


def test_a_number_that_is_counted_in_a_global_stays_one(tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    path.write_text(
        "import torch\n\ncalls = {'n': 0}\n\n@torch.compile\n"
        "def f(x):\n    calls['n'] += 1\n    return x\n\nf(torch.ones(1))\n"
    )
    (finding,) = (f for f in lint([str(path)], Settings(pedantic=True)).findings if f.code == "PTR203")
    assert not any(one.edits for one in finding.fixes)
