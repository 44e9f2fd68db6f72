from __future__ import annotations

from pt2lint.rule import GraphBreak, calls


class TensorStorage(GraphBreak):
    """The address or the storage of a tensor is asked for.

    ## What happens
    Traced tensors have no memory: `data_ptr()` gives what Dynamo cannot compute with (GB3006), `storage()`,
    `is_shared()`, `storage_offset()` and `is_same_size()` give no tensor (GB0208). The graph ends.

    ## Example
    ```python
    import torch

    def f(x, y):
        if x.data_ptr() % 16 == 0:
            return torch.relu(x) + y
        return torch.relu(x.clone()) + y

    args = (torch.ones(2), torch.ones(2))
    ```

    ## Use instead
    Look at the object or the shape, not at the memory:
    ```python
    import torch

    def f(x, y):
        if x.is_contiguous():
            return torch.relu(x) + y
        return torch.relu(x.contiguous()) + y

    args = (torch.ones(2), torch.ones(2))
    ```

    ## Versions
    Measured: breaks on torch 2.6 to 2.15, in default mode and with `fullgraph=True`; `storage_offset()`
    is fine on 2.15.
    """

    code = "PTB108"
    name = "tensor-storage"
    ops = (
        *calls("torch.Tensor", "data_ptr storage storage_offset is_shared is_same_size"),
        *calls("torch.UntypedStorage", "data_ptr nbytes"),
    )
    says = "{code} asks for the memory behind a tensor"
    repairs = ("disable",)
    graph_breaks = ("GB3006", "GB0208")

    INVALID = (
        "return x + x.untyped_storage().nbytes() * 0",
        "return x + x.data_ptr() * 0",
        "x.storage()\nreturn x + 1",
        "return x + x.is_shared()",
    )
    VALID = ("return x + x.stride(0) + x.element_size()",)
