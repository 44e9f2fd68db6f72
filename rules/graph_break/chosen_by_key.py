from __future__ import annotations

from pt2lint.rule import GraphBreak


class ChosenByKey(GraphBreak):
    """Python's `min` or `max` chooses by a key: among objects or tensors, or from an iterator.

    ## What happens
    Dynamo computes `min` and `max` with a `key` itself only where all that they compare are numbers, strings and
    the like, in a list, a tuple, a set or a dictionary. Where they are objects, tensors or pairs that hold some, or
    come from an iterator or a view (`enumerate(scores)`, `scores.items()`), it ends the graph (GB0193). Before
    torch 2.13 so does every key that is a function of Python (`key=lambda n: -n`); `key=len` and `key=table.get` are
    fine.

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
    `sorted` is traced; so is a choice that is made once, outside the compiled code:
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
    is fine on 2.15. To choose what is plain by a function breaks on 2.6 and 2.9 only.
    """

    code = "PTB115"
    name = "chosen-by-key"
    ops = ("choose by key", "choose plain by key")
    says = "{code} chooses by a key among what Dynamo does not compare"
    repairs = ("chosen", "disable")
    graph_breaks = ("GB0193",)

    INVALID = (
        "return max([x, x[:2]], key=lambda t: t.shape[0]) + 1",
        "return max([(1, x), (2, x + 1)], key=lambda pair: pair[0])[1]",
        "return x + min(enumerate([3, 1, 2]), key=lambda pair: pair[1])[0]",
        "return x + max({1: 3, 2: 1}.items(), key=lambda pair: pair[1])[0]",
    )
    VALID = (
        "return x + max([1, 3, 2], key=lambda n: -n)",
        "return x + len(max(['a', 'bb'], key=len))",
        "return x + max(1, 2)",
        "return x + max({1: 3, 2: 1}, key=lambda n: -n)",
    )
