"""Numbers of `__init__` that a module keeps in buffers: as plain numbers, under the real Dynamo."""

import libcst as cst
import pytest
import torch

from pt2lint.fixes.repairs.number_buffers import as_numbers
from pt2lint.fixes.rewrite import Refusal
from tests.fixes import lab

CONV = """import torch


class Conv(torch.nn.Module):
    def __init__(self, size, stride):
        super().__init__()
        self.conv = torch.nn.Conv1d(1, 2, size, stride)
        size = self.conv.kernel_size[0]
        stride = torch.tensor(self.conv.stride[0], dtype=torch.int64)
        # With dilations.
        size = torch.tensor((size - 1) * 1 + 1, dtype=torch.int64)
        self.register_buffer("stride", stride, persistent=False)
        self.register_buffer("size", size, persistent=False)
        self.register_buffer("padding", size - stride, persistent=False)

    def extra(self, x: torch.Tensor) -> torch.Tensor:
        length = x.shape[-1]
        frames = (length - self.size + self.padding) / self.stride + 1
        frames = torch.ceil(frames).to(torch.int64) - 1
        return frames * self.stride + self.size - self.padding - length

    def lengths(self, length: torch.Tensor) -> torch.Tensor:
        return torch.ceil((length + self.padding) / self.stride).long()

    @staticmethod
    def pad(x, paddings):
        if x.shape[-1] <= max(paddings):
            x = torch.nn.functional.pad(x, (0, max(paddings)))
        return torch.nn.functional.pad(x, paddings)

    def forward(self, x):
        return self.conv(self.pad(x, (self.padding, self.extra(x))))


def start(module):
    if isinstance(module, torch.nn.Linear):
        torch.nn.init.zeros_(module.weight)
    elif isinstance(module, Conv):
        stride = torch.tensor(module.conv.stride[0])
        torch.nn.init.constant_(module.stride, stride)
        module.padding.copy_(module.size - stride)
    elif isinstance(module, torch.nn.LayerNorm):
        torch.nn.init.ones_(module.weight)
"""


def repaired(source, name="pad"):
    code = lab.function_code(source, name)
    return as_numbers(code, lab.nodes(code, cst.Comparison)[0])


def test_numbers_stay_numbers():
    fix = repaired(CONV)
    assert fix.waits_for_proof
    after = lab.applied(CONV, fix)
    for line in (
        "import math\n",
        "        stride = self.conv.stride[0]\n        # With dilations.\n        size = (size - 1) * 1 + 1\n"
        "        self.stride = stride\n        self.size = size\n        self.padding = size - stride\n",
        "    def extra(self, x: torch.Tensor) -> int:",
        "        frames = math.ceil(frames) - 1\n",
        "        return torch.ceil((length + self.padding) / self.stride).long()\n",
        "        torch.nn.init.zeros_(module.weight)\n    elif isinstance(module, torch.nn.LayerNorm):\n",
    ):
        assert line in after
    old, new = (lab.load(text).Conv(4, 2) for text in (CONV, after))
    assert old.state_dict().keys() == new.state_dict().keys()
    new.load_state_dict(old.state_dict())
    torch._dynamo.reset()
    compiled = torch.compile(new, backend="eager", fullgraph=True)
    for n in (2, 9, 10):
        x = torch.randn(1, 1, n)
        torch.testing.assert_close(compiled(x), old(x))
    assert new.lengths(torch.tensor([5])).equal(old.lengths(torch.tensor([5])))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            ', persistent=False)\n        self.register_buffer("size"',
            ')\n        self.register_buffer("size"',
        ),
        ("length - self.size +", "length - self.size.float() +"),
        (
            "    @staticmethod",
            "    def more(self):\n        self.stride = self.stride + 1\n\n    @staticmethod",
        ),
        ("    @staticmethod", "    def more(self):\n        self.stride += 1\n\n    @staticmethod"),
        ("def start(", "class Other(Conv):\n    pass\n\ndef start("),
        ("module.size - stride", "stride, kept.append(stride)"),
        ("isinstance(module, Conv)", 'hasattr(module, "stride")'),
        ("torch.tensor(self.conv.stride[0], dtype=torch.int64)", "torch.tensor(stride, dtype=torch.float32)"),
        ("torch.tensor(self.conv.stride[0], dtype=torch.int64)", "torch.tensor([stride], dtype=torch.int64)"),
    ],
)
def test_what_may_need_a_tensor_stays(old, new):
    assert CONV.count(old) == 1
    assert isinstance(repaired(CONV.replace(old, new)), Refusal)


def test_tensors_that_have_no_name():
    inline = CONV.replace(
        "size - stride, pers", "torch.tensor(self.conv.kernel_size[0], dtype=torch.int64) - stride, pers"
    )
    after = lab.applied(inline, repaired(inline))
    assert "        self.padding = self.conv.kernel_size[0] - stride\n" in after
    x = torch.randn(1, 1, 9)
    assert lab.load(after).Conv(4, 2)(x).shape == lab.load(inline).Conv(4, 2)(x).shape


def test_a_class_without_such_buffers():
    assert isinstance(repaired(CONV.replace("register_buffer", "keep")), Refusal)
