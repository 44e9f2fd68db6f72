"""torch.amp: autocast, inside of which Dynamo can resume after a break."""

from __future__ import annotations

from pt2lint.libraries.model import Library
from pt2lint.libraries.torch_functions import called

LIBRARY = Library(
    "torch.amp",
    given="tensors",
    closed=True,
    objects=True,
    roles={
        "resumable": ("torch.autocast*", "torch.amp.*", "torch.cuda.amp.*"),
        "mode": ("torch.is_autocast_enabled", "torch.is_autocast_cpu_enabled"),
        "asks for a CPU": ("torch.is_autocast_cpu_enabled",),
    },
    told_by={"torch.amp.GradScaler": ("unscale_()", "scale() step() update")},
    # Those of torch.cuda and torch.cpu also warn that they are deprecated (measured on 2.6, 2.9, 2.13 and 2.15).
    breaks=dict.fromkeys(
        ("torch.amp.GradScaler", "torch.cuda.amp.GradScaler", "torch.cpu.amp.GradScaler"),
        "Dynamo does not trace how a gradient scaler is made: make it before",
    ),
    otherwise=called,
    renamed=lambda name: "torch.amp.GradScaler" if name == "torch.amp.grad_scaler.GradScaler" else None,
    measured="matrix/constructs/contexts.py",
)
