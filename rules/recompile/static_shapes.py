from __future__ import annotations

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import Rule

FACTORIES = (
    "torch.zeros",
    "torch.ones",
    "torch.empty",
    "torch.rand",
    "torch.randn",
    "torch.arange",
    "torch.full",
)


class StaticShapes(Rule):
    """`dynamic=False`, and an argument whose shape changes from call to call.

    ## What happens
    With `dynamic=False` every new shape is compiled on its own, until the recompile limit; from then on the
    function runs without compiling. By default Dynamo compiles once for a size that changed, and not at all
    if `torch._dynamo.mark_dynamic` says beforehand which dimension varies.

    ## Example
    ```python
    import torch

    @torch.compile(dynamic=False)
    def f(x):
        return x * 2

    def run():
        x = torch.ones(20, 3)
        for n in range(2, 13):
            f(x[:n])
    ```

    ## Use instead
    ```python
    import torch

    @torch.compile
    def f(x):
        return x * 2

    def run():
        x = torch.ones(20, 3)
        for n in range(2, 13):
            part = x[:n]
            torch._dynamo.mark_dynamic(part, 0)
            f(part)
    ```

    ## Versions
    Measured over 11 shapes on torch 2.6, 2.9, 2.13 and 2.15: 8 recompilations, and then eager, with
    `dynamic=False`; 1 by default; none with `mark_dynamic` (which wins over `dynamic=False`) or
    `dynamic=True`.
    """

    code = "PTR206"
    name = "static-shapes"
    ops = ("call compiled", *(f"call {name}" for name in FACTORIES))
    anywhere = True

    @classmethod
    def accepts(cls, op: Op) -> bool:
        return (
            op.name == "call compiled"
            and op.arg("compile dynamic") == "constant False"
            and op.inside == "loop"
        )

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if not isinstance(node, cst.Call):
            return
        loop = self.function.parent(node)
        while loop is not None and not isinstance(loop, cst.For):
            loop = self.function.parent(loop)
        if not isinstance(loop, cst.For) or not isinstance(loop.target, cst.Name):
            return
        for a in node.args:
            if self.varies(a.value, loop.target.value):
                self.report(
                    a.value,
                    op,
                    f"the shape of `{self.text(a.value)}` changes with `{loop.target.value}`, and with `dynamic=False` "
                    "each shape is compiled anew until the limit",
                )
                return

    def varies(self, value: cst.BaseExpression, name: str) -> bool:
        """`x[:n]`, `torch.ones(n, 3)`: the size is the loop's variable."""
        if isinstance(value, cst.Subscript):
            return any(
                isinstance(e.slice, cst.Slice)
                and e.slice.lower is None
                and isinstance(e.slice.upper, cst.Name)
                and e.slice.upper.value == name
                for e in value.slice
            )
        if isinstance(value, cst.Call) and any(
            op.name.removeprefix("call ") in FACTORIES for op in self.function.ops_at(value)
        ):
            return any(isinstance(a.value, cst.Name) and a.value.value == name for a in value.args)
        return False
