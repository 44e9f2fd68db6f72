from __future__ import annotations

from types import MappingProxyType

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import GraphBreak

PARTS = ("set torch.Tensor.real", "set torch.Tensor.imag")
WRITES = "{code} sets a part of a complex tensor"
WRITE = "Write into it in place, which stays in the graph: `y.imag.copy_(...)`"


class TensorDataAssignment(GraphBreak):
    """`t.data = ...` exchanges the memory of a tensor, `t.imag = ...` writes a part of a complex one.

    ## What happens
    Dynamo cannot exchange the data of a tensor that the graph computes: it ends the graph (GB0056). So does setting the
    real or the imaginary part of any complex tensor (GB0058).

    ## Example
    ```python
    import torch

    def f(x):
        y = x.clone()
        y.data = x * 2
        return y + 1

    args = (torch.tensor([1.0, -2.0]),)
    ```

    ## Use instead
    Bind the name anew, or write into the tensor with `copy_` under `torch.no_grad()`:
    ```python
    import torch

    def f(x):
        y = x.clone()
        with torch.no_grad():
            y.copy_(x * 2)
        return y + 1

    args = (torch.tensor([1.0, -2.0]),)
    ```

    ## Versions
    Measured: breaks on torch 2.6 to 2.15, in default mode and with `fullgraph=True`. Assigning the data of a
    parameter, a buffer, an input or a tensor of the module is fine. Setting a part of a complex tensor, whichever that
    is, breaks on 2.6 to 2.15 as well; writing into what `t.imag` gives (`t.imag.copy_(y)`) does not.
    """

    code = "PTB163"
    name = "tensor-data-assignment"
    ops = ("set torch.Tensor.data", *PARTS)
    says = "{code} exchanges the data of a tensor that the graph computes"
    instead = MappingProxyType(
        {
            "set torch.Tensor.real": WRITE,
            "set torch.Tensor.imag": WRITE,
            "": "Bind the name anew, or write into the tensor with `copy_` under `torch.no_grad()`",
        }
    )
    graph_breaks = ("GB0056", "GB0058")

    INVALID = (
        "y = x.clone()\ny.data += 1\nreturn y",
        "y = torch.complex(x, x)\ny.imag = x * 2\nreturn y",
        "z = torch.ones(4, 4, dtype=torch.cfloat)\ndef f(x, m, i):\n    z.real = x\n    return z * 2",
        "W = torch.nn.Parameter(torch.ones(4))\ndef f(x, m, i):\n    y = W * 1\n    y.data = x * 2\n    return y + x",
    )
    VALID = (
        "return x.data + 1",
        "y = x.clone()\ny.data[0] = 1\nreturn y",
        "lin = torch.nn.Linear(4, 4)\ndef f(x, m, i):\n    lin.weight.data = x\n    return lin(x)",
        "x.data += 1\nreturn x + 1",
        "y = torch.complex(x, x)\ny.imag[:] = x * 2\nreturn y",
        "y = torch.complex(x, x)\ny.imag.copy_(x * 2)\nreturn y",
        "W = torch.nn.Parameter(torch.ones(4))\ndef f(x, m, i):\n    W.data = x * 2\n    return x * W",
        "W = torch.ones(4) * 2\ndef f(x, m, i):\n    w = W\n    w.data = w.data.clamp(0, 1)\n    return x * W",
        "w = torch.nn.Parameter(x)\nw.data = x * 2\nreturn x * w",
        "lin = torch.nn.Linear(4, 4)\ndef f(x, m, i):\n    for p in lin.parameters():\n"
        "        p.data = p.data.clamp(0, 1)\n    return lin(x)",
        "lin = torch.nn.Linear(4, 4)\ndef f(x, m, i):\n    for name, p in lin.named_parameters():\n"
        "        p.data = p.data.clamp(0, 1)\n    return lin(x)",
        "class Scaled(torch.nn.Module):\n    def __init__(self, module, name='weight'):\n        super().__init__()\n"
        "        self.module, self.name = module, name\n"
        "    def forward(self, x, m, i):\n        w = getattr(self.module, self.name + '')\n"
        "        w.data = w.data.clamp(0, 1)\n        return self.module(x) * w.sum()\n"
        "f = Scaled(torch.nn.Linear(4, 4))",
    )

    @classmethod
    def accepts(cls, op: Op) -> bool:
        # What is known by its use alone may have been there before: `u = getattr(self.module, "weight_u")`.
        return op.name in PARTS or not (op.detail("input") or "is used as a tensor" in op.why)

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if isinstance(node, cst.Attribute) and isinstance(node.value, cst.Name):
            self.breaks(node, op, WRITES if op.name in PARTS else self.says)
