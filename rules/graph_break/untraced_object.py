from __future__ import annotations

import sys
from collections.abc import Iterable
from math import inf
from types import MappingProxyType

import libcst as cst

from pt2lint.finding import Fix
from pt2lint.op import Op
from pt2lint.rule import GraphBreak

SAYS = MappingProxyType(
    {
        "attribute": "{code} is looked up by `{what}`, which Dynamo does not call as `__getattr__`",
        "order": "{code} compares objects by their own `<`, which Dynamo does not trace",
        "decorated": (
            "{code} calls a method under `{what}` of an object that compiled code makes, which Dynamo cannot bind"
        ),
        "hook": "{code} runs a module with a hook of the backward pass, which Dynamo does not trace",
        "jvp": "{code} applies a function with a `jvp` of its own, which Dynamo does not trace",
        "deleted": "{code} is deleted from the context of a function, which Dynamo does not trace",
        "dirty": "{code} ends the graph where no gradient is wanted, as in evaluation",
        "looked up": "{code} looks an attribute up by another class's `__getattribute__`, which Dynamo does not trace",
        "text in": "{code} looks into the text of a member of an enumeration, which Dynamo does not trace",
        "index": "{code} takes a member of an enumeration for a position, where Dynamo fails with an internal error",
        "without gradient": (
            "{code} marks all that `forward` returns, where Dynamo fails with an AssertionError if a gradient is wanted"
        ),
        "fake": (
            "{code} calls an operator without a fake, of which compiling has to know what shapes it returns: it raises"
        ),
        "operator": "{code} applies an operator to a tensor and a `{what}`, which Dynamo does not trace",
        "text": "{code} calls a text's method of a member of an enumeration, which Dynamo does not trace",
        "kept": "{code} is a `cached_property`, which Python up to 3.11 computes under a lock",
    }
)
LOCKED = sys.version_info < (3, 12)  # whether `functools.cached_property` has a lock
# The first torch on which each breaks, and the first on which it does so no more.
STILL = (inf, 0)
ANY = (0, 0), STILL
VERSIONS = MappingProxyType(
    {
        "dirty": ((2, 13), STILL),
        "index": ((2, 9), (2, 15)),
        "deleted": ((2, 9), (2, 15)),
        "order": ((0, 0), (2, 15)),
        "decorated": ((0, 0), (2, 15)),
    }
)
INSTEAD = MappingProxyType(
    {
        "attribute": (
            "Write `__getattr__` as a function, which is traced: `def __getattr__(self, name): return self[name]`, "
            "or `return self.get(name)` for `dict.get`"
        ),
        "order": "Give `sorted` a key that returns numbers or texts: `key=lambda entry: entry.rank`",
        "decorated": (
            "Enter the context inside the method (`with torch.no_grad():`), or make the object before the compiled "
            "code runs"
        ),
        "hook": (
            "Add the hook to tensors in the code that calls the model, or do what it does in a "
            "`torch.autograd.Function`"
        ),
        "jvp": "Leave `jvp` out where nobody asks for forward-mode gradients",
        "deleted": "Leave it out: what `forward` keeps in the context goes with it after the backward pass",
        "dirty": (
            "Split it: `forward(x)` without the context, and `setup_context(ctx, inputs, output)`, which marks it; "
            "Dynamo traces that"
        ),
        "looked up": "Write `super().__getattribute__(name)`, or read the attribute by its name, which are traced",
        "text in": "Look into the member's value: `... in member.value` is traced",
        "index": "Write the member's value: `[member.value]`",
        "without gradient": (
            "Write it as a function of the detached tensor, or return it in a tuple: `return (y,)`, and take it out "
            "where it is applied"
        ),
        "fake": (
            "Say what comes out, of shapes and dtypes alone: a function under `@{what}.register_fake`, which returns "
            "`torch.empty_like(...)` or the like"
        ),
        "operator": (
            "Call a method by its name, which is traced (`matrix.applied_to(x)` in place of `matrix @ x`), or take the "
            "tensor out of the object first"
        ),
        "text": "Ask the member's value: `member.value.startswith(...)` is traced",
        "kept": (
            "Read it once before compiled code does, as where the object is made (`self.{what}`): from then on it is "
            "an attribute like others; or compute it in `__init__`"
        ),
    }
)


