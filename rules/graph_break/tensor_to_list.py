from __future__ import annotations

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import GraphBreak


class TensorToList(GraphBreak):
    """`.tolist()` reads every number out of a tensor.

    ## What happens
    Dynamo knows the shape, not the values: it ends the graph and lets Python make the list (GB0109 for floats and
    booleans, GB0033 for ints).

    ## Example
    ```python
    import torch

    def f(x):
        total = 0.0
        for v in x.sum(0).tolist():
            total = total + v
        return x / total

    args = (torch.tensor([[1.0, 2.0], [3.0, 4.0]]),)
    ```

    ## Use instead
    Iterate over the tensor itself, or compute with it:
    ```python
    import torch

    def f(x):
        total = 0.0
        for v in x.sum(0):
            total = total + v
        return x / total

    args = (torch.tensor([[1.0, 2.0], [3.0, 4.0]]),)
    ```
    Sizes that go to `torch.split` and the like are best kept as Python numbers from the start.

    ## Versions
    Measured: of floats and booleans, breaks on torch 2.6 to 2.15. Of ints it is fine on 2.6 and
    2.9 and breaks in default mode on 2.13 and 2.15.
    """

    code = "PTB105"
    name = "tensor-to-list"
    waits = True
    ops = ("call torch.Tensor.tolist", "call numpy.ndarray.tolist")
    says = "{code} moves values from the tensor to Python"
    repairs = (
        "unchecked",
        "train_step",
        "counting",
        "passed_on",
        "scalar",
        "operator",
        "disable",
    )
    advice = "numbers.as_tensor"
    graph_breaks = ("GB0109", "GB0033")

    INVALID = (
        "return x + x[0].tolist()[0]",
        "return torch.split(x, i[1:3].tolist() + [1])[0]",
        "return x + m.tolist()[0][0]",
    )
    VALID = (
        "return sum(list(x))",
        "sizes = list(x.shape)\nreturn x.reshape(sizes)",
    )

    def check(self, node: cst.CSTNode, op: Op) -> None:
        whole = op.arg("self") in ("tensor:int", "array:int")
        self.breaks(node, op, self.says, f"{op.name} of whole numbers" if whole else "")
