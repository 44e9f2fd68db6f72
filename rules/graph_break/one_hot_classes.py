from __future__ import annotations

from types import MappingProxyType

from pt2lint.op import Op
from pt2lint.rule import GraphBreak


class OneHotClasses(GraphBreak):
    """`one_hot` without `num_classes` takes the largest value plus one.

    ## What happens
    How wide the result is depends on the values; Dynamo ends the graph (GB0246).

    ## Example
    ```python
    import torch
    import torch.nn.functional as F

    def f(labels):
        return F.one_hot(labels) * 2

    args = (torch.tensor([0, 2, 1]),)
    ```

    ## Use instead
    ```python
    import torch
    import torch.nn.functional as F

    def f(labels):
        return F.one_hot(labels, num_classes=3) * 2

    args = (torch.tensor([0, 2, 1]),)
    ```

    ## Versions
    Measured: breaks on torch 2.6 to 2.15, in default mode and with `fullgraph=True`.
    """

    code = "PTB122"
    name = "one-hot-classes"
    ops = ("call torch.nn.functional.one_hot",)
    says = "{code} is as wide as the largest value asks for: give it `num_classes`"
    instead = MappingProxyType(
        {
            "": "Say how many classes there are: `num_classes=n`, which the module or the configuration knows",
        }
    )
    graph_breaks = ("GB0246",)

    INVALID = ("return torch.nn.functional.one_hot(i, -1).sum() + x",)
    VALID = ("return torch.nn.functional.one_hot(i, 4).sum() + x",)

    @classmethod
    def accepts(cls, op: Op) -> bool:
        return op.arg(1, "num_classes") in ("", "constant -1") and "**" not in op.args
