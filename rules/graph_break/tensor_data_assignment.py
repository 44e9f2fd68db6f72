from __future__ import annotations

from types import MappingProxyType

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import GraphBreak


class TensorDataAssignment(GraphBreak):
    """`t.data = ...` exchanges the memory of a tensor.

    ## What happens
    Dynamo cannot exchange the data of a tensor that the graph computes: it ends the graph (GB0056).

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
    parameter, a buffer or an input is fine.
    """

    code = "PTB163"
    name = "tensor-data-assignment"
    ops = ("set torch.Tensor.data",)
    says = "{code} exchanges the data of a tensor that the graph computes"
    instead = MappingProxyType(
        {
            "": "Bind the name anew, or write into the tensor with `copy_` under `torch.no_grad()`",
        }
    )
    graph_breaks = ("GB0056",)

    INVALID = ("y = x.clone()\ny.data += 1\nreturn y",)
    VALID = (
        "return x.data + 1",
        "y = x.clone()\ny.data[0] = 1\nreturn y",
        "lin = torch.nn.Linear(4, 4)\ndef f(x, m, i):\n    lin.weight.data = x\n    return lin(x)",
        "x.data += 1\nreturn x + 1",
    )

    @classmethod
    def accepts(cls, op: Op) -> bool:
        return not op.detail("input")

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if isinstance(node, cst.Attribute) and isinstance(node.value, cst.Name):
            self.breaks(node, op, self.says)
