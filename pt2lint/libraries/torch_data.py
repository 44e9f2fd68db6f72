"""torch.utils.data: data sets and loaders, each followed from the place that makes it."""

from __future__ import annotations

from pt2lint.libraries.model import Library
from pt2lint.libraries.torch_optim import made

LIBRARY = Library(
    "torch.utils.data",
    given="tensors",
    closed=True,
    objects=True,
    roles={"followed": ("torch.utils.data.*",), "loader": ("torch.utils.data.DataLoader",)},
    otherwise=made,
    measured="matrix/recompilations/shapes.py",
)
