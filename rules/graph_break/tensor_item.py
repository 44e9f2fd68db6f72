from __future__ import annotations

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import Rule


class TensorItem(Rule):
    """`.item()` moves a value from the tensor to Python.

    ## What happens
    Dynamo traces tensors as shapes and dtypes; the value is not there yet. It ends the graph, runs it, reads the
    number and starts a new graph (GB0124). The same goes for a one-element NumPy array.

    ## Example
    ```python
    import torch

    def f(x):
        scale = x.abs().max().item()
        return x / scale

    args = (torch.tensor([1.0, -2.0]),)
    ```

    ## Use instead
    ```python
    import torch

    def f(x):
        scale = x.abs().max()
        return x / scale

    args = (torch.tensor([1.0, -2.0]),)
    ```

    ## Versions
    Measured: breaks in default mode on torch 2.6 to 2.15. With `fullgraph=True` it fails on 2.6 and 2.9, and
    compiles on 2.13 and 2.15, which turn scalar capture on there.
    """

    code = "PTB103"
    name = "tensor-item"
    ops = ("call torch.Tensor.item", "call numpy.ndarray.item")
    graph_breaks = ("GB0124",)

    def check(self, node: cst.CSTNode, op: Op) -> None:
        self.report(node, op, f"`{self.text(node)}` moves a value from the tensor to Python")
