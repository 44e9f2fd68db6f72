"""The command line. What it does not need to say --help or to find a cached answer is imported late."""

from __future__ import annotations

import contextlib
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

# What is no linting, and the module that holds it.
COMMANDS = {
    "rule": "commands", "server": "commands", "completion": "commands", "skill": "commands", "merge": "merge",
    "compare": "compare",
}  # fmt: skip


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if argv is None:  # the process is ours and ends soon: looking for garbage in it costs more than it frees
        import atexit
        import gc

        gc.disable()
        atexit.register(gc.freeze)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # it was closed before we started
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif hasattr(
            getattr(sys, name), "reconfigure"
        ):  # a name in the code may not fit the terminal's encoding
            getattr(sys, name).reconfigure(errors="backslashreplace")
    try:
        status = _answered(arguments)
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        print("pt2lint: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader (`head`) has seen enough
        _give_up(sys.stdout)
        return 141
    except Exception as error:
        if os.environ.get("PT2LINT_DEBUG"):
            raise
        told = _told(error)
        with contextlib.suppress(OSError):
            print(f"pt2lint: {told}", file=sys.stderr)
        return 2
    finally:
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except OSError:
                _give_up(stream)  # else Python says it once more as it ends, with an exit status of its own


def _answered(arguments: list[str]) -> int:
    try:
        os.getcwd()
    except OSError:
        print("pt2lint: the working folder is not there any more; go to one that is", file=sys.stderr)
        return 2
    from pt2lint.cli import last_answer

    answer = last_answer.recall(arguments)
    return _main(arguments) if answer is None else print_all(*answer)


def _give_up(stream: Any) -> None:
    """What is still to be written to the stream goes nowhere."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _told(error: Exception) -> str:
    """What is left to say where no one foresaw an error: one line."""
    import traceback

    if isinstance(error, OSError) and error.filename is None:  # print's own
        return f"the answer cannot be written: {error.strerror or error}"
    if isinstance(error, MemoryError):
        return "out of memory; give it fewer files at a time"
    at = traceback.extract_tb(error.__traceback__)[-1]
    text = " ".join(str(error).split())[:300]
    place = f"{os.path.basename(os.path.dirname(at.filename))}/{os.path.basename(at.filename)}:{at.lineno}"
    return (
        f"it failed ({type(error).__name__}: {text}, at {place}): a defect of pt2lint, please report it "
        "(PT2LINT_DEBUG=1 shows all of it)"
    )


def print_all(out: str, err: str, status: int) -> int:
    """Print a run's answer; returns its exit status."""
    sys.stderr.write(err)
    sys.stdout.write(out)
    return status


def _main(arguments: list[str]) -> int:
    if arguments and arguments[0] in COMMANDS:
        import importlib

        command = getattr(importlib.import_module(f"pt2lint.cli.{COMMANDS[arguments[0]]}"), arguments[0])
        status: int = command(arguments[1:])
        return status
    from pt2lint.cli.lint import lint
    from pt2lint.cli.options import UsageError, command_parser

    options = command_parser().parse_args(arguments)
    try:
        if not options.verify:
            return lint(options, arguments)
        from pt2lint.dynamic import nursery

        with nursery.kept():
            return lint(options, arguments)
    except UsageError as error:
        from pt2lint.cli.answer import problem_lines
        from pt2lint.finding import Problem

        sys.stderr.write(problem_lines([Problem(None, str(error))]))
        return 2
