"""logging and warnings: what they are asked to say is nothing to compute with."""

from __future__ import annotations

from pt2lint.libraries.call import Call
from pt2lint.libraries.model import Library, made_or_unknown
from pt2lint.static.values import NONE, Value


def said(call: Call) -> Value:
    return NONE if call.name.startswith(("logging.Logger.", "warnings.")) else made_or_unknown(call)


SAYS = "debug info log info_once".split()
WARNS = "warning warn warning_once warn_once error exception critical".split()

LIBRARIES = (
    Library(
        "logging",
        returns={"logging.getLogger": "instance logging.Logger"},
        roles={
            "warns": tuple(f"logging.{owner}{name}" for owner in ("", "Logger.") for name in WARNS),
            "says": tuple(f"logging.{owner}{name}" for owner in ("", "Logger.") for name in SAYS + WARNS),
        },
        otherwise=said,
        measured="matrix/constructs/printing.py",
    ),
    Library(
        "warnings",
        roles={"warns": ("warnings.warn",), "says": ("warnings.warn",)},
        otherwise=said,
        measured="matrix/constructs/printing.py",
    ),
)
