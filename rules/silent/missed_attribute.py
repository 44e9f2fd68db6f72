from __future__ import annotations

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import Rule

# Measured: since when it is not guarded that the attribute is missing, by how the code looks for it.
SINCE = {"try": (2, 6), "dict": (2, 6), "vars": (2, 9), "suppress": (2, 13)}


class MissedAttribute(Rule):
    """Compiled code sets an attribute where it catches that it is missing: to the compiled code it stays missing.

    ## What happens
    Where `self.kept` raises AttributeError while Dynamo traces, it goes on in the handler, and guards nothing: that
    the attribute is missing is part of the graph. The call sets it, but each later call runs the handler again. A
    state starts anew every time, a counter stays at one, what was made of the first batch is made of each, and
    nothing is said. The same goes for `"kept" in self.__dict__`, `self.__dict__.get("kept")`, `vars(self)` and, on
    newer torch, `contextlib.suppress(AttributeError)`.

    `hasattr(self, "kept")` and `getattr(self, "kept", None)` are guarded, and so is an attribute that `__init__`
    makes None: the second call is compiled again, once. A buffer that the handler registers is noticed, too. Where
    what is kept does not hang on the call, as of a table of positions, the result is right, but the table is made
    at every call: that is a note.

    ## Example
    ```python
    import torch

    class Scale(torch.nn.Module):
        def forward(self, x):
            try:
                scale = self.scale
            except AttributeError:
                scale = self.scale = x.abs().max()
            return x / scale

    def run():
        net = torch.compile(Scale())
        return [net(torch.ones(3) * n) for n in (1, 2, 3)]
    ```

    ## Use instead
    ```python
    import torch

    class Scale(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = None

        def forward(self, x):
            if self.scale is None:
                self.scale = x.abs().max()
            return x / self.scale

    def run():
        net = torch.compile(Scale())
        return [net(torch.ones(3) * n) for n in (1, 2, 3)]
    ```

    ## Versions
    Measured: wrong on torch 2.6, 2.9, 2.13 and 2.15 for `try` and `__dict__`, from 2.9 on for `vars`, on 2.13 and 2.15
    for `suppress`.
    """

    code = "PTS347"
    name = "missed-attribute"
    ops = ("miss attribute",)
    asks_what_is_left = True

    def check(self, node: cst.CSTNode, op: Op) -> None:
        how = op.detail("how")
        if self.function.target < SINCE[how] or self.function.is_left:
            return
        asked = f"`self.{op.detail('name')}`" if how in ("try", "suppress") else self.quote(node)
        what = f"{asked} is asked for when this is compiled, and Dynamo does not guard that it is missing"
        if op.detail("carries"):
            says = f"{what}: each call goes on as if none had set it, and nothing is said"
        else:
            says = f"{what}: each call makes it anew"
        self.report(
            node,
            op,
            f"{says}; make it None in `__init__`, and ask for that",
            severity=None if op.detail("carries") else "note",
        )
