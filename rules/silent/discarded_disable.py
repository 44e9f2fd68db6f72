from __future__ import annotations

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import Rule

NAMES = ("torch.compiler.disable", "torch._dynamo.disable")


class DiscardedDisable(Rule):
    """The result of `torch.compiler.disable` is thrown away, so nothing is left out of compilation.

    ## What happens
    `torch.compiler.disable(function)` returns a function that Dynamo does not trace, and leaves the original as it
    was; with a module it returns a wrapper of it. Bind the result in the original's place, or use it as a decorator:
    the name alone in the line above a function, without its `@`, does nothing.

    ## Example
    ```python
    import torch

    seen = []

    def note(x):
        seen.append(torch.compiler.is_compiling())

    torch.compiler.disable(note)

    @torch.compile
    def f(x):
        note(x)
        return x * 2

    def run():
        f(torch.ones(3))
        return seen
    ```

    ## Use instead
    ```python
    import torch

    seen = []

    @torch.compiler.disable
    def note(x):
        seen.append(x.sum().item())

    @torch.compile
    def f(x):
        return x * 2

    def run():
        x = torch.ones(3)
        note(x)
        return seen, f(x)
    ```

    ## Versions
    Measured, with a function and a module: traced all the same on torch 2.6, 2.9, 2.13 and 2.15.
    """

    code = "PTS314"
    name = "discarded-disable"
    ops = tuple(f"{what} {name}" for what in ("discard", "call") for name in NAMES)
    anywhere = True

    @classmethod
    def accepts(cls, op: Op) -> bool:
        return op.name.startswith("discard ") and op.inside != "with"

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if op.name.startswith("discard ") and not isinstance(node, cst.Call):
            self.report(
                node,
                op,
                f"{self.quote(node)} decorates nothing: its `@` is missing, and nothing is left out of compilation",
            )
            return
        if not isinstance(node, cst.Call) or not node.args:
            return
        given = [o.arg(0, "fn") for o in self.function.ops_at(node) if o.name.startswith("call ")]
        if given and all(w in ("function", "module", "compiled") or w.startswith("torch.nn.") for w in given):
            self.report(
                node, op, f"the result of {self.quote(node)} is thrown away: Dynamo traces it as before"
            )
