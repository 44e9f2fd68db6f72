from __future__ import annotations

from types import MappingProxyType

import libcst as cst

from pt2lint.finding import Fix
from pt2lint.fixes.by_hand import told
from pt2lint.op import Op
from pt2lint.rule import Rule
from pt2lint.rule.syntax import observes

UNROLLED = {
    "range": "a loop turns that often",
    "items": "a loop goes over the rows",
    "length": "a list is made that long",
    "text": "it is written into a text",
    "kept": "the function keeps it as one",
}
LEAVE = (
    'Leave the text to code that is not compiled; where it is only returned, `"{:02d}".format(n)` makes it when '
    "somebody asks for it"
)


class FixedSize(Rule):
    """The size of an input becomes a constant of the graph.

    ## What happens
    Where a size changes, Dynamo compiles once more and keeps a symbol for it, so that no third graph is made. Not
    where the code needs the number itself: a loop of that many turns is unrolled (`for i in range(x.shape[0])`,
    `for row in x`), a list gets that many items (`[0] * n`), a string holds it (`self.log(f"{n} rows")`, even where
    `log` does nothing with it), one of 55 functions of NumPy's computes with it (`np.sqrt(n)`, where `math.sqrt` keeps
    a symbol). Then each size is compiled again, also with `dynamic=True`, and after 8 of them the function runs without
    being compiled. Which of two ways is taken for a size (`if n % 4:`, `if x.numel() == 0:`) is compiled once for
    each.

    A test of a size that `F.scaled_dot_product_attention` is given (`is_causal=n > 1`) is a symbol, too, once sizes
    have changed, and the function takes none: from then on the graph ends there (GB0112). `True if n > 1 else False`
    decides while tracing. So it is with a text that is made of a size by `str(n)` or `"%d" % n`: Dynamo
    writes no symbol, and the graph ends there (GB0059, GB0088). An f-string that formats one as a number
    (`f"layer{n:02d}"`) fails with an internal error (`InternalTorchDynamoError`: Unknown format code 'd') at the second
    size, where the text is returned, compared or names something.

    A note, as nothing here says that the size changes. Compute with the whole tensor instead, make
    `torch.full((n,), k)` of `torch.tensor([k] * n)`, leave strings to code that is not compiled, pad in any case, and
    ask for what is empty where the function is called.

    ## Example
    ```python
    import torch

    @torch.compile
    def total(x):
        y = torch.zeros(3)
        for i in range(x.shape[0]):
            y = y + x[i] * 2
        return y

    def run():
        for n in range(2, 13):
            total(torch.ones(n, 3))
    ```

    ## Use instead
    ```python
    import torch

    @torch.compile(dynamic=True)
    def total(x):
        return (x * 2).sum(dim=0)

    def run():
        for n in range(2, 13):
            total(torch.ones(n, 3))
    ```

    ## Versions
    Measured over 11 sizes: 8 recompilations, and then eager, for a loop on torch 2.6, 2.9, 2.13 and 2.15, and for
    lists and strings on 2.13; there 2 for a size that is a multiple of 4 or not, or that is 0 or not. With
    `dynamic=True` no fewer. For a size that is given to `np.sqrt`, `np.log`, `np.prod`, `np.maximum` and 51 more
    functions of NumPy's, at each place of a number, the same on all four torches, with `dynamic=True` too. A size
    that an f-string formats as a number: fails on all four; `"{:02d}".format(n)` costs one recompilation where it
    is returned.
    """

    code = "PTR230"
    name = "fixed-size"
    instead = MappingProxyType(
        {"": "Compute with the whole tensor, or have the number ready before the compiled code"}
    )
    ops = ("fix size",)
    severity = "note"
    about_guards = True
    asks_what_is_left = True

    def check(self, node: cst.CSTNode, op: Op) -> None:
        how, size = op.detail("how"), op.detail("size")
        fixes: list[Fix] = []
        if observes(self.function, node):
            return
        if how in UNROLLED:
            what = (
                f"{self.quote(node)} makes the size of `{size}` a constant, as {UNROLLED[how]}: each other size is "
                "compiled again, up to the limit of 8"
            )
            if how == "length":
                from pt2lint.fixes.repairs import filled

                fixes = [*filled.fixes(self.function, node)]
        elif how == "formatted":
            what = (
                f"{self.quote(node)} formats the size of `{size}` as a number: once the size has changed it is a "
                "symbol, and making the text fails with an internal error of Dynamo"
            )
            fixes = [told(LEAVE)]
        elif how == "flag":
            what = (
                f"{self.quote(node)} is a symbol once sizes of `{size}` have changed, which the function does not "
                "take: the graph then ends here"
            )
            fixes = [told("Decide while tracing: `True if ... else False`")]
        elif how == "symbol":
            what = (
                f"{self.quote(node)} writes a size of `{size}` into a text, which Dynamo cannot do with a symbol, as "
                "the size is one once it has changed: the graph then ends here"
            )
            fixes = [
                told("Leave the text to code that is not compiled, or name what it tells apart by a number")
            ]
        else:
            what = (
                f"{self.quote(node)} decides what is compiled: where it comes out otherwise, for another size of "
                f"`{size}`, it is compiled once more"
            )
        self.report(node, op, what, fixes=fixes, severity="warning" if how == "formatted" else None)
