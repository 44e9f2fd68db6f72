"""What a target is called across runs: the module that defines it, and its name there."""

from __future__ import annotations

import os

from pt2lint.packages import package_of


def qualified(name: str, path: str | None) -> str:
    """The name with the module of the file in front, as it is imported; alone where there is no file."""
    if not path:
        return name
    folder, file = os.path.split(path)
    stem = os.path.splitext(file)[0]
    inside, _ = package_of(folder)
    return ".".join([*inside, *([] if stem == "__init__" else [stem]), name])
