"""Code that the silent-misuse rules must report, at the lines whose comments say so, and code that they must not."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

from pt2lint.fixes.edit import apply_edits
from pt2lint.project.config import Settings
from pt2lint.static.engine import lint
from tests.linting import findings, headed
from tests.rules_recompile.blocks import codes, marked
from tests.rules_recompile.running import outcome

CASES = {
    "a prefix that is taken off letter by letter, or without its dot": """
import torch

def load(model, path):
    state = {k.lstrip("_orig_mod."): v for k, v in torch.load(path).items()}  # PTS317
    model.load_state_dict(state)

def cut(state):
    return {k.replace("_orig_mod", ""): v for k, v in state.items()}  # PTS317

class Saver:
    def cut(self, state):
        return {k.replace("._orig_mod", "."): v for k, v in state.items()}  # PTS317

state = {k.strip('_orig_mod'): 0 for k in torch.load("a.pt")}  # PTS317
""",
    "a prefix that is taken off whole": """
import torch

def clean(name):
    return name.replace("_orig_mod", "").lstrip(".")

def cut(state):
    return {k.replace("._orig_mod", "").removeprefix("_orig_mod."): v for k, v in state.items()}

def twice(state):
    state = {k.replace("_orig_mod.", ""): v for k, v in state.items()}
    return {k.replace("_orig_mod", "").split(".")[0]: v for k, v in state.items()}
""",
    "the class of a library's model": """
import torch
from diffusers import UNet2DConditionModel
from diffusers.models import AutoencoderKL

def dummy(backbone, vae):
    assert isinstance(backbone, UNet2DConditionModel)  # PTS304
    assert isinstance(vae, AutoencoderKL)  # PTS304
    backbone.eval()
    vae.eval()
""",
    "a budget under which a dropout is drawn again": """
import torch
from torch._functorch import config

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = torch.nn.Dropout(0.1)

    def forward(self, x):
        return self.drop(x.sin())

net = torch.compile(Net())
config.activation_memory_budget = 0.5  # PTS353
config.activation_memory_budget = 1.0
net(torch.ones(3))
""",
    "a budget under which a function of torch draws again": """
import torch
import torch.nn.functional as F
import torch._functorch.config as config

@torch.compile
def f(x: torch.Tensor):
    return F.dropout(x.sin(), 0.1) * torch.rand_like(x)

def main():
    config.activation_memory_budget = 0.3  # PTS353
    f(torch.ones(3))
""",
    "a budget where nothing is drawn": """
import torch
import torch._functorch.config

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = torch.nn.Dropout(0.0)

    def forward(self, x):
        return self.drop(x.sin())

net = torch.compile(Net())
torch._functorch.config.activation_memory_budget = 0.5
net(torch.randn(3))

@torch.compile
def noise(n: int):
    return torch.rand(n)
""",
    "parts that a function looks for below the wrapper": """
import torch

def parts(module, found):
    found.append(module)
    for child in module.children():
        parts(child, found)

def layers(module):
    return [child for child in module.children()]  # PTS317

net = torch.compile(torch.nn.Sequential(torch.nn.Linear(2, 2)))
parts(net, [])
layers(net)
""",
    "roundings where a function imports torch": """
def make():
    import torch

    @torch.compile
    def f(x: torch.Tensor):
        return x.to(torch.bfloat16).to(torch.float32)  # PTS351

    return f(torch.ones(2))

make()
""",
    "gradients in a file that refuses a compiled model": """
import torch
from torch.autograd import grad

critic = torch.nn.Linear(2, 1)

class Hessian:
    def __init__(self, compiled):
        self.compiled = compiled
        self.model = torch.compile(critic) if compiled else critic

    def rows(self, x):
        if self.compiled:
            raise RuntimeError("compiled")
        return self.of(x)

    def of(self, x):
        y = self.model(x)
        return grad(y.sum(), x, create_graph=True)

Hessian(True).rows(torch.ones(3, 2, requires_grad=True))
""",
    "gradients that are differentiated again": """
import torch
from torch import autograd
from torch.autograd import grad

critic = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
fast = torch.compile(critic)
plain = torch.compile(critic, backend="eager")

def penalty(net, x):
    scores = net(x)
    ones = torch.ones_like(scores)
    slopes = autograd.grad(outputs=scores, inputs=x, grad_outputs=ones, create_graph=True)[0]  # PTS352
    return (slopes.norm(2, dim=1) - 1).square().mean()

def uncompiled(net, x):
    return autograd.grad(net(x).sum(), x, create_graph=True)[0].norm()

def train(x):
    loss = -fast(x).mean() + penalty(fast, x) + uncompiled(critic, x)
    loss.backward()

def residual(x):
    u = fast(x)[:, 0]
    loss = u.sum()
    (du,) = grad(loss, x, create_graph=True)  # PTS352
    (again,) = grad(du.sum(), x, create_graph=True)
    return again.square().mean()

def at_once(x):
    return grad(fast(x).sum(), x, create_graph=True)[0].norm()  # PTS352

def by_hand(x):
    y = fast(x)
    y.sum().backward(create_graph=True)  # PTS352

def forces(x):
    y = fast(x)
    return grad(y.sum(), x, create_graph=critic.training)[0] + grad(y.sum(), x, create_graph=False)[0]  # PTS352

def harmless(x):
    y = fast(x)
    (slope,) = grad(y.sum(), x)
    z = plain(x)
    (other,) = grad(z.sum(), x, create_graph=True)
    value = y.detach().sum()
    y = critic(x)
    (third,) = grad(y.sum(), x, create_graph=True)
    return slope, other, third, value

x = torch.ones(3, 2, requires_grad=True)
train(x), residual(x), at_once(x), by_hand(x), forces(x), harmless(x)
""",
    "roundings that other backends leave": """
import torch

@torch.compile(backend="aot_eager")
def f(x):
    return x - x.to(torch.bfloat16).float()

g = torch.compile(f, fullgraph=True, backend="eager")
""",
    "roundings to half precision that are dropped": """
import torch
import torch as t

@torch.compile
def f(x, y):
    a = x.to(torch.bfloat16).to(torch.float32)  # PTS351
    b = x - x.half().float()  # PTS351
    high = x.to(dtype=t.bfloat16)
    low = x - high.float()  # PTS351
    lower = (low - low.bfloat16()).half()  # PTS351
    scale = y.abs().max() / 7
    return a, b, high, lower, torch.round(y / scale.half().float())  # PTS351

@torch.compile
def g(x: torch.Tensor, y: torch.Tensor):
    h = x.half()
    h = h * 2
    k = (x.half() * 2).float()
    z = y.half()
    y = y + 1
    w = x.bfloat16()
    x.add_(1)
    a = y - z.float(), x - h.float(), x.half() - x, x.to("cpu").float(), x.to(torch.float8_e4m3fn).float(), x - w
    half = y.half()
    return a, k, (x > 0).half().float(), x.long().half().float(), half.bfloat16().float(), x.half().double()
""",
    "attributes that are missing at first": """
import contextlib

import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.none = None

    def forward(self, x):
        try:
            h = self.h  # PTS347
        except AttributeError:
            h = torch.zeros_like(x)
        self.h = x + h
        try:
            self.calls += 1  # PTS347
        except AttributeError:
            self.calls = 1
        try:
            table = self.table  # PTS347
        except AttributeError:
            table = self.table = torch.arange(x.shape[-1])
        try:
            made = self.made  # PTS347
        except AttributeError:
            self._make(x)
            made = self.made
        if "kept" not in self.__dict__:  # PTS347
            self.kept = x * 2
        last = vars(self).get("last")  # PTS347
        self.last = x
        with contextlib.suppress(AttributeError):
            x = x + self.before  # PTS347
        self.before = x
        return h + table + made + self.kept + (0 if last is None else last)

    def _make(self, x):
        self.made = x.mean()

class Guarded(torch.nn.Module):
    kind = None

    def __init__(self):
        super().__init__()
        self.none = None

    def forward(self, x):
        if not hasattr(self, "h"):
            self.h = x
        try:
            none = self.none + x
        except (AttributeError, TypeError):
            none = x
        self.none = none
        try:
            kind = self.kind
        except AttributeError:
            kind = self.kind = x
        try:
            reset = self.reset_to
        except AttributeError:
            reset = self.reset_to = x
        try:
            given = self.given
        except AttributeError:
            given = self.given = x
        try:
            buffer = self.buffer
        except AttributeError:
            self.register_buffer("buffer", x)
        return self.h + none + reset

    def reset(self, x):
        self.reset_to = x

class Meter:
    def step(self, x):
        try:
            seen = self.seen
        except AttributeError:
            seen = self.seen = x
        return seen

@torch.compile
def f(x):
    return Meter().step(x)

def run(x):
    net = torch.compile(Guarded())
    net.given = x
    return net(x)
""",
    "legacy constructors": """
import numpy as np
import torch
from torch import FloatTensor

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.bound = np.array([1.0, 2.0])
        self.single = np.array([1.0, 2.0], dtype=np.float32)

    def forward(self, x: torch.Tensor, n: int):
        a = torch.Tensor(x.size())  # PTS348
        b = torch.FloatTensor(x.shape[1:]).normal_()  # PTS348
        size = x.size()
        c = torch.LongTensor(size)  # PTS348
        d = FloatTensor(x.shape + (2,))  # PTS348
        e = torch.Tensor(self.bound)  # PTS348
        e = e + torch.Tensor(np.arange(n))  # PTS348
        e = e + torch.Tensor(np.array([1, 2]))  # PTS348
        fine = torch.Tensor(*x.size()), torch.Tensor((1, 2)), torch.Tensor([1, 2]), x.new(x.size()), torch.Tensor(n)
        fine = torch.Tensor(x.numpy().shape), torch.Tensor(self.single), torch.Tensor(np.zeros(3)).float()
        return a, b, c, d, e, fine
""",
    "numbers of NumPy beside tensors": """
import math

import numpy as np
import torch

class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor, t: torch.Tensor):
        a = torch.arange(8) * -(np.log(10000.0) / 8)  # PTS349
        b = x.pow(2).mean() / np.log(2.0)  # PTS349
        k = np.sqrt(x.shape[-1])
        c = t.long() + k  # PTS349
        fine = torch.arange(8) * -(math.log(10000.0) / 8), x * np.sqrt(2.0), torch.arange(3) * np.prod([2, 3])
        fine = (torch.arange(8) * np.sqrt(2.0)).to(x.dtype), torch.arange(8) > np.sqrt(2.0), torch.arange(8.0) * k
        d = t.long() * k
        return a, b, c, fine, d.float()
""",
    "elements of an array that are looked up": """
import numpy as np
import torch

table = {1: 2.0}

@torch.compile
def f(x, rows: np.ndarray, ids: list[int]):
    for row in np.unique(rows):
        x = x * table.get(row, 1.0)  # PTS350
    last = table.pop(rows[0], None)  # PTS350
    return x * table.get(ids[0], 1.0) * table.get(len(rows), 1.0)
""",
    "compiled in a list that nobody keeps": """
class Ensemble(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.members = torch.nn.ModuleList(torch.nn.Linear(3, 3) for _ in range(2))

    def prepare(self):
        [torch.compile(m) for m in self.members]  # PTS301
        self.fast = [torch.compile(m) for m in self.members]

    def forward(self, x):
        return sum(m(x) for m in self.members)
""",
    "methods that a wrapper has itself": """
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 3)
        self.ready = False

    def eval(self):
        self.ready = True
        return super().eval()

    def train(self, mode=True):
        self.ready = False
        return super().train(mode)

    def named_parameters(self, *args, **kwargs):
        return self.layer.named_parameters(*args, **kwargs)

    def forward(self, x):
        return self.layer(x)

class Below(Net):
    pass

class Plain(torch.nn.Module):
    def forward(self, x):
        return x * 2

wrapped = torch.compile(Below())
wrapped.eval()  # PTS346
names = [name for name, _ in wrapped.named_parameters()]  # PTS346
wrapped.train()
wrapped.half()
other = torch.compile(Plain()).eval()
inside = Net()
inside.compile()
inside.eval()
""",
    "objects that draw": """
import random

RNG = random.Random(0)

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.rng = random.Random(0)
        self.own = Own()

    def pick(self):
        return self.rng.randint(0, 5)  # PTS345 with low confidence

    def forward(self, x: torch.Tensor):
        y = x * self.rng.uniform(0, 1)  # PTS345
        if RNG.random() < 0.5:  # PTS345
            y = y + 1
        y = y * self.pick() + self.own.rng.randrange(4)  # PTS345
        most = self.rng.randint(2, 5)  # PTS345
        y = torch.where(y > most, y, x)
        rng = random.Random(3)
        return y * rng.random() + random.uniform(0, 1) * 0 + random.Random(4).random()

class Own:
    def __init__(self):
        self.rng = random.Random(1)

@torch.compile
def given(x: torch.Tensor, rng: random.Random):
    return x * rng.random()  # PTS345

@torch.compile
def made(x):
    return x * drawn(random.Random(0))

def drawn(rng: random.Random):
    return rng.random()

@torch.compile
def calculated(x: torch.Tensor):
    share = RNG.random()
    return x * 0.1 * (RNG.random() + 1) + share * 2 + x[: RNG.randint(1, 3)].sum()

@torch.compile
def counted(x):
    for _ in range(RNG.randint(0, 3)):
        x = x * 2
    return x

net, rng = torch.compile(Net()), random.Random(0)

def run():
    return [(net(torch.ones(3)), given(torch.ones(3), rng), made(torch.ones(3))) for _ in range(3)]
""",
    "masks of bytes": """
class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor, mask=None, kept: torch.ByteTensor = None):
        if mask is None:
            mask = x.new_ones(x.shape[:1], dtype=torch.uint8)
        low = (x < 0).byte()
        y = torch.where(low, x, x * 2)  # PTS344
        y = y.where(low.to(torch.uint8), x)  # PTS344
        y = y + x[mask] + x[:, kept] + x[low & low]  # PTS344, PTS344, PTS344
        z = torch.where(low.bool(), x, y) + torch.where(low > 0, x, y) + x[x.argmax(0)] + x[low.long()].sum()
        z = z.masked_fill(low.bool(), 0.0) + torch.zeros(3, dtype=torch.uint8) / 255 + x[low[0, 0].long()]
        y[low] = 0  # in eager mode this raises, too
        return y + z
""",
    "deques that are full": """
from collections import deque

LAST, KEPT = deque(maxlen=2), deque()

class Net(torch.nn.Module):
    def __init__(self, n=3):
        super().__init__()
        self.last = deque([], n)
        self.all = deque()
        self.once = deque(maxlen=2)

    def forward(self, x):
        before = sum(self.last)
        self.last.append(x)
        self.all.append(x)
        self.once.append(x)
        for item in self.last:  # PTS343
            x = x + item
        return x + newest(self.once) + len(self.once) + sum(self.all) + before

def newest(kept):
    return kept[-1]

@torch.compile
def f(x):
    LAST.append(x)
    KEPT.append(x)
    local = deque(maxlen=2)
    local.append(x)
    return torch.stack([*LAST]).sum() + sum(KEPT) + sum(local)  # PTS343

net = torch.compile(Net())

def run():
    return [f(torch.ones(3) * n) for n in range(5)], [net(torch.ones(3) * n) for n in range(5)]
""",
    "members of enumerations": """
import enum

class Kind(enum.IntEnum):
    TEXT = 0
    IMAGE = 1

class Share(float, enum.Enum):
    HALF = 0.5

class Plain(enum.Enum):
    ONE = 1

class Net(torch.nn.Module):
    def __init__(self, kind: Kind):
        super().__init__()
        self.kind = kind
        self.wanted = Kind.IMAGE.value

    def forward(self, x, ids: torch.Tensor, kind: Kind, n: int):
        y = x.relu() * (ids == Kind.IMAGE)  # PTS342
        y = y + (Kind.TEXT != ids) * (ids == kind)  # PTS342, PTS342
        y = y + (ids == self.kind) + (x == Share.HALF)  # PTS342, PTS342
        y = y + (ids == Kind.IMAGE.value) + (ids > Kind.TEXT) + torch.eq(ids, Kind.TEXT)
        y = y + (ids == n) + (ids == self.wanted) + (ids == int(Kind.TEXT))
        return y if n == Kind.TEXT and kind == Kind.IMAGE else y * 2
""",
    "variables that torch reads when it is imported": """
import os
os.environ["TORCH_TRACE"] = "/tmp/first"
import torch

