"""Every way in which a program compiles a callable makes it a root."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

import pytest

from pt2lint.project.config import Settings
from pt2lint.static.engine import lint
from pt2lint.static.interpret import Interpreter
from pt2lint.static.source.project import Project

F = "def f(x: torch.Tensor):\n    return x.item()\n"
M = "class M(nn.Module):\n    def other(self, x: torch.Tensor):\n        return x.item()\n"
NET = M.replace("other", "forward")
WAYS = {
    "bare, under another name": "import torch as th\n@th.compile\n" + F,
    "called": "@torch.compile(dynamic=True)\n" + F,
    "imported by name": "from torch import compile as c\n@c\n" + F,
    "imported where there is one": (
        "try:\n    from torch import compile as c\nexcept ImportError:\n    c = lambda f: f\n@c\n" + F
    ),
    "defined where there is one": (
        "if hasattr(torch, 'compile'):\n    fast = torch.compile\nelse:\n    def fast(f): return f\n@fast\n" + F
    ),
    "with arguments of its own": "fast = functools.partial(torch.compile, dynamic=True)\n@fast\n" + F,
    "asked for by name": F + "g = getattr(torch, 'compile')(f)\n",
    "a function that compiles": "def fast(f, on=True):\n    return torch.compile(f) if on else f\n@fast\n" + F,
    "what a function defines and returns": (
        "def made():\n    @torch.compile\n" + indent(F, "    ") + "    return f\n"
    ),
    "what a function that is called defines and returns": (
        "def made(scale):\n    @torch.compile(dynamic=True)\n" + indent(F, "    ") + "    return f\nmade(2)\n"
    ),
    "a function that makes one that compiles": (
        "def fast(**kw):\n    def deco(f):\n        return torch.compile(f, **kw)\n    return deco\n@fast()\n" + F
    ),
    "under a flag": F + "g = torch.compile(f) if os.environ.get('FAST') else f\n",
    "in a function that nothing calls": F + "def main():\n    g = torch.compile(f)\n    g(torch.ones(1))\n",
    "arguments given before": F + "g = torch.compile(functools.partial(f))\n",
    "mapped over a batch": F + "g = torch.compile(torch.func.vmap(f))\n",
    "with the gradients of it": F + "g = torch.compile(torch.func.grad(f))\n",
    "older": "import torch._dynamo as dynamo\n@dynamo.optimize('eager')\n" + F,
    "arguments by name": (
        "from tensordict.nn import TensorDictModule\n"
        + F
        + "f = TensorDictModule(f, in_keys=['x'], out_keys=['y'])\nf = torch.compile(f)\n"
    ),
    "unpacked": F + "def made(f):\n    return f, 1\ng, n = made(f)\nh = torch.compile(g)\n",
    "a method of a class": M + "M.other = torch.compile(M.other)\n",
    "a method of a module": M + "m = M()\nm.other = torch.compile(m.other)\n",
    "a module in place": NET + "M().compile()\n",
    "an object that a base from elsewhere makes": (
        "from huggingface_hub import PyTorchModelHubMixin\n"
        + NET.replace("nn.Module", "nn.Module, PyTorchModelHubMixin")
        + "torch.compile(M.from_pretrained('here').eval())\n"
    ),
    "an object that a class method over a base's makes": (
        "from lightning import LightningModule\n"
        + NET.replace("nn.Module", "LightningModule")
        + "    @classmethod\n    def load_from_checkpoint(cls, path):\n"
        "        return super().load_from_checkpoint(path)\ntorch.compile(M.load_from_checkpoint('here'))\n"
    ),
    "transformers": (
        "from transformers import Trainer, TrainingArguments\n"
        + NET
        + "Trainer(M(), TrainingArguments('out', torch_compile=True))\n"
    ),
    "accelerate": (
        "from accelerate import Accelerator\n" + NET + "m = Accelerator(dynamo_backend='inductor').prepare(M())\n"
    ),
    "accelerate, by a plugin": (
        "from accelerate import Accelerator\nfrom accelerate.utils import TorchDynamoPlugin\n"
        + NET
        + "plugin = TorchDynamoPlugin(backend='inductor')\nm = Accelerator(dynamo_plugin=plugin).prepare(M())\n"
    ),
    "a decorator under a condition": (
        "def fast(f):\n    if os.environ.get('SLOW'):\n        return f\n    return torch.compile(f)\n@fast\n" + F
    ),
    "a decorator that registers": (
        "KNOWN = {}\ndef register(name):\n    def deco(f):\n        KNOWN[name] = torch.compile(f)\n"
        "        return f\n    return deco\n@register('f')\n" + F
    ),
    "a decorator that wraps": (
        "def fast(f):\n    made = torch.compile(f)\n    @functools.wraps(f)\n    def run(*a):\n"
        "        return made(*a)\n    return run\n@fast\n" + F
    ),
    "a decorator whose wrapper compiles at its first call": (
        "def fast(f):\n    made = None\n    @functools.wraps(f)\n    def run(*a, **k):\n        nonlocal made\n"
        "        if torch.compiler.is_compiling():\n            return f(*a, **k)\n        if made is None:\n"
        "            made = torch.compile(dynamic=True)(f)\n        return made(*a, **k)\n    return run\n@fast\n" + F
    ),
    "a class that decorates": (
        "class Fast:\n    def __init__(self, f):\n        self.f = torch.compile(f)\n@Fast\n" + F
    ),
    "a decorator of a method": (
        "def fast(f):\n    made = torch.compile(f)\n    return lambda *a: made(*a)\n"
        "class C:\n    @fast\n" + indent(F.replace("f(", "f(self, "), "    ")
    ),
    "a method in the class statement": M + "    fast = torch.compile(other)\n",
    "a function in the class statement": F + "class C:\n    fast = staticmethod(torch.compile(f))\n",
    "methods by name": M + "m = M()\nfor n in ('other', 'more'):\n    torch.compile(getattr(m, n))\n",
    "a method by a name that is made": (
        M + "def fast(m, n):\n    torch.compile(getattr(m, f'{n}r'))\nfast(M(), 'othe')\n"
    ),
    "a method of the class below": (
        "class B:\n    def go(self):\n        self.other = torch.compile(self.other)\n" + M.replace("nn.Module", "B")
    ),
    "given to an object under another name": (
        "class C:\n    def one(self, x):\n        return x.item()\n"
        "    def all(self):\n        return self.fast(torch.ones(1))\n"
        "c = C()\nc.fast = torch.compile(c.one)\nc.all()\n"
    ),
    "lightning": (
        "import lightning as L\n" + M.replace("nn.Module", "L.LightningModule").replace("other", "training_step")
        + "m = torch.compile(M())\n"
    ),
}  # fmt: skip
NO_WAYS = {
    "a pattern": "import re\n" + F + "g = re.compile('f')\n",
    "nothing of the kind": F + "g = functools.partial(f)\n",
    "disabled": F + "g = torch.compile(f, disable=True)\n",
    "a decorator, disabled": "@torch.compile(disable=True)\n" + F,
    "a decorator's result, disabled": F + "g = torch.compile(fullgraph=True, disable=True)(f)\n",
    "a module in place, disabled": NET + "M().compile(disable=True)\n",
    "a decorator that is told not to": (
        "def fast(on):\n    def deco(f):\n        g = torch.compile(f) if on else f\n        return f\n"
        "    return deco\n@fast(False)\n" + F
    ),
    "a decorator that compiles something else": (
        "def g(x): return x\ndef fast(f):\n    torch.compile(g)\n    return f\n@fast\n" + F
    ),
    "a step of a module that is no framework's": M.replace("other", "training_step") + "m = torch.compile(M())\n",
    "a method of the class below, of another object": (
        "class B:\n    def go(self, o):\n        torch.compile(o.other)\n" + M.replace("nn.Module", "B")
    ),
    "transformers, not told to": (
        "from transformers import Trainer, TrainingArguments\n"
        + NET
        + "Trainer(M(), TrainingArguments('out', torch_compile=False))\n"
    ),
    "accelerate, not told to": (
        "from accelerate import Accelerator\n" + NET + "m = Accelerator(dynamo_backend='no').prepare(M())\n"
    ),
}  # fmt: skip


def found(source: str, folder: Path) -> bool:
    path = folder / "m.py"
    path.write_text("import functools, os\nimport torch\nfrom torch import nn\n" + source)
    project = Project()
    interpreter = Interpreter(project, frozenset(["call torch.Tensor.item"]), frozenset())
    interpreter.run(project.load(str(path)), "explicit")
    notes = interpreter.finished_notes()
    return any(op.region for units in notes.values() for ops in units.values() for op in ops)


@pytest.mark.parametrize("way", WAYS)
def test_ways(way: str, tmp_path: Path) -> None:
    assert found(WAYS[way], tmp_path)


@pytest.mark.parametrize("way", NO_WAYS)
def test_no_ways(way: str, tmp_path: Path) -> None:
    assert not found(NO_WAYS[way], tmp_path)


@pytest.mark.parametrize(
    "brings", ["fast = functools.partial(torch.compile)", "def fast(f):\n    return torch.compile(f)"]
)
def test_brought_from_another_file(brings: str, tmp_path: Path) -> None:
    (tmp_path / "speed.py").write_text(f"import functools\nimport torch\n{brings}\n")
    assert found(f"from speed import fast\n{F}g = fast(f)\n", tmp_path)


def test_an_import_that_may_fail_leaves_the_rest_alive(tmp_path: Path) -> None:
    """What an `except ImportError` binds is one of two things that the name may be."""
    guard = "try:\n    from lib import f as fast\nexcept ImportError:\n    fast = None\n"
    body = "    if fast is None:\n        raise ImportError\n    return x.item()\n"
    assert found(f"{guard}@torch.compile\ndef g(x: torch.Tensor):\n{body}", tmp_path)


@pytest.mark.parametrize("call", ["compare(f{})", "Harness().compare(f{}, 2)"])
@pytest.mark.parametrize(
    "breaks", ["print(x)", "x.sum().item()"]
)  # `print` has the file looked through before
def test_each_of_many_functions_that_one_helper_compiles(call: str, breaks: str) -> None:
    code = (
        "import torch\n\ndef compare(f, times=1):\n    g = torch.compile(f)\n"
        "    return g(torch.ones(3))\n\nclass Harness:\n    def compare(self, f, times):\n        compare(f, times)\n"
    )
    for i in range(14):
        code += f"\ndef f{i}(x):\n    {breaks}\n    return x + {i}\n\n{call.format(i)}\n"
    assert len(lint(["m.py"], Settings(roots="explicit"), {"m.py": code}).findings) == 14


@pytest.mark.parametrize(
    ("wrapper", "told"),
    [
        ("def run(*a, **k): return made(*a, **k)", True),
        ("def run(*a, **k): return torch.compile(f)(*a, **k)", True),
        ("def run(x, rate): return made(x, torch.tensor(rate))", False),
        ("def run(*a):\n        a = [torch.as_tensor(x) for x in a]\n        return made(*a)", False),
        ("def run(*a): return f(*a)\n    run.made = made", False),
    ],
)
def test_a_call_of_what_a_decorator_wraps_is_one_of_what_it_compiles(wrapper: str, told: bool) -> None:
    source = (
        f"import torch\n\ndef fast(f):\n    made = torch.compile(f)\n    {wrapper}\n    return run\n\n"
        "@fast\ndef scaled(x, rate):\n    return x * rate\n\n"
        "def step(x: torch.Tensor, rate: float):\n    return scaled(x, rate)\n"
    )
    told_of = lint(["m.py"], Settings(roots="explicit"), {"m.py": source}).findings
    assert [f.code for f in told_of if "caller chooses" in f.message] == ["PTR220"] * told


def test_a_number_that_a_compiled_function_hands_to_another() -> None:
    source = (
        "import torch\n\n@torch.compile\ndef scaled(x, rate):\n    return x * rate\n\n"
        "@torch.compile\ndef moved(x, rate):\n    return scaled(x, rate) + 1\n\n"
        "def step(x: torch.Tensor, rate: float):\n    return moved(x, rate)\n"
    )
    told_of = lint(["m.py"], Settings(roots="explicit"), {"m.py": source}).findings
    assert [(f.code, f.line) for f in told_of] == [("PTR220", 12)]


def test_what_plain_code_computes_is_an_input_of_what_is_compiled() -> None:
    code = (
        "import torch\n\ndef exchanged(x):\n    x.data = x * 2\n    return x\n\ndef widened(x):\n    x.unsqueeze_(0)\n"
        "    return x\n\ndef main():\n    for f in (exchanged, widened):\n        torch.compile(f)(torch.ones(3) + 1)\n"
    )
    found = lint(["m.py"], Settings(roots="explicit", select=("PTB",)), {"m.py": code}).findings
    assert [(f.code, f.line) for f in found] == [("PTB164", 8)]  # each as torch 2.6 to 2.15 have it


LIBRARIES_COMPILE = """
import torch
from diffusers import ModelMixin
from torch import nn
from transformers import GenerationMixin, PreTrainedModel

class Language(PreTrainedModel, GenerationMixin):
    def forward(self, input_ids):
        return input_ids * input_ids.float().sum().item()

class Block(nn.Module):
    def forward(self, x):
        return x * x.sum().item()

class Denoiser(ModelMixin):
    _repeated_blocks = ["Block"]
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block() for _ in range(3)])
    def forward(self, x):
        print(x.shape)
        for block in self.blocks:
            x = block(x)
        return x

def main():
    language, denoiser = Language(None).cuda(), Denoiser()
"""


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ('language.generate(ids, cache_implementation="static")', [9]),
        ("language.generate(ids)", []),
        ("denoiser.compile_repeated_blocks()", [13]),
        ("denoiser.compile_repeated_blocks(fullgraph=True)", []),  # which captures it
    ],
)
def test_what_a_library_compiles_for_its_users(body: str, lines: list[int]) -> None:
    code = f"{LIBRARIES_COMPILE}    {body}\n\nmain()\n"
    found = lint(["m.py"], Settings(roots="explicit", target_torch=(2, 13)), {"m.py": code}).findings
    assert [f.line for f in found if f.severity != "note"] == lines
