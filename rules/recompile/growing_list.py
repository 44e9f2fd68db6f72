from __future__ import annotations

from types import MappingProxyType

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import Rule
from pt2lint.rule.syntax import observes

# Before, the graph ends where a list is read of a class.
OF_CLASSES = (2, 13)


class GrowingList(Rule):
    """A list or a buffer that outlives the call grows at every call of compiled code.

    ## What happens
    Dynamo guards on the length of every list that it reads or writes. One that is longer at each call fails
    the guard each time, and the function is compiled again until the recompile limit; from then on it runs
    without compiling. The list also keeps every tensor in it alive. A list that is emptied in between, but less
    often than the function is called (after the steps of an episode, at the end of an epoch), reaches the limit
    in the steps before.

    So does a buffer that is joined to something (`self.keys = torch.cat([self.keys, k], dim=1)`): Dynamo keeps no
    symbol for the sizes of a module's buffers and parameters, whatever `dynamic` says, as it does for an argument's or
    a plain attribute's (PTR217). Make it as long as it gets, and write into it by position:
    `self.keys.index_copy_(1, position, k)`.

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
    in a module, in any other object and for a global one, and for a `deque`, also one with a `maxlen` of 8 or more,
    for one of a class that its objects fill (`self.seen`), and for one that `setdefault` puts into a dictionary; on
    2.13 and 2.15 for `Net.seen`, by the class's name; on 2.13 for a list under a key of a dictionary that they hold,
    and where `+=` makes it longer, and for a buffer, also with `dynamic=True` (2 for a plain attribute that holds a
    tensor).
    """

    code = "PTR204"
    name = "growing-list"
    instead = MappingProxyType(
        {
            "grow buffer": "Make it as long as it gets from the start, and write into it by position",
            "": "Return it, and let the caller keep it",
        }
    )
    about_guards = True
    asks_what_is_left = True
    ops = ("grow attribute", "grow global", "grow buffer")

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if observes(self.function, node):
            return
        if op.name == "grow buffer":
            self.report(
                node,
                op,
                f"`{self.text(node)}` is a buffer that is longer at every call: Dynamo takes its size for a constant "
                "and compiles again each time, until the limit",
            )
            return
        if op.detail("of") and self.function.target < OF_CLASSES:
            return  # the graph ends there
        what = " global" if op.name == "grow global" else " class's" if op.detail("of") else ""
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
