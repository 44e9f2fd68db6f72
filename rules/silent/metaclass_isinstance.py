from __future__ import annotations

import libcst as cst

from pt2lint.fixes.by_hand import told
from pt2lint.op import Op
from pt2lint.rule import Rule

ENDS = (2, 15)  # the first torch on which Dynamo ends the graph there


class MetaclassIsinstance(Rule):
    """Compiled code does not ask a metaclass whether a tensor is of its class.

    ## What happens
    `isinstance(x, torch.autograd.Variable)` is True for each tensor in eager mode, as the metaclass of `Variable` says
    so. Dynamo looks at the classes of `x` alone: up to torch 2.13 it is False in compiled code, and the other branch is
    taken without a word; on 2.15 the graph ends there (GB2736). So it is with a class of your own whose metaclass has
    an `__instancecheck__`, and with jaxtyping's `isinstance(x, Float[torch.Tensor, "n"])`.

    ## Example
    ```python
    import torch
    from torch.autograd import Variable

    @torch.compile
    def f(x: torch.Tensor):
        if isinstance(x, Variable):
            return x * 2
        return x * 3

    def run():
        return f(torch.ones(2)).sum().item() == 4.0
    ```

    ## Use instead
    ```python
    import torch

    @torch.compile
    def f(x: torch.Tensor):
        if isinstance(x, torch.Tensor):
            return x * 2
        return x * 3

    def run():
        return f(torch.ones(2)).sum().item() == 4.0
    ```

    ## Versions
    Measured: False on torch 2.6, 2.9 and 2.13, a graph break on 2.15.
    """

    code = "PTS357"
    name = "metaclass-isinstance"
    ops = ("tensor by metaclass",)

    def check(self, node: cst.CSTNode, op: Op) -> None:
        says = "is False in compiled code, where Dynamo does not ask the metaclass of the class"
        if self.function.target >= ENDS:
            says = "ends the graph: Dynamo does not ask a metaclass whether a tensor is of its class"
        self.report(
            node,
            op,
            f"{self.quote(node)} {says}",
            fixes=[told("Ask for the class that tensors are of: `isinstance(..., torch.Tensor)`")],
        )
