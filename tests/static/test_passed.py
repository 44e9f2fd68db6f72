"""What a script passes to the functions that are compile roots."""

from __future__ import annotations

from pathlib import Path

import pytest

from pt2lint.static.interpret import Interpreter
from pt2lint.static.source.modules import Project

LISTENED = frozenset(
    ("call torch.optim.SGD.zero_grad", "iterate torch.utils.data.DataLoader", "call torch.Tensor.item")
)
HEAD = """
import torch
from torch import nn
from torch.utils.data.dataloader import DataLoader
from tqdm import tqdm

class Net(nn.Module):
    def forward(self, x):
        return self.missing(x)

def train(model, loader, optimizer=None, *, scale=None):
{body}
"""
MAIN = """
def main():
    model = Net()
    train(model, DataLoader([1]), torch.optim.SGD(model.parameters(), lr=0.1), scale=torch.ones(1))

if __name__ == "__main__":
    main()
"""
# The same, never called by the file itself: another one starts it.
WORKER = MAIN.split("\nif")[0].replace("main()", "work(rank)")


def noted(body: str, tail: str, tmp_path: Path) -> list[str]:
    path = tmp_path / "m.py"
    path.write_text(HEAD.format(body="\n".join(f"    {line}" for line in body.split("\n"))) + tail)
    project = Project()
    interpreter = Interpreter(project, LISTENED, frozenset())
    interpreter.run(project.load(str(path)), "modules", ("m:train",))
    return sorted(
        op.name for units in interpreter.finished_notes().values() for ops in units.values() for op in ops
    )


@pytest.mark.parametrize("tail", [MAIN, WORKER], ids=["main", "worker"])
@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("optimizer.zero_grad()", ["call torch.optim.SGD.zero_grad"]),
        ("for batch in tqdm(loader):\n    pass", ["iterate torch.utils.data.DataLoader"]),
        ("return scale.item()", ["call torch.Tensor.item"]),
        ("for batch in model.parameters():\n    pass", []),
    ],
)
def test_what_the_file_passes(body: str, found: list[str], tail: str, tmp_path: Path) -> None:
    assert noted(body, tail, tmp_path) == found


@pytest.mark.parametrize("body", ["optimizer.zero_grad()", "for batch in tqdm(loader):\n    pass"])
def test_without_a_call_nothing_is_known(body: str, tmp_path: Path) -> None:
    assert noted(body, "", tmp_path) == []


def test_what_another_function_passes_is_noted_in_the_root_alone(tmp_path: Path) -> None:
    """To see what is passed, code outside of the graph is read, and nothing in it is noted."""
    tail = MAIN.replace("    main()\n", "    main()\n    torch.ones(1).item()\n")
    assert noted("return scale.item()", tail, tmp_path) == ["call torch.Tensor.item"]
