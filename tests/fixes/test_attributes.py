"""Branches that assign attributes, under the real Dynamo."""

import libcst as cst
import pytest
import torch

from pt2lint.fixes.repaired import Refusal
from pt2lint.fixes.repairs.attributes import select_attributes
from tests.fixes.lab import applied, function_code, nodes, prove

HEAD = """import torch


class Model(torch.nn.Module):
    def __init__(self, start=0.0, momentum=0.9):
        super().__init__()
        self.momentum = momentum
        self.register_buffer("low", torch.tensor(start))
        self.register_buffer("high", torch.tensor(start))

    def forward(self, x: torch.Tensor):
        low, high = x.detach().min(), x.detach().max()
"""
TAIL = """        return x * self.high - self.low
"""
STATISTICS = """
# the first batch
if self.low.min() > -1e-5 and self.high.max() < 1e-5:
    self.low = self.low + low
    self.high = self.high + high
elif self.momentum == -1:
    self.low = torch.min(self.low, low)
    self.high = torch.max(self.high, high)
else:
    self.low = self.low * self.momentum + low * (1 - self.momentum)
    self.high = self.high * self.momentum + high * (1 - self.momentum)
"""
X = torch.tensor([1.0, -2.0, 3.0])


def model(text, start="0.0", momentum="0.9"):
    head = HEAD.replace("start=0.0", f"start={start}").replace("momentum=0.9", f"momentum={momentum}")
    return head + "".join(f"        {line}\n" for line in text.strip().split("\n")) + TAIL


def found(source):
    code = function_code(source, "forward")
    code.kinds = lambda: {
        code.range(one): "tensor:float"
        for one in nodes(code, cst.Attribute)
        if code.module.code_for_node(one) in ("self.low", "self.high")
    }
    return select_attributes(code, nodes(code, cst.If)[0])


@pytest.mark.parametrize("start", ["0.0", "5.0"])
@pytest.mark.parametrize("momentum", ["0.9", "-1"])
def test_running_statistics(start, momentum):
    source = model(STATISTICS, start, momentum)
    after = prove(source, found(source), [[X], [-X]], name="Model")
    assert "        # the first batch\n        taken = " in after
    assert "        if self.momentum == -1:\n" in after


@pytest.mark.parametrize(
    "text",
    [
        "if x.sum() > 0:\n    self.low = low\n",
        "if not (x > 0).all():\n    self.low = low\nelse:\n    self.low = high\n",
        "if x.sum() > 0:\n    self.low = low\n    shift = low * 2\nelse:\n    shift = high\n    self.low = shift + 1\n",
    ],
)
def test_sides_that_assign_the_same(text):
    source = model(text)
    if "shift" in text:
        source = source.replace("        if x.sum", "        shift = low\n        if x.sum")
    prove(source, found(source), [[X], [-X]], name="Model")


@pytest.mark.parametrize(
    "text",
    [
        "if x.sum() > 0:\n    self.low = low\nelse:\n    self.high = high\n",  # another attribute
        "if x.sum() > 0:\n    self.low = low\n    self.high = self.low + 1\n",  # made of what was assigned
        "if x.sum() > 0:\n    self.low = x.sqrt().sum()\n",  # an infinite gradient
        "if x.sum() > 0:\n    self.low = torch.rand_like(low)\n",
        "if x.sum() > 0:\n    self.low.add_(1)\n",
        "if x.sum() > 0:\n    self.seen = True\n",
        "if x.sum() > 0:\n    x.low = low\n",
        "if x.sum() > 0:\n    self.low = low\nelif x.sum() < -1:\n    self.low = high\n",  # asks a tensor again
        "if x.sum() > 0:\n    self.low = low\nelse:\n    return x\n",
        "if x.sum() > 0:\n    low = high\n",  # no attribute
        "if x.sum() > 0:\n    top = high * 2\n    self.low = low\nx = x + self.high\n",  # unbound on one side
        "top = None\nif x.sum() > 0:\n    top = high * 2\n    self.low = low\n"
        "if top is not None:\n    x = x + top\n",
    ],
)
def test_refused(text):
    assert isinstance(found(model(text)), Refusal)


ELEMENTS = [
    "if x[0] == 2:\n    x[1] = 1\nelse:\n    x[1] = x[0] - 3 + 2\n",
    "if not (x > 0).all():\n    x[1:] = low\n",
]


@pytest.mark.parametrize("text", ELEMENTS)
def test_elements(text):
    source = model("x = x * 2\n" + text)
    after = prove(source, found(source), [[X], [-X]], name="Model")
    assert "        x[1" in after


@pytest.mark.parametrize(
    "text",
    [
        "if x[0] == 2:\n    x[1] = 1\nelse:\n    x[2] = low\n",  # another element
        "if x[0] == 2:\n    x[1] = low\n    x[2] = x[1]\n",  # made of what was assigned
        "if x[0] == 2:\n    x[1] = low\nelif self.momentum:\n    x[1] = high\n",
        "seen = {}\nif x[0] == 2:\n    seen[1] = low\n",
        "n = (x > 0).sum()\nif n < 2:\n    x[n:] = low\n",
        "mask = x > 0\nif x[0] == 2:\n    x[mask] = 0\n",  # how many there are to select from
        "if x[0] == 2:\n    x[x > 0] = low\n",
        "if x[0] == 2:\n    mask = x > 0\n    x[mask] = low\n",
        # The test keeps off what is not there.
        "at = (x > 0).nonzero()\nif (x > 0).sum() > 0:\n    x[at[-1]] = low\n",
        "at = (x > 0).sum()\nif at < 3:\n    x[at] = low\n",
    ],
)
def test_elements_are_refused(text):
    assert isinstance(found(model(text)), Refusal)


def test_values_on_several_lines_are_broken_anew():
    last = "    self.low = (\n        1 - self.momentum\n    ) * self.low + (\n        self.momentum * low\n    )\n"
    source = model(f"if self.low == 1:\n    self.low = low\nelse:\n{last}")
    made = applied(source, found(source))
    assert "torch.where(self.low == 1, low, (1 - self.momentum) * self.low + (self.momentum * low))\n" in made
