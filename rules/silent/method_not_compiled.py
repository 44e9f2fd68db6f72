from __future__ import annotations

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import Rule


class MethodNotCompiled(Rule):
    """Only calling a compiled module runs compiled code; its methods, and the module as it was, run uncompiled.

    ## What happens
    `torch.compile(model)` wraps `model`, and only a call of the wrapper (its `forward`) is compiled. Any
    other method is looked up on the original module, with the original as `self`: `compiled.generate(x)`
    runs without compiling, and so does every `self(...)` inside it. Nothing says so. `model.compile()`
    compiles in place, so that `self(...)` is compiled too; a method that does not go through `forward` is
    compiled by itself. The same goes for a submodule: `compiled.encoder(x)` is the original's.

    And so does the module, where other code still has it: a trainer that keeps `self.model` beside the wrapper, or
    an evaluation that is given the model from before, or the model inside a compiled task. That may be meant, so it
    is a note; where one function calls both, as a comparison does, nothing is reported.

    ## Example
    ```python
    import torch

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(3, 3)

        def forward(self, x):
            return self.layer(x)

        def generate(self, x):
            for _ in range(4):
                x = self(x)
            return x

    model = torch.compile(Net())

    def run():
        return model.generate(torch.ones(3))
    ```

    ## Use instead
    ```python
    import torch

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(3, 3)

        def forward(self, x):
            return self.layer(x)

        def generate(self, x):
            for _ in range(4):
                x = self(x)
            return x

    model = Net()
    model.compile()

    def run():
        return model.generate(torch.ones(3))
    ```

    ## Versions
    Measured: nothing is compiled on torch 2.6, 2.9, 2.13 and 2.15. PyTorch's issue 141473 describes it.
    """

    code = "PTS302"
    name = "method-not-compiled"
    ops = ("attribute of compiled", "call uncompiled")
    anywhere = True

    @classmethod
    def accepts(cls, op: Op) -> bool:
        if op.name == "call uncompiled":
            return "both" not in op.details
        if op.region or "constant 'forward'" in op.detail("name"):
            return False
        return (
            bool(op.detail("part"))
            or op.detail("method").startswith(("calls ", "computes"))
            or (op.detail("name") == "constant 'generate'" and not op.detail("method"))
        )

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if isinstance(node, cst.Call):
            self.bypassed(node, op)
            return
        call = self.function.parent(node)
        if not isinstance(node, cst.Attribute) or not isinstance(call, cst.Call) or call.func is not node:
            return
        name = node.attr.value
        if op.detail("part"):
            self.report(
                node,
                op,
                f"{self.quote(node)} is a part of the original module and runs uncompiled: only calling "
                f"{self.quote(node.value)} runs compiled code; `{self.text(node)}.compile()` compiles it by itself",
            )
            return
        if op.detail("method") in ("calls self", "calls forward", ""):
            way = "`compile()` in place also compiles the calls of the module inside it"
            if op.detail("method") == "calls forward":
                way = f"compile it by itself (`torch.compile(model.{name})`), or let it call `self(...)`"
        else:
            way = f"compile it by itself: `model.{name} = torch.compile(model.{name})`"
        self.report(
            node,
            op,
            f"{self.quote(node)} is the original module's method and runs uncompiled; {way}",
            severity="note" if op.detail("method") == "computes" else None,
        )

    def bypassed(self, node: cst.Call, op: Op) -> None:
        runs = "runs uncompiled here"
        if self.text(node.func) != op.detail("name"):
            runs = f"is given to {self.quote(node.func)} as it was, which runs it uncompiled"
        self.report(
            node,
            op,
            f"`{op.detail('name')}` {runs}: only calling what `torch.compile` returned{op.detail('of')} (line "
            f"{op.detail('line')}) runs compiled code",
            severity="note",
        )
