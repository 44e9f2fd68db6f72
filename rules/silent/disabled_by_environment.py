from __future__ import annotations

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import Rule

VARIABLES = ("TORCHDYNAMO_DISABLE", "TORCH_COMPILE_DISABLE", "TORCHDYNAMO_SUPPRESS_ERRORS")


class DisabledByEnvironment(Rule):
    """`TORCHDYNAMO_DISABLE` in the environment turns `torch.compile` off.

    ## What happens
    With `TORCHDYNAMO_DISABLE=1` (or `TORCH_COMPILE_DISABLE=1`) every `torch.compile` of the process and of
    its children returns what it was given: `TORCHDYNAMO_DISABLE` from there on, `TORCH_COMPILE_DISABLE` if it is
    set before the first `torch.compile`. It is a switch for finding errors; left in a program, nothing is compiled
    and nothing says so. `TORCHDYNAMO_SUPPRESS_ERRORS` runs eagerly whatever fails to compile: any value but an
    empty one turns it on, "0" as well.

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
    ops = ("set os.environ[]", "call os.environ.setdefault", "call os.environ.update", "call os.putenv")
    anywhere = True

    @classmethod
    def accepts(cls, op: Op) -> bool:
        if op.name == "call os.environ.update":
            return any(op.arg(v) == "constant '1'" for v in VARIABLES)
        value = op.arg(1)
        if op.arg(0) == "constant 'TORCHDYNAMO_SUPPRESS_ERRORS'":
            return value.startswith("constant '") and value != "constant ''"
        return op.arg(0) in [f"constant '{v}'" for v in VARIABLES] and value == "constant '1'"

    def check(self, node: cst.CSTNode, op: Op) -> None:
        name = next((v for v in VARIABLES if op.arg(v) or v in op.arg(0)), "")
        effect = (
            "hides what fails to compile" if "SUPPRESS" in name else "turns torch.compile off from here on"
        )
        if "SUPPRESS" in name and op.arg(1) not in ("", "constant '1'"):
            effect += f" whatever its value, {op.arg(1).removeprefix('constant ')} as well,"
        self.report(node, op, f"`{name}` {effect} in the whole process, and in those that it starts")
