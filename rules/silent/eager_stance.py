from __future__ import annotations

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import Rule


class EagerStance(Rule):
    """`set_stance("force_eager")` turns `torch.compile` off until another stance is set.

    ## What happens
    `torch.compiler.set_stance("force_eager")` called as a function holds from there on: whatever is compiled runs
    uncompiled, in the whole process. As a context manager, or as a decorator, it ends with what it stands around.

    ## Example
    ```python
    import torch

    @torch.compile
    def f(x):
        return x * 2

    def check(x):
        torch.compiler.set_stance("force_eager")
        return f(x)

    def run():
        try:
            x = torch.ones(3)
            return torch.equal(check(x), f(x))
        finally:
            torch.compiler.set_stance("default")
    ```

    ## Use instead
    ```python
    import torch

    @torch.compile
    def f(x):
        return x * 2

    def check(x):
        with torch.compiler.set_stance("force_eager"):
            return f(x)

    def run():
        x = torch.ones(3)
        return torch.equal(check(x), f(x))
    ```

    ## Versions
    Measured: nothing is compiled on torch 2.6, 2.9, 2.13 and 2.15.
    """

    code = "PTS322"
    name = "eager-stance"
    ops = tuple(f"{what} torch.compiler.set_stance" for what in ("discard", "call"))
    anywhere = True

    @classmethod
    def accepts(cls, op: Op) -> bool:
        return op.name.startswith("discard ") and not op.region

    def check(self, node: cst.CSTNode, op: Op) -> None:
        calls = [o for o in self.function.ops if o.name == self.ops[1]]
        here = next((o for o in calls if o.range == op.range), None)
        if here is None or here.arg(0, "stance") != "constant 'force_eager'":
            return
        if all(o.arg(0, "stance") == "constant 'force_eager'" for o in calls):
            self.report(
                node,
                op,
                f"{self.quote(node)} turns torch.compile off for the rest of the process; "
                "`with` it, that ends with the block",
            )
