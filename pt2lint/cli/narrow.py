"""What --baseline and --since leave out of the findings."""

from __future__ import annotations

import os

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
        if before > len(checked.findings):
            checked.notes.append(f"{before - len(checked.findings)} findings are in {options.baseline}")
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
