from __future__ import annotations

from pt2lint.op import Op
from pt2lint.rule import GraphBreak, calls, is_tensor

BY_VALUES = "nonzero argwhere masked_select unique unique_consecutive bincount"


class DataDependentShape(GraphBreak):
    """The shape of the result depends on the values in the input.

    ## What happens
    `nonzero`, `torch.where` with one argument, `masked_select`, `unique`, `bincount`, `combinations`,
    `lstsq`, `ctc_loss` and `repeat_interleave` by a tensor return as many elements as the values ask for.
    Dynamo ends the graph and computes them (GB0036).

    ## Example
    ```python
    import torch

    def f(x):
        chosen = torch.nonzero(x > 0)
        return x * chosen.shape[0]

    args = (torch.tensor([1.0, -2.0, 3.0]),)
    ```

    ## Use instead
    A form of fixed shape: a count, `torch.where` with three arguments, `repeat_interleave(...,
    output_size=n)`:
    ```python
    import torch

    def f(x):
        chosen = torch.count_nonzero(x > 0)
        return x * chosen

    args = (torch.tensor([1.0, -2.0, 3.0]),)
    ```

    ## Versions
    Measured: breaks in default mode on torch 2.6 to 2.15 (`combinations` is fine on 2.15). With
    `fullgraph=True` most compile on 2.13 and 2.15, which turn on the capture of such shapes there
    (`torch._dynamo.config.capture_dynamic_output_shape_ops`).
    """

    code = "PTB121"
    name = "data-dependent-shape"
    aside = "row by row"
    waits = True
    ops = (
        *calls("torch", BY_VALUES),
        *calls("torch.Tensor", BY_VALUES),
        *calls("numpy", "nonzero flatnonzero unique where"),
        "call torch.linalg.lstsq",
        "call torch.nn.functional.ctc_loss",
        "forward torch.nn.CTCLoss",
        "call torch.where",
        "call torch.combinations",
        "call torch.repeat_interleave",
        "call torch.Tensor.repeat_interleave",
    )
    says = "the size of {code} depends on values in a tensor"
    repairs = ("unchecked", "position", "masked_loss", "experts", "mask", "sized", "disable")
    advice = "sizes.known_size"
    graph_breaks = ("GB0036",)

    INVALID = (
        "import numpy as np\nreturn x + np.where(x.numpy() > 0)[0].sum()",
        "return torch.linalg.lstsq(x, x)[0]",
        "return torch.where(m)[0].sum() + x",
        "return x.masked_select(m).sum() + x",
        "return torch.unique(i, return_inverse=True)[1].sum() + x",
        "return i.unique().numel() + x",
        "return torch.unique_consecutive(i).sum() + x",
        "return torch.bincount(i, minlength=5).sum() + x",
        "return x.repeat_interleave(i, dim=0).sum() + x",
        "return torch.repeat_interleave(i).sum() + x",
        "return x.repeat_interleave(i, dim=0, output_size=None).sum() + x",
        "return x[m.nonzero(as_tuple=True)].sum() + x",
    )
    VALID = (
        "return torch.where(m, x, -x)",
        "return x.where(m, -x)",
        "return x.repeat_interleave(2, dim=0)",
        "return x.repeat_interleave(i, dim=0, output_size=6).sum() + x",
        "return torch.nonzero_static(m, size=4).sum() + x",
        "return torch.cartesian_prod(i, i).sum() + x",
        "return x + len({1, 2}) + torch.histc(x, 4).sum()",
    )

    @classmethod
    def accepts(cls, op: Op) -> bool:
        if op.name.endswith(".where"):
            return len(op.args) == 1
        if op.name.endswith("repeat_interleave"):
            if "output_size" in op.args and "none" not in op.arg("output_size").split(" | "):
                return False
            method = "self" in op.args
            repeats = op.arg("repeats", 0 if method else 1)
            return is_tensor(repeats) or (not method and not repeats and is_tensor(op.arg(0)))
        return True
