"""Where torch's functions and methods take a number, and Dynamo has to read the tensor that stands for one: as
torch_numbers.json has it (matrix/number_arguments.py)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_TABLE: dict[str, Any] = json.loads((Path(__file__).parent / "torch_numbers.json").read_bytes())

# As `numbers` of a Library.
NUMBERS = {
    name: (tuple(positions), tuple(keywords)) for name, (positions, keywords) in _TABLE["numbers"].items()
}
UNCAPTURED: tuple[str, ...] = tuple(_TABLE["uncaptured"])
