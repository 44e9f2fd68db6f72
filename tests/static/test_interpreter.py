"""What the interpreter notes, and what it leaves alone. Each claim about Dynamo is measured by matrix/."""

from __future__ import annotations

import importlib
import textwrap
from pathlib import Path

import pytest

from pt2lint.op import Op
from pt2lint.said import plain
from pt2lint.static.engine import lint
from pt2lint.static.interpret import Interpreter
from pt2lint.static.source.project import Project
from tests.linting import announced, findings, headed

LISTENED = frozenset(
    [
        "test tensor",
        "size tensor",
        "sort by tensor",
        "index mask",
        "call torch.Tensor.item",
        "call torch.Tensor.tolist",
        "call builtins.print",
        "call copy.deepcopy",
        "call logging.Logger.info",
        "call disabled",
        "set torch.Tensor.requires_grad",
        "forward torch.nn.LSTM",
    ]
)
MODULE = """
import copy, enum, functools, itertools, logging, math, random
from dataclasses import dataclass
from typing import Optional, Union
import numpy as np
import torch
import torch as t
from torch import Tensor, nn, where
import torch.nn.functional as F
log = logging.getLogger(__name__)
OFF = False

class Bag(dict):
    def item(self):
        return 3

class M(nn.Module):
    def __init__(self, config, act=None):
        super().__init__()
        self.config = config
        self.lin = nn.Linear(4, 4)
        self.seq = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
        self.bag = Bag()
        self.copied = copy.deepcopy(self.lin)
        self.register_buffer("ready", torch.tensor(False))
        self.register_buffer("count", torch.tensor(3))
        self.sizes = [1, 2]

    def helper(self, v):
        return v.max()

    def forward(self, x: Tensor, i: torch.LongTensor, mask: Optional[Tensor] = None, n: int = 2):
{body}
        return x
"""


def operations(source: str, roots: str = "modules") -> list[Op]:
    path = "/nowhere/m.py"
    project = Project({path: source})
    interpreter = Interpreter(project, LISTENED, frozenset())
    interpreter.run(project.load(path), roots)
    ops = [op for unit in interpreter.finished_notes().get(path, {}).values() for op in unit if op.sure]
    return sorted(ops, key=lambda op: op.range)


def noted(source: str, roots: str = "modules") -> list[str]:
    source = headed(source)
    lines = source.splitlines()
    return [
        f"{op.name} @ {lines[op.line - 1][op.column - 1 : op.end_column - 1]}"
        for op in operations(source, roots)
    ]


def in_forward(body: str) -> list[str]:
    return noted(MODULE.format(body=textwrap.indent(textwrap.dedent(body).strip(), " " * 8)))


