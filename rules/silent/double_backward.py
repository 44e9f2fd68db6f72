from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from pt2lint.fixes.imports import meant
from pt2lint.op import Op
from pt2lint.rule import Rule, tree
from pt2lint.rule.syntax import function_around, keeps_graph, names

GRAD = "torch.autograd.grad"
# A file that knows of it: `if self.was_compiled: raise RuntimeError(...)`.
REFUSES = re.compile(r"^[ \t]*if [^\n]*compile[^\n]*:\s*raise\b", re.MULTILINE)
# What has no gradient of what it is made of.
ENDS = ("detach", "item", "tolist", "numpy", "backward", "grad")


class DoubleBackward(Rule):
    """A gradient of what compiled code returned is kept to be differentiated again, which raises.

    ## What happens
    The backward graph that AOTAutograd makes has no backward of its own. `torch.autograd.grad(y, x, create_graph=True)`
    of what a compiled module returned still runs; the `backward()` of anything made of that gradient raises
    RuntimeError ("does not currently support double backward"). So do a penalty on gradients (WGAN-GP, R1), the
    residual of a differential equation (PINNs), and forces as the gradient of an energy in a loss. Call the module
    itself there, not what `torch.compile` made of it: they share their weights. `backend="eager"` has no such limit.
    Where compiled code itself computes such a gradient, [PTB160](PTB160.md) says so.

    ## Example
    ```python
    import torch

    net = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
    fast = torch.compile(net, backend="aot_eager")

    def run():
        x = torch.tensor([[0.5, -1.0]], requires_grad=True)
        score = fast(x)
        (slope,) = torch.autograd.grad(score.sum(), x, create_graph=True)
        loss = score.mean() + (slope.norm() - 1).square()
        loss.backward()
        return bool(net[0].weight.grad.isfinite().all())
    ```

    ## Use instead
    ```python
    import torch

    net = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
    fast = torch.compile(net, backend="aot_eager")

    def run():
        x = torch.tensor([[0.5, -1.0]], requires_grad=True)
        (slope,) = torch.autograd.grad(net(x).sum(), x, create_graph=True)
        loss = fast(x.detach()).mean() + (slope.norm() - 1).square()
        loss.backward()
        return bool(net[0].weight.grad.isfinite().all())
    ```

    ## Versions
    Measured: raises on torch 2.6, 2.9, 2.13 and 2.15.
    """

    code = "PTS352"
    name = "double-backward"
    ops = ("call compiled",)
    anywhere = True
    severity = "error"

    @classmethod
    def accepts(cls, op: Op) -> bool:
        plain = op.detail("compile backend") == "constant 'eager'"
        return not op.region and not plain and op.detail("compiles") != "nothing"

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if "create_graph" not in self.function.text or REFUSES.search(self.function.source):
            return
        kept = self.kept(node)
        told = self.function.memo.setdefault("differentiated again", [])  # several calls may have made it
        if kept is not None and kept not in told:
            told.append(kept)
            self.report(
                kept,
                op,
                f"{self.quote(kept)} keeps the gradient of what compiled code returned, {self.quote(node)}, to be "
                "differentiated again: that `backward()` raises RuntimeError; call the module itself there, uncompiled",
            )

    def kept(self, node: cst.CSTNode) -> cst.Call | None:
        """The call that keeps a graph of the gradient of what the node returns."""
        here: cst.CSTNode | None = node
        while here is not None and not isinstance(here, cst.BaseSmallStatement | cst.BaseCompoundStatement):
            if isinstance(here, cst.Call) and here is not node:
                if self.keeps(here):
                    return here
                if isinstance(here.func, cst.Attribute) and here.func.attr.value in ENDS:
                    return None
            here = self.function.parent(here)
        if not isinstance(here, cst.Assign):
            return None
        made = {name.value for target in here.targets for name in names(target.target)}
        start = self.function.range(here)
        for statement in self.after(node):
            if self.function.range(statement) <= start:
                continue
            for part in tree.walk(statement):
                if isinstance(part, cst.Call) and self.keeps(part) and self.is_of(part, made):
                    return part
            if isinstance(statement, cst.Assign):
                targets = {name.value for target in statement.targets for name in names(target.target)}
                made = made | targets if self.is_made_of(statement.value, made) else made - targets
        return None

    def after(self, node: cst.CSTNode) -> Iterator[cst.BaseSmallStatement]:
        """The simple statements of the function around, in order."""
        around = function_around(self.function, node) or self.function.module
        return (part for part in tree.walk(around) if isinstance(part, cst.BaseSmallStatement))

    def keeps(self, call: cst.Call) -> bool:
        """`torch.autograd.grad(y, x, create_graph=True)`, `y.backward(create_graph=True)`."""
        if not keeps_graph(call):
            return False
        if isinstance(call.func, cst.Attribute) and call.func.attr.value == "backward":
            return True
        return meant(self.function, call.func) == GRAD

    def is_of(self, call: cst.Call, made: set[str]) -> bool:
        """Whether what it differentiates is made of one of the names."""
        if isinstance(call.func, cst.Attribute) and call.func.attr.value == "backward":
            return self.is_made_of(call.func.value, made)
        outputs = next((a.value for a in call.args if a.keyword and a.keyword.value == "outputs"), None)
        if outputs is None and call.args and call.args[0].keyword is None and not call.args[0].star:
            outputs = call.args[0].value
        return outputs is not None and self.is_made_of(outputs, made)

    def is_made_of(self, value: cst.BaseExpression, made: set[str]) -> bool:
        if isinstance(value, cst.Call) and isinstance(value.func, cst.Attribute):
            if value.func.attr.value in ENDS:
                return False
        return any(isinstance(part, cst.Name) and part.value in made for part in tree.walk(value))
