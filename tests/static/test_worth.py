"""What makes a note of a finding that is right: who runs the code, and when."""

from __future__ import annotations

from pathlib import Path

import pytest

from pt2lint.check import check
from pt2lint.finding import Finding
from pt2lint.op import Op
from pt2lint.project.config import Configs, Settings
from pt2lint.static.engine import lint
from pt2lint.static.facts import merged
from pt2lint.static.interpreter.guards import MARKS, NO_WEIGHTS, RARE
from tests.linting import findings

HEAD = """
import enum
import logging
import warnings
import numpy as np
import torch
from torch import nn
logger = logging.getLogger(__name__)
"""
NO_TENSOR = "in a module that returns no tensor, which no model calls"
ITERATES = "in a loop that runs until its values say so"
WARNS = "where the code warns"
LATE = "where something took too long"
PARTS = "in a module that compiles its parts one by one"
OPTIONAL = "on a way that an option or an argument opens, and nothing here compiles the module"
RARE_ROWS = "in a function that is given one row of a batch after the other"
SPREAD = "where several processes work together"
ASIDE = "beside the model: no repair keeps it in the graph, and nothing here compiles the module"


def notes(tmp_path: Path, code: str, only: str = "PTB103") -> list[str]:
    """Why each sure finding with the code is a note, "" where it is none."""
    return [f.note for f in _linted(tmp_path, code) if f.code == only]


def _linted(tmp_path: Path, code: str) -> list[Finding]:
    path = tmp_path / "package" / "m.py"
    path.parent.mkdir(exist_ok=True)
    (path.parent / "__init__.py").touch()
    path.write_text(HEAD + code)
    return lint([str(path)], Settings(target_torch=(2, 13))).findings


FORWARD = """
class M(nn.Module):
    def __init__(self, scale, inner=None):
        super().__init__()
        {init}

    def forward(self, x: torch.Tensor):
        return {result}
"""
ITEM = "x * x.sum().item()"
WEIGHTLESS = "in a module without weights, which no model calls"


@pytest.mark.parametrize(
    ("init", "result", "note"),
    [
        ("self.scale = scale", ITEM, WEIGHTLESS),
        ("self.act = nn.ReLU()", f"self.act({ITEM})", WEIGHTLESS),
        ("self.register_buffer('kept', torch.ones(2))", ITEM, WEIGHTLESS),
        ("self.rng = np.random.default_rng()", f"{ITEM} * self.rng.normal()", WEIGHTLESS),
        ("self.rng = scale", f"{ITEM} * self.rng.normal()", ""),
        ("self.draw = torch.distributions.Bernoulli(0.5)", f"{ITEM} * self.draw.sample()", WEIGHTLESS),
        ("self.weight = nn.Parameter(torch.ones(2))", ITEM, ""),
        ("self.layer = nn.Linear(2, 2)", ITEM, ""),
        ("self.layers = nn.ModuleList([nn.Linear(2, 2) for _ in range(3)])", ITEM, ""),
        ("self.layers = nn.Sequential(nn.ReLU(), nn.Conv2d(2, 2, 1))", ITEM, ""),
        ("self.register_parameter('w', None)", ITEM, ""),
        # what it is given and calls may be a model
        ("self.inner = inner", f"self.inner({ITEM})", ""),
        # a loss
        ("self.scale = scale", f"({ITEM}).mean()", ""),
        ("self.scale = scale", f"(({ITEM}).mean(), x)", ""),
        # a forward that returns plain numbers
        (
            "self.layer = nn.Linear(2, 2)",
            "x.sum().item()",
            "in a module that returns no tensor, which no model calls",
        ),
        (
            "self.layer = nn.Linear(2, 2)",
            "{'loss': x.sum().item()}",
            "in a module that returns no tensor, which no model calls",
        ),
    ],
)
def test_who_runs_a_module_decides(tmp_path: Path, init: str, result: str, note: str) -> None:
    code = FORWARD.format(init=init, result=result)
    assert notes(tmp_path, code) == [note]
    script = tmp_path / "script.py"
    script.write_text(HEAD + code)
    found = [f.note for f in lint([str(script)]).findings if f.code == "PTB103"]
    assert found == [""]  # what a script holds is what it runs
    # What a model calls, or the project compiles, is compiled.
    if "inner" not in init:
        model = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.part, self.out = M(1), nn.Linear(2, 2)

    def forward(self, x: torch.Tensor):
        self.part(x)
        return self.out(x)
"""
        assert notes(tmp_path, code + model) == [""]
    assert notes(tmp_path, code + "\nfast = torch.compile(M(1))\n") == [""]


def test_a_folder_of_tests_that_is_called_as_a_library_is_not_that(tmp_path: Path) -> None:
    code = """
import tilelang

@tilelang.jit(out_idx=[-1])
def kernel(x: torch.Tensor):
    if x.sum() > 2:
        x = x + 1
    return x

class M(nn.Linear):
    def forward(self, x: torch.Tensor):
        return super().forward(kernel(x))
"""
    for name, text in (
        ("package/__init__.py", ""),
        ("package/m.py", HEAD + code),
        ("tests/test_other.py", "import torch\n"),
        ("tests/tilelang/test_m.py", "import torch\n"),
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert not lint([str(tmp_path)], Settings(target_torch=(2, 13))).findings


def test_the_way_through_a_call_method_of_a_base_is_no_other(tmp_path: Path) -> None:
    code = f"""
class Base(nn.Module):
    def __call__(self, *args):
        return super().__call__(*args)

class M(Base):
    def forward(self, x: torch.Tensor):
        return {ITEM}
"""
    assert notes(tmp_path, code) == [WEIGHTLESS]


@pytest.mark.parametrize(
    ("given", "kept", "call", "note"),
    [
        ("part: nn.Module", "part", "x = self.kept(x)", ""),
        # What it passes on may be augmentations: a container says nothing of its parts.
        (
            "parts: list[nn.Module]",
            "nn.ModuleList(parts)",
            "for part in self.kept:\n            x = part(x)",
            WEIGHTLESS,
        ),
        ("parts", "parts", "for part in self.kept:\n            x = x + part", WEIGHTLESS),
        ("part: nn.Module", "part", "x = x * self.kept.rate", WEIGHTLESS),
        ("x", "nn.ModuleList([nn.ReLU()])", "for part in self.kept:\n            x = part(x)", WEIGHTLESS),
    ],
)
def test_a_part_that_a_module_is_given_and_calls_may_hold_weights(
    tmp_path: Path, given: str, kept: str, call: str, note: str
) -> None:
    code = f"""
class M(nn.Module):
    def __init__(self, {given}):
        super().__init__()
        self.kept = {kept}

    def forward(self, x: torch.Tensor):
        x = {ITEM}
        {call}
        return x
"""
    assert notes(tmp_path, code) == [note]


@pytest.mark.parametrize(
    ("test", "said", "note"),
    [
        ("torch.isnan(x).any() or x.sum() > 9", "'not a number'", WARNS),
        ("torch.isnan(x).any()", "x.shape", ""),
        ("self.out", "'not a number'", WARNS),
        ("self.out", "'not a ' + 'number'", WARNS),
        ("self.out", "'out', self.out", ""),
        ("self.out", "'out ' + str(self.out)", ""),
        # it says so itself, and leaves things as they are
        ("self.out", "f'Warning: {x.shape} is too much'", WARNS),
        ("self.out", "f'Warning: {x.shape} is too much')\n            return (x", WARNS),
        ("self.out", "f'{x.shape} is too much')\n            return (x", ""),
        ("x.shape[0] > 9", "f'Warning: {x.shape} is too much')\n            x = (x[:9]", WARNS),
        # and goes on without what it would have done
        ("x.shape[0] > 9", "'too long')\n            fast = (False", WARNS),
        ("x.shape[0] > 9", "'long')\n            fast = (True", ""),
    ],
)
def test_what_is_printed_of_values_that_should_not_be(
    tmp_path: Path, test: str, said: str, note: str
) -> None:
    code = FORWARD.format(init="self.layer, self.out = nn.Linear(2, 2), scale", result="self.layer(x)")
    code = code.replace(
        "        return", f"        x = x * 2\n        if {test}:\n            print({said})\n        return"
    )
    assert notes(tmp_path, code, "PTB101") == [note]
    other = f"print({said})\n        else:\n            x = x + 1"
    told = note if "isnan" in test or "Warning" in said else ""
    assert notes(tmp_path, code.replace(f"print({said})", other), "PTB101") == [told]


@pytest.mark.parametrize(
    ("body", "note"),
    [
        ("if x.shape[0] > 3:\n            warnings.warn('too long')", WARNS),
        (
            "if x.shape[0] > 3:\n            logger.warning('too long')\n            x.sum().item()",
            "where the code warns",
        ),
        (
            "if x.shape[0] < 3:\n            return x\n        warnings.warn('long')\n        x = x * 2",
            "where the code warns",
        ),
        (
            "if x.shape[0] > 3:\n            import warnings as w\n            w.warn('long')",
            "where the code warns",
        ),
        (
            "if x.shape[0] > 3:\n            log = logging.getLogger('net')\n            log.warning('long')",
            "where the code warns",
        ),
        ("if x.shape[0] > 3:\n            tell(x.shape)", "where the code warns"),
        ("if x.shape[0] > 3:\n            print(f'WARNING: {x.shape} ' + 'is long')", "where the code warns"),
        ("if x.shape[0] > 3:\n            print('Warning: %s' % x.shape)", "where the code warns"),
        (
            "if way == 'a':\n            x = x + 1\n        elif way == 'b':\n            x = x + 2\n        else:\n"
            "            print('no such way')",
            "where the code warns",
        ),
        ("if way == 'a':\n            x = x + 1\n        else:\n            print('the other way')", ""),
        ("warnings.warn('at every call')", ""),
        ("if x.shape[0] > 3:\n            logger.info('long')", ""),
    ],
)
def test_a_branch_that_warns_is_not_what_runs(tmp_path: Path, body: str, note: str) -> None:
    code = f"""
def tell(sizes):
    words = ", ".join(str(size) for size in sizes)
    warnings.warn(f"too long: {{words}}")

class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)

    def forward(self, x: torch.Tensor, way: str):
        x = x * 2
        {body}
        return self.layer(x)
"""
    assert set(notes(tmp_path, code, "PTB101" if "print(" in body else "PTB102")) == {note}


def test_what_a_caller_found_of_the_object_holds(tmp_path: Path) -> None:
    code = """
class Kind(enum.Enum):
    A = 1
    B = 2

class M(nn.Module):
    def __init__(self, fixed: bool, changing: bool, kind):
        super().__init__()
        self.layer = nn.Linear(2, 2)
        self.fixed, self.changing, self.kind = fixed, changing, kind

    @property
    def read(self):
        return not self.fixed

    def change(self):
        self.changing = True

    def helper(self, x):
        if not self.fixed:
            return x.sum().item()
        if not self.read:
            return x.min().item()
        if not self.changing:
            return x.max().item()

    def forward(self, x: torch.Tensor):
        if self.kind == Kind.A:
            x.mean().item()
        if self.fixed and self.changing and self.read:
            self.helper(x)
        return self.layer(x)
"""
    path = tmp_path / "m.py"
    path.write_text(HEAD + code)
    found = [(f.when, f.line) for f in lint([str(path)]).findings if f.code == "PTB103"]
    lines = path.read_text().splitlines()
    assert [(when, lines[line - 1].strip()) for when, line in found] == [
        (("self.fixed", "self.changing", "self.read"), "return x.max().item()"),
        (("self.kind == Kind.A",), "x.mean().item()"),
    ]


@pytest.mark.parametrize(
    ("code", "note"),
    [
        # an explainer: it trains what it is given
        (
            """
class Explainer(nn.Module):
    def forward(self, model, x: torch.Tensor):
        self.mask = nn.Parameter(torch.ones(2))
        optimizer = torch.optim.Adam([self.mask])
        for _ in range(3):
            optimizer.zero_grad()
            loss = model(x * self.mask).sum()
            optimizer.step()
        return loss * x.sum().item()
""",
            "in a module that trains another",
        ),
        # a trainer around a model
        (
            """
from accelerate import Accelerator

