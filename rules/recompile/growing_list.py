from __future__ import annotations

from types import MappingProxyType

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import Rule
from pt2lint.rule.syntax import observes


class GrowingList(Rule):
    """A list that outlives the call grows at every call of compiled code.

    ## What happens
    Dynamo guards on the length of every list that it reads or writes. One that is longer at each call fails
    the guard each time, and the function is compiled again until the recompile limit; from then on it runs
    without compiling. The list also keeps every tensor in it alive. A list that is emptied in between, but less
    often than the function is called (after the steps of an episode, at the end of an epoch), reaches the limit
    in the steps before.

    ## Example
    ```python
    import torch

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.seen = []

        def forward(self, x):
            y = x * 2
            self.seen.append(y.mean())
            return y

    net = torch.compile(Net())

    def run():
        for _ in range(11):
            net(torch.ones(3))
    ```

    ## Use instead
    Return it, and let the caller keep it:
    ```python
    import torch

    class Net(torch.nn.Module):
        def forward(self, x):
            y = x * 2
            return y, y.mean()

    net = torch.compile(Net())

    def run():
        seen = []
        for _ in range(11):
            y, mean = net(torch.ones(3))
            seen.append(mean)
    ```

    ## Versions
    Measured over 11 calls: 8 recompilations, and then eager, on torch 2.6, 2.9, 2.13 and 2.15, for a list
    in a module, in any other object and for a global one, and for a `deque`, also one with a `maxlen` of 8 or more;
    on 2.13 for a list under a key of a dictionary that they hold, and where `+=` makes it longer.
    """

    code = "PTR204"
    name = "growing-list"
    instead = MappingProxyType({"": "Return it, and let the caller keep it"})
    about_guards = True
    asks_what_is_left = True
    ops = ("grow attribute", "grow global")

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if observes(self.function, node):
            return
        what = "" if op.name == "grow attribute" else " global"
        statement = self.function.parent(node)
        if isinstance(statement, cst.AssignTarget):
            statement = self.function.parent(statement)
        text = self.text(statement if isinstance(statement, cst.AugAssign | cst.Assign) else node)
        self.report(
            node,
            op,
            f"`{text}` makes a{what} list longer at every call: Dynamo guards on its length and compiles "
            "again each time, until the limit",
        )
