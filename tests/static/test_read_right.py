"""Constructs that were once read wrongly: findings that were none, and some that were missing."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from pt2lint.static.engine import lint
from tests.linting import NOWHERE, announced, findings

HEAD = (
    "import dataclasses\nimport enum\nimport functools\nimport operator\nimport typing\n"
    "import numpy as np\nimport torch\nfrom torch import nn\n\n"
)


def sure(code: str, folder: Path = NOWHERE) -> list[tuple[str, str]]:
    """Of each sure finding, the code and the source line."""
    lines = (HEAD + code).splitlines()
    return [(f.code, lines[f.line - 1].strip()) for f in findings(HEAD + code, folder)]


READ = {
    "a tensor is of none of Python's own types": """
def picked(rows, at):
    if type(at) is int:
        if at >= len(rows):
            raise IndexError(at)
        at = slice(at, None, len(rows))
    elif type(at) in (float, str):
        at = round(at)
    if type(at) != list:
        rows = rows * at.sum().item()  # PTB103
    return rows[at]

@torch.compile
def f(x: torch.Tensor):
    return picked(x * 2, torch.cat([x.argmax(0), x.argmin(0)]))
""",
    "a class that TorchScript was told of is still the class": """
@torch.jit.script
class Rows:
    def __init__(self, rows):
        self.rows = rows

@torch.compile
def f(x: torch.Tensor):
    found = Rows(x * 2)
    return found.rows * found.rows.sum().item()  # PTB103
""",
    "an object that is there once the graph has ended": """
class Sampler:
    def __init__(self, n):
        self.n = n
    @torch.no_grad()
    def step(self, x):
        return x + self.n

def settled(x):
    return -x if x.sum() > 0 else x  # PTB110

@torch.compile
def f(x: torch.Tensor, many: bool):
    if many:
        sampler = Sampler(1)
        return sampler.step(x)  # PTB196
    sampler_2 = Sampler(2)
    y = settled(x)
    return sampler_2.step(y)
""",
    "a tensor whose dtype the function alone tells that is given it": """
class Layer(nn.Module):
    def forward(self, x: torch.Tensor, mask: typing.Optional[torch.BoolTensor] = None, index: torch.LongTensor = None):
        x = x[mask] if mask is not None else x  # PTB120
        return x if index is None else x[index]

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = Layer()
    def forward(self, x: torch.Tensor, mask: torch.Tensor, index: torch.Tensor):
        return self.layer(x, mask, index)
""",
    "dtypes that are types of Python": """
@torch.compile
def masks(x: torch.Tensor, rows: torch.Tensor):
    made = torch.zeros(3, dtype=bool)
    y = x[made]  # PTB120
    if rows.shape[0] > 2:
        return y * x[torch.zeros_like(rows, dtype=int)]
    whole = x.to(int)
    return rows[x.new_ones(3, dtype=bool)] + y[whole], rows.to(bool)  # PTB120
""",
    "what is read of all that a dictionary holds": """
@torch.compile
def logged(x: torch.Tensor, loss: torch.Tensor):
    logs = {"rate": 0.1, "loss": loss}
    numbers = {name: float(value) for name, value in logs.items()}  # PTB104
    for value in logs.values():
        value = round(float(value), 3)  # PTB104
    return x, numbers

@torch.compile
def asked(x: torch.Tensor, loss: torch.Tensor):
    logs = {"rate": 0.1, "loss": loss}
    for name, value in logs.items():
        if name == "rate":
            x = x * float(value)
    first, second = logs.values()
    (_, third), _ = logs.items()
    return x * float(first) * float(third) * float(next(iter(logs.values())))
""",
    "what is compared by an element": """
@torch.compile
def best(x: torch.Tensor, names: list[str]):
    ranked = sorted(enumerate(x), key=operator.itemgetter(1))  # PTB112
    plain = sorted(enumerate(names), key=operator.itemgetter(1))
    named = sorted(zip(names, x), key=operator.itemgetter(0))
    top = max(range(4), key=lambda i: x[i])  # PTB112
    return x, ranked, plain, named, top
""",
    "what gradients and the function they are of give": """
def loss(weights, x):
    return ((torch.func.functional_call(Scaled(), weights, (x,)) - 1) ** 2).mean()

class Scaled(nn.Module):
    def forward(self, x):
        return x * 2 if x.sum() > 0 else x  # PTB110

@torch.compile
def step(weights: dict[str, torch.Tensor], x: torch.Tensor):
    grads, value = torch.func.grad_and_value(loss)(weights, x)
    if value < 1e-3:  # PTB110
        return weights
    if torch.func.grad(lambda w: (w * x).sum())(x) > 0:  # PTB110
        return weights
    out, pull = torch.func.vjp(lambda x: x.sum(), x)
    return out.item(), pull(out)  # PTB103
""",
    "a table of functions that one decorator wraps": """
TERMS = {}

def term(name=None, weight=1.0):
    def added(function):
        @functools.wraps(function)
        def weighted(*args):
            return weight * function(*args)

        TERMS[name or function.__name__] = weighted
        return weighted

    return added

@term("mean")
def mean(x, y):
    return x.mean() * float(y.sum())  # PTB104

@term(weight=0.5)
def picked(x, y):
    return (x + y)[y > 0]  # PTB120

@term()
def plain(x, y):
    return (x + y).mean()

@torch.compile
def step(x: torch.Tensor, y: torch.Tensor, name: str):
    return TERMS[name](x, y)
""",
    "how many dimensions what is picked, joined or repeated has": """
@torch.compile
def picked(b: torch.Tensor, s: torch.Tensor):
    order = s.view(-1).argsort()
    order = order[order > 0]  # PTB120
    return b[order[0]]  # PTB106

@torch.compile
def joined(b: torch.Tensor, s: torch.Tensor):
    rows = []
    for _ in range(3):
        rows.append(s.view(-1))
    return b[torch.cat(rows).argsort()[0]]  # PTB106

@torch.compile
def stacked(b: torch.Tensor, s: torch.Tensor):
    order = s.view(-1).argsort()
    order = torch.stack([order, order])
    return b[order[0]] + b[order[0, 0]]  # PTB106

@torch.compile
def rows(b: torch.Tensor, s: torch.Tensor):
    order = s.view(-1).argsort()
    return b[order[order.view(1, -1)][0]]

@torch.compile
def repeated(b: torch.Tensor, s: torch.Tensor):
    order = torch.arange(6)
    tables = order.repeat(2, 1), order.view_as(s), order.add(s), order.add(s.view(2, -1))
    return [b[table[0]] for table in tables]
""",
    "modules that a list gives one by one": """
class Block(nn.Module):
    def forward(self, x, keep=None):
        if keep is not None:
            keep(x)
        return x * 2

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(Block() for _ in range(3))
        self.stack = nn.Sequential(Block(), Block())

    def forward(self, x: torch.Tensor):
        for name, block in self.blocks.named_children():
            x = block(x, self.keep)
        for block in self.stack.children():
            x = block(x, self.show)
        return x

    def keep(self, x):
        print(x.shape)  # PTB101

    def show(self, x):
        print(x.shape)  # PTB101
""",
    "members of enumerations": """
class Reduce(enum.Enum):
    SUM = enum.auto()
    MEAN = enum.auto()
    NONE = enum.auto()

class Stage(enum.IntEnum):
    FIRST = 0
    LAST = 1

class Kind(str, enum.Enum):
    ROWS = "rows"
    ALL = "all"

def reduced(x: torch.Tensor, how=Reduce.SUM):
    if how is Reduce.SUM:
        return x.sum()
    if how is Reduce.MEAN:
        return x.sum() / x.shape[0]
    return x * x.sum().item()

def staged(x: torch.Tensor, stage: Stage):
    if stage == Stage.FIRST:
        return x * x.sum().item()  # PTB103
    return x * 2

def taken(x: torch.Tensor, kind=Kind.ALL):
    if kind.value == "rows":
        return x * x.max().item()
    return x

@torch.compile
def step(x: torch.Tensor):
    return reduced(x) + reduced(x, Reduce.MEAN) + staged(x, Stage.LAST) + taken(x)

@torch.compile
def first(x: torch.Tensor):
    return staged(x, Stage.FIRST)
""",
    "what is left for a mask where the other parts of a test are known": """
def is_tracing(x=None):
    asked = torch.compiler.is_compiling() or torch.jit.is_tracing()
    if x is not None:
        asked |= isinstance(x, torch.fx.Proxy)
    return asked

def is_exporting():
    try:
        return torch.compiler.is_exporting()
    except Exception:
        return False

def is_full(mask, n, most=None):
    if (
        not (is_exporting() or (mask is not None and is_tracing(mask)))
        and (mask is None or mask.all())
        and (most is None or n < most)
    ):
        return True
    return False

def is_square(mask, n):
    if is_exporting() or (mask is not None and is_tracing(mask)):
        n = n + 1
        return False
    return n == 1 and (mask is None or mask.sum() == mask.numel())

def is_any(mask, n):
    if mask is not None and n > 2:
        return False
    return mask is None or mask.any()

class Net(nn.Module):
    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None):
        if is_full(mask, x.shape[0]) or is_square(mask, x.shape[0]):
            return x
        if is_any(mask, x.shape[0]):  # PTB110
            return x + 1
        return x + mask
""",
    "what a dictionary holds under names that begin so": """
class Net(nn.Module):
    def forward(self, x: torch.Tensor, mask: torch.Tensor):
        held = {"x": x, "mask": mask}
        for name in self.names:
            if held.get(f"wants_{name}", False):
                x = x + 1
            if held.get(f"ma{name}").any():  # PTB110
                x = x + 2
        return x
""",
    "what keyword arguments hold under a name that is not known": """
class Net(nn.Module):
    def run(self, name, **kwargs):
        if any(one > 0 for one in kwargs[name]):
            return kwargs["x"]
        return kwargs["x"] * 2

    def forward(self, x: torch.Tensor, mask: torch.Tensor):
        return self.run(self.name, x=x, rows=[x for x in self.rows(mask)])

    def rows(self, mask):
        return [mask, mask]
