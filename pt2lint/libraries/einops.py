"""einops and einx: what they return is a tensor like the first that they are given."""

from __future__ import annotations

from pt2lint.libraries.model import Library, keep_first

LIBRARIES = (
    Library(
        "einops",
        roles={"takes a tensor first": ("einops.rearrange*", "einops.repeat*", "einops.reduce*")},
        otherwise=keep_first,
        measured="matrix/calls.py",
    ),
    Library("einx", otherwise=keep_first),
)
