from __future__ import annotations

from types import MappingProxyType

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import Rule
from pt2lint.rule.tree import is_name


class CompiledGenerator(Rule):
    """A generator function or a class is compiled; Dynamo leaves it as it is.

    ## What happens
    Dynamo cannot start at a function that yields. In default mode it skips the function and says nothing;
    with `fullgraph=True` it raises an error. One under `contextlib.contextmanager` is left as it is, too. Compile
    what each step computes, or return the values together.

    Of a class, calls of its objects are compiled: `__call__`, or `forward` of a module. `@torch.compile` above any
    other class, a `torch.autograd.Function` among them, leaves all its methods as they are.

    ## Example
    ```python
    import torch

    @torch.compile
    def powers(x):
        for _ in range(3):
            x = x * x
            yield x

    def run():
        return list(powers(torch.ones(3)))
    ```

    ## Use instead
    ```python
    import torch

    @torch.compile
    def square(x):
        return x * x

    def powers(x):
        for _ in range(3):
            x = square(x)
            yield x

    def run():
        return list(powers(torch.ones(3)))
    ```

    ## Versions
    Measured, with a generator and a context manager: nothing is compiled on torch 2.6, 2.9, 2.13 and 2.15.
    """

    code = "PTS309"
    name = "compiled-generator"
    instead = MappingProxyType(
        {
            "compile generator": "Compile what computes one value, and yield outside of it",
            "compile class": "Compile the function that calls it, or its methods one by one",
        }
    )
    ops = ("compile generator", "compile class")
    anywhere = True

    def check(self, node: cst.CSTNode, op: Op) -> None:
        name = op.detail("name").removeprefix("constant ").strip("'")
        says = f"`{name}` is a generator function: Dynamo skips it, and nothing is compiled"
        if self.is_whole(node):
            says = f"`{name}` is a generator function, which `fullgraph=True` refuses: the first call raises"
        if op.name == "compile class":
            says = f"`{name}` is a class without `__call__`: torch.compile leaves its methods as they are"
        self.report(node, op, says)

    def is_whole(self, node: cst.CSTNode) -> bool:
        """`@torch.compile(fullgraph=True)`, `torch.compile(f, fullgraph=True)`"""
        return isinstance(node, cst.Call) and any(
            a.keyword is not None and a.keyword.value == "fullgraph" and is_name(a.value, "True")
            for a in node.args
        )
