from __future__ import annotations

from pt2lint.rule import GraphBreak, calls


class SparseTensor(GraphBreak):
    """Sparse tensors are made in compiled code.

    ## What happens
    Dynamo does not trace sparse tensors: it gives up the function that makes one (GB0015, GB0277 before
    2.13).

    ## Example
    ```python
    import torch

    def f(x):
        return torch.sparse.mm(x.to_sparse(), x) * 2

    args = (torch.eye(3),)
    ```

    ## Use instead
    A dense tensor, or the sparse product in a function that is not compiled:
    ```python
    import torch

    def f(x):
        return torch.mm(x, x) * 2

    args = (torch.eye(3),)
    ```

    ## Versions
    Measured: breaks on torch 2.6 to 2.15, in default mode and with `fullgraph=True`; `to_sparse()` and
    `to_sparse_csr()` from 2.9 on, `to_sparse_coo()` from 2.13 on.
    """

    code = "PTB170"
    name = "sparse-tensor"
    ops = (
        *calls("torch.Tensor", "to_sparse to_sparse_coo to_sparse_csr"),
        *calls("torch", "sparse_coo_tensor sparse_csr_tensor sparse_csc_tensor sparse_bsr_tensor"),
    )
    says = "{code} makes a sparse tensor, which Dynamo does not trace"
    repairs = ("disable",)
    graph_breaks = ("GB0015", "GB0277")

    INVALID = (
        "return x.to_sparse().to_dense()",
        "return torch.sparse_coo_tensor(i[None], x[0], (4,)).to_dense()",
    )
