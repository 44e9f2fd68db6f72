from __future__ import annotations

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import Rule


class RandomInCond(Rule):
    """A branch of `torch.cond` that draws random numbers has the gradients of other numbers.

    ## What happens
    For the backward pass torch.cond runs the branch again, and what is random in it is drawn anew: a dropout lets
    other elements through than it did in the forward pass. Results look right, gradients are those of another call.
    It happens in eager mode as in compiled code. Draw before the branch and pass the numbers in, or compute both and
    select with `torch.where`.

    ## Example
    ```python
    import torch
    import torch.nn.functional as F

    def regularized(x):
        return F.dropout(x, 0.5)

    def doubled(x):
        return x * 2

    @torch.compile
    def f(x):
        return torch.cond(x.sum() > 0, regularized, doubled, (x,))

    def run():
        x = torch.ones(64, requires_grad=True)
        y = f(x)
        y.sum().backward()
        return torch.equal(y != 0, x.grad != 0)
    ```

    ## Use instead
    ```python
    import torch
    import torch.nn.functional as F

    def regularized(x, kept):
        return x * kept

    def doubled(x, kept):
        return x * 2

    @torch.compile
    def f(x):
        kept = F.dropout(torch.ones_like(x), 0.5)
        return torch.cond(x.sum() > 0, regularized, doubled, (x, kept))

    def run():
        x = torch.ones(64, requires_grad=True)
        y = f(x)
        y.sum().backward()
        return torch.equal(y != 0, x.grad != 0)
    ```

    ## Versions
    Measured: other gradients on torch 2.6, 2.9, 2.13 and 2.15.
    """

    code = "PTS330"
    name = "random-in-cond"
    ops = ("draw in cond",)

    def check(self, node: cst.CSTNode, op: Op) -> None:
        name = op.detail("draws").removeprefix("torch.nn.functional.").removeprefix("torch.")
        self.report(
            node,
            op,
            f"a branch of `torch.cond` draws random numbers (`{name}`, {op.details['where']}): its gradients will "
            "belong to other numbers",
        )