class Trainer(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
        self.accelerator = Accelerator()

    def forward(self, x: torch.Tensor):
        loss = self.model(x).sum()
        self.accelerator.backward(loss)
        return x.sum().item()
""",
            "in a module that trains another",
        ),
        # post-processing: no gradient, and no tensor comes out
        (
            """
class Boxes(nn.Module):
    @torch.no_grad()
    def forward(self, x: torch.Tensor):
        self.layer = nn.Linear(2, 2)
        return [{"score": each, "count": x.sum().item()} for each in x]
""",
            NO_TENSOR,
        ),
        # it looks into what it is given
        (
            """
class Attribution(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(2, 2)

    def forward(self, model: nn.Module, x: torch.Tensor):
        return self.out(model(x) * x.sum().item())
""",
            "in a module that is given another one at each call",
        ),
        (
            """
class Parallel(nn.DataParallel):
    def forward(self, x: torch.Tensor):
        return self.module(x * x.sum().item())
""",
            "in code that is seldom compiled",
        ),
    ],
)
def test_code_that_nobody_compiles(tmp_path: Path, code: str, note: str) -> None:
    assert notes(tmp_path, code) == [note]


PLAIN = """
class Base(nn.Module, Generic[T]):
    def __init__(self, scale: float):
        super().__init__()
        self.scale = scale

class Exported(torch.autograd.Function):
    @staticmethod
    def symbolic(g, x):
        return g.op("own::Same", x)

    @staticmethod
    def forward(ctx, x):
        return x

class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2

class A(Base[torch.Tensor]):
    def forward(self, x: torch.Tensor):
        return {result}

class B(A):  # the function runs again, for what it ran for before
    def forward(self, x: torch.Tensor):
        return {result}
"""


@pytest.mark.parametrize(
    ("result", "note"),
    [(ITEM, WEIGHTLESS), (f"Twice.apply({ITEM})", ""), (f"Exported.apply({ITEM})", WEIGHTLESS)],
)
def test_bases_of_types_are_known_and_a_gradient_of_its_own_is_for_training(
    tmp_path: Path, result: str, note: str
) -> None:
    code = "from typing import Generic, TypeVar\nT = TypeVar('T')\n" + PLAIN.format(result=result)
    assert notes(tmp_path, code) == [note, note]


def test_what_a_base_class_runs_is_not_run_for_each_class_below_it(tmp_path: Path) -> None:
    many = range(40)  # more than a function is run for: what it does for others is guessed
    code = """
class Base(nn.Module):
    def change(self, x):
        return x

    def forward(self, x: torch.Tensor):
        return self.change(x)

class Learned(nn.Module):
    def __init__(self, change: Base):
        super().__init__()
        self.change, self.strength = change, nn.Parameter(torch.ones(2))

    def forward(self, x: torch.Tensor):
        return self.change(x) * self.strength
"""
    for i in many:
        code += f"""
class Change{i}(Base):
    def change(self, x):
        return x * x.sum().item()
"""
    assert set(notes(tmp_path, code)) == {WEIGHTLESS}


def test_a_key_that_nothing_has_set_holds_what_nobody_knows() -> None:
    code = """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)

    def forward(self, data: dict, i: torch.Tensor):
        data = {"sizes": [1, 2]}
        return self.layer(data["scale"][i]) + data["sizes"][i]
"""
    [found] = findings(HEAD + code)
    assert (found.code, found.column) == ("PTB106", 61)


def test_a_private_module_is_judged_by_who_calls_it(tmp_path: Path) -> None:
    code = FORWARD.format(init="self.layer = nn.Linear(2, 2)", result=ITEM).replace("class M", "class _M")
    assert notes(tmp_path, code) == ["in a private module, which no model calls"]
    model = FORWARD.format(init="self.part, self.layer = _M(1), nn.Linear(2, 2)", result="self.part(x)")
    assert notes(tmp_path, code + model) == [""]


def test_what_a_test_calls_is_counted_once() -> None:
    source = (
        HEAD
        + """
@torch.compile
def f(x: torch.Tensor, limit):
    if torch.numel(torch.relu(x)) > limit and limit is not None:
        x = torch.sin(x)
    return x.item()
"""
    )
    [price] = [f.price for f in findings(source) if f.code == "PTB103"]
    assert price is not None
    assert (price.before, price.after) == (4, 0)


UNCALLED = "in code that no model calls"
WRAPPED = """
import functools
def kept(fn):
    memory = []
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        if memory:
            return memory[-1]
        memory.append(fn(*args, **kwargs))
        return memory[-1]
    return wrapper
"""
OPTIMIZER = """
class Descent(torch.optim.Optimizer):
    @torch.no_grad()
    def step(self, closure=None):
        self.count()
        for group in self.param_groups:
            if "step" in group:
                group["step"] += 1
            else:
                group["step"] = 1

    def count(self):
        for group in self.param_groups:
            pass
"""


@pytest.mark.parametrize(
    ("code", "only"),
    [
        (f"def scaled(x: torch.Tensor):\n    return {ITEM}\n", "PTB103"),
        (f"def scaled(x):\n    x = torch.relu(x)\n    return {ITEM}\n", "PTB103"),
        ("def scaled(kept: dict[str, torch.Tensor]):\n    return kept['x'].sum().item()\n", "PTB103"),
        (
            f"class Processor:\n    def __call__(self, layer, x: torch.Tensor):\n        return {ITEM}\n",
            "PTB103",
        ),
        (
            f"class Tool:\n    @staticmethod\n    def scaled(x: torch.Tensor):\n        return {ITEM}\n",
            "PTB103",
        ),
        (
            "class Grid:\n    at: torch.Tensor\n    def size(self):\n        return self.at.max().item()\n",
            "PTB103",
        ),
        (
            "class Grid:\n    at: torch.Tensor\ndef size(grid: Grid):\n    return grid.at.max().item()\n",
            "PTB103",
        ),
        (f"{WRAPPED}\n@kept\ndef scaled(x: torch.Tensor):\n    return {ITEM}\n", "PTB103"),
        (
            f"{WRAPPED}\n@kept\ndef lengths(x: torch.Tensor) -> torch.Tensor:\n    return x.diff()\n"
            "def last(x: torch.Tensor):\n    return lengths(x).item()\n",
            "PTB103",
        ),
        (OPTIMIZER, "PTR218"),
        (
            "def toggle(optimizers):\n    for one in optimizers:\n        for group in one.param_groups:\n"
            "            for p in group['params']:\n                p.requires_grad = False\n",
            "PTB161",
        ),
        (
            "MEMO = {}\ndef known(kind, x: torch.Tensor):\n    out = MEMO.get(kind)\n    if out is None:\n"
            "        out = True\n        MEMO[kind] = out\n    return x * out\nknown(int, torch.ones(2))\n",
            "PTR217",
        ),
        # What only a tensor is done to: an index of several dimensions.
        (
            "def started(x: torch.Tensor, given):\n    return x + given['start'][..., 1:].sum().item()\n",
            "PTB103",
        ),
    ],
)
def test_what_a_package_offers_besides_models(tmp_path: Path, code: str, only: str) -> None:
    assert notes(tmp_path, code, only) == [UNCALLED]
    script = tmp_path / "script.py"
    script.write_text(HEAD + code)
    told = [f.note for f in lint([str(script)]).findings]
    assert told == ([UNCALLED] if code == OPTIMIZER else [])  # what a script does not compile runs as it is
    named = Settings(root_names=("elsewhere:step",))
    assert [f for f in lint([str(tmp_path / "package" / "m.py")], named).findings if f.code == only] == []


TRAINING = """
def train(model, loader, optimizer):
    for x, y in loader:
        loss = model(x).sub(y).mean()
        {0}
        print(loss.item())

def scaled(x: torch.Tensor):
    return x * x.max().item()
"""
MAKES = """
def make(model):
    def train(x, y):
        loss = model(x).sub(y).mean()
        {0}
        print(loss.item())
    {1}
"""
PART = """
def train_loss(net, x):
    print(x.shape)
    return net(x).mean()

def made(net):
    return net(torch.ones(2)).item()
"""
TOP, INNER = (
    "for x in data:\n    ",
    "def run(net, data):\n    torch.optim.SGD([net])\n    for x in data:\n        ",
)
BACKWARD, GRADLESS = "loss.backward()", "with torch.no_grad(): model(x)"


@pytest.mark.parametrize(
    ("code", "told", "in_package"),
    [
        (TRAINING.format(BACKWARD), {"PTB101", "PTB103", "PTB160"}, {"PTB101", "PTB103", "PTB160"}),
        (TRAINING.format(GRADLESS), {"PTB101", "PTB103"}, set()),  # each model of a package has some
        (TRAINING.format("optimizer.step()"), set(), set()),
        # who writes it has chosen what to compile
        (f"fast = torch.compile(scaled)\n{TRAINING.format(BACKWARD)}", set(), None),
        # of a whole program somebody compiles a part
        (TRAINING.format(f"optimizer = torch.optim.SGD([x])\n        {BACKWARD}"), set(), set()),
        (
            "def made(x):\n    return torch.optim.SGD([x])\n"
            + TRAINING.format(f"optimizer = made(x)\n        {BACKWARD}"),
            set(),
            set(),
        ),
        # of a function that makes what trains, that is looked at
        (
            MAKES.format(BACKWARD, "return train"),
            {"PTB101", "PTB103", "PTB160"},
            {"PTB101", "PTB103", "PTB160"},
        ),
        (MAKES.format(GRADLESS, "return train"), {"PTB101", "PTB103"}, set()),
        (MAKES.format(BACKWARD, "keep(train)"), set(), set()),
        # and of a whole program what runs its model for what it computes gradients of
        (f"{PART}{TOP}loss = train_loss(net, x); (loss / 2).backward()", {"PTB101"}, {"PTB101"}),
        (f"{PART}{INNER}loss = train_loss(net, x); (loss / 2).backward()", {"PTB101"}, {"PTB101"}),
        (f"{PART}{TOP}loss = net(x); seen = train_loss(net, x); loss.backward()", set(), None),
        # what sets up weights trains none
        (TRAINING.format("with torch.no_grad(): x.zero_()").replace("model(x)", "x"), set(), set()),
    ],
)
def test_what_trains_is_a_note(
    tmp_path: Path, code: str, told: set[str], in_package: set[str] | None
) -> None:
    script = tmp_path / "script.py"
    script.write_text(HEAD + code)
    found = [f for f in lint([str(script)]).findings if f.line < 15]
    assert {f.code for f in found if f.is_graph_break} == told
    assert {f.note for f in found if f.is_graph_break} <= {UNCALLED}
    if in_package is not None:
        inside = [f for f in _linted(tmp_path, code) if f.is_graph_break and "train" in f.flow[0].message]
        assert {f.code for f in inside} == in_package


def test_what_trains_is_not_to_be_disabled(tmp_path: Path) -> None:
    code = """
def train(model, loader: torch.utils.data.DataLoader):
    logs = {}
    for x in loader:
        loss = model(x).mean()
        loss.backward()
        logs["loss"] = loss.detach().cpu().numpy().item()
    return logs
"""
    script = tmp_path / "script.py"
    script.write_text(HEAD + code)
    offered = [fix.description for f in lint([str(script)]).findings for fix in f.fixes]
    assert not any("run `train` outside" in each for each in offered)
    assert any("`loss.detach().cpu().detach()`" in each for each in offered)  # an array has no `detach`


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("len(loader)", "asks a data loader or a dataset for its length"),
        ("torch.utils.data.DataLoader([x])", "makes a data loader"),
        ("[*enumerate(loader)]", "draws from a data loader"),
    ],
)
def test_what_is_done_with_a_data_loader(tmp_path: Path, code: str, says: str) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        f"{HEAD}\n@torch.compile\ndef f(x, loader: torch.utils.data.DataLoader):\n    return {code}\n"
    )
    assert [says in f.message for f in lint([str(script)]).findings if f.code == "PTB188"] == [True]


@pytest.mark.parametrize(("asked", "told"), [("size", []), ("size()", ["PTB186"])])
def test_the_size_of_an_image_is_no_method(tmp_path: Path, asked: str, told: list[str]) -> None:
    code = f"""
@torch.compile
def wide(picture):
    w, h = picture.{asked}
    return picture.resize((w * 2, h))
"""
    script = tmp_path / "script.py"
    script.write_text(HEAD + code)
    assert [f.code for f in lint([str(script)]).findings if f.severity != "note"] == told


def test_what_trains_changes_nothing_of_what_else_is_told(tmp_path: Path) -> None:
    code = """
class Net(nn.Module):
    def forward(self, x: torch.Tensor):
        print(x)
        return x * 2

def train(net, loader):
    for x in loader:
        net(x).sum().backward()

def test(net, loader):
    with torch.no_grad():
        for x in loader:
            net(x)

if __name__ == "__main__":
    net = Net()
    loader = torch.utils.data.DataLoader([torch.ones(2)], drop_last=True)
    train(net, loader)
    test(net, loader)
"""
    script = tmp_path / "script.py"
    script.write_text(HEAD + code)
    found = lint([str(script)]).findings
    ways = [f for f in found if f.code == "PTR222"]
    assert [(f.note, "without gradients, and with them" in f.message) for f in ways] == [("", True)]
    assert [(f.severity, f.flow[0].message) for f in found if f.code == "PTB101"] == [
        ("warning", "`Net.forward` is compiled")
    ]


def test_what_only_uncalled_code_gives_is_no_models_break(tmp_path: Path) -> None:
    code = """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)

    def valid(self, length):
        for _ in range(3):
            length = math.ceil(length / 2)
        return length

    def forward(self, x: torch.Tensor):
        return self.layer(x)[: self.valid(x.shape[-1])]

def padded(model: M, x: torch.Tensor):
    return x[: model.valid(x.sum())]
"""
    assert notes(tmp_path, "import math\n" + code, "PTB104") == []
    called = code.replace("self.valid(x.shape[-1])", "1")
    assert notes(tmp_path, "import math\n" + called, "PTB104") == [UNCALLED]


def test_the_way_that_is_told_is_a_models() -> None:
    code = f"""
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)

    def forward(self, x: torch.Tensor):
        return scaled(self.layer(x).bool())

class Copies(nn.DataParallel):
    def forward(self, x: torch.Tensor):
        for _ in range(3):
            x = scaled(x)
        return x

def scaled(x):
    return {ITEM}
"""
    [found] = [f for f in findings(HEAD + code) if f.code == "PTB103"]
    assert (found.note, found.severity) == ("", "warning")
    assert found.flow[0].message == "`Model.forward` is compiled"


ITERATING = """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)
        self.layers = nn.ModuleList([nn.Linear(2, 2) for _ in range(3)])

    def nearest(self, x, centers):
        return (x - centers) * x.sum().item()

    def forward(self, x: torch.Tensor):
        centers = x[:1]
        {loop}
        return self.layer(centers)
"""


@pytest.mark.parametrize(
    ("loop", "note"),
    [
        ("for _ in range(9):\n            x = self.nearest(x, centers)\n            {exit}", ITERATES),
        ("while True:\n            x = self.nearest(x, centers)\n            {exit}", ITERATES),
        ("while x.sum() > 1:\n            x = self.nearest(x, centers)", ITERATES),
        # the index only says how far it came
        (
            "for i in range(9):\n            x = self.nearest(x, centers)\n            {exit}\n"
            "            if i == 8:\n                print('it has not converged')",
            ITERATES,
        ),
        (
            "for i in range(9):\n            x = self.nearest(x, centers)\n            {exit}\n"
            "            if i == 8:\n                logging.getLogger('knn').error('it has not converged')",
            ITERATES,
        ),
        # what only has the name of a message computes
        (
            "for i in range(9):\n            x = self.nearest(x, centers)\n            {exit}\n"
            "            if i == 8:\n                self.layer.warn_up(x)",
            "",
        ),
        (
            "for i in range(9):\n            x = self.nearest(x, centers)\n            {exit}\n"
            "            if i == 8:\n                x = self.layer(x)",
            "",
        ),
        # or how many turns are enough
        (
            "for i in itertools.count():\n            x = self.nearest(x, centers)\n            {exit}\n"
            "            if most > 0 and i >= most:\n                break",
            ITERATES,
        ),
        (
            "for i in itertools.count():\n            x = self.nearest(x, centers)\n            {exit}\n"
            "            if self.layer(x[i]) is None:\n                break",
            "",
        ),
        # it goes on until Python says so
        ("for _ in range(9):\n            x = self.nearest(x, centers)", ""),
        ("while x.shape[0] > 1:\n            x = self.nearest(x, centers)[1:]", ""),
        # which turn it is matters: these may be layers
        (
            "for i in range(3):\n            x = self.nearest(self.layers[i](x), centers)\n            {exit}",
            "",
        ),
        (
            "for layer in self.layers:\n            x = self.nearest(layer(x), centers)\n            {exit}",
            "",
        ),
    ],
)
def test_an_algorithm_that_runs_until_its_values_say_so(tmp_path: Path, loop: str, note: str) -> None:
    end = "if (x - centers).norm() < 0.1:\n                break"
    assert notes(tmp_path, ITERATING.format(loop=loop.format(exit=end))) == [note]


@pytest.mark.parametrize(
    ("said", "note"),
    [
        ("'--masked', type=bool, default=False", "`self.hparams.masked` is off by default"),
        ("'--masked', action='store_true'", "`self.hparams.masked` is off by default"),
        ("'--masked', action='store_false'", ""),
        ("'--masked', type=bool, default=True", ""),
        ("'--masked', type=bool", ""),
        ("'--other', type=bool, default=False", ""),
    ],
)
def test_an_option_that_the_class_tells_a_parser_of(tmp_path: Path, said: str, note: str) -> None:
    code = f"""
class M(nn.Module):
    def __init__(self, hparams):
        super().__init__()
        self.hparams = hparams
        self.layer = nn.Linear(2, 2)

    @staticmethod
    def add_options(parser):
        parser.add_argument({said})

    def forward(self, x: torch.Tensor):
        x = self.layer(x)
        if self.hparams.masked:
            x = x * x.sum().item()
        return self.layer(x)
"""
    assert notes(tmp_path, code) == [note]


@pytest.mark.parametrize(
    ("fills", "note"),
    [
        ("self.kept[index][n] = x.max().item()", "once"),
        ("if x.sum().item() > self.most:\n                self.kept[index][n] = x", "once"),
        ("self.other[index][n] = x.max().item()", ""),
    ],
)
def test_a_table_in_a_table_is_filled_once(tmp_path: Path, fills: str, note: str) -> None:
    code = f"""
class M(nn.Module):
    def __init__(self, most):
        super().__init__()
        self.kept, self.other, self.most = {{}}, {{}}, most
        self.layer = nn.Linear(2, 2)

    def forward(self, x: torch.Tensor):
        n, x = x.shape[0], self.layer(x)
        index = x.device.index
        if index not in self.kept:
            self.kept[index] = {{}}
        if n not in self.kept[index]:
            {fills}
        return self.layer(x) * 2
"""
    assert notes(tmp_path, code)[0] == note


@pytest.mark.parametrize("graded", ["with torch.no_grad():", "if True:"])
def test_what_a_loss_computes_without_gradients(tmp_path: Path, graded: str) -> None:
    code = """
class Loss(nn.Module):
    def forward(self, x: torch.Tensor):
        {around}
            weight = x.max().item()
        return (x * weight).mean() * self.balance(x)

    {decorated}
    def balance(self, x):
        return x.min().item()