QUIET = [
    "try: y = x + 1\nexcept RuntimeError: print(x)",
    "if OFF and mask.any(): pass",
    "if OFF: print(x)",
    "y = self.bag.item()",
    "for k, v in {'a': 1}.items(): pass",
    "if x.shape[0] > 1: pass",
    "if x.size(0) % 2 == 0 and x.dim() == 3: pass",
    "if mask is not None: pass",
    "if mask is None: return x\nif not (mask is None): pass",
    "if self.training: pass",
    "if isinstance(x, torch.Tensor): pass",
    "if x.dtype == torch.float16: pass",
    "if x.is_contiguous() and x.requires_grad: pass",
    "if x.device.type == 'cuda': pass",
    "if len(x) > 2: pass",
    "if x.numel() == 0: pass",
    "if torch.is_grad_enabled(): pass",
    "if torch.jit.is_scripting():\n    print('a')",
    "if not torch.compiler.is_compiling():\n    print('a')",
    "if not t.compiler.is_compiling() and x.max() > 0:\n    print('a')",
    "if not (hasattr(torch, '_dynamo') and torch._dynamo.is_compiling()): print('a')",
    "f = getattr(torch.compiler, 'is_compiling', None)\nif not (callable(f) and f()): print('a')",
    "y = where(x > 0, x, -x)",
    "assert x.sum() > 0",
    "assert torch.isfinite(x).all(), 'finite'",
    "x[x > 0] = 0.0",
    "y = x[i]",
    "for row in x: y = row + 1",
    "y = [x, x][n]",
    "y = torch.zeros(n, x.shape[0])",
    "y = torch.zeros(self.count)",  # Dynamo knows the value of a number that is an input
    "y = x.view(x.shape[0] // 2, -1)",
    "y = max(x.max(), x.min())",
    "if any(s > 1 for s in x.shape): pass",
    "if all(self.sizes): pass",
    "if self.config.flag and n > 2: pass",
    "f = lambda v: v\ny = f(x)",
    "if 'a' in {'a': x}: pass",
    "y = int(math.sqrt(x.shape[-1]))",
    "y = x / np.sqrt(x.shape[-1])",
    "raise ValueError(f'{x.max().item()}')",
    "if not torch.is_tensor(x) and x == 0: pass",
    "y = np.sqrt(n)\nif y.is_floating_point(): pass",
    "f = getattr(torch.compiler, 'is_compiling', None)\nif not (f() if f is not None else False): print('a')",
    "if isinstance(self.config.path, str) and x.sum() > 0: pass",  # of what is not known, rarely a text
    "kept = (x, x) if n > 2 else x\nif n <= 2:\n    y = kept[i]",  # a tuple takes no such index
    "kept = [x, x] if n > 2 else x.clone()\nif n <= 2:\n    kept[i] = 0",  # nor does a list
]
LOUD = [
    ("y = [0] * i[0]", "size tensor @ [0] * i[0]"),
    ("match x.max():\n    case 1: pass", "test tensor @ x.max()"),
    ("y = 2 in x", "test tensor @ 2 in x"),
    ("if x.sum() in [x.min(), x.max()]: pass", "test tensor @ x.sum() in [x.min(), x.max()]"),
    ("y = filter(lambda v: v > 1, i)", "test tensor @ filter(lambda v: v > 1, i)"),
    ("y = sorted([x, x], key=lambda v: v.sum())", "sort by tensor @ sorted([x, x], key=lambda v: v.sum())"),
    ("y = x[[True, False]]", "index mask @ x[[True, False]]"),
    (
        "if (self.config.a != self.config.b).any(): pass",
        "test tensor @ (self.config.a != self.config.b).any()",
    ),
    ("y = self.config.table[x[0] > 0, :]", "index mask @ self.config.table[x[0] > 0, :]"),
    ("y = x[random.randrange(3)]", "size tensor @ x[random.randrange(3)]"),
    ("x[x.argmax()] = 0.0", "size tensor @ x[x.argmax()]"),
    ("y = F.one_hot(i, max(i.max() + 1, n))", "size tensor @ F.one_hot(i, max(i.max() + 1, n))"),
    ("y = self.config.table[x > 0]", "index mask @ self.config.table[x > 0]"),
    ("y = x.sum().item()", "call torch.Tensor.item @ x.sum().item()"),
    ("y = x.max()\nz = y.item()", "call torch.Tensor.item @ y.item()"),
    ("z = self.config.lengths.tolist()", "call torch.Tensor.tolist @ self.config.lengths.tolist()"),
    ("if x.sum() > 0: pass", "test tensor @ x.sum() > 0"),
    ("if mask is not None and mask.any(): pass", "test tensor @ mask.any()"),
    ("if not torch.isnan(x).any(): pass", "test tensor @ torch.isnan(x).any()"),
    ("y = 1 if (x > 0).all() else 2", "test tensor @ (x > 0).all()"),
    ("while x.max() < 3: x = x * 2", "test tensor @ x.max() < 3"),
    ("if self.ready: pass", "test tensor @ self.ready"),
    ("y = self.helper(x)\nif y: pass", "test tensor @ y"),
    ("y = (x.sum() > 0) and n", "test tensor @ x.sum() > 0"),
    ("y = [v for v in i if v > 1]", "test tensor @ v > 1"),
    ("y = all([x.sum() > 0, x.min() > 0])", "test tensor @ all([x.sum() > 0, x.min() > 0])"),
    ("if 0 < x.sum() < 3: pass", "test tensor @ 0 < x.sum() < 3"),
    ("assert not torch.isnan(x).any()", "test tensor @ torch.isnan(x).any()"),
    ("assert x.max() < 3, f'{n}'", "test tensor @ x.max() < 3"),
    ("if random.randint(0, 2) > 1: pass", "test tensor @ random.randint(0, 2) > 1"),
    ("if np.lcm(4, 6) > n: pass", "test tensor @ np.lcm(4, 6) > n"),
    ("y = x[x > 0]", "index mask @ x[x > 0]"),
    ("x[x > 0] -= 1", "index mask @ x[x > 0]"),
    ("m = x > 0\ny = x[:, m]", "index mask @ x[:, m]"),
    ("y = torch.arange(i.max())", "size tensor @ torch.arange(i.max())"),
    ("y = x[: i[0]]", "size tensor @ i[0]"),
    ("for a, b in i:\n    y = torch.zeros(a)", "size tensor @ torch.zeros(a)"),
    ("y = x[x.argmax()]", "size tensor @ x[x.argmax()]"),
    ("y = x[torch.cartesian_prod(a, a)[0][1]]", "size tensor @ x[torch.cartesian_prod(a, a)[0][1]]"),
    ("y = x[torch.einsum('i, i ->', a, a)]", "size tensor @ x[torch.einsum('i, i ->', a, a)]"),
    ("for k in range(i.max()): pass", "size tensor @ range(i.max())"),
    (
        "class K(enum.IntEnum):\n    A = 0\nk = K(np.array([0, 1])[n])",
        "size tensor @ K(np.array([0, 1])[n])",
    ),
    ("rows = [1, 2]\nrows[x.argmax()] = 3", "size tensor @ x.argmax()"),
    ("rows = [1, 2]\nrows[np.argsort(x.shape)[0]] = 3", "size tensor @ np.argsort(x.shape)[0]"),
    ("rows = [1, 2]\nrows[: i[0]] = [3]", "size tensor @ i[0]"),
    ("rows = [1, 2]\ndel rows[x.argmax()]", "size tensor @ x.argmax()"),
    (
        "d: dict[str, torch.Tensor | float] = dict(self.given)\nfor v in d.values():\n"
        "    if isinstance(v, torch.Tensor):\n        v = v.mean().item()",
        "call torch.Tensor.item @ v.mean().item()",
    ),
    (
        "class Board:\n    def __init__(self):\n        self.rows = [0]\n    def full(self):\n"
        "        return 1 if self.rows[0] == 1 else 0\nboard = Board()\nboard.rows = x\ny = board.full()",
        "test tensor @ self.rows[0] == 1",
    ),
    (
        "class Rows:\n    def __init__(self, given): self.given = given\n    def __iter__(self):\n"
        "        yield from self.given\nfor row in Rows(x):\n    if row.sum() > 0: pass",
        "test tensor @ row.sum() > 0",
    ),
    (
        "class Rows:\n    def __init__(self, given): self.given = given\n    def __iter__(self): return self\n"
        "    def __next__(self): return self.given\ny = [1 if row.sum() > 0 else 0 for row in Rows(x)]",
        "test tensor @ row.sum() > 0",
    ),
    (
        "d: dict[str, torch.Tensor] = dict(self.given)\nd['n'] = [n]\ny = d['x'].mean().item()",
        "call torch.Tensor.item @ d['x'].mean().item()",
    ),
    (
        "kept: tuple[torch.Tensor, ...] = tuple(self.given)\nfor k in kept:\n    if k > 0: pass",
        "test tensor @ k > 0",
    ),
    ("for k in itertools.compress([x], [True]):\n    if k.sum() > 0: pass", "test tensor @ k.sum() > 0"),
    ("print(x.shape)", "call builtins.print @ print(x.shape)"),
    ("log.info('a')", "call logging.Logger.info @ log.info('a')"),
    ("y = copy.deepcopy(x)", "call copy.deepcopy @ copy.deepcopy(x)"),
    ("y = x + 1\ny.requires_grad = True", "set torch.Tensor.requires_grad @ y.requires_grad"),
]


