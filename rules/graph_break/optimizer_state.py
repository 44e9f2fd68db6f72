from __future__ import annotations

from types import MappingProxyType

from pt2lint.rule import GraphBreak

OPTIMIZERS = "Optimizer SGD Adam AdamW Adagrad Adadelta Adamax ASGD NAdam RAdam RMSprop Rprop Adafactor LBFGS"
METHODS = "zero_grad state_dict load_state_dict"


class OptimizerState(GraphBreak):
    """An optimizer's gradients are cleared, or its state is read, in compiled code.

    ## What happens
    Dynamo traces no method of an optimizer but `step`: at `zero_grad()`, `state_dict()` and `load_state_dict()` it ends
    the graph (GB0008).

    ## Example
    ```python
    import torch

    layer = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)

    def f(x):
        y = x * 2
        optimizer.zero_grad()
        return layer(y).square().mean().detach()

    args = (torch.tensor([[1.0, -2.0]]),)
    ```

    ## Use instead
    Compile what computes the loss; clear the gradients around it, with `backward()` and `step()`:
    ```python
    import torch

    layer = torch.nn.Linear(2, 1)

    def f(x):
        y = x * 2
        return layer(y).square().mean().detach()

    args = (torch.tensor([[1.0, -2.0]]),)
    ```

    ## Versions
    Measured: breaks on torch 2.6 to 2.15, in default mode and with `fullgraph=True`.
    """

    code = "PTB166"
    name = "optimizer-state"
    ops = tuple(
        f"call torch.optim.{name}.{method}" for name in OPTIMIZERS.split() for method in METHODS.split()
    )
    says = "{code} is a method of an optimizer that Dynamo does not trace"
    repairs = ("train_step", "disable")
    instead = MappingProxyType(
        {
            "": "Compile what computes the loss, and leave the optimizer to the code around it",
        }
    )
    graph_breaks = ("GB0008",)

    INVALID = (
        "layer = torch.nn.Linear(4, 4)\noptimizer = torch.optim.AdamW(layer.parameters())\n"
        "def f(x, m, i):\n    optimizer.zero_grad(set_to_none=False)\n    return x + 1",
        "optimizer = torch.optim.Adam([torch.ones(4)])\n"
        "def f(x, m, i):\n    y = x + 1\n    n = len(optimizer.state_dict())\n    return y + n",
    )
    VALID = (
        "layer = torch.nn.Linear(4, 4)\ndef f(x, m, i):\n    for p in layer.parameters():\n        p.grad = None\n"
        "    return x + 1",
    )
