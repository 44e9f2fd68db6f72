from __future__ import annotations

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import Rule

TRANSFORMS = "vmap grad grad_and_value jvp vjp jacrev jacfwd hessian"


class TransformedCompiled(Rule):
    """A compiled function is given to `torch.func`, where it runs uncompiled.

    ## What happens
    Under `torch.vmap`, `torch.func.grad` and the other transforms Dynamo leaves the functions that they call to
    Python: nothing is compiled, and nothing says so. Compile what the transform returns; Dynamo traces the transform
    along with the function.

    ## Example
    ```python
    import torch

    @torch.compile(backend="aot_eager")
    def loss(x):
        return (x * x).sum()

    def run():
        return torch.func.grad(loss)(torch.ones(3))
    ```

    ## Use instead
    ```python
    import torch

    def loss(x):
        return (x * x).sum()

    gradient = torch.compile(torch.func.grad(loss), backend="aot_eager")

    def run():
        return gradient(torch.ones(3))
    ```

    ## Versions
    Measured with `vmap`, `grad`, `jvp`, `vjp`, `jacrev`, `jacfwd` and `hessian`: nothing is compiled on torch 2.6,
    2.9, 2.13 and 2.15, with any backend but "eager". PyTorch's issue 128711 describes it.
    """

    code = "PTS318"
    name = "transformed-compiled"
    ops = (*(f"call torch.func.{name}" for name in TRANSFORMS.split()), "call torch.vmap")
    anywhere = True

    @classmethod
    def accepts(cls, op: Op) -> bool:
        return op.arg(0, "func") == "compiled" and not op.region

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if isinstance(node, cst.Call):
            transform = self.text(node.func)
            self.report(
                node,
                op,
                f"inside of `{transform}` the compiled function runs uncompiled: compile what `{transform}` returns",
            )
