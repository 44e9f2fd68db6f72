"""logging and warnings, loguru and absl.logging: what they are asked to say is nothing to compute with."""

from __future__ import annotations

from pt2lint.libraries.call import Call
from pt2lint.libraries.model import Library, made_or_unknown
from pt2lint.static.values import NONE, Value


def said(call: Call) -> Value:
    return NONE if call.name.startswith(("logging.Logger.", "warnings.")) else made_or_unknown(call)


SAYS = "debug info log info_once".split()
TOLD = "debug info success warning error critical exception log".split()
ABSL = "debug info warning warn error fatal exception log vlog log_first_n log_every_n".split()
ENTERED = ("catch", "contextualize")
FRAME = "loguru looks at the frame that calls it"
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
    # Where a handler takes it: one that does not ask for the level costs nothing, as `trace` by default.
    Library(
        "loguru",
        returns={
            **dict.fromkeys(
                (f"loguru.logger.{name}" for name in ("bind", "opt", "patch")), "instance loguru.logger"
            ),
            **{f"loguru.logger.{name}": f"instance loguru.logger.{name}" for name in ENTERED},
        },
        roles={
            "not entered by decorators": ("loguru.logger.catch",),
            "warns": tuple(f"loguru.logger.{name}" for name in TOLD[3:-1]),
            "says": tuple(f"loguru.logger.{name}" for name in TOLD),
        },
        breaks={f"loguru.logger.{name}": FRAME for name in TOLD},
        measured="loguru 0.7 on torch 2.6, 2.9, 2.13 and 2.15",
    ),
    Library(
        "absl.logging",
        roles={"says": tuple(f"absl.logging.{name}" for name in ABSL)},
        breaks={f"absl.logging.{name}": "it asks a logger, whatever the level" for name in ABSL},
        measured="absl 2.5 on torch 2.6 and 2.13",
    ),
    Library(
        "warnings",
        roles={"warns": ("warnings.warn",), "says": ("warnings.warn",)},
        otherwise=said,
        measured="matrix/constructs/printing.py",
    ),
)
