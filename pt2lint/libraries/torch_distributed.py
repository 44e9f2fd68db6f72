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
# What Dynamo has functional collectives for.
OF_TENSORS = ("all_reduce", "all_gather", "reduce_scatter_tensor", "all_to_all_single")
HOMES = {
    "torch.distributed.distributed_c10d": "torch.distributed",
    "torch.distributed.nn.functional": "torch.distributed.nn",
}
# What those of torch.distributed.nn return, which pass gradients on.
ONE = "all_reduce all_to_all_single broadcast reduce reduce_scatter scatter"
SEVERAL = "all_gather all_to_all gather"


def collective(call: Call) -> Value:
    """A handle to wait for, where one is asked for."""
    name = call.name.rpartition(".")[2]
    if name in OF_TENSORS and not call.without_gradients:
        call.note("collect with gradient", details={"name": name})
    asked = call.kwargs.get("async_op")
    return Instance(None, WORK) if asked is not None and truth(asked) is True else NONE


def public(name: str) -> str | None:
    """`torch.distributed.distributed_c10d.all_reduce` is where torch.distributed has all_reduce from."""
    module, _, last = name.rpartition(".")
    home = HOMES.get(module, "") if not last.startswith("_") else ""
    return f"{home}.{last}" if home else None


LIBRARY = Library(
    "torch.distributed",
    given="tensors",
    closed=True,
    objects=True,
    renamed=public,
    returns={
        **dict.fromkeys(("torch.distributed.isend", "torch.distributed.irecv"), f"instance {WORK}"),
        **{f"torch.distributed.nn.{name}": "tensor" for name in ONE.split()},
        **{f"torch.distributed.nn.{name}": "tensors" for name in SEVERAL.split()},
    },
    roles={
        "works with processes": (
            *(
                f"torch.distributed.{name}"
                for name in f"{COLLECTIVES} get_rank isend irecv send recv".split()
            ),
            *(f"torch.distributed.nn.{name}" for name in f"{ONE} {SEVERAL}".split()),
        )
    },
    handlers={f"torch.distributed.{name}": collective for name in COLLECTIVES.split()},
)