os.environ["TORCH_TRACE"] = "/tmp/traces"  # PTS321
os.environ["TORCHINDUCTOR_FORCE_DISABLE_CACHES"] = "1"  # PTS321
os.environ["TORCHINDUCTOR_CACHE_DIR"] = "/tmp/cache"
os.environ["TORCHINDUCTOR_MAX_AUTOTUNE"] = "1"

@torch.compile
def f(x):
    return x * 2
""",
    "the module as it was is called beside its wrapper": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)

    def forward(self, x):
        return self.lin(x)

class Task(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x):
        return self.model(x).pow(2).mean()

class Trainer:
    def __init__(self, model):
        self.model = model
        self.compiled = torch.compile(model)

    def train(self, x):
        return self.compiled(x).sum()

    def evaluate(self, x):
        return self.model(x).sum()  # PTS302

trainer = Trainer(Net())

def validate(model, x):
    return model(x)

def score(model, x):
    return model(x)

def fit(args):
    model = Net()
    task = Task(model)
    if args.compile:
        task = torch.compile(task)
    task(torch.ones(2, 4)).backward()
    validate(model, torch.ones(2, 4))  # PTS302

def fit_either(args):
    model = Net()
    if args.kind:
        task = Task(model)
    else:
        task = Task(model=model)
    task = torch.compile(task)
    task(torch.ones(2, 4)).backward()
    validate(model, torch.ones(2, 4))  # PTS302

def evaluate(model, x):
    model.eval()
    return model(x)

def fit_what_a_factory_makes(args, create):
    model = create(args.name)
    task = None
    if args.kind:
        task = Task(model)
    elif args.other:
        task = Task(model=model)
    if args.compile:
        task = torch.compile(task)
    task(torch.ones(2, 4)).backward()
    evaluate(model, torch.ones(2, 4))  # PTS302
    validate(model, torch.ones(2, 4))  # which may be anything

def factory_that_may_compile(args, create, compiled):
    model = compiled(create(args.name))
    model = compiled(model)
    task = Task(model)
    task = torch.compile(task)
    task(torch.ones(2, 4)).backward()
    evaluate(model, torch.ones(2, 4))

def made_and_compiled_in_place(args, create):
    model = create(args.name)
    task = Task(model)
    task = torch.compile(task)
    task(torch.ones(2, 4)).backward()
    model.compile()
    evaluate(model, torch.ones(2, 4))

def compare(x):
    net = Net()
    fast = torch.compile(net)
    return score(fast, x) - score(net, x)

def with_teacher(x):
    teacher, net = Net(), Net()
    fast = torch.compile(net)
    return fast(x) - validate(teacher, x)

def with_average(x):
    net = Net()
    average = Net()
    fast = torch.compile(net)
    return fast(x) - validate(average, x)

def given_either(args, x):
    net = Net()
    fast = torch.compile(net) if args.compile else net
    return validate(fast, x)

def chosen(args, x):
    net = Net()
    if args.compile:
        net = torch.compile(net)
    return validate(net, x)

def made_anew_before(x):
    net = Net()
    net = net.to("cpu")
    fast = torch.compile(net)
    return fast(x) - validate(net, x)  # PTS302

def converted_and_held(args, x):
    net = Net()
    if args.sync:
        net = nn.SyncBatchNorm.convert_sync_batchnorm(net)
    task = Task(model=net)
    task = torch.compile(task)
    return task(x) - validate(net, x)  # PTS302

def made_anew_after(x):
    net = Net()
    fast = torch.compile(net)
    net = Net()
    return fast(x) - validate(net, x)

def another_is_held(x):
    net = Net()
    task = Task(net)
    net = Net()
    task = torch.compile(task)
    return task(x) - validate(net, x)

def in_place(x):
    net = Net()
    net.compile()
    return validate(net, x)
""",
    "parts of a module that is given, in a file that keeps no states": """
def compile_blocks(model: nn.Module, backend):
    for name, block in model.layers.named_children():
        block = torch.compile(block, backend=backend, fullgraph=True)
        model.layers.register_module(name, block)  # PTS303

def compile_inner(model):
    for at, block in model.layers.items():
        if block.sparse:
            for name, part in block.named_children():
                setattr(block, name, torch.compile(part))  # PTS303
        else:
            model.layers[at] = torch.compile(block)  # PTS303

def compile_unwrapped(model: nn.Module, backend):
    for _, layer in model.layers.named_children():
        if isinstance(layer, Checkpointed):
            block = layer.wrapped
        else:
            block = layer
        for name, part in block.named_children():
            setattr(block, name, torch.compile(part, backend=backend))  # PTS303

def compile_inside(model: nn.Module):
    for layer in model.layers:
        moe = layer.moe if hasattr(layer, "moe") else layer
        for name, part in moe.named_children():
            if name == "experts":
                continue
            moe.register_module(name, torch.compile(part))  # PTS303

def compile_other(model: nn.Module, made):
    block = made(model)
    for name, part in block.named_children():
        setattr(block, name, torch.compile(part))

def compile_made():
    model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
    for name, block in model.named_children():
        model.register_module(name, torch.compile(block))
    return model(torch.ones(3))
""",
    "parts that are replaced, in a file of which another function knows of the wrapper": """
def compile_blocks(model: nn.Module):
    for name, block in model.layers.named_children():
        model.layers.register_module(name, torch.compile(block))  # PTS303

def compile_whole(model: nn.Module):
    'In place, for the names of the state would have _orig_mod.'
    model.compile()
""",
    "parts that are replaced by a function that knows of the wrapper": """
def compile_blocks(model: nn.Module):
    # The checkpoints of this have _orig_mod in their names.
    for name, block in model.layers.named_children():
        model.layers.register_module(name, torch.compile(block))

def compile_documented(model: nn.Module):
    'Takes the blocks off by their _orig_mod.'
    for name, block in model.layers.named_children():
        model.layers.register_module(name, torch.compile(block))
""",
    "parts that are replaced one by one": """
def by_name(model: nn.Module):
    for name, block in model.layers.named_children():
        block = torch.compile(block, fullgraph=True)
        model.layers.register_module(name, block)  # PTS303

def by_number(model):
    for i, block in enumerate(model.blocks):
        model.blocks[i] = torch.compile(block)  # PTS303
    for i in range(len(model.heads)):
        model.heads[i] = torch.compile(model.heads[i])  # PTS303

def by_attribute(model):
    for name, child in model.named_children():
        setattr(model, name, torch.compile(child))  # PTS303

def kept(functions, cache):
    for name, function in functions.items():
        cache[name] = torch.compile(function)
        setattr(cache, name, cache[name])

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(3, 3) for _ in range(3)])

    def compile_parts(self):
        for i, layer in enumerate(self.layers):
            self.layers[i] = torch.compile(layer)  # PTS303

    def compile_in_place(self):
        for layer in self.layers:
            layer.compile()  # PTS308

def save(model, path):
    torch.save([p.detach() for p in model.parameters()], path + "checkpoint")
""",
    "saved under the flag that compiles": """
class Pipeline:
    def __init__(self, compiles=False):
        self.compiles = compiles

    def load(self, model, path, save):
        self.model = model
        if self.compiles:
            self.model = torch.compile(self.model)  # PTS303
        if self.compiles:
            if save:
                torch.save(self.model.state_dict(), path)  # PTS303
        return self.model.eval().parameters()
""",
    "a wrapper of which the file knows": """
from torch._dynamo import OptimizedModule

class Trainer:
    def __init__(self, network):
        self.network = network
        if not isinstance(self.network, OptimizedModule):
            self.network = torch.compile(self.network)

    def restore(self, path):
        self.network.restore(path)
""",
    "the class of another": """
class Ema(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.ema = model

class Net(nn.Module):
    def forward(self, x):
        return x * 2

class Deep(Net):
    pass

def unwrapped(model):
    if isinstance(model, Ema):
        return unwrapped(model.ema)
    if hasattr(model, "_orig_mod"):
        return unwrapped(model._orig_mod)
    return model

def is_net(model):
    return isinstance(model, Net)  # PTS304

def run(model: nn.Module):
    given, fast = torch.compile(model), torch.compile(Net())
    unwrapped(given)
    unwrapped(fast)
    is_net(torch.compile(Deep()))
    return isinstance(fast, Ema), isinstance(fast, Net)  # PTS304
""",
    "what a wrapper refuses": """
def run(compiled: bool):
    stack = torch.compile(nn.Sequential(nn.Linear(3, 3), nn.ReLU()))
    first = stack[0]  # PTS337
    for layer in stack:  # PTS337
        print(layer)
    torch.jit.trace(stack, (torch.ones(2, 3),))  # PTS337
    plain = nn.Sequential(nn.Linear(3, 3))
    fast = torch.compile(plain)
    torch.jit.trace(plain[0], (fast(torch.ones(2, 3)),))
    maybe = nn.Sequential(nn.Linear(3, 3))
    if compiled:
        maybe = torch.compile(maybe)
    return first, maybe[0]  # PTS337

def applied(net: nn.Module, variables):
    fast = torch.compile(net)
    outputs = fast.apply(variables, torch.ones(3))
    return outputs[2], fast.apply(print)[2]  # PTS337

def train(net: nn.Module):
    early = torch.optim.SGD(net.parameters(), lr=0.1)
    schedule = torch.optim.lr_scheduler.StepLR(early, 1)
    early.step = torch.compile(early.step)
    late = torch.optim.SGD(net.parameters(), lr=torch.tensor(0.1))
    late.step = torch.compile(late.step)
    return schedule, torch.optim.lr_scheduler.StepLR(late, 1)  # PTS337

run(True)
train(nn.Linear(3, 3))
""",
    "parts compiled by their module": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.compile(nn.Linear(3, 3))
        self.head = nn.Linear(3, 3)

    def save(self):
        torch.save(self.state_dict(), "own.pt")  # PTS303

def run():
    net = Net()
    torch.save(net.state_dict(), "net.pt")  # PTS303
    net.save()

def save_on_master(*args, **kwargs):
    torch.save(*args, **kwargs)

run()
""",
    "a list of compiled parts": """
class Stack(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([torch.compile(nn.Linear(3, 3)) for _ in range(2)])

class Late(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(3, 3) for _ in range(2)])

class Beside(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(3, 3) for _ in range(2)])
        self.fast = [torch.compile(layer) for layer in self.layers]

def run():
    stack, beside = Stack(), Beside()
    torch.save(stack.state_dict(), "a.pt")  # PTS303
    torch.save(beside.state_dict(), "b.pt")
    late = Late()
    torch.save(late.state_dict(), "c.pt")
    for i, layer in enumerate(late.layers):
        late.layers[i] = torch.compile(layer)  # PTS303
    torch.save(late.state_dict(), "d.pt")  # PTS303

run()
""",
    "names and types of the wrapper": """
import re
from torch.nn.parallel import DistributedDataParallel as DDP

NO_DECAY = ["head.bias", "body.bias"]
PARTS = ["bias", "head.weight"]

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(3, 3)
        self.head = nn.Linear(3, 3)

    def forward(self, x):
        return self.head(self.body(x))

def names():
    plain = Net()
    ema = dict(plain.named_parameters())
    model = torch.compile(plain)
    decay = [p for n, p in model.named_parameters() if n not in NO_DECAY]  # PTS317
    decay = [p for n, p in model.named_parameters() if any(one in n for one in PARTS)]
    for name, part in model.named_modules():
        if name in NO_DECAY:  # PTS317
            part.eval()
    for name, p in model.named_parameters():
        if name in ema:  # PTS317
            ema[name].lerp_(p, 0.1)
    for name, p in model.named_parameters():  # PTS317
        decay.append(name.split(".")[0])
    for name, p in model.named_parameters():
        decay.append(name.split(".")[-1])
    for name, p in model.named_parameters():
        name = name.partition(".")[2]
        if name.startswith("head."):
            decay.append(p)
    for name, p in model.named_parameters():  # PTS317
        if re.match(r"head\\.", name):
            decay.append(p)
    for name, p in model.named_parameters():
        if re.match(r".*head\\.", name) or re.search("head", name) or re.match("h*", name):
            decay.append(p)
    for key in model.state_dict().keys():  # PTS317
        if key.startswith("head."):
            decay.append(key)
    parts = dict(model.named_modules())
    if "head" in parts:  # PTS317
        parts["head"].eval()
    if "head" in dict(plain.named_modules()):
        decay.append("head")
    return decay

def types(rank):
    plain = Net()
    model = torch.compile(plain)
    if type(model) is Net or type(plain) is Net:  # PTS304
        print(type(model).__name__, type(plain).__name__)  # PTS336
    return type(model) not in (Net, nn.Linear)  # PTS304

def spread(rank):
    held = DDP(torch.compile(Net()))
    head = [p for n, p in held.named_parameters() if n.startswith("module.")]
    model = torch.compile(DDP(Net()))  # PTS307
    raw = model.module if hasattr(model, "module") else model
    torch.save(raw.state_dict(), "plain.pt")
    torch.save(model.state_dict(), "wrapped.pt")  # PTS303
    return head

names()
""",
    "names that others keep": """
import copy
from collections import OrderedDict
from torch.optim.swa_utils import AveragedModel

FROZEN = ("0.", "1.")

class Average:
    def __init__(self, model):
        self.shadow = {n: p.detach().clone() for n, p in model.named_parameters()}

    def update(self, model):
        for name, p in model.named_parameters():
            if name in self.shadow:  # PTS317
                self.shadow[name].lerp_(p.detach(), 0.1)

def average(averaged, model):
    table, mine = OrderedDict(model.named_parameters()), dict(averaged.named_parameters())
    for name, p in table.items():
        mine[name].lerp_(p, 0.1)  # PTS317

def found(averaged, model):
    mine = dict(averaged.named_parameters())
    for name, p in model.named_parameters():
        if mine.get(name) is not None:  # PTS317
            mine[name].lerp_(p, 0.1)  # PTS317

def freeze(model, prefix="0."):
    for name, p in model.named_parameters():  # PTS317
        if name.startswith(prefix):
            p.requires_grad_(False)
    for name, p in model.named_parameters():  # PTS317
        if any(name.startswith(one) for one in FROZEN):
            p.requires_grad_(False)

def train(compiled: bool):
    net = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 1))
    own, other = Average(net), copy.deepcopy(net)
    model = torch.compile(net) if compiled else net
    own.update(model)
    average(other, model)
    found(other, model)
    freeze(model)
    second = Average(model)
    for name, p in model.named_parameters():
        if name in second.shadow:
            p.grad = None

def best():
    net = nn.Sequential(nn.Linear(3, 3))
    model, kept = torch.compile(net), None
    mean = AveragedModel(model)
    for _ in range(3):
        kept = copy.deepcopy(model.state_dict())
    model.load_state_dict(kept)
    net.load_state_dict(kept)  # PTS303
    net.load_state_dict(kept, strict=False)  # PTS303
    torch.save(mean.module.state_dict(), "mean.pt")  # PTS303
    return mean

train(True)
best()
""",
    "a script that goes on with the original": """
class Runner:
    def __init__(self, model):
        self.model = model

    def run(self, x):
        return self.model(x)

first = nn.Linear(3, 3)
fast = torch.compile(first)  # PTS301
second = nn.Linear(3, 3)
runner = Runner(second)
second = torch.compile(second)  # PTS301
third = nn.Linear(3, 3)
used = torch.compile(third)
fourth = nn.Linear(3, 3)
given = torch.compile(fourth)

def step(x):
    return given(x) + fourth(x)

for _ in range(3):
    first(torch.ones(1, 3))
    runner.run(torch.ones(1, 3))
    used(third(step(torch.ones(1, 3))))
""",
    "parts that are replaced": """
class Net(nn.Module):
    def __init__(self, part, compiled: bool):
        super().__init__()
        self.first = nn.Linear(3, 3)
        self.part = part
        if compiled:
            self.first = torch.compile(self.first)  # PTS303
            self.part = torch.compile(part)  # PTS303
        self.work = torch.compile(self.work)

    def work(self, x):
        return x

class Trainer:
    def __init__(self, model):
        self.model = torch.compile(model)

def run(agent, path):
    agent.model = torch.compile(agent.model)  # PTS303
    agent.restore(path)
""",
    "a script that loads": """
checkpoint = torch.load("ckpt.pt")
model = nn.Linear(3, 3)
model.load_state_dict(checkpoint["model"])  # PTS303
model = torch.compile(model)
print(model(torch.ones(1, 3)))
""",
    "a file that others import": """
