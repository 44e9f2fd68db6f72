"""What --baseline and --since leave out of the findings."""

from __future__ import annotations

import os

from pt2lint.cli.answer import counted
from pt2lint.cli.options import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from pt2lint.check import Checked


def narrow(options: argparse.Namespace, checked: Checked) -> None:
    """Leave out what the baseline holds and what stands on lines that did not change."""
    if options.baseline:
        from pt2lint.project import baseline

        try:
            known = baseline.read(options.baseline)
        except (OSError, ValueError) as error:
            told = (error.strerror if isinstance(error, OSError) else None) or error
            raise UsageError(f"--baseline {options.baseline}: {told}") from None
        before = len(checked.findings)
        checked.findings = baseline.new(checked.findings, checked.sources, known)
        if left := before - len(checked.findings):
            done = f"in {options.baseline} {'is' if left == 1 else 'are'} left out"
            checked.notes.append(counted(left, done))
    if options.since:
        from pt2lint.project.since import Since

        try:
            there = [path for path in options.paths if os.path.exists(path)]
            folder = next(
                (path if os.path.isdir(path) else os.path.dirname(path) or "." for path in there), "."
            )
            since = Since(options.since, folder)
            checked.findings = since.changed(checked.findings, checked.cells)
        except ValueError as error:
            raise UsageError(f"--since {options.since}: {error}") from None
        checked.notes += since.notes
