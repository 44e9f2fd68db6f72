from __future__ import annotations

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import Rule


class CopyOfCompiled(Rule):
    """A copy of a module whose method was compiled still runs the original; one compiled in place loses it.

    ## What happens
    `model.forward = torch.compile(model.forward)` keeps, in the module, a function that is tied to this very module.
    `copy.deepcopy` copies functions by reference: the copy's `forward` computes with the original's weights. An
    average of the weights (EMA), or a frozen teacher, made this way silently is the model itself.

    A module that was compiled by `model.compile()` is copied without what was compiled: the copy runs uncompiled
    until its own `compile()`. A copy of what `torch.compile(model)` returned is compiled and has weights of its own.

    ## Example
    ```python
    import copy
    import torch

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.ones(3))

        def forward(self, x):
            return x * self.weight

    def run():
        model = Net()
        model.forward = torch.compile(model.forward)
        frozen = copy.deepcopy(model)
        with torch.no_grad():
            model.weight.zero_()
        return frozen(torch.ones(3))
    ```

    ## Use instead
    ```python
    import copy
    import torch

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.ones(3))

        def forward(self, x):
            return x * self.weight

    def run():
        model = Net()
        frozen = copy.deepcopy(model)
        model.compile()
        frozen.compile()
        with torch.no_grad():
            model.weight.zero_()
        return frozen(torch.ones(3))
    ```

    ## Versions
    Measured: the copy runs the original, or uncompiled, on torch 2.6, 2.9, 2.13 and 2.15.
    """

    code = "PTS316"
    name = "copy-of-compiled"
    ops = ("copy of compiled",)
    anywhere = True

    @classmethod
    def accepts(cls, op: Op) -> bool:
        return not op.region

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if not isinstance(node, cst.Call) or not node.args:
            return
        original = self.text(node.args[0].value)
        method = op.detail("bound").removeprefix("constant ").strip("'")
        if method:
            self.report(
                node,
                op,
                f"the copy's `{method}` is the compiled method of `{original}` itself and computes with its weights; "
                "copy first, then compile each",
            )
        else:
            self.report(
                node,
                op,
                f"the copy of `{original}` is not compiled, as `{original}` is: it needs a `compile()` of its own",
                severity="note",
            )
