from __future__ import annotations

from types import MappingProxyType

from pt2lint.rule import GraphBreak, calls

METHODS = "scale unscale_ step update get_scale is_enabled state_dict"


class GradientScaler(GraphBreak):
    """A `GradScaler` is used in compiled code.

    ## What happens
    Dynamo does not trace torch.amp's GradScaler: each of its methods ends the graph (GB0008), whether it is enabled or
    not.

    ## Example
    ```python
    import torch

    layer = torch.nn.Linear(2, 1)
    scaler = torch.amp.GradScaler("cpu", enabled=False)  # it breaks whether it scales or not

    def f(x):
        loss = layer(x).square().mean()
        scaled = scaler.scale(loss)
        return scaled.detach() * 2

    args = (torch.tensor([[1.0, -2.0]]),)
    ```

    ## Use instead
    Compile what computes the loss, under autocast, and scale what it returns:
    ```python
    import torch

    layer = torch.nn.Linear(2, 1)

    def f(x):
        return layer(x).square().mean().detach() * 2

    args = (torch.tensor([[1.0, -2.0]]),)
    ```

    ## Versions
    Measured: breaks on torch 2.6 to 2.15, in default mode and with `fullgraph=True`.
    """

    code = "PTB167"
    name = "gradient-scaler"
    ops = (
        *calls("torch.amp.GradScaler", METHODS),
        *calls("torch.cuda.amp.GradScaler", METHODS),
    )
    says = "{code} is a method of a gradient scaler, which Dynamo does not trace"
    repairs = ("train_step", "disable")
    instead = MappingProxyType(
        {
            "": "Compile what computes the loss, and scale what it returns outside",
        }
    )
    graph_breaks = ("GB0008",)

    INVALID = (
        "scaler = torch.amp.GradScaler('cpu', enabled=False)\n"
        "def f(x, m, i):\n    y = x + 1\n    return scaler.scale(y.sum()).detach() * 2",
    )
    VALID = ("with torch.autocast('cpu', dtype=torch.bfloat16):\n    y = x @ x\nreturn y",)
