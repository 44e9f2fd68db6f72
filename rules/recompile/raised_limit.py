from __future__ import annotations

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import Rule
from pt2lint.rule.settings import COMPILES

LIMITS = {
    "cache_size_limit": 8,
    "recompile_limit": 8,
    "accumulated_cache_size_limit": 256,
    "accumulated_recompile_limit": 256,
}


class RaisedLimit(Rule):
    """The recompile limit is raised, which hides what recompiles.

    ## What happens
    Dynamo gives up on a function after eight recompilations and warns once. A higher limit silences the
    warning: each of the recompilations still costs what the first compilation did, and every call then
    checks the guards of all of them. `TORCH_LOGS=recompiles` names the guard that fails each time; that
    cause is what to remove. A program that serves a known number of shapes or settings may raise the limit
    on purpose, so that this is reported only with `--pedantic`.

    ## Example
    ```python
    import torch

    torch._dynamo.config.cache_size_limit = 64

    @torch.compile(dynamic=False)
    def f(x):
        return x * 2

    def run():
        for n in range(2, 22):
            f(torch.ones(n))
    ```

    ## Use instead
    ```python
    import torch

    @torch.compile(dynamic=True)
    def f(x):
        return x * 2

    def run():
        for n in range(2, 22):
            f(torch.ones(n))
    ```

    ## Versions
    Torch 2.6 knows only this name; 2.9, 2.13 and 2.15 also call it `recompile_limit`. Measured over 20 shapes: 19
    recompilations with a limit of 64 on torch 2.6, 2.9, 2.13 and 2.15, none with `dynamic=True`. From 2.13 on
    `torch.compile(f, recompile_limit=64)` sets it for what is compiled so (11 recompilations over 12 shapes).
    """

    code = "PTR208"
    name = "raised-limit"
    ops = (*(f"set torch._dynamo.config.{limit}" for limit in LIMITS), *COMPILES)
    anywhere = True
    severity = "note"

    @classmethod
    def accepts(cls, op: Op) -> bool:
        limit, value = _limit(op)
        return value.isdigit() and int(value) > LIMITS[limit]

    def check(self, node: cst.CSTNode, op: Op) -> None:
        op = op._replace(sure=False)  # who raises it mostly knows why: only for those who ask for all
        limit, value = _limit(op)
        self.report(
            node,
            op,
            f"`{limit} = {value}` hides recompilations rather than ending them (the "
            f"default is {LIMITS[limit]}); TORCH_LOGS=recompiles tells what causes them",
        )


def _limit(op: Op) -> tuple[str, str]:
    """Which limit is set, and to what: by a setting of Dynamo's or by an argument of torch.compile."""
    if op.name in COMPILES:
        return "recompile_limit", op.arg("recompile_limit").removeprefix("constant ")
    return op.name.rsplit(".", 1)[-1], op.arg(0).removeprefix("constant ")
