from __future__ import annotations

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import Rule


class UncalledQuestion(Rule):
    """`is_compiling` is tested without calling it, or called before anything is compiled: it never changes.

    ## What happens
    The name of a function, without the parentheses that call it, is true whatever the function would answer. So what
    was meant for compiled code runs in eager mode too, and what was meant for eager mode runs in neither.

    An answer that is kept is that of the place where it was asked: at the top of a file, as a default of a parameter
    and in the `__init__` of a module it is always False, and compiled code takes the way of eager mode.

    ## Example
    ```python
    import torch
    from torch.compiler import is_compiling

    def double(x):
        return x * 2

    compiled = torch.compile(double)

    def run():
        fast = double if is_compiling else compiled
        return fast(torch.ones(3))
    ```

    ## Use instead
    ```python
    import torch
    from torch.compiler import is_compiling

    def double(x):
        return x * 2

    compiled = torch.compile(double)

    def run():
        fast = double if is_compiling() else compiled
        return fast(torch.ones(3))
    ```

    ## Versions
    Measured: nothing is compiled in the example on torch 2.6, 2.9, 2.13 and 2.15.
    """

    code = "PTS333"
    name = "uncalled-question"
    ops = ("test uncalled", "ask early")
    anywhere = True

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if not isinstance(node, cst.BaseExpression):
            return
        text = self.text(node)
        if op.name == "ask early":
            self.report(
                node,
                op,
                f"`{text}` is asked {op.detail('when')}: the answer that is kept is always False; ask where it counts",
            )
            return
        self.report(
            node,
            op,
            f"`{text}` is a function that is not called, which is always true: `{text}()` asks",
            fixes=[self.fix("Call it.", self.edit(node, f"{text}()"))],
        )