@pytest.mark.parametrize("body", QUIET)
def test_look_alikes_are_left_alone(body: str) -> None:
    assert in_forward(body) == []


@pytest.mark.parametrize(("body", "expected"), LOUD)
def test_operations_are_noted(body: str, expected: str) -> None:
    assert in_forward(body) == [expected]


def test_a_number_is_told_from_a_size() -> None:
    """Also where it is compiled: mypyc makes a tuple anew wherever one is asked for, which no `is` finds."""
    body = "y = torch.cat(x, torch.zeros_like(x))\n        y = torch.zeros(x.sum())"
    ops = operations(headed(MODULE.format(body=f"        {body}")))
    assert [op.details for op in ops] == [{"number": "yes"}, {}]


def test_only_code_that_is_compiled_counts() -> None:
    source = "import torch\n\ndef f(x: torch.Tensor):\n    print(x)\n\ndef main():\n    print(1)\n"
    assert noted(source) == []
    assert noted(source + "\n\ng = torch.compile(f)\n") == ["call builtins.print @ print(x)"]
    assert noted(source.replace("def f", "@torch.compile\ndef f")) == ["call builtins.print @ print(x)"]
    assert noted(source, "tensors") == ["call builtins.print @ print(x)"]


def test_a_compiled_function_is_followed_into_what_it_calls() -> None:
    source = """
def inner(v):
    if v.sum() > 0:
        return v
    return -v

@torch.compiler.disable
def off(v):
    print(v)

@torch.compile(fullgraph=True)
def f(x: torch.Tensor):
    off(x)
    return inner(x)
"""
    assert noted(source) == ["test tensor @ v.sum() > 0", "call disabled @ off(x)"]


