"""Methods and shared values that Dynamo does not call: told where they are called, and where they are mended."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from pt2lint.fixes.edit import apply_edits
from pt2lint.static.engine import lint
from tests.files import loaded
from tests.linting import announced, findings, headed

CASES = {
    "length of shared memory": """
from torch import multiprocessing as mp

class Storage:
    def __init__(self):
        self._len = mp.Value("i", 0)

    def __len__(self):
        return self._len.value  # PTB143

STORAGE = Storage()

@torch.compile
def sample(x):
    return x * len(STORAGE)
""",
    "class methods of a function": """
class Exp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.exp()

    @classmethod
    def backward(cls, ctx, grad):  # PTB191
        return grad

    @classmethod
    def run(cls, x):
        return cls.apply(x)  # PTB191

class Net(torch.nn.Module):
    def forward(self, x):
        return Exp.run(x) + Exp().apply(x)  # PTB191
""",
    "functions that are marked": """
def counting(run):
    def counted(*args):
        counted.calls += 1  # PTB194
        return run(*args)

    counted.calls = 0
    return counted

@counting
def double(x):
    return x * 2

class Net(torch.nn.Module):
    def forward(self, x):
        def part(y):
            part.ran = True
            return y + 1

        part.scale = 2
        return double(part(x)) * part.scale
""",
    "managers as decorators": """
import contextlib

class Timed(contextlib.ContextDecorator):
    def __init__(self, name="part"):
        self.name = name

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        return False

class Own(Timed):
    def __call__(self, run):
        return run

TIMED = Timed("kept")

@TIMED  # PTB195
def part(x):
    return x + 1

@torch.set_grad_enabled(False)  # PTB195
def scale(x):
    return x.abs().mean()

@Own("mine")
@torch.no_grad()
def shift(x):
    return x - 1

class Block(torch.nn.Module):
    @Timed("block")  # PTB195
    def forward(self, x):
        return torch.relu(x)

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()

    @Timed("net")
    def forward(self, x):
        y = self.block(x)  # PTB195
        y = part(y)  # PTB195
        return shift(y) * scale(x)  # PTB195
""",
    "decorators above and below": """
class Norm(torch.nn.Module):
    @torch.no_grad()
    @staticmethod
    def above(x):
        return x.mean()

    @staticmethod
    @torch.no_grad()
    def below(x):
        return x.mean()

    def forward(self, x):
        return Norm.above(x) + Norm.below(x)  # PTB190
""",
    "parameters of an optimizer": """
def toggle(optimizer, on):
    for group in optimizer.param_groups:
        for p in group["params"]:
            p.requires_grad = on  # PTB161

@torch.compile
def step(optimizer: torch.optim.Optimizer, x):
    toggle(optimizer, False)
    return x * 2
""",
    "a global that a function sets": """
import torch.distributed as dist

class Backend:
    def barrier(self):
        dist.barrier()  # PTB192

    def reduce(self, x):
        return dist.all_reduce(x, async_op=True)  # PTB192

backend = None

def init():
    global backend
    backend = Backend()

@torch.compile
def f(x):
    backend.barrier()
    backend.reduce(x).wait()  # PTB192
    dist.all_reduce(x)
    return x.detach()
""",
    "a part that the constructor is given": """
class Inner(torch.nn.Module):
    @torch.compiler.disable
    def compute(self, x):
        return x + 1

class Outer(torch.nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return self.inner.compute(x)  # PTB183

def build():
    return Outer(Inner())
""",
    "bases that are not there": """
from lib import Base
from .base import Other

class Weighted(Other):
    def __init__(self, size):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(size))

    def forward(self, x):
        return x if (self.weight * x).isnan().any() else -x  # PTB110

class Plain(Base):
    def forward(self, x):
        return torch.relu(x) if x.isnan().any() else x  # PTB110

class Text(Base):
    def forward(self, text):
        return text.strip() if text else ""
""",
    "tensors by what is done with them": """
import triton
from library import Encoder

def lengths(ends):
    return ends[1:] - ends[:-1]

class Net(torch.nn.Module):
    def __init__(self, encoder: Encoder):
        super().__init__()
        self.encoder = encoder

    def forward(self, x, sizes, ids, ends, batch):
        if (ids == 0).sum() > 3:  # PTB110
            x = x + 1
        kept = torch.arange(x.shape[1])[None] < sizes[:, None]
        if (sizes != sizes[0]).any():  # PTB110
            x = x * kept
        counts = triton.cdiv(lengths(ends), 4).tolist()  # PTB105
        found = self.encoder(x)
        found = found.clamp(min=0)
        if found.abs().max() > 3:  # PTB110
            found = found.clamp(max=3)
        weights, names = batch["weights"], batch["names"]
        masked = weights.masked_fill(kept, 0)
        if masked.max() > 1 and names.size() > 1:  # PTB110
            found = found + 1
        return self.other_things(x), counts, found

    def other_things(self, x: torch.Tensor):
        layer = self.layer(x)
        layer.requires_grad_(False)
        mesh = self.mesh()
        if mesh.size() > 1 and mesh.ndim == 2:
            x = x + 1
        spread = self.distribution(x)
        if spread.mean > 3:
            x = x + 1
        either = self.either(x)
        if isinstance(either, list):
            either = either[0]
        if either.clamp(min=1) > 1:
            x = x + 1
        return x
