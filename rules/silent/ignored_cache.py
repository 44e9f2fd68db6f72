from __future__ import annotations

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import Rule


class IgnoredCache(Rule):
    """A cached function that draws random numbers draws new ones at each compiled call.

    ## What happens
    Dynamo ignores `functools.lru_cache` and `functools.cache`: it traces the function's body (and warns of that
    once). What the body computes is computed at every call. For a table of constants that is no matter; a mask or a
    projection that is drawn once and then kept differs at each call. Keep it in a buffer.

    ## Example
    ```python
    import functools
    import torch

    @functools.lru_cache
    def projection(size):
        return torch.randn(size)

    @torch.compile
    def f(x):
        return x * projection(3)

    def run():
        x = torch.ones(3)
        return torch.equal(f(x), f(x))
    ```

    ## Use instead
    ```python
    import torch

    class Projected(torch.nn.Module):
        def __init__(self, size):
            super().__init__()
            self.register_buffer("projection", torch.randn(size))

        def forward(self, x):
            return x * self.projection

    model = torch.compile(Projected(3))

    def run():
        x = torch.ones(3)
        return torch.equal(model(x), model(x))
    ```

    ## Versions
    Measured: the body runs at each call on torch 2.6, 2.9, 2.13 and 2.15.
    """

    code = "PTS320"
    name = "ignored-cache"
    ops = ("call cached",)

    @classmethod
    def accepts(cls, op: Op) -> bool:
        return bool(op.detail("draws"))

    def check(self, node: cst.CSTNode, op: Op) -> None:
        name = op.detail("name").removeprefix("constant ").strip("'")
        self.report(
            node,
            op,
            f"compiled code ignores the cache of `{name}`: `{op.detail('draws')}` draws anew at each call",
        )
