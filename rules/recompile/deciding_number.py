from __future__ import annotations

from types import MappingProxyType

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import Rule

WHAT = {
    "range": "says how often a loop turns",
    "index": "picks from a list or dictionary",
    "place": "picks from a tensor, beside other dimensions",
}


class DecidingNumber(Rule):
    """A module is given a number that decides what is compiled.

    ## What happens
    A number that a `forward` is given costs one recompilation where it enters the arithmetic or bounds a slice:
    Dynamo then keeps a symbol for it. It cannot where the number picks from a tensor beside other dimensions
    (`self.keys[:, step] = key`, the place of a token in a cache), from a list or a dictionary, or ends a loop: each
    is compiled again, and after 8 of them the module runs without being compiled. As a tensor, the number is data:
    `self.keys.index_copy_(1, step, key)`.

    A note, as nothing here says that the number changes from call to call. Where a call in a loop shows that, it is
    PTR207.

    ## Example
    ```python
    import torch

    class Attention(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("keys", torch.zeros(2, 16, 4))

        def forward(self, x, step: int):
            self.keys[:, step] = x
            return self.keys.sum(dim=1)

    attention = Attention()
    compiled = torch.compile(attention)

    def run():
        x = torch.ones(2, 4)
        for step in range(11):
            compiled(x, step)
    ```

    ## Use instead
    ```python
    import torch

    class Attention(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("keys", torch.zeros(2, 16, 4))

        def forward(self, x, step: torch.Tensor):
            self.keys.index_copy_(1, step, x[:, None])
            return self.keys.sum(dim=1)

    attention = Attention()
    compiled = torch.compile(attention)

    def run():
        x = torch.ones(2, 4)
        for step in torch.arange(11):
            compiled(x, step[None])
    ```

    ## Versions
    Measured over 11 calls on torch 2.9, 2.13 and 2.15: 8 recompilations, and then eager; none for a tensor. On 2.6 the
    example costs 1.
    """

    code = "PTR231"
    name = "deciding-number"
    instead = MappingProxyType(
        {
            "": "Give it as a tensor of one dimension, and read and write with `index_select` and `index_copy_`; what "
            "a list or the end of a loop needs, pick outside"
        }
    )
    ops = ("decide by number",)
    severity = "note"
    about_guards = True
    asks_what_is_left = True

    def check(self, node: cst.CSTNode, op: Op) -> None:
        name = op.detail("name")
        use = op.detail("use").partition(" | ")[0]
        what = WHAT[use]
        costless = (
            "as a tensor of one dimension" if use == "place" else "always alike"
        )  # a tensor ends no loop, and picks no layer
        op = self.led_to(op, op.detail("at"), "decides here what is compiled")
        self.report(
            node,
            op,
            f"`{name}` is a Python number that {what}: each one that comes is compiled again, up to the limit of 8; "
            f"{costless} it costs nothing",
        )
