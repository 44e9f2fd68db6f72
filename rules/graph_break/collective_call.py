from __future__ import annotations

from types import MappingProxyType

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import GraphBreak, calls

# In the graph, unless a handle is asked for.
LATER = "all_reduce all_gather all_gather_into_tensor reduce_scatter_tensor all_to_all_single"
NEVER = "barrier monitored_barrier broadcast reduce gather scatter reduce_scatter all_to_all new_group"
OBJECTS = "all_gather_object broadcast_object_list"
# Of torch.distributed.nn, which pass gradients on.
DIFFERENTIABLE = (
    "all_gather all_reduce all_to_all all_to_all_single broadcast gather reduce reduce_scatter scatter"
)
# From this torch on, those of torch.distributed.nn raise where they are traced.
REFUSED = (2, 13)


class CollectiveCall(GraphBreak):
    """A collective that Dynamo cannot put into a graph: a barrier, a broadcast, of objects, or waited for later.

    ## What happens
    Dynamo puts `all_reduce`, `all_gather`, `reduce_scatter_tensor` and `all_to_all_single` into the graph as functional
    collectives. It has none for `barrier`, `broadcast`, `reduce`, `scatter` and `gather`, nor for the lists of
    `reduce_scatter` and `all_to_all` (GB0007), none that gives a handle to wait for (`async_op=True`: GB0172; its
    `wait()`: GB0156), and those of Python objects pickle them: the graph ends there, or compiling fails.

    The collectives of `torch.distributed.nn`, which pass gradients on, refuse to be compiled since torch 2.13: they
    raise in the traced code, and Dynamo leaves the whole function to Python (GB0088).

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
    Wait outside the compiled code. Of a collective in the graph, the compiler decides itself when to wait for it:
    ```python
    import torch
    import torch.distributed as dist

    if not dist.is_initialized():
        dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)

    def f(x):
        y = x.detach() * 2
        dist.all_reduce(y)
        return y + 1

    args = (torch.tensor([1.0, -2.0]),)
    ```

    ## Versions
    Measured: breaks on torch 2.6 to 2.15, in default mode and with `fullgraph=True`; `reduce_scatter` is fine on 2.15.
    Of `torch.distributed.nn`, `all_gather`, `all_reduce` and `all_to_all_single` are fine on 2.6 and 2.9 (and
    `all_gather` on 2.11).
    """

    code = "PTB192"
    name = "collective-call"
    aside = "always"
    ops = (
        *calls("torch.distributed", f"{LATER} {NEVER} {OBJECTS}"),
        *calls("torch.distributed.nn", DIFFERENTIABLE),
        "call torch.distributed.Work.wait",
    )
    says = "{code} is a collective that no graph holds"
    repairs = ("disable",)
    instead = MappingProxyType(
        {
            "call torch.distributed.barrier": "Wait for the others around the call of the compiled function",
            "call torch.distributed.nn": (
                "Call the function of the same name in `torch.distributed._functional_collectives`, which is in the "
                "graph and passes gradients on (for `all_gather`, `all_gather_single`: one tensor in place of a list)"
            ),
            "": (
                "Leave `async_op` out: of a collective in the graph the compiler decides itself when to "
                "wait; give one tensor in place of a list (`all_to_all_single`, `reduce_scatter_tensor`); what sends "
                "objects or waits goes around the compiled call"
            ),
        }
    )
    graph_breaks = ("GB0172", "GB0007", "GB0156", "GB0088")

    INVALID = (
        "import torch.distributed as dist\nif not dist.is_initialized():\n"
        "    dist.init_process_group('gloo', store=dist.HashStore(), rank=0, world_size=1)\n"
        "def f(x, m, i):\n    y = x * 2\n    work = dist.all_reduce(y, async_op=True)\n    work.wait()\n    return y",
        "import torch.distributed as dist\nimport torch.distributed.nn\nif not dist.is_initialized():\n"
        "    dist.init_process_group('gloo', store=dist.HashStore(), rank=0, world_size=1)\n"
        "def f(x, m, i):\n    return torch.cat(torch.distributed.nn.all_gather(x * 2)) + 1",
    )
    VALID = (
        "return x + (torch.distributed.is_available() and 0)",
        "import torch.distributed as dist\nimport torch.distributed._functional_collectives as collectives\n"
        "if not dist.is_initialized():\n"
        "    dist.init_process_group('gloo', store=dist.HashStore(), rank=0, world_size=1)\n"
        "def f(x, m, i):\n    return collectives.all_reduce(x, 'sum', dist.group.WORLD) + 1",
        "import torch.distributed as dist\nif not dist.is_initialized():\n"
        "    dist.init_process_group('gloo', store=dist.HashStore(), rank=0, world_size=1)\n"
        "def f(x, m, i):\n    x, y, z = x * 2, torch.empty_like(x), torch.empty_like(x)\n"
        "    dist.all_to_all_single(y, x)\n    dist.reduce_scatter_tensor(z, x)\n    return y + z",
    )

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if op.name.startswith("call torch.distributed.nn.") and self.function.target >= REFUSED:
            says = "{code} refuses to be compiled, and Dynamo leaves the whole function to Python"
        else:
            says = self.says
        self.breaks(node, op, says)

    @classmethod
    def accepts(cls, op: Op) -> bool:
        owner, _, last = op.name.rpartition(".")
        return (
            owner.endswith(".nn")
            or last not in LATER.split()
            or op.arg("async_op")
            in (
                "constant True",
                "bool",
            )
        )
