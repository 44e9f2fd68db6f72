"""torch.distributions: objects of which nothing but their class is known."""

from __future__ import annotations

from pt2lint.libraries.model import Library, made_or_unknown

LIBRARY = Library(
    "torch.distributions",
    given="tensors",
    closed=True,
    objects=True,
    otherwise=made_or_unknown,
    measured="matrix/constructs/torch_calls.py",
)
