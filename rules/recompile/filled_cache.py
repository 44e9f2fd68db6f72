from __future__ import annotations

import libcst as cst

from pt2lint.fixes.by_hand import filled_before
from pt2lint.fixes.repairs.kept import made_in_init
from pt2lint.op import Op
from pt2lint.rule import Rule, is_tensor


class FilledCache(Rule):
    """A cache in an attribute or a global is filled while tracing.

    ## What happens
    Dynamo guards on what a test of the cache found: that it is None, has no such key, or holds another size. The call
    that fills it changes that, so the next call fails the guard and is compiled again, as does the call after each
    new key. What is made once is best made where the module is made, as a buffer.

    ## Example
    ```python
    import torch

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.positions = None

        def forward(self, x):
            if self.positions is None:
                self.positions = torch.arange(3.0)
            return x + self.positions

    net = torch.compile(Net())

    def run():
        for _ in range(11):
            net(torch.ones(3))
    ```

    ## Use instead
    ```python
    import torch

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("positions", torch.arange(3.0), persistent=False)

        def forward(self, x):
            return x + self.positions

    net = torch.compile(Net())

    def run():
        for _ in range(11):
            net(torch.ones(3))
    ```

    ## Versions
    Measured on torch 2.6, 2.9, 2.13 and 2.15: 1 recompilation, in an attribute, a global, or a dictionary under a
    device or a type, and 1 for each new key; 1 for a state that is None at first, 2 for one that grows; none for a
    buffer.
    """

    code = "PTR217"
    name = "filled-cache"
    about_guards = True
    asks_what_is_left = True
    ops = ("fill cache",)
    severity = "note"

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if any(other.name in ("keep by size", "grow buffer") for other in self.function.ops_at(node)):
            return  # which is told, with what it costs
        if op.detail("state"):
            self.report(
                node,
                op,
                f"`{self.text(node)}` is None until the first call sets it: the second one is compiled again, and "
                "where it grows, the third one once more, for any length; a tensor from the start costs nothing",
            )
            return
        self.report(
            node,
            op,
            f"`{self.text(node)}` is filled while tracing: Dynamo guards on what it found there, so the next call is "
            "compiled again; made when the module is made, it costs nothing",
            fixes=[*made_in_init(self.function, node, bool(op.detail("module")), is_tensor(op.arg(0)))]
            or [filled_before()],
        )
