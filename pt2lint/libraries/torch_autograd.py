"""torch.autograd: functions with a gradient of their own, and contexts around the backward pass."""

from __future__ import annotations

from pt2lint.libraries.call import Call
from pt2lint.libraries.model import Library
from pt2lint.libraries.torch_functions import called
from pt2lint.static.values import NONE, Value

CONTEXTS = (
    "torch.autograd.detect_anomaly",
    "torch.autograd.set_detect_anomaly",
    "torch.autograd.graph.saved_tensors_hooks",
    "torch.autograd.graph.save_on_cpu",
)


def method(call: Call) -> Value:
    return NONE if call.name.startswith("torch.autograd.Function.") else called(call)


LIBRARY = Library(
    "torch.autograd",
    given="tensors",
    closed=True,
    objects=True,
    returns={name: f"instance {name}" for name in CONTEXTS},
    roles={"differentiable function": ("torch.autograd.*",), "resumable": ("torch.autograd.*",)},
    otherwise=method,
    measured="matrix/constructs/gradients.py, matrix/constructs/contexts.py",
)
