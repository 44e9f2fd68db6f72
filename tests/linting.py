"""Texts that tests lint."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from pt2lint.finding import Finding
from pt2lint.project.config import Settings
from pt2lint.static.engine import lint

HEAD = "import torch\nfrom torch import nn\n"
NOWHERE = Path("/nowhere")  # of no project, whose settings would count


def headed(source: str) -> str:
    """The text with the imports that most need, where it does not say itself what it imports of torch."""
    return source if re.search(r"^(import torch|from torch import nn)$", source, re.M) else HEAD + source


def findings(source: str, folder: Path = NOWHERE, **settings: Any) -> list[Finding]:
    """What pt2lint finds in a file of this text beside what is in the folder, with these of its settings."""
    path = str(folder / "m.py")
    return lint([path], Settings(**settings), {path: source}).findings


def announced(source: str, families: str = "BRS") -> list[tuple[int, str]]:
    """The lines and codes of the findings that comments in the text announce: `x = f()  # PTR201, PTR205`."""
    code = re.compile(rf"PT[{families}]\d{{3}}")
    lines = enumerate(source.splitlines(), 1)
    return [(number, found) for number, line in lines for found in code.findall(line.partition("#")[2])]
