from __future__ import annotations

from pt2lint.op import Op
from pt2lint.rule import GraphBreak, calls

LATER = "all_reduce all_gather broadcast reduce all_gather_into_tensor"
OBJECTS = "all_gather_object broadcast_object_list"


class CollectiveCall(GraphBreak):
    """A collective that graphs do not hold: a barrier, one of objects, or one that is waited for later.

    ## What happens
    Dynamo puts `all_reduce`, `all_gather` and the like into the graph as functional collectives. It has none for
    `barrier` (GB0007), none that gives a handle to wait for (`async_op=True`: GB0172), and those of Python objects
    pickle them: the graph ends there, or compiling fails.

    ## Example
    ```python
    import torch
    import torch.distributed as dist

    if not dist.is_initialized():
        dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)

    def f(x):
        y = x * 2
        dist.barrier()
        return y + 1

    args = (torch.tensor([1.0, -2.0]),)
    ```

    ## Use instead
    Wait outside of what is compiled. Of a collective in the graph, the compiler decides itself when to wait for it:
    ```python
    import torch
    import torch.distributed as dist

    if not dist.is_initialized():
        dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)

    def f(x):
        y = x * 2
        dist.all_reduce(y)
        return y + 1

    args = (torch.tensor([1.0, -2.0]),)
    ```

    ## Versions
    Measured: breaks on torch 2.6 to 2.15, in default mode and with `fullgraph=True`.
    """

    code = "PTB192"
    name = "collective-call"
    ops = calls("torch.distributed", f"barrier monitored_barrier {LATER} {OBJECTS}")
    says = "{code} is a collective that no graph holds"
    repairs = ("disable",)
    graph_breaks = ("GB0172", "GB0007")

    INVALID = (
        "import torch.distributed as dist\nif not dist.is_initialized():\n"
        "    dist.init_process_group('gloo', store=dist.HashStore(), rank=0, world_size=1)\n"
        "def f(x, m, i):\n    y = x * 2\n    work = dist.all_reduce(y, async_op=True)\n    work.wait()\n    return y",
    )
    VALID = ("return x + (torch.distributed.is_available() and 0)",)

    @classmethod
    def accepts(cls, op: Op) -> bool:
        return op.name.rpartition(".")[2] not in LATER.split() or op.arg("async_op") in (
            "constant True",
            "bool",
        )
