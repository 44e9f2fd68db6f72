from __future__ import annotations

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import Rule


class LatePatch(Rule):
    """A method that is replaced on a class after compiled code has called it keeps running as it was.

    ## What happens
    Dynamo traces the methods that a class has at the first call. It does not guard on those of a submodule's class:
    `Attention.forward = fast_forward` after that is not seen, and the compiled code goes on with the old method. A
    method replaced on the object (`model.attention.forward = ...`) is seen. Patch before the first call, or call
    `torch.compiler.reset()` after patching.

    ## Example
    ```python
    import torch

    class Layer(torch.nn.Module):
        def forward(self, x):
            return x * 2

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = Layer()

        def forward(self, x):
            return self.layer(x)

    def thrice(self, x):
        return x * 3

    def run():
        model = torch.compile(Net())
        model(torch.ones(3))
        Layer.forward = thrice
        return model(torch.ones(3))
    ```

    ## Use instead
    ```python
    import torch

    class Layer(torch.nn.Module):
        def forward(self, x):
            return x * 2

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = Layer()

        def forward(self, x):
            return self.layer(x)

    def thrice(self, x):
        return x * 3

    def run():
        Layer.forward = thrice
        model = torch.compile(Net())
        return model(torch.ones(3))
    ```

    ## Versions
    Measured: the old method runs on torch 2.6, 2.9, 2.13 and 2.15. (Class attributes and properties replaced late are
    not seen on 2.6 and 2.9 either.)
    """

    code = "PTS319"
    name = "late-patch"
    ops = ("set traced method",)
    anywhere = True

    def check(self, node: cst.CSTNode, op: Op) -> None:
        self.report(
            node,
            op,
            f"{self.quote(node)} is replaced after compiled code that runs it was called: that keeps the old one",
        )
