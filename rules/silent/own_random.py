from __future__ import annotations

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import Rule, calls
from pt2lint.rule.syntax import function_around
from pt2lint.rule.tree import walk

RIGHT = (2, 15)  # from there on Dynamo draws at each call
CARRIED_ON = (2, 13)  # before, the graph ends where a branch asks for such a number, and Python draws it
COUNTS = ("range", "int", "round")  # of such a number: Dynamo leaves the function to Python


class OwnRandom(Rule):
    """Compiled code draws from a `random.Random` of its own: the same number comes at every call.

    ## What happens
    Dynamo runs `self.rng.random()` while it traces and keeps what came. It neither looks again nor guards the
    generator's state: each later call multiplies by the same factor, takes the same branch, crops at the same place.
    Nothing is said. So it is with `random`, `uniform`, `randint` and `randrange` of a `random.Random` that was made
    before, wherever it is kept. The functions of the module itself (`random.random()`) draw at each call, as do
    `gauss`, `choice`, `shuffle` and the others of the object, for which the graph ends.

    ## Example
    ```python
    import random

    import torch

    class Mix(torch.nn.Module):
        def __init__(self, seed):
            super().__init__()
            self.rng = random.Random(seed)

        def forward(self, x):
            return x * self.rng.uniform(0.5, 1.5)

    def run():
        mix = torch.compile(Mix(0))
        return [mix(torch.ones(3)) for _ in range(3)]
    ```

    ## Use instead
    ```python
    import random

    import torch

    class Mix(torch.nn.Module):
        def forward(self, x, factor):
            return x * factor

    def run():
        rng = random.Random(0)
        mix = torch.compile(Mix())
        return [mix(torch.ones(3), torch.tensor(rng.uniform(0.5, 1.5))) for _ in range(3)]
    ```

    ## Versions
    Measured: the same number at every call on torch 2.6, 2.9 and 2.13; right on 2.15. On 2.6 and 2.9 the graph ends
    where a branch asks for the number, which Python then draws.
    """

    code = "PTS345"
    name = "own-random"
    ops = calls("random.Random", "random uniform randint randrange")
    asks_what_is_left = True

    def concerns(self, op: Op) -> bool:
        return self.function.target < RIGHT and not self.function.is_left

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute):
            return
        if not self.was_there(node.func.value, op) or self.is_drawn_by_python(node):
            return
        self.report(
            node,
            op,
            f"{self.quote(node)} is the same number at every call: Dynamo draws it while it traces, and keeps it; draw "
            "it outside, and pass it in as a tensor",
            severity="note" if op.open else None,
        )

    def was_there(self, generator: cst.BaseExpression, op: Op) -> bool:
        """Whether the compiled code does not make the generator itself, as far as the function shows."""
        if isinstance(generator, cst.Attribute):
            return True
        function = function_around(self.function, generator)
        if not isinstance(generator, cst.Name) or function is None:
            return False
        params = function.params
        if any(
            p.name.value == generator.value
            for p in (*params.posonly_params, *params.params, *params.kwonly_params)
        ):
            return len(op.flow) == 1  # what code that is not compiled gives
        stores = (part.targets for part in walk(function) if isinstance(part, cst.Assign))
        return not any(
            isinstance(each.target, cst.Name) and each.target.value == generator.value
            for t in stores
            for each in t
        )

    def is_drawn_by_python(self, node: cst.Call) -> bool:
        """Whether Dynamo leaves the function for such a number to Python."""
        parent = self.function.parent(node)
        if isinstance(parent, cst.Arg):
            call = self.function.parent(parent)
            return isinstance(call, cst.Call) and self.text(call.func) in COUNTS
        child: cst.CSTNode = node
        while isinstance(
            parent, cst.Comparison | cst.ComparisonTarget | cst.BooleanOperation | cst.UnaryOperation
        ):
            child, parent = parent, self.function.parent(parent)
        asked = isinstance(parent, cst.If | cst.IfExp | cst.While) and parent.test is child
        return asked and self.function.target < CARRIED_ON
