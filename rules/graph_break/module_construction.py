from __future__ import annotations

from types import MappingProxyType

from pt2lint.op import Op
from pt2lint.rule import GraphBreak

LAYERS = (
    "Linear Bilinear Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d BatchNorm1d "
    "BatchNorm2d BatchNorm3d SyncBatchNorm LayerNorm GroupNorm RMSNorm Embedding EmbeddingBag PReLU LSTM GRU "
    "RNN LSTMCell GRUCell RNNCell MultiheadAttention Transformer TransformerEncoderLayer "
    "TransformerDecoderLayer"
)
WITH_PARAMETERS = frozenset(f"torch.nn.{name}" for name in LAYERS.split())


class ModuleConstruction(GraphBreak):
    """A module with parameters is made in compiled code.

    ## What happens
    New parameters cannot come into being in the middle of a graph: Dynamo ends it (GB0264); the same goes for
    `nn.Parameter` of a tensor that the graph computes. Such a layer
    is also new, and untrained, in every call. Modules without parameters (`nn.ReLU()`,
    `nn.Softmax(dim=-1)`) are fine.

    ## Example
    ```python
    import torch

    def f(x):
        project = torch.nn.Linear(2, 2)
        return project(x) * 0

    args = (torch.ones(1, 2),)
    ```

    ## Use instead
    Make it in `__init__`:
    ```python
    import torch

    class Projected(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.project = torch.nn.Linear(2, 2)

        def forward(self, x):
            return self.project(x) * 0

    f = Projected()
    args = (torch.ones(1, 2),)
    ```

    ## Versions
    Measured: breaks on torch 2.6 to 2.15, in default mode and with `fullgraph=True`;
    `nn.Parameter` of a computed tensor from 2.9 on.
    """

    code = "PTB181"
    name = "module-construction"
    step = True
    ops = ("make torch.nn.Module", "make torch.nn.Parameter")
    says = "{code} makes parameters inside compiled code"
    instead = MappingProxyType(
        {
            "": "Make it in `__init__`",
        }
    )
    graph_breaks = ("GB0264",)

    INVALID = (
        "return torch.nn.Parameter(torch.ones(4)) + x",
        "return torch.nn.Parameter(x.clone()) + x",
        "return torch.nn.Embedding(4, 4)(i) * 0",
        "from torch import nn\nclass Block(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.layer = nn.Linear(4, 4)\n    def forward(self, x):\n        return self.layer(x)\n"
        "def f(x, m, i):\n    return Block()(x) * 0",
    )
    VALID = (
        "return torch.nn.Parameter(x) + 1",
        "return torch.nn.ReLU()(x) + torch.nn.Softmax(dim=-1)(x)",
        "return torch.nn.MSELoss()(x, x)",
        "return torch.nn.LayerNorm(4, elementwise_affine=False)(x)",
        # a module that is given its layer makes none
        "from torch import nn\nclass Each(nn.Module):\n    def __init__(self, layer):\n        super().__init__()\n"
        "        self.layer = layer\n    def forward(self, x):\n        return self.layer(x)\n"
        "class F(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.layer = nn.Linear(4, 4)\n"
        "    def forward(self, x, m, i):\n        return Each(self.layer)(x)\nf = F()",
    )

    @classmethod
    def accepts(cls, op: Op) -> bool:
        if op.name == "make torch.nn.Parameter":
            return True
        plain = "constant False" in (op.arg("elementwise_affine"), op.arg("affine"))
        return not plain and bool(WITH_PARAMETERS & set(op.detail("made").split()))
