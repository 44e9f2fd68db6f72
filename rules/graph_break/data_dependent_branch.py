from __future__ import annotations

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import GraphBreak

CONSTRUCTS = {
    "If": "this `if`",
    "IfExp": "a conditional expression",
    "While": "this `while`",
    "CompIf": "a comprehension",
    "Assert": "this `assert`",
}


class DataDependentBranch(GraphBreak):
    """A condition depends on the values in a tensor.

    ## What happens
    While it traces, Dynamo knows a tensor's shape and dtype, not its values: it cannot tell which way the
    code goes. It ends the graph, runs it, looks at the value and compiles what comes after each outcome
    on its own (GB0170). The same holds for `while`, a conditional expression, `and`, `or` and `not`, a
    condition in a comprehension, and `any()` and `all()` over tensors; `bool()` reads the value (GB0124),
    and so does `not` (GB0033). Each break also makes the CPU wait for the GPU.

    ## Example
    ```python
    import torch

    def f(x):
        if torch.isinf(x).any():
            x = torch.clamp(x, -1e4, 1e4)
        return x * 2

    args = (torch.tensor([1.0, float("inf")]),)
    ```

    ## Use instead
    Compute both and choose, or leave the choice to `torch.cond`, which runs one of them:
    ```python
    import torch

    def f(x):
        x = torch.where(torch.isinf(x).any(), torch.clamp(x, -1e4, 1e4), x)
        return x * 2

    args = (torch.tensor([1.0, float("inf")]),)
    ```
    In the modes "reduce-overhead" and "max-autotune" a graph with `torch.cond` is not run as a CUDA graph; one that
    computes both is. A check can stay in the graph as `torch._assert_async(torch.isfinite(x).all(), "not finite")`.

    ## Versions
    Measured: breaks on torch 2.6 to 2.15, in default mode and with `fullgraph=True`.
    """

    code = "PTB110"
    name = "data-dependent-branch"
    step = True
    waits = True
    ops = ("test tensor",)
    repairs = ("in_math", "guard", "flag", "experts", "branch", "operator", "disable")
    advice = "branches.decided_before"
    graph_breaks = ("GB0170", "GB0124", "GB0033")

    INVALID = (
        "import random\nRNG = random.Random(3)\ndef f(x, m, i):\n    x = x.sin()\n"
        "    if RNG.randrange(4) > 1:\n        x = x.cos()\n    return x.tan()",
        "return x + 1 if x.sum() > 0 else x - 1",
        "n = 0\nwhile x.sum() < 9 and n < 3:\n    x = x + 1\n    n += 1\nreturn x",
        "if not torch.isfinite(x).all():\n    raise ValueError('a')\nreturn x + 1",
        "return x + (not (x.sum() > 0))",
        "return x + ((x.sum() > 0) and (x.sum() < 5))",
        "return x + all([x.sum() > 0, x.mean() > 0])",
        "return x + any(v > 0 for v in x.sum(0))",
        "return x + len([v for v in i if v > 1])",
        "return x + bool(x.sum() > 0)",
        "return x + len(list(filter(lambda t: t.sum() > 0, [x, -x])))",
        "match i[1]:\n    case 1:\n        x = x + 1\nreturn x",
        "return x + (2 in i)",
        "assert x.sum() > -100 and x.dim() == 2\nreturn x + 1",
    )
    VALID = (
        "return x if x is not None else m",
        "if x.shape[0] > 1 and x.dim() == 2 and x.dtype == torch.float32:\n    x = x + 1\nreturn x",
        "class M(torch.nn.Module):\n    def forward(self, x, m, i):\n"
        "        return x * 2 if self.training else x\nf = M()",
        "assert x.sum() > -100, 'too small'\nreturn x",
        "assert x.ndim == 3 or (x.ndim == 2 and x.sum() > -100), 'too small'\nreturn x",
        "return x if isinstance(x, torch.Tensor) and x.is_contiguous() else x + 1",
        "return max(x.sum(), x.mean())",
        "return x + len(list(filter(lambda n: n > 0, [1, 2])))",
        "match x.dim():\n    case 2:\n        x = x + 1\nreturn x",
        "from torch.compiler import is_compiling\nreturn x * 2 if is_compiling or (x != -1).any() else x",
    )

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if isinstance(node, cst.Call) and self.text(node.func) in ("any", "all", "bool"):
            self.breaks(node, op, "{code} asks a tensor for its truth value")
        else:
            self.breaks(node, op, f"{{code}} makes {self._construct(node)} depend on values in a tensor")

    def _construct(self, node: cst.CSTNode) -> str:
        owner = self._decided(node)
        if words := CONSTRUCTS.get(type(owner).__name__):
            return words
        parent = self.function.parent(node)
        if isinstance(parent, cst.BooleanOperation):
            return "`and`" if isinstance(parent.operator, cst.And) else "`or`"
        return "`not`" if isinstance(parent, cst.UnaryOperation) else "a condition"

    def _decided(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """The statement or expression whose condition the node is or is part of."""
        child, here = node, self.function.parent(node)
        while isinstance(here, cst.BooleanOperation | cst.UnaryOperation):
            child, here = here, self.function.parent(here)
        return here if here is not None and getattr(here, "test", None) is child else None
