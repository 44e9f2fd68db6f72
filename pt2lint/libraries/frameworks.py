"""What frameworks around torch do to modules and functions: Lightning, Triton, Numba."""

from __future__ import annotations

from pt2lint.libraries.model import Library

LIBRARIES = (
    Library("lightning", roles={"module base": ("*LightningModule",)}),
    Library("triton", roles={"opaque": ("triton.jit*", "triton.autotune*", "triton.heuristics*")}),
    Library("numba", roles={"opaque": ("numba.*",)}),
)
