from __future__ import annotations

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import Rule


class ForwardNotCompiled(Rule):
    """After `module.compile()`, `module.forward(x)` runs uncompiled.

    ## What happens
    `module.compile()` compiles what a call of the module runs (`module(x)`). `forward` itself stays as it was, so
    that calling it by name runs plain Python; besides, that leaves out the module's hooks. The same goes for a method
    of the module that calls `self.forward(x)`: users who compile the module and call `model.encode(x)` get nothing
    compiled, where `self(x)` would give them the compiled code.

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

    @classmethod
    def accepts(cls, op: Op) -> bool:
        return not op.detail("traced")

    def check(self, node: cst.CSTNode, op: Op) -> None:
        from pt2lint.fixes.rewrite import aligned

        if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
            module = self.text(node.func.value)
            message = (
                f"{self.quote(node)} runs uncompiled: `{module}.compile()` compiles what `{module}(...)` runs"
            )
            if op.detail("own"):
                method = op.detail("own").removeprefix("constant ").strip("'")
                message = (
                    f"`{method}` runs {self.quote(node.func)} uncompiled after `compile()` of the module, and without "
                    f"its hooks: `{module}(...)` runs what was compiled"
                )
            self.report(
                node,
                op,
                message,
                severity="note" if op.detail("own") and not op.detail("in place") else None,
                fixes=[
                    self.fix(
                        "Call the module: that runs the compiled code, and the module's hooks.",
                        self.edit(node.func, module),
                        *aligned(self.function, node, module),
                    )
                ],
            )
