"""Texts that tests lint."""

from __future__ import annotations

import re
from typing import Any

from pt2lint.finding import Finding
from pt2lint.project.config import Settings
from pt2lint.static.engine import lint

HEAD = "import torch\nfrom torch import nn\n"
PATH = "/nowhere/m.py"  # of no project, whose settings would count


def headed(source: str) -> str:
    """The text with the imports that most need, where it does not say itself what it imports of torch."""
    return source if re.search(r"^(import torch|from torch import nn)$", source, re.M) else HEAD + source


def findings(source: str, **settings: Any) -> list[Finding]:
    """What pt2lint finds in a script of this text, with these of its settings."""
    return lint([PATH], Settings(**settings), {PATH: source}).findings
