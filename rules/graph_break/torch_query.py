from __future__ import annotations

from pt2lint.rule import GraphBreak, calls


class TorchQuery(GraphBreak):
    """A function of torch answers with a plain Python value that Dynamo does not know.

    ## What happens
    Dynamo has an answer of its own for what models ask most (`x.dtype`, `x.is_contiguous()`,
    `torch.is_grad_enabled()`, `torch.cuda.is_available()`). Where it has none, it ends the graph: GB0208
    where the answer is no tensor, GB0007 where it does not trace the function, GB0045 and GB0046 for
    inference mode, GB0126 for `resize_`.

    ## Example
    ```python
    import torch

    def f(x, log):
        y = torch.relu(x)
        log.append(torch.cuda.memory_allocated())
        return y * 2

    args = (torch.tensor([1.0, -2.0]), [])
    ```

    ## Use instead
    Ask before or after the compiled call:
    ```python
    import torch

    def f(x, log):
        y = torch.relu(x)
        return y * 2

    args = (torch.tensor([1.0, -2.0]), [])
    ```

    ## Versions
    Measured: breaks on torch 2.6 to 2.15, in default mode and with `fullgraph=True`;
    `torch.backends.mps.is_available` is fine on 2.15, `is_inference()` on 2.6.
    """

    code = "PTB186"
    name = "torch-query"
    ops = (
        *calls("torch", "get_num_threads can_cast result_type get_default_device from_dlpack"),
        *calls("torch", "is_inference_mode_enabled is_conj"),
        *calls("torch.cuda", "memory_allocated max_memory_allocated memory_reserved device_count"),
        *calls("torch.Tensor", "is_inference is_conj is_pinned resize_"),
        "call torch.backends.mps.is_available",
        "call torch.hub.get_dir",
    )
    says = "{code} asks torch for what Dynamo does not know"
    repairs = ("disable",)
    since = {"call torch.Tensor.is_inference": (2, 9)}
    until = {"call torch.backends.mps.is_available": (2, 15)}
    graph_breaks = ("GB0208", "GB0007", "GB0045", "GB0046", "GB0126")

    INVALID = (
        "return x.to(torch.result_type(x, 1)) + 1",
        "return x + torch.is_inference_mode_enabled()",
        "y = x.clone()\ny.resize_(2, 2)\nreturn y",
    )
    VALID = (
        "return x * 2 if torch.is_grad_enabled() and not torch.cuda.is_available() else x",
        "return x.to(torch.get_default_dtype()) + x.get_device()",
    )
