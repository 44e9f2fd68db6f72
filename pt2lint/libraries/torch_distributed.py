"""torch.distributed: collectives, and the handles of those that are waited for later."""

from __future__ import annotations

from pt2lint.libraries.call import Call
from pt2lint.libraries.model import Library
from pt2lint.static.values import NONE, Instance, Value, truth

WORK = "torch.distributed.Work"
COLLECTIVES = (
    "all_reduce broadcast reduce all_gather gather scatter reduce_scatter reduce_scatter_tensor all_to_all "
    "all_to_all_single all_gather_into_tensor barrier"
)


def collective(call: Call) -> Value:
    """A handle to wait for, where one is asked for."""
    asked = call.kwargs.get("async_op")
    return Instance(None, WORK) if asked is not None and truth(asked) is True else NONE


def public(name: str) -> str | None:
    """`torch.distributed.distributed_c10d.all_reduce` is where torch.distributed has all_reduce from."""
    module, _, last = name.rpartition(".")
    own = module == "torch.distributed.distributed_c10d" and not last.startswith("_")
    return f"torch.distributed.{last}" if own else None


LIBRARY = Library(
    "torch.distributed",
    given="tensors",
    closed=True,
    objects=True,
    renamed=public,
    returns=dict.fromkeys(("torch.distributed.isend", "torch.distributed.irecv"), f"instance {WORK}"),
    roles={
        "works with processes": tuple(
            f"torch.distributed.{name}" for name in f"{COLLECTIVES} get_rank isend irecv send recv".split()
        )
    },
    handlers={f"torch.distributed.{name}": collective for name in COLLECTIVES.split()},
)
