from __future__ import annotations

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import Rule


class ArrayKeyDefault(Rule):
    """Compiled code that looks up an element of a NumPy array with `get` or `pop` gets the default.

    ## What happens
    To Dynamo the element is a tensor, which is no key of the dictionary: `table.get(row)` is None and
    `table.get(row, 1.0)` 1.0, whatever the dictionary has under that number. Eager mode finds it, and nothing says that
    compiled code does not. `table[row]` ends the graph (PTB117).

    ## Example
    ```python
    import numpy as np
    import torch

    scales = {1: 2.0, 2: 3.0}

    @torch.compile
    def f(x, rows: np.ndarray):
        return x * scales.get(rows[0], 0.0)

    def run():
        return f(torch.ones(2), np.array([1, 2])).sum().item() == 4.0
    ```

    ## Use instead
    A Python number, made before the compiled code runs:
    ```python
    import torch

    scales = {1: 2.0, 2: 3.0}

    @torch.compile
    def f(x, rows: list[int]):
        return x * scales.get(rows[0], 0.0)

    def run():
        return f(torch.ones(2), [1, 2]).sum().item() == 4.0
    ```

    ## Versions
    Measured: the default on torch 2.6, 2.9, 2.13 and 2.15.
    """

    code = "PTS350"
    name = "array-key-default"
    ops = ("call builtins.dict.get", "call builtins.dict.pop")

    @classmethod
    def accepts(cls, op: Op) -> bool:
        return op.arg(0).startswith("array")

    def check(self, node: cst.CSTNode, op: Op) -> None:
        self.report(
            node,
            op,
            f"{self.quote(node)} does not find an element of an array in compiled code, where it gives the default",
        )
