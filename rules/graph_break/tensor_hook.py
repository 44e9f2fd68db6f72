from __future__ import annotations

from types import MappingProxyType

from pt2lint.rule import GraphBreak, calls


class TensorHook(GraphBreak):
    """A hook is registered in compiled code.

    ## What happens
    A hook is a function of Python that autograd or a module calls later. Dynamo cannot keep its handle in
    the graph (GB0013, GB0467), nor the hook of a tensor that it makes itself (GB8985), nor
    `retain_grad()` (GB0108).

    ## Example
    ```python
    import torch

    lin = torch.nn.Linear(2, 2)
    seen = []

    def f(x):
        lin.register_forward_hook(lambda module, inputs, output: seen.append(1))
        y = lin(x)
        return y * 2

    args = (torch.ones(1, 2),)
    ```

    ## Use instead
    Register hooks before the function is compiled: Dynamo traces those that it finds:
    ```python
    import torch

    lin = torch.nn.Linear(2, 2)
    lin.register_forward_hook(lambda module, inputs, output: None)

    def f(x):
        y = lin(x)
        return y * 2

    args = (torch.ones(1, 2),)
    ```

    ## Versions
    Measured: hooks of modules break on torch 2.6 to 2.15, in default mode and with `fullgraph=True`;
    `retain_grad()` from 2.9 on; `register_hook` of a tensor on 2.6 and 2.9 only.
    """

    code = "PTB162"
    name = "tensor-hook"
    ops = (
        *calls("torch.Tensor", "register_hook retain_grad"),
        *calls(
            "torch.nn.Module", "register_forward_hook register_forward_pre_hook register_full_backward_hook"
        ),
    )
    says = "{code} registers a hook inside compiled code"
    instead = MappingProxyType(
        {
            "call torch.Tensor.retain_grad": (
                "Return the tensor too, and ask outside: `torch.autograd.grad(loss, tensor)`"
            ),
            "call torch.Tensor.register_hook": (
                "Change the gradient where it passes, in an `autograd.Function` that returns its input; "
                "Dynamo traces that"
            ),
            "": "Register it before the function is compiled: Dynamo traces the hooks that it finds",
        }
    )
    graph_breaks = ("GB0013", "GB0467", "GB0108")

    INVALID = (
        "w = torch.ones(4, requires_grad=True)\n"
        "def f(x: torch.Tensor, m, i):\n    y = x * w\n    y.retain_grad()\n    return y",
    )
    VALID = ("return x + (0 if x.grad is None else x.grad)",)
