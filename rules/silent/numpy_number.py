from __future__ import annotations

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import Rule
from pt2lint.rule.syntax import made, names
from pt2lint.rule.tree import walk

# What says which dtype comes of it, or takes a number out.
CONVERTS = frozenset(
    "to type type_as float double half bfloat16 int long short bool item tolist round_ copy_".split()
)


class NumpyNumber(Rule):
    """A NumPy number turns a tensor of ints, or a 0-dim one, into double precision in compiled code.

    ## What happens
    In eager mode `np.log(2.0)` is a number to a tensor: `torch.arange(n) * np.log(2.0)` is of torch.float32, as
    with one of Python's. While tracing, Dynamo has an array in its place, of double precision and no dimensions,
    which counts as a tensor does: ints become torch.float64, and so does a tensor that has no dimensions itself, as
    the mean of a loss. Nothing is said. What meets it later is of double precision too, or raises for the dtype.
    `math.log` gives a Python number.

    A tensor of floating-point numbers that has dimensions keeps its dtype in both. A loss of no dimensions is worth a
    note: its value is the same.

    ## Example
    ```python
    import numpy as np
    import torch

    def f(x):
        position = torch.arange(x.shape[-1]) * -(np.log(10000.0) / x.shape[-1])
        return x + torch.exp(position)

    def run():
        return torch.compile(f)(torch.ones(4)).dtype
    ```

    ## Use instead
    ```python
    import math

    import torch

    def f(x):
        position = torch.arange(x.shape[-1]) * -(math.log(10000.0) / x.shape[-1])
        return x + torch.exp(position)

    def run():
        return torch.compile(f)(torch.ones(4)).dtype
    ```

    ## Versions
    Measured on torch 2.6, 2.9, 2.13 and 2.15: torch.float64 for `+`, `-`, `*`, `/` and `**` of `np.sqrt`, `np.log`
    and others of one number; for a 0-dim tensor in float16 and bfloat16, too.
    """

    code = "PTS349"
    name = "numpy-number"
    ops = ("compute with array",)

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if self.is_converted(node):
            return
        whole = op.detail("other") == "whole"
        self.report(
            node,
            op,
            f"{self.quote(node)} is of torch.float64 where it is compiled: what NumPy returns is an array there, not a "
            "number of Python's; `math` gives one",
            severity=None if whole else "note",
        )

    def is_converted(self, node: cst.CSTNode) -> bool:
        """Whether the statement that computes with it, or what reads the name that it is given, converts it."""
        here: cst.CSTNode | None = node
        while here is not None and not isinstance(here, cst.BaseSmallStatement | cst.BaseCompoundStatement):
            parent = self.function.parent(here)
            if isinstance(parent, cst.Attribute) and parent.attr.value in CONVERTS:
                return True
            if isinstance(parent, cst.Comparison | cst.ComparisonTarget | cst.Index):
                return True
            if isinstance(parent, cst.Call) and isinstance(parent.func, cst.Name):
                if parent.func.value in ("int", "float", "print", "str"):
                    return True
            here = parent
        if not isinstance(here, cst.Assign) or not isinstance(here.targets[0].target, cst.Name):
            return False
        target = here.targets[0].target
        return made(self.function, target) is here.value and any(
            isinstance(part, cst.Attribute)
            and part.attr.value in CONVERTS
            and any(n.value == target.value for n in names(part.value))
            for part in walk(self.function.module)
        )
