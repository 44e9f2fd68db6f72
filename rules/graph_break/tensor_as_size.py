from __future__ import annotations

from collections.abc import Iterable

import libcst as cst

from pt2lint.finding import Fix
from pt2lint.rule import GraphBreak


class TensorAsSize(GraphBreak):
    """A tensor stands where torch needs a Python number: a size, a bound of a slice, `range`, a scale, a diagonal.

    ## What happens
    Shapes have to be known while tracing, so Dynamo has to read the number out of the tensor: it ends the graph
    (GB0124, GB0033; GB0059 for `range`, GB0213 for a list times a tensor). The same goes for each other number that
    a function takes: `addcmul(..., value=t)`, `triu(x, t)`, `elu(x, t)`. Which do has been measured, one by one
    (`matrix/number_arguments.py`): `lerp`, `clamp`, `masked_fill` and `torch.full` take a tensor. A buffer that
    holds one float is read in this way too (`full_like(x, self.fill)`, of `torch.tensor(2.0)`); an int in a buffer is
    known while tracing.

    ## Example
    ```python
    import torch

    def f(x: torch.Tensor, lengths: torch.Tensor):
        longest = lengths.max()
        return x[:, :longest] * 2

    args = (torch.ones(2, 4), torch.tensor([2, 3]))
    ```

    ## Use instead
    Keep sizes as Python numbers, from the place where the data are made; a number that is an argument can be
    dynamic:
    ```python
    import torch

    def f(x: torch.Tensor, lengths: torch.Tensor, longest: int = 3):
        return x[:, :longest] * 2

    args = (torch.ones(2, 4), torch.tensor([2, 3]))
    ```

    ## Versions
    Measured: breaks in default mode on torch 2.6 to 2.15. With `fullgraph=True`, 2.13 and 2.15 compile
    sizes and slices; `range` and an index of a list fail everywhere. A whole number of NumPy's (of 64 bits) that
    compiled code is given ends the graph as a bound or an index on 2.6 and 2.9, and is known while tracing on 2.13 and
    2.15: it is not reported.
    """

    code = "PTB106"
    name = "tensor-as-size"
    waits = True
    ops = ("size tensor",)
    says = "{code} makes a size, an index or another Python number depend on values in a tensor"
    graph_breaks = ("GB0124", "GB0033", "GB0059", "GB0213")

    INVALID = (
        "class M(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.register_buffer('k', torch.tensor(2, dtype=torch.int))\n"
        "    def forward(self, x, m, i):\n        return x.topk(self.k)[0].sum() + torch.zeros(self.k).sum()\nf = M()",
        "return x + len([0] * i[2])",
        "return x + len((0,) * x.sum().long())",
        "return torch.zeros(i[2]).sum() + x",
        "return torch.arange(i.max()).sum() + x",
        "return x.view(i[1] * 4, -1)",
        "import numpy as np\nreturn x.view(2, -1).permute(list(np.argsort([1, 0]))) + 1",
        "import numpy as np\nreturn torch.permute(x.view(2, -1), tuple(np.argsort([1, 0]))) + 1",
        "for _ in range(i[2]):\n    x = x + 1\nreturn x",
        "table = [1.0, 2.0, 3.0, 4.0]\nreturn x + table[i[1]]",
        "return x[: i[2]].sum() + x",
        "rows = [slice(at, at + 2) for at in i]\nreturn x + len(rows)",
        "return x.topk(i[2])[0]",
        "return x.new_full((2, 4), x.min() - 1) + x.sum()",
        "return torch.full_like(x, x.max())",
        "return torch.nn.functional.pad(x, (1, 1), value=x.min())",
        "return torch.add(x, x, alpha=i[1])",
        "return torch.addcmul(x, x, x, value=x.mean())",
        "return torch.nn.functional.elu(x, x.mean())",
        "return torch.nn.functional.scaled_dot_product_attention(x[None], x[None], x[None], scale=x.mean())",
        "return x.clone().uniform_(0, x.max() + 1) * 0",
        "return torch.zeros(torch.ones(3).sum().int(), 2) + x.sum()",
        "class M(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.register_buffer('fill', torch.tensor(2.0))\n"
        "    def forward(self, x, m, i):\n        return torch.full_like(x, self.fill)\nf = M()",
        "import numpy as np\nclass M(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.k = np.max([0, 1])\n"
        "    def forward(self, x, m, i):\n        return x.flatten()[: self.k + 1].sum() + x\nf = M()",
        "import numpy as np\nclass M(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.shape = np.asarray([2, 2])\n"
        "    def forward(self, x, m, i):\n        return torch.zeros(*self.shape).sum() + x\nf = M()",
    )
    VALID = (
        "class M(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.register_buffer('k', torch.tensor(2, dtype=torch.long))\n"
        "    def forward(self, x, m, i):\n        return x.topk(self.k)[0].sum() + torch.zeros(self.k).sum()\nf = M()",
        "return x[i]",
        "return torch.full_like(x, torch.tensor(2.0))",
        "class M(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.register_buffer('fill', torch.tensor(2))\n"
        "    def forward(self, x, m, i):\n"
        "        return torch.add(torch.full_like(x, self.fill), x, alpha=self.fill)\nf = M()",
        "return torch.arange(len(x)) + x",
        "n = x.shape[0]\nreturn x.view(n // 2, -1, n)",
        "return x ** i[1]",
        "return x[: x.size(0) // 2]",
        "return x[slice(0, x.size(0) // 2)]",
        "return torch.full((2, 4), x.max()) + x.sum()",
        "return x.masked_fill(x > 0, x.max())",
        "return x.clamp(min=x.mean())",
        "return torch.lerp(x, x * 2, x.mean()) + torch.linspace(0, x.mean(), 4)",
        "return x.clone().add_(x, alpha=i[1])",
        "n = torch.ceil(torch.tensor(x.shape[0]) / 3).to(torch.int64) * 3\nreturn torch.zeros(1, n) + x.sum()",
        "return x.sum() + torch.zeros(torch.maximum(torch.tensor(3), torch.tensor(x.shape[1])).long())",
        "import numpy as np\nclass M(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        shape = np.asarray([2, 2]) * 2\n        self.shape, self.rows = tuple(shape), [torch.tensor(4)]\n"
        "    def forward(self, x, m, i):\n"
        "        return torch.zeros(*self.shape).sum() + x.view(*self.rows, -1)\nf = M()",
        "import numpy as np\nclass M(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.k, self.names = np.max([1, 2]), [3.0, 4.0, 5.0]\n"
        "    def forward(self, x, m, i):\n        return x.flatten()[: self.k].sum() + x * self.names[self.k]\nf = M()",
        "return x.view(x.size(0), -1) + torch.zeros(torch.div(x.size(0), 2, rounding_mode='trunc'), 1, 1).sum()",
    )

    def fixes(self, node: cst.CSTNode) -> Iterable[Fix]:
        """Dynamo can keep sizes and bounds as symbols, but neither count by one nor look into a list."""
        from pt2lint.fixes.by_hand import numbers
        from pt2lint.fixes.repaired import accepted
        from pt2lint.fixes.repairs import disable, in_math, index, sized, window
        from pt2lint.fixes.repairs.settings import capture_scalars

        repairs = (in_math, index, window, sized)
        found = [fix for each in repairs for fix in each.fixes(self.function, node)]
        yield from found or numbers.number(self.function, node)
        yield from disable.fixes(self.function, node)
        called = isinstance(node, cst.Call) and self.text(node.func) != "range"
        if any("uncaptured" in op.details for op in self.function.ops_at(node)):
            return  # with the setting, compiling it raises
        if called or isinstance(self.function.parent(node), cst.Slice):
            yield from accepted(capture_scalars(self.function))
