from __future__ import annotations

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import GraphBreak, breaks_on, calls

PLAIN = "call torch._check without a tensor"  # as it was measured


class CheckMessage(GraphBreak):
    """The message of `torch._check` closes over a tensor.

    ## What happens
    `torch._check` itself is made for compiled code. Its message is a function; where that reads a tensor
    of the function around it, Dynamo cannot put it into the graph and breaks (GB9158).

    ## Example
    ```python
    import torch

    def f(x):
        torch._check(x.shape[0] > 1, lambda: f"too few rows: {x.shape}")
        return x * 2

    args = (torch.ones(2, 2),)
    ```

    ## Use instead
    A message without the tensor; numbers are fine:
    ```python
    import torch

    def f(x):
        torch._check(x.shape[0] > 1, lambda: "too few rows")
        return x * 2

    args = (torch.ones(2, 2),)
    ```

    ## Versions
    Measured: breaks on torch 2.6 to 2.15, in default mode and with `fullgraph=True`. A
    function without a tensor as the message breaks on 2.6 and 2.9 only.
    """

    code = "PTB113"
    name = "check-message"
    ops = calls("torch", "_check _check_with _check_value _check_index _check_type _check_not_implemented")
    says = "{code} is given a message that closes over a tensor"
    repairs = ("guard", "disable")
    graph_breaks = ("GB9158",)

    INVALID = ("torch._check_value(x.shape[0] > 1, lambda: f'{x.dtype}')\nreturn x + 1",)
    VALID = (
        "n = x.shape[0]\ntorch._check(n > 1, lambda: f'{n}')\nreturn x + 1",
        "torch._check(x.shape[0] > 1, lambda: 'too few')\nreturn x + 1",
        "import math\ntorch._check(x.shape[0] > 1, lambda: f'less than {math.pi}')\nreturn x + 1",
        "torch._check(x.shape[0] > 1)\nreturn x + 1",
    )

    def check(self, node: cst.CSTNode, op: Op) -> None:
        over = any("function over a tensor" in kind for kind in op.args.values())
        unsure = any("function | " in kind or "| function" in kind for kind in op.args.values())
        if over:
            self.breaks(node, op, self.says)
        elif unsure and not breaks_on(PLAIN, self.function.target):
            self.breaks(
                node, op._replace(sure=False), "{code} is given a message that may close over a tensor"
            )
        else:
            self.breaks(node, op, "{code} is given a function as its message", PLAIN)

    @classmethod
    def accepts(cls, op: Op) -> bool:
        return "function" in op.arg(2 if op.name.endswith("_with") else 1, "message")
