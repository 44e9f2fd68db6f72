"""The package that a folder is, by the `__init__.py` files above: how what lies in it is imported."""

from __future__ import annotations

import os


def package_of(folder: str) -> tuple[list[str], str]:
    """The names of the package that a folder is (none: it is no package), and the folder that it is imported from."""
    parts: list[str] = []
    here = folder or "."
    while os.path.isfile(os.path.join(here, "__init__.py")):
        absolute = os.path.abspath(here)
        parts.insert(0, os.path.basename(absolute))
        parent = (
            os.path.dirname(here)
            if os.path.basename(here) not in ("", ".", "..")
            else os.path.join(here, "..")
        )
        here = parent or "."
    return parts, here
