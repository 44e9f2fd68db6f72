from __future__ import annotations

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import Rule


class SuppressedErrors(Rule):
    """`suppress_errors = True` turns every failure to compile into eager execution.

    ## What happens
    With `torch._dynamo.config.suppress_errors = True` a function that cannot be compiled (a bug in the
    backend, a missing compiler) runs eagerly from then on; all that is left is a log message. The setting
    is for finding errors, and it also holds for every other function of the process.

    ## Example
    ```python
    import torch

    torch._dynamo.config.suppress_errors = True

    def backend(graph, inputs):
        raise RuntimeError("this backend does not work")

    @torch.compile(backend=backend)
    def f(x):
        return x * 2

    def run():
        return f(torch.ones(3))
    ```

    ## Use instead
    Let it fail, and repair the cause or leave that one function out with `torch.compiler.disable`:
    ```python
    import torch

    @torch.compile
    def f(x):
        return x * 2

    def run():
        return f(torch.ones(3))
    ```

    ## Versions
    Measured: nothing is compiled, and no exception is raised, on torch 2.6, 2.9, 2.13 and 2.15.
    """

    code = "PTS305"
    name = "suppressed-errors"
    ops = ("set torch._dynamo.config.suppress_errors", "set torch._dynamo.config.disable")
    anywhere = True

    @classmethod
    def accepts(cls, op: Op) -> bool:
        return op.arg(0) == "constant True"

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if op.name.endswith(".disable"):
            message = f"`{self.text(node)} = True` turns torch.compile off for the whole process"
        else:
            message = f"`{self.text(node)} = True` runs eagerly whatever fails to compile, and only logs it"
        self.report(node, op, message)
