from __future__ import annotations

from types import MappingProxyType

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import Rule


class ComparedSetting(Rule):
    """Compiled code compares a number of its module that a method changes from outside.

    ## What happens
    Which branch runs is decided while tracing, so Dynamo guards on the number. Each call after another value was
    set is compiled again, until the recompile limit. Where both branches compute the same (a factor of 1 that is
    left out), the branch saves one cheap operation and costs a compilation: compute it always, with the number in a
    tensor.

    ## Example
    ```python
    import torch

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.scaling = {"a": 1}

        def set_scale(self, name, scale):
            self.scaling[name] = scale

        def forward(self, x):
            if self.scaling["a"] == 1:
                return x + x.mean()
            return x + x.mean() * self.scaling["a"]

    net = Net()
    compiled = torch.compile(net)

    def run():
        for scale in range(1, 12):
            net.set_scale("a", scale)
            compiled(torch.ones(3))
    ```

    ## Use instead
    ```python
    import torch

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.scaling = {"a": torch.tensor(1.0)}

        def set_scale(self, name, scale):
            self.scaling[name].fill_(scale)

        def forward(self, x):
            return x + x.mean() * self.scaling["a"]

    net = Net()
    compiled = torch.compile(net)

    def run():
        for scale in range(1, 12):
            net.set_scale("a", scale)
            compiled(torch.ones(3))
    ```

    ## Versions
    Measured over 11 calls: 8 recompilations, and then eager, on torch 2.9, 2.13 and 2.15, and 1 on 2.6; none for a
    tensor that is filled.
    """

    code = "PTR219"
    name = "compared-setting"
    instead = MappingProxyType(
        {
            "": "Keep the setting in a tensor, and compute with it for every value, the one that was left "
            "out too"
        }
    )
    ops = ("compare setting",)
    severity = "note"

    def check(self, node: cst.CSTNode, op: Op) -> None:
        self.report(
            node,
            op,
            f"{self.quote(node)} decides what is compiled by a number that `{op.detail('by')}` changes: a call after "
            "each new value is compiled again; computed with always, as a tensor, it costs nothing",
        )
