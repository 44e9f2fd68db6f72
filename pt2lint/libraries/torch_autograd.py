"""torch.autograd: functions with a gradient of their own, and contexts around the backward pass."""

from __future__ import annotations

from pt2lint.libraries.call import Call
from pt2lint.libraries.model import Library
from pt2lint.libraries.torch_functions import called
from pt2lint.static.values import NONE, UNKNOWN, Seq, Tensor, Value

CONTEXT = "torch.autograd.function.FunctionCtx"  # what `forward` and `backward` are given first
VARIABLE = "torch.autograd.Variable"
CONTEXTS = (
    "torch.autograd.detect_anomaly",
    "torch.autograd.set_detect_anomaly",
    "torch.autograd.graph.saved_tensors_hooks",
    "torch.autograd.graph.save_on_cpu",
)


def wrapped(call: Call) -> Value:
    """`Variable(x)`, which is x since torch 0.4."""
    return call.args[0] if call.args else UNKNOWN


def method(call: Call) -> Value:
    return NONE if call.name.startswith("torch.autograd.Function.") else called(call)


def attribute(type_name: str, owner: Value, name: str) -> Value | None:
    """What `forward` kept for `backward`; of what else it set on the context nothing is known."""
    if type_name != CONTEXT:
        return None
    return Seq(None, Tensor(None), "tuple") if name == "saved_tensors" else UNKNOWN


LIBRARY = Library(
    "torch.autograd",
    given="tensors",
    closed=True,
    objects=True,
    returns={name: f"instance {name}" for name in CONTEXTS},
    roles={
        "context of a function": (CONTEXT,),
        "differentiable function": ("torch.autograd.*",),
        "resumable": ("torch.autograd.*",),
        "says what is of it": (VARIABLE,),
    },
    breaks={VARIABLE: "Dynamo does not trace it, and tensors need it no more since torch 0.4"},
    handlers={VARIABLE: wrapped},
    renamed=lambda name: VARIABLE if name == "torch.autograd.variable.Variable" else None,
    otherwise=method,
    attribute=attribute,
    measured="matrix/constructs/gradients.py, matrix/constructs/contexts.py",
)
