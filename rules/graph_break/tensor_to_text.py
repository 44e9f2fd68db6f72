from __future__ import annotations

from types import MappingProxyType

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import GraphBreak, is_tensor

ASKS = frozenset("len str repr int float sorted list getattr".split())


class TensorToText(GraphBreak):
    """Text made of a tensor needs its values.

    ## What happens
    `str(t)`, `repr(t)`, `"%s" % t`, and `"{}".format(t)` and an f-string whose text is used read the values (one
    that is only kept or returned does not): the graph ends (GB0569, GB0088, GB0208). Text made of shapes, dtypes
    and devices is fine.

    ## Example
    ```python
    import torch

    def f(x, log):
        y = x.sum()
        log.append(str(y))
        return x - y

    args = (torch.tensor([1.0, 2.0]), [])
    ```

    ## Use instead
    Hand the tensor out and make the text outside:
    ```python
    import torch

    def f(x, log):
        y = x.sum()
        log.append(y)
        return x - y

    args = (torch.tensor([1.0, 2.0]), [])
    ```

    ## Versions
    Measured: breaks on torch 2.6 to 2.15, in default mode and with `fullgraph=True`.
    """

    code = "PTB107"
    name = "tensor-to-text"
    waits = True
    ops = ("format tensor", "call builtins.str.format")
    says = "{code} makes text of a tensor's values"
    instead = MappingProxyType(
        {
            "": "Return the tensor, and make the text of it in the caller",
        }
    )
    graph_breaks = ("GB0569", "GB0088", "GB0208")

    INVALID = (
        "return x + len(repr(x))",
        "return x + len('%s' % x)",
        "return x + len('{}'.format(x))",
    )
    VALID = (
        "return x + len(f'{x.shape} {x.dtype}')",
        "return x + len(str(x.shape))",
        "if x.dim() != 2:\n    raise ValueError(f'{x}')\nreturn x",
    )

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if op.name != "format tensor" and not self.is_used(node):
            op = op._replace(sure=False)
        super().check(node, op)

    def is_used(self, node: cst.CSTNode) -> bool:
        """Whether the text is asked for something where it is made: Dynamo formats lazily, and one that is only kept,
        returned or put into a collection does not end the graph."""
        around = self.function.parent(node)
        if isinstance(around, cst.Arg):
            call = self.function.parent(around)
            return isinstance(call, cst.Call) and isinstance(call.func, cst.Name) and call.func.value in ASKS
        return isinstance(around, cst.Attribute | cst.Comparison | cst.ComparisonTarget | cst.BinaryOperation)

    @classmethod
    def accepts(cls, op: Op) -> bool:
        given = (word for key, word in op.args.items() if key != "self")
        return op.name == "format tensor" or any(is_tensor(word) for word in given)
