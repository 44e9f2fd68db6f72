from __future__ import annotations

from collections.abc import Iterable

import libcst as cst

from pt2lint.finding import Fix
from pt2lint.fixes.repaired import accepted
from pt2lint.fixes.repairs.methods import static
from pt2lint.op import Op
from pt2lint.rule import GraphBreak

ENDS = "the graph ends here"


class ClassMethodFunction(GraphBreak):
    """The `forward` or `backward` of a torch.autograd.Function is a class method.

    ## What happens
    Dynamo takes `forward`, `backward` and `setup_context` for static methods and passes the class as one more
    argument: it cannot bind them (GB7312), and ends the graph at `apply`. Where no gradient is asked for, it calls
    the function unread.

    ## Example
    ```python
    import torch

    class Exp(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x.exp()
            ctx.save_for_backward(y)
            return y

        @classmethod
        def backward(cls, ctx, grad):
            (y,) = ctx.saved_tensors
            return grad * y

    def f(x):
        return Exp.apply(x) * 2

    args = (torch.tensor([1.0, -2.0], requires_grad=True),)
    ```

    ## Use instead
    ```python
    import torch

    class Exp(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x.exp()
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, grad):
            (y,) = ctx.saved_tensors
            return grad * y

    def f(x):
        return Exp.apply(x) * 2

    args = (torch.tensor([1.0, -2.0], requires_grad=True),)
    ```

    ## Versions
    Measured: breaks on torch 2.6 to 2.15, in default mode and with `fullgraph=True`.
    """

    code = "PTB191"
    name = "class-method-function"
    ops = ("call class method of function",)
    graph_breaks = ("GB7312",)

    INVALID = (
        "class Exp(torch.autograd.Function):\n    @classmethod\n    def forward(cls, ctx, x):\n        return x.exp()\n"
        "    @staticmethod\n    def backward(ctx, grad):\n        return grad\n"
        "def f(x, m, i):\n    return Exp.apply(x + torch.ones(4, requires_grad=True))",
    )
    VALID = (
        "class Exp(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        return x.exp()\n"
        "    @staticmethod\n    def backward(ctx, grad):\n        return grad\n"
        "    @classmethod\n    def run(cls, x):\n        return cls.apply(x)\n"
        "def f(x, m, i):\n    return Exp.run(x)",
    )

    def check(self, node: cst.CSTNode, op: Op) -> None:
        called = op.detail("called")
        self.owner = op.detail("method").partition(".")[0]
        if not called:
            if op.detail("told"):
                op = op._replace(rare=op.rare or "told where the method stands")
            says = f"`{op.detail('method')}` is a class method, which Dynamo cannot bind: the graph ends at {{code}}"
        else:
            op = self.led_to(op, called, ENDS)
            says = (
                "{code} is a class method, which Dynamo cannot bind: the graph ends where `apply` is called"
            )
        self.breaks(node, op, says)

    owner = ""  # the class

    def fixes(self, node: cst.CSTNode) -> Iterable[Fix]:
        """At the method: make it a static one."""
        return accepted(static(self.function, node, self.owner))
