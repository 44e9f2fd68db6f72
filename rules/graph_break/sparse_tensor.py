from __future__ import annotations

from types import MappingProxyType

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import GraphBreak, calls


class SparseTensor(GraphBreak):
    """Sparse tensors are made or used in compiled code.

    ## What happens
    Dynamo does not trace sparse tensors: it gives up the function that makes one (GB0015, GB0277 before
    2.13), and the function that is given one, or reads one that was made outside, and computes with it. So it does
    with every function on the way there: a model that hands it on to its layers is not compiled.

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
        "call torch.sparse.FloatTensor",
        "use sparse",
    )
    says = "{code} makes a sparse tensor, which Dynamo does not trace"
    repairs = ("disable",)
    aside = "always"
    instead = MappingProxyType(
        {
            "": (
                "Keep it dense, or gather and `index_add_` by the indices; or multiply in a function that "
                "is not compiled"
            ),
        }
    )
    graph_breaks = ("GB0015", "GB0277")

    INVALID = (
        "return x.to_sparse().to_dense()",
        "return torch.sparse_coo_tensor(i[None], x[0], (4,)).to_dense()",
        "return torch.sparse.FloatTensor(i[None], x[0], torch.Size([4])).to_dense()",
        "graph = torch.eye(4).to_sparse()\ndef f(x, m, i):\n    return torch.sparse.mm(graph, x)",
        "class M(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.register_buffer('graph', torch.eye(4).to_sparse())\n"
        "    def forward(self, x, m, i):\n        return torch.sparse.mm(self.graph, x)\nf = M()",
    )
    VALID = (
        "return x.coalesce() + 1 if x.is_sparse else x + 1",
        "graph = torch.eye(4).to_sparse().to_dense()\ndef f(x, m, i):\n    return torch.mm(graph, x)",
        "graph = torch.eye(4)\ndef f(x, m, i):\n    return torch.spmm(graph, x)",
    )

    def check(self, node: cst.CSTNode, op: Op) -> None:
        says = (
            "{code} uses a sparse tensor, which Dynamo does not trace"
            if op.name == "use sparse"
            else self.says
        )
        self.breaks(node, op, says)