""",
    "what another platform runs": """
import platform
import subprocess
import sys

def asked(name):
    return subprocess.check_output([name])  # PTB143

@torch.compile
def f(x: torch.Tensor):
    if sys.platform == "another":
        print(x)
    if sys.platform.startswith("another"):
        print(x)
    if platform.system() == "Another":
        print(x)
    if sys.platform != "another":
        asked("sysctl")
        return x
    print(x)
    return x + 1
""",
    "who asks whether this is compiled, with an answer for a torch that has none": """
import time

try:
    asked = torch.compiler.is_compiling
except AttributeError:
    asked = lambda: False

try:
    found = torch.compiler.is_compiling
except AttributeError:
    def found():
        return False

try:
    other = torch.compiler.is_compiling
except AttributeError:
    other = lambda: torch.cuda.is_available()

@torch.compile
def f(x: torch.Tensor):
    if not asked():
        print(time.perf_counter())
    if not found():
        print(time.perf_counter())
    if not other():
        print("none")  # PTB101
    return x + 1
""",
    "the gradient of a weight was there before the graph, as the weight was": """
lin = nn.Linear(3, 3)

@torch.compile
def clear(x: torch.Tensor):
    for p in lin.parameters():
        if p.grad is not None:
            p.grad.detach_()  # PTB164
            p.grad.zero_()
    y = x * 2
    y.detach_()
    return y
""",
    "what `**more` holds for one of several functions leaves the others": """
def heun(x, sigmas, churn=0.0):
    return x * sigmas.max().item()  # PTB103

def euler(x, sigmas):
    return x * sigmas.min().item()  # PTB103

def multistep(x, sigmas, times):
    return x * sigmas.mean().item()  # PTB103

@torch.compile
def f(x: torch.Tensor, sampler, times):
    sample = {"heun": heun, "euler": euler, "multistep": multistep}[sampler]
    if sampler == "heun":
        more = dict(churn=0.1)
    elif sampler == "multistep":
        more = dict(times=times)
    else:
        more = {}
    return sample(x, x, **more)
""",
    "what is split by a tensor may be another library's": """
@torch.compile
def f(x: torch.Tensor, masks):
    mask = masks.of(x.shape[0])
    return mask.split(x + 1)
""",
    "of what is defined twice the last counts": """
class Scale(nn.Module):
    def forward(self, x: torch.Tensor):
        return x * x.max().item()

class Scale(nn.Module):
    def __init__(self):
        super(Scale, self).__init__()

    def forward(self, x: torch.Tensor):
        return x * x.sum().item()  # PTB103

def pick(x):
    return x[x > 0]

def pick(x):
    return x * 2

class Named(nn.Module):
    def forward(self, x: torch.Tensor):
        return x * x.min().item()  # PTB103

class Named(Named):
    pass

if torch.cuda.is_available():
    def draw(x):
        return x * x.mean().item()  # PTB103
else:
    def draw(x):
        return x

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = Scale()

    def forward(self, x: torch.Tensor):
        return draw(pick(self.scale(x)))
""",
    "flags that code outside of their class turns on": """
class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.calibrates = False
        self.keeps = False
        self.draws = False

    def forward(self, x: torch.Tensor):
        if self.calibrates:
            x = x * x.mean().item()  # PTB103
        if self.keeps:
            x = x * x.max().item()  # PTB103
        if self.draws:
            x = x * x.min().item()
        return x

class Other(Layer):
    pass

net = nn.Sequential(Layer(), Layer())
net[0].keeps = True
compiled = torch.compile(net)
for part in net.modules():
    if isinstance(part, Layer):
        part.calibrates = True
    elif isinstance(part, (Other, nn.Linear)):
        part.draws = True
    part.draws = False
compiled(torch.ones(2))
""",
    "iterators over tuples and ranges are known, whoever made them": """
@torch.compile
def drawn(x, it):
    return x + next(it)

@torch.compile
def kept(x, it):
    return x + tuple(it)[0]

@torch.compile
def of_a_list(x, it):
    return x + list(it)[0]  # PTB187

drawn(torch.ones(3), iter(range(3)))
kept(torch.ones(3), iter((1, 2)))
of_a_list(torch.ones(3), iter([1, 2]))  # PTS326
""",
    "what `:=`, `yield from` and `**` hand on": """
def parts(xs):
    yield from xs

class M(nn.Module):
    def __init__(self, scale=None):
        super().__init__()
        self.scale = scale

    def forward(self, x: torch.Tensor):
        if (n := x.sum()) > 0:  # PTB110
            x = x + n
        if (scale := self.scale) is not None:
            x = x * scale
        for part in parts([x, x]):
            if part.sum() > 0:  # PTB110
                x = x + 1
        named = {"x": x}
        both = {**named, "scale": 2.0}
        del named
        return x * 2 if both["x"].sum() > 0 else x  # PTB110
""",
    "no tensor is cut at a text": """
def size_of(name, usual):
    return int(name.split("@")[1]) if "@" in name else usual

class M(nn.Module):
    def forward(self, x: torch.Tensor, name: torch.Tensor):
        first, _ = x.split(1)
        return x * size_of(name, 3) * int(first)  # PTB104
""",
    "a class is a type": """
class M(nn.Module):
    def forward(self, x: torch.Tensor, named=torch.relu):
        for kind in (torch.Tensor, nn.Linear, M, int):
            if not isinstance(kind, type):
                x.item()
        if isinstance(named, type):
            return x
        return x.item()  # PTB103
""",
    "a method has the annotations of the one in whose place it is": """
class Policy:
    def act(self, x: torch.Tensor, n: int, scale=None): ...

class Greedy(Policy):
    def act(self, x, n, scale=None):
        if n > 1:
            n = 1
        if scale > 0:
            n = 2
        if x.sum() > n:  # PTB110
            return x
        return -x

policy = Greedy()
act = torch.compile(policy.act)
""",
    "what is read through a mask need not be known": """
@torch.compile
def loss(pred, target, mask):
    mask = mask.unsqueeze(2).expand_as(target)
    return pred[mask]  # PTB120

@torch.compile
def rows(table, places):
    places = places.unsqueeze(2)
    return table[places]
""",
    "what is None in `__init__` is set elsewhere, to what its uses tell": """
class Learner(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)
        self.optimizer = None
        self.table = None

    @torch.compile
    def learn(self, x: torch.Tensor):
        self.optimizer.zero_grad()  # PTB166
        self.layer(x).sum().backward()  # PTB160
        self.optimizer.step()  # PTB165
        torch.cuda.random.manual_seed(0)  # PTB151
        return self.table.rows(x)
""",
    "what another library's class makes of parameters and a rate is an optimizer": """
import averages
import optims
from optims import Steady

def start(model, settings):
    optimizer = optims.Steady(model.parameters(), lr=0.1)  # PTB189
    average = averages.Average(model.parameters(), decay=0.9)
    wanted = [p for p in model.parameters() if p.requires_grad]
    other = Steady([{"params": wanted, "weight_decay": 0.0}], lr=settings.lr)  # PTB189
    plan = optims.Plan(optimizer, lr=0.1)
    return average, plan, other

class Learner(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)
        self.tail = optims.Tail(3, lr=0.1)
        self.optimizer = Steady(self.layer.parameters(), lr=0.1)

    @torch.compile
    def learn(self, x: torch.Tensor):
        self.optimizer.zero_grad(set_to_none=True)  # PTB166
        self.tail.zero_grad()
        self.optimizer.step()
        return self.layer(x)

torch.compile(start)(nn.Linear(3, 3), None)
""",
    "whoever annotates with np.array means its class": """
import numpy as np

@torch.compile
def classes(labels: np.array, rows: "np.array | None" = None):
    return max(set(labels))  # PTB117
""",
    "torch takes NumPy's names for a dimension and for keeping it": """
@torch.compile
def hits(actual: torch.Tensor, best: torch.Tensor):
    found, rank = (actual == best).max(axis=-1)
    rank = rank[found]  # PTB120
    least = torch.min(actual, axis=1, keepdims=True).values
    return rank, -least if least.sum() > 0 else least  # PTB110

@torch.compile
def rows(best: torch.Tensor):
    counts = best.sum(axis=1)
    kept = torch.zeros(4, 3).sum(dim=1, keepdims=True)
    return kept[0][counts.argmax(axis=0, keepdims=True)]
""",
    "of a number in a tensor that a module keeps Dynamo knows nothing": """
class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.tensor(0.5)
        self.rows = torch.tensor(3)

    def forward(self, x: torch.Tensor):
        x = x.add(x, alpha=self.scale)  # PTB106
        x = x.add(x, alpha=torch.tensor(0.5))
        return x + x.new_zeros(self.rows)
""",
    "only modules take hooks of their forward": """
@torch.compile
def watch(layers, x):
    handle = layers["last"].register_forward_hook(lambda m, i, o: None)  # PTB162
    return x * 2, handle
""",
    "how many dimensions there are goes through permute and Fourier transforms": """
class Delays(nn.Module):
    def forward(self, q, k, v):
        spectrum = torch.fft.rfft(q.permute(0, 2, 3, 1), dim=-1)
        found = torch.fft.irfft(spectrum * torch.conj(spectrum), dim=-1)
        mean = torch.mean(torch.mean(found, dim=1), dim=1)
        places = torch.topk(torch.mean(mean, dim=0), 3, dim=-1)[1]
        rows = torch.topk(mean, 3, dim=-1)[1]
        return [v[:, places[i]] for i in range(3)] + [v[:, rows[i]] for i in range(3)]  # PTB106
""",
    "a class pattern narrows": """
class M(nn.Module):
    def forward(self, x: torch.Tensor | int | None, other: torch.Tensor | str):
        match x:
            case None:
                return 0
            case int():
                return 1 if x > 0 else 2
            case torch.Tensor() as y:
                if y.sum() > 0:  # PTB110
                    y = y + 1
        match other:
            case str() | int():
                return 1 if other else 2
            case _:
                return other.item()  # PTB103
