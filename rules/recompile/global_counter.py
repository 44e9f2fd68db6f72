from __future__ import annotations

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import Rule


class GlobalCounter(Rule):
    """A global whole number changes at every call of a compiled function.

    ## What happens
    Dynamo guards on the value of a global number. A function that counts in one fails its own guard at the next
    call and is compiled again, until the recompile limit; from then on it runs without compiling. A tensor's
    value is not guarded on, and an attribute of an object that is no module (or an entry of a dictionary)
    costs one recompilation only.

    ## Example
    ```python
    import torch

    calls = 0

    @torch.compile
    def f(x):
        global calls
        calls += 1
        return x * 2

    def run():
        for _ in range(11):
            f(torch.ones(3))
    ```

    ## Use instead
    Count where nothing is compiled:
    ```python
    import torch

    calls = 0

    @torch.compile
    def f(x):
        return x * 2

    def run():
        global calls
        for _ in range(11):
            calls += 1
            f(torch.ones(3))
    ```

    ## Versions
    Measured over 11 calls: 8 recompilations, and then eager, on torch 2.6, 2.9, 2.13 and 2.15. A float costs 1.
    """

    code = "PTR203"
    name = "global-counter"
    ops = ("change global",)

    def check(self, node: cst.CSTNode, op: Op) -> None:
        self.report(
            node,
            op,
            f"`{self.text(node)}` is a global number that compiled code changes: a recompilation at every call, and "
            "eager from the limit on",
        )
