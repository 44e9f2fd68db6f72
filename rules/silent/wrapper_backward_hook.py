from __future__ import annotations

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import Rule
from pt2lint.rule.given_module import ask_original

HOOKS = ("register_full_backward_hook", "register_backward_hook")


class WrapperBackwardHook(Rule):
    """A backward hook added to what `torch.compile(module)` returned never runs.

    ## What happens
    `torch.compile(module)` returns a wrapper. `register_full_backward_hook` of the wrapper tells the original that it
    has such a hook and keeps the hook itself in the wrapper, where nothing looks for it: it never runs, whether it
    is added before the first call or later, and nothing says so. Forward hooks of the wrapper run, and so does
    `register_full_backward_pre_hook`. Add a backward hook to the original, before the first call.

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
        norms = []
        model = torch.compile(Net())
        model.register_full_backward_hook(lambda module, given, out: norms.append(out[0].norm()))
        model(torch.ones(3, requires_grad=True)).sum().backward()
        return len(norms)
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
        norms = []
        net = Net()
        net.register_full_backward_hook(lambda module, given, out: norms.append(out[0].norm()))
        model = torch.compile(net)
        model(torch.ones(3, requires_grad=True)).sum().backward()
        return len(norms)
    ```

    ## Versions
    Measured: it does not run on torch 2.6, 2.9, 2.13 and 2.15.
    """

    code = "PTS331"
    name = "wrapper-backward-hook"
    ops = ("attribute of compiled",)
    anywhere = True

    @classmethod
    def accepts(cls, op: Op) -> bool:
        return op.detail("name").removeprefix("constant ").strip("'") in HOOKS and not op.detail("method")

    def check(self, node: cst.CSTNode, op: Op) -> None:
        call = self.function.parent(node)
        if not isinstance(node, cst.Attribute) or not isinstance(call, cst.Call) or call.func is not node:
            return
        self.report(
            call,
            op,
            f"{self.quote(call)} adds a backward hook to what torch.compile returned, where it never runs; add it to "
            "the original",
            fixes=ask_original(self, node, op, "Add the hook to the original."),
        )