KEPT = (
    "from functools import cached_property\nclass M(torch.nn.Module):\n    def __init__(self):\n"
    "        super().__init__()\n    @cached_property\n    def scale(self):\n        return torch.arange(4) + 1\n"
    "    def forward(self, x, m, i):\n        return x.sin() * self.scale\nf = M()"
)
KEPT_BY_MADE = (
    "import functools\nclass Sizes:\n    n = 2\n    @functools.cached_property\n    def half(self):\n"
    "        return self.n / 2\n    @functools.cached_property\n    def double(self):\n        return self.half * 4\n"
    "def f(x, m, i):\n    return x.sin() * Sizes().double"
)


class UntracedObject(GraphBreak):
    """An object of the code's own is used in a way that Dynamo does not trace.

    ## What happens
    Dynamo traces most of what classes define. It does not

    - call a method of `dict` that stands for `__getattr__` (`__getattr__ = dict.get`, in a class that gives items of
      a dictionary as attributes): the whole function is left to Python (GB0256). A function that does the same is
      traced;
    - order objects by their own `__lt__`, as `sorted`, `list.sort`, `min` and `max` do without a key (GB0207, GB0059);
    - bind a method under `@torch.no_grad()`, `enable_grad`, `inference_mode` or `autocast` to an object that the
      compiled code itself makes (GB0116). Of one that is there before, it is traced;
    - call a part of a module to which `register_full_backward_hook` or its like added a hook (GB0083, GB0104). Those of
      the module that is compiled itself are fine;
    - apply a `torch.autograd.Function` with a `jvp` of its own where a gradient is wanted (GB0144);
    - mark a tensor as written into (`ctx.mark_dirty(x)`) in a `forward(ctx, x)` where no gradient is wanted, itself or
      in a function that it calls (GB2019). In training that is traced, and in a `setup_context` always;
    - delete what `forward` kept in the context of a `torch.autograd.Function` (`del ctx.inputs` in `backward`, GB0139);
    - call `object.__getattribute__`, or another class's by name, to look an attribute up (GB0156). That of `super()`
      is traced;
    - call a method of `str` on a member of `class Mode(str, Enum)` or of a `StrEnum` (GB0156), nor look into one
      (`"a" in mode`, GB4411);
    - take a member of an `IntEnum` for the position in a list, a tuple or a `ModuleList`: on torch 2.13 that ends with
      an `InternalTorchDynamoError`;
    - apply an operator to a tensor and an object whose class says what that is (`matrix @ x`, of a class with
      `__matmul__`; GB0055). Of two such objects it mostly is traced, and so are comparisons and methods that are called
      by name;
    - apply a `torch.autograd.Function` whose `forward` marks the one tensor that it returns as not differentiable
      where a gradient is wanted: it ends with an `AssertionError`;
    - read a `functools.cached_property` for the first time on Python 3.10 and 3.11, which compute it under a lock: the
      function that reads it is left to Python, at later calls too (GB0142). From Python 3.12 on there is none;
    - run a function under `torch.library.custom_op`: it asks the operator's fake (`register_fake`) what shapes come
      out, and compiling raises where there is none. Kernels that are registered for devices do not help, and an
      operator that returns nothing needs none.

    ## Example
    ```python
    import torch

    class Config(dict):
        __getattr__ = dict.__getitem__

    config = Config(scale=2.0)

    def f(x):
        return torch.relu(x) * config.scale

    args = (torch.tensor([1.0, -2.0]),)
    ```

    ## Use instead
    ```python
    import torch

    class Config(dict):
        def __getattr__(self, name):
            return self[name]

    config = Config(scale=2.0)

    def f(x):
        return torch.relu(x) * config.scale

    args = (torch.tensor([1.0, -2.0]),)
    ```

    ## Versions
    Measured: breaks on torch 2.13, in default mode and with `fullgraph=True`; operators, hooks and `jvp` on 2.6 to
    2.15, and `mark_dirty` on 2.13 and 2.15 (on 2.6 and 2.9 it stays in the graph). `mark_non_differentiable` and a
    look into a member's text on 2.6 to 2.15, and so are operators without a fake; a position in a list on 2.9
    (where it is a graph break) and 2.13, no more on 2.15, and so is `del ctx.inputs`. Objects in order and decorated
    methods break on 2.6 to 2.13, no more on 2.15; a `cached_property` on 2.6 to 2.15.
    """

    code = "PTB196"
    name = "untraced-object"
    ops = ("untraced object",)
    graph_breaks = (
        "GB0256",
        "GB0207",
        "GB0059",
        "GB0116",
        "GB0083",
        "GB0104",
        "GB0144",
        "GB0156",
        "GB2019",
        "GB0055",
        "GB4411",
        "GB0139",
        "GB0142",
    )

    INVALID = (
        "class Matrix:\n    def __init__(self, w):\n        self.w = w\n"
        "    def __matmul__(self, x):\n        return self.w @ x\n"
        "matrix = Matrix(torch.ones(4, 4))\ndef f(x: torch.Tensor, m, i):\n    return matrix @ x + 1",
        "class Scale:\n    def __init__(self, w):\n        self.w = w\n"
        "    def __rmul__(self, x):\n        return x * self.w\n"
        "class M(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.scale = Scale(2.0)\n    def forward(self, x: torch.Tensor, m, i):\n"
        "        return x * self.scale + 1\nf = M()",
        "class Config(dict):\n    __getattr__ = dict.get\nclass M(torch.nn.Module):\n    def __init__(self):\n"
        "        super().__init__()\n        self.config = Config(scale=2.0)\n"
        "    def forward(self, x, m, i):\n        return x * self.config.scale\nf = M()",
        "class Entry:\n    def __init__(self, rank):\n        self.rank = rank\n    def __lt__(self, other):\n"
        "        return self.rank < other.rank\nENTRIES = [Entry(2), Entry(1)]\n"
        "def f(x, m, i):\n    return x * sorted(ENTRIES)[0].rank",
        "class Sampler:\n    @torch.no_grad()\n    def step(self, x):\n        return x + 1\n"
        "def f(x, m, i):\n    return Sampler().step(x) * 2",
        "class Sampler:\n    @torch.no_grad()\n    def step(self, x):\n        return x + 1\n"
        "def f(x, m, i):\n    sampler = Sampler()\n    return sampler.step(x) * 2",
        "class M(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.layer = torch.nn.Linear(4, 4)\n"
        "        self.layer.register_full_backward_hook(lambda module, before, after: None)\n"
        "    def forward(self, x, m, i):\n        return self.layer(x) + 1\nf = M()",
        "class Settings:\n    def __init__(self):\n        self.scale = 2.0\n"
        "    def __getattribute__(self, name):\n        return object.__getattribute__(self, name)\n"
        "settings = Settings()\ndef f(x, m, i):\n    return x * settings.scale",
        "class Settings:\n    def __init__(self):\n        self.scale = 2.0\n"
        "    def read(self):\n        return object.__getattribute__(self, 'scale')\n"
        "settings = Settings()\ndef f(x, m, i):\n    return x * settings.read()",
        "import enum\nclass Mode(str, enum.Enum):\n    SUM = 'sum'\n"
        "class M(torch.nn.Module):\n    def __init__(self, mode: Mode):\n        super().__init__()\n"
        "        self.mode = mode\n    def forward(self, x, m, i):\n"
        "        return x * 2 if self.mode.startswith('s') else x\nf = M(Mode.SUM)",
        "class Scaled(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        return x * 2\n"
        "    @staticmethod\n    def backward(ctx, grad):\n        return grad * 2\n"
        "    @staticmethod\n    def jvp(ctx, tangent):\n        return tangent * 2\n"
        "def f(x, m, i):\n    return Scaled.apply(x + torch.ones(4, requires_grad=True)) + 1",
        "class Kept(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n"
        "        ctx.kept = x\n        return x * 2\n"
        "    @staticmethod\n    def backward(ctx, grad):\n        grad = grad * ctx.kept\n"
        "        del ctx.kept\n        return grad\n"
        "def f(x, m, i):\n    return Kept.apply(x + torch.ones(4, requires_grad=True)) + 1",
        "class Doubled(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n"
        "        ctx.mark_dirty(x)\n        return x.mul_(2)\n"
        "    @staticmethod\n    def backward(ctx, grad):\n        return grad * 2\n"
        "def f(x, m, i):\n    return Doubled.apply(x + 1) + 1",
        "def mark(ctx, x):\n    ctx.mark_dirty(x)\n"
        "class Doubled(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n"
        "        mark(ctx, x)\n        return x.mul_(2)\n"
        "    @staticmethod\n    def backward(ctx, grad):\n        return grad * 2\n"
        "def f(x, m, i):\n    return Doubled.apply(x + 1) + 1",
        "import enum\nclass Kind(enum.IntEnum):\n    TEXT = 0\n    IMAGE = 1\nSCALES = [1.0, 2.0]\n"
        "def f(x, m, i):\n    return x * SCALES[Kind.IMAGE]",
        "import enum\nclass Kind(enum.IntEnum):\n    TEXT = 0\n    IMAGE = 1\n"
        "class M(torch.nn.Module):\n    def __init__(self, kind: Kind):\n        super().__init__()\n"
        "        self.kind = kind\n        self.parts = torch.nn.ModuleList([torch.nn.Identity(), torch.nn.ReLU()])\n"
        "    def forward(self, x, m, i):\n        return self.parts[self.kind](x) + 1\nf = M(Kind.IMAGE)",
        "import enum\nclass Mode(str, enum.Enum):\n    SUM = 'sum'\n"
        "class M(torch.nn.Module):\n    def __init__(self, mode: Mode):\n        super().__init__()\n"
        "        self.mode = mode\n    def forward(self, x, m, i):\n"
        "        return x * 2 if 's' in self.mode else x\nf = M(Mode.SUM)",
        "class Signs(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        y = x > 0\n"
        "        ctx.mark_non_differentiable(y)\n        return y\n"
        "    @staticmethod\n    def backward(ctx, grad):\n        return None\n"
        "weight = torch.ones(4, requires_grad=True)\ndef f(x, m, i):\n    return Signs.apply(x + weight) + 1",
        "@torch.library.custom_op('pt2lint_case::kernel', mutates_args=())\n"
        "def kernel(x: torch.Tensor) -> torch.Tensor:\n    return x * 2\n"
        "@kernel.register_kernel('cpu')\ndef _(x):\n    return x + x\n"
        "@torch.library.custom_op('pt2lint_case::other', mutates_args=())\n"
        "def other(x: torch.Tensor) -> torch.Tensor:\n    return x * 2\n"
        "@other.register_fake\ndef _(x):\n    return torch.empty_like(x)\n"
        "def f(x, m, i):\n    return kernel(other(x)) + 1",
        *((KEPT_BY_MADE,) if LOCKED else ()),
    )
    VALID = (
        KEPT.replace("super().__init__()", "super().__init__()\n        self.scale"),
        KEPT.replace("super().__init__()", "super().__init__()\n        self.scale = 2"),
        "@torch.library.custom_op('pt2lint_case::fill', mutates_args=('x',))\n"
        "def fill(x: torch.Tensor) -> None:\n    x.fill_(2)\n"
        "def f(x, m, i):\n    y = x * 2\n    fill(y)\n    return y + 1",
        "@torch.library.custom_op('pt2lint_case::turn_', mutates_args={'x'}, tags=torch.Tag.inplace)\n"
        "def turn_(x: torch.Tensor) -> torch.Tensor:\n    return x.neg_()\n"
        "def f(x, m, i):\n    return turn_(x * 2) + 1",
        "@torch.library.custom_op('pt2lint_case::named', mutates_args=())\n"
        "def named(x: torch.Tensor) -> torch.Tensor:\n    return x * 2\n"
        "@torch.library.register_fake('pt2lint_case::named')\ndef _(x):\n    return torch.empty_like(x)\n"
        "def f(x, m, i):\n    return named(x) + 1",
        "class Scale:\n    def __init__(self, w):\n        self.w = w\n"
        "    def __add__(self, other):\n        return Scale(self.w + other.w)\n"
        "    def __mul__(self, n):\n        return Scale(self.w * n)\n"
        "    def of(self, x):\n        return x * self.w\n"
        "scale = Scale(2.0)\ndef f(x: torch.Tensor, m, i):\n    return (scale + Scale(x) * 2).of(x)",
        "import enum\nclass Kind(enum.IntEnum):\n    TEXT = 0\n    IMAGE = 1\nSCALES = [1.0, 2.0]\n"
        "def f(x, m, i):\n    return x[Kind.IMAGE] * SCALES[Kind.IMAGE.value] * {0: 1.0, 1: 2.0}[Kind.IMAGE]",
        "class Signs(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        y = x > 0\n"
        "        ctx.mark_non_differentiable(y)\n        return x * 2, y\n"
        "    @staticmethod\n    def backward(ctx, grad, _):\n        return grad * 2\n"
        "weight = torch.ones(4, requires_grad=True)\ndef f(x, m, i):\n    return Signs.apply(x + weight)[0] + 1",
        "class Settings:\n    def __init__(self):\n        self.scale = 2.0\n"
        "    def __getattribute__(self, name):\n        return super().__getattribute__(name)\n"
        "settings = Settings()\ndef f(x, m, i):\n    return x * settings.scale",
        "import enum\nclass Mode(str, enum.Enum):\n    SUM = 'sum'\n"
        "class M(torch.nn.Module):\n    def __init__(self, mode: Mode):\n        super().__init__()\n"
        "        self.mode = mode\n    def forward(self, x, m, i):\n"
        "        return x * 2 if self.mode.value.startswith('s') else x\nf = M(Mode.SUM)",
        "class Config(dict):\n    __getattr__ = dict.get\nconfig = Config(scale=2.0)\n"
        "def f(x, m, i):\n    return x * config['scale'] + len(config.items())",
        "class Config(dict):\n    def __getattr__(self, name):\n        return self.get(name)\n"
        "config = Config(scale=2.0)\ndef f(x, m, i):\n    return x * config.scale",
        "class Entry:\n    def __init__(self, rank):\n        self.rank = rank\n    def __lt__(self, other):\n"
        "        return self.rank < other.rank\nENTRIES = [Entry(2), Entry(1)]\n"
        "def f(x, m, i):\n    return x * sorted(ENTRIES, key=lambda entry: entry.rank)[0].rank",
        "class Sampler:\n    @torch.no_grad()\n    def step(self, x):\n        return x + 1\nsampler = Sampler()\n"
        "def f(x, m, i):\n    return sampler.step(x) * 2",
        "class M(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.layer = torch.nn.Linear(4, 4)\n"
        "        self.register_full_backward_hook(lambda module, before, after: None)\n"
        "    def forward(self, x, m, i):\n        return self.layer(x) + 1\nf = M()",
        "def mark(ctx, x):\n    ctx.mark_dirty(x)\n"
        "class Doubled(torch.autograd.Function):\n    @staticmethod\n    def forward(x):\n        return x.mul_(2)\n"
        "    @staticmethod\n    def setup_context(ctx, inputs, output):\n        mark(ctx, inputs[0])\n"
        "    @staticmethod\n    def backward(ctx, grad):\n        return grad * 2\n"
        "def f(x, m, i):\n    return Doubled.apply(x + 1) + 1",
        "class Doubled(torch.autograd.Function):\n    @staticmethod\n    def forward(x):\n        return x.mul_(2)\n"
        "    @staticmethod\n    def setup_context(ctx, inputs, output):\n        ctx.mark_dirty(inputs[0])\n"
        "    @staticmethod\n    def backward(ctx, grad):\n        return grad * 2\n"
        "def f(x, m, i):\n    return Doubled.apply(x + 1) + 1",
    )

    how = what = ""  # what Dynamo does not trace

    def check(self, node: cst.CSTNode, op: Op) -> None:
        self.how, self.what = op.detail("how"), op.detail("what")
        first, after = VERSIONS.get(self.how, ANY)
        if self.how == "kept":  # Python enters the lock in a `with`: that costs the function that reads
            op = op._replace(inside=op.inside or "with")
            after = STILL if LOCKED else first
        if first <= self.function.target < after:
            self.breaks(node, op, SAYS[self.how].replace("{what}", self.what))

    def fixes(self, node: cst.CSTNode) -> Iterable[Fix]:
        """What to write instead of each."""
        from pt2lint.fixes import by_hand

        yield by_hand.told(INSTEAD[self.how].replace("{what}", self.what))
