"""What a run prints and writes: the report, the lines on stderr and the exit status."""

from __future__ import annotations

import os
import shutil
import sys

from pt2lint.cli.options import asked

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from pt2lint.check import Checked
    from pt2lint.finding import Problem
    from pt2lint.report import Report

BY_URI = ("sarif", "github")  # formats that name files by their places in the repository


def answered(options: argparse.Namespace, checked: Checked) -> tuple[str, str, int]:
    """What to print on stdout and stderr, and the exit status; writes --output."""
    from pt2lint.report import render
    from pt2lint.report.text import statistics

    report = report_of(options, checked)
    out = ""
    if options.output:
        written(options.output, render(options.format, report), checked.problems)
        if options.also_text:
            out = render("text", report)
    elif options.statistics and options.format == "text":
        out = statistics(report)
    elif not (options.quiet and options.format == "text" and not report.findings):
        out = render(options.format, report)
        if options.format in ("json", "sarif") and not _is_unicode(sys.stdout):
            out = _ascii_json(out)
    status = checked.status
    return out, problem_lines(checked.problems), 0 if options.exit_zero and status == 1 else status


def _is_unicode(stream: Any) -> bool:
    return (getattr(stream, "encoding", None) or "utf-8").lower().replace("_", "-").startswith("utf")


def _ascii_json(text: str) -> str:
    """JSON with the escapes of JSON; what Python puts for a character that an encoding lacks is none."""
    import json
    import re

    return re.sub(r"[^\x00-\x7f]+", lambda found: json.dumps(found[0])[1:-1], text)


def report_of(options: argparse.Namespace, checked: Checked) -> Report:
    from pt2lint import __version__
    from pt2lint.report import Report

    return Report(
        findings=checked.findings,
        pages=checked.pages,
        sources=checked.sources,
        uris=_uris(checked) if options.format in BY_URI else {},
        cells=checked.cells,
        show_notes=options.notes,
        suppressed=checked.suppressed if options.show_suppressed else (),
        problems=checked.problems,
        notes=checked.notes,
        files=len(checked.files),
        version=__version__,
        colour=not options.output and in_colour(),
        asked=asked(options),
    )


def _uris(checked: Checked) -> Mapping[str, str]:
    """All files that findings name, by their places in the repository."""
    from pt2lint.report.place import repository_root, uris

    named = {finding.path for finding in (*checked.findings, *checked.suppressed)}
    named |= {step.path for finding in checked.findings for step in finding.flow}
    named |= {edit.path for finding in checked.findings for fix in finding.fixes for edit in fix.edits}
    return uris(named, repository_root([*checked.files, *named]))


def told(error: OSError | ValueError) -> str:
    """What went wrong with a file that the user named, or what is wrong in it."""
    return f"{error.filename}: {error.strerror}" if isinstance(error, OSError) else str(error)


def refused(command: str, why: str | OSError | ValueError) -> int:
    """Say why a command does nothing; its exit status."""
    print(f"pt2lint {command}: {why if isinstance(why, str) else told(why)}", file=sys.stderr)
    return 2


def in_colour() -> bool:
    if os.environ.get("FORCE_COLOR"):
        return True
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def problem_lines(problems: Sequence[Problem]) -> str:
    """One line each, whatever a message or a file's name holds."""
    if not problems:
        return ""
    from pt2lint.report.place import shown

    lines = []
    for problem in problems:
        line = f":{problem.line}" if problem.line else ""
        place = shown(problem.path) + line if problem.path else "pt2lint"
        lines.append(f"{place}: {shown(' '.join(problem.message.split()))}\n")
    return "".join(lines)


def written(path: str, data: str | bytes, problems: list[Problem]) -> bool:
    """Write a file of ours whole, or leave what is there and say why."""
    from pt2lint.finding import Problem
    from pt2lint.fixes.edit import EditError, replace_file

    if isinstance(data, str):  # in JSON, and so in SARIF, the escape of what is no UTF-8 means just that
        data = data.encode(errors="backslashreplace")
    try:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        if os.path.isdir(path):
            raise IsADirectoryError(21, "Is a directory")
        if os.path.exists(path) and not os.path.isfile(path):  # a pipe or a device is not replaced
            with open(path, "wb", buffering=0) as file:
                while data:
                    data = data[file.write(data) :]
        else:
            replace_file(path, data)
    except (EditError, OSError) as error:
        why = error.strerror if isinstance(error, OSError) else "the file is write-protected"
        problems.append(Problem(path, f"cannot be written: {why or error}"))
        return False
    return True


def counted(count: int, done: str) -> str:
    return f"{count} finding{'' if count == 1 else 's'} {done}"


def progress_line() -> Callable[[str], None] | None:
    if not sys.stderr.isatty():
        return None

    def show(text: str) -> None:
        # Of a line that goes on below, the first part would stay.
        room = shutil.get_terminal_size().columns - 1
        sys.stderr.write(f"\r\x1b[2K{text[:room]}")
        sys.stderr.flush()

    return show