"""
    kept = "@torch.no_grad()" if "no_grad" in graded else ""
    note = "in what a loss computes without gradients" if kept else ""
    loss = code.format(around=graded, decorated=kept)
    assert notes(tmp_path, loss) == [note, note]
    weighted = loss.replace("class Loss(nn.Module):", "class Loss(nn.Linear):")
    assert notes(tmp_path, weighted) == ["", ""]


def test_what_is_handed_on_is_traced_as_who_takes_it_says(tmp_path: Path) -> None:
    code = f"def scaled(x: torch.Tensor) -> torch.Tensor:\n    return {ITEM}\n"
    register = "op = torch.library.custom_op('own::scaled', mutates_args=())(scaled)\n"
    assert notes(tmp_path, code) == [UNCALLED]
    assert notes(tmp_path, code + register) == []


def test_what_a_model_calls_is_judged_by_that(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    helper = f"def scaled(x: torch.Tensor):\n    return {ITEM}\n"
    model = FORWARD.format(init="self.layer = nn.Linear(2, 2)", result="scaled(x)")
    assert notes(tmp_path, helper + model) == [""]
    # in another file, and in a group of files of its own
    package = tmp_path / "package"
    (package / "m.py").write_text(HEAD + helper)
    (package / "model.py").write_text(f"from package.m import scaled\n{HEAD}{model}")
    paths = [str(package / name) for name in ("m.py", "model.py")]
    assert [f.note for f in lint(paths).findings if f.code == "PTB103"] == [""]
    monkeypatch.setattr("pt2lint.static.engine.GROUP", 1)
    assert [f.note for f in lint(paths).findings if f.code == "PTB103"] == [""]


@pytest.mark.parametrize("rare", [UNCALLED, "once"])
def test_what_runs_in_eager_mode_too_is_judged_by_where_it_is_traced(rare: str) -> None:
    traced = Op("set os.environ[]", 1, 1, 1, 5, region=True, when=("x",), rare=rare)
    eager = traced._replace(region=False, when=(), rare="")
    for both in (merged(eager, traced), merged(traced, eager)):
        assert (both.region, both.when, both.rare) == (True, ("x",), rare)


def test_what_a_model_of_another_group_of_files_asks_for_holds_of_its_parts() -> None:
    alone = Op("Tensor.item", 1, 1, 1, 5, region=True, rare=RARE[NO_WEIGHTS])
    called = alone._replace(when=("self.rope is not None",), rare="")
    for both in (merged(alone, called), merged(called, alone)):
        assert (both.when, both.rare) == (("self.rope is not None",), "")


def test_what_several_groups_of_files_lead_to_needs_an_option_where_each_of_them_does() -> None:
    chosen = Op("Tensor.item", 1, 1, 1, 5, when=("x.dim() == 1", "not isinstance(x, list)"), optional=True)
    plain = chosen._replace(when=("x.dim() == 1",), optional=False)
    other = chosen._replace(when=("self.kind == 'rows'",))
    for one in (plain, other):
        assert [both.optional for both in (merged(one, chosen), merged(chosen, one))] == [False, False]
    assert merged(chosen, chosen).optional
    edge, whole = plain._replace(parts=False), plain._replace(whole=True)
    assert [merged(*both).parts for both in ((plain, edge), (edge, plain), (edge, edge))] == [
        True,
        True,
        False,
    ]
    assert [merged(*both).whole for both in ((plain, whole), (whole, plain), (whole, whole))] == [
        False,
        False,
        True,
    ]


FUNCTION = """
class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        y = torch.zeros_like(x)
        return y * y.sum().item()

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x.max().item()
def scaled(x):
    return Scaled.apply(x)
"""


def test_a_function_with_its_own_gradient_is_traced_both_ways(tmp_path: Path) -> None:
    assert notes(tmp_path, FUNCTION) == [UNCALLED, UNCALLED]
    model = FORWARD.format(init="self.layer = nn.Linear(2, 2)", result="scaled(self.layer(x))")
    assert notes(tmp_path, FUNCTION + model) == ["", "in a backward that is written by hand"]
    compiled = f"{FUNCTION}{model}\nfast = torch.compile(M(1))\n"
    assert notes(tmp_path, compiled) == ["", ""]
    found = [f for f in lint([str(tmp_path / "package" / "m.py")]).findings if f.code == "PTB103"]
    assert [f.when for f in found] == [(), ("torch.is_grad_enabled()",)]
    # What is handed over the break in its backward, which all who train meet.
    given = FUNCTION.replace("scaled(x)", "scaled(x, parts)").replace("return y * y.sum().item()", "return y")
    model = FORWARD.format(init="self.layer = nn.Linear(2, 2)", result="scaled(x, self.parameters())")
    assert notes(tmp_path, given + model, "PTB197") == ["in a backward that is written by hand"]


@pytest.mark.parametrize(
    ("test", "note"),
    [
        ("self.gradient_checkpointing and self.training", "`self.gradient_checkpointing` is off by default"),
        ("self.pruned_heads", "`self.pruned_heads` is off by default"),
        ("self.training", ""),
    ],
)
def test_what_a_base_class_of_transformers_leaves_off(tmp_path: Path, test: str, note: str) -> None:
    code = f"""
from transformers.models.bert.modeling_bert import BertSelfAttention
class M(BertSelfAttention):
    def forward(self, x: torch.Tensor):
        if {test}:
            return x * x.sum().item()
        return self.query(x)
"""
    assert notes(tmp_path, code) == [note]


HOOKED = "in a hook, which runs with the module that it is added to"


@pytest.mark.parametrize(
    "code",
    [
        "def watch(model):\n    def keep(module, args, output):\n        time.time()\n"
        "    for part in model.layers:\n        part.register_forward_hook(keep)\n",
        "def start(module, args):\n    time.time()\ndef watch(model):\n    model.register_forward_pre_hook(start)\n",
        "class Watch:\n    def __init__(self, model):\n        model.register_forward_hook(self.keep)\n"
        "    def keep(self, module, args, output):\n        time.time()\n",
        "class Watch(accelerate.hooks.ModelHook):\n    def pre_forward(self, module, *args, **kwargs):\n"
        "        time.time()\n        return args, kwargs\n",
        "class Watch:\n    def pre_forward(self, module, *args, **kwargs):\n        return args, kwargs\n"
        "    def post_forward(self, module, output):\n        time.time()\n        return output\n",
    ],
)
def test_hooks_run_with_the_forward(tmp_path: Path, code: str) -> None:
    assert notes(tmp_path, "import time\nimport accelerate\n" + code, "PTB140") == [HOOKED]


@pytest.mark.parametrize(
    "code",
    [
        "def watch(model):\n    def keep(module, before, after):\n        time.time()\n"
        "    model.register_full_backward_hook(keep)\n",  # of the backward, which is not traced
        "class Watch:\n    def post_forward(self, module, output):\n        time.time()\n",  # half of what hooks have
    ],
)
def test_what_looks_like_a_hook_of_the_forward(tmp_path: Path, code: str) -> None:
    assert notes(tmp_path, "import time\n" + code, "PTB140") == []


ONCE_CODE = """
import functools
import importlib
import os
import torch.distributed as dist

CHECKS = bool(int(os.getenv("CHECKS", "0")))
FAST = os.environ.get("FAST", "1") == "1"
PLAIN = os.environ.get("FAST", "0") == "0"

WORLD, WORKERS = 1, 1
LOUD = False
STRICT = False
READY = False

def set_loud(loud):
    global LOUD
    LOUD = loud

def of_the_environment():
    global STRICT
    STRICT = os.environ.get("STRICT") == "1"

def get_ready():
    global READY
    READY = True

def world_size():
    return dist.get_world_size() if dist.is_initialized() else 1

def start(workers):
    global WORLD, WORKERS
    WORLD, WORKERS = 1, workers()
    if dist.is_initialized():
        WORLD = dist.get_world_size()

def is_distributed():
    return world_size() > 1

@functools.lru_cache
def of_the_machine():
    return open("/proc/cpuinfo").read()

def loaded(name, x):
    importlib.import_module(name)
    return x.sum().item()

class M(nn.Module):
    def __init__(self, given, rate=0.0, every=0):
        super().__init__()
        self.weight, self.given = nn.Parameter(torch.ones(2)), given
        self.rate = rate
        self.kept, self.packed, self.other = {}, False, None
        self.every = every
        self.spread = dist.is_initialized() and dist.get_world_size() > 1
        self.big = self.weight.shape[0] > 1
        self.log = self.tokens = None
        if self.every > 0 and self.weight.device.type != "meta":
            self.log = nn.Linear(2, 2)
        self.attends = every > 0
        if self.attends:
            self.tokens = nn.Linear(2, 2)

    @property
    def is_packed(self):
        return self.packed

    def pack(self):
        self.packed = True
        return True

    def synced(self, x):
        if not is_distributed():
            return x
        return x * x.sum().item()

    def forward(self, x: torch.Tensor, mode: str = "tensor", **options):
        BODY
        return self.weight * x
"""


@pytest.mark.parametrize(
    ("body", "only", "note"),
    [
        # what is looked up, and made where it is not there
        (
            "n = self.kept.get(x.shape)\nif n is None:\n    n = self.kept[x.shape] = x.sum().item()",
            "PTB103",
            "once",
        ),
        (
            "n = self.kept.get(x.shape)\nif n is None:\n    n = self.made = x.sum().item()",
            "PTB103",
            "",
        ),
        (
            "absent = self.rate == 1 or self.other is None\nif absent:\n    self.other = x = x * x.sum().item()",
            "PTB103",
            "once",
        ),
        ("if not self.packed:\n    if self.pack():\n        x = x * x.sum().item()", "PTB103", "once"),
        (
            "if len(self.kept) == 0:\n    for i in (1, 2):\n        self.kept[i] = x\n    x = x * x.sum().item()",
            "PTB103",
            "once",
        ),
        ("if not self.is_packed:\n    x = x * x.sum().item()\n    self.packed = True", "PTB103", "once"),
        (
            "if self.tokens is not None:\n    x = x * x.sum().item()",
            "PTB103",
            "`self.tokens is not None` is off by default",
        ),
        # what is there is there again, and only what is not is kept once
        ("if 'n' in self.packed:\n    self.packed['n'] = x * x.sum().item()", "PTB103", ""),
        ("if 'n' not in self.packed:\n    self.packed['n'] = x * x.sum().item()", "PTB103", "once"),
        ("if 'n' not in options:\n    options['n'] = x * x.sum().item()", "PTB103", ""),
        ("if x.shape[0] > 2:\n    if self.pack():\n        x = x * x.sum().item()", "PTB103", ""),
        ("x = x * len(of_the_machine())", "PTB142", ASIDE),  # Dynamo does not use what is kept
        ("x = x * loaded('json', x)", "PTB103", "once"),
        # where several processes train together
        ("x = self.synced(x)", "PTB103", "`is_distributed()` is off by default"),
        (
            "if self.spread:\n    x = x * x.sum().item()",
            "PTB103",
            "`self.spread` is off by default",
        ),
        ("if self.big:\n    x = x * x.sum().item()", "PTB103", ""),
        (
            "n = world_size()\nif n == 1:\n    return x\nx = x * x.sum().item()",
            "PTB103",
            "`n != 1` is off by default",
        ),
        ("n = world_size()\nif n == 1:\n    x = x * x.sum().item()", "PTB103", ""),
        (
            "n = self.group.size()\nif n != 1:\n    x = x * x.sum().item()",
            "PTB103",
            "`n != 1` is off by default",
        ),
        ("if WORLD > 1:\n    x = x * x.sum().item()", "PTB103", "`WORLD > 1` is off by default"),
        ("if WORLD == 1 or WORKERS > 1:\n    x = x * x.sum().item()", "PTB103", ""),
        # a text that is another one by default
        (
            "if mode == 'predict':\n    x = x * x.sum().item()",
            "PTB103",
            "`mode == 'predict'` is off by default",
        ),
        (
            "if mode in ('dev', 'test'):\n    x = x * x.sum().item()",
            "PTB103",
            "`mode in ('dev', 'test')` is off by default",
        ),
        ("if mode == 'tensor':\n    x = x * x.sum().item()", "PTB103", ""),
        ("if mode != 'loss':\n    x = x * x.sum().item()", "PTB103", ""),
        # the conditions in one test
        (
            "if bool(self.rate and torch.rand(1) < self.rate):\n    return x",
            "PTB110",
            "`self.rate` is off by default",
        ),
        ("if bool(self.training and torch.rand(1) < 0.5):\n    return x", "PTB110", ""),
        # a flag of what is given, which need not be there or which is off by default in the file's own classes
        (
            "if getattr(self.given, 'debug', False):\n    x = x * x.sum().item()",
            "PTB103",
            "`getattr(self.given, 'debug', False)` is off by default",
        ),
        ("if getattr(self.given, 'debug', True):\n    x = x * x.sum().item()", "PTB103", ""),
        (
            "if self.given.rate:\n    x = x * x.sum().item()",
            "PTB103",
            "`self.given.rate` is off by default",
        ),
        (
            "asks = self.given.rate\nif asks:\n    x = x * x.sum().item()",
            "PTB103",
            "`asks` is off by default",
        ),
        ("if self.given.kept:\n    x = x * x.sum().item()", "PTB103", ""),
        # what the environment switches on
        (
            "if os.environ.get('DEBUG'):\n    x = x * x.sum().item()",
            "PTB103",
            "`os.environ.get('DEBUG')` is off by default",
        ),
        ("if os.environ.get('DEBUG') is None:\n    x = x * x.sum().item()", "PTB103", ""),
        ("if CHECKS:\n    x = x * x.sum().item()", "PTB103", "`CHECKS` is off by default"),
        ("if FAST:\n    x = x * x.sum().item()", "PTB103", ""),
        ("if PLAIN:\n    x = x * x.sum().item()", "PTB103", ""),
        # what a user asks a function of the file for, or the environment
        ("if LOUD:\n    x = x * x.sum().item()", "PTB103", "`LOUD` is off by default"),
        ("if STRICT:\n    x = x * x.sum().item()", "PTB103", "`STRICT` is off by default"),
        ("if READY:\n    x = x * x.sum().item()", "PTB103", ""),
        # what is loaded once, and may fail
        (
            "if self.other is None:\n    with torch.no_grad():\n        self.other = x.sum().item()",
            "PTB103",
            "once",
        ),
        # a part that is made for a number that is 0 by default
        (
            "if self.log is not None:\n    x = x * x.sum().item()",
            "PTB103",
            "`self.log is not None` is off by default",
        ),
    ],
)
def test_what_seldom_runs_in_steady_state(tmp_path: Path, body: str, only: str, note: str) -> None:
    code = ONCE_CODE.replace("BODY", body.replace("\n", "\n        "))
    assert [each for each in notes(tmp_path, code, only) if each != UNCALLED] == [note]


@pytest.mark.parametrize(
    ("body", "severity"),
    [
        ("opt.step()", "note"),
        ("opt.step()\n    sched.step()", "note"),
        ("opt.step()\n    return x + 1", "warning"),
    ],
)
def test_a_function_that_takes_steps_alone_loses_nothing(body: str, severity: str) -> None:
    code = f"""
import torch
opt = torch.optim.Adam([torch.ones(2)])
sched = torch.optim.lr_scheduler.StepLR(opt, 3)

@torch.compile
def f(x):
    {body}

@torch.compile
def g(x):
    opt.step()
    return x * 2
"""
    found = lint(["m.py"], None, {"m.py": code}).findings
    assert [one.severity for one in found if one.code == "PTB165"] == [severity, "warning"]
    assert not [one for one in found if one.code == "PTR223"]  # there is one optimizer


@pytest.mark.parametrize(
    ("test", "sets", "note"),
    [
        ("Log.current is None", "Log.current = 1", "once"),
        ("STATE is None", "global STATE\n    STATE = 1", "once"),
        ("STATE is None", "STATE = 1", ""),  # a name of its own
        ("Log.current is None", "Log.other = 1", ""),
    ],
)
def test_what_a_function_of_a_function_sets_runs_once(
    tmp_path: Path, test: str, sets: str, note: str
) -> None:
    code = f"""
STATE = None
class Log:
    current = other = None

def configure():
    os.makedirs("log", exist_ok=True)
    {sets}

def configure_by_default():
    configure()

@torch.compile
def f(x):
    if {test}:
        configure_by_default()
    return x + 1
"""
    assert notes(tmp_path, "import os\n" + code, "PTB142") == [note]


@pytest.mark.parametrize(
    ("sets", "note"),
    [
        ("nonlocal called\n        if called:\n            return\n        called = True", "once"),
        ("nonlocal called\n        if not called:\n            called = True", ""),  # and after it, always
        ("if called:\n            return", ""),
    ],
)
def test_what_a_closure_does_once(tmp_path: Path, sets: str, note: str) -> None:
    code = f"""
def once(fn):
    called = False
    def inner(text):
        {sets}
        return fn(text)
    return inner

print_once = once(print)

