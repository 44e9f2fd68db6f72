"""A flag in a buffer that Python tests: an attribute beside it, under the real Dynamo."""

import libcst as cst
import pytest
import torch

from pt2lint.fixes.repairs.flag import beside_buffer
from pt2lint.fixes.rewrite import Refusal
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


def repaired(source):
    code = lab.function_code(source, "forward")
    node = next(
        one
        for one in lab.nodes(code, cst.Attribute)
        if code.module.code_for_node(one) == "self.ready" and isinstance(code.parent(one), cst.UnaryOperation)
    )
    return beside_buffer(code, node)


def test_an_attribute_beside_the_buffer():
    fix = repaired(NORM)
    assert fix.waits_for_proof
    after = lab.applied(NORM, fix)
    assert "if self.training and not self._ready:" in after
    assert '        return "ready" if self.ready else "new"\n\n    def _load_from_state_dict' in after
    old, new = (lab.load(text).Norm() for text in (NORM, after))
    torch._dynamo.reset()
    compiled = torch.compile(new, backend="eager", fullgraph=True)
    for _ in range(3):
        x = torch.randn(8, 3)
        torch.testing.assert_close(compiled(x), old(x))
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