""",
    "options that have a height": """
import torch

class M(torch.nn.Module):
    def forward(self, x: torch.Tensor, options):
        return x + torch.randperm(options.H * options.W)[: options.rays]
""",
    "the members of an enumeration": """
import enum

class Kind(enum.Enum):
    A = 1

@torch.compile
def f(x, names):
    return x * max(Kind, key=lambda kind: kind.value).value + len(max(names, key=len))
""",
}


@pytest.mark.parametrize("name", CASES)
def test_told(name: str) -> None:
    text = headed(CASES[name])
    assert [(f.line, f.code) for f in findings(text, target_torch=(2, 13))] == announced(text)


EAGER, WHOLE = 'backend="eager"', ", fullgraph=True"
MENDED = {
    "class methods of a function": """
class Exp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.exp()

    @staticmethod
    def twice(grad):
        return grad * 2

    @classmethod
    @torch.autograd.function.once_differentiable
    def backward(cls, ctx, grad):  # kept
        return cls.twice(grad)

@torch.compile(backend="eager", fullgraph=True)
def f(x):
    return Exp.apply(x)
""",
    "decorators above": """
class Norm:
    # kept
    @torch.no_grad()
    @staticmethod
    def mean(x):
        return x.mean()

@torch.compile(backend="eager", fullgraph=True)
def f(x):
    return x - Norm.mean(x)
""",
    "a tensor that fills": """
@torch.compile(backend="eager", fullgraph=True)
def f(x):
    low = torch.full_like(x, x.min())  # kept
    return low + x.new_full((2, 3), x.max()) + torch.add(x, x, alpha=x.sum())
""",
    "one size that fits": """
@torch.compile(backend="eager", fullgraph=True)
def f(x):
    size = torch.prod(torch.tensor(x.shape[1:]))
    return x.view(x.shape[0], size)  # kept
""",
    "chosen by key": """
@torch.compile(backend="eager", fullgraph=True)
def f(x):
    return max([x[:, :2], x], key=lambda t: t.shape[1]) * 2  # kept
""",
    "a function of each element": """
def soft(x, rate):
    if rate <= 0:
        raise ValueError("rate")
    y = rate * (x - 1)
    return torch.sigmoid(y) * 4 / rate

@torch.compile(backend="eager", fullgraph=True)
def f(x: torch.Tensor):
    on = x > 0
    out = torch.empty_like(x)
    out[on] = soft(x[on], 1.0)  # kept
    out[~on] = soft(x[~on], 2.0)
    return out
""",
}


@pytest.mark.parametrize("name", MENDED)
def test_mended(name: str, tmp_path: Path) -> None:
    """The first fix that is offered for each finding: the same as in eager mode, in one graph, and no comment lost."""
    path = tmp_path / "m.py"
    after = before = headed(MENDED[name]).replace(
        WHOLE, ""
    )  # which captures more than the mode that is mended
    path.write_text(before, encoding="utf-8")
    settings = SimpleNamespace(target_torch=(2, 13))
    assert lint([str(path)], settings).findings
    while found := lint([str(path)], settings, {str(path): after}).findings:
        offered = next(finding.fixes[0] for finding in found if finding.fixes)
        assert not offered.is_workaround
        after = apply_edits(after, offered.edits)
    assert after.count("# kept") == 1
    path.write_text(after.replace(EAGER, EAGER + WHOLE), encoding="utf-8")
    x = torch.arange(6.0).reshape(2, 3).requires_grad_("apply" in before)
    made: dict = {"__name__": "m"}
    exec(compile(before.replace(f"@torch.compile({EAGER})\n", ""), "m", "exec"), made)
    module = loaded(path, "mended")
    torch.testing.assert_close(module.f(x), made["f"](x))


BACKWARD = """
import torch

class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.kept = [x]
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        kept = [x.detach().requires_grad_(True) for x in ctx.kept]
        {rest}

@torch.compile(backend="eager", fullgraph={whole})
def f(x: torch.Tensor):
    return Twice.apply(x)
"""


def test_what_a_backward_computes_a_gradient_of_leaves_the_graph(tmp_path: Path) -> None:
    """As a checkpoint written by hand does."""
    path = tmp_path / "m.py"
    rest = """\
with torch.enable_grad():
            out = kept[0] * 2
        return torch.autograd.grad(out, kept, grad)[0]"""
    path.write_text(BACKWARD.format(rest=rest, whole=False), encoding="utf-8")
    found = lint([str(path)], SimpleNamespace(target_torch=(2, 13))).findings
    assert [finding.code for finding in found] == ["PTB161", "PTB160"]


def test_what_a_backward_requires_a_gradient_of_stays_in_the_graph(tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    path.write_text(BACKWARD.format(rest="return grad * 2", whole=True), encoding="utf-8")
    told = [lint([str(path)], SimpleNamespace(target_torch=torch_)).findings for torch_ in ((2, 9), (2, 13))]
    assert [[finding.code for finding in found] for found in told] == [["PTB161"], []]
    pytest.importorskip("torch", minversion="2.13")
    module = loaded(path, "twice")
    x = torch.ones(3, requires_grad=True)
    module.f(x).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [2.0, 2.0, 2.0]