@torch.compile
def f(x):
    print_once(x.shape)
    return x + 1
"""
    assert notes(tmp_path, code, "PTB101") == [note]


@pytest.mark.parametrize("asked", ["not self.training", "self.training is False"])
def test_a_flag_that_is_asked_again_tells_what_it_made(tmp_path: Path, asked: str) -> None:
    code = """
class M(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight, self.n = nn.Parameter(torch.ones(2)), n

    def forward(self, x: torch.Tensor):
        count = 3
        if self.training:
            count = torch.randint(1, 4, (1,))
        for i in range(4):
            if OUTCOME and i >= count:
                break
            x = x * self.weight
        return x
"""
    assert notes(tmp_path, code.replace("OUTCOME", asked), "PTB110") == []
    assert notes(tmp_path, code.replace("OUTCOME", "self.training"), "PTB110") == [""]


@pytest.mark.parametrize(
    ("line", "only", "note"),
    [
        (
            "y = torch.tensor(auc(x.numpy(), x.numpy()))",
            "PTB185",
            "where a metric of another library is computed",
        ),
        ("y = torch.tensor(KMeans(2).fit(x.numpy()).labels_)", "PTB185", ASIDE),
        (
            "y = torch.cat([part for part in DataLoader(self.data)])",
            "PTB188",
            "in a module that loads data itself",
        ),
        ("y = torch.cat([part for part in self.loader])", "PTB188", ASIDE),
        (
            "y = x.detach().clone()\n        y.requires_grad = True",
            "PTB161",
            "where gradients are computed by hand, from a copy that is detached",
        ),
        ("y = x + 1\n        y.requires_grad = True", "PTB161", ASIDE),
        (
            "y = x.detach().requires_grad_(True)",
            "PTB161",
            "where gradients are computed by hand, from a copy that is detached",
        ),
        ("y = x.clone().requires_grad_(True)", "PTB161", ASIDE),
        (
            "y = x if self.labels is None else x * x.sum().item()",
            "PTB103",
            "`self.labels is not None` is off by default",
        ),
        ("y = x if self.parts is None else x * x.sum().item()", "PTB103", ""),
        ("y = torch.sparse.mm(x.to_sparse(), x)", "PTB170", ASIDE),
        (
            "y = x * float(self.session.run(None, {})[0])",
            "PTB185",
            "where another runtime runs the model, which leaves nothing to compile",
        ),
    ],
)
def test_what_a_forward_does_beside_the_model(tmp_path: Path, line: str, only: str, note: str) -> None:
    code = f"""
import onnxruntime
from sklearn.cluster import KMeans
from sklearn.metrics import auc
from torch.utils.data import DataLoader

class M(nn.Module):
    def __init__(self, data, labelled=False, parted=True):
        super().__init__()
        self.weight, self.data, self.loader = nn.Parameter(torch.ones(2)), data, DataLoader(data)
        self.labels = None
        if labelled:
            self.labels = data.labels()
        self.parts = None
        if parted:
            self.parts = data.parts()
        self.session = onnxruntime.InferenceSession("model.onnx")

    def forward(self, x: torch.Tensor):
        {line}
        return self.weight * y
"""
    assert set(notes(tmp_path, code, only)) == {note}


def test_a_framework_gives_what_it_likes(tmp_path: Path) -> None:
    code = """
from framework import Base

class M(BASE):
    def forward(self, x: torch.Tensor, mode="tensor"):
        if mode == "loss":
            x = x * x.sum().item()
        return x
"""
    told = [
        notes(tmp_path, code.replace("BASE", base), "PTB103") for base in ("Base, nn.Module", "nn.Module")
    ]
    assert told == [[""], ["`mode == 'loss'` is off by default"]]


SEARCHES = "where the best of several tries is kept"
SEARCH = """best = y.sum()
        with {grad}:
            for i in range(3):
                y = y * i
                cost = y.sum()
                if cost < best:
                    {kept}"""
BESIDE = """
import queue
import threading
from collections import deque
import numpy as np
import torch.distributed as dist
from torch.utils.data import DataLoader
from tqdm.auto import tqdm

def accuracy(pred: np.ndarray, target: np.ndarray):
    if (pred == target).any():
        return 1.0
    return 0.0

def pixels(x: torch.Tensor) -> np.ndarray:
    return (x * 255 if x.max() < 2 else x).numpy()


def scaled(x: torch.Tensor, target: np.ndarray):
    if x.sum() > 0:
        return x
    return -x

def loaded(data):
    return [part for part in DataLoader(data)]

def gathered(x, group: dist.ProcessGroup):
    return x * x.sum().item()

def grouped(x, group: dist.ProcessGroup = None):
    return x * x.sum().item()

def dumped(x: torch.Tensor):
    torch.save(x, "x.pt")
    return x * x.sum().item()

def generated(x: torch.Tensor):
    if x.sum() > 0:
        x = x * 2
    for i in tqdm(range(3)):
        x = x * i
    return x

class Router:
    def __init__(self):
        self.lock = threading.Lock()

    def route(self, x: torch.Tensor):
        return x * x.sum().item()

class Plain:
    def route(self, x: torch.Tensor):
        return x * x.sum().item()

class M(nn.Module):
    def __init__(self, group):
        super().__init__()
        self.weight, self.group = nn.Parameter(torch.ones(2)), group
        self.router, self.plain = Router(), Plain()
        self.seen = deque()
        self.last = deque(maxlen=2)
        self.many = deque(maxlen=20)

    def forward(self, x: torch.Tensor):
        y = self.weight * x
        LINE
        return y + 1
MORE
"""


@pytest.mark.parametrize(
    ("line", "only", "note"),
    [
        ("y = y * accuracy(x.numpy(), y.numpy())", "PTB110", "in a function for NumPy arrays"),
        ("y = y * pixels(x).mean()", "PTB110", "in a function for NumPy arrays"),
        ("y = scaled(y, x.numpy())", "PTB110", ""),
        ("y = y + loaded(x)[0]", "PTB188", "in a function that loads data itself"),
        ("y = gathered(y, self.group)", "PTB103", "where several processes work together"),
        ("y = grouped(y)", "PTB103", ""),
        ("y = self.router.route(y)", "PTB103", "in an object that works with other threads"),
        ("y = self.plain.route(y)", "PTB103", ""),
        ("y = generated(y)", "PTB110", "in a function that shows its progress"),
        ("y = dumped(y)", "PTB103", "in a function that writes files"),
        (
            "torch.save(y, 'y.pt')\n        y = y * y.sum().item()",
            "PTB142",
            "in a function that writes files",
        ),
        ("torch.save(y, 'y.pt')\n        y = y * y.sum().item()", "PTB103", ""),
        (SEARCH.format(grad="torch.no_grad()", kept="best = cost"), "PTB110", SEARCHES),
        (SEARCH.format(grad="torch.no_grad()", kept="y = y * 2"), "PTB110", ""),
        (SEARCH.format(grad="torch.enable_grad()", kept="best = cost"), "PTB110", ""),
    ],
)
def test_pythons_own_work_beside_the_model(tmp_path: Path, line: str, only: str, note: str) -> None:
    code = BESIDE.replace("LINE", line)
    assert set(notes(tmp_path, code.replace("MORE", ""), only)) - {UNCALLED} == {note}
    compiled = notes(tmp_path, code.replace("MORE", "model = torch.compile(M(None))"), only)
    assert "" in compiled  # what the code itself compiles counts in full


@pytest.mark.parametrize(
    ("line", "told"), [("self.seen.append(1)", 1), ("self.last.append(1)", 0), ("self.many.append(1)", 1)]
)
def test_a_deque_that_is_bounded_below_the_limit_does_not_grow(tmp_path: Path, line: str, told: int) -> None:
    code = BESIDE.replace("LINE", line).replace("MORE", "")
    assert len(notes(tmp_path, code, "PTR204")) == told


def test_a_tensor_or_an_array_has_the_dtype_of_what_was_given(tmp_path: Path) -> None:
    code = """
import numpy as np
from typing import Union

def degree(index: Union[torch.Tensor, np.ndarray], weights: Union[torch.Tensor, np.ndarray]):
    if isinstance(index, torch.Tensor):
        return torch.zeros(3, dtype=weights.dtype)
    kept = np.ones(3)
    return kept.dtype

class M(nn.Linear):
    def forward(self, x, index, weights):
        return super().forward(x) * degree(index, weights)
"""
    assert set(notes(tmp_path, code, "PTB109")) - {UNCALLED} == {"where it is given a NumPy array"}


def test_sizes_by_the_same_counts_have_one_cause(tmp_path: Path) -> None:
    code = """
class M(nn.Linear):
    def forward(self, x: torch.Tensor, y: torch.Tensor, lengths: torch.Tensor):
        count = lengths.diff()
        a = torch.repeat_interleave(x * 2, count)
        b = (y + 1).repeat_interleave(count)
        return a + b
"""
    found = [f for f in _linted(tmp_path, code) if f.code == "PTB121"]
    assert [f.price.cause for f in found if f.price] == ["`Tensor.diff` returns a tensor (line 12)"] * 2


def test_what_one_mask_picks_has_one_cause(tmp_path: Path) -> None:
    code = """
class M(nn.Linear):
    def forward(self, x: torch.Tensor, y: torch.Tensor, lengths: torch.Tensor):
        mask = lengths > 2
        a = torch.masked_select(x * 2, mask)
        b = (y + 1).masked_select(mask=mask)
        return super().forward(a + b)
"""
    found = [f for f in _linted(tmp_path, code) if f.code == "PTB121"]
    assert {f.price.cause for f in found if f.price} == {"`lengths` is annotated as a tensor (line 11)"}


@pytest.mark.parametrize(
    ("asks", "told"),
    [
        ("return by_setting() or torch.compiler.is_compiling()", 0),
        ("return inner() or by_setting()", 0),
        ("return by_setting() and torch.compiler.is_compiling()", 1),
        ("return by_setting()", 1),
    ],
)
def test_whether_it_is_compiled_is_passed_on(tmp_path: Path, asks: str, told: int) -> None:
    code = f"""
from settings import by_setting

def inner():
    return torch.compiler.is_compiling()

def compiling() -> bool:
    if torch.jit.is_scripting():
        return False
    {asks}

class M(nn.Linear):
    def forward(self, x: torch.Tensor):
        if compiling() or not by_setting():
            return x
        return x * x.sum().item()
"""
    assert len(notes(tmp_path, code)) == told


@pytest.mark.parametrize(
    ("given", "note"),
    [
        ("Router", "in an object that works with other threads"),
        ("Worker", "in an object that works with other threads"),
        ("Plain", ""),
    ],
)
def test_a_module_that_hands_on_to_others(tmp_path: Path, given: str, note: str) -> None:
    code = f"""
import multiprocessing as mp
import threading

class Router:
    def __init__(self):
        self.lock = threading.RLock()

class Worker(mp.Process):
    pass

class Plain:
    pass

class M(nn.Module):
    def __init__(self, router: {given}):
        super().__init__()
        self.weight, self.router = nn.Parameter(torch.ones(2)), router

    def forward(self, x: torch.Tensor):
        return self.weight * x * x.sum().item()
"""
    assert notes(tmp_path, code) == [note]


@pytest.mark.parametrize(
    ("prunes", "note"),
    [
        ("self.pruned = self.pruned.union(heads)", "`self.pruned` is off by default"),
        ("self.pruned = self.pruned | heads", "`self.pruned` is off by default"),
        ("self.pruned = heads", ""),
    ],
)
def test_a_set_that_starts_out_empty(tmp_path: Path, prunes: str, note: str) -> None:
    code = f"""
class M(nn.Linear):
    def __init__(self):
        super().__init__(2, 2)
        self.pruned = set()

    def prune(self, heads):
        {prunes}

    def forward(self, x: torch.Tensor):
        if self.pruned:
            x = x * x.sum().item()
        return super().forward(x)
"""
    assert notes(tmp_path, code) == [note]


def test_a_copy_of_what_may_be_left_out(tmp_path: Path) -> None:
    code = """
import copy

class M(nn.Linear):
    def forward(self, x: torch.Tensor, hidden: dict[str, torch.Tensor] | None = None):
        kept, seen = copy.deepcopy(hidden), copy.deepcopy({"x": x})
        return super().forward(x)
"""
    found = [f.when for f in _linted(tmp_path, code) if f.code == "PTB130"]
    assert found == [("hidden is not None",), ()]


def test_what_another_compiler_makes_of_a_function_is_not_traced(tmp_path: Path) -> None:
    code = """
import numba
import numpy as np

@numba.njit(parallel=True)
def kernel(x):
    return np.zeros(3, dtype=x.dtype)

class M(nn.Linear):
    def forward(self, x: torch.Tensor):
        return super().forward(x) * torch.as_tensor(kernel(x.numpy()))
"""
    assert not notes(tmp_path, code, "PTB109")
    plain = notes(tmp_path, code.replace("@numba.njit(parallel=True)\n", ""), "PTB109")
    assert plain == [ASIDE]


@pytest.mark.parametrize(
    ("test", "note"),
    [
        ("time.time() - begun > 20", LATE),
        ("took >= self.most", LATE),
        ("took < self.most", ""),
        ("begun > self.most", ""),
        ("self.clock() - begun > 20", ""),
    ],
)
def test_what_runs_where_something_took_too_long(tmp_path: Path, test: str, note: str) -> None:
    before = "import time\n        begun = time.time()\n        x = x * 2\n        took = time.time() - begun"
    code = FORWARD.format(init="self.layer, self.most = nn.Linear(2, 2), scale", result="self.layer(x)")
    code = code.replace(
        "return", f"{before}\n        if {test}:\n            print('slow', took)\n        return"
    )
    assert notes(tmp_path, code, "PTB101") == [note]


@pytest.mark.parametrize(
    ("init", "test", "when", "note"),
    [
        (
            "self.scale = nn.Parameter(torch.ones(1)) if scaled else None",
            "self.scale",
            ("self.scale is not None",),
            "`self.scale is not None` is off by default",
        ),
        ("self.scale = nn.Parameter(torch.ones(1))", "self.scale", (), ""),
        ("self.scale = scaled", "mask", ("mask is not None",), ""),
        ("self.scale = scaled", "not mask", ("mask is not None",), ""),
        ("self.scale = scaled", "x.sum() and mask", ("mask is not None",), ""),
    ],
)
def test_the_truth_of_a_tensor_that_may_be_none(
    tmp_path: Path, init: str, test: str, when: tuple[str, ...], note: str
) -> None:
    code = f"""
class M(nn.Module):
    def __init__(self, scaled=False):
        super().__init__()
        self.layer = nn.Linear(2, 2)
        {init}

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None):
        x = self.layer(x)
        if {test}:
            x = x * 2
        return self.layer(x)
"""
    told = [(f.when, f.note) for f in _linted(tmp_path, code) if f.code == "PTB110"]
    assert told[-1] == (when, note)


@pytest.mark.parametrize(
    ("after", "note"),
    [
        ("kept = {'loss': loss}", "the last thing that is computed there, which parts no graph"),
        ("loss = loss * 2", ""),
        ("steps.step()", ""),
    ],
)
def test_a_backward_that_ends_what_is_compiled(tmp_path: Path, after: str, note: str) -> None:
    code = f"""
net = nn.Linear(2, 2)
steps = torch.optim.SGD(net.parameters())

@torch.compile
def train(x):
    loss = net(x).pow(2).mean()
    loss.backward()
    {after}
    return loss
"""
    assert notes(tmp_path, code, "PTB160") == [note]
    scaled = code.replace("loss.backward()", "scaler.scale(loss).backward()").replace(
        "\nsteps", "\nscaler = torch.amp.GradScaler()\nsteps"
    )
    path = tmp_path / "scaled.py"
    path.write_text(HEAD + scaled)
    found = check([str(path)], Configs({"target_torch": (2, 13)})).findings
    assert [f.is_under_another for f in found if f.code == "PTB167"] == [True]


@pytest.mark.parametrize("made", [
    "import tilelang\n\n@tilelang.jit(out_idx=[-1])", "import cutlass.cute as cute\n\n@cute.jit",
    "import helion\n\n@helion.kernel()", "import warp as wp\n\n@wp.kernel",
])  # fmt: skip
def test_nothing_is_said_of_kernels(tmp_path: Path, made: str) -> None:
    code = f"""
{made}
def kernel(x: torch.Tensor, n: torch.Tensor):
    def inner(x: torch.Tensor):
        end = 4
        if n > 2:
            end = 3
        return x[:n.item()]
    if n > 2:
        print(n)
    return inner(x)

