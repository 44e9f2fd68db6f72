from __future__ import annotations

from types import MappingProxyType

from pt2lint.op import Op
from pt2lint.rule import GraphBreak, calls, is_tensor

CLOSE = "Keep the answer in a tensor: `torch.isclose(a, b).all()`, given to `torch.where` or `torch.cond`"
EQUAL = "Keep the answer in a tensor: `(a == b).all()`, given to `torch.where` or `torch.cond`"


class TensorEquality(GraphBreak):
    """`torch.equal`, `torch.allclose` and `is_nonzero` answer with a Python bool.

    ## What happens
    The answer depends on the values, which are not known while tracing: Dynamo ends the graph and asks
    (GB0033; GB0124 for `torch._check_tensor_all`, which reads whether all hold; GB0170 for
    `torch.testing.assert_close`).

    ## Example
    ```python
    import torch

    def f(x, y):
        scale = 2.0 if torch.equal(x, y) else 1.0
        return x * scale

    args = (torch.ones(3), torch.ones(3))
    ```

    ## Use instead
    Keep the answer in a tensor:
    ```python
    import torch

    def f(x, y):
        scale = torch.where((x == y).all(), 2.0, 1.0)
        return x * scale

    args = (torch.ones(3), torch.ones(3))
    ```

    ## Versions
    Measured: breaks on torch 2.6 to 2.15, in default mode and with `fullgraph=True`; `torch._assert` is
    fine on 2.15.
    """

    code = "PTB111"
    name = "tensor-equality"
    step = True
    waits = True
    ops = (
        *calls("torch", "equal allclose is_nonzero _check_tensor_all _check_tensor_all_with"),
        *calls("torch.Tensor", "equal allclose is_nonzero"),
        "call torch.testing.assert_close",
        "call torch._assert",
    )
    says = "{code} asks for a Python bool that depends on values in a tensor"
    repairs = ("guard", "unchecked", "disable")
    instead = MappingProxyType(
        {
            "call torch.testing": "Check the result around the call of the compiled function",
            "call torch.is_nonzero": (
                "Keep the answer in a tensor: `t != 0`, given to `torch.where` or `torch.cond`"
            ),
            "call torch.allclose": CLOSE,
            "call torch.Tensor.allclose": CLOSE,
            "call torch.equal": EQUAL,
            "call torch.Tensor.equal": EQUAL,
        }
    )
    graph_breaks = ("GB0033", "GB0124", "GB0170")

    INVALID = (
        "if torch.allclose(x, x):\n    return x + 1\nreturn x",
        "return x + x.equal(x)",
        "return x + torch.is_nonzero(x.sum())",
        "torch.testing.assert_close(x, x)\nreturn x + 1",
        "torch._check_tensor_all(x < 99, lambda: 'large')\nreturn x + 1",
    )
    VALID = (
        "return x + torch.eq(x, x)",
        "return x + torch.isclose(x, x)",
        "return x * 2 if torch.is_floating_point(x) else x",
        "torch._assert(x.dim() == 2, 'a')\nreturn x",
    )

    @classmethod
    def accepts(cls, op: Op) -> bool:
        return op.name != "call torch._assert" or is_tensor(op.arg(0, "condition"))
