from __future__ import annotations

from types import MappingProxyType

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import Rule
from pt2lint.rule.syntax import observes


class SettlingState(Rule):
    """What the first call leaves in an object or an optimizer's state makes the second call recompile, once.

    ## What happens
    An optimizer's own `step` fills the state of each parameter the first time, an agent or a trainer counts its
    calls: Dynamo guards on what it found there, so the second call fails the guard and is compiled again. After
    that the state stays as it is, and for a number Dynamo keeps a symbol. It costs one compilation at the start,
    which matters where that takes minutes, or where a server has to answer at once. Only a number that picks from a
    list, or ends a loop, can be no symbol: each is compiled again, up to the recompile limit. A number in an
    `nn.Module`, or in what one holds, is another matter: PTR202.

    ## Example
    ```python
    import torch

    class Agent:
        def __init__(self):
            self.steps = 0

        def act(self, x):
            self.steps += 1
            return x * 2

    agent = Agent()
    act = torch.compile(agent.act)

    def run():
        for _ in range(11):
            act(torch.ones(3))
    ```

    ## Use instead
    Count where nothing is compiled:
    ```python
    import torch

    class Agent:
        def __init__(self):
            self.steps = 0

        def act(self, x):
            return x * 2

    agent = Agent()
    act = torch.compile(agent.act)

    def run():
        for _ in range(11):
            agent.steps += 1
            act(torch.ones(3))
    ```

    ## Versions
    Measured over 11 calls: one recompilation on torch 2.6, 2.9, 2.13 and 2.15, for the number as for a state that is
    filled; 8, and then eager, for a number that picks from a list.
    """

    code = "PTR215"
    name = "settling-state"
    instead = MappingProxyType(
        {"": "Count where nothing is compiled, in the code that calls it; or in a tensor"}
    )
    severity = "note"
    about_guards = True
    asks_what_is_left = True
    ops = ("first call", "count once")

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if observes(self.function, node):
            return
        if op.detail("use"):
            op = self.led_to(op, op.detail("at"), "decides here what is compiled")
            what = (
                f"{self.quote(node)} counts, and decides what is compiled: each number is compiled again, until the "
                "limit"
            )
            self.report(node, op, what, severity="warning")
            return
        if op.name == "count once":
            what = f"{self.quote(node)} counts: the second call recompiles, and then Dynamo keeps a symbol for it"
        else:
            what = f"{self.quote(node)} comes out otherwise after the first call: the second one recompiles, once"
        self.report(node, op, what)
