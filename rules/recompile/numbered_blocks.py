from __future__ import annotations

from types import MappingProxyType

import libcst as cst

from pt2lint.finding import Severity
from pt2lint.op import Op
from pt2lint.rule import Rule
from pt2lint.rule.compiled_call import FOLLOWS, is_isolated


class NumberedBlocks(Rule):
    """Blocks are compiled one by one, and each reads a number of its own.

    ## What happens
    Blocks of one class share their code, and what was compiled for the first is tried for the next. Dynamo takes an
    int or a string that a module holds for a constant: a block that reads its own index (`self.layer_idx`) is
    compiled again for each, and from the ninth on, past the recompile limit, blocks run without being compiled.
    Blocks that differ in their weights alone are compiled once. Leave the number to who calls the block, where it
    is an index into a list or a cache: give the block its item. Where arithmetic is done with it, a buffer is no
    constant, nor is the number with `torch._dynamo.config.allow_unspec_int_on_nn_module = True`.

    Where nothing shows that blocks are compiled one by one, a number by which something is picked or named is a note.
    So is one that is read only where an argument is given (`if cache is not None: cache.update(self.layer_idx, k)`),
    and one in blocks that a graph break in a loop over them parts: Dynamo leaves the loop to Python, and compiles each
    block by itself.

    The same goes for blocks with a layer whose weight is parametrized (`weight_norm`, `spectral_norm` and `orthogonal`
    of `torch.nn.utils.parametrizations`, `register_parametrization`): that makes a class for each layer, and Dynamo
    guards on the class. The older `torch.nn.utils.weight_norm` and `spectral_norm` add hooks, and cost nothing here.

    A method under `@torch.compile` is shared by all objects of its class in the same way, and the size of a
    parameter or a buffer is a constant, too, whatever `dynamic` says: each size is compiled again (a note, where
    not all are made with one size). Compile the model around them instead: they are parts of its graph.

    ## Example
    ```python
    import torch

    class Block(torch.nn.Module):
        def __init__(self, index):
            super().__init__()
            self.index = index

        def forward(self, x, cache):
            cache[self.index] = x
            return x * 2

    blocks = torch.nn.ModuleList([Block(i) for i in range(11)])
    for block in blocks:
        block.compile()

    def run():
        x, cache = torch.ones(3), {}
        for block in blocks:
            x = block(x, cache)
        return x
    ```

    ## Use instead
    ```python
    import torch

    class Block(torch.nn.Module):
        def forward(self, x):
            return x * 2, x

    blocks = torch.nn.ModuleList([Block() for i in range(11)])
    for block in blocks:
        block.compile()

    def run():
        x, cache = torch.ones(3), {}
        for index, block in enumerate(blocks):
            x, cache[index] = block(x)
        return x
    ```

    ## Versions
    Measured over 11 blocks on torch 2.6, 2.9, 2.13 and 2.15: 8 recompilations, and then eager; for a number that
    enters arithmetic alone 1 on 2.6. None without a number, 1 for a float and for a bool. For a string that is made
    of the number (`f"layers.{i}"`) and picks something: 8 on 2.13, none where it only names a region of a profile.
    Over 12 blocks with a parametrized layer, on the same four: 7 recompilations, and then eager, none once the
    parametrization is removed; with the older functions, which add hooks, as many on 2.6, none since 2.9.
    With `block.compile(isolate_recompiles=True)`, on 2.13 and 2.15, each of the 11 is compiled.
    """

    code = "PTR226"
    name = "numbered-blocks"
    instead = MappingProxyType(
        {
            "compile block": "Number the blocks where they are called, in the loop over them",
            "compile parametrized block": "Compile the model around the blocks, or take the parametrizations away "
            "first (`torch.nn.utils.parametrize.remove_parametrizations`) where nothing trains them any more",
        }
    )
    ops = ("compile block", "compile parametrized block")
    anywhere = True
    asks_what_is_left = True

    def check(self, node: cst.CSTNode, op: Op) -> None:
        seldom: Severity | None = None
        if when := op.detail("when"):
            op, seldom = op._replace(when=(*op.when, when)), "note"
        if size := op.detail("sized by"):
            named, held = op.detail("class"), op.detail("holds")
            self.report(
                node,
                self.led_to(op, op.detail("at"), f"`{size}` is the size of `self.{held}`"),
                f"{self.quote(node)} shares its compilations between all objects of `{named}`: one whose `{size}` is "
                f"another is compiled again, as `self.{held}` has another size, up to the limit of 8; in a compiled "
                "model they are parts of one graph",
                severity="note",
            )
            return
        if op.name == "compile parametrized block":
            differs = "is parametrized, so that it has a class of its own"
        else:
            differs = "is another number or text"
        if op.detail("apart"):
            each = f"each `{op.detail('class')}`" if op.detail("class") else "each module that a loop numbers"
            self.report(
                node,
                op,
                f"{self.quote(node)} is another number or text in {each}: where they are compiled one by one, or a "
                "graph break parts them, each is compiled again, and past the limit of 8 they run without being "
                "compiled",
                severity="note",
            )
            return
        if method := op.detail("method"):
            self.report(
                node,
                op,
                f"{self.quote(node)} {differs} in each `{op.detail('class')}`, whose `{method}` is compiled for each "
                "anew; past the recompile limit of 8 it runs without being compiled",
                severity=seldom,
            )
            return
        if not self.is_repeated(node):
            return
        number = op.detail("number")
        if isinstance(node, cst.Call) and is_isolated(node):
            return
        if op.detail("left"):
            if self.function.is_left:
                self.report(
                    node,
                    self.led_to(
                        op._replace(rare=op.rare or FOLLOWS), op.detail("at"), f"`{number}` is read here"
                    ),
                    f"{self.quote(node)} compiles each `{op.detail('class')}` for itself, as a graph break has Dynamo "
                    f"leave this loop to Python: `{number}` {differs} in each; past the recompile limit of 8 they run "
                    "without being compiled",
                )
            return
        if op.detail("varied"):
            self.report(
                node,
                self.led_to(op, op.detail("at"), f"`{number}` is read here"),
                f"{self.quote(node)} compiles each `{op.detail('class')}` for itself: one whose `{number}` is "
                "another int is compiled again, up to the limit of 8, one with another float once more",
                severity="note",
            )
            return
        self.report(
            node,
            self.led_to(op, op.detail("at"), f"`{number}` is read here"),
            f"{self.quote(node)} compiles each `{op.detail('class')}` for itself: `{number}` {differs} in each; past "
            "the recompile limit of 8 they run without being compiled",
            severity=seldom,
        )

    def is_repeated(self, node: cst.CSTNode) -> bool:
        """Whether it stands in a loop or a comprehension."""
        here = self.function.parent(node)
        while here is not None and not isinstance(here, cst.FunctionDef | cst.ClassDef):
            if isinstance(here, cst.For | cst.While | cst.BaseSimpleComp):
                return True
            here = self.function.parent(here)
        return False
