from __future__ import annotations

from collections.abc import Iterable

import libcst as cst

from pt2lint.finding import Fix
from pt2lint.fixes.repaired import accepted
from pt2lint.fixes.repairs.methods import outermost
from pt2lint.op import Op
from pt2lint.rule import GraphBreak


class StaticMethodCall(GraphBreak):
    """A decorator that stands above `@staticmethod` calls the static method's object.

    ## What happens
    Decorators are applied from the bottom up, so a decorator above `@staticmethod` is given not the function but the
    object that wraps it. Python can call that object; Dynamo cannot (GB0156), and ends the graph.

    ## Example
    ```python
    import torch

    class Norm:
        @torch.no_grad()
        @staticmethod
        def mean(x):
            return x.mean()

    def f(x):
        return x - Norm.mean(x)

    args = (torch.tensor([1.0, -2.0]),)
    ```

    ## Use instead
    ```python
    import torch

    class Norm:
        @staticmethod
        @torch.no_grad()
        def mean(x):
            return x.mean()

    def f(x):
        return x - Norm.mean(x)

    args = (torch.tensor([1.0, -2.0]),)
    ```

    ## Versions
    Measured: breaks on torch 2.6 to 2.15, in default mode and with `fullgraph=True`.
    """

    code = "PTB190"
    name = "static-method-call"
    ops = ("call decorated static method",)
    says = "{code} calls a static method through a decorator that stands above `@staticmethod`; below it, it is traced"
    graph_breaks = ("GB0156",)

    def check(self, node: cst.CSTNode, op: Op) -> None:
        self.place = op.detail("decorators")
        self.breaks(node, op, self.says)

    place = ""  # the lines of the decorators, "FIRST STATIC"

    def fixes(self, node: cst.CSTNode) -> Iterable[Fix]:
        """At the method: put `@staticmethod` first."""
        return accepted(outermost(self.function, self.place)) if self.place else ()

    INVALID = (
        "def twice(function):\n    def inner(*args):\n        return function(*args) * 2\n    return inner\n"
        "class Norm:\n    @twice\n    @staticmethod\n    def mean(x):\n        return x.mean()\n"
        "def f(x, m, i):\n    return x - Norm.mean(x)",
    )
    VALID = (
        "class Norm:\n    @staticmethod\n    def mean(x):\n        return x.mean()\n"
        "def f(x, m, i):\n    return x - Norm.mean(x)",
    )
