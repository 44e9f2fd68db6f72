"""What breaks inside of what an operator traces as a graph of its own: a checkpoint is left to Python, others raise."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import pt2lint
from pt2lint.finding import Finding

HEAD = """import torch
from torch._higher_order_ops.map import map as each
from torch._higher_order_ops import scan, while_loop
from torch.utils.checkpoint import checkpoint

def part(x):
    y = x.sin()
    print("here")
    return y * 2

def f(x, early: bool = False):
    x = x + 1
    {}
    return x * 3

def made():
    return torch.compile(f, backend="eager")
"""
LEFT = "; Dynamo then leaves all of what `checkpoint` runs to Python"
RAISES = "; inside of what `{}` runs, which raises when it is compiled"


def lint(path: Path, text: str) -> list[Finding]:
    path.write_text(text)
    return pt2lint.lint([str(path)])


def graphs(text: str) -> list[list[str]]:
    """The functions in each graph that is compiled for `f`."""
    space: dict[str, object] = {}
    exec(text, space)
    found: list[list[str]] = []

    def backend(module: torch.fx.GraphModule, _: object) -> object:
        found.append([getattr(n.target, "__name__", str(n.target)) for n in module.graph.nodes])
        return module.forward

    torch.compile(space["f"], backend=backend)(torch.ones(2, 4))  # type: ignore[call-overload]
    return found


@pytest.mark.parametrize("how", ["use_reentrant=False", "use_reentrant=True"])
def test_a_checkpoint_that_breaks_is_left_to_python(tmp_path: Path, how: str) -> None:
    text = HEAD.format(f"x = checkpoint(part, x, {how})")
    (finding,) = lint(tmp_path / "m.py", text)
    assert finding.code == "PTB101"
    assert finding.severity == "error"
    assert finding.message.endswith(LEFT)
    assert not any("sin" in graph for graph in graphs(text))  # what it calls is not compiled by itself either
    assert any("sin" in graph for graph in graphs(HEAD.format("x = part(x)")))


TRANSFORMS = {
    "vmap": "torch.vmap(part)(x)",
    "grad": "torch.func.grad(lambda v: part(v).sum())(x)",
    "jacrev": "torch.func.jacrev(part)(x)",
    "hessian": "torch.func.hessian(part, 0)(x)",
    "vjp": "torch.func.vjp(part, x)[0]",
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_so_is_what_functions_are_derived_and_mapped_from(tmp_path: Path, name: str) -> None:
    text = HEAD.format(f"{TRANSFORMS[name]}")
    (finding,) = lint(tmp_path / "m.py", text)
    assert finding.severity == "error"
    assert finding.message.endswith(LEFT.replace("checkpoint", name))
    assert not any("sin" in graph for graph in graphs(text))


def test_these_may_change_what_was_there_before(tmp_path: Path) -> None:
    """A checkpoint may not."""
    kept = HEAD.replace("def part", "KEPT = []\n\ndef part").replace('print("here")', "KEPT.append(1)")
    for call, breaks in (("torch.vmap(part)(x)", False), ("checkpoint(part, x, use_reentrant=False)", True)):
        text = kept.format(f"x = {call}")
        assert ("PTB198" in {f.code for f in lint(tmp_path / "m.py", text)}) is breaks
        assert any("sin" in graph for graph in graphs(text)) is not breaks


def test_in_a_loop_its_caller_is_left_as_well(tmp_path: Path) -> None:
    text = HEAD.format("for _ in range(2): x = checkpoint(part, x, use_reentrant=False)")
    (finding,) = lint(tmp_path / "m.py", text)
    assert finding.message.endswith(
        "which Dynamo then gives up as a whole, and all of what `checkpoint` runs"
    )
    assert not graphs(text)


def test_what_is_called_without_it_too_is_told_as_ever(tmp_path: Path) -> None:
    text = HEAD.format("x = checkpoint(part, x, use_reentrant=False) if early else part(x)")
    (finding,) = lint(tmp_path / "m.py", text)
    assert finding.message == '`print("here")` prints inside compiled code'


def test_a_number_that_differs_costs_nothing_where_nothing_is_compiled(tmp_path: Path) -> None:
    number = 'n = x.sum().item()\n    print("here", n)'
    for call, code in (("checkpoint(part, x)", []), ("part(x)", ["PTR221"])):
        text = HEAD.replace('print("here")', number).replace("y * 2", "y * n").format(f"x = {call}")
        assert [f.code for f in lint(tmp_path / "m.py", text) if f.code.startswith("PTR")] == code


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("cond", "x = torch.cond(x.sum() > 0, part, lambda x: x.cos(), (x,))"),
        (
            "while_loop",
            "x = while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, part(x)), (torch.tensor(0), x))[1]",
        ),
        ("scan", "x = scan(lambda kept, x: (part(kept), x.clone()), x[0], x)[0]"),
        ("map", "x = each(part, x)"),
    ],
)
def test_what_insists_on_its_graph_raises(tmp_path: Path, name: str, call: str) -> None:
    text = HEAD.format(call)
    (finding,) = lint(tmp_path / "m.py", text)
    assert finding.code == "PTB101"
    assert finding.severity == "error"
    assert finding.message.endswith(RAISES.format(name))
    with pytest.raises(torch._dynamo.exc.UncapturedHigherOrderOpError):
        graphs(text)
    assert graphs(text.replace('print("here")', "pass"))
