from __future__ import annotations

from types import MappingProxyType

import libcst as cst

from pt2lint.finding import UNCOMPILED
from pt2lint.op import Op
from pt2lint.rule import Rule


class CacheBySize(Rule):
    """A module caches by size what it has made, in a dictionary or up to the largest size so far.

    ## What happens
    A key has to be a Python number, and so has an int attribute: Dynamo makes the size a constant of the graph and
    guards on it, whatever `dynamic` says. Every new size is compiled again, until the recompile limit, and from
    then on the function runs without compiling. What such a cache saves (a mask, positions, an angle) costs next to
    nothing in compiled code, where it is fused with what uses it: make it anew at each call, or once in `__init__`
    for the largest size and take a slice.

    ## Example
    ```python
    import torch

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.positions = {}

        def forward(self, x):
            n = x.shape[0]
            if n not in self.positions:
                self.positions[n] = torch.arange(n)
            return x + self.positions[n]

    net = torch.compile(Net(), dynamic=True)

    def run():
        for n in range(2, 13):
            net(torch.ones(n))
    ```

    ## Use instead
    ```python
    import torch

    class Net(torch.nn.Module):
        def forward(self, x):
            return x + torch.arange(x.shape[0])

    net = torch.compile(Net(), dynamic=True)

    def run():
        for n in range(2, 13):
            net(torch.ones(n))
    ```

    ## Versions
    Measured over 11 lengths on torch 2.6, 2.9, 2.13 and 2.15: 8 recompilations, and then eager, by default and with
    `dynamic=True`; 1 where the length stays the same. A largest size (`if n > self.longest: self.longest = n`) costs
    as much while the lengths grow, and 1 where they do not; the last one (`if n != self.last: self.last = n`) as much
    for lengths that differ, but 2 on torch 2.6. A function under `functools.lru_cache` costs 1, since
    Dynamo looks through it.
    """

    code = "PTR214"
    name = "cache-by-size"
    uncompiled = UNCOMPILED
    instead = MappingProxyType(
        {
            "": "Compute it at each call, which the compiler fuses; or fill one for the largest size in "
            "`__init__`, and slice it"
        }
    )
    about_guards = True
    asks_what_is_left = True
    ops = ("keep by size",)

    def check(self, node: cst.CSTNode, op: Op) -> None:
        op = op._replace(rare="" if op.rare == "once" else op.rare)  # once for each size: that is the cost
        what = (
            "keeps something under a size"
            if op.detail("how") == "item"
            else "keeps a size that is compared with the next"
        )
        self.report(
            node,
            op,
            f"`{self.text(node)}` {what}, which makes it a constant of the graph: each new size is compiled again, "
            "also with `dynamic=True`, until the limit",
        )
