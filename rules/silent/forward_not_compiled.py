from __future__ import annotations

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import Rule


class ForwardNotCompiled(Rule):
    """After `module.compile()`, `module.forward(x)` runs uncompiled.

    ## What happens
    `module.compile()` compiles what a call of the module runs (`module(x)`). `forward` itself stays as it was, so
    that calling it by name runs plain Python; besides, that leaves out the module's hooks.

    ## Example
    ```python
    import torch

    class Net(torch.nn.Module):
        def forward(self, x):
            return x * 2

    def run():
        model = Net()
        model.compile()
        return model.forward(torch.ones(3))
    ```

    ## Use instead
    ```python
    import torch

    class Net(torch.nn.Module):
        def forward(self, x):
            return x * 2

    def run():
        model = Net()
        model.compile()
        return model(torch.ones(3))
    ```

    ## Versions
    Measured: nothing is compiled on torch 2.6, 2.9, 2.13 and 2.15. (`forward` of what `torch.compile(module)` returns
    is compiled.)
    """

    code = "PTS315"
    name = "forward-not-compiled"
    ops = ("forward of compiled",)
    anywhere = True

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
            module = self.text(node.func.value)
            self.report(
                node,
                op,
                f"{self.quote(node)} runs uncompiled: `{module}.compile()` compiles what `{module}(...)` runs",
                fixes=[
                    self.fix(
                        "Call the module: that runs the compiled code, and the module's hooks.",
                        self.edit(node.func, module),
                    )
                ],
            )