model = nn.Linear(3, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model = torch.compile(model)
""",
    "a state from elsewhere": """
def run(path, compiled: bool):
    model = nn.Linear(3, 3)
    model.load_state_dict(torch.load(path), strict=False)
    if compiled:
        model = torch.compile(model)
    model.load_state_dict(torch.load(path), strict=False)  # PTS303
    model.load_state_dict(torch.load(path))  # PTS303
    return model(torch.ones(3))
""",
    "a state under a key of a checkpoint": """
def resume(model, checkpoint):
    model.load_state_dict(checkpoint["model"], strict=False)  # PTS303

def run(compiled: bool):
    old = nn.Linear(3, 3)
    model = nn.Linear(3, 3)
    if compiled:
        model = torch.compile(model)
    resume(model, {"model": old.state_dict()})
    return model(torch.ones(3))
""",
    "the original is saved, and the wrapper loads": """
import copy

def run(make, path, compiled: bool):
    model = make()
    if compiled:
        model = torch.compile(model)
    saved = torch.load(path)
    model.load_state_dict(saved["model"])  # PTS303
    getattr(model, "_orig_mod", model).load_state_dict(saved["model"])
    best = None
    for x in range(3):
        model(torch.ones(3))
        best = copy.deepcopy(model.state_dict())
    model.load_state_dict(best)
    model.load_state_dict(model.state_dict())
    inside = getattr(model, "_orig_mod", model)
    torch.save({"model": inside.state_dict()}, path)
""",
    "names are put in order, and the wrapper loads": """
def run(make, path):
    model = torch.compile(make())
    saved = torch.load(path)
    model.load_state_dict({"_orig_mod." + name: value for name, value in saved.items()})
    model.load_state_dict(saved)
    torch.save(model._orig_mod.state_dict(), path)
""",
    "a compiled module in DDP": """
import torch
from torch.nn.parallel import DistributedDataParallel as DDP

class Net(torch.nn.Module):
    def forward(self, x):
        return x * 2

def run():
    net = DDP(torch.compile(Net()))
    torch.save(net.state_dict(), "m.pt")  # PTS303
    torch.save(net.module.state_dict(), "m.pt")  # PTS303
""",
    "a module in DDP that may be compiled": """
from torch.nn.parallel import DistributedDataParallel as DDP

def run(compiled: bool, spread: bool):
    net = torch.nn.Linear(3, 3)
    torch.save(DDP(net).module.state_dict(), "m.pt")
    if compiled:
        net = torch.compile(net)
    replicated = torch.nn.DataParallel(net)
    torch.save(replicated.module.state_dict(), "m.pt")  # PTS303
    if spread:
        net = DDP(net)
    torch.save(net.state_dict(), "m.pt")  # PTS303
""",
    "a framework is given modules": """
import re
from torch.nn.parallel import DataParallel, DistributedDataParallel as DDP

class Net(nn.Module):
    def forward(self, x):
        return x * 2

    def head(self):
        return isinstance(self.first, Net)

def unwrapped(model):
    wrappers = (DDP, DataParallel)
    while isinstance(model, wrappers):  # PTS304
        model = model.module
    if isinstance(model, Net):
        model = model.module
    return model

def spread(model):
    from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
    if type(model) != FSDP:  # PTS304
        model = FSDP(model)
    if type(model) != str:
        return model

def start(model: nn.Module, patterns: dict, frozen: list):
    for name, parameter in model.named_parameters():
        if any(re.fullmatch(one, name) for one in patterns):  # PTS317
            parameter.zero_()
    for name, parameter in model.named_parameters():
        if re.search("head", name) or name.endswith("bias"):
            parameter.zero_()
    for name, parameter in model.named_parameters(recurse=False):
        if name == "weight":
            parameter.zero_()
    made = Net()
    [p for n, p in made.named_parameters() if n in frozen]
    return [p for n, p in model.named_parameters() if n in frozen]  # PTS317

def predictor(model):
    if not isinstance(model, Net):  # PTS304
        raise TypeError(model)
    if isinstance(model, nn.Linear):
        return None

def part(model):
    if isinstance(model, Net):
        model = model.first
    return model

def activation(net):
    loss = getattr(net, net.name)
    return isinstance(loss, nn.CrossEntropyLoss)  # PTS304

class Average:
    def __init__(self, model):
        self.model = model
        self.shadow = {n: p for n, p in model.named_parameters()}

    def update(self):
        if isinstance(self.model, (Net, nn.Module)):
            return
        if isinstance(self.model, Net):  # PTS304
            for name, parameter in self.model.named_parameters():
                if name in self.shadow:
                    self.shadow[name] = parameter
""",
    "a framework names modules by their classes, and tests them for truth": """
import re

class Net(nn.Module):
    def forward(self, x):
        return x * 2

class Registered(nn.Module):
    def save(self):
        return 1

class Starts:
    @staticmethod
    def named(model: nn.Module, patterns: dict):
        for name, parameter in model.named_parameters():
            for pattern in patterns:
                if re.fullmatch(pattern, name):  # PTS317
                    parameter.zero_()

class Saver:
    def __init__(self, model: nn.Module, other=None):
        self.model = model
        self.other = other

    def file(self):
        torch.save(self.model.cpu(), f"{type(self.model).__name__}.pt")  # PTS336
        print(type(self.model).__name__)
        self.model.eval()

    def __repr__(self):
        return {"a": 1}[type(self.model).__name__]

    def kind(self, table):
        name = self.other.__class__.__name__
        return table[name]

    def refuse(self):
        raise TypeError(f"{type(self.model).__name__} {self.model.train()}")

def unique(models: list[nn.Module]):
    named = {}
    for model in models:
        if hasattr(model, "module"):
            model = model.module
        name = model.__class__.__name__  # PTS336
        if isinstance(model, Registered):  # PTS304
            name = "own"
        named[name] = model
    for model in models:
        named[id(model)] = type(model).__name__
    return named

def chosen(model: nn.Module, names: list[str]):
    if type(model).__name__ in names:  # PTS336
        return 1
    if type(model).__name__ == type(Net()).__name__:
        return 2
    assert model, type(model).__name__  # PTS335
    return 3

def free(optimizer: torch.optim.Optimizer):
    if "ScheduleFree" in type(optimizer).__name__:
        optimizer.train()

def compiled(model: nn.Module | None, spare: nn.Module, flag: bool):
    if not model:  # PTS335
        model = spare
    if model is not None and flag:
        return torch.compile(model)
    return None

class Loop:
    def __init__(self, progress, head):
        self.progress, self.head = progress, head

    def step(self, x):
        if self.progress:
            self.progress(1)
        if self.head:  # PTS335
            x = self.head(x)
        return x

def run(first, second: int):
    used = first or second
    return used
""",
    "a published state is converted": """
def plain(state):
    return {key.replace("module.", ""): value for key, value in state.items()}
""",
    "a framework takes prefixes off and counts parts of names": """
def inner(replicated: nn.DataParallel):
    return replicated.module

def plain(state):
    return {key.replace("module.", ""): value for key, value in state.items()}  # PTS303

def shorter(path):
    state = torch.load(path)["model"]
    found = {}
    for key in list(state.keys()):
        if key.startswith("module."):  # PTS303
            found[key[7:]] = state[key]
        else:
            found[key] = state[key]
    return found

def removed(state):
    kept = {}
    for key, value in state.items():
        kept[key.removeprefix("module.")] = value  # PTS303
    return kept

def loaded(model, path):
    state = {k.replace("module.", ""): v for k, v in torch.load(path).items()}
    model.load_state_dict(state, strict=True)  # PTS303

def tried(model, path):
    kept = {k: v.clone() for k, v in model.state_dict().items() if "running_" in k}
    model.load_state_dict(torch.load(path), strict=True)  # PTS303
    model.load_state_dict(kept, strict=False)

def renamed(state):
    return {key.replace("backbone.", ""): value for key, value in state.items()}

def counted(state):
    return sum(key.startswith("module.") for key in state)

def own(names):
    return {n.replace("module.", ""): 1 for n in sorted(("module.a", "b"))}

def rates(model: nn.Module, decay):
    groups = {}
    for name, parameter in model.named_parameters():
        layer = int(name.split(".")[1])  # PTS317
        groups[name] = decay ** layer
    for name, parameter in model.named_parameters():
        groups[name.split(".")[-1]] = 1
    for name in sorted(groups):
        groups[name.split(".")[0]] = 1
    return groups
""",
    "a framework takes wrappers off, saves and looks up names": """
from torch.nn.parallel import DistributedDataParallel as DDP
from transformers import PreTrainedModel

def by_name(model):
    return model.module if hasattr(model, "module") else model  # PTS304

def by_class(model):
    return model.module if isinstance(model, DDP) else model  # PTS304

def with_a_default(model):
    model = getattr(model, "module", model)  # PTS304
    return model

def in_a_branch(model):
    if hasattr(model, "module"):  # PTS304
        return model.module
    return model

def of_a_setting(config):
    return config.module.size if hasattr(config, "module") else getattr(config, "module", None)

class Trainer:
    def __init__(self, model, optimizer, rewards):
        self.model, self.optimizer, self.rewards = model, optimizer, rewards

    def train(self, x):
        self.model.train()
        for index, (reward, weight) in enumerate(zip(self.rewards, x)):
            if isinstance(reward, PreTrainedModel):  # PTS304
                return self.model(x)

    def save(self, path):
        state = {"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()}  # PTS303
        torch.save(state, path)
        torch.save({k: v.clone() for k, v in self.model.state_dict().items()}, path)

    def load(self, path, other):
        state = torch.load(path)
        self.model.load_state_dict(state["model"])  # PTS303
        self.optimizer.load_state_dict(state["optimizer"])
        other.load_state_dict(state_dict=state["other"], strict=False)  # PTS303

    def take(self, state):
        self.model.load_state_dict(state)

    def size(self):
        return len(self.model.state_dict())

def inject(model, state):
    names = {key.rsplit(".lora", 1)[0] for key in state}
    own = set()
    for name, part in model.named_modules():
        if name in own:
            continue
        own.add(name)
        if name not in names:  # PTS317
            del part
    parameters = list(model.named_parameters())
    kept = [key for key in state.keys()]
    for name, parameter in parameters:
        if name in kept:  # PTS317
            parameter.data.copy_(state[name])
""",
    "a module that is given its parts": """
from torch.nn.parallel import DistributedDataParallel as DDP

def compiled(model):
    return torch.compile(model)

def unwrapped(model):
    if isinstance(model, DDP):
        model = model.module
    if isinstance(model, nn.ModuleDict):
        return nn.ModuleDict({name: unwrapped(part) for name, part in model.items()})
    return model
""",
    "a file that knows of the wrapper": """
from torch.nn.parallel import DistributedDataParallel as DDP

def unwrapped(model):
    while isinstance(model, DDP):
        model = model.module
    return getattr(model, "_orig_mod", model)
""",
    "computing method": """
class Flow(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(3))
        self.register_buffer("shift", torch.zeros(3))
        self.name = "flow"

    def forward(self, x):
        return x * self.scale + self.shift

    def inverse(self, y):
        return (y - self.shift) / self.scale

    def shifted(self, y):
        return y - self.shift

    def label(self, y):
        return self.name + y + "." + self.name

flow = torch.compile(Flow())

def run(y):
    flow(y)
    flow.shifted(y), flow.label("a")  # PTS302
    return flow.inverse(y)  # PTS302
""",
    "the namespace of a tensor": """
class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))
        self.seen = {}

    def forward(self, x: torch.Tensor):
        known = set(self.weight.__dict__.keys())  # PTS332
        if "scale" in vars(x):  # PTS332
            x = x * 2
        self.__dict__["seen"], vars(self.seen)
        return x * getattr(self.weight, "scale", 1) * len(known)

class Posterior(nn.Module):
    def forward(self, distribution):
        mean = distribution.mean.detach()
        return mean * len(vars(distribution))

def outside(weight: torch.Tensor):
    return weight.__dict__
""",
    "is_compiling is not called": """
from torch.compiler import is_compiling

def tracing():
    return torch.compiler.is_compiling()

@torch.compile
def kept(ids: torch.Tensor):
    if is_compiling or (ids != -1).any():  # PTS333
        ids = ids * 2
    if not tracing and ids.sum() > 0:  # PTS333
        ids = ids + 1
    either = is_compiling or (ids == 0).any()  # PTS333
    if is_compiling() or tracing() or is_compiling is None or either:
        return ids
    return -ids

def run(x):
    return x if torch._dynamo.is_compiling else kept(x)  # PTS333
""",
    "a decorator that is entered": """
import torch._dynamo as dynamo

def evaluated(model, x):
    with torch.compiler.disable():  # PTS334
        return model(x)

def loaded(model, x):
    disabled = dynamo.disable
    with torch.no_grad(), disabled():  # PTS334
        return model(x)

def optimized(model, x):
    with dynamo.optimize("inductor"):  # PTS334
        return model(x)

@torch.compiler.disable()
def plain(model, x):
    with torch.compiler.set_stance("force_eager"), dynamo.config.patch(verbose=True):
        return torch.compiler.disable(model)(x)
""",
    "operators that write into what they do not declare": """
import torch.nn.functional as F
from torch import Tensor
from torch.library import custom_op

@custom_op("cases::fill", mutates_args=())
def fill(out: Tensor, x: torch.Tensor, n: int) -> None:
    n += 1
    out.copy_(x * n)  # PTS341
    out.view(-1).add_(1)

@torch.library.custom_op("cases::both", mutates_args={"out"})
def both(out: torch.Tensor, kept: torch.Tensor | None, x: torch.Tensor) -> torch.Tensor:
    x = x.clone()
    x += 1
    torch.add(x, 1, out=out)
    if kept is not None:
        kept[x > 1] = 2  # PTS341
    return x.mul_(2)

