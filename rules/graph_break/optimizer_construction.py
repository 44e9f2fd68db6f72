from __future__ import annotations

from types import MappingProxyType

from pt2lint.rule import GraphBreak, calls

OPTIMIZERS = "Optimizer SGD Adam AdamW Adagrad Adadelta Adamax ASGD NAdam RAdam RMSprop Rprop LBFGS"
SCHEDULES = (
    "StepLR MultiStepLR ExponentialLR CosineAnnealingLR LambdaLR LinearLR OneCycleLR ReduceLROnPlateau"
)


class OptimizerConstruction(GraphBreak):
    """An optimizer, the project's own included, or a schedule of its rate, is made in compiled code.

    ## What happens
    The constructor of an optimizer patches its own class, and Dynamo traces neither that nor what follows: it ends the
    graph (GB0467, GB0059, GB0008). Each call of the compiled function makes a new optimizer, too, with empty state.

    ## Example
    ```python
    import torch

    layer = torch.nn.Linear(2, 1)

    def f(x):
        y = x * 2
        optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
        return y * optimizer.param_groups[0]["lr"]

    args = (torch.tensor([[1.0, -2.0]]),)
    ```

    ## Use instead
    Make it once, outside the compiled code:
    ```python
    import torch

    layer = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)

    def f(x):
        y = x * 2
        return y * optimizer.param_groups[0]["lr"]

    args = (torch.tensor([[1.0, -2.0]]),)
    ```

    ## Versions
    Measured: breaks on torch 2.6 to 2.15, in default mode and with `fullgraph=True`.
    """

    code = "PTB189"
    name = "optimizer-construction"
    ops = (*calls("torch.optim", OPTIMIZERS), *calls("torch.optim.lr_scheduler", SCHEDULES))
    says = "{code} makes an optimizer or a scheduler in compiled code"
    repairs = ("disable",)
    instead = MappingProxyType(
        {
            "": "Make it once, before the compiled code runs",
        }
    )
    graph_breaks = ("GB0467", "GB0059", "GB0008")

    INVALID = (
        "layer = torch.nn.Linear(4, 4)\n"
        "def f(x, m, i):\n    o = torch.optim.AdamW(layer.parameters(), lr=0.1)\n"
        "    return x * o.param_groups[0]['lr']",
        "layer = torch.nn.Linear(4, 4)\nclass Sign(torch.optim.Optimizer):\n    def __init__(self, params, lr):\n"
        "        super().__init__(params, dict(lr=lr))\ndef f(x, m, i):\n    o = Sign(layer.parameters(), 0.1)\n"
        "    return x * o.param_groups[0]['lr']",
    )
    VALID = (
        "class Around(torch.optim.Optimizer):\n    def __init__(self, inner):\n        self.inner = inner\n"
        "o = torch.optim.SGD([torch.ones(4)], lr=0.1)\n"
        "def f(x, m, i):\n    return x * Around(o).inner.param_groups[0]['lr']",
        "o = torch.optim.SGD([torch.ones(4)], lr=0.1)\ndef f(x, m, i):\n    return x * o.param_groups[0]['lr']",
    )
