from __future__ import annotations

from types import MappingProxyType

from pt2lint.op import Op
from pt2lint.rule import GraphBreak


class NestedTensor(GraphBreak):
    """Nested tensors of the strided layout are made in compiled code.

    ## What happens
    Dynamo does not trace them: it gives up the function that makes one (GB0090, GB0016).

    ## Example
    ```python
    import torch

    def f(x, y):
        return torch.nested.as_nested_tensor([x, y]).to_padded_tensor(0.0) * 2

    args = (torch.ones(2), torch.ones(3))
    ```

    ## Use instead
    The jagged layout, which is traced, or padding:
    ```python
    import torch
    import torch.nn.functional as F

    def f(x, y):
        both = torch.stack([F.pad(x, (0, y.shape[0] - x.shape[0])), y])
        return both * 2

    args = (torch.ones(2), torch.ones(3))
    ```

    ## Versions
    Measured: breaks on torch 2.6 to 2.15, in default mode and with `fullgraph=True`; with
    `layout=torch.jagged` it compiles.
    """

    code = "PTB171"
    name = "nested-tensor"
    ops = ("call torch.nested.nested_tensor", "call torch.nested.as_nested_tensor")
    says = "{code} makes a strided nested tensor, which Dynamo does not trace"
    repairs = ("disable",)
    instead = MappingProxyType(
        {
            "": "Say `layout=torch.jagged`, which is traced, or pad",
        }
    )
    graph_breaks = ("GB0090", "GB0016")

    VALID = (
        "return torch.nested.nested_tensor([x[0], x[1]], layout=torch.jagged).values()",
        "return torch.nested.nested_tensor_from_jagged(x, torch.tensor([0, 2, 4])).values()",
    )

    @classmethod
    def accepts(cls, op: Op) -> bool:
        return not op.arg("layout")
