from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from pt2lint.finding import Fix
from pt2lint.fixes.by_hand import told
from pt2lint.op import Op
from pt2lint.rule import Rule

WRAPPERS = (
    "torch.nn.parallel.DistributedDataParallel",
    "torch.nn.parallel.distributed.DistributedDataParallel",
    "torch.distributed.fsdp.FullyShardedDataParallel",
    "torch.distributed.fsdp.fully_sharded_data_parallel.FullyShardedDataParallel",
)


class CompiledWrapper(Rule):
    """A distributed wrapper is compiled rather than the module inside it.

    ## What happens
    Dynamo does not trace `DistributedDataParallel` and `FullyShardedDataParallel` well: their own forward
    breaks the graph (three times with DDP on torch 2.13, besides compiling frames of torch's own code).
    PyTorch's guide on where to apply torch.compile says to compile the inner module, before it is wrapped.

    What speaks for the wrapper is in PyTorch's FAQ: there Dynamo splits the graph at DDP's buckets (the setting
    `optimize_ddp`), so that gradients are sent while the rest of the backward pass runs. On a job whose network is
    slow, measure both.

    ## Example
    ```python
    import os
    import torch

    os.environ.update(MASTER_ADDR="localhost", MASTER_PORT="29571")

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(3, 3)

        def forward(self, x):
            return self.layer(x).relu()

    def run():
        torch.distributed.init_process_group("gloo", rank=0, world_size=1)
        try:
            model = torch.compile(torch.nn.parallel.DistributedDataParallel(Net()))
            return model(torch.ones(2, 3))
        finally:
            torch.distributed.destroy_process_group()
    ```

    ## Use instead
    ```python
    import os
    import torch

    os.environ.update(MASTER_ADDR="localhost", MASTER_PORT="29572")

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(3, 3)

        def forward(self, x):
            return self.layer(x).relu()

    def run():
        torch.distributed.init_process_group("gloo", rank=0, world_size=1)
        try:
            model = Net()
            model.compile()
            model = torch.nn.parallel.DistributedDataParallel(model)
            return model(torch.ones(2, 3))
        finally:
            torch.distributed.destroy_process_group()
    ```

    ## Versions
    Measured with DDP and one process: three graph breaks on torch 2.9, 2.13 and 2.15, one on 2.6; none with
    the inner module compiled.
    """

    code = "PTS307"
    name = "compiled-wrapper"
    ops = (
        "call torch.compile",
        "call torch.compiler.compile",
        "call torch.nn.Module.compile",
        *(f"call {w}.compile" for w in WRAPPERS),
    )
    anywhere = True
    severity = "note"

    @classmethod
    def accepts(cls, op: Op) -> bool:
        return _wrapper(op) != ""

    def check(self, node: cst.CSTNode, op: Op) -> None:
        wrapper = _wrapper(op).rsplit(".", 1)[-1]
        self.report(
            node,
            op,
            f"{self.quote(node)} compiles {wrapper}, which breaks the graph; compile the module inside it",
            fixes=self.fixes(node)
            or [told(f"Compile the module, then wrap it: `{wrapper}(torch.compile(model))`")],
        )

    def fixes(self, node: cst.CSTNode) -> list[Fix]:
        """`torch.compile(DDP(net, a), b)` -> `DDP(torch.compile(net, b), a)`"""
        outer, made = node, node.args[0].value if isinstance(node, cst.Call) and node.args else None
        if not isinstance(outer, cst.Call) or not isinstance(made, cst.Call) or not made.args:
            return []
        first = [arg for call in (outer, made) for arg in call.args[:1]]
        if any(arg.keyword is not None or arg.star for arg in first):
            return []
        compiled = self.called(self.text(outer.func), self.text(made.args[0].value), outer.args[1:])
        wrapped = self.called(self.text(made.func), compiled, made.args[1:])
        return [self.fix("Compile the module, then wrap it.", self.edit(outer, wrapped))]

    def called(self, callee: str, first: str, rest: Sequence[cst.Arg]) -> str:
        given = [
            first,
            *(
                self.text(
                    a.with_changes(
                        comma=cst.MaybeSentinel.DEFAULT, whitespace_after_arg=cst.SimpleWhitespace("")
                    )
                )
                for a in rest
            ),
        ]
        return f"{callee}({', '.join(given)})"


def _wrapper(op: Op) -> str:
    """The wrapper's name, also where the module is wrapped under a flag; "" if there is none."""
    kinds = op.arg("self", 0).split(" | ")
    return next((kind for kind in kinds if kind in WRAPPERS), "")
