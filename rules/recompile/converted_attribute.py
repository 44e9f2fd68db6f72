from __future__ import annotations

import libcst as cst

from pt2lint.fixes.repairs.kept import as_local
from pt2lint.op import Op
from pt2lint.rule import Rule


class ConvertedAttribute(Rule):
    """A tensor that an object holds is converted, and kept converted, in compiled code.

    ## What happens
    Dynamo guards on the dtype and the device of each tensor that it finds in an object. The first call finds the
    tensor as it was made and leaves it converted, so the second call fails the guard and is compiled again; so does
    the first call after a change of dtype or device. A list, a tuple or a dictionary of tensors that is made anew of
    what it holds is no other. Convert it into a variable, or register it as a buffer, which goes where its module goes.

    ## Example
    ```python
    import torch

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = torch.arange(3.0)

        def forward(self, x):
            self.scale = self.scale.to(x.dtype)
            return x * self.scale

    net = torch.compile(Net())

    def run():
        for _ in range(11):
            net(torch.ones(3, dtype=torch.bfloat16))
    ```

    ## Use instead
    ```python
    import torch

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = torch.arange(3.0)

        def forward(self, x):
            scale = self.scale.to(x.dtype)
            return x * scale

    net = torch.compile(Net())

    def run():
        for _ in range(11):
            net(torch.ones(3, dtype=torch.bfloat16))
    ```

    ## Versions
    Measured on torch 2.6, 2.9, 2.13 and 2.15: 1 recompilation; none into a variable.
    """

    code = "PTR216"
    name = "converted-attribute"
    about_guards = True
    asks_what_is_left = True
    ops = ("convert attribute",)
    severity = "note"

    def check(self, node: cst.CSTNode, op: Op) -> None:
        self.report(
            node,
            op,
            f"`{self.text(node)}` is kept converted: Dynamo guards on the dtype and device that it finds, so the "
            "next call is compiled again; a variable, or a buffer of the module, costs nothing",
            fixes=as_local(self.function, node),
        )
