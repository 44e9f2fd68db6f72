"""tqdm and rich.progress: bars around a loop, which goes over what they are given."""

from __future__ import annotations

from pt2lint.libraries.model import Library

LIBRARIES = (
    Library("tqdm", roles={"passes items": ("tqdm.tqdm",)}, measured="matrix/recompilations/shapes.py"),
    Library("rich", roles={"passes items": ("rich.progress.track",)}),
)
