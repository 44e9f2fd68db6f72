from __future__ import annotations

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import Rule
from pt2lint.rule.syntax import function_around, names

# Where the size stands: without one, the call breaks the graph and NumPy draws.
SIZE = {"rand": 0, "randn": 0, "random": 0, "random_sample": 0, "normal": 2, "uniform": 2, "randint": 2}


class NumpySeed(Rule):
    """Random arrays of NumPy in compiled code are drawn by torch: `np.random.seed` has no effect on them.

    ## What happens
    Dynamo traces NumPy's functions as torch's. An array from `np.random.randn(3)` then comes from torch's generator:
    the numbers are others than without compiling, and what was seeded with `np.random.seed` does not repeat. Draw with
    torch, and seed that, or draw outside and pass the array in.

    ## Example
    ```python
    import numpy as np
    import torch

    @torch.compile
    def noisy(x):
        return x + torch.from_numpy(np.random.randn(3))

    def run():
        np.random.seed(0)
        first = noisy(torch.zeros(3))
        np.random.seed(0)
        return torch.equal(first, noisy(torch.zeros(3)))
    ```

    ## Use instead
    ```python
    import torch

    @torch.compile
    def noisy(x):
        return x + torch.randn(3)

    def run():
        torch.manual_seed(0)
        first = noisy(torch.zeros(3))
        torch.manual_seed(0)
        return torch.equal(first, noisy(torch.zeros(3)))
    ```

    ## Versions
    Measured with arrays of `rand`, `randn`, `random`, `random_sample`, `normal`, `uniform` and `randint`: others than
    without compiling on torch 2.6, 2.9, 2.13 and 2.15.
    """

    code = "PTS323"
    name = "numpy-seed"
    ops = tuple(f"call numpy.random.{name}" for name in SIZE)
    severity = "note"

    @classmethod
    def accepts(cls, op: Op) -> bool:
        return bool(op.arg(SIZE[op.name.rpartition(".")[2]], "size"))

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if op.inside or self.plain(node):
            return
        self.report(
            node,
            op,
            f"{self.quote(node)} is drawn by torch in compiled code: `np.random.seed` has no effect on it",
        )

    def plain(self, node: cst.CSTNode) -> bool:
        """Whether the function may be left to Python, where NumPy draws: it asks for a number of an array."""
        around = function_around(self.function, node) or node
        return any(n.value in ("item", "tolist") for n in names(around))
