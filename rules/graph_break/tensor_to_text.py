from __future__ import annotations

from types import MappingProxyType

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import GraphBreak, is_tensor

ASKS = frozenset("len str repr int float sorted list getattr".split())


class TensorToText(GraphBreak):
    """Text made of a tensor needs its values.

    ## What happens
    `str(t)` and `repr(t)` (of a list or dictionary with one, too), `"%s" % t`, and `"{}".format(t)` and an f-string
    whose text is used read the values (one that is only kept or returned does not): the graph ends (GB0569, GB0088,
    GB0208). So do its methods, and `", ".join(...)` of such texts (GB0156). Text made of shapes, dtypes and devices
    is fine.

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
    graph_breaks = ("GB0569", "GB0088", "GB0208", "GB0156")

    INVALID = (
        "return x + len(repr(x))",
        "return x + len('%s' % x)",
        "return x + len('{}'.format(x))",
        "text = f'{x}'.upper()\nreturn x + 1",
        "text = str([x, 1])\nreturn x + 1",
        "text = repr({'x': x})\nreturn x + 1",
        "text = ', '.join(f'{k}: {v:.3f}' for k, v in {'sum': x.sum()}.items())\nreturn x + 1",
        "text = ', '.join(['sum', '{:.3f}'.format(x.sum())])\nreturn x + 1",
    )
    VALID = (
        "return x + len(f'{x.shape} {x.dtype}')",
        "return x + len(str(x.shape))",
        "text = str({'shape': list(x.shape), 'dim': (x.dim(),)})\nreturn x + 1",
        "text = [f'{x}', f'{x.sum()}']\nreturn x + 1",
        "text = ', '.join(f'{n}' for n in x.shape if str(n))\nreturn x + 1",
        "if x.dim() != 2:\n    raise ValueError(f'{x}')\nreturn x",
    )

    def check(self, node: cst.CSTNode, op: Op) -> None:
        lazy = op.name != "format tensor" or isinstance(node, cst.BaseString)
        if lazy and not self.is_used(node):
            op = op._replace(sure=False)
        super().check(node, op)

    def is_used(self, node: cst.CSTNode) -> bool:
        """Whether the text is asked for something where it is made: Dynamo formats lazily, and one that is only kept,
        returned or put into a collection does not end the graph."""
        inner, around = node, self.function.parent(node)
        while isinstance(around, cst.Element | cst.List | cst.Tuple) or (
            isinstance(around, cst.BaseSimpleComp) and around.elt is inner
        ):
            inner, around = around, self.function.parent(around)
        if isinstance(around, cst.Arg):
            call = self.function.parent(around)
            asked = call.func if isinstance(call, cst.Call) else None
            if isinstance(asked, cst.Attribute):
                return isinstance(asked.value, cst.SimpleString) and asked.attr.value == "join"
            return inner is node and isinstance(asked, cst.Name) and asked.value in ASKS
        if isinstance(around, cst.BinaryOperation) and self.function.target >= (2, 13):
            return False  # it adds texts that it has not made yet
        uses = cst.Attribute | cst.Comparison | cst.ComparisonTarget | cst.BinaryOperation
        return inner is node and isinstance(around, uses)

    @classmethod
    def accepts(cls, op: Op) -> bool:
        given = (word for key, word in op.args.items() if key != "self")
        return op.name == "format tensor" or any(is_tensor(word) for word in given)
