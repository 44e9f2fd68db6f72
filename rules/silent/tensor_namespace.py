from __future__ import annotations

from types import MappingProxyType

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import Rule, is_tensor

VARS = "call builtins.vars"
NO_LONGER_RAISES = (2, 15)


class TensorNamespace(Rule):
    """The `__dict__` of a tensor or a parameter is read in compiled code, where that raises.

    ## What happens
    Dynamo knows what attributes a tensor has, but not the dictionary in which Python keeps those that were added to
    it. Up to torch 2.13 it fails there with an error of its own (InternalTorchDynamoError: "'dict' object has no
    attribute 'node'"), after which Python does not go on: the call raises. On 2.15 it leaves what reads it to Python.
    `hasattr` and `getattr` are traced.

    ## Example
    ```python
    import torch

    weight = torch.nn.Parameter(torch.ones(3))
    weight.scale = 2.0

    @torch.compile
    def scaled(x):
        if "scale" in weight.__dict__:
            return x * weight * weight.scale
        return x * weight

    def run():
        return scaled(torch.ones(3))
    ```

    ## Use instead
    ```python
    import torch

    weight = torch.nn.Parameter(torch.ones(3))
    weight.scale = 2.0

    @torch.compile
    def scaled(x):
        if hasattr(weight, "scale"):
            return x * weight * weight.scale
        return x * weight

    def run():
        return scaled(torch.ones(3))
    ```

    ## Versions
    Measured: `__dict__` raises on torch 2.6, 2.9 and 2.13, and on 2.15 nothing of the example is compiled; `vars`
    raises on 2.9 and 2.13 and breaks the graph on 2.6 and 2.15.
    """

    code = "PTS332"
    name = "tensor-namespace"
    instead = MappingProxyType(
        {"": "Ask for the attribute: `hasattr(t, name)` and `getattr(t, name)` are traced"}
    )
    ops = ("get torch.Tensor.__dict__", VARS)
    severity = "error"

    @classmethod
    def accepts(cls, op: Op) -> bool:
        if "is used as a tensor" in op.why:  # what has a `.mean` may be a distribution
            return False
        return op.name != VARS or is_tensor(op.arg(0))

    def check(self, node: cst.CSTNode, op: Op) -> None:
        does = "raises" if self.function.target < NO_LONGER_RAISES else "is left to Python"
        self.report(
            node,
            op,
            f"{self.quote(node)} runs, but {does} where it is compiled: Dynamo has no dictionary of a tensor's "
            f"attributes, and needs none for `hasattr` and `getattr`; {op.why}",
        )
