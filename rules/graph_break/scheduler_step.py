from __future__ import annotations

from types import MappingProxyType

from pt2lint.rule import GraphBreak

SCHEDULERS = (
    "LRScheduler StepLR MultiStepLR ExponentialLR CosineAnnealingLR LinearLR ConstantLR PolynomialLR LambdaLR "
    "MultiplicativeLR CosineAnnealingWarmRestarts CyclicLR OneCycleLR ReduceLROnPlateau SequentialLR ChainedScheduler"
)
METHODS = "step get_last_lr get_lr state_dict"
WITHOUT_RATE = (
    "ReduceLROnPlateau",
    "SequentialLR",
    "ChainedScheduler",
)  # their `get_lr` raises in eager mode, too


class SchedulerStep(GraphBreak):
    """A learning rate scheduler is read or stepped in compiled code.

    ## What happens
    Dynamo does not trace torch.optim.lr_scheduler: `step()`, `get_last_lr()`, `get_lr()` and `state_dict()` end the
    graph (GB0008).

    ## Example
    ```python
    import torch

    layer = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 10)

    def f(x):
        loss = layer(x).square().mean()
        rate = scheduler.get_last_lr()[0]
        return loss.detach() * rate

    args = (torch.tensor([[1.0, -2.0]]),)
    ```

    ## Use instead
    Ask and move it outside the compiled call:
    ```python
    import torch

    layer = torch.nn.Linear(2, 1)

    def f(x, rate):
        return layer(x).square().mean().detach() * rate

    args = (torch.tensor([[1.0, -2.0]]), 0.1)
    ```

    ## Versions
    Measured: breaks on torch 2.6 to 2.15, in default mode and with `fullgraph=True`.
    """

    code = "PTB168"
    name = "scheduler-step"
    ops = tuple(
        f"call torch.optim.lr_scheduler.{name}.{method}"
        for name in SCHEDULERS.split()
        for method in METHODS.split()
        if method != "get_lr" or name not in WITHOUT_RATE
    )
    says = "{code} is a method of a learning rate scheduler, which Dynamo does not trace"
    repairs = ("train_step", "disable")
    instead = MappingProxyType(
        {
            "": "Compile what computes the loss, and ask and move the schedule outside",
        }
    )
    graph_breaks = ("GB0008",)

    INVALID = (
        "optimizer = torch.optim.SGD([torch.ones(4)], lr=0.1)\n"
        "scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)\n"
        "def f(x, m, i):\n    y = x + 1\n    scheduler.step()\n    return y * 2",
        "optimizer = torch.optim.SGD([torch.ones(4)], lr=0.1)\n"
        "first, second = (torch.optim.lr_scheduler.ConstantLR(optimizer) for _ in range(2))\n"
        "scheduler = torch.optim.lr_scheduler.SequentialLR(optimizer, [first, second], [5])\n"
        "def f(x, m, i):\n    y = x + 1\n    y = y * first.get_lr()[0]\n    scheduler.step()\n    return y * 2",
    )
    VALID = (
        "optimizer = torch.optim.SGD([torch.ones(4)], lr=0.1)\n"
        "def f(x, m, i):\n    return x * optimizer.param_groups[0]['lr']",
    )