def test_a_callee_in_another_file_is_judged_there(tmp_path: Path) -> None:
    package = tmp_path / "pkg"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "util.py").write_text("def largest(v):\n    return v.max()\n")
    (package / "model.py").write_text(
        "import torch\nfrom torch import nn\nfrom .util import largest as big\n\n\n"
        "class M(nn.Module):\n    def forward(self, x: torch.Tensor):\n        return x if big(x) > 0 else -x\n"
    )
    project = Project()
    interpreter = Interpreter(project, LISTENED, frozenset())
    model = project.load(str(package / "model.py"))
    interpreter.run(model)
    (op,) = [op for unit in interpreter.finished_notes()[model.path].values() for op in unit]
    assert (op.name, op.line) == ("test tensor", 8)
    assert "max" in op.why
    assert plain(op.why).endswith("util.py:2)")
    assert op.flow[0].message == "`M.forward` is compiled"


def test_a_method_called_item_of_another_library_is_not_the_tensors() -> None:
    body = "import store\ny = store.lookup(x).item()\nrow = store.lookup(x)\nz = row.item()"
    assert in_forward(body) == []


def test_inherited_attributes_and_super() -> None:
    source = """
class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("steps", torch.zeros((), dtype=torch.long))

    def due(self):
        return self.steps > 3

class Child(Base):
    def forward(self, x: torch.Tensor):
        if super().due():
            return x
        return -x
"""
    assert noted(source) == ["test tensor @ super().due()"]


def test_a_module_defined_in_a_function_is_found() -> None:
    source = """
def build():
    class M(torch.nn.Module):
        def forward(self, x: torch.Tensor):
            return x if x.sum() > 0 else -x
    return M()
"""
    assert noted(source) == ["test tensor @ x.sum() > 0"]


def test_the_implementation_counts_not_its_overloads() -> None:
    source = """
from typing import overload

@overload
def largest(v: torch.Tensor) -> torch.Tensor: ...

@overload
def largest(v: int) -> int: ...

def largest(v):
    return v.max()

class M(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        return x if largest(x) > 0 else -x
"""
    assert noted(source) == ["test tensor @ largest(x) > 0"]


def test_names_for_types_are_followed() -> None:
    source = """
import jaxtyping
from typing import Union

class Sparse: pass
class Typing:
    def __init__(self, dtype):
        self.dtype = dtype
    def __getitem__(self, shape):
        return self.dtype[torch.Tensor, shape]

Edges = Union[torch.Tensor, Sparse]
Float = Typing(jaxtyping.Float)

class M(torch.nn.Module):
    def forward(self, edges: Edges, x: Float["b n"]):
        if isinstance(edges, torch.Tensor):
            edges = edges[:, edges[0] != edges[1]]
        return x if x > 0 else edges
"""
    assert noted(source) == ["index mask @ edges[:, edges[0] != edges[1]]", "test tensor @ x > 0"]


def test_a_name_for_types_may_be_any_that_it_is_given() -> None:
    source = """
from masks import BlockMask
from typing import Union

if torch.cuda.is_available():
    Mask = Union[torch.Tensor, BlockMask]
else:
    Mask = torch.Tensor

class M(torch.nn.Module):
    def forward(self, x: torch.Tensor, mask: Mask):
        if isinstance(mask, BlockMask):
            print(x)
        return x * mask
"""
    assert noted(source) == ["call builtins.print @ print(x)"]


@pytest.mark.parametrize(
    ("test", "told"),
    [
        ("type(x) is torch.Tensor", True),
        ("type(x) == torch.Tensor", True),
        ("not type(x) is str", False),
        ("type(x) is not str", False),
        ("type(x) is str", False),
    ],
)
def test_its_type_tells_what_a_value_is(test: str, told: bool) -> None:
    source = f"""
class M(torch.nn.Module):
    def forward(self, *args):
        x = args[0]
        if {test}:
            print(x if x > 0 else 0)
"""
    assert ("test tensor @ x > 0" in noted(source)) is told


CALLED = """
class Base(torch.nn.Module):
    def __call__(self, x: torch.Tensor):
        if x.max() > 0:
            return super().__call__(x)
"""


def test_a_module_that_is_called_runs_its_own_call() -> None:
    source = f"""
{CALLED}
class Child(Base):
    def forward(self, y):
        print(y)

class M(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()
    def forward(self, z):
        return self.child(z)
"""
    assert noted(source) == ["test tensor @ x.max() > 0", "call builtins.print @ print(y)"]


def test_a_module_runs_a_call_that_it_inherits() -> None:
    source = f"""
{CALLED}
class Child(Base):
    def forward(self, y):
        return y + 1
"""
    assert noted(source) == ["test tensor @ x.max() > 0"]


