"""A defect of ours costs what failed and nothing else: one line says so for the file, and the run goes on."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Sequence

from pt2lint.finding import Finding, Problem

Step = Callable[[Sequence[Finding]], list[Finding]]


def defect(path: str, error: Exception) -> Problem:
    """What is left to say of a file where no one foresaw the error, which PT2LINT_DEBUG shows instead."""
    if os.environ.get("PT2LINT_DEBUG"):
        raise error
    said = traceback.format_exception_only(error)[-1].strip()
    return Problem(path, f"pt2lint failed on this file ({said}): a defect of pt2lint, please report it")


def over_files(step: Step, findings: Sequence[Finding], problems: list[Problem]) -> list[Finding]:
    """What a step makes of the findings of all files; where it fails, those of the files with which it does stay as
    they are, and the problems say so."""
    try:
        return step(findings)
    except Exception:  # with which file that was has to be tried
        of_file: dict[str, list[Finding]] = {}
    for finding in findings:
        of_file.setdefault(finding.path, []).append(finding)
    sound: list[Finding] = []
    made: list[Finding] = []
    left: list[Finding] = []
    for path, own in of_file.items():
        try:
            made = step([*sound, *own])
            sound += own
        except Exception as error:
            left += own
            if (problem := defect(path, error)) not in problems:
                problems.append(problem)
    return [*made, *left]
