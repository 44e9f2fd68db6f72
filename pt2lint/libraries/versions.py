"""What compares the versions of libraries."""

from __future__ import annotations

from pt2lint.libraries.call import Call
from pt2lint.libraries.model import Library
from pt2lint.static.values import UNKNOWN, Py, Value
from pt2lint.static.values.release import Release, numbers

PARSERS = {
    "packaging": ("version.parse", "version.Version"),
    "pkg_resources": ("parse_version", "packaging.version.parse", "packaging.version.Version"),
    "distutils": ("version.LooseVersion", "version.StrictVersion"),
    "torch.torch_version": ("TorchVersion",),
}


def parsed(call: Call) -> Value:
    given = call.args[0] if call.args else UNKNOWN
    const = given.const if isinstance(given, Py) else None
    if isinstance(const, str):
        return Py("version", numbers(const))
    return Py("version", const) if isinstance(const, Release) else UNKNOWN


LIBRARIES = tuple(
    Library(name, handlers={f"{name}.{each}": parsed for each in names}, measured="no call of torch")
    for name, names in PARSERS.items()
)