def test_a_class_that_parts_are_made_of_by_default() -> None:
    source = """
class Part(torch.nn.Module):
    def shifted(self, x: torch.Tensor):
        if x.max() > 0:
            return x + 1

class M(torch.nn.Module):
    def __init__(self, part=Part, **settings):
        super().__init__()
        self.part = part(**settings)
    def forward(self, z):
        return self.part.shifted(z)
"""
    assert noted(source) == ["test tensor @ x.max() > 0"]


def test_layers_under_other_names_of_torch_nn() -> None:
    source = """
from torch.nn.modules.loss import _Loss

class Loss(_Loss):
    def __init__(self, kind: str):
        super().__init__()
        self.rnn = getattr(nn, kind)(4, 4, batch_first=True)

    def forward(self, x: torch.Tensor):
        x, _ = self.rnn(x)
        n = torch.randint(1, 3, (1,))
        if n == 2:
            return x
        return x + torch.zeros(4, n)
"""
    assert noted(source) == [
        "forward torch.nn.LSTM @ self.rnn(x)",
        "test tensor @ n == 2",
        "size tensor @ torch.zeros(4, n)",
    ]


def test_one_decorator_on_functions_that_call_each_other() -> None:
    source = """
import functools

def plain(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)
    return wrapper

class M(torch.nn.Module):
    @plain
    def forward(self, x: torch.Tensor):
        return self.first(x)

    @plain
    def first(self, x):
        return self.second(x)

    @plain
    def second(self, x):
        return self.third(x)

    @plain
    def third(self, x):
        n = torch.randint(low=0, high=2, size=(1,))
        if n == 1:
            return x
        return x + torch.zeros(4, n)
"""
    assert noted(source) == ["test tensor @ n == 1", "size tensor @ torch.zeros(4, n)"]


@pytest.mark.parametrize(
    ("put", "name"),
    [
        ('if norm: setattr(self, f"layer{i}", torch.nn.LSTM(3, 3))', 'f"layer{i}"'),
        ('self.add_module("layer_{}".format(i), torch.nn.LSTM(3, 3))', '"layer_{}".format(i)'),
        ('self.register_module("layer" + str(i), torch.nn.LSTM(3, 3))', '"layer" + str(i)'),
        ("self.layer1, self.layers = torch.nn.LSTM(3, 3), []", 'f"layer{i}"'),
    ],
)
def test_parts_under_names_with_a_number(put: str, name: str) -> None:
    source = f"""
class M(torch.nn.Module):
    def __init__(self, n, norm: bool = True):
        super().__init__()
        self.n = n
        for i in range(n):
            {put}
            self.add_module(f"other{{i}}", torch.nn.Linear(3, 3))

    def forward(self, x: torch.Tensor):
        for i in range(self.n):
            x, _ = getattr(self, {name})(x)
        return x
"""
    assert noted(source) == [f"forward torch.nn.LSTM @ getattr(self, {name})(x)"]


def test_methods_chosen_by_a_name_put_together() -> None:
    source = """
class M(torch.nn.Module):
    def forward(self, x: torch.Tensor, kind: str):
        x = getattr(self, f"reduce_{kind}")(x)
        x = getattr(self, "{}_end".format(kind))(x)
        return getattr(self, "keep_" + kind)(x)

    def reduce_mean(self, a):
        return a if a.mean() > 0 else -a

    def reduce_sum(self, b):
        return b if b.sum() > 0 else -b

    def other_end(self, c):
        print(c)
        return c

    def keep_all(self, d):
        return d[d > 0]
"""
    assert noted(source) == [
        "test tensor @ a.mean() > 0",
        "test tensor @ b.sum() > 0",
        "call builtins.print @ print(c)",
        "index mask @ d[d > 0]",
    ]


def test_a_function_that_returns_one_of_several_tuples() -> None:
    source = """
class M(torch.nn.Module):
    def forward(self, x):
        y, gradient = torch.func.vjp(torch.sin, x)
        print(gradient(y))
"""
    assert noted(source) == ["call builtins.print @ print(gradient(y))"]


def assumed(source: str, tmp_path: Path) -> list[tuple[str, bool]]:
    """Each operation's source text, and whether nothing had to be assumed for it."""
    path = tmp_path / "m.py"
    path.write_text(source)
    project = Project()
    interpreter = Interpreter(project, LISTENED)
    interpreter.run(project.load(str(path)))
    lines = source.splitlines()
    found = [op for ops in interpreter.finished_notes()[str(path)].values() for op in ops]
    return [(lines[op.line - 1][op.column - 1 : op.end_column - 1], op.sure) for op in found]