@torch.library.custom_op("cases::active", mutates_args=[])
def active(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    F.relu_(x)  # PTS341
    y[:, 0].zero_()  # PTS341
    return x * 2

@torch.library.custom_op("cases::fine", mutates_args=("out",))
def fine(out: torch.Tensor, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    out[0] = x[0]
    x[mask].add_(1)
    x.reshape(-1).clone().add_(1)
    made = x * 1
    made.add_(1)
    return made.requires_grad_(False)

@torch.library.custom_op("cases::unknown", mutates_args="unknown")
def unknown(out: torch.Tensor) -> None:
    out.zero_()

@torch.library.custom_op("cases::spelled", mutates_args=(), schema="(Tensor(a!) out) -> ()")
def spelled(out: torch.Tensor) -> None:
    out.zero_()

def plain(out: torch.Tensor) -> None:
    out.zero_()
""",
    "a compiled module that is tested": """
class Net(nn.Module):
    def forward(self, x):
        return x

class Sized(Net):
    def __len__(self):
        return 3

class Trainer:
    def __init__(self, ema: nn.Module, fast: bool):
        self.model = Net()
        self.ema = torch.compile(ema)
        if fast:
            self.model = torch.compile(self.model)
        self.others = torch.compile(Sized()), torch.compile(nn.Sequential(Net())), torch.compile(lambda x: x)

    def step(self, x):
        one, two, three = self.others
        if one and two and three and x is not None:
            x = one(x)
        assert self.ema  # PTS335
        if not self.model:  # PTS335
            return None

    def unwrapped(self):
        return self.model or self.ema  # PTS335

def run():
    in_place = Net()
    in_place.compile()
    return 3 if in_place else 4
""",
    "the signature of a compiled module": """
import inspect
from inspect import signature

class Net(nn.Module):
    def forward(self, x, scale=1):
        return x * scale

def columns(model):
    return list(signature(model.forward).parameters)  # PTS336

def own(model):
    if isinstance(model, Net):
        return signature(model.forward)
    if isinstance(model, nn.Module):
        return signature(model.forward)  # PTS336

class Trainer:
    def __init__(self, model):
        self.model, self.plain = model, None
        self.made = Net()
        self.net = torch.compile(Net())

    def columns(self):
        inspect.signature(self.made.forward), inspect.signature(self.columns)
        inspect.signature(self.net.forward)  # PTS336
        return inspect.signature(self.model.forward)  # PTS336

    def name(self):
        return self.made.__class__.__name__ + self.net.__class__.__name__  # PTS336

def run():
    scaled = torch.compile(lambda x: x * 2)
    return scaled.__class__
""",
    "data that is refused": """
import numpy as np

OFFSETS = np.ones(3)

@torch.compile
def made(state: np.ndarray, x: torch.Tensor):
    a = torch.FloatTensor(np.zeros(3))  # PTS327
    b = torch.LongTensor(np.ones(3))  # PTS327
    c = torch.FloatTensor([state, state])  # PTS327
    d = torch.as_tensor([x.sum(), x.mean()])  # PTS327
    e = torch.Tensor([each for each in x])  # PTS327
    f = torch.FloatTensor(OFFSETS)  # PTS327
    g = torch.LongTensor(np.zeros(3, dtype="int32"))  # PTS327
    torch.DoubleTensor(np.arange(3) + 0), torch.FloatTensor(state.astype(np.float64))  # PTS327
    scaled = np.array([[1.0, 2], [3, 4]])
    h = torch.FloatTensor(scaled)  # PTS327
    return a, b, c, d, e, f, g, h

@torch.compile
def taken(state: np.ndarray, x: torch.Tensor):
    a = torch.FloatTensor(np.zeros(3, dtype=np.float32)), torch.FloatTensor(np.zeros(3, np.float32))
    b = torch.FloatTensor(state), torch.FloatTensor([x.sum()]), torch.FloatTensor([1.0, 2.0])
    c = torch.tensor([state, state]), torch.tensor([x.sum(), x.mean()])
    d = torch.Tensor(state), torch.as_tensor(state), torch.DoubleTensor(np.zeros(3))
    e = torch.LongTensor(np.arange(3)), torch.Tensor(OFFSETS), torch.FloatTensor(state.astype("float32"))
    return a, b, c, d, e

@torch.compile
def given_by_that_name(OFFSETS: np.ndarray):
    return torch.FloatTensor(OFFSETS), torch.FloatTensor(OFFSETS / 2)

def eager(state):
    return torch.FloatTensor(np.zeros(3)), torch.Tensor([state.sum()])
""",
    "iterators": """
lin = torch.nn.Linear(3, 3)

@torch.compile
def norm(tensors, scale=1):
    total = torch.zeros(())
    for tensor in tensors:
        total = total + tensor.square().sum()
    return total * scale

@torch.compile
def later(tensors, x):
    return total(tensors) + x

def total(tensors):
    return sum(t.sum() for t in tensors)

@torch.compile
def unused(tensors, x):
    return x * 2

@torch.compile
def listed(tensors):
    tensors = list(tensors)
    return torch.stack([t.sum() for t in tensors])

def items():
    yield torch.ones(3)

def any_module(model):
    listed(model.parameters())  # PTS326
    listed(model.named_parameters())  # PTS326
    listed(list(model.parameters()))

def run(x):
    norm(p for p in lin.parameters())  # PTS326
    norm((p for p in lin.parameters()), scale=2)  # PTS326
    norm(tensors=lin.parameters())  # PTS326
    norm({"a": x}.values())  # PTS326
    norm(items())  # PTS326
    norm(iter([x]))  # PTS326
    later(map(torch.relu, [x]), x)  # PTS326
    norm(list(lin.parameters()))
    norm([p for p in lin.parameters()])
    norm(sorted([x], key=len))
    unused(lin.parameters(), x)
    for tensor in lin.parameters():
        norm(tensor)
""",
    "own forward": """
class Encoder(torch.nn.Sequential):
    def encode(self, x):
        with torch.no_grad():
            return self.forward(x)  # PTS315

    def forward(self, x):
        return super().forward(x) + self.inner(x)

    def inner(self, x):
        return x if x.dim() else self.forward(x)  # reached by forward

    def predict(self, x):
        return self.forward(x).argmax()  # PTS315

    def score(self, x):
        return self(x).max()

    def length(self, size):
        return self.forward(torch.zeros(1, size)).shape[1]  # asks for a shape

    def _private(self, x):
        return self.forward(x)

    def extra_repr(self):
        return f"at rest: {self.forward(self.rest)}"  # for a reader

    def watch(self):
        self.register_forward_hook(self.again)

    def again(self, module, given, out):
        return self.forward(out)  # a call of the module would run this again

    @staticmethod
    def other(self, x):
        return self.forward(x)

class Called(torch.nn.Module):
    def forward(self, x):
        return x

    def __call__(self, x):
        return self.forward(x)

    def predict(self, x):
        return self.forward(x)

class Plain:
    def forward(self, x):
        return x

    def predict(self, x):
        return self.forward(x)

def run(x):
    model = Encoder(torch.nn.Linear(3, 3))
    model.compile()
    return model.predict(x)
""",
    "random in cond": """
import torch.nn.functional as F

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = torch.nn.Dropout(0.1)
        self.fc = torch.nn.Linear(3, 3)

    def forward(self, x):
        x = torch.cond(x.sum() > 0, lambda x: self.drop(self.fc(x)), lambda x: self.fc(x), (x,))  # PTS330

        def noisy(x):
            return x + torch.randn_like(x)

        def plain(x):
            return F.dropout(self.fc(x), 0.1, training=False)

        x = torch.cond(x.sum() > 1, plain, noisy, (x,))  # PTS330
        noise = self.drop(x)
        return torch.cond(x.sum() > 2, lambda x, noise: x * noise, plain_too, (x, noise))

def plain_too(x, noise):
    return x - noise

model = torch.compile(Net())
model(torch.ones(3))
""",
    "environment": """
import os
from os import getenv

DEBUG = os.getenv("DEBUG")

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fast = os.getenv("FAST") == "1"

    def forward(self, x):
        if os.getenv("SLOW", "0") == "1":  # PTS311
            x = x + 1
        if getenv("SLOWER"):  # PTS311
            x = x + 1
        if os.environ.get("SLOWEST") or "PATH" in os.environ:  # PTS311
            x = x + 1
        return x * len(os.environ["PATH"])
""",
    "a module that its holder has under two names": """
class Unet(nn.Module):
    def forward(self, x, t):
        return x * t

class Holder:
    def __init__(self):
        self.unet = Unet()
        self.coder = Unet()
        self.model = self.unet
        self.either = self.coder

    def predict(self, x, t):
        return self.model(x, t)  # PTS302

    def code(self, x, t):
        return self.either(x, t)

class Renewed:
    def __init__(self):
        self.unet = Unet()
        self.model = self.unet

    def renew(self):
        self.model = self.unet

    def predict(self, x, t):
        return self.unet(x, t)

class Job:
    def __init__(self, fast):
        self.holder = Holder()
        self.renewed = Renewed()
        if fast:
            self.holder.unet = torch.compile(self.holder.unet)
            self.renewed.unet = torch.compile(self.renewed.unet)

    def run(self, x, t):
        return self.holder.predict(x, t) + self.holder.code(x, t) + self.renewed.predict(x, t)
""",
    "a compiled module under the name of a method": """
class Coder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(3, 3)
        self.inner = Inner()
        self.read = None

    def encode(self, x):
        return self.encoder(x) * 2

    def forward(self, x):
        return self.encode(x)

class Inner(nn.Module):
    def forward(self, x):
        return x * 2

class Holder:
    def run(self, x):
        return x

def run(x, holder: Holder):
    coder = Coder()
    coder.encode = torch.compile(coder.encoder, dynamic=True)  # PTS301
    coder.forward = torch.compile(coder.inner)  # PTS301
    coder.encode = torch.compile(coder.encode)
    coder.read = torch.compile(coder.inner)
    holder.run = torch.compile(coder.inner)
    return coder.encode(x)
""",
    "lost": """
import pytest

class Net(nn.Module):
    def __init__(self, fast=False):
        super().__init__()
        self.layer = nn.Linear(3, 3)
        if fast and hasattr(torch, "compile"):
            try:
                self = torch.compile(self)  # PTS301, PTS325
                print("compiled", self.layer)
            except RuntimeError as e:
                print(e)

    def forward(self, x):
        return self.layer(x)

    def returned(self):
        self = torch.compile(self)
        return self

    def called(self, x):
        self = torch.compile(self)
        return self(x)

def parameter(model):
    model = torch.compile(model)  # PTS301

def used(model):
    model = torch.compile(model)
    model(torch.ones(3))

def used_at_once(model):
    model = torch.compile(model); model(torch.ones(3))

def in_loop(model):
    for layer in model.layers:
        layer = torch.compile(layer)  # PTS301

def stored(model):
    for i, layer in enumerate(model.layers):
        layer = torch.compile(layer)
        model.layers[i] = layer  # PTS303

def made_global():
    global model
    model = torch.compile(Net())

def closed_over():
    model = torch.compile(Net())
    def inner(x):
        return model(x)
    return inner

def thrown_away(model):
    torch.compile(model, disable=True)  # asks whether there is one
    for layer in model.layers:
        torch.compile(layer)  # PTS301
    with pytest.raises(RuntimeError):
        torch.compile(model)
    torch.compile(model)(torch.ones(3))

def either(model, fast):
    if fast:
        model = torch.compile(model)
    return model
""",
    "wrapped": """
import contextlib
import os
from collections.abc import Callable

from torch.nn.parallel import DistributedDataParallel as DDP
from accelerate import Accelerator
from transformers import PreTrainedModel

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)
        self.width = 3

    def forward(self, x):
        return self.layer(x)

    def encode(self, x):
        return self.layer(x)

    @torch.no_grad()
    def generate(self, x):
        return self(x)

    def size(self):
        return self.width

    def inverse(self, x, scale):
        return torch.log(x) - torch.exp(scale)

    def rate(self, step):
        return 0.1 * step / torch.log(torch.tensor(self.width))

    @torch.compile
    def fast(self, x):
        return self.layer(x)

class Named(nn.Linear):
    def named(self):
        return "named"

def main(x):
    net = Net()
    model = torch.compile(net)
    model(x)
    model.forward(x)
    model.encode(x)  # PTS302
    model.generate(x)  # PTS302
    model.size()
    model.inverse(x, x)  # PTS302
    model.rate(3)
    model.fast(x)
    model.eval()
    net.generate(x)
    torch.save(model.state_dict(), "m.pt")  # PTS303
    torch.save(net.state_dict(), "n.pt")
    torch.compile(Net()).load_state_dict(model.state_dict())
    model.layer(x)  # PTS302
    net.layer(x)
    net.load_state_dict(model.state_dict(), strict=False)  # PTS303
    torch.compile(Net()).load_state_dict(model.state_dict(), strict=False)
    if isinstance(model, Net):  # PTS304
        pass
    if isinstance(model, nn.Module) and isinstance(net, Net):
        pass

def told_by_class(flags, made):
    if flags.compile:
        made = torch.compile(made)
    if isinstance(made, (Net, PreTrainedModel)):  # PTS304
        pass
    if isinstance(made, (nn.Module, Callable)) or isinstance(made, DDP):
        pass
    spread = torch.compile(DDP(made))  # PTS307
    if isinstance(spread, DDP):  # PTS304
        pass

def prepared(flags, made):
    accelerator = Accelerator()
    if flags.compile:
        made = torch.compile(made)
    made = accelerator.prepare(made)
    torch.save(accelerator.unwrap_model(made).state_dict(), "m.pt")  # PTS303
    torch.save(accelerator.unwrap_model(made, keep_torch_compile=False).state_dict(), "m.pt")

def saved(flags, made):
    if flags.ddp:
        made = DDP(made)
    if flags.compile:
        made = torch.compile(made)  # PTS307
    torch.save(made.state_dict(), "m.pt")  # PTS303

def in_place(x):
    net = Net()
    net.compile()
    net.generate(x)
    torch.save(net.state_dict(), "m.pt")
    layer = nn.Linear(3, 3)
    layer.compile()  # PTS308
    stack = nn.Sequential(layer)
    stack.compile()  # PTS308
    stacks = nn.Sequential(stack, nn.ReLU())
    stacks.compile()  # PTS308
    blocks = nn.Sequential(layer, Net())  # each `Net` in it is compiled
    blocks.compile()
    named = Named(3, 3)
    named.compile()  # PTS308
    net.layer = torch.compile(net.layer)  # PTS303
    torch.save(net.state_dict(), "m.pt")  # PTS303

def spread(x):
    net = torch.compile(DDP(Net()))  # PTS307
    net = DDP(torch.compile(Net()))
    net(x)

def perhaps_spread(args):
    net = Net()
    if args.distributed:
        net = DDP(net)
    net = torch.compile(net)  # PTS307
    other = Net() if args.distributed else torch.nn.Identity()
    return torch.compile(other), net

torch._dynamo.config.suppress_errors = True  # PTS305
torch._dynamo.config.suppress_errors = False
os.environ["TORCHDYNAMO_DISABLE"] = "1"  # PTS306
os.environ["TORCHDYNAMO_DISABLE"] = "0"
os.environ["TORCHDYNAMO_SUPPRESS_ERRORS"] = "0"  # PTS306
os.environ.update(OMP_NUM_THREADS="1", TORCH_COMPILE_DISABLE="1")  # PTS306
os.environ["TORCH_LOGS"] = "recompiles"  # PTS321
os.environ["OMP_NUM_THREADS"] = "1"

@torch.compile  # PTS309
def steps(x):
    yield x

@torch.compile  # PTS309
@contextlib.contextmanager
def managed(x):
    yield x * 2

@contextlib.contextmanager
def unmanaged(x):
    yield x * 2

@torch.compile
def no_steps(x):
    def inner():
        yield x
    return [y for y in inner()]

def more(x):
    yield x

walk = torch.compile(more)  # PTS309

def hooks(x, watch):
    net = Net()
    model = torch.compile(net)
    net.layer.register_forward_hook(watch)
    model(x)
    net.layer.register_forward_hook(watch)  # PTS310
    model.layer.register_forward_pre_hook(watch)  # PTS310
    net.layer.register_full_backward_hook(watch)  # PTS310
    net.layer.weight.register_hook(watch)
    net.register_forward_hook(watch)
    other = Net()
    other.layer.register_forward_hook(watch)
""",
}

CASES["hooks of torch's own modules"] = """
def main(x, watch, given):
    net, stack, placed = nn.Linear(3, 3), nn.Sequential(nn.Linear(3, 3), nn.ReLU()), nn.Linear(3, 3)
    model = torch.compile(net)
    stacked = torch.compile(stack)
    placed.compile()  # PTS308
    taken = torch.compile(given)
    net.register_forward_hook(watch)
    model(x), stacked(x), placed(x), taken(x)
    net.register_forward_hook(watch)  # PTS310
    stack.register_forward_pre_hook(watch)  # PTS310
    placed.register_forward_hook(watch)
    model.register_forward_hook(watch)
    given.register_forward_hook(watch)
    other = nn.Linear(3, 3)
    other.register_forward_hook(watch)
"""

CASES["hooks in loops"] = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(3, 3) for _ in range(2)])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

def main(x, watch):
    net = Net()
    for name, m in net.named_modules():
        m.register_forward_hook(watch)
    model = torch.compile(net)
    for m in model.modules():
        m.register_forward_hook(watch)
    model(x)
    for layer in net.layers:
        layer.register_forward_hook(watch)  # PTS310
    for i, layer in enumerate(model.layers[1:]):
        layer.register_full_backward_pre_hook(watch)  # PTS310
    for name, m in net.named_modules():
        if name.startswith("layers"):
            m.register_forward_hook(watch)  # PTS310
    for m in model.modules():
        if isinstance(m, nn.Linear):
            m.register_full_backward_hook(watch)  # PTS310
    for m in Net().modules():
        m.register_forward_hook(watch)
    for m in [Net() for _ in net.layers]:
        m.register_forward_hook(watch)
    for m in model.modules():
        m = Net()
        m.register_forward_hook(watch)

class Trainer:
    def __init__(self):
        self.model = torch.compile(Net())

    def fit(self, data, watch):
        for x in data:
            self.model(x)
        for m in self.model.children():  # PTS317
            m.register_forward_hook(watch)
        for m in self.model.layers.children():
            m.register_forward_hook(watch)  # PTS310
"""

CASES["hooks after a function ran the model"] = """
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 3)

    def forward(self, x):
        return self.layer(x)

def train(model, data):
    for x in data:
        model(x).sum().backward()

def count(model):
    return sum(p.numel() for p in model.parameters())

def main(data, watch):
    net = Net()
    model = torch.compile(net)
    count(model)
    net.layer.register_forward_hook(watch)
    train(model, data)
    net.layer.register_forward_hook(watch)  # PTS310
    model.layer.register_forward_hook(watch)  # PTS310
    model.register_forward_hook(watch)
    other = Net()
    train(other, data)
    other.layer.register_forward_hook(watch)
    model = torch.compile(Net())
    model.layer.register_forward_hook(watch)
    train(model, data)
"""

CASES["a plain state for a wrapped module"] = """
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 3)

    def forward(self, x):
        return self.layer(x)

def main(path):
    net = Net()
    model = torch.compile(net)
    model.load_state_dict(net.state_dict())  # PTS303
    model.load_state_dict(Net().state_dict(), strict=False)  # PTS303
    model.load_state_dict(nn.Linear(3, 3).state_dict(), strict=False)  # PTS303
    model.load_state_dict(torch.load(path))
    model.load_state_dict(torch.compile(Net()).state_dict())
    net.load_state_dict(Net().state_dict())
    in_place = Net()
    in_place.compile()
    in_place.load_state_dict(net.state_dict())

def flagged(args):
    model = Net()
    if args.compile:
        model = torch.compile(model)
    model.load_state_dict(Net().state_dict(), strict=False)  # PTS303
    model.load_state_dict(model.state_dict())
    return model
"""

CASES["hooks of programs"] = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def forward(self, x):
        return self.layer(x)

@torch.compile
def step(model, x):
    return model(x).sum()

@torch.compile
def count(model):
    return torch.ones(()) * len(list(model.parameters()))

teacher = Net()

@torch.compile
def distance(x):
    return teacher(x).sum()

def main(x, watch):
    model, other = Net(), Net()
    model.register_forward_hook(watch)
    count(other)
    other.register_forward_hook(watch)
    step(model, x)
    other.layer.register_forward_hook(watch)
    model.register_forward_hook(watch)  # PTS310
    model.layer.register_full_backward_hook(watch)  # PTS310
    distance(x)
    teacher.layer.register_forward_hook(watch)  # PTS310
    fast = torch.compile(other)
    fast.register_full_backward_hook(watch)  # PTS331
    fast.register_full_backward_pre_hook(watch)
    fast.register_forward_hook(watch)
    other.register_full_backward_hook(watch)
"""

CASES["script"] = """
import copy
from torch.func import vmap
from torch.optim.swa_utils import AveragedModel

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(3, 3)
        self.head = nn.Linear(3, 3)

    def forward(self, x):
        return self.head(self.encoder(x))

class Own(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(3, 3)
        self.forward = torch.compile(self.forward)

    def forward(self, x):
        return self.encoder(x)

    def compile(self):
        return self

class Passed(Net):
    def compile(self, *args, **kwargs):
        return super().compile(*args, **kwargs)

net = Net()
net = net.compile()  # PTS312
own = Own()
own = own.compile()
model = Net()
model.forward(torch.ones(3))
model.compile()
model.forward(torch.ones(3))  # PTS315
model(torch.ones(3))
ema = copy.deepcopy(model)  # PTS316
model = Net()
model.forward(torch.ones(3))
ema = AveragedModel(own)  # PTS316
fast = torch.compile(model, mode="fast")  # PTS313
fast = torch.compile(model, mode="max-autotune", options={"triton.cudagraphs": True})  # PTS313
fast = torch.compile(model, mode="max-autotune")
fast = torch.compile(model, mode="fast", backend="mine")
fast = torch.compile(model, mode="max-autotune", backend="eager")  # PTS313
fast = torch.compile(model, mode="default", backend="eager")
wrapped = torch.compile(Net()).to("cuda")
wrapped.to("cpu")
copied = copy.deepcopy(wrapped)
for name, parameter in wrapped.named_parameters():  # PTS317
    if name.startswith("head"):
        parameter.requires_grad = False
for name, parameter in wrapped.named_parameters():
    if "bias" in name or name.endswith("bias"):
        parameter.requires_grad = False
for name, parameter in model.named_parameters():
    if name.startswith("head"):
        parameter.requires_grad = False
head = [p for n, p in wrapped.named_parameters() if n in ("head.weight", "head.bias")]  # PTS317
layers = list(wrapped.children())[:-1]  # PTS317
best = copy.deepcopy(wrapped.state_dict())
best = {k: v.detach().clone() for k, v in wrapped.state_dict().items()}
plain = {k[10:]: v for k, v in wrapped.state_dict().items()}
norms = [v.norm() for v in wrapped.state_dict().values()]
wrapped.load_state_dict(best)
half = {k: v.half() for k, v in wrapped.state_dict().items()}  # PTS303
for k, v in wrapped.state_dict().items():
    best[k].mul_(0.9).add_(v, alpha=0.1)
for k, v in wrapped.state_dict().items():  # PTS303
    half[k] = v.half()
layers = list(model.children())[:-1]

wrapped.head.register_forward_hook(print)
wrapped(torch.ones(3))
wrapped.head.register_forward_hook(print)  # PTS310
wrapped = torch.compile(Net())
wrapped.head.register_forward_hook(print)
placed = Net()
placed(torch.ones(3))
placed.head.register_forward_hook(print)
placed.compile()
placed.encoder.register_forward_hook(print)
for step in range(3):
    handle = placed.encoder.register_forward_hook(print)
    placed(torch.ones(3))
    handle.remove()
placed.head.register_forward_hook(print)  # PTS310

def f(x):
    return x * 2

torch.compiler.disable  # PTS314
def left_out(x):
    return x * 2

torch.compile  # PTS301
def made(x):
    torch.compile
    return x * 2

torch.compiler.disable
torch.compiler.disable(f)  # PTS314
torch.compiler.disable(model.head)  # PTS314
model.head = torch.compiler.disable(model.head)
g = torch.compile(f)
vmap(g)(torch.ones(3))  # PTS318
vmap(f)(torch.ones(3))
torch.compile(vmap(f))(torch.ones(3))
print(fast)
"""

CASES["averaged"] = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def forward(self, x):
        return self.layer(x)

class Average:
    def __init__(self, model):
        self.shadow = {n: p.detach().clone() for n, p in model.named_parameters()}
        self.other = {}
        for name, parameter in model.named_parameters():
            self.other[name] = parameter.detach().clone()

    def update(self, model):
        for name, parameter in model.named_parameters():
            if name in self.shadow:  # PTS317
                self.shadow[name].lerp_(parameter, 0.1)
            if name not in self.other:  # PTS317
                continue

class Same(Average):
    def update_same(self, model):
        for name, parameter in model.named_parameters():
            if name in self.shadow:
                self.shadow[name].lerp_(parameter, 0.1)

def train(x):
    model = Net()
    average = Average(model)
    compiled = torch.compile(model)
    compiled(x)
    average.update(compiled)
    Same(model).update_same(model)
    frozen = [n for n, p in model.named_parameters() if n.endswith("bias")]
    for name, parameter in compiled.named_parameters():
        if name in frozen:  # PTS317
            parameter.requires_grad = False
    known = {n for n, p in compiled.named_parameters()}
    for name, parameter in compiled.named_parameters():
        if name in known:
            parameter.requires_grad = False
"""
CASES["aware"] = """
import os

os.environ["TORCH_LOGS"] = "recompiles"

import torch
from torch import nn

class Net(nn.Module):
    def forward(self, x):
        return x * 2

def main(compiling):
    model = Net()
    if compiling:
        model = torch.compile(model)
    state = {k.removeprefix("_orig_mod."): v for k, v in model.state_dict().items()}
    torch.save(state, "m.pt")
    torch.save(model._orig_mod.state_dict(), "n.pt")
    for name, parameter in model.named_parameters():
        if name.startswith("head"):
            parameter.requires_grad = False
"""
CASES["traced"] = """
import functools
import numpy as np

@functools.lru_cache(maxsize=None)
def mask(size):
    return torch.tril(torch.ones(size, size))

@functools.cache
def directions(size):
    return torch.randn(size)

@torch.compile
def checked(x):
    assert (x > 0).all(), "positive"  # PTS324
    assert x.shape[0] > 0
    return x

@torch.compile
def factor(a, jitter):
    try:
        low = torch.linalg.cholesky(a)  # PTS324
    except (ValueError, torch.linalg.LinAlgError):
        low = torch.linalg.cholesky(a + jitter)
    try:
        low = torch.linalg.inv(low)
    except ValueError:
        low = torch.inverse(a)
    return low

@torch.compile
def printed(a):
    try:
        print("trying")
        return torch.linalg.cholesky(a)
    except Exception:
        return a

@torch.compile
def flat(x: torch.Tensor, table: torch.Tensor, ids: torch.Tensor, other: torch.Tensor):
    try:
        x = x.view(-1)  # PTS324
    except RuntimeError:
        x = x.reshape(-1)
    try:
        table.copy_(other)  # PTS324
    except:
        pass
    try:
        x = x + torch.nn.functional.embedding(ids, table)  # PTS324
    except (KeyError, IndexError):
        x = x * 2
    try:
        x = torch.cat([x, other]).view(2, -1)  # PTS324
    except RuntimeError:
        x = x * 2
    try:
        both = torch.cat([x, other])
    except RuntimeError as error:
        raise ValueError("of other sizes") from error
    try:
        both = torch.cat([x, other])
    except ValueError:
        both = x
    try:
        y = x + 1
        y = y.view(-1)
    except Exception:
        y = x
    try:
        return table.index_select(0, ids)  # PTS324
    except IndexError:
        return y + both

@torch.compile
def rows(ids: torch.Tensor, table: nn.Embedding, layer: nn.Linear):
    try:
        x = table(ids)  # PTS324
    except IndexError:
        x = table(ids.clamp(max=2))
    try:
        return layer(x)  # PTS324
    except RuntimeError:
        return x

class Layer(nn.Module):
    def forward(self, x):
        x = x * directions(3) + torch.from_numpy(np.random.randn(3))  # PTS320, PTS323
        return x @ mask(3)

class Other(nn.Module):
    def forward(self, x):
        share = np.random.rand(1).item()
        return x * share

class Teacher(nn.Module):
    def __init__(self, teacher: nn.Module):
        super().__init__()
        self.teacher = teacher

    def prepare(self):
        self.teacher.compile(mode="default")

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Layer() for _ in range(3)])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

def patched(x, other):
    model = torch.compile(Net())
    Layer.forward = other
    model(x)
    Layer.forward = other  # PTS319
    Net.forward = other
    Other.forward = other

def stances(x):
    torch.compiler.set_stance("force_eager")
    checked(x)
    torch.compiler.set_stance("default")
    with torch.compiler.set_stance("force_eager"):
        checked(x)

def eager(x):
    torch.compiler.set_stance("force_eager")  # PTS322
    return checked(x)

def caught(x):
    try:
        return checked(x)
    except AssertionError:
        return None

def tried(net):
    try:
        print("compiling")
        net = torch.compile(net)  # PTS325
    except Exception as e:
        print(e)
    try:
        net = torch.compile(net)
        net(torch.ones(3))
    except Exception:
        pass
    try:
        net = torch.compile(net)
    except RuntimeError as e:
        raise ValueError("no compiler") from e
    try:
        return torch.compile(net)  # PTS325
    except RuntimeError:
        return net

def caught_too(x):
    try:
        return checked(x)
    except Exception:
        return None
"""


CASES["outputs of CUDA graphs"] = """
net = torch.nn.Linear(3, 3)
fast = torch.compile(net, mode="reduce-overhead")
plain = torch.compile(net)

def collect(xs):
    outs, sums = [], []
    with torch.no_grad():
        for x in xs:
            outs.append(fast(x).detach())  # PTS338
            sums.append(fast(x).sum())
            outs.append(plain(x))
            y = fast(x)  # PTS338
            outs.append(y[0])
            z = fast(x)
            z = z * 2
            outs.append(z)
            part = []
            part.append(fast(x))
            outs.append(fast(x).clone())
    return outs, sums

@torch.inference_mode()
def listed(xs):
    return [fast(x) for x in xs], [fast(x).cpu() for x in xs]  # PTS338

def wanting(xs):
    return [fast(x) for x in xs]  # PTS338

@torch.no_grad()
def previous(xs):
    last = None
    for x in xs:
        y = fast(x)  # PTS338
        if last is not None:
            print((y - last).abs().max())
        last = y
    for x in xs:
        y = fast(x)
        last = y
    return last

@torch.no_grad()
def recurrent(x):
    for _ in range(4):
        x = fast(x)  # PTS338
    for _ in range(4):
        x = fast(x) * 2
    for _ in range(4):
        x = fast(x)
        x = x * 2
    for _ in range(4):
        x = fast(x)  # PTS338
        x = x.detach()
    return x

xs = [torch.ones(3)] * 4
print(collect(xs), listed(xs), wanting(xs), previous(xs), recurrent(xs[0]))
"""
CASES["gradients of CUDA graphs"] = """
import torch

net = torch.nn.Linear(3, 3)
fast = torch.compile(net, mode="max-autotune")

def train(xs, optimizer):
    for x in xs:
        fast(x).sum().backward()
        optimizer.step()
        optimizer.zero_grad()

def every(xs, optimizer, several):
    for i, x in enumerate(xs):
        loss = fast(x).sum()
        loss.backward()  # PTS338
        if (i + 1) % several == 0:
            optimizer.step()
            optimizer.zero_grad()

def micro(xs, optimizer):
    for x in xs:
        for i in range(4):
            fast(x).sum().backward()  # PTS338
        optimizer.step()
        optimizer.zero_grad()

def some(xs, optimizer):
    for i, x in enumerate(xs):
        if i % 2 == 0:
            loss = fast(x).sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

def kept(xs, optimizer):
    for p in net.parameters():
        p.grad = torch.zeros_like(p)
    for x in xs:
        for i in range(4):
            fast(x).sum().backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=False)

def marked(xs, optimizer):
    for x in xs:
        torch.compiler.cudagraph_mark_step_begin()
        for i in range(4):
            fast(x).sum().backward()
        optimizer.step()
        optimizer.zero_grad()

xs = [torch.ones(3)] * 4
optimizer = torch.optim.SGD(net.parameters())
train(xs, optimizer)
every(xs, optimizer, 2)
micro(xs, optimizer)
some(xs, optimizer)
kept(xs, optimizer)
marked(xs, optimizer)
"""
CASES["settings that there are not"] = """
import torch._dynamo as dynamo
from torch._inductor import config

try:
    torch._dynamo.config.log_level = 40  # PTS339
    torch._dynamo.config.verbose = False
except Exception as e:
    print(e)
try:
    torch._dynamo.config.log_level = 40
except AttributeError:
    pass
if hasattr(torch._dynamo.config, "log_level"):
    torch._dynamo.config.log_level = 40
dynamo.config.cache_sizelimit = 64  # PTS339
dynamo.config.cache_size_limit = 64
config.triton.cudagraph = True  # PTS339
config.triton.cudagraphs = False
with torch._dynamo.config.patch(recompile_limits=3):  # PTS339
    pass
with config.patch({"triton.cudagraphs": False, "max_autotunes": True}):  # PTS339
    pass
with config.patch("max_autotune", True):
    pass

@torch.compile(options={"max_autotune": True, "epilogue-fusion": True})
def f(x):
    return x * 2

@torch.compile(options={"coordinate_descent": True})  # PTS339
def g(x):
    return f(x)

h = torch.compile(f, options={"shape_paddings": True})  # PTS339
i = torch.compile(f, backend="eager", options={"shape_paddings": True})
print(g(torch.ones(3)), h, i)
"""
CASES["a mode and options by way of a dictionary"] = """
from dataclasses import dataclass

@dataclass
class Config:
    mode: str = "default"

def f(x):
    return x * 2

def one(config: Config):
    given = {"mode": config.mode, "options": {"triton.cudagraphs": False}}
    return torch.compile(f, **given)  # PTS313

def kept(config: Config):
    return torch.compile(f, mode=config.mode, options={"triton.cudagraphs": False})  # PTS313

def chosen(config: Config, quick: bool):
    given = {"mode": config.mode}
    if quick:
        given = {"options": {"triton.cudagraphs": False}}
    return torch.compile(f, **given)

def taken_out(config: Config, quick: bool):
    given = {"mode": config.mode, "options": {"triton.cudagraphs": False}}
    given.pop("mode" if quick else "options")
    return torch.compile(f, **given)

def passed_on(mode: str = "default", **options):
    return torch.compile(f, mode=mode, options=options if options else None)

def optional(mode: str = None, options: dict = None):
    return torch.compile(f, mode=mode, options=options)
"""
CASES["arguments of a decorator"] = """
import platform

def safe_compile(*args, **options):
    if platform.system() == "Windows":
        return lambda x: x
    return torch.compile(*args, **options)

@safe_compile(mode="reduce-overhead", backend="eager")  # PTS313
def held(x):
    return x * 2

@torch.compile(mode="max-autotune", options={"epilogue_fusion": True})  # PTS313
def f(x):
    return x * 2

class Step:
    @torch.compile(mode="reduce-overhead", backend="aot_eager")  # PTS313
    def noted(x):
        return x * 2

    @torch.compile(mode="fastest")  # PTS313
    def go(self, x):
        return x * 2

    @torch.compile(mode="reduce-overhead")
    def run(self, x):
        return self.go(x)

print(f(torch.ones(3)), Step().run(torch.ones(3)))
"""


CASES["a compiled method is pickled"] = """
import copy
import pickle

class Kept(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)
        self.encode = torch.compile(self.encode)

    def encode(self, x):
        return self.layer(x)

class Decorated(nn.Module):
    @torch.compile
    def encode(self, x):
        return x + 1

    def forward(self, x):
        return self.encode(x)

class Left(Kept):
    def __getstate__(self):
        state = self.__dict__.copy()
        del state["encode"]
        return state

def save(path):
    kept, decorated, left = Kept(), Decorated(), Left()
    torch.save(kept, path)  # PTS337
    torch.save(kept.state_dict(), path)
    pickle.dumps(kept)  # PTS337
    pickle.dumps(decorated)
    pickle.dumps(left)
    decorated.forward = torch.compile(decorated.forward)
    torch.save(decorated, path)  # PTS337

def layers():
    model = torch.compile(nn.Sequential(nn.Linear(3, 3), nn.ReLU()))
    return [layer for _, layer in enumerate(model)]  # PTS337
"""

CASES["a class is compiled"] = """
import dataclasses

@torch.compile  # PTS309
class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2

@torch.compile(dynamic=True)  # PTS309
@dataclasses.dataclass
class Sampler:
    n: int

    def step(self, x):
        return x * self.n

class Other(Sampler):
    pass

Fast = torch.compile(Other)  # PTS309

@torch.compile
class Layer(nn.Module):
    def forward(self, x):
        return x * 2

@torch.compile
class Called:
    def __call__(self, x):
        return x * 2

@torch.compile
class Unknown(Missing):
    pass

print(Scale.apply(torch.ones(3)), Sampler(2), Fast(3), Layer(), Called(), Unknown)
"""
CASES["names of torch.compile that are not there"] = """
from torch.compiler import disable
from torch import compiler

def steps(x):
    if torch.compile.is_compiling():  # PTS339
        return x
    compiler.mark_dynamic(x, 0)  # PTS339
    torch._dynamo.mark_dynamic(x, 0)
    if hasattr(torch.compiler, "mark_static"):
        torch.compiler.mark_static(x, 0)
    return x if compiler.is_compiling() else disable(torch.compiler.allow_in_graph)(x)

@torch.compile.disable  # PTS339
def plain(x):
    return x

def named(x, re):
    return re.compile.disable(x), torch.compile.__doc__
"""
CASES["a part of compiled code leaves autocast"] = """
class Router(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(8, 4)
        self.scale = nn.Parameter(torch.ones(8))
        self.register_buffer("inv_freq", torch.ones(4))

    def angles(self, positions):
        inverse = self.inv_freq[None, :, None]
        with torch.autocast("cuda", enabled=False):
            return (inverse.float() @ positions.float()).cos()

    def scores(self, q, k):
        with torch.amp.autocast(device_type="cuda", enabled=False):  # PTS354
            return q.float() @ k.float().transpose(-2, -1)

    def entered(self, q, k):
        with torch.autocast("cuda", dtype=torch.bfloat16):
            q = q * 2
            with torch.autocast("cuda", enabled=False):
                return torch.matmul(q.float(), k.float())

    def normed(self, x):
        with torch.autocast("cuda", enabled=False):
            x = x.float()
            return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True)) * self.scale

    @torch.no_grad()
    def picked(self, x):
        with torch.autocast("cuda", enabled=False):
            return torch.einsum("bd,cd->bc", x, x).argmax(-1)

    def nearest(self, x):
        with torch.autocast("cuda", enabled=False):
            return torch.max(-torch.mm(x.float(), x.float().t()), dim=1)[1]

    def chosen(self, x, fast: bool):
        with torch.autocast("cuda", enabled=fast):
            return self.gate(x)

    def forward(self, x, positions):
        with torch.autocast("cuda", enabled=False):  # PTS354
            logits = self.gate(x.float())
        x = self.normed(self.scores(x, x)) + self.entered(x, x) + self.chosen(x, True)
        return logits, x, self.angles(positions), self.picked(x), self.nearest(x)

router = torch.compile(Router())
"""
CASES["is_compiling is asked too early"] = """
from torch.compiler import is_compiling

COMPILING = torch.compiler.is_compiling()  # PTS333

def tracing():
    return is_compiling()

class Layer(nn.Module):
    traced = tracing()  # PTS333

    def __init__(self, fast=None):
        super().__init__()
        self.fast = fast or not is_compiling()  # PTS333
        here = is_compiling()
        print(here)

    def forward(self, x, compiled=is_compiling()):  # PTS333
        self.seen = is_compiling()
        return x if compiled or self.fast or COMPILING else -x

class Steps:
    def __init__(self):
        self.fast = is_compiling()
"""
CASES["a state of a wrapper that a file takes off elsewhere"] = """
from torch.optim.swa_utils import AveragedModel

class Net(nn.Module):
    def forward(self, x):
        return x

def forgotten(path, ema):
    model = torch.compile(Net())
    base = model._orig_mod if hasattr(model, "_orig_mod") else model
    averaged = AveragedModel(base)
    kept = averaged if ema else model
    torch.save(kept.state_dict(), path)  # PTS303
    torch.save({"model": model.state_dict()}, path)  # PTS303
    return model.state_dict(), base

def heeded(path, compiled):
    net = Net()
    if compiled:
        net = torch.compile(net)
    if hasattr(net, "_orig_mod"):
        torch.save(net._orig_mod.eval().state_dict(), path)
    else:
        torch.save(net.state_dict(), path)

def named(path, compiled):
    net = Net()
    if compiled:
        net = torch.compile(net)
    raw = getattr(net, "_orig_mod", net)
    torch.save(raw.state_dict(), path)
    other = net._orig_mod if hasattr(net, "_orig_mod") else net
    torch.save(other.state_dict(), path)

def always(path):
    net = torch.compile(Net())
    raw = getattr(net, "_orig_mod", net)
    torch.save(raw.state_dict(), path)
    other = net._orig_mod if hasattr(net, "_orig_mod") else net
    torch.save(other.state_dict(), path)
"""
CASES["a checkpoint that a function returns"] = """
def prepared(model, flag):
    fast = torch.compile(model)
    return fast if flag else model

def checkpoint(model, optimizer, epoch):
    # `OptimizedModule` holds the module by reference.
    kept = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}  # PTS303
    return kept

def state(model, optimizer):
    return {"kept": model.state_dict(), "optimizer": optimizer.state_dict()}

def read(args, path):
    state = torch.load(path)["state_dict"]
    if next(iter(state.items()))[0].startswith("module"):  # PTS303
        state = {key[len("module."):]: value for key, value in state.items()}
    return state
"""
CASES["a function of the project compiles a part"] = """
def wrapped(fn, params):
    try:
        return torch.compile(fn, backend=params["backend"])
    except KeyError as error:
        raise RuntimeError("unknown") from error

class Unit:
    def __init__(self, *, module, params=None):
        self.module = module
        if params:
            self.loss = wrapped(self.compute, params)
            self.module = wrapped(self.module, params)  # PTS303

    def compute(self, x):
        return x.sum()

    def checkpoint(self):
        return self.module.state_dict()  # PTS303
"""
CASES["what is filed under the names of a compiled module"] = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(3, 3)

    def forward(self, x):
        return self.head(x)

def run():
    plain = Net()
    model = torch.compile(plain)
    weights = dict(model.named_parameters())
    first = weights["head.weight"]  # PTS317
    parts = {name: part for name, part in model.named_modules()}
    second = parts.get("head")  # PTS317
    third = model.state_dict()["head.bias"]  # PTS317
    state = {key[10:]: value for key, value in model.state_dict().items()}
    return first, second, third, state["head.bias"], parts[""], dict(plain.named_modules())["head"]
"""


CASES["classes that a function asks for"] = """
from pydantic import BaseModel
from transformers import Gemma2Model

class Encoder:
    def encode(self, models, tokens):
        text = models[0]
        assert isinstance(text, Gemma2Model)  # PTS304
        assert isinstance(self.settings, BaseModel)
        return text(tokens)

def hooks(accelerator, unet):
    def save(models, weights, folder):
        for model in models:
            if isinstance(model, type(accelerator.unwrap_model(unet))):  # PTS304
                model.save_pretrained(folder)
            elif isinstance(model, type(accelerator.unwrap_model(unet, keep_torch_compile=False))):
                print(folder)
            elif isinstance(model, type(unet)):
                print(weights)
    accelerator.register_save_state_pre_hook(save)
"""
CASES["adapters in a wrapped module"] = """
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM

def load(compiled):
    model = AutoModelForCausalLM.from_pretrained("net")
    return torch.compile(model) if compiled else model

def adapt(compiled):
    before = get_peft_model(load(compiled), LoraConfig())  # PTS303
    after = torch.compile(get_peft_model(AutoModelForCausalLM.from_pretrained("net"), LoraConfig()))
    return before, after

adapt(True)
"""
CASES["the wrapper was taken off"] = """
from diffusers.utils.torch_utils import is_compiled_module

class Several(torch.nn.Module):
    def forward(self, x):
        return x

class Pipeline:
    def run(self, x):
        if isinstance(self.net, Several):
            x = x * 2
        net = self.net._orig_mod if is_compiled_module(self.net) else self.net
        if isinstance(net, Several):
            x = x + 1
        if isinstance(self.net, Several):  # PTS304
            return self.net(x)
        return x

    def check(self, x):
        return isinstance(self.net, Several) or isinstance(self.net._orig_mod, Several)
"""


CASES["settings of another thread"] = """
import asyncio
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

torch._dynamo.config.recompile_limit = 64  # PTS340
torch._inductor.config.fallback_random = True
torch._dynamo.config.capture_scalar_outputs = True

@torch.compile
def f(x):
    return x * 2

def ready():
    torch._dynamo.config.capture_scalar_outputs = True

def work():
    torch._inductor.config.fallback_random = True
    return f(torch.ones(3))

class Server:
    def __init__(self):
        self.pool = ThreadPoolExecutor(max_workers=1, initializer=ready)
        self.thread = threading.Thread(target=self.serve, daemon=True)

    def serve(self):
        while True:
            self.pool.submit(work)

def configure():
    torch._functorch.config.donated_buffer = False  # PTS340

async def answer(loop):
    await asyncio.to_thread(f, torch.ones(3))
    return await loop.run_in_executor(None, work)

configure()
"""

CASES["settings for threads that compile nothing"] = """
import threading
from concurrent.futures import ProcessPoolExecutor

torch._dynamo.config.recompile_limit = 64

@torch.compile
def f(x):
    return x * 2

def load(queue):
    queue.put(torch.ones(3))

def work(x):
    return f(x)

def main(queue):
    threading.Thread(target=load, args=(queue,)).start()
    with ProcessPoolExecutor() as pool:
        pool.submit(work, queue.get())
    return f(queue.get())
"""

CASES["settings by patch"] = """
from torch._dynamo import config
from torch._inductor import config as inductor_config

torch._dynamo.config.patch(recompile_limit=64)  # PTS340
config.patch("verbose", True)  # PTS340

def f(x):
    return x * 2

with torch._dynamo.config.patch(recompile_limit=64):  # PTS340
    fast = torch.compile(f)

with torch.no_grad(), inductor_config.patch(fallback_random=True):  # PTS340
    model = torch.compile(torch.nn.Linear(2, 2), mode="default")

with config.patch(recompile_limit=64):
    other = torch.compile(f)
    other(torch.ones(3))

with config.patch(recompile_limit=64):
    fast(torch.ones(3))

@config.patch(recompile_limit=64)
def run(x):
    return fast(x)

patched = config.patch(recompile_limit=64)
with patched:
    run(torch.ones(3))
"""

CASES["loops at the top of a script"] = """
net = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 2))
parts = {"a": nn.Linear(2, 2)}
kept = []
for child in net.children():
    child = torch.compile(child)  # PTS301
