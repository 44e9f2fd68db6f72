from __future__ import annotations

import re
from collections.abc import Container
from types import MappingProxyType

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import Rule
from pt2lint.said import place_in

DECIDING = ("range", "index", "place", "constant")  # each number is a constant of the graph


class OtherWay(Rule):
    """A compiled function is called in two ways, and each of them is compiled separately.

    ## What happens
    Dynamo guards on what it compiled for: whether gradients are wanted, whether a module with a dropout or a batch norm
    is in training, whether an argument is None or a tensor, how many dimensions that has, whether it carries gradients
    (`critic(fake)`, then `critic(fake.detach())`), whether it is transposed or cast (`gram(x)`, `gram(x.t())`), how
    long a list is, which flag, text or number was passed, whether a size is 1 (`encode(prompt)`, then `encode(x[:,
    -1:])` for each step; one observation, then a batch of the memory, `policy(memory.sample(64))`). Training calls a
    model with gradients, evaluation under `torch.no_grad()`: the first
    evaluation compiles all of it once more, and then both graphs are kept. That is meant, as long as the ways are few;
    what costs is to wait for it in the midst of a run, and each way counts for the limit of 8. Call each way once at
    the start, or give both the same: a tensor in place of None, a number as a tensor.
    What a function calls that Dynamo leaves to Python, since a loop of it breaks, is compiled by itself, and guarded
    so; and so is, wherever it is called, a function that a graph break cuts in two.

    ## Example
    ```python
    import torch

    model = torch.compile(torch.nn.Linear(4, 4))

    @torch.compile
    def loss(x, weight=None):
        y = x.square().mean()
        return y if weight is None else y * weight

    def run():
        x = torch.ones(2, 4)
        loss(model(x)).backward()
        with torch.no_grad():
            loss(model(x), torch.ones(()))
    ```

    ## Use instead
    ```python
    import torch

    model = torch.compile(torch.nn.Linear(4, 4))

    @torch.compile
    def loss(x, weight):
        return x.square().mean() * weight

    def run():
        x = torch.ones(2, 4)
        one = torch.ones(())
        loss(model(x), one).backward()
        loss(model(x), one).detach()
    ```

    ## Versions
    Measured on torch 2.6, 2.9, 2.13 and 2.15: 1 recompilation for each further way, however often they take turns, of
    what is compiled as of what a function calls that Dynamo left to Python.
    """

    code = "PTR222"
    name = "other-way"
    instead = MappingProxyType({"": "Compile what is the same for both, and leave what differs outside"})
    ops = ("call another way", "call compiled")
    anywhere = True
    asks_what_is_left = True
    asks_kinds = False
    severity = "note"

    @classmethod
    def accepts(cls, op: Op) -> bool:
        return (
            op.name != "call compiled"
            and "here 0" in op.details
            and not any(" | " in word for word in op.details.values())
        )

    def concerns(self, op: Op) -> bool:
        return bool(self.told(op))

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if not isinstance(node, cst.Call) or self.is_of_inputs(node, op):
            return
        told = self.told(op)
        first = told[0]
        here, there, where = (op.details[f"{word} {first}"] for word in ("here", "there", "where"))
        callee = f"`{op.detail(f'to {first}')}`" if f"to {first}" in op.details else self.quote(node.func)
        places = {op.detail(f"to at {n}"): op.detail(f"to {n}") for n in told if f"to {n}" in op.details}
        for place, title in places.items():
            op = self.led_to(op, place, f"`{title}` is compiled again")
        more = [n for n in told if op.details[f"here {n}"] != here][:1]
        also = [tuple(op.details[f"{word} {n}"] for word in ("here", "there", "where")) for n in more]
        self.report(
            node,
            op,
            f"{callee} is called {here}, and {there} ({where}): it is compiled for each of these once"
            + "".join(f"; so it is {one}, and {another} ({place})" for one, another, place in also),
        )

    def is_of_inputs(self, node: cst.Call, op: Op) -> bool:
        """Whether the calls differ in a number that `dynamic=True` makes an input of the graph from the first."""
        compiled = [o for o in self.function.ops_at(node) if o.name == "call compiled"]
        number = re.match(r"with `-?[\d.]+(?:e-?\d+)?` for `(\w+)`", op.details["here 0"])
        if number is None or not compiled or self.function.target <= (2, 6):
            return False
        uses = [
            o.detail(f"use {key.removeprefix('name ')}")
            for o in compiled
            if o.detail("compile dynamic") == "constant True"
            for key, name in (*o.details.items(), (number[1], number[1]))
            if name == number[1]
        ]
        return bool(uses) and not any(use.startswith(DECIDING) for use in uses)

    def told(self, op: Op) -> list[int]:
        """The numbers of the other calls to tell of."""
        return [n for n in range(len(op.details)) if f"here {n}" in op.details and self.is_told(op, n)]

    def is_told(self, op: Op, n: int) -> bool:
        """Whether both calls are of something that is compiled by itself, and that Dynamo does not leave to Python."""
        callee = op.detail(f"to at {n}")
        if callee and self.holds(self.function.left, callee):
            return False
        if callee and self.holds(self.function.cut, callee):
            return True
        other = op.detail(f"in {n}")
        here = not op.region or self.function.is_left or bool(op.detail(f"untraced {n}"))
        return here and (not other or self.holds(self.function.left, other))

    def holds(self, functions: Container[tuple[str, int]], place: str) -> bool:
        return place_in(place) in functions
