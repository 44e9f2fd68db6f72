"""Hooks that a function, or a script, adds to a module that it compiles itself."""

from __future__ import annotations

import pytest

from pt2lint.static.engine import lint

CODE = """
import torch

def keep(module, args, output):
    print(output.shape)

def keeping(name):
    def keep(module, args, output):
        print(name, output.shape)
    return keep

@torch.compiler.disable
def aside(module, args, output):
    print(output.shape)

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())

    def forward(self, x):
        return self.layers(x)

"""
HOOKED = "in a hook, which runs with the module that it is added to"


def told(rest: str) -> list[tuple[str, str]]:
    found = lint(["m.py"], None, {"m.py": CODE + rest}).findings
    return [(f.severity, f.note) for f in found if f.code == "PTB101"]


@pytest.mark.parametrize(
    "rest",
    [
        "net = Net()\nnet.layers[1].register_forward_hook(keep)\nfast = torch.compile(net)\n",
        "net = torch.compile(Net())\nnet.register_forward_hook(keep)\nnet = torch.compile(net)\n",
        "net = Net()\nfor layer in net.layers:\n    layer.register_forward_hook(keep)\nnet.compile()\n",
        "net = Net()\nfor name, layer in net.named_modules():\n    if name:\n"
        "        layer.register_forward_hook(keep)\nnet = torch.compile(net)\n",
        "def main():\n    net = Net()\n    for i, layer in enumerate(net.layers):\n"
        "        layer.register_forward_hook(keep)\n    return torch.compile(net)\n",
        "net = Net()\nhandles = [m.register_forward_hook(keep) for _, m in net.named_modules()]\nnet.compile()\n",
        "net = Net()\nfor name, m in net.named_modules():\n    m.register_forward_hook(keeping(name))\nnet.compile()\n",
    ],
)
def test_hooks_of_what_is_compiled_are_told_in_full(rest: str) -> None:
    assert told(rest) == [("warning", "")]


@pytest.mark.parametrize(
    "rest",
    [
        "net = Net()\nnet.register_forward_hook(keep)\n",
        "def watch(net):\n    net.register_forward_hook(keep)\nnet = torch.compile(Net())\n",
        "net, other = Net(), Net()\nother.register_forward_hook(keep)\nnet = torch.compile(net)\n",
    ],
)
def test_hooks_of_other_modules_are_not(rest: str) -> None:
    assert told(rest) in ([], [("warning", HOOKED)])


WATCH = """
class Watch:
    def __init__(self, net):
        for name, module in net.named_modules():
            module.register_forward_hook({})

    def own(self, name):
        def inner(module, args, output):
            print(output)
        return inner
"""


@pytest.mark.parametrize("made", ["self.own(name)", "keeping(name)"])
def test_hooks_that_are_made_for_each_module(made: str) -> None:
    assert told(WATCH.format(made)) == [("warning", HOOKED)]


def test_a_hook_that_is_left_out_is_not_looked_into() -> None:
    assert told("net = Net()\nnet.register_forward_hook(aside)\nnet = torch.compile(net)\n") == []


def test_dynamo_traces_the_hooks() -> None:
    torch = pytest.importorskip("torch")
    graphs: list[object] = []
    names: dict[str, object] = {}
    exec(CODE + "net = Net()\nnet.layers[1].register_forward_hook(keep)\n", names)
    torch._dynamo.reset()
    torch.compile(names["net"], backend=lambda graph, _: graphs.append(graph) or graph.forward)(
        torch.ones(2, 2)
    )
    assert torch._dynamo.utils.counters["graph_break"]
