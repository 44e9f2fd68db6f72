from __future__ import annotations

from types import MappingProxyType

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import Rule

CHOOSES = ("call torch.where", "call torch.Tensor.where")


class ByteMask(Rule):
    """A mask of `torch.uint8` chooses elements, which runs and raises where it is compiled.

    ## What happens
    Before torch had `torch.bool`, masks were bytes, and in eager mode they still are: `x[mask.byte()]` warns and
    selects. The tensors that Dynamo traces with take no such mask, and that is no graph break, after which Python
    would go on: indexing and `torch.where` raise TorchRuntimeError. `masked_fill`, `masked_select` and `x[mask] = 0`
    refuse bytes in eager mode too.

    ## Example
    ```python
    import torch

    @torch.compile
    def total(x, lengths):
        mask = (torch.arange(x.shape[1]) < lengths[:, None]).byte()
        return torch.where(mask, x, 0.0).sum()

    def run():
        return total(torch.ones(2, 3), torch.tensor([1, 3]))
    ```

    ## Use instead
    ```python
    import torch

    @torch.compile
    def total(x, lengths):
        mask = torch.arange(x.shape[1]) < lengths[:, None]
        return torch.where(mask, x, 0.0).sum()

    def run():
        return total(torch.ones(2, 3), torch.tensor([1, 3]))
    ```

    ## Versions
    Measured: TorchRuntimeError on torch 2.6, 2.9, 2.13 and 2.15 for `x[mask]`, `x[:, mask]`, `torch.where(mask, a, b)`
    and `a.where(mask, b)`, where the mask is an argument and where compiled code makes it.
    """

    code = "PTS344"
    name = "byte-mask"
    ops = ("index bytes", *CHOOSES)
    severity = "error"
    instead = MappingProxyType(
        {
            "": "Make it a mask of `torch.bool`: leave `.byte()` out, or write `mask.bool()` where others make it"
        }
    )

    @classmethod
    def accepts(cls, op: Op) -> bool:
        return op.name not in CHOOSES or op.arg(0, "condition") == "tensor:byte"

    def check(self, node: cst.CSTNode, op: Op) -> None:
        why = f": {op.why}" if op.why else ""
        self.report(
            node,
            op,
            f"{self.quote(node)} runs, but raises where it is compiled: the mask is of `torch.uint8`, which no graph "
            f"takes for one{why}",
        )
