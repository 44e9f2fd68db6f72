from __future__ import annotations

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import Rule, calls
from pt2lint.rule.syntax import function_around, names
from pt2lint.rule.tree import is_name, parameters_in, walk

RIGHT = (2, 15)  # from there on Dynamo draws at each call
ORDERS = ("shuffle", "sample")  # what it calculates itself from there on, once; before, the graph ends
CARRIED_ON = (2, 13)  # before, the graph ends where a branch asks for such a number, and Python draws it
COUNTS = ("range", "int")  # of such a number: Dynamo leaves the function to Python
KEEPING = ("max", "min", "abs", "float", "round", "torch.tensor", "torch.full_like")  # measured, too


class OwnRandom(Rule):
    """Compiled code draws from a `random.Random` of its own: the same number comes at every call.

    ## What happens
    Dynamo runs `self.rng.random()` while it traces and keeps what came. It neither looks again nor guards the
    generator's state: each later call multiplies by the same factor, takes the same branch, crops at the same
    place. Nothing is said. The same goes for `random`, `uniform`, `randint` and `randrange` of a `random.Random`
    that was made before, wherever it is kept. The functions of the module itself (`random.random()`) draw at each
    call, as do `gauss`, `choice`, `shuffle` and the others of the object, for which the graph ends.

    From torch 2.15 on `shuffle` and `sample` are so, of the module itself too: each call has the order that came while
    tracing.

    Where Python calculates with the number before a tensor meets it (`0.1 * rng.random()`, `x[: rng.randint(1,
    3)]`, `range(rng.randint(1, 3))`), Dynamo leaves the function to Python: nothing is compiled, and the numbers
    are right. What a function returns as it was drawn is reported with low confidence.

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
    Measured: the same number at every call on torch 2.6, 2.9 and 2.13; right on 2.15, where
    `shuffle` and `sample` give the same order at every call. On 2.6 and 2.9 the graph ends
    where a branch asks for the number, or Python calculates with it, and Python then draws.
    """

    code = "PTS345"
    name = "own-random"
    ops = (
        *calls("random.Random", "random uniform randint randrange shuffle sample"),
        *calls("random", "shuffle sample"),
    )
    asks_what_is_left = True

    def concerns(self, op: Op) -> bool:
        orders = op.name.endswith(ORDERS)
        return orders is (self.function.target >= RIGHT) and not self.function.is_left

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute):
            return
        if op.name.endswith(ORDERS):
            if op.name.count(".") == 1 or self.was_there(node.func.value, op):
                self.report(
                    node,
                    op,
                    f"{self.quote(node)} gives the same order in every call: Dynamo draws it while it traces, and "
                    "keeps it; draw it outside, and pass it in",
                )
            return
        kept = self.kept(node)
        if not self.was_there(node.func.value, op) or kept is False:
            return
        op = op._replace(sure=op.sure and kept is True)
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
        if any(p.name.value == generator.value for p in parameters_in(function.params)):
            return len(op.flow) == 1  # what code that is not compiled gives
        stores = (part.targets for part in walk(function) if isinstance(part, cst.Assign))
        return not any(is_name(each.target, generator.value) for t in stores for each in t)

    def kept(self, node: cst.Call) -> bool | None:
        """Whether all that is done with the number keeps it in the graph: False where Dynamo leaves the function to
        Python for something of it, None where that is not told."""
        assigned = self.function.parent(node)
        function = function_around(self.function, node)
        uses: list[cst.CSTNode] = [node]
        if isinstance(assigned, cst.Assign) and len(assigned.targets) == 1 and function is not None:
            target = assigned.targets[0].target
            if not isinstance(target, cst.Name):
                return None
            uses = [n for n in names(function.body) if n.value == target.value and n is not target]
        found = [self.keeps(use) for use in uses]
        return False if False in found else None if None in found or not found else True

    def keeps(self, use: cst.CSTNode) -> bool | None:
        parent = self.function.parent(use)
        if isinstance(parent, cst.BinaryOperation):
            other = parent.right if parent.left is use else parent.left
            word = (self.function.kinds or dict)().get(self.function.range(other), "")
            if "tensor" in word:
                return True
            return None if not word or "unknown" in word else False
        if isinstance(parent, cst.Comparison | cst.ComparisonTarget):
            return not (self.function.target < CARRIED_ON and self.is_asked(parent))
        if isinstance(parent, cst.Index):
            return True
        if isinstance(parent, cst.Slice | cst.UnaryOperation):
            return False
        call = self.function.parent(parent) if isinstance(parent, cst.Arg) else None
        if isinstance(call, cst.Call):
            name = self.text(call.func)
            return False if name in COUNTS else True if name in KEEPING else None
        return None

    def is_asked(self, part: cst.CSTNode) -> bool:
        """Whether a comparison is the test of a branch."""
        child, parent = part, self.function.parent(part)
        while isinstance(parent, cst.Comparison | cst.BooleanOperation | cst.UnaryOperation):
            child, parent = parent, self.function.parent(parent)
        return isinstance(parent, cst.If | cst.IfExp | cst.While) and parent.test is child