for name, part in parts.items():
    part = torch.compile(part, dynamic=True)  # PTS301
for one in net.children():
    one = torch.compile(one)
    kept.append(one)
for last in net.children():
    last = torch.compile(last)
last(net(torch.ones(2)))
"""


@pytest.mark.parametrize("name", CASES)
def test_reported_where_the_comments_say(name: str, tmp_path: Path) -> None:
    source = headed(CASES[name])
    assert sorted(codes(source, tmp_path, "PTS")) == marked(source)


ON_CLASSES = """
class Counts:
    calls = 0
    seen = []
    sizes = {}

    @classmethod
    def tick(cls):
        cls.calls += 1

class Net(nn.Module):
    calls = 0
    seen = []

    def forward(self, x):
        Net.calls += 1  # PTS358
        type(self).seen.append(x.shape[0])  # PTS358
        self.seen.append(1)
        Counts.sizes["last"] = x.shape[0]
        Counts.tick()
        return x + 1

net = torch.compile(Net())
"""


def test_what_a_class_holds_is_lost_on_an_old_torch(tmp_path: Path) -> None:
    source = headed(ON_CLASSES)
    assert sorted(codes(source, tmp_path, "PTS", (2, 9))) == marked(source)
    assert not codes(source, tmp_path, "PTS", (2, 13))


TRAINER = """
import torch

