"""pydantic and attrs: classes of which compiled code can make no objects: they check or freeze what they get."""

from __future__ import annotations

from pt2lint.libraries.model import Library

VALIDATES = "pydantic checks what it is given in code that is not Python"
FREEZES = "an object that attrs freezes sets what it is given in a way that Dynamo does not trace"
MEASURED = "on torch 2.6, 2.9, 2.13 and 2.15; what is read of an object that was there before is traced"

LIBRARIES = (
    Library(
        "pydantic",
        breaks=dict.fromkeys(("pydantic.BaseModel", "pydantic.dataclasses.dataclass"), VALIDATES),
        measured=f"pydantic 2.14 {MEASURED}",
    ),
    *(
        Library(name, breaks={f"{name}.frozen": FREEZES}, measured=f"attrs 26.1 {MEASURED}")
        for name in ("attr", "attrs")
    ),
)