""",
    "what a class is said to hold, and what is folded": """
T = typing.TypeVar("T")

class Holder(typing.Generic[T]):
    def __init__(self, value: T):
        self.value = value

    def number(self):
        return self.value.sum().item()  # PTB103

class Kind(enum.Enum):
    A = 1

class M(nn.Module):
    def forward(self, x: torch.Tensor, xs: list[torch.Tensor]):
        x = x * Holder[torch.Tensor](x).number()
        if functools.reduce(operator.add, [v.sum() for v in xs]) > 0:  # PTB110
            x = x + 1
        if functools.reduce(lambda a, b: a if a.any() else b, xs, x) is not None:  # PTB110
            x = x + 1
        if functools.reduce(operator.mul, x.shape, 1) > 0 and Kind["A"] is Kind.A:
            x = x + 1
        return x
""",
    "a member of an enumeration that others set is any": """
class Phase(enum.Enum):
    WATCH = 0
    ROUND = 1

class Rounding(nn.Module):
    def __init__(self):
        super().__init__()
        self.phase, self.mode, self.kind = Phase.WATCH, Phase.WATCH, Phase.WATCH

    def set_mode(self, mode):
        self.mode = mode

    def forward(self, x):
        if self.kind != Phase.WATCH:
            return x / x.max().item()
        if self.phase == Phase.WATCH:
            return x
        if self.mode is Phase.WATCH:
            return x - x.mean().item()  # PTB103
        return x * x.sum().item()  # PTB103

class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.rounding = Rounding()

    def set_phase(self, phase):
        for part in self.modules():
            if isinstance(part, Rounding):
                part.phase = phase

    def forward(self, x: torch.Tensor):
        return self.rounding(x)
""",
    "a pattern binds parts of what it matches": """
@dataclasses.dataclass
class Batch:
    x: torch.Tensor
    size: int

class M(nn.Module):
    def forward(self, batch: Batch, named: dict[str, torch.Tensor], pair: tuple[torch.Tensor, int]):
        match named:
            case {"a": a, "b": b, **rest} if a.sum() > 0:  # PTB110
                return a[b > 0]  # PTB120
        match batch:
            case Batch(x=x, size=size) if size > 2:
                return x.max() if x.any() else x  # PTB110
        match pair:
            case (first, second) if second > 1:
                return -first if first.sum() > 0 else first  # PTB110
        match named["a"].shape:
            case (n, m) if n > m:
                return n
            case (n, *more) if n > 1:
                return more
""",
    "a typed dictionary holds what its annotations say": """
class Batch(typing.TypedDict):
    x: torch.Tensor
    size: int

class M(nn.Module):
    def forward(self, batch: Batch):
        if batch["size"] > 3:
            return batch["x"]
        return batch["x"].sum().item()  # PTB103
""",
    "a mask has proven its dtype": """
class M(nn.Module):
    def forward(self, x: torch.Tensor, mask: torch.Tensor, i: torch.Tensor):
        assert mask.dtype == torch.bool
        if i.dtype != torch.bool:
            return x[mask] + x[i]  # PTB120
        return x
""",
    "the data of what the graph did not compute may be exchanged": """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(2, 2)

    def forward(self, x: torch.Tensor):
        weight = self.linear.weight
        weight.data = weight.data * 2
        weight.data += 1
        given = x
        given.data += 1
        y = x + 1
        y.data += 1  # PTB163
        return self.linear(x) + y
""",
    "a random number has been drawn by the break": """
class M(nn.Module):
    def forward(self, x: torch.Tensor):
        n = np.random.rand()  # PTB141
        if n > 0.5:
            return x
        for _ in range(int(n * 3)):
            x = x + 1
        return x
""",
    "what is computed of a random number is a plain one": """
import random

class M(nn.Module):
    def __init__(self, rate: float = 0.1):
        super().__init__()
        self.rate = rate

    def forward(self, x: torch.Tensor):
        y = x + 1
        n = 1 + self.rate * random.uniform(-1, 1)  # PTB141
        if n > 0.5:
            return y[:, : int(n * 3)]
        return y * random.uniform(0, 1)
""",
    "what no array has says that it is none": """
@torch.compile
def f(x: torch.Tensor, y: np.ndarray, z: np.ndarray):
    if y.pending() == 0:
        x = x + 1
    if z.astype(int) == 0:  # PTB110
        x = x + 1
    return x
""",
    "a starred name takes what the others leave": """
def read(x, flag):
    if flag:
        return x.sum(), len(x), None
    return x.mean(), 2, None

@torch.compile
def f(x: torch.Tensor, flag: bool):
    first, *rest = read(x, flag)
    *most, last = read(x, True)
    if first > 0:  # PTB110
        x = x + 1
    if rest[0] > 0 or most[1] > 1:
        x = x + 1
    if last is not None:
        x.sum().item()
    return x
""",
    "the type that is asked for is what comes out": """
class Own(torch.Tensor):
    pass

def converted(x, kind=None):
    kind = kind or type(x)
    if issubclass(kind, Own):
        return 1
    if issubclass(kind, torch.Tensor):
        return torch.as_tensor(x)
    if issubclass(kind, np.ndarray):
        return np.asarray(x)

@torch.compile
def f(x: torch.Tensor):
    if converted(x, torch.Tensor).dtype == torch.float32:
        x = x + 1
    if converted(x, np.ndarray).dtype == torch.float32:  # PTB109
        x = x + 1
    return x
""",
    "numbers of one origin in a loop are told where the first is a size": """
@torch.compile
def f(x: torch.Tensor, lengths: torch.Tensor):
    for _ in range(3):
        n = lengths.max()
        x = x[:n]  # PTB106
        x = x + torch.zeros(n)
    return x
""",
    "a function that makes a layer is no layer": """
from inspect import isfunction

def create(layer):
    if isfunction(layer):
        return layer()
    assert isinstance(layer, nn.Module)
    return layer

class Block(nn.Linear):
    def __init__(self, activation=lambda: nn.PReLU(2)):
        super().__init__(2, 2)
        self.activ = create(activation)

    def forward(self, x: torch.Tensor):
        return self.activ(super().forward(x))

class Net(nn.Module):
    def __init__(self, n: int):
        super().__init__()
        self.block = Block(activation=lambda: nn.PReLU(n))

    def forward(self, x: torch.Tensor):
        return self.block(x)
""",
    "a list of modules holds no functions": """
class Repeat(nn.Module):
    def __init__(self, block, depth: int):
        super().__init__()
        made = [block for _ in range(depth)]
        if not isinstance(made[0], nn.Module):
            made = [each(i) for i, each in enumerate(made)]
        self.blocks = nn.ModuleList(made)

    def forward(self, x: torch.Tensor):
        for block in self.blocks:
            x = block(x)
        return x

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = Repeat(lambda index: nn.Linear(2, 2, bias=[True, False][index]), 2)

    def forward(self, x: torch.Tensor):
        return self.body(x)
""",
}


@pytest.mark.parametrize("name", READ)
def test_found_where_the_comments_say(name: str) -> None:
    source = HEAD + READ[name]
    assert sorted((f.line, f.code) for f in findings(source)) == announced(source)


REPLACED = """
def dispatched(cls=None, *, table={{}}):
    def wrapper(cls):
        original = cls.forward

        def forward(self, *args):
            {run}

        cls.forward = forward
        return cls

    return wrapper if cls is None else wrapper(cls)

@dispatched{call}
class Experts(nn.Module):
    def forward(self, x: torch.Tensor):
        return x[x > 0] + x.sum().item()

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.experts = Experts()

    def forward(self, x: torch.Tensor):
        return self.experts(x)
"""


@pytest.mark.parametrize("call", ["", "()", "(table={1: 2})"])
def test_a_class_decorator_may_put_another_forward_in_its_place(call: str) -> None:
    chosen = "return table.get(self.kind, original)(self, *args)"
    assert sure(REPLACED.format(run=chosen, call=call)) == []
    called = sure(REPLACED.format(run="return original(self, *args)", call=call))
    assert {code for code, _ in called} == {"PTB103", "PTB120"}


MERGED = """
class Layer(nn.Module):
    {kept}

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(2, 2)
        self._disabled = False
        {init}

    @property
    def merged(self) -> bool:
        return bool(self.names)

    @property
    def disabled(self) -> bool:
        return self._disabled

    def merge(self, name):
        self.names.append(name)

    def unmerge(self):
        while len(self.names) > 0:
            self.names.pop()

    def enable(self, flag):
        self._disabled = not flag

    def forward(self, x: torch.Tensor):
        if self.merged:
            self.unmerge()
            x.sum().item()
        if self.disabled:
            x.sum().tolist()
        return x
"""


@pytest.mark.parametrize("kept", ["names: list[str] = []", "names = []", ""])
def test_a_flag_is_read_through_a_property(kept: str) -> None:
    source = HEAD + MERGED.format(kept=kept or "pass", init="" if kept else "self.names = []")
    found = {f.when: f.note for f in findings(source)}
    assert found == {("self.merged",): "`self.merged` is off by default"}


@pytest.mark.parametrize(("put", "told"), [("self.key", 1), ("'idx'", 0)])
def test_a_dictionary_holds_what_its_annotation_says(put: str, told: int) -> None:
    """Where something of which nobody knows what it is was put under another key."""
    code = f"""
class M(nn.Module):
    def __init__(self, layer, key):
        super().__init__()
        self.layer, self.key = layer, key

    def forward(self, inputs: typing.Dict[str, torch.Tensor]):
        inputs[{put}] = self.layer(inputs["x"])
        return inputs["x"] * int(inputs["idx"][-1])
"""
    assert [code for code, _ in sure(code)] == ["PTB104"] * told


def test_what_a_context_manager_of_the_project_does_is_traced() -> None:
    code = """
class Scale:
    def __init__(self, x):
        self.x = x

    def __enter__(self):
        self.factor = self.x.max().item()
        return self

    def __exit__(self, *error):
        return self.x.min().tolist()

