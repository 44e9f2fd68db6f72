from __future__ import annotations

from types import MappingProxyType

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import GraphBreak
from pt2lint.rule.tree import walk

OPTIMIZERS = "Optimizer SGD Adam AdamW Adagrad Adadelta Adamax ASGD NAdam RAdam RMSprop Rprop Adafactor LBFGS"


class OptimizerStep(GraphBreak):
    """An optimizer's step is taken in compiled code.

    ## What happens
    `step()` of torch's optimizers ends the graph on purpose (GB0025), before and after it switches gradients off;
    `LBFGS` is left out of compiling as a whole (GB0099). The step itself is compiled on its own, in graphs apart
    from those of the model: a compiled function that does nothing but take steps loses nothing, and is reported as
    a note.

    ## Example
    ```python
    import torch

    layer = torch.nn.Linear(2, 1)
    layer.weight.grad = torch.ones(1, 2)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)

    def f(x):
        loss = layer(x).square().mean()
        optimizer.step()
        return loss.detach()

    args = (torch.tensor([[1.0, -2.0]]),)
    ```

    ## Use instead
    Compile what computes the loss, and call `backward()` and `step()` outside it. A step that is to be compiled is
    compiled alone, with a rate that is a tensor: `step = torch.compile(optimizer.step)`, `lr=torch.tensor(0.1)`.
    ```python
    import torch

    layer = torch.nn.Linear(2, 1)

    def f(x):
        return layer(x).square().mean().detach()

    args = (torch.tensor([[1.0, -2.0]]),)
    ```

    ## Versions
    Measured: breaks on torch 2.6 to 2.15, in default mode and with `fullgraph=True`. The step of `Muon` is traced.
    """

    code = "PTB165"
    name = "optimizer-step"
    # Muon's step is traced.
    ops = tuple(f"call torch.optim.{name}.step" for name in OPTIMIZERS.split())
    says = "{code} steps an optimizer in compiled code"
    repairs = ("train_step", "disable")
    instead = MappingProxyType(
        {
            "": (
                "Compile what computes the loss, and call `backward()` and `step()` outside; or compile "
                "the step alone: `torch.compile(optimizer.step)`, with a rate that is a tensor"
            ),
        }
    )
    graph_breaks = ("GB0025", "GB0099")

    INVALID = (
        "class Mine(torch.optim.SGD):\n    def step(self, closure=None):\n        return super().step(closure)\n"
        "optimizer = Mine([torch.ones(4)], lr=0.1)\ndef f(x, m, i):\n    optimizer.step()\n    return x + 1",
        "layer = torch.nn.Linear(4, 4)\nlayer.weight.grad = torch.ones(4, 4)\n"
        "optimizer = torch.optim.AdamW(layer.parameters())\n"
        "def f(x, m, i):\n    optimizer.step()\n    return x + 1",
    )
    VALID = (
        "optimizer = torch.optim.SGD([torch.ones(4)], lr=0.1)\n"
        "def f(x, m, i):\n    return x * optimizer.param_groups[0]['lr']",
    )

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if len(op.flow) == 1 and self.takes_steps_alone():
            self.severity = "note"
        super().check(node, op)

    def takes_steps_alone(self) -> bool:
        """Whether all that the function does is to call `step()`, of optimizers and schedules."""
        function = next((one for one in walk(self.function.module) if isinstance(one, cst.FunctionDef)), None)
        body = function.body.body if function is not None else ()
        lines = [
            one.body[0] for one in body if isinstance(one, cst.SimpleStatementLine) and len(one.body) == 1
        ]
        calls = [one.value for one in lines if isinstance(one, cst.Expr) and isinstance(one.value, cst.Call)]
        return len(calls) == len(body) and all(
            isinstance(one.func, cst.Attribute) and one.func.attr.value == "step" for one in calls
        )
