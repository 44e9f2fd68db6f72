"""Where a tensor stands for a number: the table is what the installed torch does, and what is offered works."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pt2lint.project.config import Settings
from pt2lint.static.engine import lint
from tests import forked
from tests.files import loaded

ROOT = Path(__file__).parents[2]
TABLE = json.loads((ROOT / "pt2lint" / "libraries" / "torch_numbers.json").read_text())
# One of each kind: a method, a keyword, places that another way to call it needs for tensors, what Dynamo takes.
SOME = (
    "torch.Tensor.chunk",
    "torch.addmm",
    "torch.full_like",
    "torch.lerp",
    "torch.nn.functional.elu",
    "torch.repeat_interleave",
    "torch.triu",
)

torch = pytest.importorskip("torch")


def test_measuring_some_again_gives_what_is_committed() -> None:
    if torch.__version__.split("+")[0] != TABLE["torch"]:
        pytest.skip(f"the table is of torch {TABLE['torch']}")
    done = forked.run(ROOT / "matrix" / "number_arguments.py", "--stdout", *SOME)
    assert done.returncode == 0, done.stderr
    measured = json.loads(done.stdout)
    assert measured["numbers"] == {name: TABLE["numbers"][name] for name in SOME if name in TABLE["numbers"]}
    assert measured["uncaptured"] == [name for name in SOME if name in TABLE["uncaptured"]]
    assert {"torch.addmm", "torch.triu"} <= measured["numbers"].keys()
    assert "torch.lerp" not in measured["numbers"]


@pytest.mark.parametrize(
    ("call", "compiles"),
    [("torch.addcmul(x, x, x, value=x.mean())", True), ("torch.full_like(x, x.mean())", False)],
)
def test_capturing_numbers_is_offered_where_that_compiles(tmp_path: Path, call: str, compiles: bool) -> None:
    path = tmp_path / "made.py"
    path.write_text(
        f"import torch\n\ndef f(x: torch.Tensor):\n    return {call} + 1\n\ng = torch.compile(f)\n"
    )
    (finding,) = lint([str(path)], Settings(target_torch=(2, 13))).findings
    assert any("keep numbers read out of tensors" in fix.description for fix in finding.fixes) is compiles

    made = loaded(path, "made")
    torch._dynamo.reset()
    compiled = torch.compile(made.f, backend="eager", fullgraph=True)
    x = torch.ones(2, 2)
    with torch._dynamo.config.patch(capture_scalar_outputs=True):
        if compiles:
            assert torch.equal(compiled(x), made.f(x))
        else:
            with pytest.raises(torch._dynamo.exc.TorchDynamoException):
                compiled(x)
