"""typing: constants and casts; what its subscripted types say is in forms.py."""

from __future__ import annotations

from pt2lint.libraries.call import Call
from pt2lint.libraries.model import Library
from pt2lint.static.values import UNKNOWN, Value


def cast(call: Call) -> Value:
    return call.args[1] if len(call.args) > 1 else UNKNOWN


LIBRARY = Library(
    "typing",
    closed=True,
    constants={"typing.TYPE_CHECKING": "false"},
    types={f"typing.{n}": n.lower() for n in ("List", "Tuple", "Set", "FrozenSet", "Dict")},
    roles={
        "typing": ("typing.*",),
        "named tuple": ("typing.NamedTuple",),
        "typed dictionary": ("typing.TypedDict", "typing_extensions.TypedDict"),
    },
    handlers={"typing.cast": cast},
)
