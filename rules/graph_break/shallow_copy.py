from __future__ import annotations

from pt2lint.op import Op
from pt2lint.rule import GraphBreak, is_tensor


class ShallowCopy(GraphBreak):
    """`copy.copy` in compiled code ends the graph.

    ## What happens
    Dynamo does not trace the copy of a tensor (GB0208), a list or a dictionary (GB0007) or a module (GB0008).

    ## Example
    ```python
    import copy
    import torch

    def f(x):
        parts = {"a": torch.relu(x)}
        mine = copy.copy(parts)
        mine["b"] = x
        return mine["a"] + mine["b"]

    args = (torch.tensor([1.0, -2.0]),)
    ```

    ## Use instead
    The container's own way: `dict(d)`, `list(l)`, `d.copy()`; `t.clone()` or `t.detach()` for a tensor:
    ```python
    import torch

    def f(x):
        parts = {"a": torch.relu(x)}
        mine = dict(parts)
        mine["b"] = x
        return mine["a"] + mine["b"]

    args = (torch.tensor([1.0, -2.0]),)
    ```

    ## Versions
    Measured: breaks on torch 2.6 to 2.15, in default mode and with `fullgraph=True`. A copy of another object
    breaks on 2.6 and 2.9 only, and is not reported.
    """

    code = "PTB131"
    name = "shallow-copy"
    ops = ("call copy.copy",)
    says = "{code} is a copy that Dynamo does not trace"
    repairs = ("copying", "disable")
    graph_breaks = ("GB0208", "GB0007", "GB0008")

    INVALID = (
        "from copy import copy\nreturn copy(x) + 1",
        "import copy\nreturn x + copy.copy([1, 2])[0]",
    )
    VALID = (
        "return x + {'a': 1}.copy()['a'] + list((1, 2))[0]",
        "from copy import copy\ndef f(x, m, i, more=None):\n    kept = copy(more)\n"
        "    return x + 1 if more is None else x + more.mT + kept",
    )

    @classmethod
    def accepts(cls, op: Op) -> bool:
        copied = op.arg(0, "x")
        if "none" in copied.split(" | "):
            return False  # None is traced, and nothing says when it is something else
        return is_tensor(copied) or copied.startswith(("list of", "dict of", "module", "torch.nn."))
