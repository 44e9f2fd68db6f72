from __future__ import annotations

from types import MappingProxyType

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import Rule

DISABLE = "with torch.compiler.disable"


class DisabledContext(Rule):
    """`torch.compiler.disable()` is entered as a context manager, which raises.

    ## What happens
    `disable` and `torch._dynamo.optimize` decorate functions. What they return has the methods of a context manager
    too, but entering it raises RuntimeError ("torch._dynamo.optimize(...) is used with a context manager"), or
    TypeError with `recursive=False`, whether anything is compiled or not. What a block calls is not compiled under
    `torch.compiler.set_stance("force_eager")`; what is to be compiled is given to `torch.compile`.

    ## Example
    ```python
    import torch

    compiled = torch.compile(torch.nn.Linear(3, 3))

    def run():
        compiled(torch.ones(3))
        with torch.compiler.disable():
            return compiled(torch.ones(3))
    ```

    ## Use instead
    ```python
    import torch

    compiled = torch.compile(torch.nn.Linear(3, 3))

    def run():
        compiled(torch.ones(3))
        with torch.compiler.set_stance("force_eager"):
            return compiled(torch.ones(3))
    ```

    ## Versions
    Measured: raises on torch 2.6, 2.9, 2.13 and 2.15.
    """

    code = "PTS334"
    name = "disabled-context"
    instead = MappingProxyType(
        {"": 'Enter `torch.compiler.set_stance("force_eager")`, which is a context manager'}
    )
    ops = (DISABLE, "with torch.compile")
    anywhere = True
    severity = "error"

    def check(self, node: cst.CSTNode, op: Op) -> None:
        rather = (
            'here `torch.compiler.set_stance("force_eager")` is one'
            if op.name == DISABLE
            else "what it calls is given to `torch.compile`"
        )
        self.report(node, op, f"{self.quote(node)} is a decorator: entering it raises RuntimeError; {rather}")