class M(nn.Module):
    def forward(self, x: torch.Tensor):
        with Scale(x) as scale:
            return x * scale.factor
"""
    assert [code for code, _ in sure(code)] == ["PTB103", "PTB105"]


@pytest.mark.parametrize("manager", ["torch.random.fork_rng()", "torch.cuda.nvtx.range('step')"])
def test_a_helper_may_make_the_context_manager(manager: str) -> None:
    code = f"""
def around(wanted):
    return {manager} if wanted else None

class M(nn.Module):
    def forward(self, x: torch.Tensor):
        with around(True):
            return x + 1
"""
    assert sure(code) == [("PTB180", "with around(True):")]


def test_whether_a_gradient_is_required_may_hang_on_the_mode(tmp_path: Path) -> None:
    code = """
class M(nn.Module):
    def forward(self, x: torch.Tensor, flag: bool):
        y = torch.zeros(1, requires_grad=self.training)
        return x + y + torch.zeros(1, requires_grad=flag)
"""
    path = tmp_path / "m.py"
    for deciding in ("self.training", "x.requires_grad"):
        path.write_text(HEAD + code.replace("self.training", deciding))
        assert [(f.code, f.when) for f in lint([str(path)]).findings] == [("PTB161", (deciding,))]


def test_a_size_that_is_set_once_or_written_first_is_no_cache() -> None:
    code = """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.n, self.longest, self.width, self.zero = None, 0, 1, 0

    def forward(self, x: torch.Tensor):
        if self.n is None:
            self.n = x.shape[0]
        if self.zero == 0:
            self.zero = x.shape[0]
        self.width = x.shape[1]
        if self.width > x.shape[0]:
            self.width = x.shape[0]
        if x.shape[0] > self.longest:
            self.longest = x.shape[0]
        return x
"""
    sizes = [(code, line) for code, line in sure(code) if code == "PTR214"]
    assert sizes == [("PTR214", "self.longest = x.shape[0]")]


ONCE = {
    "if not self.ready:\n    {item}\n    self.ready = True": "once",
    "if self.ready:\n    return x\n{item}\nself.ready = True": "once",
    "if self.ready:\n    return x\nif self.flag:\n    self.ready = {item}\nelse:\n    self.ready = 2": "once",
    "if self.ready:\n    return x\nif self.flag:\n    self.ready = {item}\nelse:\n    self.cos = 2": "",
    "if self.ready:\n    return x\nself.ready.data.copy_(x.sum().item())": "once",
    "if not self.ready:\n    self.prepare(x)": "once",
    "if not self.ready or x is None:\n    {item}\n    if self.flag:\n        self.ready = True": "once",
    "if self.ready:\n    {item}\n    if self.flag:\n        self.ready = True": "",
    "if self.cos is None:\n    self.register_buffer('cos', {item})": "once",
    "if not hasattr(self, 'table'):\n    self.table = {item}": "once",
    "if self.kind not in self.tables:\n    self.tables[self.kind] = {item}": "once",
    "self.told[self.kind] += 1\nif self.told[self.kind] <= 3:\n    print({item})": "once",
    "self.told[self.kind] += 1\nif self.told[self.kind] <= 3:\n    x = {item}": "",
    "self.told[self.kind] += 1\nif self.told[self.kind] >= 3:\n    print({item})": "",
    "global READY\nif not READY:\n    READY = True\n    {item}": "once",
    "if self.ready:\n    return x\n{item}": "",
    "if self.flag:\n    return x\nraise ValueError({item})": None,
    "if self.flag:\n    return x\ny = {item}\nraise ValueError(y)": "on an error path",
    "if self.flag:\n    return x\nif self.kind == 'a':\n    return x * {item}\nraise ValueError(self.kind)": "",
    "if self.flag:\n    y = {item}\n    for i in range(3):\n        break\n    raise ValueError(y)": "on an error path",
    "for i in range(3):\n    if self.flag:\n        if self.kind == 'a':\n            x = x * {item}\n"
    "            continue\n        raise ValueError(self.kind)": "",
}


@pytest.mark.parametrize("body", ONCE)
def test_what_runs_once_says_so(body: str) -> None:
    def indented(text: str) -> str:
        return "\n".join("        " + line for line in text.split("\n"))

    code = f"""
READY = False

class M(nn.Module):
    def __init__(self, flag: bool, kind: str):
        super().__init__()
        self.flag, self.kind, self.tables = flag, kind, {{}}
        self.register_buffer("ready", torch.tensor(False))
        self.register_buffer("cos", None)
        self.ready: bool = flag

    def prepare(self, x):
        with torch.no_grad():
            self.ready = True
        return x.sum().item()

    def forward(self, x: torch.Tensor):
{indented(body.format(item="x.sum().item()"))}
"""
    source = HEAD + code + ("" if "raise" in body else "        return x\n")
    expected = ONCE[body]
    assert [f.note for f in findings(source) if f.code == "PTB103"] == (
        [] if expected is None else [expected]
    )


def test_the_way_that_is_told_is_one_way() -> None:
    code = """
def helper(x):
    if x > 0:
        return 1

class B(nn.Module):
    def forward(self, x: torch.Tensor):
        for _ in range(3):
            helper(x)

class A(nn.Module):
    def forward(self, x: torch.Tensor | int):
        return helper(x)
"""
    [found] = [f for f in findings(HEAD + code) if f.code == "PTB110"]
    assert "a loop of `B.forward`" in found.message
    assert found.flow[0].message == "`B.forward` is compiled"


def test_marking_a_size_raises_while_tracing() -> None:
    source = (
        HEAD
        + "class M(nn.Module):\n    def forward(self, x: torch.Tensor):\n        if torch._C._is_tracing():\n"
        "            return x\n        torch._dynamo.mark_dynamic(x, 0)\n        return x\n"
    )
    [query, mark] = findings(source)
    assert query.code == "PTB186"
    assert "raises an error in compiled code: call it before" in mark.message


def test_what_a_decorator_makes_of_many_functions_is_never_mixed_up() -> None:
    many = 45
    code = """
def traced(f):
    def wrapper(self, *args):
        return f(self, *args)

    return wrapper
""" + "".join(
        f"""
class M{n}(nn.Module):
    @traced
    def forward(self, x: torch.Tensor):
        return x.sum().item() + {n}

