from __future__ import annotations

from pt2lint.rule import GraphBreak


class ChosenByKey(GraphBreak):
    """Python's `min` or `max` chooses among objects or tensors by a key.

    ## What happens
    Dynamo computes `min` and `max` with a `key` itself only where all that they compare are numbers, texts and
    the like. Where they are objects, or tensors, it ends the graph (GB0193).

    ## Example
    ```python
    import torch

    class Kernel:
        def __init__(self, cost):
            self.cost = cost

    KERNELS = [Kernel(2), Kernel(1)]

    def f(x):
        return x * min(KERNELS, key=lambda kernel: kernel.cost).cost

    args = (torch.tensor([1.0, -2.0]),)
    ```

    ## Use instead
    `sorted` is traced; so is a choice that is made once, outside of the compiled code:
    ```python
    import torch

    class Kernel:
        def __init__(self, cost):
            self.cost = cost

    KERNELS = [Kernel(2), Kernel(1)]

    def f(x):
        return x * sorted(KERNELS, key=lambda kernel: kernel.cost)[0].cost

    args = (torch.tensor([1.0, -2.0]),)
    ```

    ## Versions
    Measured: to choose by a key breaks on torch 2.6, 2.9 and 2.13, in default mode and with `fullgraph=True`; a key
    is fine on 2.15.
    """

    code = "PTB115"
    name = "chosen-by-key"
    ops = ("choose by key",)
    says = "{code} compares objects by a key, which Dynamo does not compute"
    repairs = ("chosen", "disable")
    graph_breaks = ("GB0193",)

    INVALID = ("return max([x, x[:2]], key=lambda t: t.shape[0]) + 1",)
    VALID = (
        "return x + max([1, 3, 2], key=lambda n: -n)",
        "return x + len(max(['a', 'bb'], key=len))",
        "return x + max(1, 2)",
    )
