from __future__ import annotations

from types import MappingProxyType

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import GraphBreak

CONTAINERS = ("list of", "dict of", "tuple of")


class DeepcopyCall(GraphBreak):
    """`copy.deepcopy` in compiled code ends the graph.

    ## What happens
    Dynamo does not trace the copy of a tensor, of a module, or of what holds one (GB4198): it ends the
    graph and lets Python copy. The break is logged at a line of `copy.py`; yours is further up the stack.

    ## Example
    ```python
    import copy
    import torch

    def f(x):
        y = torch.relu(x)
        kept = copy.deepcopy(y)
        return y.mul_(2) + kept

    args = (torch.tensor([1.0, -2.0]),)
    ```

    ## Use instead
    `.clone()`, which also keeps the gradient (`.detach().clone()` to leave it out). Copy a module in
    `__init__`.
    ```python
    import torch

    def f(x):
        y = torch.relu(x)
        kept = y.clone()
        return y.mul_(2) + kept

    args = (torch.tensor([1.0, -2.0]),)
    ```

    ## Versions
    Measured: a tensor, a module, a container of them or of arrays or an object that holds them breaks on torch 2.6 to
    2.15 (a container of arrays: GB0055). One of plain values of Python breaks on 2.6 and 2.9 only (GB0179).
    """

    code = "PTB130"
    name = "deepcopy-call"
    ops = ("call copy.deepcopy",)
    says = "{code} copies a tensor outside the graph"
    repairs = ("copying", "disable")
    instead = MappingProxyType(
        {
            "": (
                "Copy a module in `__init__`, before the compiled code runs; of an object make a new one, "
                "with a `.clone()` of each tensor"
            ),
        }
    )
    graph_breaks = ("GB4198", "GB0179", "GB0055")

    INVALID = (
        "from copy import deepcopy\nreturn deepcopy({'a': x})['a'] + 1",
        "import copy\nlin = torch.nn.Linear(4, 4)\ndef f(x, m, i):\n    return copy.deepcopy(lin)(x)",
        "import copy\nclass Kept:\n    def __init__(self, t):\n        self.t = t\ndef f(x, m, i):\n"
        "    return copy.deepcopy(Kept(torch.relu(x))).t",
        "import copy\nkept = [0]\nfor row in x.numpy():\n    kept.append(row + 1)\n"
        "return x + copy.deepcopy(kept[1:])[0]",
    )
    VALID = (
        "import copy\nreturn x + copy.deepcopy([1, 2])[0]",
        "import copy\nclass M(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.a = copy.deepcopy(torch.nn.Linear(4, 4))\n    def forward(self, x, m, i):\n"
        "        return self.a(x)\nf = M()",
    )

    def check(self, node: cst.CSTNode, op: Op) -> None:
        copied = op.arg(0, "x")
        if "tensor" in copied or "module" in copied or "torch.nn." in copied:
            self.breaks(node, op, self.says)
        elif copied.startswith(CONTAINERS) and "array" in copied:
            self.breaks(node, op, "{code} copies arrays, tensors to Dynamo, outside the graph")
        elif copied.startswith(CONTAINERS):
            self.breaks(node, op, "{code} is a copy that Dynamo does not trace", f"{op.name} of plain values")