class M(nn.Linear):
    def forward(self, x: torch.Tensor):
        return super().forward(kernel(x, x.sum()))
"""
    assert not _linted(tmp_path, code)
    assert _linted(tmp_path, code.replace("@", "# "))


@pytest.mark.parametrize(("imports", "note"), [("from . import other", NO_TENSOR), ("import other", "")])
def test_a_folder_of_a_package_needs_no_init(tmp_path: Path, imports: str, note: str) -> None:
    path = tmp_path / "m.py"
    code = "class M(nn.Linear):\n    def forward(self, x: torch.Tensor):\n        return x.sum().item()\n"
    path.write_text(f"{HEAD}{imports}\n{code}")
    assert [f.note for f in lint([str(path)]).findings] == [note]


@pytest.mark.parametrize(
    ("asks", "when", "note"),
    [
        ("exists(mask)", ("mask is not None",), ""),
        ("not exists(mask)", ("mask is None",), ""),
        ("exists(self.option)", ("self.option is not None",), "`self.option is not None` is off by default"),
        ("asked(mask)", (), ""),
    ],
)
def test_a_function_that_asks_for_none(tmp_path: Path, asks: str, when: tuple[str, ...], note: str) -> None:
    code = f"""
from elsewhere import asked

def exists(val):
    return val is not None

class M(nn.Module):
    def __init__(self, option=None):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))
        self.option = option

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None):
        if {asks}:
            x = x * x.sum().item()
        return self.weight * x
"""
    assert [(f.when, f.note) for f in _linted(tmp_path, code) if f.code == "PTB103"] == [(when, note)]


@pytest.mark.parametrize(
    ("asks", "note"),
    [
        ("model.named_parameters()", "in a module that is given another one at each call"),
        ("model.items()", ""),
    ],
)
def test_a_module_that_asks_another_for_its_parameters(tmp_path: Path, asks: str, note: str) -> None:
    code = f"""
class Average(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.tensor(0))

    def forward(self, model):
        if self.count >= 0:
            self.count += 1
        return [value * 2 for name, value in {asks}]
"""
    script = tmp_path / "script.py"
    script.write_text(HEAD + code)
    assert [f.note for f in lint([str(script)]).findings] == [note]
    script.write_text(HEAD + code + "\ngrow = torch.compile(Average())\n")
    assert [f.note for f in lint([str(script)]).findings] == [""]


@pytest.mark.parametrize(
    ("base", "sets", "note"),
    [
        ("nn.Module", "pass", "`hasattr(self, 'parts')` is off by default"),
        ("nn.Module", "self.parts = parts", ""),
        ("nn.Module", "self.register_buffer('parts', parts)", ""),
        ("lightning.LightningModule", "pass", "`hasattr(self, 'parts')` is off by default"),
        ("lightning.LightningModule", "getattr(self, 'parts')", "`hasattr(self, 'parts')` is off by default"),
        ("other.Base", "pass", ""),
    ],
)
def test_an_attribute_that_nothing_sets(tmp_path: Path, base: str, sets: str, note: str) -> None:
    code = f"""
import lightning
import other

class M({base}):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))

    def split(self, parts):
        {sets}

    def forward(self, x: torch.Tensor):
        if hasattr(self, "parts"):
            x = x * x.sum().item()
        return self.weight * x

fast = torch.compile(M())
"""
    assert notes(tmp_path, code) == [note]


@pytest.mark.parametrize(
    ("flag", "given", "note"),
    [
        ("flag=False", "flag", "`self.flag` is off by default"),
        ("*, flag=False", "flag", "`self.flag` is off by default"),
        ("*, flag=False", "False", "`self.flag` is off by default"),
        ("*, flag=True", "flag", ""),
        ("*, flag=False", "True", ""),
    ],
)
def test_a_flag_that_is_handed_on(tmp_path: Path, flag: str, given: str, note: str) -> None:
    """By name alone too."""
    code = f"""
class Part(nn.Module):
    def __init__(self, flag=False):
        super().__init__()
        self.flag = flag

    def forward(self, x):
        if self.flag:
            return x * x.sum().item()
        return x * 2

class Half(nn.Module):
    def __init__(self, n, {flag}):
        super().__init__()
        self.part = Part(flag={given})

    def forward(self, x):
        return self.part(x * 2) + 1

class Whole(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleList([])
        for _ in range(2):
            self.parts.append(Half(2))
        self.layer = nn.Linear(2, 2)

    def forward(self, x: torch.Tensor):
        for part in self.parts:
            x = part(x)
        return self.layer(x)
"""
    assert notes(tmp_path, code) == [note]


@pytest.mark.parametrize(
    ("given", "note"),
    [
        ("", "`self.labels is not None` is off by default"),
        (", classes=0", "`self.labels is not None` is off by default"),
        (", classes=10", ""),
        (", classes=int(input())", ""),
    ],
)
def test_an_option_that_is_handed_on(tmp_path: Path, given: str, note: str) -> None:
    """What makes the whole decides about the part."""
    code = f"""
class Part(nn.Module):
    def __init__(self, classes=0):
        super().__init__()
        if classes:
            self.labels = nn.Parameter(torch.ones(classes, 2))
        else:
            self.labels = None

    def forward(self, x: torch.Tensor):
        if self.labels is not None:
            x = x * x.sum().item()
        return x

class Whole(nn.Module):
    def __init__(self, depth, classes=0):
        super().__init__()
        self.parts = nn.ModuleList([Part(classes=classes) for _ in range(depth)])

    def forward(self, x: torch.Tensor):
        for part in self.parts:
            x = part(x)
        return x

def main():
    return Whole(2{given})
"""
    assert notes(tmp_path, code) == [note]


@pytest.mark.parametrize(
    ("made", "note"),
    [
        ("Part()", "`self.option is not None` is off by default"),
        ("Part(3)", ""),
        ("Part(option=3)", ""),
        ("Part(x) if x else Part()", "`self.option is not None` is off by default"),
    ],
)
def test_an_option_that_the_project_always_gives(tmp_path: Path, made: str, note: str) -> None:
    code = f"""
class Part(nn.Module):
    def __init__(self, option=None):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))
        self.option = option

    def forward(self, x: torch.Tensor):
        if self.option is not None:
            x = x * x.sum().item()
        return self.weight * x

class Whole(nn.Module):
    def __init__(self, x):
        super().__init__()
        self.part = {made}

    def forward(self, x: torch.Tensor):
        return self.part(x)
"""
    assert notes(tmp_path, code) == [note]


@pytest.mark.parametrize(
    ("compiles", "asks", "note"),
    [
        ("self.net = torch.compile(self.net)", "x.sum().item()", PARTS),
        ("self.net.forward = torch.compile(self.net.forward)", "x.sum().item()", PARTS),
        ("for i in range(2): self.nets[i].forward = torch.compile(self.nets[i].forward)", ITEM, PARTS),
        ("self.net.compile(dynamic=True)", "x.sum().item()", PARTS),
        ("self.net = torch.compile(self.net)", "self.scale(x)", ""),  # a part that others may compile
        ("self.net.eval()", "x.sum().item()", ""),
    ],
)
def test_a_module_that_compiles_its_parts(tmp_path: Path, compiles: str, asks: str, note: str) -> None:
    code = f"""
class Scale(nn.Linear):
    def forward(self, x: torch.Tensor):
        return super().forward(x) * x.sum().item()

class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.net, self.scale = nn.Linear(2, 2), Scale(2, 2)
        {compiles}

    def forward(self, x: torch.Tensor):
        return self.net(x) * {asks}
"""
    assert {*notes(tmp_path, code)} == {"", note}  # the part's own has none


@pytest.mark.parametrize(
    ("where", "note"),
    [
        ("package/tools.py", "where a setting is not made that {} makes"),
        ("tests/train.py", ""),
        ("train.py", "where a setting is not made that {} makes"),
    ],
)
def test_a_setting_that_the_project_makes(tmp_path: Path, where: str, note: str) -> None:
    forward = "    def forward(self, x: torch.Tensor):\n        return super().forward(x) * x.sum().item()\n"
    for name in ("package", "tests"):
        (tmp_path / name).mkdir()
    (tmp_path / "package" / "__init__.py").touch()
    (tmp_path / "package" / "m.py").write_text(f"{HEAD}class M(nn.Linear):\n{forward}")
    made = tmp_path / where
    made.write_text("import torch._dynamo\ntorch._dynamo.config.capture_scalar_outputs = True\n")
    found = check([str(tmp_path)], Configs({"target_torch": (2, 13)})).findings
    assert [f.note for f in found if f.code == "PTB103"] == [note.format(made)]


@pytest.mark.parametrize(
    ("patch", "made"),
    [
        ("capture_scalar_outputs=True", True),
        ("'capture_scalar_outputs', True", True),
        ("{'suppress_errors': bool(1), 'capture_scalar_outputs': True}", True),
        ("capture_scalar_outputs=False", False),
        ("suppress_errors=True", False),
    ],
)
def test_a_setting_that_the_file_makes_for_a_while(tmp_path: Path, patch: str, made: bool) -> None:
    """It holds where the file compiles what is patched around, and not for the other files of its folder."""
    total = "def total(x):\n    return x.sum().item()\n\n\n"
    main = tmp_path / "main.py"
    main.write_text(
        f"{HEAD}from other import other\n\n{total}"
        f"with torch._dynamo.config.patch({patch}):\n    torch.compile(total)(torch.ones(2))\n"
        "torch.compile(other)(torch.ones(2))\n"
    )
    (tmp_path / "other.py").write_text(total.replace("total", "other"))
    findings = check([str(tmp_path)], Configs({"target_torch": (2, 13)})).findings
    told = {Path(f.path).stem: (f.severity, f.note) for f in findings if f.code == "PTB103"}
    patched = ("note", "where a setting is not made that the file itself makes")
    assert told == {"other": ("warning", ""), "main": patched if made else ("warning", "")}


@pytest.mark.parametrize(
    ("loads", "note"),
    [
        ("key.removeprefix('_orig_mod.')", "of what {} does not load, which takes the prefix off"),
        ("re.sub(r'^_orig_mod\\.', '', key)", "of what {} does not load, which takes the prefix off"),
        ("key  # _orig_mod", ""),
    ],
)
def test_a_prefix_that_the_project_takes_off(tmp_path: Path, loads: str, note: str) -> None:
    saved = "model = torch.compile(nn.Linear(2, 2))\ntorch.save(model.state_dict(), 'model.pt')\n"
    (tmp_path / "train.py").write_text(HEAD + saved)
    loading = tmp_path / "load.py"
    loading.write_text(
        f"import re\n\ndef load(state):\n    return {{\n        {loads}\n        for key in state\n    }}\n"
    )
    found = check([str(tmp_path)], Configs({"target_torch": (2, 13)})).findings
    (told,) = (f for f in found if f.code == "PTS303")
    assert told.note == note.format(loading)
    assert [fix.by_hand for fix in told.fixes] == [bool(note)]  # what loads may need the names of today


KEEPS = """
class M(nn.Module):
    def __init__(self, kind="mean", parts=1, causal=True, limit=None):
        super().__init__()
        self.layer = nn.Linear(2, 2)
        self.kind = kind
        self.parts = parts
        self.causal = causal

    def forward(self, x: torch.Tensor):
        parts = self.parts
        {test}
            x = x * x.sum().item()
        return self.layer(x)
"""


@pytest.mark.parametrize(
    ("test", "made", "note"),
    [
        ("if self.kind == 'last':", "", "`self.kind == 'last'` is off by default"),
        ("if self.kind in ('last', 'first'):", "", "`self.kind in ('last', 'first')` is off by default"),
        ("if self.kind == 'mean':", "", ""),
        ("if self.kind != 'last':", "", ""),
        ("if not self.causal:", "", "`not self.causal` is off by default"),
        ("if self.causal:", "", ""),
        ("if parts > 1:", "", "`parts > 1` is off by default"),
        (
            "if parts == 1 and self.causal:\n            x = x + 1\n        else:",
            "",
            "`not (parts == 1 and self.causal)` is off by default",
        ),
        # what the project gives, wherever it makes such an object
        ("if self.kind == 'last':", "M('last')", ""),
        ("if self.kind == 'last':", "M(config.kind)", ""),
        ("if self.kind == 'last':", "M('first')", "`self.kind == 'last'` is off by default"),
        ("if self.kind == 'last':", "M(parts=2)", "`self.kind == 'last'` is off by default"),
        ("if parts > 1:", "M(parts=config.parts)", ""),
    ],
)
def test_an_option_that_is_something_else_by_default(tmp_path: Path, test: str, made: str, note: str) -> None:
    code = KEEPS.format(test=test)
    assert notes(tmp_path, f"{code}\ndef build(config):\n    return {made}\n" if made else code) == [note]


@pytest.mark.parametrize("imports", ["import pytest", "import sys"])
def test_what_tests_make_is_no_use(tmp_path: Path, imports: str) -> None:
    code = KEEPS.format(test="if self.kind == 'last':")
    assert notes(tmp_path, code) == ["`self.kind == 'last'` is off by default"]
    other = tmp_path / "package" / "other.py"
    other.write_text(f"{imports}\nfrom .m import M\n\ndef build():\n    return M('last')\n")
    paths = [str(tmp_path / "package" / "m.py"), str(other)]
    found = [f.note for f in lint(paths, Settings(target_torch=(2, 13))).findings if f.code == "PTB103"]
    assert found == ["`self.kind == 'last'` is off by default" if "pytest" in imports else ""]


@pytest.mark.parametrize(
    ("returned", "note"),
    [
        ("-> list[str]", "in a function that returns texts, or a list of records"),
        ("-> str", "in a function that returns texts, or a list of records"),
        ("-> Boxes", "in a function that returns texts, or a list of records"),
        ("-> list[dict[str, typing.Any]]", "in a function that returns texts, or a list of records"),
        (
            "-> tuple[list[dict[str, typing.Any]], Boxes]",
            "in a function that returns texts, or a list of records",
        ),
        ("-> list[dict[str, torch.Tensor]]", ""),
        ("-> dict[str, typing.Any]", ""),
        ("-> tuple[torch.Tensor, Boxes]", ""),
        ("-> Box", ""),  # which may hold what the model computed
        ("-> list[int]", ""),  # sizes, maybe
        ("-> list[torch.Tensor]", ""),
        ("-> list[nn.Linear]", ""),
        ("", ""),
    ],
)
def test_what_a_model_found_in_pythons_own_words(tmp_path: Path, returned: str, note: str) -> None:
    code = f"""
import typing

class Box:
    pass

Boxes = list[Box]

class M(nn.Linear):
    def read(self, x) {returned}:
        return self.decode(x.sum().item())

    def forward(self, x: torch.Tensor):
        x = super().forward(x)
        return x, self.read(x)
"""
    assert notes(tmp_path, code) == [note]


def test_a_function_that_draws_figures(tmp_path: Path) -> None:
    code = """
import matplotlib.pyplot as plt

class M(nn.Linear):
    def show(self, x):
        plt.figure()
        plt.imshow(x.tolist())

    def forward(self, x: torch.Tensor):
        self.show(x)
        return super().forward(x)
"""
    assert notes(tmp_path, code, "PTB105") == ["in a function that draws figures"]


def test_a_module_of_a_file_of_tests(tmp_path: Path) -> None:
    code = "class M(nn.Linear):\n    def forward(self, x: torch.Tensor):\n        return x * x.sum().item()\n"
    assert notes(tmp_path, f"import pytest\n{code}") == ["in a module that a file of tests defines"]
    assert notes(tmp_path, f"import pytest\n{code}\nfast = torch.compile(M(2, 2))\n") == [""]
    script = tmp_path / "test_m.py"
    script.write_text(f"{HEAD}import pytest\n{code}")
    assert [f.note for f in lint([str(script)]).findings] == ["in a module that a file of tests defines"]
    # What pytest collects by itself needs no import: by the name of the file, and of a function or a class in it.
    for name, more, note in (
        ("test_n.py", "def test_m():\n    M(2, 2)\n", "in a module that a file of tests defines"),
        ("n_test.py", "class TestM:\n    pass\n", "in a module that a file of tests defines"),
        ("n_tests.py", "def test_m():\n    M(2, 2)\n", ""),
        ("test_o.py", "def main():\n    M(2, 2)\n", ""),
    ):
        script = tmp_path / name
        script.write_text(f"{HEAD}{code}\n{more}")
        assert [f.note for f in lint([str(script)]).findings] == [note], name


def test_what_a_class_has_in_place_of_another_method_holds_no_weights(tmp_path: Path) -> None:
    code = """
