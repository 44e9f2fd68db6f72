"""A flag in a buffer that Python tests: an attribute beside it, under the real Dynamo."""

import libcst as cst
import pytest
import torch

from pt2lint.fixes.repaired import Refusal
from pt2lint.fixes.repairs.flag import beside_buffer, number_itself
from tests.fixes import lab

NORM = """import torch


class Norm(torch.nn.Module):
    def __init__(self, late=True):
        super().__init__()
        self.register_buffer("ready", torch.tensor(not late))
        self.scale = torch.nn.Parameter(torch.ones(3))

    def start(self, x):
        self.scale.data.copy_(1 / x.std(0))
        self.ready.data.copy_(torch.tensor(True))

    def forward(self, x):
        if self.training and not self.ready:
            self.start(x)
        return x * self.scale

    def extra_repr(self):
        return "ready" if self.ready else "new"


other = 1
"""


def repaired(source, repair=beside_buffer):
    code = lab.function_code(source, "forward")
    node = next(
        one
        for one in lab.nodes(code, cst.Attribute)
        if code.module.code_for_node(one) == "self.ready" and isinstance(code.parent(one), cst.UnaryOperation)
    )
    return repair(code, node)


def alike_in_one_graph(before, after):
    """The two modules, of which the second one, compiled whole, gives what the first does."""
    old, new = (lab.load(text).Norm() for text in (before, after))
    torch._dynamo.reset()
    compiled = torch.compile(new, backend="eager", fullgraph=True)
    for _ in range(3):
        x = torch.randn(8, 3)
        torch.testing.assert_close(compiled(x), old(x))
    return old, new


def test_an_attribute_beside_the_buffer():
    fix = repaired(NORM)
    assert fix.waits_for_proof
    after = lab.applied(NORM, fix)
    assert "if self.training and not self._ready:" in after
    assert '        return "ready" if self.ready else "new"\n\n    def _load_from_state_dict' in after
    old, new = alike_in_one_graph(NORM, after)
    assert new.state_dict().keys() == old.state_dict().keys()
    fresh = type(new)()
    assert fresh._ready is False
    fresh.load_state_dict(old.state_dict())
    assert fresh._ready is True


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("torch.tensor(not late)", "torch.rand(())"),
        ("copy_(torch.tensor(True))", "copy_(x.sum() > 0)"),
        ("return x * self.scale", "return x * self.scale + self.ready"),
        ("other = 1", "other = Norm().ready.fill_(True)"),
        ("other = 1", "class More(Norm):\n    pass"),
        ("def extra_repr(self)", "def _load_from_state_dict(self)"),
        ("other = 1", "_ready = 1"),
        ("        self.ready.data", "        if x.dim(): self.ready.data"),
    ],
)
def test_refused(old, new):
    assert old in NORM
    assert isinstance(repaired(NORM.replace(old, new)), Refusal)


PLAIN = """import torch


class Norm(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.text = "é"; self.ready = torch.tensor(False)  # until a batch was seen
        self.scale = torch.nn.Parameter(torch.ones(3))

    def forward(self, x):
        if self.training and not self.ready:
            self.scale.data.copy_(1 / x.std(0))
            self.ready = torch.tensor(True)
        return x * self.scale if self.ready else x
"""


def test_the_number_in_place_of_a_tensor():
    after = lab.applied(PLAIN, repaired(PLAIN, number_itself))
    assert '"é"; self.ready = False  # until a batch was seen\n' in after
    assert "            self.ready = True\n" in after
    alike_in_one_graph(PLAIN, after)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("torch.tensor(True)", "x.sum() > 0"),
        ("self.ready = torch.tensor(False)  #", 'self.register_buffer("ready", torch.tensor(False))  #'),
        ("self.ready = torch.tensor(False)  #", "self.now = torch.tensor(False)  #"),
        ("torch.tensor(True)", "torch.tensor(  # now\n                True)"),
        ("return x *", "return self.ready * x *"),
        ("return x *", "return x.where(self.ready, x) *"),
        ("not self.ready:", "not self.ready and self.ready.item():"),
        ("if self.ready else x\n", "if self.ready else x\n\n\nNorm().ready.fill_(True)\n"),
        ("if self.ready else x\n", "if self.ready else x\n\n\nclass More(Norm):\n    pass\n"),
    ],
)
def test_the_number_refused(old, new):
    assert old in PLAIN
    assert isinstance(repaired(PLAIN.replace(old, new), number_itself), Refusal)