class Outer{n}(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = M{n}()

    def forward(self, x: torch.Tensor):
        for _ in range(2):
            self.inner(x)
"""
        for n in range(many)
    )
    found = [f for f in findings(HEAD + code) if f.code == "PTB103"]
    assert len(found) == many
    for n, finding in enumerate(found):
        assert f"a loop of `Outer{n}.forward`" in finding.message


PARTS = """
class Net(torch.nn.Module):
    def __init__(self, dim, make_split, **parts):
        super().__init__()
        self.split = make_split(dim)
        self.view = parts.pop("view")

    def forward(self, x: torch.Tensor, other):
        y = self.view(self.split(x.cos()))
        return y + other.view(x.sum(), 2)
"""


def test_a_part_of_a_module_called_like_a_method_of_tensors_is_given_no_size() -> None:
    assert sure(PARTS) == [("PTB106", "return y + other.view(x.sum(), 2)")]


FILLED = """
@torch.compile
def f(x: torch.Tensor, t{annotation}):
    {text}
    return torch.full_like(x, t)
"""


@pytest.mark.parametrize(
    ("annotation", "text", "told"),
    [
        ("", "if isinstance(t, torch.Tensor):\n        t = t.float()", True),
        ("", "if not torch.is_tensor(t):\n        t = x.mean()", True),
        ("", "if isinstance(t, torch.Tensor):\n        return x + t", False),
        (": float | torch.Tensor", "x = x + 1", False),
    ],
)
def test_a_fill_value_that_is_a_tensor_on_some_path(annotation: str, text: str, told: bool) -> None:
    found = sure(FILLED.format(annotation=annotation, text=text))
    assert found == [("PTB106", "return torch.full_like(x, t)")] * told


HELD = """
@torch.compile
def f(optimizer, x: torch.Tensor, flag):
    for group in optimizer.param_groups:
        for p in group["params"]:
            p.requires_grad = flag
    return x + 1
"""


def test_a_flag_of_parameters_in_an_optimizer_of_no_known_class() -> None:
    assert sure(HELD) == [("PTB161", "p.requires_grad = flag")]


def test_the_shape_of_what_nobody_knows_holds_numbers() -> None:
    code = """
def mask(lengths, longest=None):
    if longest is None:
        longest = lengths.max()
    return torch.arange(longest)

@torch.compile
def f(x: torch.Tensor, given):
    return mask(x, given.pair[0].shape[1])
"""
    assert sure(code) == []
    assert len(sure(code.replace(".shape[1]", ""))) == 1


LISTED = """
class Styled(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)

    def forward(self, styles, more=None):
        if more is None:
            styles = [self.layer(style) for style in styles]
        {changed}
        if len(styles) == 1:
            return styles[0]
        return styles[0] * styles[1].sum().item()

class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.styled, self.layer = Styled(), nn.Linear(2, 2)

    def forward(self, x: torch.Tensor):
        return self.styled([self.layer(x)])
"""


@pytest.mark.parametrize(
    "changed",
    [
        "",
        "styles.append(more)",
        "styles += [more]",
        "styles.pop()",
        "del styles[0]",
        "styles = [style for style in styles if len(style)]",
    ],
)
def test_a_list_is_as_long_as_the_code_makes_it(changed: str) -> None:
    assert len(sure(LISTED.format(changed=changed))) == bool(changed)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("mask = sky(other.sky)\n        return out.depth[mask]", 1),
        ("mask = sky(other.get)\n        return out.depth[mask]", 0),  # a method that dictionaries have
        ("return 1 if out.metric else 2", 0),  # which may hold something else there
        ("return 1 if out.shape[0] > 2 else 2", 0),  # which it is not
        ("return 1 if out.ndim > 2 else 2", 0),
    ],
)
def test_a_dictionary_whose_keys_are_attributes(line: str, told: int) -> None:
    code = f"""
def sky(x: torch.Tensor) -> torch.Tensor:
    return x < 0.3

class M(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def align(self, out: dict[str, torch.Tensor], other: dict[str, torch.Tensor]):
        {line}

    def forward(self, x: torch.Tensor):
        return x * self.align(self.net(x), self.net(x + 1))
"""
    assert len(sure(code)) == told


@pytest.mark.parametrize(("given", "told"), [("List", 0), ("list", 0), ("Sized", 1)])
def test_what_a_caller_says_is_a_list_is_no_tensor(given: str, told: int) -> None:
    code = f"""
from typing import List, Sized
class Layer(nn.Module):
    def forward(self, x: torch.Tensor, lengths: torch.Tensor = None):
        start = 0
        for length in lengths:
            x = x[:, start : start + length] + 1
            start += length
        return x

class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = Layer()

    def forward(self, x: torch.Tensor, lengths: {given} = None):
        return self.layer(x, lengths=lengths)
"""
    assert len(sure(code)) == told


@pytest.mark.parametrize(
    ("kind", "told"), [("tuple[torch.Tensor, torch.Tensor]", 0), ("torch.Tensor", 1), ("list", 0)]
)
def test_where_two_annotations_differ_neither_is_trusted(kind: str, told: int) -> None:
    code = f"""
class Layer(nn.Module):
    def forward(self, x: torch.Tensor, past: {kind}):
        if past:
            x = x + 1
        return x

class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = Layer()

    def forward(self, x: torch.Tensor, past: tuple[torch.Tensor, torch.Tensor]):
        for each in past {{chosen}}:
            x = self.layer(x, each)
        return x
"""
    for chosen in ("", "or [None]"):
        assert len(sure(code.format(chosen=chosen))) == told


TYPED = """
class Batch:
    pass

class M(nn.Module):
    def forward(self, x: torch.Tensor):
        return x if isinstance({given}, {kinds}) else x * x.sum().item()
"""


@pytest.mark.parametrize(
    ("kinds", "given", "told"),
    [
        ("dict | Batch", "{}", 0),
        ("(Batch, dict)", "{}", 0),
        ("int | torch.Tensor", "x", 0),
        ("list | Batch", "x", 1),
    ],
)
def test_a_union_of_types_is_several(kinds: str, given: str, told: int) -> None:
    code = TYPED.format(kinds=kinds, given=given)
    assert len(sure(code)) == told


TURNED = """
class Turned(nn.Module):
    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        return super().__call__(x)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x.transpose_(1, 2)
        return x + 1
"""
CODEC = """
class Codec(nn.Module):
    def __init__(self, config=None):
        super().__init__()
        self.encoder = nn.Conv1d(4, 4, 3)
        self.turned = Turned(**config) if config is not None else None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.encoder(x)
        return x if self.turned is None else self.turned(x)
"""


def test_what_a_module_with_a_call_of_its_own_is_given_is_what_others_call_it_with() -> None:
    assert sure(TURNED) == [("PTB164", "x.transpose_(1, 2)")]
    assert sure(TURNED + CODEC) == []


RUNNER = """
class Runner:
    def __call__(self, x: torch.Tensor):
        return x.sum().item()

def build(model: nn.Module):
    return torch.compile(model)
"""


@pytest.mark.parametrize("chosen", [True, False])
def test_of_what_is_compiled_under_one_name_the_modules_are(chosen: bool) -> None:
    given = "nn.Linear(2, 2) if len(HERE) > 1 else Runner()" if chosen else "Runner()"
    told = sure(f"{RUNNER}\nfrom here import HERE\nbuild({given})\n")
    assert len(told) == (not chosen)


def test_an_object_around_a_module_is_none() -> None:
    code = """
class Runner:
    def __init__(self, model: ANNOTATION):
        self.model = model

    def __call__(self, x: torch.Tensor):
        return self.built(x) * x.sum().item()

    def build(self):
        self.built = torch.compile(self.model)

Runner(Runner(None)).build()
"""
    assert len(sure(code.replace("ANNOTATION", "object"))) == 1
    assert sure(code.replace("ANNOTATION", "nn.Module")) == []


NAMED = """
def of(scheme):
    return scheme.{attribute}

class M(nn.Module):
    def forward(self, x: torch.Tensor, scheme=None):
        of(scheme)
        return x if scheme {asked} else x * 2
"""


@pytest.mark.parametrize(("asked", "told"), [("", 0), ("> 0", 1)])
def test_what_is_asked_to_be_there_is_no_tensor_for_one_attribute(asked: str, told: int) -> None:
    code = NAMED.format(attribute="requires_grad", asked=asked)
    assert len(sure(code)) == told


OF_CLASS = """
class Norm(nn.Module):
    def forward(self, x: torch.Tensor):
        return x * 2

class Deep(Norm):
    def forward(self, x: torch.Tensor):
        return x.sum().item()

class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleList([nn.LSTM(2, 2), Norm()])

    def forward(self, x: torch.Tensor):
        for part in self.parts:
            if isinstance(part, {kind}):
                x = part(x)
            else:
                x = x + 1
        return x
"""


@pytest.mark.parametrize(("kind", "told"), [("Norm", 0), ("(Norm, Deep)", 0), ("nn.LSTM", 1)])
def test_a_part_of_a_class_of_the_project_is_no_other(kind: str, told: int) -> None:
    found = sure(OF_CLASS.format(kind=kind))
    assert sum(line == "x = part(x)" for _, line in found) == told


NUMBERS = """
import math
import os
from dataclasses import dataclass
from functools import partial, wraps
from packaging import version

def only(kind, fn=None, *, gather=False):
    def wrapper(fn):
        @wraps(fn)
        def wrapped(*args):
            out = fn(*args)
            if gather:
                out = out * out.sum().item()
            return out
        return wrapped
    return wrapper if fn is None else wrapper(fn)

only_here = partial(only, "here")

def reads(x):
    return x * x.sum().item()

if version.parse(torch.__version__) >= version.parse("1.9.0"):
    read = torch.sin
else:
    read = reads

MODE = os.environ.get("MODE")
if MODE == "sums":
    MODE = reads
else:
    MODE = torch.sin

if version.parse(torch.__version__) < version.parse("1.9.0"):
    read_now = torch.sin
elif version.parse(torch.__version__) >= version.parse("1.10.0"):
    read_now = reads
else:
    read_now = torch.cos

@dataclass
class Batch:
    x: torch.Tensor
    mask: torch.Tensor | None = None

    def summed(self):
        return self.x if self.mask is None else self.x * self.mask.sum().item()

class M(nn.Module):
    def __init__(self, options, size=4):
        super().__init__()
        self.layer, self.flag, self.hint = nn.Linear(2, 2), size > 3, options.get("hint")
        self.n, self.ends = np.int(2 ** np.ceil(size)), (np.int64(1), np.array([1, 2]).sum())
        self.scale, self.width = 1 / np.sqrt(size), np.log2(options["width"])
        self.scales = np.sqrt([size, 2])

    @only_here
    def doubled(self, x):
        return x * 2

    def forward(self, x: torch.Tensor, y: torch.Tensor):
        {body}
        return self.layer(x)
"""


@pytest.mark.parametrize(
    ("body", "told"),
    [
        # what stands beside a star keeps its place
        ("a, b, c, flag = *x.shape, y, self.flag\n        x = x * 2 if flag else x + 1", 0),
        ("a, b, c, flag = *x.shape, y, self.flag\n        x = x * 2 if a > 2 else x + 1", 0),
        ("a, b, c, flag = *x.shape, y, self.flag\n        x = x * 2 if c else x + 1", 1),
        ("c, *rest, flag = y, *x.shape, self.flag\n        x = x * 2 if flag else x + 1", 0),
        # no torch that pt2lint speaks of is so old
        ("x = x * x.sum().item() if torch.__version__ < '2.0' else x", 0),
        ("x = x if torch.__version__ >= '2.6.0' else x * x.sum().item()", 0),
        ("x = x * x.sum().item() if torch.__version__ <= (1, 13) else x", 0),
        ("x = x * x.sum().item() if version.parse(torch.__version__) < version.parse('1.9.0') else x", 0),
        ("x = x * x.sum().item() if int(torch.__version__.split('.')[0]) < 2 else x", 0),
        ("x = x * x.sum().item() if torch.__version__.split('+')[0] < '1.10' else x", 0),
        ("x = x * x.sum().item() if torch.__version__.startswith(('0.', '1.')) else x", 0),
        ("x = x * x.sum().item() if torch.__version__ < '2.9' else x", 1),
        ("x = x * x.sum().item() if torch.__version__ > '2.0' else x", 1),
        ("x = x * x.sum().item() if torch.__version__.startswith('2.1') else x", 1),
        # nor is what such a test leaves out at the top level
        ("x = read(x)", 0),
        ("x = read_now(x)", 1),
        ("x = MODE(x)", 1),
        # what an assertion says of a flag holds after it
        ("assert self.training is False\n        x = x * x.sum().item() if self.training else x", 0),
        ("assert not self.flag and x.ndim > 1\n        x = x * x.sum().item() if self.flag else x", 0),
        ("assert self.flag\n        x = x * x.sum().item() if self.flag else x", 1),
        # a field that is given nothing is None
        ("x = Batch(x).summed()", 0),
        ("x = Batch(x, y).summed()", 1),
        # a number of NumPy that an object keeps is read as a constant, and its test ends the graph
        ("x = x * 2 if self.scale > 0.5 else x", 1),
        ("x = x * 2 if self.width else x", 1),
        ("x = x * 2 if self.n > 2 else x", 0),
        # whole numbers of NumPy that an object keeps are sizes in the graph; `np.int` is Python's own
        ("x = x[: self.n // 2]", 0),
        ("x = x[self.ends[0] : self.ends[1]]", 0),
        ("first, last = self.ends\n        x = x[first:last]", 0),
        ("x = x[: np.int64(2)]", 1),
        # and so are others, which are Python's own too, not an array or what is made while tracing
        ("x = x * math.sqrt(self.scale)", 0),
        ("x = x[: int(self.width)] * self.width.item()", 0),
        ("x = x * float(self.scales[0])", 1),
        ("x = x * np.ceil(np.log(x.shape[0])).astype('int').item()", 1),
        # a text is no flag; models are given no texts
        ("keep = 'mask'\n        x = x * x.sum().item() if keep is False else x", 0),
        ("keep = 'mask'\n        x = x * x.sum().item() if keep is not False else x", 1),
        ("if isinstance(self.hint, (str,)) and x.sum() > 0:\n            x = x + 1", 0),
        ("if isinstance(self.hint, (str, dict)) and x.sum() > 0:\n            x = x + 1", 1),
        # a table is equal to no tensor
        ("x = x + 1 if y == {} or {'a': 1} != y else x", 0),
        # a function closes over what the functions around it close over
        ("x = self.doubled(x)", 0),
    ],
)
def test_numbers_that_are_known(body: str, told: int) -> None:
    assert len(sure(NUMBERS.format(body=body))) == told


def test_a_path_is_no_tensor_for_its_absolute() -> None:
    code = """
@torch.compile
def f(x: torch.Tensor, file):
    place = file.absolute()
    return x.sigmoid(), str(file)
"""
    assert sure(code) == []


@pytest.mark.parametrize("said", ["pd.Series", '"pd.Series"', "pd.Series | None", "Series"])
def test_what_a_library_of_tables_makes_is_no_tensor(said: str) -> None:
    code = f"""
import pandas as pd
from pandas import Series

@torch.compile
def total(x: torch.Tensor, values: {said}, other):
    if values.sum() > 0:
        x = x + 1
    return x if other.sum() > 0 else -x
"""
    found = [each for each in findings(HEAD + code) if each.code != "PTB185"]
    assert [each.message.partition(" makes")[0] for each in found] == ["`other.sum() > 0`"]


def test_what_functions_are_called_of_is_no_tensor() -> None:
    code = """
from arrays import namespace

class M(nn.Linear):
    def forward(self, x: torch.Tensor, y):
        x = super().forward(x)
        xp = namespace(x)
        a = xp.reshape(x, (x.shape[0], 2))
        b = y.reshape(x.shape[0], 2)
        return a, y.sum().item(), shaped(xp, x)

def shaped(xp, x):
    return xp.reshape(x, (2, 2)) if xp.ready else x
"""
    assert [code for code, _ in sure(code)] == ["PTB103"]


def test_of_a_tensor_or_an_object_a_parameter_takes_what_its_annotation_says() -> None:
    code = """
class Rows:
    def __init__(self, values: torch.Tensor):
        self.values = values

    def __getitem__(self, index):
        return self.values[self.values > 0]

class Encoder(nn.Linear):
    def forward(self, x: torch.Tensor | Rows):
        return self.encode(x)

    def encode(self, x{said}):
        return x[0]
"""
    assert not sure(code.replace("{said}", ": torch.Tensor"))
    assert [each for each, _ in sure(code.replace("{said}", ""))] == ["PTB120"]


CACHED = """
class Cache(nn.Module):
    def update(self, x):
        return x[x > 0]

class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.cache = None

    def forward(self, x: torch.Tensor):
        return x if self.cache is None else self.cache.update(x)

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Layer() for _ in range(2)])

    def set_up(self):
        for layer in self.layers:
            {line}

    def forward(self, x: torch.Tensor):
        for layer in self.layers:
            x = layer(x)
        return x