class Metric(nn.Module):
    def __init__(self, metric=None):
        super().__init__()
        self.given = metric

    def forward(self, x: torch.Tensor):
        return self.metric(x)

    def metric(self, x):
        return self.given(x)

class Sharpness(Metric):
    def metric(self, x):
        return {called}x * x.sum().item()
"""
    assert notes(tmp_path, code.format(called="")) == [WEIGHTLESS]
    assert notes(tmp_path, code.format(called="super().metric(x) + ")) == [""]


def test_what_is_kept_of_a_function_by_name(tmp_path: Path) -> None:
    code = """
def table(x):
    kept = getattr(table, "kept", None)
    if kept is None:
        kept = x.sum().item()
        setattr(table, "kept", kept)
    return kept

class M(nn.Linear):
    def forward(self, x: torch.Tensor):
        return super().forward(x) * table(x)
"""
    assert notes(tmp_path, code) == ["once"]


def test_a_function_that_does_nothing_but_warn(tmp_path: Path) -> None:
    code = """
def warn_once(text):
    \"\"\"Say so.\"\"\"
    logger.warning(text)

def noted(text):
    logger.warning(text)
    return text

class M(nn.Linear):
    def forward(self, x: torch.Tensor, rate: int | None = None, size: int | None = None):
        x = x * 2
        if rate is not None:
            if not torch.jit.is_scripting():
                warn_once("rate")
        if size is not None:
            noted("size")
        return super().forward(x)
"""
    assert notes(tmp_path, code, "PTB102") == [WARNS, OPTIONAL]


@pytest.mark.parametrize(
    ("code", "body"),
    [
        ("PTB141", "y = y * np.random.choice([1, 2])"),
        ("PTB106", "y = y[:, : random.randint(1, 3)]"),
        ("PTB160", "y = torch.autograd.grad(y.sum(), x)[0]"),
        ("PTB161", "y.requires_grad_()\n        y = y + y.grad"),
        ("PTB142", "np.save('y', y.detach())"),
        ("PTB143", "import subprocess\n        subprocess.run(['true'])"),
        ("PTB108", "y = y + y.data_ptr()"),
        (
            "PTB180",
            "with contextlib.ExitStack() as s:\n            s.enter_context(quiet())\n            y = y + 1",
        ),
        ("PTB185", "y = y + cv2.resize(y.numpy(), (2, 2))"),
        ("PTB186", "y = y + torch.jit.isinstance(x, str)"),
        ("PTB186", "y = y / torch.get_num_threads()"),
        ("PTB185", "y = y + torch.jit.fork(torch.relu, x).value()"),
        ("PTB140", "import time\n        time.sleep(0.1)"),
        ("PTB120", "y = torch.cat([row[row > 0] for row in y])"),
        ("PTB121", "for i in range(4):\n            y = y + torch.where(x == i)[0].sum()"),
    ],
)
def test_what_no_graph_holds_where_nothing_is_compiled(tmp_path: Path, code: str, body: str) -> None:
    module = f"""
import contextlib
import cv2
import random

class M(nn.Linear):
    def forward(self, x: torch.Tensor):
        y = super().forward(x)
        {body}
        return y
"""
    assert notes(tmp_path, module, code) == [ASIDE]
    assert notes(tmp_path, f"{module}\nfast = torch.compile(M(2, 2))\n", code) == [""]


@pytest.mark.parametrize(
    ("code", "body"),
    [
        # there are repairs, or other ways to write it
        ("PTB161", "noise = torch.randn(2)\n        noise.requires_grad = False\n        y = y + noise"),
        ("PTB180", "with torch.backends.cuda.sdp_kernel(True):\n            y = y + 1"),
        ("PTB120", "y = torch.stack([row[row > 0].sum() for row in y])"),
        ("PTB161", "y = y + torch.tensor(0.0, requires_grad=self.training)"),
        # rows of all layers, and of the parts of the object
        ("PTB121", "for i in range(3):\n            y = y + self.layers[i](y[torch.where(y[:, 0] == i)[0]])"),
        ("PTB121", "for layer in self.layers:\n            y = y + layer(y[torch.where(y[:, 0] > 0)[0]])"),
        ("PTB120", "y = y[y > 0] + 1"),
        ("PTB121", "y = torch.stack([y + i for i in torch.unique(y)])"),
    ],
)
def test_what_may_be_written_otherwise(tmp_path: Path, code: str, body: str) -> None:
    module = f"""
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(2, 2) for _ in range(3)])

    def forward(self, x: torch.Tensor):
        y = self.layers[0](x)
        {body}
        return y
"""
    assert notes(tmp_path, module, code) == [""]


EDGE = "where what is compiled begins or ends: it parts no graph, and nothing here compiles the module"


@pytest.mark.parametrize(
    ("body", "only", "note"),
    [
        ("logger.info('in')\n        return super().forward(x)", "PTB102", EDGE),
        ("y = super().forward(x)\n        logger.info('out')\n        return y", "PTB102", EDGE),
        ("half = torch.cuda.is_bf16_supported()\n        return super().forward(x)", "PTB186", EDGE),
        ("y = super().forward(x)\n        return y[y > 0]", "PTB120", EDGE),
        ("y = super().forward(x)\n        return y[y > 0] + 1", "PTB120", ""),
        ("y = super().forward(x)\n        return self.after(y[y > 0])", "PTB120", ""),
        ("y = super().forward(x)\n        return foreign.after(y[y > 0])", "PTB120", ""),
        (
            "y = super().forward(x)\n        for i in range(3):\n            logger.info(i)\n        return y",
            "PTB102",
            "",
        ),
    ],
)
def test_a_break_at_an_edge_parts_nothing(tmp_path: Path, body: str, only: str, note: str) -> None:
    code = f"""
import foreign

class M(nn.Linear):
    def __init__(self, after):
        super().__init__(2, 2)
        self.after = after

    def forward(self, x: torch.Tensor):
        {body}
"""
    assert notes(tmp_path, code, only) == [note]
    assert notes(tmp_path, f"{code}\nfast = torch.compile(M(None))\n", only) == [""]
    outer = FORWARD.format(
        init="self.layer, self.inner = nn.Linear(2, 2), M(inner)", result="self.layer(self.inner(x * 2))"
    )
    assert notes(tmp_path, code + outer.replace("class M(", "class Outer("), only) == [""]


def test_sequences_that_are_packed(tmp_path: Path) -> None:
    code = """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.embed, self.head = nn.LSTM(2, 2), nn.Linear(2, 2), nn.Linear(2, 2)

    def forward(self, x: torch.Tensor, lengths):
        packed = nn.utils.rnn.pack_padded_sequence(self.embed(x), lengths, enforce_sorted=False)
        _, (h, _) = self.lstm(packed)
        return self.head(h[-1])
"""
    assert notes(tmp_path, code, "PTB150") == [ASIDE, ASIDE]
    assert set(notes(tmp_path, f"{code}\nfast = torch.compile(M())\n", "PTB150")) == {""}


@pytest.mark.parametrize(
    ("test", "statement", "only", "note"),
    [
        ("self.packed == 'rows'", "x = torch.cat(x.split(x[0].long().tolist()))", "PTB105", OPTIONAL),
        ("mask is not None", "x = x + torch.unique(x).numel()", "PTB121", OPTIONAL),
        # which all meet, or may be so by default, or what models do as a step of theirs
        ("self.training", "x = x + torch.unique(x).numel()", "PTB121", ""),
        ("self.packed", "x = x + torch.unique(x).numel()", "PTB121", ""),
        ("self.packed is not None", "x = x + torch.unique(x).numel()", "PTB121", ""),
        ("self.packed != 'rows'", "x = x + torch.unique(x).numel()", "PTB121", ""),
        ("mask is None", "x = x + torch.unique(x).numel()", "PTB121", ""),
        ("x.dtype == torch.float16", "x = x + torch.unique(x).numel()", "PTB121", ""),
        ("self.kind == 'sum'", "x = x + torch.unique(x).numel()", "PTB121", ""),
        ("self.kind == 'sum' or self.kind == 'all'", "x = x + torch.unique(x).numel()", "PTB121", ""),
        ("self.kind in ('all', 'sum')", "x = x + torch.unique(x).numel()", "PTB121", ""),
        ("way == 'sum'", "x = x + torch.unique(x).numel()", "PTB121", ""),
        (
            "self.packed == 'sum' or self.packed == 'all'",
            "x = x + torch.unique(x).numel()",
            "PTB121",
            OPTIONAL,
        ),
        ("mask is not None", "x = x * x.sum().item()", "PTB103", ""),
        ("mask is not None", "x = torch.cat([x[x > 0], x[0]])", "PTB120", ""),
    ],
)
def test_what_an_option_leads_to(tmp_path: Path, test: str, statement: str, only: str, note: str) -> None:
    code = f"""
class M(nn.Linear):
    def __init__(self, packed, kind="sum"):
        super().__init__(2, 2)
        self.packed = packed
        self.kind = kind

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None, way: str = "sum"):
        x = super().forward(x)
        if {test}:
            {statement}
        return x + 1
"""
    assert notes(tmp_path, code, only) == [note]
    assert notes(tmp_path, f"{code}\nfast = torch.compile(M(True))\n", only) == [""]


@pytest.mark.parametrize(("other", "note"), [("videos", ""), ("images", OPTIONAL)])
def test_what_one_argument_or_another_leads_to_is_no_option(tmp_path: Path, other: str, note: str) -> None:
    code = f"""
class M(nn.Linear):
    def see(self, x):
        return x + torch.unique(x).numel()

    def forward(self, x: torch.Tensor, images: torch.Tensor | None = None, videos: torch.Tensor | None = None):
        x = super().forward(x)
        if images is not None:
            x = self.see(x * 2)
        if {other} is not None:
            x = self.see(x * 3)
        return x + 1
"""
    assert notes(tmp_path, code, "PTB121") == [note]


@pytest.mark.parametrize(
    ("body", "only", "note"),
    [
        ("n = x.max()\n            dist.all_reduce(n)\n            x = x * n.item()", "PTB103", SPREAD),
        ("n = x.max()\n            x = x * n.item()", "PTB103", ""),
        ("x = x + torch.from_numpy(np.lexsort((np.ones(3), np.ones(3))))", "PTB187", ASIDE),
        (
            "y = np.zeros(3)\n            np.maximum.at(y, 1, 2.0)\n            x = x + torch.from_numpy(y)",
            "PTB187",
            ASIDE,
        ),
        ("y = np.zeros(3)\n            x = x * (1 if y.sum() > 0 else 2)", "PTB110", ASIDE),
    ],
)
def test_other_processes_and_numpy(tmp_path: Path, body: str, only: str, note: str) -> None:
    code = f"""
import torch.distributed as dist

class M(nn.Linear):
    def forward(self, x: torch.Tensor):
        x = super().forward(x)
        if x.shape[0] > 3:
            {body}
        return x + 1
"""
    assert notes(tmp_path, code, only) == [note]
    assert notes(tmp_path, f"{code}\nfast = torch.compile(M(2, 2))\n", only) == [""]


@pytest.mark.parametrize(
    ("asked", "note"),
    [
        ("rank = dist.get_rank()", SPREAD),
        ("with torch.no_grad():\n        dist.all_reduce(x)", SPREAD),
        # not each time
        ("if x.shape[0] > 3:\n        dist.all_reduce(x)", ""),
        ("rank = 0", ""),
    ],
)
def test_a_function_that_works_with_other_processes(tmp_path: Path, asked: str, note: str) -> None:
    code = f"""
import torch.distributed as dist

def longest(x, sizes):
    {asked}
    return x[: sizes.max().item()]

class M(nn.Linear):
    def forward(self, x: torch.Tensor, sizes: torch.Tensor):
        return longest(super().forward(x), sizes) + 1
"""
    assert notes(tmp_path, code) == [note]
    assert notes(tmp_path, f"{code}\nfast = torch.compile(M(2, 2))\n") == [""]


def test_how_many_processes_a_group_has_is_kept(tmp_path: Path) -> None:
    code = """
class M(nn.Linear):
    def __init__(self, group):
        super().__init__(2, 2)
        self.size = torch.distributed.get_world_size(group=group)

    def forward(self, x: torch.Tensor):
        x = super().forward(x)
        if self.size > 1:
            x = x * x.sum().item()
        return x * x.max().item() + 1
"""
    assert notes(tmp_path, code) == ["`self.size > 1` is off by default", ""]


def test_a_cache_by_size_is_for_code_that_nobody_compiles(tmp_path: Path) -> None:
    code = """
class M(nn.Linear):
    def __init__(self):
        super().__init__(2, 2)
        self.kept = {}

    def forward(self, x: torch.Tensor):
        n = x.shape[0]
        if n not in self.kept:
            self.kept[n] = torch.arange(n)
        return super().forward(x) + self.kept[n]
"""
    [note] = notes(tmp_path, code, "PTR214")
    assert note.startswith("a cache for code that is not compiled")
    assert notes(tmp_path, f"{code}\nfast = torch.compile(M())\n", "PTR214") == [""]


def test_what_stands_after_what_no_graph_holds_is_told_with_it(tmp_path: Path) -> None:
    code = """
class M(nn.Linear):
    def forward(self, x: torch.Tensor):
        y = super().forward(x)
        for i in range(4):
            y = y[y[:, 0] > i]
            if y.sum() > 0:
                y = y + 1
        return y
"""
    path = tmp_path / "package" / "m.py"
    notes(tmp_path, code)
    found = check([str(path)], Configs({"target_torch": (2, 13)})).findings
    assert [(f.code, f.severity) for f in found] == [("PTB120", "note"), ("PTB110", "note")]


@pytest.mark.parametrize(
    ("made", "note", "when"),
    [
        (
            "if kind == 'sort':\n    self.pool = Sort()\nelse:\n    self.pool = nn.Identity()",
            "`kind == 'sort'` is off by default",
            ("kind == 'sort'",),
        ),
        (
            "if kind == 'sort':\n    self.pool = by_sum\nelse:\n    self.pool = nn.Identity()",
            "`kind == 'sort'` is off by default",
            ("kind == 'sort'",),
        ),
        (
            "self.kind = kind\nif self.kind == 'mean':\n    self.pool = nn.Identity()\n"
            "elif self.kind == 'sort':\n    self.pool = Sort()",
            "`self.kind == 'sort'` is off by default",
            ("self.kind == 'sort'",),
        ),
        (
            "if kind == 'mean':\n    self.pool = Sort()\nelse:\n    self.pool = nn.Identity()",
            "",
            ("kind == 'mean'",),
        ),
        (
            "if kind == 'sort':\n    self.pool = lambda x: by_sum(x)\nelse:\n    self.pool = nn.Identity()",
            "`kind == 'sort'` is off by default",
            ("kind == 'sort'",),
        ),
        ("if config.big:\n    self.pool = Sort()\nelse:\n    self.pool = nn.Identity()", "", ("config.big",)),
        # under more than one
        (
            "if config.big:\n    if config.way == 'a':\n        self.pool = Sort()\n"
            "    else:\n        self.pool = nn.Tanh()\nelse:\n    self.pool = nn.Identity()",
            "",
            ("config.big", "config.way == 'a'"),
        ),
        (
            "if kind == 'sort':\n    self.pool = Sort() if config.big else nn.Tanh()\n"
            "else:\n    self.pool = nn.Identity()",
            "`kind == 'sort'` is off by default",
            ("kind == 'sort'", "config.big"),
        ),
        # by way of names, lists and tables
        *(
            (made, "`kind == 'sort'` is off by default", ("kind == 'sort'",))
            for made in (
                "part = nn.Identity()\nif kind == 'sort':\n    part = Sort()\nself.pool = nn.Sequential(part)",
                "layers = [nn.Identity()]\nif kind == 'sort':\n    layers.append(Sort())\n"
                "self.pool = nn.Sequential(*layers)",
                "self.pool = nn.Sequential(self.layer, Sort() if kind == 'sort' else nn.Identity())",
                "if kind == 'sort':\n    made = Sort\nelse:\n    made = nn.Identity\nself.pool = made()",
                "if kind == 'sort':\n    self.pool = nn.Sequential(self.layer, Sort())\n"
                "else:\n    self.pool = nn.Sequential(self.layer, nn.Identity())",
            )
        ),
        # on either branch
        (
            "part = Sort() if kind == 'sort' else nn.Identity()\nself.pool = nn.Sequential(Sort(2), part)",
            "",
            (),
        ),
        ("if kind == 'sort':\n    self.pool = Sort()\nelse:\n    self.pool = Sort(2)", "", ()),
        ("self.pool = Sort()", "", ()),
        # of which a reader of the finding knows nothing, but for the class
        (
            "n = len(kind)\nif n > 3:\n    self.pool = Sort()\nelse:\n    self.pool = nn.Identity()",
            "",
            ("isinstance(self.pool, Sort)",),
        ),
    ],
)
def test_a_part_that_an_option_chooses(tmp_path: Path, made: str, note: str, when: tuple[str, ...]) -> None:
    code = f"""
