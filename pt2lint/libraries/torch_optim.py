"""torch.optim: optimizers and schedulers, each followed from the place that makes it."""

from __future__ import annotations

from pt2lint.libraries.call import Call
from pt2lint.libraries.model import Library
from pt2lint.libraries.torch_functions import called
from pt2lint.libraries.torch_table import table
from pt2lint.op import RENAMED
from pt2lint.static.values import LEAF, Func, Instance, Seq, Tensor, Value

GROUP = "torch.optim.Optimizer.param_group"
# What torch.optim has under the names of these modules alone.
OWN = ("lr_scheduler", "swa_utils")
STATE, STATE_OF_ONE = "torch.optim.Optimizer.state", "torch.optim.Optimizer.state.item"


def made(call: Call) -> Value:
    if call.name.endswith(".step") and not call.frame.region:
        for closure in (*call.args[:1], call.kwargs.get("closure")):
            if isinstance(closure, Func):
                call.apply(closure, [])  # as LBFGS does, several times a step
    if call.name in table().returns or call.receiver is not None:
        return called(call)
    return call.followed()


def attribute(type_name: str, owner: Value, name: str) -> Value | None:
    """`optimizer.param_groups`: what is done with a group is done with the optimizer, its "owner". `group["params"]`
    holds parameters, `optimizer.state[p]` what is kept for one. An item goes by the name "[KEY]"."""
    if type_name == STATE and name.startswith("["):
        return Instance(None, STATE_OF_ONE)
    if type_name == GROUP and name == "[params]":
        return Seq(None, Tensor("float", leaf=LEAF), "list")
    if name == "state" and isinstance(owner, Instance):
        return Instance(None, STATE)
    if name != "param_groups" or not isinstance(owner, Instance):
        return None
    group = owner.attrs.get("[group]")  # under no name that an attribute may have
    if not isinstance(group, Instance):
        group = owner.attrs["[group]"] = Instance(None, GROUP, True)
        group.attrs["owner"] = owner
    return Seq(None, group, "list")


def public(name: str) -> str | None:
    """`torch.optim.optimizer.Optimizer` is where torch.optim has Optimizer from."""
    parts = name.split(".")
    moved = len(parts) > 3 and parts[2] not in OWN and parts[3][:1].isupper()
    return ".".join(["torch.optim", *parts[3:]]) if moved else None


LIBRARY = Library(
    "torch.optim",
    given="tensors",
    closed=True,
    objects=True,
    roles={
        "followed": ("torch.optim.*",),
        "state of an optimizer": (GROUP, STATE_OF_ONE),
        "trains": ("torch.optim.*",),
        "clears gradients": ("torch.optim.Optimizer.zero_grad",),
        "schedules": ("torch.optim.lr_scheduler.*",),
        "groups of parameters": ("torch.optim.Optimizer.param_groups",),
        "copies": ("torch.optim.swa_utils.AveragedModel",),
    },
    told_by={
        # What runs a model as well (an engine) has a `backward` of its own, and is called.
        "torch.optim.Optimizer": (
            "zero_grad step -backward() -()",
            "param_groups",
        ),
        "torch.optim.lr_scheduler.LRScheduler": ("step get_last_lr",),
    },
    otherwise=made,
    # Measured on 2.6, 2.9, 2.13 and 2.15, of a class of one's own, under torch.no_grad and without.
    breaks={"torch.optim.Optimizer._cuda_graph_capture_health_check": f"{RENAMED}\t\t2.13"},
    attribute=attribute,
    renamed=public,
    measured="matrix/recompilations/optimizers.py",
)