def set_up(model):
    {elsewhere}
"""


@pytest.mark.parametrize(
    ("line", "elsewhere", "told"),
    [
        ("layer.cache = Cache()", "pass", True),
        ("pass", "model.layers[0].cache = Cache()", True),
        ("layer.cache = None", "assert model.layers[0].cache == Cache()", False),
        ("self.cache = Cache()", "cache = Cache()", False),
    ],
)
def test_what_code_outside_puts_into_an_object(line: str, elsewhere: str, told: bool) -> None:
    found = sure(CACHED.format(line=line, elsewhere=elsewhere))
    assert found == ([("PTB120", "return x[x > 0]")] if told else [])


def test_a_step_that_nothing_compiles_is_not_compiled_again(tmp_path: Path) -> None:
    (tmp_path / "__init__.py").touch()
    code = """
def train(model: nn.Module, x: torch.Tensor):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for group in optimizer.param_groups:
        group["lr"] = 1e-4
    model(x).sum().backward()
    optimizer.step()
"""
    compiled = f"{code}\nfast = torch.compile(train)\n"
    assert "PTR201" not in [each for each, _ in sure(code, tmp_path)]
    assert "PTR201" in [each for each, _ in sure(compiled, tmp_path)]


def test_what_is_not_sparse_is_dense() -> None:
    code = """
class Layer(nn.Linear):
    def forward(self, x, adj):
        if x.data.is_sparse:
            y = torch.spmm(x, self.weight)
        else:
            y = torch.mm(x, self.weight)
        return torch.spmm(adj, y)
"""
    lines = {line for _, line in sure(code)}
    assert "return torch.spmm(adj, y)" in lines
    assert "y = torch.mm(x, self.weight)" not in lines


def test_a_data_set_that_is_asked_for_a_name_is_a_batch_of_it() -> None:
    code = """
from torch.utils.data import Dataset

class Fields(dict):
    def __getitem__(self, key):
        return dict(self.items())[key] if isinstance(key, str) else tuple(self.values())[key]

class Rows(Dataset):
    def __init__(self, rows):
        self.rows = rows

    def __getitem__(self, at):
        return Fields(rows=self.rows[at])

class Net(nn.Module):
    def forward(self, inputs: Rows):
        order = torch.randperm(4)
        return inputs[WHAT][order] * 2
"""
    assert sure(code.replace("WHAT", '"rows"')) == []
    assert {code for code, _ in sure(code.replace("WHAT", "0"))} == {"PTB106"}


def test_the_data_of_what_a_compiled_function_is_given() -> None:
    code = "import torch\n@torch.compile\ndef f(x):\n    x.data = x.data.clamp(0, 1)\n    return x * 2\n"
    assert sure(code + "f(torch.randn(3) * 2)\n") == []
    computed = code.replace("    x.data", "    x = x + 1\n    x.data")
    assert sure(computed + "f(torch.randn(3))\n") == [("PTB163", "x.data = x.data.clamp(0, 1)")]


@pytest.mark.parametrize(
    ("given", "body", "found"),
    [
        ("self.width", "size = width // heads\n    return x.view(-1, heads, size)", 0),
        ("self.width", "size = width // heads\n    return x.view(-1, heads, size).view(-1, width)", 0),
        # what the caller knows, what is left out, and what is done with tensors alone
        ("x.argmax()", "size = width // heads\n    return x.view(-1, heads, size)", 1),
        ("self.width", "size = width.max() // heads\n    return x.view(-1, heads, size)", 1),
    ],
)
def test_a_number_that_is_annotated_like_its_neighbours(given: str, body: str, found: int) -> None:
    code = f"""
def attend(x: torch.Tensor, heads: int, width: typing.Optional[torch.Tensor] = None):
    {body}

class M(nn.Module):
    def __init__(self, embed, width=None):
        super().__init__()
        self.layer = nn.Linear(8, 8)
        self.width = width if width is not None else embed

    def forward(self, x: torch.Tensor):
        return attend(self.layer(x), 2, width={given})
"""
    assert len([code for code, _ in sure(code) if code in ("PTB104", "PTB106")]) == found


WRAPPED_AFTERWARDS = """
import warnings

def tell():
    warnings.warn("so be it")

tell = torch.compiler.assume_constant_result(tell)
"""


@pytest.mark.parametrize(
    ("before", "init", "body"),
    [
        # a function that is wrapped once it is defined, a flag of a recurrent module
        (WRAPPED_AFTERWARDS, "", "tell()"),
        ("", "self.layer = nn.GRU(2, 2)", "x = x + 1 if self.layer.bias else x"),
        # what follows arguments of which nobody knows how many there are
        (
            "def shifted(ctx, x, flags: typing.Tuple = ()):\n    flag, _ = flags\n    return x + 1 if flag else x\n",
            "",
            "shifted(None, *self.before, x, (1, 2))",
        ),
    ],
)
def test_what_was_taken_for_a_tensor_or_for_a_break(before: str, init: str, body: str) -> None:
    code = f"""{before}
class M(nn.Module):
    def __init__(self):
        super().__init__()
        {init}

    def forward(self, x: torch.Tensor):
        x = x * 2
        {body}
        return x + 1
"""
    assert sure(code) == []


@pytest.mark.parametrize(("use", "told"), [("batch['x'].unsqueeze(0).sum()", 1), ("batch['x']", 0)])
def test_of_a_list_or_a_tensor_what_has_the_method_is_meant(use: str, told: int) -> None:
    code = f"""
class M(nn.Module):
    def forward(self, batch: dict[str, torch.Tensor], name):
        batch[name] = [batch[key] for key in self.names]
        total = {use}
        return batch["x"], total.item()
"""
    assert len(sure(code)) == told


def test_an_object_with_a_compile_of_its_own_is_no_module() -> None:
    code = """
from served import Served

class Request(Served):
    def compile(self):
        self.request = self.engine.request()

    def forward(self, x):
        print(x)
        return self.request(x.detach())
"""
    assert sure(code) == []
    assert sure(code.replace("compile", "prepare")) != []


@pytest.mark.parametrize(
    ("compiled", "severity"),
    [
        ("self.net = torch.compile(self.net)", "warning"),
        ("self.net.forward = torch.compile(self.net.forward)", "note"),
    ],
)
def test_a_module_of_which_the_forward_is_compiled_is_no_wrapper(compiled: str, severity: str) -> None:
    code = f"""
class Net(nn.Module):
    def forward(self, x):
        return x * 2

