from __future__ import annotations

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import Rule


class UncaughtAssertion(Rule):
    """An `assert` of a tensor in compiled code raises RuntimeError, which `except AssertionError` lets through.

    ## What happens
    Dynamo turns `assert tensor` into an assertion in the graph. Where it fails, the compiled code raises
    `RuntimeError`, not `AssertionError`. Catch both, or look at the tensor outside of what is compiled.

    ## Example
    ```python
    import torch

    @torch.compile
    def root(x):
        assert (x >= 0).all(), "negative"
        return x.sqrt()

    def run():
        try:
            return root(-torch.ones(3))
        except AssertionError:
            return None
    ```

    ## Use instead
    ```python
    import torch

    @torch.compile
    def root(x):
        assert (x >= 0).all(), "negative"
        return x.sqrt()

    def run():
        try:
            return root(-torch.ones(3))
        except (AssertionError, RuntimeError):
            return None
    ```

    ## Versions
    Measured: RuntimeError on torch 2.6, 2.9, 2.13 and 2.15. An `assert not ...`, one of several conditions and one of
    sizes raise AssertionError.
    """

    code = "PTS324"
    name = "uncaught-assertion"
    ops = ("assert tensor",)

    def check(self, node: cst.CSTNode, op: Op) -> None:
        line = op.details["caught"].split(" | ")[0]
        self.report(
            node,
            op,
            f"`assert {self.text(node)}` raises RuntimeError in compiled code, which the `except AssertionError` of "
            f"the `try` in line {line} lets through",
        )