def test_what_special_use_alone_reaches_is_not_sure(tmp_path: Path) -> None:
    source = """
import torch
from typing import Optional, Tuple, Union
from torch import Tensor

class M(torch.nn.Module):
    def __init__(self, sides: Union[Tensor, Tuple[float, float]], drop: float = 0.0, keep: float = 0.5):
        super().__init__()
        self.sides, self.drop, self.keep = sides, drop, keep

    def forward(self, x: Tensor, y: Tensor, mask: Optional[Tensor] = None):
        lengths = mask.sum().item() if mask is not None else 3
        low = self.sides.min().item() if isinstance(self.sides, Tensor) else min(self.sides)
        if low < 2:
            x = x + 1
        if self.sides[0] > 1:
            x = x + 1
        if self.training and self.drop > 0 and x.sum() > 1:
            return x
        if not self.training or self.drop == 0.0 or x.sum() > 2:
            return x
        if x is y or x.sum() > 3:
            return x
        if not self.training or self.keep == 0.0 or x.sum() > 4:
            return x
        return y
"""
    assert assumed(source, tmp_path) == [
        ("mask.sum().item()", False),
        ("self.sides.min().item()", False),
        ("self.sides[0] > 1", False),
        ("x.sum() > 1", False),
        ("x.sum() > 2", False),
        ("x.sum() > 3", False),
        ("x.sum() > 4", True),
    ]


def test_names_that_stars_bring(tmp_path: Path) -> None:
    package = tmp_path / "pack"
    package.mkdir()
    (package / "__init__.py").write_text("from .one import *\nfrom .two import *\nfrom .broken import *\n")
    (package / "one.py").write_text("from . import *\nfrom .three import *\n")  # in a circle
    (package / "two.py").write_text("import torch\nclass Other: pass\n")
    (package / "three.py").write_text("def total(x):\n    return x.sum()\n")
    (package / "broken.py").write_text("def nothing(:\n")
    source = """
import torch
from pack import total, gone

@torch.compile
def f(x):
    gone(x)
    if total(x) > 0:
        x = x + 1
    return x
"""
    assert assumed(source, tmp_path) == [("total(x) > 0", True)]
    project = Project(linted=[str(tmp_path / "m.py")])
    interpreter = Interpreter(project, LISTENED)
    interpreter.run(project.load(str(tmp_path / "m.py")))
    assert str(package / "two.py") not in {m.path for m in project._by_path.values()}  # never parsed


def test_the_forward_of_an_autograd_function_is_followed() -> None:
    source = """
class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        print(x)
        return x * 2

class Thrice(torch.autograd.Function):
    @staticmethod
    def forward(x, n):
        if x.sum() > 0:
            return x * n

    @staticmethod
    def setup_context(ctx, inputs, output):
        print(inputs)

class M(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        return Thrice.apply(Twice.apply(x), 3)
"""
    assert noted(source) == ["call builtins.print @ print(x)", "test tensor @ x.sum() > 0"]


def test_what_a_number_read_once_is_a_size_of_is_told_once() -> None:
    source = """
from torch import Tensor

class M(torch.nn.Module):
    def forward(self, x: Tensor, grid: Tensor):
        n = grid.sum()
        x = x.new_zeros(n, 4)
        x = x.repeat(n, 1)
        rows = []
        for t, h in grid:
            rows.append(torch.arange(h).repeat(t))
            rows.append(torch.arange(t).expand(h, -1))
        return x, rows
"""
    assert noted(source) == [
        "size tensor @ x.new_zeros(n, 4)",
        "size tensor @ torch.arange(h)",
    ]


def test_a_function_of_the_project_that_asks_whether_this_is_compiled() -> None:
    source = """
import torch._dynamo
from elsewhere import WITH_PT21, WITH_PT23, compiled

def is_compiling() -> bool:
    "Where torch has it."
    if WITH_PT23:
        return torch.compiler.is_compiling()
    if WITH_PT21:
        return torch._dynamo.is_compiling()
    return False

def whichever():
    if compiled():
        return compiled()
    return False

def is_large(size=3):
    if WITH_PT23:
        return torch.compiler.is_compiling()
    return False

def is_available():
    if WITH_PT23:
        return torch.cuda.is_available()
    return False

class M(torch.nn.Module):
    def forward(self, x):
        if not is_compiling() and x.max() > 1:
            print("a")
        if not whichever() and x.max() > 2:
            x = x + 1
        if not is_large() and x.max() > 3:
            x = x + 1
        if not is_available() and x.max() > 4:
            x = x + 1
        return x
"""
    told = noted(source)
    assert [n for n in range(1, 5) if any(f"x.max() > {n}" in t for t in told)] == [2, 3, 4]