class Sampler:
    def __init__(self, net: nn.Module):
        self.net = net
        if not isinstance(self.net, Net):
            raise ValueError

    def speed_up(self):
        {compiled}

    def __call__(self, x):
        return self.net(x)
"""
    assert {f.severity for f in findings(HEAD + code) if f.code == "PTS304"} == {severity}


def test_a_function_that_is_wrapped_in_a_file_that_is_not_linted(tmp_path: Path) -> None:
    (tmp_path / "told.py").write_text(f"import torch\n{WRAPPED_AFTERWARDS}")
    code = """
from told import tell

class M(nn.Module):
    def forward(self, x: torch.Tensor):
        x = x * 2
        tell()
        return x + 1
"""
    assert sure(code, tmp_path) == []


def test_each_class_has_its_own_part_of_a_method_that_all_inherit() -> None:
    code = """
class Base(nn.Module):
    def forward(self, x, y):
        return self.inner(x @ y)
"""
    body = "    def inner(self, x):\n        if x.sum() > {0}:\n            return -x\n        return x\n"
    for i in range(40):
        code += f"\nclass Loss{i}(Base):\n{body.format(i)}"
    assert sure(code) == [("PTB110", f"if x.sum() > {i}:") for i in range(40)]


@pytest.mark.parametrize(
    ("made", "told"),
    [
        ("if mask is None:\n            mask = torch.ones(2, 2)", True),
        ("mask = torch.ones(2, 2) if mask is None else mask", True),
        ("mask = mask if mask is not None else torch.ones(2, 2)", True),
        ("if mask is None:\n            mask = [[1.0]]", False),
        ("if mask is None:\n            mask = self.table", False),
        ("mask = torch.ones(2, 2) if mask is None else torch.tensor(mask)", False),
        (
            "if mask is None:\n            mask = torch.ones(2, 2)\n        "
            "else:\n            mask = torch.tensor(mask)",
            False,
        ),
    ],
)
def test_what_is_a_tensor_where_it_is_left_out_is_one(made: str, told: bool) -> None:
    code = f"""
class M(nn.Module):
    def forward(self, x: torch.Tensor, mask=None):
        if mask is not None and mask[0, 0] >= 1.0:
            x = x + 1
        {made}
        return x * mask
"""
    test = ("PTB110", "if mask is not None and mask[0, 0] >= 1.0:")
    assert sure(code) == [test] * told


@pytest.mark.parametrize("left", [False, True])
def test_what_a_context_manager_turns_on_it_turns_off(left: bool) -> None:
    code = f"""
class Thawed:
    def __init__(self, module):
        self.module = module

    def __enter__(self):
        self.module.requires_grad_(requires_grad=True)

    def __exit__(self, *error):
        self.module.requires_grad_({left})

class M(nn.Module):
    def forward(self, x: torch.Tensor):
        with Thawed(self):
            return x * 2
"""
    told = ["self.module.requires_grad_(requires_grad=True)", "self.module.requires_grad_(False)"]
    assert sure(code) == [("PTB161", line) for line in told if not left]


@pytest.mark.parametrize("loop", [False, True])
def test_a_loop_that_computes_gradients_is_left_before_they_are_wanted(loop: bool) -> None:
    code = f"""
class M(nn.Module):
    def forward(self, x: torch.Tensor):
        {"for _ in range(3)" if loop else "with torch.enable_grad()"}:
            y = x.detach() + 1
            y.requires_grad_()
            grad = torch.autograd.grad((y * y).sum(), y)[0]
            x = y.detach() - grad
        return x
"""
    computed = ("PTB160", "grad = torch.autograd.grad((y * y).sum(), y)[0]")
    assert sure(code) == ([computed] if loop else [("PTB161", "y.requires_grad_()"), computed])


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("y = int(batch['n'].sum())", "PTB104"),
        ("y = float(batch.mask.mean())", "PTB104"),
        ("for i in range(batch[1].max()): pass", "PTB106"),
        ("y = x.view(batch['n'].max(), -1)", "PTB106"),
        ("if batch['loss'].max() > 3: pass", "PTB110"),
        ("y = x[batch['labels'] != -100]", "PTB120"),
        ("y = x[:, batch.mask == 1]", "PTB120"),
        ("y = x[batch['split'] == 'train']", ""),
        ("x[batch['mask'] == 0] = 0", ""),
        ("y = x * batch['dist'].mean", ""),
        ("y = int(batch['n'].sum(1, 2))", ""),
        ("y = int(len(batch['n']))", ""),
    ],
)
def test_what_a_batch_holds_is_told_by_what_tensors_alone_can(line: str, code: str) -> None:
    source = f"""
class M(nn.Module):
    def forward(self, x: torch.Tensor, batch):
        {line}
        return x
"""
    assert sure(source) == [(code, line)] * bool(code)


def test_what_compares_a_part_of_a_batch_and_then_chooses_is_a_mask() -> None:
    source = """
class M(nn.Module):
    def forward(self, x, batch):
        keep = batch["labels"] >= 0
        first = (3, 4)[batch["n"] == 1]
        return x[keep], x[batch["mask"] > 0], first
"""
    assert sure(source) == [("PTB120", 'return x[keep], x[batch["mask"] > 0], first')] * 2


def test_a_class_derived_from_a_module_of_torch_has_its_parameters() -> None:
    source = """
class Scaled(nn.Linear):
    def forward(self, x):
        if self.bias is None:
            x = x * 2
        if self.weight.max() > 3:
            x = x * 2
        return super().forward(x)

class Named(nn.Conv1d):
    weight = "w"

    def forward(self, x):
        if self.weight > "v":
            return x
        return x + 1

class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.gates = nn.ModuleList([Scaled(3, 3) for _ in range(3)])

    def forward(self, x: torch.Tensor):
        if self.gates[0].weight[0, 0] > 1:
            return x
        return self.gates[0](x)
"""
    assert sure(source) == [
        ("PTB110", "if self.weight.max() > 3:"),
        ("PTB110", "if self.gates[0].weight[0, 0] > 1:"),
    ]


def test_rows_of_a_table_are_chosen_by_a_column() -> None:
    source = """
import pandas as pd

class M(nn.Module):
    def forward(self, x: torch.Tensor, table, frame):
        table = table[table["t"] == 1]
        frame = frame[frame.t > 0]
        made = pd.DataFrame({"a": [1]})
        made = made.head(1)
        if made["a"].max() > 3:
            x = x + 1
        if table[["a", "t"]].isnull().any():
            x = x - 1
        return x[int(len(table)) + len(frame)]

    def check(self, table: pd.DataFrame, other):
        if not isinstance(other, pd.DataFrame):
            raise ValueError
        return table.isna().values.any() and other["a"].isna().any()
"""
    assert {code for code, _ in sure(source)} == {"PTB185"}  # what pandas does


def test_what_is_told_texts_is_no_tensor() -> None:
    source = """
class M(nn.Module):
    def forward(self, x: torch.Tensor, logger, y):
        logger.log("loss", x)
        if logger > 3:
            x = x + 1
        if y.to("cpu").log() > 3:
            x = x + 1
        return x
"""
    assert [line for code, line in sure(source) if code == "PTB110"] == ['if y.to("cpu").log() > 3:']


def test_parameters_that_go_by_place_alone_are_read_as_others_are() -> None:
    code = """
class Block(nn.Module):
    def __init__(self, index, size, /):
        super().__init__()
        self.index = index
        self.lin = nn.Linear(size, size)

    @torch.compile
    def forward(self, x, /):
        if self.index > 2:  # PTR226
            x = x * 2
        return self.helper(scale=x.sum().item()) + self.lin(x)  # PTB103

    def helper(self, /, *, scale):
        y = torch.sin(scale)
        return torch.cos(y) + torch.exp(y)

class Net(nn.Module):
    def __init__(self, n, /):
        super().__init__()
        self.blocks = nn.ModuleList(Block(i, 4) for i in range(n))

    def forward(self, x, /):
        for block in self.blocks:
            x = block(x)  # PTR226
        return x

    def run(self, /, x):
        return self.forward(x)  # PTS315

net = Net(3)
compiled = torch.compile(net)
compiled.run(torch.ones(4))  # PTS302
for block in net.blocks:
    part = torch.compile(block)  # PTR226
    part(torch.ones(4))
    part.helper(scale=torch.ones(4))  # PTS302