class Trainer:
    def __init__(self, model):
        self.model = torch.compile(model)

    def step(self, x):
        return self.model(x).sum()
"""
SAVER = """
import torch

class Saver:
    def save(self, path):
        torch.save({"model": self.model.state_dict()}, path)
"""


@pytest.mark.parametrize(
    ("trainer", "saver", "told"),
    [
        pytest.param(
            "from saver import Saver\n" + TRAINER.replace("Trainer:", "Trainer(Saver):"),
            SAVER,
            ["saver.py:6"],
            id="a method that is inherited",
        ),
        pytest.param(
            TRAINER,
            "from trainer import Trainer\n" + SAVER.replace("Saver:", "Saver(Trainer):"),
            ["saver.py:7"],
            id="a method of a class below",
        ),
        pytest.param(
            "from saver import Saver\n"
            + TRAINER.replace("Trainer:", "Trainer(Saver):")
            + "    def save(self, path):\n        torch.save(1, path)\n",
            SAVER,
            [],
            id="a method that another one takes the place of",
        ),
        pytest.param(
            "from saver import Saver\n"
            + TRAINER.replace("Trainer:", "Trainer(Saver):").replace("torch.compile(model)", "model"),
            SAVER,
            [],
            id="a module that nobody compiles",
        ),
    ],
)
def test_what_an_object_compiles_is_saved_in_another_file(
    trainer: str, saver: str, told: list[str], tmp_path: Path
) -> None:
    files = {"trainer.py": trainer, "saver.py": saver}
    for name, source in files.items():
        (tmp_path / name).write_text(source, encoding="utf-8")
    found = lint([str(tmp_path / name) for name in files], Settings(select=("PTS303",))).findings
    assert [f"{Path(f.path).name}:{f.line}" for f in found] == told


KEEPER = """
import torch

class Trainer:
    def __init__(self, model):
        self.model = model

    def save(self):
        torch.save(self.model.state_dict(), "model.pth")
"""
MAKES = """
import torch
from trainer import Trainer

def main():
    model = torch.nn.Linear(2, 2)
    {compiled}trainer = Trainer(model)
    trainer.model(torch.zeros(2, 2))
    trainer.save()

main()
"""


@pytest.mark.parametrize(
    ("other", "written"),
    [("", "self.model._orig_mod"), (MAKES, 'getattr(self.model, "_orig_mod", self.model)')],
    ids=["compiled wherever it is made", "made without compiling, too"],
)
def test_the_original_is_asked_for_where_every_maker_compiles(
    other: str, written: str, tmp_path: Path
) -> None:
    compiles = MAKES.format(compiled="model = torch.compile(model)\n    ")
    files = {"trainer.py": KEEPER, "train.py": compiles, "check.py": other.format(compiled="")}
    for name, source in files.items():
        (tmp_path / name).write_text(source, encoding="utf-8")
    [found] = lint([str(tmp_path / name) for name in files], Settings(select=("PTS303",))).findings
    [text] = [edit.text for fix in found.fixes for edit in fix.edits]
    assert written in text or (written.endswith(text) and not other)


def test_torch_2_15_keeps_the_order_that_is_drawn_while_tracing(tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    path.write_text(
        """
import random
import torch

rng = random.Random(0)

@torch.compile
def f(x):
    order = [0, 1, 2]
    random.shuffle(order)
    rng.shuffle(order)
    a, b = random.sample(order, 2)
    own = random.Random(1)
    own.shuffle(order)
    return x * order[0] + a + b + rng.random()
