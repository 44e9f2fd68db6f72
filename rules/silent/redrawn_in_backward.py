from __future__ import annotations

import ast
from typing import ClassVar

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import Rule

HOLDER = "torch._functorch.config"
INSTEAD = (
    "Leave the budget at 1.0 and say in the code what the backward pass computes again: "
    "`torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)`, which draws the same numbers"
)


class RedrawnInBackward(Rule):
    """An activation memory budget below 1 lets the backward pass draw random numbers anew: gradients are wrong.

    ## What happens
    With `torch._functorch.config.activation_memory_budget` below 1 compiled code keeps less for the backward pass and
    computes the rest again. What is random in it, a dropout, `rand_like` or `bernoulli`, is then drawn again, too, and
    other elements are let through than in the forward pass: the loss is that of one draw, its gradients are those of
    another. Which operators are computed again depends on the budget and on the sizes; at 0 it is all of them. Nothing
    is said. `torch.utils.checkpoint.checkpoint` draws the same numbers again, in compiled code as in eager mode.

    ## Example
    ```python
    import torch
    import torch.nn.functional as F

    @torch.compile(backend="aot_eager_decomp_partition")
    def f(x):
        return F.dropout(x.sin(), 0.5)

    def run():
        torch._functorch.config.activation_memory_budget = 0.5
        x = torch.ones(256, requires_grad=True)
        y = f(x)
        y.sum().backward()
        return torch.equal(y != 0, x.grad != 0)
    ```

    ## Use instead
    ```python
    import torch
    import torch.nn.functional as F
    from torch.utils.checkpoint import checkpoint

    def block(x):
        return F.dropout(x.sin(), 0.5)

    @torch.compile(backend="aot_eager_decomp_partition")
    def f(x):
        return checkpoint(block, x, use_reentrant=False)

    def run():
        x = torch.ones(256, requires_grad=True)
        y = f(x)
        y.sum().backward()
        return torch.equal(y != 0, x.grad != 0)
    ```

    ## Versions
    Measured: other gradients on torch 2.6, 2.9, 2.13 and 2.15, with Inductor as well (2.13).
    """

    code = "PTS353"
    name = "redrawn-in-backward"
    ops = ("set setting",)
    anywhere = True
    instead: ClassVar = {"": INSTEAD}

    def concerns(self, op: Op) -> bool:
        return op.details.get("holder") == HOLDER and bool(op.detail("draws"))

    def check(self, node: cst.CSTNode, op: Op) -> None:
        budget = self.budget(node)
        if budget is not None and budget >= 1:
            return
        drawn = op.detail("draws").removeprefix("torch.").removeprefix("nn.").removeprefix("functional.")
        self.report(
            node,
            self.led_to(op, op.details["drawn at"], f"`{drawn}` draws random numbers"),
            f"with {self.quote(node)} below 1 the backward pass may draw anew what `{drawn}` drew: its gradients "
            "belong to other numbers",
            severity=None if budget is not None and op.detail("surely") else "note",
        )

    def budget(self, node: cst.CSTNode) -> float | None:
        """What it is set to, where the code says a number."""
        target = self.function.parent(node)
        assign = self.function.parent(target) if isinstance(target, cst.AssignTarget) else None
        if not isinstance(assign, cst.Assign) or not isinstance(assign.value, cst.Float | cst.Integer):
            return None
        return float(ast.literal_eval(assign.value.value))