"""
    for text in (HEAD + code, (HEAD + code).replace(", /)", ")").replace("(self, /, ", "(self, ")):
        assert sorted((f.line, f.code) for f in findings(text)) == announced(text)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("if pos is not None:\n    n = pos[0]\nif pos is None:\n    pos = torch.arange(n, n + 2)", []),
        (
            "if pos is None:\n    n = 0\nelse:\n    n = pos[0]\nif not (pos is not None):\n    x = torch.arange(n)",
            [],
        ),
        (
            "if pos is not None:\n    n = pos[0]\nelif flag:\n    n = 1\nif pos is None:\n    x = torch.arange(n)",
            [],
        ),
        ("if flag:\n    n = pos[0]\nif not flag:\n    x = torch.arange(n)", []),
        ("if kind == 'a':\n    n = pos[0]\nif kind != 'a':\n    x = torch.arange(n)", []),
        ("if self.kind == 'a':\n    n = pos[0]\nif self.kind != 'a':\n    x = torch.arange(n)", []),
        ("n = pos[0] if pos is not None else 0\nif pos is None:\n    x = torch.arange(n)", []),
        ("if flag and pos is not None:\n    n = pos[0]\nif pos is None:\n    x = torch.arange(n)", []),
        (
            "if not flag or pos is None:\n    n = pos[0]\nif flag and pos is not None:\n    x = torch.arange(n)",
            [],
        ),
        (
            "if kind == 'a':\n    n = pos[0]\nelif kind == 'b':\n    n = 1\nelse:\n    n = pos[1]\n"
            "if kind == 'b':\n    x = torch.arange(n)",
            [],
        ),
        ("if x.dim() == 3:\n    n = pos[0]\nif x.dim() != 3:\n    x = torch.arange(n)", []),
        (
            "if self.kind in ('a', 'b'):\n    n = pos[0]\nif self.kind not in ('a', 'b'):\n    x = torch.arange(n)",
            [],
        ),
        (
            "if not isinstance(pos, int):\n    n = pos[0]\nif isinstance(pos, int):\n    x = torch.arange(n)",
            [],
        ),
        ("if flag > 1:\n    n = pos[0]\nif flag <= 1:\n    x = torch.arange(n)", []),
        # also after a test within another one told them apart, and neither branch set it
        (
            "n = pos[0]\nif kind:\n    n = pos[1]\nif flag:\n    n = 1\nif kind:\n    if flag:\n        x = x + 1\n"
            "if flag:\n    x = torch.arange(n)",
            [],
        ),
        (
            "n = pos[0]\nif kind:\n    n = pos[1]\nif flag:\n    n = 1\nif kind:\n    if flag:\n        n = pos[2]\n"
            "if flag:\n    x = torch.arange(n)",
            ["torch.arange(n)"],
        ),
        # where it comes out as it did, asks for something else, or is another one by then
        (
            "if pos is not None:\n    n = pos[0]\nif pos is not None:\n    x = torch.arange(n)",
            ["torch.arange(n)"],
        ),
        ("if flag:\n    n = pos[0]\nif flag:\n    x = torch.arange(n)", ["torch.arange(n)"]),
        ("if kind == 'a':\n    n = pos[0]\nif kind != 'b':\n    x = torch.arange(n)", ["torch.arange(n)"]),
        (
            "if flag and kind:\n    n = pos[0]\nif not (flag and kind):\n    n = 1\nif flag:\n    x = torch.arange(n)",
            ["torch.arange(n)"],
        ),
        ("if kind == 'a':\n    n = pos[0]\nif kind:\n    x = torch.arange(n)", ["torch.arange(n)"]),
        ("if other(x):\n    n = pos[0]\nif not other(x):\n    x = torch.arange(n)", ["torch.arange(n)"]),
        (
            "if self.table is None:\n    n = self.fill()\nif self.table is not None:\n    x = torch.arange(n)",
            ["torch.arange(n)"],
        ),
        (
            "pos = pos[0] if pos is not None else 0\nif pos is None:\n    pos = x.sum()\nx = torch.arange(pos)",
            ["torch.arange(pos)"],
        ),
        (
            "if flag:\n    n = pos[0]\nflag = other(x)\nif not flag:\n    x = torch.arange(n)",
            ["torch.arange(n)"],
        ),
        (
            "if pos is None:\n    pos = n = x.sum()\nif pos is not None:\n    x = torch.arange(n)",
            ["torch.arange(n)"],
        ),
        (
            "if flag:\n    n = pos[0]\nfor flag in x:\n    if not flag:\n        x = torch.arange(n)",
            ["torch.arange(n)"],
        ),
    ],
)
def test_a_name_that_one_outcome_of_a_test_made(body: str, told: list[str]) -> None:
    code = f"""
from elsewhere import other

class M(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.kind, self.table = kind, None

    def fill(self):
        self.table = torch.zeros(3)
        return self.table.sum()

    def forward(self, x, flag, kind, pos: typing.Optional[torch.Tensor]):
        n = 0
{textwrap.indent(body, " " * 8)}
        return x, pos
"""
    sizes = [f.message for f in findings(HEAD + code) if f.code == "PTB106"]
    assert [told[0] in message for message in sizes] == [True] * len(told), sizes


@pytest.mark.parametrize("kept", [True, False])
def test_an_attribute_holds_what_was_made_of_the_class_it_held(kept: bool) -> None:
    """The class is overwritten wherever the attribute is not None; what is never made stays a class."""
    code = f"""
class Merge(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.line = nn.Linear(width, width)

    def forward(self, x):
        return self.line(x)

class Layer(nn.Module):
    def __init__(self, width, down=None):
        super().__init__()
        self.down = down
        if self.down is not None:
            {"self.down = down(width)" if kept else "self.width = width"}

    def forward(self, x):
        if self.down is not None:
            x = self.down(x)
        return x

class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Layer(4, down=Merge if i else None) for i in range(3)])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
"""
    assert [f.code for f in findings(HEAD + code)] == ([] if kept else ["PTB181"])


@pytest.mark.parametrize(
    ("losses", "told"), [("self.by_flag", True), ("nn.BCELoss() if kind else self.by_flag", False)]
)
def test_one_of_several_functions_is_given_what_goes_with_it(losses: str, told: bool) -> None:
    """Which loss is called goes with what it is given, a flag or labels; a single one may be given either."""
    code = f"""
class Loss(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.kind = kind
        self.loss = {losses}

    def by_flag(self, x, target):
        return -x.mean() if target else x.mean()

    def label(self, x, real):
        if self.kind == "flag":
            return real
        return torch.ones_like(x)

    def forward(self, x, real):
        return self.loss(x, self.label(x, real))
"""
    assert [f.code for f in findings(HEAD + code)] == ["PTB110"] * told


@pytest.mark.parametrize(("given", "told"), [(3, False), (2, True)])
def test_one_of_several_that_takes_no_such_call_is_not_called(given: int, told: bool) -> None:
    """What one kind of block is given by its place would be something else to another kind that the list may hold."""
    code = f"""
class Plain(nn.Module):
    def forward(self, x, size):
        h, w = size
        return x.view(h * 2, w * 2)

class Marked(nn.Module):
    def forward(self, x, marks, weight):
        return (x + marks[0]) * weight

class M(nn.Module):
    def __init__(self, config):
        super().__init__()
        kind = Marked if config.marked else Plain
        self.blocks = nn.Sequential(*[kind() for _ in range(config.depth)])

    def forward(self, x: torch.Tensor, mark: torch.Tensor):
        for block in self.blocks:
            x = block({", ".join(["x", "[mark, mark]", "4"][:given])})
        return x + 1
"""
    assert [f.code for f in findings(HEAD + code)] == ["PTB106"] * told


@pytest.mark.parametrize(("usual", "told"), [("fast, Base = as_it_is, nn.Module", False), ("", True)])
def test_a_decorator_that_scripts_where_the_environment_says_so(usual: str, told: bool) -> None:
    """Who compiles it leaves the other compiler out."""
    code = f"""
import os

def as_it_is(function):
    return function

{usual}
if os.environ["JIT"] == "1":
    fast, Base = torch.jit.script_method, torch.jit.ScriptModule

class Part(Base):
    @fast
    def forward(self, x):
        return x * 2

class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = Part()

    def forward(self, x):
        return self.part(x + 1) * 2
"""
    assert [f.code for f in findings(HEAD + code)] == ["PTB185"] * told


GIVEN_MORE = """
import torch

class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(4, 4)

    def scaled(self, x, *args, **more):
        CHANGE
        if TEST:
            return x * x.max().item()
        return self.inner(x)

    def forward(self, x: torch.Tensor, **own):
        return self.scaled(self.inner(x)MORE)
"""


@pytest.mark.parametrize(
    ("test", "more", "change", "found"),
    [
        ("len(args) > 0", "", "pass", False),
        ("len(args) > 0", ", 2", "pass", True),
        ("len(args) > 0", ", *x.shape", "pass", True),
        ("len(args) != 0 or more.get('scale', None) is not None", "", "pass", False),
        ("more.get('scale', None) is not None", ", scale=x.mean()", "pass", True),
        ("more.get('scale', None) is not None", ", **own", "pass", True),
        ("more.get('scale', None) is not None", "", "more.update(self.options)", True),
        ("more.get('scale', 1) is not None", "", "pass", True),
        ("'scale' in more", "", "pass", False),
        ("'scale' in more", ", scale=2", "pass", True),
        ("'scale' in more", "", "more['scale'] = self.options", True),
        ("'scale' not in more", "", "pass", True),
        ("more", "", "pass", False),
        ("more", ", scale=2", "pass", True),
        ("more", ", **own", "pass", True),
        ("more", "", "more.update(self.options)", True),
        ("not more", "", "pass", True),
    ],
)
def test_what_a_call_does_not_give_is_not_there(test: str, more: str, change: str, found: bool) -> None:
    code = GIVEN_MORE.replace("TEST", test).replace("MORE", more, 1).replace("CHANGE", change)
    assert [f.code for f in findings(code) if f.code == "PTB103"] == ["PTB103"] * found


@pytest.mark.parametrize(
    ("call", "found"),
    [
        ("self.meter.put(loss=x.sum(), mean=x.mean())", True),
        ("self.meter.put(loss=x.sum(), rate=0.1)", False),  # whether it asks for one of them by its name
        ("self.meter.put(**own)", False),
        ("self.meter.put(loss=x.sum(), **own)", False),
        ("self.meter.add(loss=x.sum())", True),
        ("self.meter.add(loss=x.sum(), text='a')", False),
    ],
)
def test_what_a_call_lists_by_name_is_gone_over(call: str, found: bool) -> None:
    code = f"""
class Meter:
    def __init__(self):
        self.kept = {{}}

    def put(self, **named):
        for name, value in named.items():
            self.kept[name] = float(value)

    def add(self, **named):
        for value in named.values():
            print(value.item())

class Step:
    def __init__(self):
        self.meter = Meter()
        self.run = torch.compile(self.step)

    def step(self, x: torch.Tensor, **own):
        {call}
        return x * 2
"""
    read_out = [f for f in findings(HEAD + code) if f.code in ("PTB103", "PTB104")]
    assert bool(read_out) == found


def test_a_number_picks_one_of_several_tables() -> None:
    code = """
import pandas as pd

@torch.compile
def f(x: torch.Tensor, tables: pd.DataFrame | list[pd.DataFrame]):
    first = tables[0]
    return x * 2

@torch.compile
def g(x: torch.Tensor, tables: pd.DataFrame | list[pd.DataFrame]):
    rate = tables["rate"]
    return x * 2
"""
    lines = (HEAD + code).splitlines()
    assert [lines[f.line - 1].strip() for f in findings(HEAD + code)] == ['rate = tables["rate"]']
