from __future__ import annotations

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import Rule

VARIABLES = ("TORCHDYNAMO_DISABLE", "TORCH_COMPILE_DISABLE", "TORCHDYNAMO_SUPPRESS_ERRORS")


class DisabledByEnvironment(Rule):
    """`TORCHDYNAMO_DISABLE` in the environment turns `torch.compile` off.

    ## What happens
    With `TORCHDYNAMO_DISABLE=1` (or `TORCH_COMPILE_DISABLE=1`) every `torch.compile` of the process and of
    its children returns what it was given. It is a switch for finding errors; left in a program, nothing is
    compiled and nothing says so.

    ## Example
    ```python
    import os
    import torch

    os.environ["TORCHDYNAMO_DISABLE"] = "1"

    @torch.compile
    def f(x):
        return x * 2

    def run():
        return f(torch.ones(3))
    ```

    ## Use instead
    Set it on the command line of the one run that needs it:
    ```python
    import torch

    @torch.compile
    def f(x):
        return x * 2

    def run():
        return f(torch.ones(3))
    ```

    ## Versions
    Measured: nothing is compiled on torch 2.6, 2.9, 2.13 and 2.15.
    """

    code = "PTS306"
    name = "disabled-by-environment"
    ops = ("set os.environ[]", "call os.environ.setdefault", "call os.putenv")
    anywhere = True

    @classmethod
    def accepts(cls, op: Op) -> bool:
        return op.arg(0) in [f"constant '{v}'" for v in VARIABLES] and op.arg(1) == "constant '1'"

    def check(self, node: cst.CSTNode, op: Op) -> None:
        name = op.arg(0).removeprefix("constant '").removesuffix("'")
        effect = "hides what fails to compile" if "SUPPRESS" in name else "turns torch.compile off"
        self.report(node, op, f"`{name}` {effect} in the whole process, and in those that it starts")
