from __future__ import annotations

from types import MappingProxyType

from pt2lint.op import Op
from pt2lint.rule import GraphBreak, calls


class InputReshaped(GraphBreak):
    """The shape of an input is changed in place.

    ## What happens
    `unsqueeze_`, `squeeze_`, `t_`, `transpose_` and `swapaxes_` make a tensor a view of itself. Dynamo does
    not do that to what comes into the graph from outside: it ends the graph (GB0148). On a tensor that the
    graph computes they are fine.

    ## Example
    ```python
    import torch

    def f(x: torch.Tensor):
        x.unsqueeze_(0)
        return torch.relu(x) * 2

    args = (torch.tensor([1.0, -2.0]),)
    ```

    ## Use instead
    The method without the underscore, which leaves the caller's tensor alone as well:
    ```python
    import torch

    def f(x: torch.Tensor):
        x = x.unsqueeze(0)
        return torch.relu(x) * 2

    args = (torch.tensor([1.0, -2.0]),)
    ```

    ## Versions
    Measured: breaks on torch 2.6 to 2.15, in default mode and with `fullgraph=True`.
    """

    code = "PTB164"
    name = "input-reshaped"
    ops = calls("torch.Tensor", "unsqueeze_ squeeze_ t_ transpose_ swapaxes_ swapdims_")
    says = "{code} changes the shape of an input in place"
    instead = MappingProxyType(
        {
            "": "Take the method without the underscore, and bind what it returns: `x = x.unsqueeze(0)`",
        }
    )
    graph_breaks = ("GB0148",)

    INVALID = ("x.t_()\nreturn x + 1",)
    VALID = (
        "y = x + 1\ny.unsqueeze_(0)\nreturn y",
        "return x.clone().t_() + 1",
        "return x[0].unsqueeze_(0) + 1",
    )

    @classmethod
    def accepts(cls, op: Op) -> bool:
        return "input" in op.details
