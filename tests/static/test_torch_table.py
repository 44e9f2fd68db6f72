"""The table of what torch's functions return is what the installed torch says."""

import json
from pathlib import Path

import pytest

from tests import forked

ROOT = Path(__file__).parents[2]
TABLE = json.loads((ROOT / "pt2lint" / "libraries" / "torch_table.json").read_text())

torch = pytest.importorskip("torch")


def test_generating_it_again_gives_the_committed_table():
    if torch.__version__.split("+")[0] != TABLE["torch"]:
        pytest.skip(f"the table is of torch {TABLE['torch']}")
    done = forked.run(ROOT / "tools" / "torch_table.py", "--check")
    assert done.returncode == 0, done.stdout + done.stderr


x = torch.tensor([[1.0, -2.0], [3.0, 4.0]])
CALLS = {
    "torch.Tensor.isfinite": lambda: x.isfinite(),
    "torch.Tensor.__lt__": lambda: x < 1,
    "torch.argmax": lambda: torch.argmax(x),
    "torch.special.erf": lambda: torch.special.erf(x),
    "torch.nn.functional.softmax": lambda: torch.nn.functional.softmax(x, 0),
    "torch.fft.rfft": lambda: torch.fft.rfft(x),
    "torch.linalg.slogdet": lambda: torch.linalg.slogdet(x),
    "torch.Tensor.sort": lambda: x.sort(),
    "torch.linalg.norm": lambda: torch.linalg.norm(x),
    "torch.Tensor.split": lambda: x.split(1),
    "torch.Tensor.tolist": lambda: x.tolist(),
    "torch.Tensor.item": lambda: x[0, 0].item(),
    "torch.Tensor.dim": lambda: x.dim(),
    "torch.equal": lambda: torch.equal(x, x),
    "torch.is_tensor": lambda: torch.is_tensor(x),
    "torch.get_default_dtype": lambda: torch.get_default_dtype(),
}
CHECKS = {
    "tensor": lambda r: isinstance(r, torch.Tensor),
    "tensor:bool": lambda r: r.dtype == torch.bool,
    "tensor:int": lambda r: r.dtype == torch.int64,
    "tensor:float": lambda r: r.dtype in (torch.float32, torch.complex64),
    "tensors": lambda r: isinstance(r, tuple) and all(isinstance(t, torch.Tensor) for t in r),
    "tensors:2": lambda r: len(r) == 2 and all(isinstance(t, torch.Tensor) for t in r),
    "data:list": lambda r: isinstance(r, list),
    "data:number": lambda r: isinstance(r, float),
    "data:bool": lambda r: isinstance(r, bool),
    "bool": lambda r: isinstance(r, bool),
    "int": lambda r: isinstance(r, int),
    "dtype": lambda r: isinstance(r, torch.dtype),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_returns_what_the_table_says(name):
    assert CHECKS[TABLE["returns"][name]](CALLS[name]())


@pytest.mark.parametrize(
    ("name", "parameter", "position", "says"),
    [
        ("torch.max", "dim", 1, "tensors:2"),
        ("torch.Tensor.max", "dim", 0, "tensors:2"),
        ("torch.Tensor.size", "dim", 0, "int"),
        ("torch.where", "other", 2, "tensor"),
        ("torch.nn.functional.max_pool2d", "return_indices", 6, "tensors:2"),
        ("torch.unique", "return_inverse", 2, "tensors:2"),
        ("torch.nonzero", "as_tuple", None, "tensors"),
    ],
)
def test_a_parameter_decides(name, parameter, position, says):
    assert TABLE["returns"][name][parameter] == [position, says]


def test_attributes_and_modules():
    assert TABLE["attributes"]["torch.Tensor.shape"] == "size"
    assert TABLE["attributes"]["torch.Tensor.T"] == "tensor"
    assert TABLE["attributes"]["torch.Tensor.is_cuda"] == "bool"
    assert TABLE["modules"]["torch.nn.Linear"] == "tensor"
    assert TABLE["modules"]["torch.nn.LSTM"] == "tuple(tensor,tensors:2)"
    assert TABLE["modules"]["torch.nn.Sequential"] == "container"
