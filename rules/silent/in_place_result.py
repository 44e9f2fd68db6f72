from __future__ import annotations

import libcst as cst

from pt2lint.finding import Fix
from pt2lint.op import Op
from pt2lint.rule import Rule
from pt2lint.rule.tree import is_name


class InPlaceResult(Rule):
    """`module.compile()` compiles in place and returns None, and the None is used.

    ## What happens
    `torch.compile(module)` returns a compiled module, `module.compile()` returns nothing: it changes the module. After
    `model = model.compile()` the model is gone, and the first use of the name fails far from here.

    ## Example
    ```python
    import torch

    class Net(torch.nn.Module):
        def forward(self, x):
            return x * 2

    def run():
        model = Net()
        model = model.compile()
        return model
    ```

    ## Use instead
    ```python
    import torch

    class Net(torch.nn.Module):
        def forward(self, x):
            return x * 2

    def run():
        model = Net()
        model.compile()
        return model(torch.ones(3))
    ```

    ## Versions
    Measured: None on torch 2.6, 2.9, 2.13 and 2.15.
    """

    code = "PTS312"
    name = "in-place-result"
    ops = ("call torch.nn.Module.compile",)
    anywhere = True
    severity = "error"

    @classmethod
    def accepts(cls, op: Op) -> bool:
        return not op.region

    def check(self, node: cst.CSTNode, op: Op) -> None:
        holder = self.function.parent(node)
        if not isinstance(node, cst.Call) or not isinstance(
            holder, cst.Assign | cst.AnnAssign | cst.Return | cst.Arg | cst.Element | cst.DictElement
        ):
            return
        if isinstance(node.func, cst.Attribute) and isinstance(node.func.value, cst.Call):
            owner = node.func.value.func
            if is_name(owner, "super"):
                return  # a `compile` of one's own hands on what there is
        self.report(
            node,
            op,
            f"{self.quote(node)} compiles in place and returns None",
            fixes=self.fixes(node, holder),
        )

    def fixes(self, node: cst.Call, holder: cst.CSTNode) -> list[Fix]:
        """`model = model.compile()` -> `model.compile()`"""
        if not isinstance(holder, cst.Assign) or not isinstance(node.func, cst.Attribute):
            return []
        module = node.func.value
        if len(holder.targets) != 1 or not holder.targets[0].target.deep_equals(module):
            return []
        return [
            self.fix(
                "Compile in place and keep the module.",
                self.edit(holder, self.text(node)),
                applicability="safe",
            )
        ]
