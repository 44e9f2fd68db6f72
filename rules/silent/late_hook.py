from __future__ import annotations

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import Rule

COMPILE = ("call torch.compile", "call torch.compiler.compile")
HOOKS = tuple(
    f"call torch.nn.Module.register_{kind}"
    for kind in ("forward_hook", "forward_pre_hook", "full_backward_hook")
)


class LateHook(Rule):
    """A hook added to a submodule after the model was compiled and called never runs.

    ## What happens
    Dynamo traces the hooks that a submodule has at the first call. It does not guard on them, as that would cost
    time at every call, so that a hook added later is not seen: the compiled code runs without it, and nothing
    says so. Add hooks before the first call, or set `torch._dynamo.config.skip_nnmodule_hook_guards = False`
    before it. A hook of the compiled module itself does run.

    ## Example
    ```python
    import torch

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(3, 3)

        def forward(self, x):
            return self.layer(x)

    def run():
        seen = []
        net = Net()
        model = torch.compile(net)
        model(torch.ones(3))
        net.layer.register_forward_hook(lambda *a: seen.append(1))
        model(torch.ones(3))
        return len(seen)
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

    def run():
        seen = []
        net = Net()
        net.layer.register_forward_hook(lambda *a: seen.append(1))
        model = torch.compile(net)
        model(torch.ones(3))
        return len(seen)
    ```

    ## Versions
    Measured: a late forward hook and a late full backward hook do not run on torch 2.6, 2.9, 2.13 and 2.15; a hook of a
    parameter (`Tensor.register_hook`) does.
    """

    code = "PTS310"
    name = "late-hook"
    ops = (*HOOKS, *COMPILE, "call compiled")
    anywhere = True

    @classmethod
    def accepts(cls, op: Op) -> bool:
        return op.name in HOOKS and not op.region

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute):
            return
        place = node.func.value
        if not isinstance(place, cst.Attribute | cst.Subscript):
            return  # a hook of the module itself runs
        while isinstance(place, cst.Attribute | cst.Subscript):
            place = place.value
        if isinstance(place, cst.Name) and place.value in self.called_before(self.function.range(node)[0]):
            self.report(
                node,
                op,
                f"{self.quote(node)} comes after the compiled module's first call, and compiled code does not look "
                "for new hooks: it never runs",
            )

    def called_before(self, line: int) -> set[str]:
        """Names of modules that were compiled and called above the line, and of what torch.compile returned."""
        names: dict[str, set[str]] = {}
        for op in self.function.ops:
            node = self.function.node_at(op.range) if op.name in COMPILE and op.line < line else None
            target = self.function.parent(node) if node is not None else None
            if not isinstance(node, cst.Call) or not node.args or not isinstance(target, cst.Assign):
                continue
            given, kept = node.args[0].value, target.targets[0].target
            if isinstance(kept, cst.Name):
                names[kept.value] = {kept.value} | ({given.value} if isinstance(given, cst.Name) else set())
        found: set[str] = set()
        for op in self.function.ops:
            node = self.function.node_at(op.range) if op.name == "call compiled" and op.line < line else None
            if isinstance(node, cst.Call) and isinstance(node.func, cst.Name):
                found |= names.get(node.func.value, set())
        return found
