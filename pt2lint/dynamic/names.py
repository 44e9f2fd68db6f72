"""What a target is called across runs: the module that defines it, and its name there."""

from __future__ import annotations

import os


def qualified(name: str, path: str | None) -> str:
    """The name with the module of the file in front, as it is imported; alone where there is no file."""
    if not path:
        return name
    folder, file = os.path.split(path)
    stem = os.path.splitext(file)[0]
    parts = [] if stem == "__init__" else [stem]
    while os.path.exists(os.path.join(folder, "__init__.py")):
        folder, package = os.path.split(folder)
        parts.insert(0, package)
    return ".".join([*parts, name])
