from __future__ import annotations

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import Rule


class UnrolledNumber(Rule):
    """A loop counter is passed to a compiled function that runs a loop of that length.

    ## What happens
    Dynamo unrolls `for _ in range(n)`, so that the number of turns becomes part of the graph: every new `n`
    is compiled anew, until the recompile limit, and from then on the function runs without compiling. The
    same goes for a list that is longer at every call. (A number that only enters the arithmetic costs one
    recompilation.)

    ## Example
    ```python
    import torch

    @torch.compile
    def smooth(x, steps):
        for _ in range(steps):
            x = (x + x.roll(1)) / 2
        return x

    def run():
        x = torch.arange(5.0)
        for steps in range(1, 12):
            smooth(x, steps)
    ```

    ## Use instead
    Compile what one turn does:
    ```python
    import torch

    @torch.compile
    def smooth_once(x):
        return (x + x.roll(1)) / 2

    def run():
        x = torch.arange(5.0)
        for steps in range(1, 12):
            y = x
            for _ in range(steps):
                y = smooth_once(y)
    ```

    ## Versions
    Measured over 11 calls: 8 recompilations, and then eager, on torch 2.6, 2.9, 2.13 and 2.15, for a number
    given to `range` and for a list that grows.
    """

    code = "PTR207"
    name = "unrolled-number"
    ops = ("call compiled",)
    anywhere = True

    @classmethod
    def accepts(cls, op: Op) -> bool:
        return op.inside == "loop" and any(str(k).startswith("use ") for k in op.args)

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if not isinstance(node, cst.Call):
            return
        loop = self.function.parent(node)
        while loop is not None and not isinstance(loop, cst.For):
            loop = self.function.parent(loop)
        if not isinstance(loop, cst.For):
            return
        for i, a in enumerate(node.args):
            key: int | str = a.keyword.value if a.keyword is not None else i
            use, value = op.arg(f"use {key}"), a.value
            if not isinstance(value, cst.Name):
                continue
            if use == "range" and self.counts(loop, value.value):
                message = f"`{value.value}` is another number at every call, and a loop in the compiled function runs"
                self.report(value, op, f"{message} that often: each number is compiled anew, until the limit")
            elif use == "iterated" and op.arg(key).startswith("list") and self.grows(loop, value.value):
                message = f"`{value.value}` is longer at every call, and Dynamo guards on its length: each length is"
                self.report(value, op, f"{message} compiled anew, until the limit")

    def counts(self, loop: cst.For, name: str) -> bool:
        """`for name in range(...)` or `for name, x in enumerate(...)`."""
        source = loop.iter
        target: cst.BaseExpression = loop.target
        if not isinstance(source, cst.Call) or not isinstance(source.func, cst.Name):
            return False
        if isinstance(target, cst.Tuple) and source.func.value == "enumerate":
            target = target.elements[0].value
        elif source.func.value != "range":
            return False
        return isinstance(target, cst.Name) and target.value == name

    def grows(self, loop: cst.For, name: str) -> bool:
        """Whether the loop appends to the list, and does nothing else to it."""
        appended = False
        for line in loop.body.body:
            text = self.text(line).strip()
            if (
                text.startswith(f"{name} =")
                or f"{name}.clear" in text
                or f"{name}.pop" in text
                or f"del {name}" in text
            ):
                return False
            appended = appended or text.startswith(f"{name}.append(")
        return appended
