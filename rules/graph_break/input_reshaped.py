from __future__ import annotations

from types import MappingProxyType

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import GraphBreak, calls


class InputReshaped(GraphBreak):
    """The shape of an input is changed in place, or an input is detached in place.

    ## What happens
    `unsqueeze_`, `squeeze_`, `t_`, `transpose_`, `swapaxes_` and `as_strided_` make a tensor a view of itself, and
    `detach_` takes it out of what computed it. Dynamo does not do that to what comes into the graph from outside, as
    arguments, weights and their gradients do: it ends the graph (GB0148). On a tensor that the graph computes they are
    fine.

    ## Example
    ```python
    import torch

    def f(x: torch.Tensor):
        x.unsqueeze_(0)
        return torch.relu(x) * 2

    args = (torch.tensor([1.0, -2.0]),)
    ```

    ## Use instead
    The method without the underscore, which leaves the caller's tensor alone as well (a gradient that is to be zero
    need not be detached first, unless it was made with `create_graph=True`):
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
    ops = calls("torch.Tensor", "unsqueeze_ squeeze_ t_ transpose_ swapaxes_ swapdims_ as_strided_ detach_")
    says = "{code} changes the shape of an input in place"
    instead = MappingProxyType(
        {
            "call torch.Tensor.detach_": (
                "Take `detach()`, and bind what it returns: `x = x.detach()`. Before a gradient is set to zero nothing "
                "need be done, or set it to None instead"
            ),
            "": "Take the method without the underscore, and bind what it returns: `x = x.unsqueeze(0)`",
        }
    )
    graph_breaks = ("GB0148",)

    INVALID = (
        "x.t_()\nreturn x + 1",
        "x.as_strided_((1,), (1,))\nreturn x + 1",
        "x.detach_()\nreturn x + 1",
        "weight = torch.nn.Parameter(torch.ones(3))\nweight.grad = torch.ones(3)\n"
        "def f(x, m, i):\n    weight.grad.detach_()\n    return x + 1",
    )
    VALID = (
        "y = x + 1\ny.unsqueeze_(0)\nreturn y",
        "return x.clone().t_() + 1",
        "return x[0].unsqueeze_(0) + 1",
        "y = x + 1\ny.detach_()\nreturn y",
    )

    def check(self, node: cst.CSTNode, op: Op) -> None:
        detached = op.name.endswith(".detach_")
        return self.breaks(node, op, "{code} detaches an input in place" if detached else self.says)

    @classmethod
    def accepts(cls, op: Op) -> bool:
        return "input" in op.details