def by_sum(x):
    return x * x.sum().item()

class Sort:
    def __init__(self, n=1):
        self.n = n

    def __call__(self, x):
        return by_sum(x)

class M(nn.Module):
    def __init__(self, config, kind="mean"):
        super().__init__()
        self.layer = nn.Linear(2, 2)
        {made.replace(chr(10), chr(10) + " " * 8)}

    def forward(self, x: torch.Tensor):
        return self.pool(self.layer(x))
"""
    [found] = [f for f in _linted(tmp_path, code) if f.code == "PTB103" and f.note != UNCALLED]
    assert (found.note, found.when) == (note, when)


@pytest.mark.parametrize(
    ("stage", "model", "given", "note"),
    [
        ("norm='ln'", "norm='ln'", "norm", "`self.norm == 'bn'` is off by default"),
        ("norm='ln'", "norm='ln'", "self.kept", "`self.norm == 'bn'` is off by default"),
        # on by default, or given, in one of those that hand it on
        ("norm='ln'", "norm='bn'", "norm", ""),
        ("norm='bn'", "norm='ln'", "'bn'", ""),
        ("norm='ln'", "norm", "norm", ""),
        ("norm='ln'", "norm='ln'", "norm or 'bn'", ""),
    ],
)
def test_another_text_than_by_default_that_is_handed_on(
    tmp_path: Path, stage: str, model: str, given: str, note: str
) -> None:
    code = f"""
class Block(nn.Module):
    def __init__(self, norm='ln'):
        super().__init__()
        self.layer = nn.Linear(2, 2)
        self.norm = norm

    def forward(self, x):
        x = self.layer(x)
        if self.norm == 'bn':
            x = x * x.sum().item()
        return self.layer(x)

class Stage(nn.Module):
    def __init__(self, {stage}):
        super().__init__()
        self.blocks = nn.ModuleList([Block(norm=norm) for _ in range(2)])

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x

class Model(nn.Module):
    def __init__(self, {model}):
        super().__init__()
        self.kept = norm
        self.stage = Stage(norm={given})

    def forward(self, x: torch.Tensor):
        return self.stage(x)
"""
    [found] = [f for f in _linted(tmp_path, code) if f.code == "PTB103"]
    assert (found.note, found.when) == (note, ("self.norm == 'bn'",))


CALLED = (  # layers of a list, and of a table
    "for i, layer in enumerate(self.layers):\n            x = layer(x)",
    "for name in self.layers: x = self.layers[name](x)",
)


@pytest.mark.parametrize(
    ("made", "note", "when"),
    [
        (
            "self.layers = nn.ModuleList()\nif kind == 'mean':\n    self.layers.append(Mean())\n"
            "elif kind == 'sort':\n    for _ in range(3):\n        self.layers.append(Sort())",
            "`kind == 'sort'` is off by default",
            ("kind == 'sort'",),
        ),
        (
            "layers = []\nif config.kind in [2, 3]:\n    layers += [Sort(), Sort()]\nelse:\n"
            "    layers.extend([Mean()])\nself.layers = nn.ModuleList(layers)",
            "",
            ("config.kind in [2, 3]",),
        ),
        (
            "layers = nn.ModuleDict()\nfor name in '012':\n    part = Mean()\n    if kind == 'sort':\n"
            "        part = Sort()\n    layers[name] = nn.Sequential(part, Mean())\nself.layers = layers",
            "`kind == 'sort'` is off by default",
            ("kind == 'sort'",),
        ),
        (
            "self.layers = nn.ModuleList()\nfor _ in range(3):\n"
            "    self.layers.append(Sort() if config.sorts else Mean())",
            "",
            ("config.sorts",),
        ),
        # a test of the layers' numbers, and one that each layer passes
        (
            "self.layers = nn.ModuleList()\nfor i in range(3):\n"
            "    if i == 0:\n        self.layers.append(Mean())\n    else:\n        self.layers.append(Sort())",
            "",
            (),
        ),
        (
            "self.layers = nn.ModuleList()\nfor i in range(3):\n"
            "    if config.depth > i:\n        self.layers.append(Sort())",
            "",
            (),
        ),
        # on either branch
        (
            "self.layers = nn.ModuleList()\nif kind == 'sort':\n    self.layers.append(Sort())\n"
            "else:\n    self.layers.append(Sort())",
            "",
            (),
        ),
    ],
)
def test_layers_that_an_option_chooses(tmp_path: Path, made: str, note: str, when: tuple[str, ...]) -> None:
    code = f"""
class Mean(nn.Module):
    def forward(self, x):
        return x.mean(0)

class Sort(nn.Module):
    def forward(self, x):
        return x * x.sum().item()

class M(nn.Module):
    def __init__(self, config, kind="mean"):
        super().__init__()
        self.layer = nn.Linear(2, 2)
        {made.replace(chr(10), chr(10) + " " * 8)}

    def forward(self, x: torch.Tensor):
        x = self.layer(x)
        {CALLED["layers[name]" in made]}
        return x
"""
    [found] = [f for f in _linted(tmp_path, code) if f.code == "PTB103" and f.note != UNCALLED]
    assert (found.note, found.when) == (note, when)


def test_a_metric_of_the_projects_own(tmp_path: Path) -> None:
    code = """
class Metric(nn.Module):
    def update(self, x): ...
    def reset(self): ...

class Accuracy(Metric):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x: torch.Tensor):
        return self.model(x * x.sum().item())

    def compute(self): ...
"""
    assert set(notes(tmp_path, code)) == {"in code that is seldom compiled"}
    assert set(notes(tmp_path, code.replace("compute", "computed"))) == {""}
    called = """
class Confusion:
    def update(self, x):
        return x * x.sum().item()
    def compute(self): ...
    def reset(self): ...

class Step(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.confusion = nn.Linear(2, 2), Confusion()

    def forward(self, x: torch.Tensor):
        return self.confusion.update(self.layer(x))
"""
    assert set(notes(tmp_path, called)) == {"in code that is seldom compiled"}
    assert set(notes(tmp_path, called + "\ntorch.compile(Step())(torch.ones(2))\n")) == {""}


FIRST_RUN = """
FIRST = {first}

class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)
        self.fresh = {first}

    def features(self, x):
        if {test}:
            print("features", x.shape)
        return self.layer(x)

    def forward(self, x: torch.Tensor):
        global FIRST
        x = self.features(x + 1) * 2
        {last}
        return x.relu()

def reset():
    global FIRST
    FIRST = False
"""


@pytest.mark.parametrize(
    ("test", "last", "first", "note"),
    [
        ("FIRST", "FIRST = False", "True", "once"),
        ("FIRST and x.dim() > 1", "FIRST = False", "True", "once"),
        ("not FIRST", "FIRST = True", "False", "once"),
        ("self.fresh", "self.fresh = False", "True", "once"),
        # it is not so at first
        ("not FIRST", "FIRST = False", "True", ""),
        ("FIRST or x.dim() > 1", "FIRST = False", "True", ""),
        # nothing that runs sets it, or not each time
        ("FIRST", "pass", "True", ""),
        ("FIRST", "if x.shape[0] > 4: FIRST = False", "True", ""),
        ("FIRST", "FIRST = True", "True", ""),
        ("self.fresh", "if x.shape[0] > 4: self.fresh = False", "True", ""),
    ],
)
def test_what_the_first_run_alone_does(tmp_path: Path, test: str, last: str, first: str, note: str) -> None:
    code = FIRST_RUN.format(test=test, last=last, first=first)
    assert notes(tmp_path, code, "PTB101") == [note]


NESTED = "in loops within loops over data, and nothing here compiles the module"
BY_ROW = "in a loop that reads values row by row, and nothing here compiles the module"


@pytest.mark.parametrize(
    ("body", "note"),
    [
        # of the innermost, and of the outer one
        (
            "for i in range(2):\n            for j in range(2):\n                out[i] += x[i, j].item()",
            NESTED,
        ),
        (
            "for i in range(2):\n            n = x[i].sum().item()\n            out += [n for _ in out]",
            NESTED,
        ),
        ("out = [[v.item() for v in row] for row in x]", NESTED),
        # one loop alone: rows of a tensor, what is made of one, and what is no row or no data
        ("for i in range(2):\n            out[i] = x[i].sum().item()", BY_ROW),
        ("for row in x:\n            y = row * 2\n            out[0] += y.sum().item()", BY_ROW),
        ("for a, b in zip(x, out):\n            out[0] += a.sum().item()", BY_ROW),
        ("for i, a in enumerate(x):\n            out[i] = a.sum().item()", BY_ROW),
        (
            "for i in range(2):\n            a = x.narrow(0, i, 1)\n            out[i] = a.sum().item()",
            BY_ROW,
        ),
        ("out = [a.sum().item() for a in x]", BY_ROW),
        ("for a, b in zip(x, out):\n            out[0] += (x == b).sum().item()", ""),
        ("for i in range(2):\n            out[i] = (x == i).sum().item()", ""),
        ("for i in range(2):\n            out[i] = self.first[i].item()", ""),
        ("for i in range(2):\n            out[i] = x.sum().item()", ""),
        ("for a in x:\n            out[0] = self.layer(a).sum().item()", ""),
        (
            "for i in range(2):\n            part = self.parts[i]\n"
            "            out[i] = part(x[i]).sum().item()",
            "",
        ),
        # after both, and what a loop goes over
        ("for i in range(2):\n            out = [i for i in out]\n        out = x.sum().item()", ""),
        ("for n in range(int(x.sum().item())):\n            out = [n for i in out]", ""),
        # a part of the model is called there
        (
            "for i in range(2):\n            for j in range(2):\n                out[i] = self.layer(x).sum().item()",
            "",
        ),
        (
            "for i in range(2):\n            for part in self.parts:\n"
            "                out[i] = part(x).sum().item()",
            "",
        ),
        (
            "for i in range(2):\n            for part in self.more:\n"
            "                out[i] = part(i) + x.sum().item()",
            "",
        ),
    ],
)
def test_loops_within_loops_over_data(tmp_path: Path, body: str, note: str) -> None:
    code = f"""
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)
        self.parts = [nn.Linear(2, 2), nn.Linear(2, 2)]
        self.more = make_parts()
        self.register_buffer("first", torch.tensor([1, 2]))

    def forward(self, x: torch.Tensor):
        x, out = self.layer(x), [0, 0]
        {body}
        return self.layer(x + out[0])
"""
    assert notes(tmp_path, code) == [note]
    assert notes(tmp_path, f"{code}\nfast = torch.compile(M())\n") == [""]


TEXTS = "in a module that is given lists of texts, which tensors are made of there"


@pytest.mark.parametrize(
    ("given", "note"),
    [
        ("texts: list[str], x: torch.Tensor", TEXTS),
        ("texts: tuple[list[str], list[list[str]]], x: torch.Tensor", TEXTS),
        ("x: torch.Tensor, texts: list[str] = ()", ""),
        ("x: torch.Tensor, texts: list[torch.Tensor]", ""),
        ("x: torch.Tensor, mode: str", ""),
        ("x: torch.Tensor, texts: torch.Tensor | list[str]", ""),
        ("x: torch.Tensor, texts: str | list[str]", TEXTS),
        ("x: torch.Tensor, texts: str", ""),
    ],
)
def test_a_module_that_is_given_texts(tmp_path: Path, given: str, note: str) -> None:
    code = f"""
class M(nn.Linear):
    def forward(self, {given}):
        x = super().forward(x)
        return x * x.sum().item() + x.mean()
"""
    assert notes(tmp_path, code) == [note]
    assert notes(tmp_path, f"{code}\nfast = torch.compile(M(2, 2))\n") == [""]


@pytest.mark.parametrize(
    ("kept", "note"), [("setattr(self, name, made)", "once"), ("setattr(self, other, made)", "")]
)
def test_what_a_decorator_keeps_under_a_name_runs_once(tmp_path: Path, kept: str, note: str) -> None:
    code = f"""
def single(name, other="more"):
    def decorated(make):
        def wrapper(self, *args):
            made = getattr(self, name)
            if made is not None:
                return made
            made = make(self, *args)
            {kept}
            return made
        return wrapper
    return decorated

class M(nn.Linear):
    def __init__(self):
        super().__init__(2, 2)
        self.scale = None

    @single("scale")
    def made(self, x):
        return x.sum().item()

    def forward(self, x: torch.Tensor):
        x = super().forward(x)
        return x * self.made(x)
"""
    assert notes(tmp_path, code) == [note]


@pytest.mark.parametrize(
    ("made", "note"), [("T.RandomHorizontalFlip()", ASIDE), ("T.Resize(4)", None), ("nn.LSTM(2, 2)", "")]
)
def test_an_augmentation_that_a_library_draws(tmp_path: Path, made: str, note: str | None) -> None:
    code = f"""
from torchvision import transforms as T

class M(nn.Linear):
    def __init__(self):
        super().__init__(2, 2)
        self.augment = {made}

    def forward(self, x: torch.Tensor):
        x = super().forward(x)
        return super().forward(self.augment(x))
"""
    found = [f.note for f in _linted(tmp_path, code) if f.code in ("PTB187", "PTB150")]
    assert found == ([] if note is None else [note])


LEFT_BY_A_LOOP = """
def kept(table, name: str, x):
    table[name] = x

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(3, 3) for _ in range(12)])

    def forward(self, x: torch.Tensor, table: dict):
        for i, layer in enumerate(self.layers):
            x = layer(x)
            if x.sum() > 0:
                x = x + 1
            kept(table, f"layer{i}", x)
        return x
"""


def test_what_follows_from_a_break_in_a_loop_is_a_note_beside_it(tmp_path: Path) -> None:
    assert notes(tmp_path, LEFT_BY_A_LOOP, "PTB110") == [""]
    assert notes(tmp_path, LEFT_BY_A_LOOP, "PTR209") == [
        "goes with the break that leaves the caller to Python"
    ]


EMPTY = "where a loop had nothing to put in a list"


@pytest.mark.parametrize(
    ("fill", "test", "note"),
    [
        ("outs.append(part(x))", "len(outs) == 0", EMPTY),
        ("outs.append(part(x))", "not len(outs) > 0", EMPTY),
        ("outs.append(part(x))", "not outs", EMPTY),
        ("outs.append(part(x))", "len(outs) > 0", ""),
        ("outs.append(part(x))", "outs", ""),
        ("outs.append(part(x)) if len(self.parts) > 2 else None", "len(outs) == 0", ""),
        ("if x.shape[0] > 2:\n                outs.append(part(x))", "len(outs) == 0", ""),
    ],
)
def test_a_list_that_a_loop_fills(tmp_path: Path, fill: str, test: str, note: str) -> None:
    code = f"""
