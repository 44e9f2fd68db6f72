from __future__ import annotations

from collections.abc import Iterable
from types import MappingProxyType

import libcst as cst

from pt2lint.finding import Fix
from pt2lint.op import Op
from pt2lint.rule import GraphBreak

SAYS = MappingProxyType(
    {
        "list": "a list of what is no constant",
        "tuple": "a tuple of what is no constant",
        "set": "a set of what is no constant",
        "dictionary": "a dictionary of what is no constant",
        "module": "a module",
        "object": "an object",
    }
)


class AssertedObject(GraphBreak):
    """An `assert` tests a list of tensors, a module or an object alone.

    ## What happens
    Dynamo makes an assertion of the graph of what an `assert` tests, as it does of a tensor, and has no number to
    give it: nothing of the function is compiled (GB0112; GB0055 for a module or an object), also where the
    assertion holds. The same goes for lists, tuples, sets and dictionaries that hold tensors, modules or objects,
    and where such a one is the last of several conditions (`assert x.dim() == 2 and parts`). Numbers, strings,
    dtypes, devices, functions and what holds these alone are constants, and fine; so is an assertion whose message
    is made of something (an f-string), which Dynamo takes for a branch.

    ## Example
    ```python
    import torch

    def f(x: torch.Tensor):
        parts = [x, x * 2]
        assert parts, "nothing to join"
        return torch.cat(parts).relu()

    args = (torch.ones(3),)
    ```

    ## Use instead
    Ask for the length, or whether it is there: `assert len(parts) > 0`, `assert self.cache is not None`.
    ```python
    import torch

    def f(x: torch.Tensor):
        parts = [x, x * 2]
        assert len(parts) > 0, "nothing to join"
        return torch.cat(parts).relu()

    args = (torch.ones(3),)
    ```

    ## Versions
    Measured: on torch 2.6 to 2.15 nothing of the function is compiled, and `fullgraph=True` raises.
    """

    code = "PTB116"
    name = "asserted-object"
    ops = ("assert object",)
    says = (
        "{code} is {what}, and Dynamo cannot make an assertion of it: all of the function is left to Python"
    )
    graph_breaks = ("GB0112", "GB0055")

    INVALID = (
        "parts = (x, x)\nassert parts\nreturn parts[0] + 1",
        "parts = {'a': x}\nassert x.dim() > 0 and parts, 'none'\nreturn parts['a'] + 1",
        "class M(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.net = torch.nn.Linear(4, 4)\n"
        "    def forward(self, x, m, i):\n        assert self.net\n        return x + 1\nf = M()",
        "class M(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.nets = torch.nn.ModuleList([torch.nn.Linear(4, 4)])\n"
        "    def forward(self, x, m, i):\n        assert self.nets, 'none'\n        return x + 1\nf = M()",
        "class C:\n    def __bool__(self):\n        return True\nc = C()\n"
        "def f(x, m, i):\n    assert c\n    return x + 1",
    )
    VALID = (
        "parts = [x, x]\nassert len(parts)\nreturn parts[0] + 1",
        "parts = [x, x]\nassert parts, f'none of {x.shape}'\nreturn parts[0] + 1",
        "parts = [x, x]\nassert parts and x.dim() > 0\nreturn parts[0] + 1",
        "parts = [1, 2]\nassert parts\nreturn x + parts[0]",
        "parts = [[1], [2]]\nassert parts\nreturn x + parts[0][0]",
        "parts = [x, x]\nif not parts:\n    raise ValueError('none')\nreturn parts[0] + 1",
        "assert x.shape\nreturn x + 1",
        "assert x.dtype\nreturn x + 1",
        "assert torch.relu\nreturn x + 1",
        "import enum\nclass K(enum.Enum):\n    A = 1\ndef f(x, m, i):\n    assert K.A\n    return x + 1",
        "parts = []\nassert not parts\nreturn x + 1",
    )

    asks = ""  # what Python asks for the truth of it

    def check(self, node: cst.CSTNode, op: Op) -> None:
        self.asks = op.detail("asks")
        self.breaks(node, op, self.says.replace("{what}", SAYS[op.detail("what")]))

    def fixes(self, node: cst.CSTNode) -> Iterable[Fix]:
        if isinstance(node, cst.Name | cst.Attribute | cst.Subscript | cst.Call):
            text = self.text(node)
            if self.asks == "length":
                yield self.fix("Ask for its length.", self.edit(node, f"len({text}) > 0"))
            elif self.asks == "there":
                yield self.fix("Ask whether it is there.", self.edit(node, f"{text} is not None"))
            elif self.asks and not isinstance(node, cst.Call):
                asked = f"{text} is not None and len({text}) > 0"
                yield self.fix("Ask whether it is there, and for its length.", self.edit(node, asked))
