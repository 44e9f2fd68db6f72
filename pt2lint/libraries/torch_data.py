"""torch.utils.data: data sets and loaders, each followed from the place that makes it."""

from __future__ import annotations

from pt2lint.libraries.model import Library
from pt2lint.libraries.torch_optim import made

HOMES = ("dataloader", "dataset", "sampler", "distributed")


def public(name: str) -> str | None:
    """The name under torch.utils.data of what is imported from the module that defines it."""
    parts = name.split(".")
    return ".".join([*parts[:3], *parts[4:]]) if len(parts) > 4 and parts[3] in HOMES else None


LIBRARY = Library(
    "torch.utils.data",
    given="tensors",
    closed=True,
    objects=True,
    roles={
        "followed": ("torch.utils.data.*",),
        "loader": ("torch.utils.data.DataLoader",),
        "numbers its items": ("torch.utils.data.Dataset",),
    },
    otherwise=made,
    renamed=public,
    measured="matrix/recompilations/shapes.py",
)