class M(nn.Module):
    def __init__(self, parts):
        super().__init__()
        self.parts = nn.ModuleList([nn.Linear(2, 2) for _ in range(parts)])

    def forward(self, x: torch.Tensor):
        outs = []
        for part in self.parts:
            {fill}
        if {test}:
            x = x * x.sum().item()
        return x + 1
"""
    assert notes(tmp_path, code) == [note]


TREE = "in a function that calls itself in a loop, as for the branches of a tree"


@pytest.mark.parametrize(
    ("body", "note"),
    [
        ("for child in node.children:\n            total = total + self.visit(child, x)", TREE),
        ("for child in node.children:\n            total = total + step(child)", ""),
        ("if x.ndim == 1:\n            return self.visit(node, x[None])", ""),
        ("for child in node:\n            total = total + x(self.visit(child, x))", ""),
    ],
)
def test_a_function_that_walks_a_tree(tmp_path: Path, body: str, note: str) -> None:
    code = f"""
from other import step

class M(nn.Linear):
    def visit(self, node, x):
        total = node.value
        {body}
        return total * torch.ones(2).sum().item()

    def forward(self, x: torch.Tensor, node):
        return super().forward(x) * self.visit(node, x)
"""
    assert set(notes(tmp_path, code)) == {note}


@pytest.mark.parametrize(
    ("called", "note"), [("gathered", "where several processes work together"), ("doubled", "")]
)
def test_a_differentiable_function_that_gathers(tmp_path: Path, called: str, note: str) -> None:
    code = f"""
import torch.distributed as dist

def gathered(x):
    parts = [torch.empty_like(x) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, x)
    return torch.stack(parts)

def doubled(x):
    return x * 2

class Gather(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = {called}(x)
        ctx.sizes = x.sum().item()
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2

class M(nn.Linear):
    def forward(self, x: torch.Tensor):
        return super().forward(Gather.apply(super().forward(x)))
"""
    assert notes(tmp_path, code) == [note]


MARKING = """
def marked(x, dim):
    torch._dynamo.mark_dynamic(x, dim)

class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(3, 3)

    def forward(self, x: torch.Tensor):
        return self.inner(x) * x.sum().item()

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Layer() for _ in range(3)])

    def forward(self, x: torch.Tensor):
        x = x * x.max().item()
        MARK(x, 0)
        for layer in self.layers:
            x = layer(x)
        return x

class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = Model()

    def forward(self, x: torch.Tensor):
        return self.model(x) * 2
"""


@pytest.mark.parametrize(
    "mark", ["marked", "torch._dynamo.mark_dynamic", "torch._dynamo.decorators.maybe_mark_dynamic"]
)
def test_a_forward_that_marks_sizes_is_not_what_is_compiled(mark: str, tmp_path: Path) -> None:
    marks = RARE[MARKS]
    code = MARKING.replace("MARK", mark)
    assert sorted(notes(tmp_path, code)) == sorted(["", marks])
    assert set(notes(tmp_path, code, "PTB184")) <= {marks}
    compiled = notes(tmp_path, code + "\n@torch.compile\ndef run(x):\n    return Model()(x)\n")
    assert "" in compiled


def test_a_forward_that_is_compiled_and_marks_sizes_raises(tmp_path: Path) -> None:
    code = MARKING.replace("MARK", "torch._dynamo.mark_dynamic") + "\nfast = torch.compile(Outer())\n"
    assert notes(tmp_path, code, "PTB184") == [""]


@pytest.mark.parametrize(
    ("hands", "made", "note"),
    [
        ("super().__init__(ignored, 'sum')", "", True),
        ("super(M, self).__init__(ignored)", "", True),
        ("Base.__init__(self, ignored)", "", True),
        ("super().__init__(mode='sum', ignored=ignored)", "", True),
        ("super().__init__(ignored)", "M(2, ignored=0)", False),
        ("super().__init__(ignored)", "M(2, ignored=-1)", True),
        # what is given is something else, or nothing tells what
        ("super().__init__(ignored + 200)", "", False),
        ("super().__init__(*size)", "", False),
        ("super().__init__(**options)", "", False),
    ],
)
def test_an_option_that_is_handed_to_a_base_class(tmp_path: Path, hands: str, made: str, note: bool) -> None:
    """The object is made with what the class itself says, whose base keeps it."""
    code = f"""
class Base(nn.Module):
    def __init__(self, ignored=-100, mode="mean"):
        super().__init__()
        self.ignored = ignored
        self.mode = mode

    def forward(self, x: torch.Tensor, target: torch.Tensor):
        loss = self.loss(x)
        if self.ignored >= 0:
            loss = loss / (target != self.ignored).sum().item()
        return loss.mean()

class M(Base):
    def __init__(self, size, ignored=-100, **options):
        {hands}
        self.scale = nn.Linear(size, size)

    def loss(self, x):
        return self.scale(x)

def build(config):
    return {made or None}
"""
    assert notes(tmp_path, code) == ["`self.ignored >= 0` is off by default" if note else ""]


def test_an_option_that_is_asked_for_again_is_off_by_default_still(tmp_path: Path) -> None:
    code = """
class M(nn.Module):
    def __init__(self, size, remap=None):
        super().__init__()
        self.proj = nn.Linear(size, size)
        self.remap = remap

    def forward(self, x: torch.Tensor):
        if self.remap is not None:
            x = x + 1
        x = self.proj(x)
        if self.remap is not None:
            x = x * x.sum().item()
        return x
"""
    assert notes(tmp_path, code) == ["`self.remap is not None` is off by default"]


RECORDED = "where what a step tells is put into a record in the end, and nothing here compiles the module"


@pytest.mark.parametrize(
    ("body", "note"),
    [
        ("logs['loss'].append(loss.item())\n        return loss", RECORDED),
        (
            "kept = loss.item()\n        logs['loss'] = kept\n        if names:\n            pass\n"
            "        return loss, logs",
            RECORDED,
        ),
        (
            "if not self.training:\n            logs['loss'].append(loss.item())\n            if names:\n"
            "                logs[names].append((loss * 2).sum().item())\n            return torch.tensor(0)",
            RECORDED,
        ),
        ("logs['loss'].append(loss.item())\n        return loss * 2", ""),
        ("logs['loss'] = loss.item()\n        loss = self.layer(loss)\n        return loss", ""),
        ("rows[0] = loss.item()\n        return loss", ""),  # of a tensor, it may be
        ("own = []\n        own.append(loss.item())\n        return loss, own", ""),
    ],
)
def test_records_that_are_filled_in_the_end(tmp_path: Path, body: str, note: str) -> None:
    more = "logs['mean'].append((x * 2).mean().item())"
    body = body.replace("\n        return", f"\n        {more}\n        return")
    code = f"""
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)

    def forward(self, x: torch.Tensor, names, logs, rows):
        loss = self.layer(x)
        if names:
            loss = loss + 1
        {body}
"""
    assert set(notes(tmp_path, code)) - {EDGE} == {note}
    assert set(notes(tmp_path, f"{code}\nfast = torch.compile(M())\n")) == {""}


BY_ROWS = """
def summary(scores, mask):
    return scores.max().item() if mask.sum() > 2 else 0

class M(nn.Linear):
    def forward(self, x: torch.Tensor, mask: torch.Tensor):
        x = super().forward(x)
        found = []
        for i in range(x.size(0)):
            CALL
        return x * 2, found
"""


@pytest.mark.parametrize(
    ("call", "note"),
    [
        ("found.append(summary(x[i], mask[i]))", RARE_ROWS),
        ("found.append(summary(x[i : i + 1], mask=mask[i]))", RARE_ROWS),
        ("found.append(summary(x, mask[i]))", ""),
        ("found.append(summary(self.weight[i], self.bias[i]))", ""),
        ("found.append(self.activate(summary(x[i], mask[i])))", ""),
    ],
)
def test_a_function_that_is_given_row_after_row(tmp_path: Path, call: str, note: str) -> None:
    assert notes(tmp_path, BY_ROWS.replace("CALL", call)) == [note]


def test_a_break_that_says_why_is_meant(tmp_path: Path) -> None:
    code = """
class M(nn.Linear):
    def forward(self, x: torch.Tensor):
        x = x * 2
        torch._dynamo.graph_break(REASON)
        return super().forward(x)
"""
    assert notes(tmp_path, code.replace("REASON", "msg='eager: no kernel'"), "PTB184") == [
        "meant: it says why"
    ]
    assert notes(tmp_path, code.replace("REASON", ""), "PTB184") == [""]


GUARDED = """
class M(nn.Linear):
    def forward(self, x: torch.Tensor):
        x = super().forward(x)
        if not bool(torch.isfinite(x).all()):
            raise RuntimeError("not finite")
        y = x.exp()
        if bool((y > 100).any()):
            OTHER
        return y * 2
"""


@pytest.mark.parametrize(
    ("other", "told"),
    [("raise RuntimeError('large')", ["", "told with line 13"]), ("y = y.clamp(max=100)", ["", ""])],
)
def test_several_checks_of_one_function_are_one_finding(tmp_path: Path, other: str, told: list[str]) -> None:
    path = tmp_path / "package" / "m.py"
    notes(tmp_path, GUARDED.replace("OTHER", other))
    found = check([str(path)], Configs({"target_torch": (2, 13)})).findings
    assert [f.note for f in found if f.code == "PTB110"] == told


TURNING = """
class M(nn.Linear):
    def forward(self, x: torch.Tensor, ids: torch.Tensor):
        x = super().forward(x)
        out = {}
        LOOP
        return x * 2, out
"""
TURN = "in a loop that reads values row by row, and nothing here compiles the module"


@pytest.mark.parametrize(
    ("loop", "note"),
    [
        ("for i in torch.unique(ids).tolist():\n            out[i] = (x * (ids == i)).sum()", TURN),
        ("kinds = torch.unique(ids).tolist()\n        for i in kinds:\n            out[i] = x * i", TURN),
        ("out = {i: (x * (ids == i)).sum() for i in torch.unique(ids).tolist()}", ""),
        ("for i in torch.unique(ids).tolist():\n            x = self.activate(x, i)", ""),
        ("kinds = torch.unique(ids).tolist()\n        x = x * kinds[0]", ""),
        ("out = {i: x * i for i in range(ids.tolist()[0])}", ""),
    ],
)
def test_a_loop_over_the_values_of_a_tensor(tmp_path: Path, loop: str, note: str) -> None:
    assert notes(tmp_path, TURNING.replace("LOOP", loop), "PTB105") == [note]


NO_GPU = """
class M(nn.Linear):
    def forward(self, x: torch.Tensor):
        x = super().forward(x)
        if TEST:
            x = x * x.max().item()
        return super().forward(x)
"""


@pytest.mark.parametrize(
    ("test", "seldom"),
    [
        ("not torch.cuda.is_available()", True),
        ("not x.is_cuda", True),
        ("x.device.type == 'cpu'", True),
        ("x.device.type in ('cpu', 'mps')", True),
        ("torch.is_autocast_cpu_enabled()", True),
        ("not torch.is_autocast_cpu_enabled()", False),
        ("x.device.type == 'cuda'", False),
        ("x.device.type in ('cpu', 'cuda')", False),
        ("x.is_cuda", False),
    ],
)
def test_what_runs_where_there_is_no_gpu(tmp_path: Path, test: str, seldom: bool) -> None:
    note = "where nothing runs on a GPU" if seldom else ""
    assert notes(tmp_path, NO_GPU.replace("TEST", test)) == [note]


GIVEN_PART = """
class M(nn.Linear):
    def __init__(self, special=False):
        super().__init__(3, 3)
        if TEST:
            self.norm = nn.BatchNorm1d(3)

    def forward(self, x: torch.Tensor):
        x = super().forward(x)
        if ASKS:
            x = self.norm(x) * x.max().item()
        return x
"""


@pytest.mark.parametrize(
    ("test", "asks", "off"),
    [
        ("special is True or special == 'norm'", "getattr(self, 'norm', None) is not None", True),
        ("special", "getattr(self, 'norm', None)", True),
        ("special == 'norm'", "hasattr(self, 'norm')", True),
        ("special is not None", "hasattr(self, 'norm')", False),
        ("special or torch.cuda.is_available()", "hasattr(self, 'norm')", False),
        ("special", "getattr(self, 'bias', None) is not None", False),
    ],
)
def test_a_part_that_is_there_only_where_an_option_asks_for_it(
    tmp_path: Path, test: str, asks: str, off: bool
) -> None:
    code = GIVEN_PART.replace("TEST", test).replace("ASKS", asks)
    assert notes(tmp_path, code) == ([f"`{asks}` is off by default"] if off else [""])


OF_ROWS = """
class Crops(BASE):
    def crop(self, row):
        n = torch.rand(1).item()
        return row * n

    def all(self, x):
        for i, row in enumerate(x):
            x[i] = self.crop(GIVEN)
        return x

class M(nn.Linear):
    def __init__(self):
        super().__init__(2, 2)
        self.crops = Crops()

    def forward(self, x: torch.Tensor):
        x = super().forward(x)
        return super().forward(self.crops.all(x))
"""


@pytest.mark.parametrize(
    ("base", "given", "note"),
    [("object", "row.clone()", RARE_ROWS), ("object", "x[0]", ""), ("nn.Module", "row.clone()", "")],
)
def test_a_method_that_augments_a_batch_row_by_row(tmp_path: Path, base: str, given: str, note: str) -> None:
    assert notes(tmp_path, OF_ROWS.replace("BASE", base).replace("GIVEN", given)) == [note]


COUNTED = """
class Counted(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.kept = nn.Linear(2, 2), []

    def forward(self, x: torch.Tensor)SAYS:
        x = self.layer(x).relu()
        self.kept.append(x.sum().item())
        self.last = x * 2
        GIVES
"""


@pytest.mark.parametrize(
    ("says", "gives", "note"),
    [(" -> None", "", NO_TENSOR), ("", "return x", "")],
)
def test_a_forward_that_gives_nothing_keeps_figures(tmp_path: Path, says: str, gives: str, note: str) -> None:
    assert notes(tmp_path, COUNTED.replace("SAYS", says).replace("GIVES", gives)) == [note]


HANDED = """
def drop(layers, rate, other=0):
    '''A text.'''
    if rate == 1:
        return layers
    return layers[: 1 + (torch.rand(2) > rate).any().item()]


class M(nn.Module):
    def __init__(self, rate=DEFAULT):
        super().__init__()
        self.rate = rate
        self.layers = nn.ModuleList([nn.Linear(2, 2) for _ in range(3)])

    def forward(self, x: torch.Tensor):
        x = x.relu().sin()
        for layer in CALL:
            x = layer(x)
        return x.relu()
"""


@pytest.mark.parametrize(
    ("default", "call", "after", "note"),
    [
        ("1.0", "drop(self.layers, self.rate)", "", "`self.rate != 1` is off by default"),
        ("1.0", "drop(self.layers, other=2, rate=self.rate)", "", "`self.rate != 1` is off by default"),
        ("0.5", "drop(self.layers, self.rate)", "", ""),
        ("1.0", "drop(self.layers, self.rate)", "model = M(0.5)", ""),
        ("1.0", "drop(self.layers, 0.5)", "", ""),
        # another way there has it on
        ("1.0", "[*drop(self.layers, self.rate), *drop(self.layers, 0.5)]", "", ""),
    ],
)
def test_an_option_with_which_a_function_returns_at_once(
    tmp_path: Path, default: str, call: str, after: str, note: str
) -> None:
    code = HANDED.replace("DEFAULT", default).replace("CALL", call) + after + "\n"
    assert notes(tmp_path, code) == [note]


def test_what_decorates_a_function_that_no_compiled_code_calls(tmp_path: Path) -> None:
    code = """
import contextlib


class Safe(contextlib.ContextDecorator):
    def __enter__(self):
        return self

    def __exit__(self, *exception):
        return True


@Safe()
def drawn(x):
    return x * 2


def train(x: torch.Tensor):
    x = x + 1
    drawn(x)
    return x
"""
    assert notes(tmp_path, code, "PTB195") == [
        UNCALLED,
        UNCALLED,
    ]  # where it decorates, and where it is called
    assert "" in notes(tmp_path, code + "\nrun = torch.compile(train)\n", "PTB195")