def test_a_function_of_another_library_that_asks_whether_this_is_compiled() -> None:
    """`transformers.utils.is_torchdynamo_compiling` and its copies, which the linter cannot read."""
    source = """
from transformers.utils import is_torchdynamo_compiling
from ..utils import is_torchdynamo_compiling as asked
from tensordict.utils import is_compiling
from elsewhere import is_training

class M(torch.nn.Module):
    def forward(self, x):
        if not is_torchdynamo_compiling() and x.max() > 1:
            x = x + 1
        if not asked() and x.max() > 2:
            x = x + 1
        if not is_compiling() and x.max() > 3:
            x = x + 1
        if not is_training() and x.max() > 4:
            x = x + 1
        return x
"""
    told = noted(source)
    assert [n for n in range(1, 5) if any(f"x.max() > {n}" in t for t in told)] == [4]


def test_a_container_that_holds_itself() -> None:
    source = """
def settings(flag):
    a, b = {}, {}
    a["a"] = a
    b["a"] = b
    c = a if flag else b
    both = [c]
    both.append(both)
    return [a, b, c] if flag else both

class M(torch.nn.Module):
    def forward(self, x, flag):
        for _ in settings(flag):
            print(x)
"""
    assert noted(source) == ["call builtins.print @ print(x)"]


@pytest.mark.parametrize(
    "first",
    [
        "self.ignored is not None and self.ignored < 0",
        "self.ignored is not None and x.shape[0] > 1",
        "self.ignored",
    ],
)
def test_what_one_branch_knows_of_an_attribute_ends_with_it(first: str) -> None:
    source = f"""
from typing import Optional

class M(torch.nn.Module):
    def __init__(self, ignored: Optional[int] = None):
        super().__init__()
        self.ignored = ignored

    def forward(self, x: torch.Tensor):
        if {first}:
            x = x + 1
        if self.ignored is None and x.max() > 1:
            raise ValueError("too large")
        return x
"""
    assert any("x.max() > 1" in told for told in noted(source))


@pytest.mark.parametrize(
    ("says", "uses"),
    [
        ("def __bool__(self):\n        return bool((self.t > 0).all())", "if Held(x):\n        x = x + 1"),
        (
            "def __contains__(self, o):\n        return bool((self.t == o).all())",
            "if x in Held(x):\n        x = x + 1",
        ),
        (
            "def __eq__(self, o):\n        return bool((self.t == o.t).all())",
            "if Held(x) == Held(x):\n        x = x + 1",
        ),
        (
            "def __eq__(self, o):\n        return bool((self.t == o.t).all())",
            "if Held(x) != Held(x):\n        x = x + 1",
        ),
        (
            "def __add__(self, o):\n        return Held(self.t + bool((self.t > 0).all()))",
            "x = (Held(x) + 1).t",
        ),
        (
            "def __rmul__(self, o):\n        return Held(self.t + bool((self.t > 0).all()))",
            "x = (2 * Held(x)).t",
        ),
        (
            "def __iadd__(self, o):\n        self.t = self.t + bool((self.t > 0).all())\n        return self",
            "h = Held(x)\n    h += 1",
        ),
        ("def __lt__(self, o):\n        return bool((self.t < o.t).all())", "x = x + (Held(x) < Held(x))"),
    ],
)
def test_methods_that_python_calls_for_operators(says: str, uses: str) -> None:
    source = f"""
class Held:
    def __init__(self, t):
        self.t = t

    {says}

@torch.compile
def f(x: torch.Tensor):
    {uses}
    return x
"""
    [told] = noted(source)
    assert told.startswith("test tensor")
    assert ".all()" in told


def test_a_tensor_with_what_may_be_an_object_may_make_an_object(tmp_path):
    """`h * gate` may be what `Held.__mul__` returns; then `held + h` adds two of them, which is traced."""
    code = """
        import torch
        from elsewhere import drawn
        class Held:
            def __init__(self, t):
                self.t = t
            def __mul__(self, o):
                return Held(self.t * o)
            def __add__(self, o):
                return Held(self.t + o.t)
        def layer(h):
            if isinstance(h, Held):
                return Held(h.t * 2)
            return torch.relu(h)
        @torch.compile
        def f(t: torch.Tensor, gate: torch.Tensor):
            held = Held(t)
            h = layer(drawn(t))
            h = h * gate
            held = held + h
            return held * gate
    """
    path = tmp_path / "m.py"
    path.write_text(textwrap.dedent(code))
    found = [one.line for one in lint([str(path)]).findings if one.code == "PTB196"]
    assert found == [21]


