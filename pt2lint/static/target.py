"""The torch that the findings speak of."""

from __future__ import annotations

import contextlib
import os
import sys
from functools import lru_cache
from typing import Any

NEWEST_TORCH = (2, 15)


def target_torch(settings: Any) -> tuple[int, int]:
    """The torch version to speak of: as set, else the installed one (from its metadata), else the newest known."""
    target = getattr(settings, "target_torch", None)
    if target is not None:
        return (int(target[0]), int(target[1]))
    with contextlib.suppress(ValueError):
        major, minor = (_installed() or _installed_somehow()).split(".")[:2]
        return (int(major), int(minor))
    return NEWEST_TORCH


def _installed() -> str:
    """The version in the name of the folder that pip and others keep of torch; "" where there is none."""
    for folder in sys.path:
        with contextlib.suppress(OSError):
            if version := _version_in(folder or ".", os.stat(folder or ".").st_mtime_ns):
                return version
    return ""


@lru_cache(maxsize=64)  # a server asks at each keystroke
def _version_in(folder: str, changed: int) -> str:
    """The version of torch that is in a folder, as that was changed last."""
    start, end = "torch-", ".dist-info"
    names = (n for n in os.listdir(folder) if n.startswith(start) and n.endswith(end))
    return next((name.removeprefix(start).removesuffix(end) for name in names), "")


def _installed_somehow() -> str:
    """The same for every way to install one. To load what knows them takes a twentieth of linting one file."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("torch")
    except PackageNotFoundError:
        return ""