""",
        encoding="utf-8",
    )
    for target, told in (((2, 13), []), ((2, 15), [10, 11, 12])):
        found = lint([str(path)], Settings(target_torch=target)).findings
        assert [f.line for f in found if f.code == "PTS345"] == told


def test_torch_2_15_compiles_its_own_modules_in_place() -> None:
    source = "import torch\nlayer = torch.nn.Linear(3, 3)\nlayer.compile()\n"
    assert findings(source, target_torch=(2, 13))
    assert not findings(source, target_torch=(2, 15))


@pytest.mark.parametrize(
    ("target", "there"), [((2, 6), False), ((2, 9), True), ((2, 11), True), ((2, 13), True), ((2, 16), True)]
)
def test_a_setting_counts_by_version(target: tuple[int, int], there: bool) -> None:
    source = "import torch\ntorch._dynamo.config.recompile_limit = 64\nprint(torch.compile(abs))\n"
    found = findings(source, target_torch=target, select=("PTS339",))
    assert bool(found) is not there


@pytest.mark.parametrize("inner", ["", "._orig_mod"])
def test_a_class_of_another_file_that_knows_of_the_wrapper(tmp_path: Path, inner: str) -> None:
    """What a trainer compiles, it loads and saves as the class it comes from says."""
    above = f"""class Trainer:
    def __init__(self, network):
        self.network = network

    def load(self, state):
        self.network{inner}.load_state_dict(state)
"""
    below = """import torch

from base import Trainer

class Faster(Trainer):
    def speed_up(self, network, checkpoint):
        self.network = network
        self.network = torch.compile(self.network)
        self.load(torch.load(checkpoint))
"""
    (tmp_path / "base.py").write_text(above)
    (tmp_path / "faster.py").write_text(below)
    found = lint([str(tmp_path / "faster.py")], Settings(target_torch=(2, 13))).findings
    told = [f for f in found if f.code == "PTS303" and "from here on" in f.message]
    assert bool(told) is (inner == "")


def test_a_copy_is_written_of_what_is_surely_a_tensor() -> None:
    """What is compiled may return several tensors, which have no clone()."""
    found = [f for f in findings(headed(CASES["outputs of CUDA graphs"])) if f.code == "PTS338"]
    written = [edit.text for one in found for fix in one.fixes if not fix.by_hand for edit in fix.edits]
    assert written == ["fast(x).detach().clone()"]
    assert found
    assert all(one.fixes for one in found)


@pytest.mark.parametrize("severity", ["warning", "note"])
def test_accumulated_gradients_are_a_warning_where_it_says_how_many(severity: str) -> None:
    source = CASES["gradients of CUDA graphs"]
    left = "every(" if severity == "warning" else "micro("
    start = source.index(f"def {left}")
    source = source[:start] + source[source.index("def ", start + 4) :]
    source = "\n".join(line for line in source.splitlines() if not line.startswith(left))
    found = [f for f in findings(source) if f.code == "PTS338"]
    assert [f.severity for f in found] == [severity]


@pytest.mark.parametrize("lost", ["torch.compile(model)", "torch.compile(model, dynamic=True)"])
def test_compiling_in_place_compiles(lost: str) -> None:
    source = f"""
import torch

class Net(torch.nn.Module):
    def forward(self, x):
        return x * 2

def run():
    model = Net()
    {lost}
    return model(torch.ones(3))
"""
    (finding,) = findings(source)
    (fix,) = finding.fixes
    assert not outcome(source).frames
    assert outcome(apply_edits(source, fix.edits)).frames


HEADER = """import copy
import os
import torch
from torch.nn.parallel import DistributedDataParallel as DDP

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 3)

    def forward(self, x):
        return self.layer(x)

