from __future__ import annotations

import libcst as cst

from pt2lint.finding import Edit
from pt2lint.op import Op
from pt2lint.rule import Rule

RAISES = (2, 11)


class TruthOfCompiled(Rule):
    """A module wrapped by `torch.compile` is tested for truth, which raises.

    ## What happens
    A module is true, as any object is. What `torch.compile(module)` returns has a `__len__` that asks the module for
    its own, so that Python asks for the length where it is tested: `if model:`, `not model`, `model or other` raise
    TypeError, unless the module has a length, as `nn.Sequential` has. A model that is compiled under a condition
    raises under that condition alone. `module.compile()` compiles in place, and the module stays true.

    A function that is given a module, or None, may be given a compiled one: a note, in a file that compiles modules or
    calls what takes the wrapper off.

    ## Example
    ```python
    import torch

    class Net(torch.nn.Module):
        def forward(self, x):
            return x * 2

    def run():
        model = torch.compile(Net())
        return model(torch.ones(3)) if model else None
    ```

    ## Use instead
    ```python
    import torch

    class Net(torch.nn.Module):
        def forward(self, x):
            return x * 2

    def run():
        model = torch.compile(Net())
        return model(torch.ones(3)) if model is not None else None
    ```

    ## Versions
    Measured: raises on torch 2.11, 2.13 and 2.15; 2.6 and 2.9 have no such `__len__`, and the wrapper is true.
    """

    code = "PTS335"
    name = "truth-of-compiled"
    ops = ("test compiled", "truth of given")
    anywhere = True
    severity = "error"

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if self.function.target < RAISES or not isinstance(node, cst.BaseExpression):
            return
        edit = self.asked_for_none(node)
        given = op.name == "truth of given"
        if given and any(o.name == "test compiled" for o in self.function.ops_at(node)):
            return  # told so
        where = " where torch.compile wrapped the module" if given else ""
        self.report(
            node,
            op,
            f"{self.quote(node)} is tested for truth, which raises TypeError{where}: what torch.compile wraps around a "
            "module asks it for its length",
            severity="note" if given else None,
            fixes=[self.fix("Ask whether it is there.", edit)] if edit is not None else [],
        )

    def asked_for_none(self, node: cst.BaseExpression) -> Edit | None:
        text, around = self.text(node), self.function.parent(node)
        if isinstance(around, cst.UnaryOperation):
            return self.edit(around, f"{text} is None")
        if isinstance(around, cst.If | cst.While | cst.Assert | cst.IfExp):
            return self.edit(node, f"{text} is not None")
        if isinstance(around, cst.BooleanOperation) and isinstance(around.operator, cst.Or):
            other = self.text(around.right)
            if around.left is node and isinstance(
                self.function.parent(around), cst.Assign | cst.Return | cst.Arg
            ):
                return self.edit(around, f"{text} if {text} is not None else {other}")
        return None