@pytest.mark.parametrize("locked", [True, False])
def test_a_property_that_python_computes_under_a_lock(monkeypatch: pytest.MonkeyPatch, locked: bool) -> None:
    """A `cached_property` that compiled code reads first, on Python up to 3.11 alone."""
    monkeypatch.setattr("pt2lint.rules.graph_break.untraced_object.LOCKED", locked)
    source = """
import torch
from functools import cached_property

class Vocabulary:
    @cached_property
    def ids(self):
        return [3, 4]
    @cached_property
    def first(self):
        return self.ids[0]
    @cached_property
    def size(self):
        return 9

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.words = Vocabulary()
        self.kept = 4

    @cached_property
    def mask(self):
        return torch.ones(4)

    @cached_property
    def kept(self):
        return 3

    def rows(self, x):
        return x[:, self.words.first]  # PTB196

    def forward(self, x: torch.Tensor):
        x = self.rows(x.sin() * self.mask)  # PTB196
        return x * self.words.size * self.kept

def main():
    net = Net()
    print(net.words.size)
    torch.compile(net)(torch.ones(4, 4))
"""
    found = findings(source, select=("PTB196",))
    assert [(one.line, one.code, one.severity) for one in found] == [
        (line, code, "error") for line, code in announced(source) if locked
    ]


def test_what_a_data_class_does_when_it_is_made() -> None:
    source = """
from dataclasses import dataclass

@dataclass
class Batch:
    x: torch.Tensor

    def __post_init__(self):
        if self.x.min() < 0:
            raise ValueError("negative")

@torch.compile
def f(x):
    return Batch(x).x + 1
"""
    assert noted(source) == ["test tensor @ self.x.min() < 0"]


def test_what_an_object_sets_as_it_is_made_was_not_there_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor is anything compiled again for it."""
    import torch._dynamo.testing

    path = tmp_path / "made_of_rates.py"
    code = """
from dataclasses import dataclass
import torch

@dataclass
class Rates:
    rate: float = None
    calls: int = 0

    def __post_init__(self):
        self.calls += 1
        if self.rate is None:
            self.rate = 0.5

class Sizes:
    def __init__(self):
        self.calls = 0
        self.calls += 1
        self.size = None
        if self.size is None:
            self.size = 2

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.rates, self.sizes = Rates(), Sizes()

    def forward(self, x):
        return x * self.rates.rate * Rates().rate * self.sizes.size * Sizes().size
"""
    path.write_text(code)
    assert not lint([str(path)]).findings
    monkeypatch.syspath_prepend(str(tmp_path))
    torch._dynamo.reset()
    counts = torch._dynamo.testing.CompileCounter()
    net = torch.compile(importlib.import_module(path.stem).Net(), backend=counts)
    for _ in range(4):
        net(torch.ones(3))
    assert counts.frame_count == 1


def test_a_tensor_and_what_may_be_one_make_a_tensor() -> None:
    code = """
import torch

def moved(*args):
    return [a.to("cpu") for a in args]

@torch.compile
def f(x: torch.Tensor, y):
    _, y = moved(x, y)
    return (x - y).sum().item()
"""
    assert [(f.line, f.confidence) for f in lint(["m.py"], None, {"m.py": code}).findings] == [(10, "high")]


def test_parts_of_a_module_dict_by_attribute() -> None:
    code = """
import torch
from torch import nn

class Block(nn.Module):
    def forward(self, x):
        print(x.shape)
        return x + 1

class Net(nn.Module):
    def __init__(self, count):
        super().__init__()
        self.body = nn.ModuleDict(dict(wte=nn.Embedding(9, 4), h=nn.ModuleList([Block() for _ in range(count)])))

    def forward(self, ids):
        x = self.body.wte(ids)
        for block in self.body.h:
            x = block(x)
        return x if x.sum() > 0 else -x
"""
    found = {f.line: f for f in lint(["m.py"], None, {"m.py": code}).findings}
    assert list(found) == [7, 19]
    assert found[7].flow[0].message == "`Net.forward` is compiled"


def test_the_first_elements_of_tuples_of_several_lengths_keep_their_places() -> None:
    """A table says of each name what to compile, and what makes its arguments, which is not compiled."""
    pairs = "\n".join(
        f"def run{n}(x):\n    return x\n\ndef make{n}():\n    print(1)\n    return torch.ones(3)\n"
        for n in range(12)
    )
    table = ", ".join(f"'{n}': ('a', run{n}, make{n}{', True' * (n % 2)})" for n in range(12))
    use = "name, run, make = TABLE[name][:3]\n    torch.compile(run)(make())\n"
    assert noted(f"import torch\n\n{pairs}\nTABLE = {{{table}}}\n\ndef main(name):\n    {use}") == []
    later = use.replace("name, run", "run").replace("[:3]", "[1:]")
    assert noted(f"import torch\n\n{pairs}\nTABLE = {{{table}}}\n\ndef main(name):\n    {later}") == []
