from __future__ import annotations

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import Rule


class IsinstanceOfCompiled(Rule):
    """A module wrapped by `torch.compile` is no instance of its own class.

    ## What happens
    `torch.compile(model)` returns an `OptimizedModule`, so that `isinstance(compiled, Net)` is False and
    the code takes the other branch. `model.compile()` compiles in place and keeps the class.

    The same goes where the model is compiled under a condition only, and for classes of other libraries
    (`isinstance(model, PreTrainedModel)`): what tells a model by its class no longer knows it. A file that mentions
    `_orig_mod` knows about the wrapper: of classes of other libraries nothing is said there.

    ## Example
    ```python
    import torch

    class Net(torch.nn.Module):
        def forward(self, x):
            return x * 2

    def run():
        model = torch.compile(Net())
        return isinstance(model, Net), model(torch.ones(3))
    ```

    ## Use instead
    ```python
    import torch

    class Net(torch.nn.Module):
        def forward(self, x):
            return x * 2

    def run():
        model = Net()
        model.compile()
        return isinstance(model, Net), model(torch.ones(3))
    ```

    ## Versions
    Measured: False on torch 2.6, 2.9, 2.13 and 2.15.
    """

    code = "PTS304"
    name = "isinstance-of-compiled"
    ops = ("isinstance of compiled",)
    anywhere = True

    @classmethod
    def accepts(cls, op: Op) -> bool:
        return not op.region

    def check(self, node: cst.CSTNode, op: Op) -> None:
        self.report(
            node,
            op,
            f"{self.quote(node)} is False: `torch.compile` returned a wrapper of another class; "
            "`model.compile()` keeps it",
        )
