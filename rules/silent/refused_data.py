from __future__ import annotations

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import Rule, calls

LEGACY = calls("torch", "FloatTensor LongTensor IntTensor HalfTensor DoubleTensor")
OF_LISTS = ("call torch.Tensor", "call torch.as_tensor")
# What NumPy makes of these, with no dtype given, is of double precision.
DOUBLE = ("zeros", "ones", "eye", "linspace", "rand", "randn", "random", "uniform", "normal")


class RefusedData(Rule):
    """A tensor is made from an array or a list in a way that works in eager mode and raises when compiled.

    ## What happens
    While tracing, Dynamo has a tensor in the place of each NumPy array. The old constructors (`torch.FloatTensor`,
    `torch.LongTensor`) convert an array of another dtype, but refuse such a tensor, and neither `FloatTensor` nor
    `torch.Tensor` and `torch.as_tensor` make anything of a list of arrays. The last two refuse a list of 0-dim
    tensors too. That is no graph break, after which Python would go on: the call raises TorchRuntimeError.
    `torch.tensor`, `torch.from_numpy` and `torch.stack` take what they are given.

    ## Example
    ```python
    import numpy as np
    import torch

    @torch.compile
    def noisy(x):
        return x + torch.FloatTensor(np.zeros(3))

    def run():
        return noisy(torch.ones(3))
    ```

    ## Use instead
    ```python
    import numpy as np
    import torch

    @torch.compile
    def noisy(x):
        return x + torch.from_numpy(np.zeros(3)).float()

    def run():
        return noisy(torch.ones(3))
    ```

    ## Versions
    Measured: TorchRuntimeError on torch 2.6, 2.9, 2.13 and 2.15 for `FloatTensor` of an array of double precision
    or of ints, `LongTensor` of floats or of 32 bits, and lists as above; none for an array of the very dtype,
    `torch.Tensor` of an array, `FloatTensor` of a list of tensors, and `torch.tensor` of any of these. Where the
    dtype of an array depends on who passes it, nothing is reported.
    """

    code = "PTS327"
    name = "refused-data"
    ops = (*LEGACY, *OF_LISTS)
    severity = "error"

    @classmethod
    def accepts(cls, op: Op) -> bool:
        given = op.arg(0, "data")
        if given in ("list of array", "tuple of array"):
            return op.name in (LEGACY[0], *OF_LISTS)  # the others take arrays of their own dtype
        if op.name in OF_LISTS:
            return given in ("list of tensor", "tuple of tensor")
        return given in ("number", "array") and op.name != "call torch.DoubleTensor"

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if not isinstance(node, cst.Call) or not node.args or node.args[0].star:
            return
        given = node.args[0].value
        if " of " not in op.arg(0, "data") and not self.is_double(given):
            return
        self.report(
            node,
            op,
            f"{self.quote(node)} runs, but raises where it is compiled: `{self.text(node.func)}` does not take "
            f"{self.quote(given)} while tracing, as `torch.tensor` does",
        )

    def is_double(self, value: cst.BaseExpression) -> bool:
        """`np.zeros(3)`, with no dtype given."""
        return (
            isinstance(value, cst.Call)
            and isinstance(value.func, cst.Attribute)
            and value.func.attr.value in DOUBLE
            and all(a.keyword is None or a.keyword.value != "dtype" for a in value.args)
            and (len(value.args) == 1 or value.func.attr.value not in ("zeros", "ones", "eye"))
        )
