from __future__ import annotations

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import Rule


class LateHook(Rule):
    """A hook that is added after compiled code has run never runs.

    ## What happens
    Dynamo traces the hooks that a submodule has at the first call. It does not guard on them, as that would cost
    time at every call, so that a hook added later is not seen: the compiled code runs without it, and nothing
    says so. Add hooks before the first call, or set `torch._dynamo.config.skip_nnmodule_hook_guards = False`
    before it. A forward hook of the compiled module itself does run; one of a module that a compiled function calls
    (`train_step(model, x)`) does not, nor one of a module of torch's own (`nn.Sequential`) that torch.compile wrapped.

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
    Measured: a late forward hook, full backward hook or full backward pre-hook does not run on torch 2.6, 2.9, 2.13
    and 2.15, of a submodule (whether it is named, or met in a loop over `modules()`), of a module that is passed to a
    compiled function, of a global one that it calls, or of a wrapped one of torch.nn; a hook of a parameter
    (`Tensor.register_hook`) does.
    """

    code = "PTS310"
    name = "late-hook"
    ops = ("late hook",)
    anywhere = True

    def check(self, node: cst.CSTNode, op: Op) -> None:
        self.report(
            node,
            op,
            f"{self.quote(node)} comes after the first call of what is compiled, and compiled code does not look "
            "for new hooks: it never runs",
        )
