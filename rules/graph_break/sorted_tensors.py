from __future__ import annotations

from pt2lint.op import Op
from pt2lint.rule import GraphBreak, is_tensor


class SortedTensors(GraphBreak):
    """Python's `sorted` has to compare tensors.

    ## What happens
    Sorting asks each comparison for its truth, which depends on values: Dynamo ends the graph (GB0207).

    ## Example
    ```python
    import torch

    def f(x):
        low = sorted([x.sum(), x.mean()])[0]
        return x - low

    args = (torch.tensor([1.0, 2.0]),)
    ```

    ## Use instead
    ```python
    import torch

    def f(x):
        low = torch.stack([x.sum(), x.mean()]).sort().values[0]
        return x - low

    args = (torch.tensor([1.0, 2.0]),)
    ```

    ## Versions
    Measured: breaks on torch 2.6 to 2.15, in default mode and with `fullgraph=True`.
    """

    code = "PTB112"
    name = "sorted-tensors"
    waits = True
    ops = ("call builtins.sorted", "call builtins.list.sort", "sort by tensor")
    says = "{code} compares tensors in Python"
    graph_breaks = ("GB0207",)

    INVALID = (
        "both = [x.sum(), x.mean()]\nboth.sort()\nreturn both[0] + x",
        "return sorted([x, x + 1], key=lambda t: t.sum())[0]",
    )
    VALID = (
        "return x + sorted([2, 1])[0]",
        "return x + sorted({'b': 1, 'a': 2}.values())[0]",
        "return max([x.sum(), x.mean()]) + x",
        "return sorted([x, x[:2]], key=lambda t: t.shape[0])[0]",
    )

    @classmethod
    def accepts(cls, op: Op) -> bool:
        if op.name == "sort by tensor":
            return True
        things = op.arg("self", 0).removeprefix("list of ").removeprefix("tuple of ")
        return is_tensor(things) and not op.arg("key")