"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("net = Net()\nnet = net.compile()", "net = Net()\nnet.compile()"),
        ("net = Net()\nnet.compile()\nnet.forward(1)", "net = Net()\nnet.compile()\nnet(1)"),
        (
            "net = torch.compile(Net())\nstate = net.state_dict()",
            "net = torch.compile(Net())\nstate = net._orig_mod.state_dict()",
        ),
        (
            "net = Net()\nif os.sep == '/':\n    net = torch.compile(net)\nstate = net.state_dict()",
            "net = Net()\nif os.sep == '/':\n    net = torch.compile(net)\n"
            'state = getattr(net, "_orig_mod", net).state_dict()',
        ),
        (
            "net = Net()\nif os.sep == '/':\n    net = torch.compile(net)\nstate = DDP(net).module.state_dict()",
            "net = Net()\nif os.sep == '/':\n    net = torch.compile(net)\n"
            'state = getattr(DDP(net).module, "_orig_mod", DDP(net).module).state_dict()',
        ),
        (
            "net = torch.compile(Net())\n[p for n, p in net.named_parameters() if n == 'layer.weight']",
            "net = torch.compile(Net())\n[p for n, p in net._orig_mod.named_parameters() if n == 'layer.weight']",
        ),
        (
            "net = torch.compile(Net())\nnet.register_full_backward_hook(print)",
            "net = torch.compile(Net())\nnet._orig_mod.register_full_backward_hook(print)",
        ),
        (
            "net = torch.compile(DDP(Net(), device_ids=[0]), dynamic=True)",
            "net = DDP(torch.compile(Net(), dynamic=True), device_ids=[0])",
        ),
        (
            "def f(m):\n    while isinstance(m, DDP):\n        m = m.module\n    return m",
            'def f(m):\n    m = getattr(m, "_orig_mod", m)\n    while isinstance(m, DDP):\n        m = m.module\n'
            '    m = getattr(m, "_orig_mod", m)\n    return m',
        ),
        (
            "def f(m):\n    if isinstance(m, DDP):\n        return m.module\n    return m",
            'def f(m):\n    m = getattr(m, "_orig_mod", m)\n    if isinstance(m, DDP):\n'
            "        return m.module\n    return m",
        ),
        (
            "def f(m):\n    m = m.module if isinstance(m, DDP) else m\n    return m.layer",
            'def f(m):\n    m = getattr(m, "_orig_mod", m)\n'
            "    m = m.module if isinstance(m, DDP) else m\n    return m.layer",
        ),
        (
            "def f(m):\n    return type(m) is Net",
            'def f(m):\n    return type(getattr(m, "_orig_mod", m)) is Net',
        ),
        (
            "def f(m):\n    if type(m) == Net or type(m) == torch.nn.Linear:\n        print(m)",
            'def f(m):\n    if (\n        type(getattr(m, "_orig_mod", m)) == Net\n        '
            'or type(getattr(m, "_orig_mod", m)) == torch.nn.Linear\n    ):\n        print(m)',
        ),
        (
            "def f(m):\n    if not isinstance(m, Net):\n        raise TypeError",
            'def f(m):\n    if not isinstance(getattr(m, "_orig_mod", m), Net):\n        raise TypeError',
        ),
        (
            "def f(m, names):\n    return [p for n, p in m.named_parameters() if n in names]",
            'def f(m, names):\n    return [p for n, p in m.named_parameters() if n.replace("_orig_mod.", "") in names]',
        ),
        (
            "def f(m, names):\n    return [p for n, p in m.named_parameters() if n == 'a' or n in names]",
            "def f(m, names):\n    return [\n        p\n        for n, p in m.named_parameters()\n"
            """        if n.replace("_orig_mod.", "") == 'a' or n.replace("_orig_mod.", "") in names\n    ]""",
        ),
        (  # the last part of a name, which no prefix parts
            "def f(m, names):\n    return [p for n, p in m.named_parameters() if n.endswith('.bias') or n in names]",
            "def f(m, names):\n    return [\n        p\n        for n, p in m.named_parameters()\n"
            """        if n.endswith('.bias') or n.replace("_orig_mod.", "") in names\n    ]""",
        ),
        (
            "def f(m):\n    for n, p in m.named_parameters():\n        if n.startswith('blocks'):\n"
            "            k = int(n.split('.')[1])\n        elif n == 'head':\n            k = 9\n        print(k)",
            'def f(m):\n    for n, p in m.named_parameters():\n        n = n.replace("_orig_mod.", "")\n'
            "        if n.startswith('blocks'):\n"
            "            k = int(n.split('.')[1])\n        elif n == 'head':\n            k = 9\n        print(k)",
        ),
        (
            "def f(m):\n    for n, c in dict(m.named_children()).items():\n        print(n, c)\n\n"
            "f(torch.compile(Net()))",
            'def f(m):\n    for n, c in dict(getattr(m, "_orig_mod", m).named_children()).items():\n'
            "        print(n, c)\n\nf(torch.compile(Net()))",
        ),
        (  # lines that would be too long
            "def resume(m, path):\n    m.load_state_dict(torch.load(path, map_location='cpu'), strict=False)",
            "def resume(m, path):\n"
            """    getattr(m, "_orig_mod", m).load_state_dict(\n"""
            "        {\n"
            """            key.removeprefix("_orig_mod."): value\n"""
            "            for key, value in torch.load(path, map_location='cpu').items()\n"
            "        },\n        strict=False,\n    )",
        ),
        (
            "net = Net()\nif os.sep == '/':\n    net = torch.compile(net)\n"
            "torch.save({'net': net.state_dict(), 'step': 1, 'settings': {}, 'more': 1}, 'a.pt')",
            "net = Net()\nif os.sep == '/':\n    net = torch.compile(net)\n"
            "torch.save(\n    {\n"
            """        'net': getattr(net, "_orig_mod", net).state_dict(),\n"""
            "        'step': 1,\n        'settings': {},\n        'more': 1,\n    },\n    'a.pt',\n)",
        ),
        (
            "def prepare(model: Net):\n    for at, block in enumerate(model.layers):\n"
            "        model.layers[at] = torch.compile(\n            block,\n            dynamic=False,\n"
            "            options={'max_autotune': True, 'epilogue_fusion': True},\n        )",
            "def prepare(model: Net):\n    for at, block in enumerate(model.layers):\n"
            "        block.compile(\n"
            "            dynamic=False, options={'max_autotune': True, 'epilogue_fusion': True}\n        )",
        ),
        (
            "def prepare(pipe):\n    torch.compile(pipe.unet, dynamic=True)",
            "def prepare(pipe):\n    pipe.unet = torch.compile(pipe.unet, dynamic=True)",
        ),
        (
            "torch.compile(dynamic=True)\ndef f(x):\n    return x + 1",
            "@torch.compile(dynamic=True)\ndef f(x):\n    return x + 1",
        ),
        (
            'os.environ["TORCH_LOGS"] = "recompiles,graph_breaks"',
            "torch._logging.set_logs(recompiles=True, graph_breaks=True)",
        ),
    ],
)
def test_the_fix(before: str, after: str, tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    path.write_text(HEADER + before + "\n", encoding="utf-8")
    (fix,) = (fix for finding in lint([str(path)]).findings for fix in finding.fixes)
    assert apply_edits(HEADER + before + "\n", fix.edits) == HEADER + after + "\n"
    path.write_text(HEADER + after + "\n", encoding="utf-8")
    assert not lint([str(path)]).findings


@pytest.mark.parametrize(
    "body",
    [
        'os.environ["TORCH_LOGS"] = "+dynamo"',
        "torch.compile(dynamic=True)\n\ndef f(x):\n    return x + 1",  # no `@` that was forgotten
        # `self` is not torch.
        "class M(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.ByteTensor = torch.ByteTensor\n\n    def forward(self, x: torch.Tensor):\n"
        "        return self.ByteTensor(x.size())",
        # Without its prefix the name is another key.
        "def f(m, seen):\n    for n, p in m.named_parameters():\n        if n not in seen:\n            seen[n] = p",
        "def f(m, to):\n    for n, p in m.named_parameters():\n        if n in to:\n            p.copy_(to.pop(n))",
        # The class itself would be the wrapper's, where going on to the children found the module's own.
        "def f(m, name):\n    if m.__class__.__name__ == name:\n        return m.__class__\n"
        "    return [f(one, name) for one in m.children()]",
        # What is called behind it would be the module that is not compiled.
        "def f(m, x):\n    part = m.module if isinstance(m, DDP) else m\n    return part.layer(m(x))",
        "def f(m, x):\n    if isinstance(m, DDP):\n        m = m.module\n    return m(x)",
        "def f(s, m):\n    if isinstance(m, DDP):\n        m = m.module\n    s.m = m",
        # In the next turn of the loop.
        "def f(m, xs):\n    for x in xs:\n        x = m(x)\n        part = m.module if isinstance(m, DDP) else m\n"
        "        yield part, x",
        "def f(m, xs):\n    while xs:\n        x = m(xs.pop())\n"
        "        if isinstance(m, DDP):\n            m = m.module\n"
        "        yield m, x",
    ],
)
def test_what_has_no_fix(body: str) -> None:
    (finding,) = findings(HEADER + body + "\n")
    assert not finding.fixes


def test_what_apply_is_given_sees_the_original_too() -> None:
    body = "def init(m):\n    for n, p in m.named_parameters():\n        if n == 'a.weight':\n            print(p)\n\n"
    assert findings(HEADER + body + "def make(net):\n    init(net)\n    return net\n")
    assert not findings(HEADER + body + "def make(net):\n    net.apply(init)\n    return net\n")


def test_a_fixture_is_what_another_function_makes() -> None:
    body = "def {name}(model):\n    assert isinstance(model, Net)"
    assert findings(HEADER + body.format(name="check") + "\n")
    assert not findings(HEADER + body.format(name="test_check") + "\n")


@pytest.mark.parametrize(("compiles", "by_hand"), [("", True), ("\n    n = torch.compile(n)", False)])
def test_the_prefix_is_taken_out_where_something_is_compiled(compiles: str, by_hand: bool) -> None:
    """Elsewhere nobody has the prefix in a state as far as one can see, and it is told."""
    text = f"{HEADER}def resume(m, path):\n    m.load_state_dict(torch.load(path), strict=False)\n"
    text += f"\n\ndef build(n):{compiles}\n    return n\n"
    (fix,) = (
        fix for one in findings(text) if one.code == "PTS303" and "load_" in one.message for fix in one.fixes
    )
    assert (fix.by_hand, bool(fix.edits)) == (by_hand, True)


LOADS = """
import torch
from torch import nn

class Trainer:
    def __init__(self, net):
        self.net = net
        COMPILE

    def save(self, path):
        torch.save({"net": self.net.state_dict()}, path)

    def load(self, path):
        self.net.load_state_dict(torch.load(path)["net"])

    def step(self, x):
        return self.net(x)
"""


@pytest.mark.parametrize(
    "compiles", ["self.net = torch.compile(net)", "self.other = torch.compile(self.other)"]
)
def test_a_state_that_is_loaded_back_is_not_saved_under_other_names(compiles: str) -> None:
    """It would no longer load into the wrapped module, which was saved and loaded before."""
    saved = next(
        f for f in findings(LOADS.replace("COMPILE", compiles)) if f.code == "PTS303" and f.line == 11
    )
    (fix,) = saved.fixes
    assert not fix.edits
    assert "where the state is loaded (line 14)" in fix.description


@pytest.mark.parametrize(
    "before",
    [
        "    net = Net()\n    net.load_state_dict(torch.load(path))\n    net = torch.compile(net)\n",
        "    net = torch.compile(Net())\n    other = Net()\n    other.load_state_dict(torch.load(path))\n",
    ],
)
def test_a_state_that_the_plain_module_loads_is_saved_under_its_names(before: str, tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    path.write_text(f"{HEADER}def f(path):\n{before}    torch.save(net.state_dict(), path)\n")
    saved = next(f for f in lint([str(path)]).findings if "`net.state_dict()`" in f.message)
    (fix,) = saved.fixes
    assert [edit.text for edit in fix.edits] == ["net._orig_mod"]


def test_what_a_property_returns_is_not_what_the_object_was_given() -> None:
    """It may take the wrapper off."""
    unwraps = "    @property\n    def inner(self):\n        return unwrap(self.net)\n\n    def step(self, x):"
    source = LOADS.replace("COMPILE", "self.other = torch.compile(self.other)").replace(
        "self.net.", "self.inner."
    )
    text = source.replace("    def step(self, x):", unwraps).replace("self.net(x)", "self.inner(x)")
    assert not [f for f in findings(text) if f.code == "PTS303"]


@pytest.mark.parametrize(
    ("function", "fixed"),
    [
        ("def f(m):\n    assert isinstance(m, Net)", True),
        ("def f(m: Net):\n    assert isinstance(m, Net)", True),
        ("def f(m: nn.Module):\n    assert isinstance(m, Net)", False),
        ("def f(m) -> None:\n    if not isinstance(m, Net):\n        raise TypeError", False),
    ],
)
def test_what_a_type_checker_learns_from_is_left(function: str, fixed: bool) -> None:
    source = f"{HEADER}from torch import nn\n\n{function}\n"
    (finding,) = (f for f in findings(source) if f.code == "PTS304")
    (fix,) = finding.fixes
    assert bool(fix.edits) is fixed


def test_a_replaced_part_has_another_name() -> None:
    layers, named = nn.ModuleList([nn.Linear(3, 3)]), nn.ModuleList([nn.Linear(3, 3)])
    before = layers.state_dict()
    layers[0] = torch.compile(layers[0], backend="eager")
    named.register_module("0", torch.compile(named[0], backend="eager"))
    for module in (layers, named):
        assert list(module.state_dict()) == ["0._orig_mod.weight", "0._orig_mod.bias"]
        with pytest.raises(RuntimeError, match="Missing key"):
            module.load_state_dict(before)
    part = nn.ModuleList([nn.Linear(3, 3)])
    part[0].compile(backend="eager")
    part.load_state_dict(before)


REPLACED = """
def replace(model: nn.Module):
    for name, part in model.named_children():
        setattr(model, name, torch.compile(part, backend="eager"))
    model.last = torch.compile(model.last, backend="eager")
    model.last.train()
    for at, part in enumerate(model.parts):
        model.parts[at] = torch.compile(part, backend="eager")

def load_state_dict(model: nn.Module, path):
    model.load_state_dict(torch.load(path))
"""


def test_parts_are_compiled_in_place() -> None:
    source = HEADER + REPLACED
    edits = [e for f in findings(source) if " from here on" in f.message for x in f.fixes for e in x.edits]
    assert len(edits) == 3
    scope: dict[str, object] = {}
    exec(apply_edits(source, edits), scope)
    model = nn.ModuleDict({"last": nn.Linear(3, 3), "parts": nn.ModuleList([nn.Linear(3, 3)])})
    before = list(model.state_dict())
    replace = scope["replace"]
    assert callable(replace)
    replace(model)
    assert list(model.state_dict()) == before
    assert model["last"]._compiled_call_impl is not None
    assert model["parts"][0]._compiled_call_impl is not None


METHOD = """
class Codec(nn.Module):
    def __init__(self, vae):
        super().__init__()
        self.vae = vae

    def prepare(self):
        self.vae.decode = torch.compile(self.vae.decode)
        self.encode = torch.compile(self.encode)

    def forward(self, x):
        return self.vae.decode(x)

def load(codec: Codec, path):
    codec.load_state_dict(torch.load(path))
"""


def test_what_may_be_a_method_is_not_compiled_in_place() -> None:
    found = [f for f in findings(HEADER + METHOD) if f.code == "PTS303"]
    assert all(f.message.startswith("where `self.") for f in found)
    assert not [edit for f in found for fix in f.fixes for edit in fix.edits]
    modules = METHOD.replace("def prepare(self):", "def prepare(self):\n        self.vae.decode.eval()")
    (told,) = (f for f in findings(HEADER + modules) if "decode" in f.message)
    assert [edit.text for edit in told.fixes[0].edits] == ["self.vae.decode.compile()"]


WRAPS = """
import torch
from torch import nn

class Net(nn.Module):
    def forward(self, x):
        return self.scale(x)

    def scale(self, x):
        return x * 2

    def compile_parts(self):
        COMPILE

def checked(model: nn.Module):
    if not isinstance(model, Net):
        raise TypeError("a Net, please")
    return model
"""


@pytest.mark.parametrize(
    ("compiles", "severity"),
    [
        ("self.inner = torch.compile(self.inner)", "warning"),
        ("self.scale = torch.compile(self.scale)", "note"),
        ("self.inner.compile()", "note"),
    ],
)
def test_a_file_that_compiles_no_module_by_a_wrapper_has_none(
    compiles: str,
    severity: str,
) -> None:
    found = [(f.line, f.severity) for f in findings(WRAPS.replace("COMPILE", compiles)) if f.code == "PTS304"]
    assert found == [(16, severity)]


def test_names_in_ddp(tmp_path):
    source = CASES["a compiled module in DDP"]
    found = findings(source)
    assert ["`module._orig_mod.`" in f.message for f in found] == [True, False]
    fixed = [e.text for f in found for fix in f.fixes for e in fix.edits]
    assert fixed == ["net.module._orig_mod", "net.module._orig_mod"]


@pytest.mark.parametrize(
    "asks", ["isinstance(net, DDP)", 'hasattr(net, "module")', "not isinstance(net, DDP)"]
)
def test_where_a_module_is_not_spread_its_names_are_told_without_that(asks: str) -> None:
    made = "net = torch.compile(Net())\nif os.sep == '/':\n    net = DDP(net)\n"
    ways = ["    state = net.module.state_dict()\n", "    state = net.state_dict()\n"]
    then, other = reversed(ways) if asks.startswith("not") else ways
    found = findings(f"{HEADER}{made}if {asks}:\n{then}else:\n{other}")
    (plain,) = (f for f in found if "`net.state_dict()`" in f.message)
    assert "start with `_orig_mod.`" in plain.message
    assert [e.text for fix in plain.fixes for e in fix.edits] == ["net._orig_mod"]


def test_what_may_be_no_module_is_returned() -> None:
    (found,) = findings(f"{HEADER}def prepare(part: torch.nn.Module):\n    part = torch.compile(part)\n")
    assert [(fix.description[:9], bool(fix.edits)) for fix in found.fixes] == [("Return it", False)]


def test_what_one_branch_alone_wraps_is_told_with_that_condition() -> None:
    source = """import torch
from torch import nn

def run(loss, x):
    if hasattr(loss, "own"):
        loss = loss.own()
    else:
        loss = torch.compile(loss)
    if loss.__class__.__name__ == "Hinge" or type(loss) == nn.CrossEntropyLoss:
        return type(loss).__name__

def wrapped(loss, x):
    made = torch.compile(nn.CrossEntropyLoss())
    if made.__class__.__name__ == "Hinge" or type(made) == nn.CrossEntropyLoss:
        return type(made).__name__

run(nn.CrossEntropyLoss(), 1)
"""
    found = findings(source)
    assert [f.code for f in found] == ["PTS336", "PTS304", "PTS336"] * 2
    assert [" where " in f.message for f in found] == [True] * 3 + [False] * 3


@pytest.mark.parametrize(
    ("unwraps", "told"),
    [
        ('return getattr(model, "_orig_mod", model)', [7, 8]),
        ("while hasattr(model, '_orig_mod'):\n        model = model._orig_mod\n    return model", [7, 8]),
        ("return model  # _orig_mod", []),
    ],
)
def test_one_of_two_modules_is_handed_to_what_takes_the_wrapper_off(
    unwraps: str, told: list[int], tmp_path: Path
) -> None:
    (tmp_path / "tools.py").write_text(f"def unwrap(kept, model):\n    {unwraps}\n", encoding="utf-8")
    trainer = tmp_path / "trainer.py"
    trainer.write_text(
        """import torch
from tools import unwrap

class Trainer:
    def plain(self, model=None, key=None):
        key = key or self.fit.eval()
        inner = unwrap(self.kept, model or self.model)
        return unwrap(self.kept, model=self.model or model), key, inner
""",
        encoding="utf-8",
    )
    found = lint([str(trainer)], Settings(target_torch=(2, 13))).findings
    assert [(f.code, f.severity, f.line) for f in found] == [("PTS335", "note", line) for line in told]


def test_a_function_of_another_file_takes_the_wrapper_off(tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text(
        """from torch import nn


def unwrap(m):
    while True:
        if hasattr(m, "_orig_mod") and isinstance(m._orig_mod, nn.Module):
            m = m._orig_mod
        elif hasattr(m, "module") and isinstance(m.module, nn.Module):
            m = m.module
        else:
            return m


def at_once(m):
    return getattr(m, "_orig_mod", m)
"""
    )
    (tmp_path / "train.py").write_text(
        """import torch
from tools import at_once, unwrap


class Trainer:
    def __init__(self, model: torch.nn.Module):
        self.model = torch.compile(model)

    def save(self):
        torch.save(unwrap(self.model).state_dict(), "a.pt")
        torch.save(at_once(self.model).state_dict(), "b.pt")
        torch.save(self.model.state_dict(), "c.pt")
"""
    )
    files = [str(tmp_path / name) for name in ("tools.py", "train.py")]
    found = lint(files, Settings(target_torch=(2, 13))).findings
    assert [(one.code, one.line) for one in found] == [("PTS303", 12)]


def test_settings_of_the_main_thread_and_a_thread_of_another_file(tmp_path: Path) -> None:
    """A user interface sets the limit where it is imported, and trains in a thread: on torch 2.9 that holds there."""
    (tmp_path / "settings.py").write_text(
        "import torch\n\n\ndef init():\n    torch._dynamo.config.recompile_limit = 8192\n"
    )
    (tmp_path / "trainer.py").write_text(
        """import torch


class Trainer:
    def __init__(self):
        self.update = torch.compile(self.one)

    def one(self, p):
        return p * 0.9

    def train(self):
        self.update(torch.ones(3))
"""
    )
    (tmp_path / "ui.py").write_text(
        """import threading

import settings
from trainer import Trainer

settings.init()


class Window:
    def start(self):
        threading.Thread(target=self.train).start()

    def train(self):
        trainer = Trainer()
        trainer.train()


Window().start()
"""
    )
    files = [str(tmp_path / name) for name in ("settings.py", "trainer.py", "ui.py")]
    for target, told in (((2, 13), [("PTS340", 5, "warning")]), ((2, 9), [])):
        found = lint(files, Settings(target_torch=target)).findings
        assert [(one.code, one.line, one.severity) for one in found] == told


def test_settings_hold_in_their_thread() -> None:
    """What the rule says of threads, of `asyncio.to_thread` and of `config.patch`."""
    import asyncio
    import threading
    from concurrent.futures import ThreadPoolExecutor

    from torch._dynamo import config

    seen = {}

    def look(name: str) -> None:
        seen[name] = config.recompile_limit

    async def both() -> None:
        await asyncio.to_thread(look, "to_thread")
        await asyncio.get_running_loop().run_in_executor(None, look, "run_in_executor")

    default = config.recompile_limit
    config.patch(recompile_limit=99)
    look("bare patch")
    with config.patch(recompile_limit=99):
        look("here")
        thread = threading.Thread(target=look, args=("thread",))
        thread.start()
        thread.join()
        with ThreadPoolExecutor(1) as pool:
            pool.submit(look, "submit").result()
        asyncio.run(both())
    of_its_own = dict.fromkeys(("bare patch", "thread", "submit", "run_in_executor"), default)
    assert seen == {**of_its_own, "here": 99, "to_thread": 99}


@pytest.mark.parametrize("whole", [True, False])
def test_states_of_compiled_parts_still_load(whole: bool, tmp_path: Path) -> None:
    """One within a name belongs to a part, which is wrapped where it is loaded, too."""
    source = HEADER + "def resume(m, path):\n    m.load_state_dict(torch.load(path), strict=True)\n"
    path = tmp_path / "m.py"
    path.write_text(source)
    (fix,) = (fix for finding in lint([str(path)]).findings for fix in finding.fixes)
    scope: dict[str, object] = {}
    exec(apply_edits(source, fix.edits), scope)

    def made() -> nn.Module:
        model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
        if whole:
            return torch.compile(model, backend="eager")
        model[0] = torch.compile(model[0], backend="eager")
        return model

    saved, loaded = made(), made()
    torch.save(saved.state_dict(), tmp_path / "state.pt")
    resume = scope["resume"]
    assert callable(resume)
    resume(loaded, tmp_path / "state.pt")
    assert all(map(torch.equal, saved.parameters(), loaded.parameters()))


def test_what_a_star_gives_is_no_argument_of_its_own() -> None:
    """`torch.save(*args, obj=state)`, where nothing is in `args`: it was an error of ours."""
    source = "import torch\n\ndef save(*args, **kwargs):\n    torch.save(*args, obj={}, **kwargs)\n\nsave(f='a.pt')\n"
    assert not lint(["m.py"], None, {"m.py": source}).problems


SLOPES = """import torch

net = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))

@torch.compile(backend="aot_eager")
def penalty(x):
    (slope,) = torch.autograd.grad(net(x).sum(), x, create_graph=KEPT)
    return net(x).mean() + slope.norm()
"""


@pytest.mark.parametrize("kept", [True, False])
def test_a_gradient_in_compiled_code_raises_where_it_is_differentiated_again(kept: bool) -> None:
    source = SLOPES.replace("KEPT", str(kept))
    (found,) = findings(source, target_torch=(2, 13))
    assert ("RuntimeError" in found.message, "uncompiled" in found.fixes[0].description) == (kept, kept)
    assert [("RuntimeError" in f.message) for f in findings(source, target_torch=(2, 15))] == [False]
    space: dict = {}
    exec(source, space)
    loss = space["penalty"](torch.ones(1, 2, requires_grad=True))
    if kept and torch.__version__ < "2.15":
        with pytest.raises(RuntimeError, match="double backward"):
            loss.backward()
    else:
        loss.backward()


@pytest.mark.parametrize("options", ["", "(fullgraph=True)"])
def test_a_generator_raises_where_it_shall_be_one_graph(options: str) -> None:
    source = f"import torch\n\n@torch.compile{options}\ndef f(x):\n    yield x + 1\n"
    (found,) = findings(source)
    assert ("raises" in found.message) is bool(options)
    compiled = outcome(source + "\ndef run():\n    return len(list(f(torch.ones(1))))\n")
    assert isinstance(compiled.value, Exception) is bool(options)


@pytest.mark.parametrize(
    ("target", "told"),
    [((2, 9), [9, 11, 22, 23, 24]), ((2, 13), [9, 22, 23]), ((2, 15), [9, 11, 22, 23, 24])],
)
def test_a_number_that_changes_has_no_format(target: tuple[int, int], told: list[int]) -> None:
    source = """
import time
import torch

@torch.compile
def step(model: torch.nn.Module, x):
    start = time.time()
    loss = model(x).mean()
    print(f"{1000 * (time.time() - start):.1f} ms")
    value = loss.item()
    print(f"step {7:3d}: " f"loss {value:.3f}")
    print(f"{value}", f"{value!r:>9}", "%.3f" % value, "{:.3f}".format(value))
    kept = f"{value:.3f}"
    for _ in range(3):
        x = x + value
    return loss, kept

@torch.compile
def alone(x):
    value = x.sum().item()
    share = value / 3
    print(f"{value:.3f}")
    print(f"{share * 100:.1f} %")
    print(f"{value:.3f} {value * 2:.3f}")
    return x + 1

@torch.compile
def nothing_left(x):
    print(f"{x.sum().item() * 2:.3f}")

@torch.compile
def left_to_python(x):
    for row in range(3):
        print(f"{x[row].sum().item() * 2:.3f}")
    return x + 1

def not_compiled(x):
    print(f"{x.sum().item() * 2:.3f}")
    return x + 1
"""
    found = findings(source, target_torch=target, select=("PTS356",))
    assert sorted({f.line for f in found if f.code == "PTS356"}) == told


@pytest.mark.parametrize("target", [(2, 6), (2, 13), (2, 15)])
def test_a_metaclass_is_not_asked(target: tuple[int, int]) -> None:
    source = """
import torch
from jaxtyping import Float
from torch.autograd import Variable

class Square(type):
    def __instancecheck__(cls, x):
        return isinstance(x, torch.Tensor) and x.ndim == 2

class Matrix(metaclass=Square):
    pass

class Plain(metaclass=type):
    pass

@torch.compile
def of_anything(x):
    return x * (2 if isinstance(x, Variable) else 3)  # PTS357

@torch.compile
def of_tensors(x: torch.Tensor, n: int, text: str):
    x = x * (2 if isinstance(x, Matrix) else 3)  # PTS357
    x = x * (2 if isinstance(x, Float[torch.Tensor, "a b"]) else 3)  # PTS357
    x = x * (2 if isinstance(x, (Variable, torch.Tensor)) else 3)
    x = x * (2 if isinstance(x, Plain) else 3)
    x = x * (2 if isinstance(x, Variable) else 3)  # PTS357
    return x * (2 if isinstance(n, Variable) or isinstance(text, Matrix) else 3)

def not_compiled(x: torch.Tensor):
    return isinstance(x, Variable)
"""
    found = findings(source, target_torch=target, select=("PTS357",))
    assert [f.line for f in found] == [n for n, t in enumerate(source.splitlines(), 1) if "# PTS357" in t]
    assert all(("ends the graph" in f.message) is (target == (2, 15)) for f in found)
