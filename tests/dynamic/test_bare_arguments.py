"""Inputs that name no callable go to what their file defines."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from pt2lint.dynamic.child import inputs  # noqa: E402

NET = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()

    def forward(self, x, y=1.0):
        return self.block(x) + y

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x, y=1.0):
        return self.linear(x) * y

class Loss(nn.Module):
    def __init__(self, weight):
        super().__init__()

    def forward(self, x, y):
        return x - y
"""
INSTANCE = NET + "\nloss = torch.compile(Loss(3))\n"
INIT = """
import torch

class Net(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = torch.nn.Linear(width, width)

    def forward(self, many):
        return sum(self.linear(one) for one in many)

def get_init_inputs():
    return [8]
"""
COMPILED = """
import torch

@torch.compile
def step(x, y):
    return x + y
"""


@pytest.fixture
def load(tmp_path: Path) -> Iterator[Any]:
    path = list(sys.path)

    def load(text: str, returned: str) -> list[inputs.Target]:
        (tmp_path / "m.py").write_text(f"{text}\ndef example_inputs():\n    return {returned}\n")
        return inputs.from_file(str(tmp_path / "m.py"), print)

    yield load
    sys.path[:] = path
    sys.modules.pop("m", None)


@pytest.mark.parametrize(
    ("text", "returned", "name", "calls"),
    [
        (NET, "torch.ones(4, 8), torch.ones(4, 8)", "Net", 1),
        (NET, "torch.ones(4, 8)", "Net", 1),
        (NET, "{'y': torch.ones(8), 'x': torch.ones(4, 8)}", "Net", 1),
        (NET, "[torch.ones(4, 8)], {'y': torch.ones(8)}", "Net", 1),
        (NET, "[(torch.ones(n, 8), torch.ones(8)) for n in (2, 3, 4)]", "Net", 3),
        (INIT, "[torch.ones(4, 8) for _ in range(3)]", "Net", 1),
        (NET, "torch.ones(4, 7), torch.ones(4, 8)", "Net", 1),  # runs with none of them: the probes tell why
        (INSTANCE, "torch.ones(4, 7), torch.ones(4, 7)", "Loss", 1),
        (COMPILED, "torch.ones(2), torch.ones(2)", "step", 1),
    ],
)
def test_the_callable_that_takes_them(load: Any, text: str, returned: str, name: str, calls: int) -> None:
    [target] = load(text, returned)
    assert (target.name, len(target.calls), target.how) == (name, calls, f"example_inputs(), given to {name}")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            COMPILED,
            "(Tensor, Tensor, Tensor), which step cannot be called with; return (callable, args, kwargs)",
        ),
        (
            INIT.replace("get_init", "no"),
            "and Net cannot be built without more (TypeError: Net.__init__() missing",
        ),
        (
            "import torch",
            "(Tensor, Tensor, Tensor), and the file defines no module to call with it; return (callable",
        ),
    ],
)
def test_arguments_that_fit_nothing(load: Any, text: str, said: str) -> None:
    with pytest.raises(inputs.BadInputs) as error:
        load(text, "torch.ones(1), torch.ones(1), torch.ones(1)")
    assert str(error.value).startswith("`example_inputs()` gives (Tensor, Tensor, Tensor), ")
    assert said in str(error.value)


def test_a_package_that_cannot_be_imported_is_why_a_relative_import_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    package = tmp_path / "of_many_parts"
    package.mkdir()
    (package / "__init__.py").write_text("import not_installed_anywhere\n")
    (package / "net.py").write_text("from .base import Base\n")
    (package / "alone.py").write_text("number = 1\n")
    with pytest.raises(ModuleNotFoundError, match="not_installed_anywhere"):
        inputs.import_path(str(package / "net.py"))
    assert inputs.import_path(str(package / "alone.py")).number == 1
