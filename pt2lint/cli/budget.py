"""The command line's part of budgets: hold a run to them, or write what it has."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pt2lint.cli.answer import counted, written
from pt2lint.cli.options import settings_of
from pt2lint.finding import Problem
from pt2lint.zoo import budget
from pt2lint.zoo.summary import models

if TYPE_CHECKING:
    from pt2lint.check import Checked
    from pt2lint.project.config import Configs, Settings
    from pt2lint.report.models import Model

NAMED = 3  # models with a budget that were not run: so many are named


def models_of(checked: Checked) -> list[Model]:
    return [*checked.models] or models(
        checked.runs, checked.judged, checked.sources, checked.after, checked.times
    )


def hold(settings: Settings, checked: Checked, whole: bool) -> None:
    """Add a finding for each budget that a model is over; `whole` says that no part of the models was left out."""
    if not settings.budget:
        return
    found = models_of(checked)
    text = _text(settings.source)
    over = budget.over(found, settings.budget, settings.source, text)
    over = [finding for finding in over if settings.wants(finding.code, finding.path)]
    checked.sources.update({f.path: _text(f.path) for f in over if f.path not in checked.sources})
    checked.findings = sorted([*checked.findings, *over], key=lambda finding: finding.sort_key)
    gone = budget.unknown(found, settings.budget) if whole else []
    if gone:
        more = f" and {len(gone) - NAMED} more" if len(gone) > NAMED else ""
        checked.notes.append(f"not run, though they have a budget: {', '.join(gone[:NAMED])}{more}")


def write(configs: Configs, paths: Sequence[str], checked: Checked) -> None:
    """--write-budget: into the file that the settings come from, else the nearest pyproject.toml, else one here."""
    source = settings_of(configs, paths[0]).source or _nearest(paths[0])
    found = [model for model in models_of(checked) if not model.trouble]
    try:
        new = budget.written(_text(source), found, bare=_is_bare(source))
    except ValueError as error:
        checked.problems.append(Problem(source, str(error)))
        return
    if written(source, new, checked.problems):
        checked.notes.append(
            f"{counted(len(found), '').replace('finding', 'budget').strip()} written to {source}"
        )


def _is_bare(source: str) -> bool:
    return os.path.basename(source) != "pyproject.toml" and "[tool.pt2lint" not in _text(source)


def _nearest(path: str) -> str:
    folder = os.path.abspath(path if os.path.isdir(path) else os.path.dirname(path) or ".")
    while True:
        file = os.path.join(folder, "pyproject.toml")
        if os.path.isfile(file):
            return os.path.relpath(file) if file.startswith(os.getcwd() + os.sep) else file
        if os.path.dirname(folder) == folder:
            return "pyproject.toml"
        folder = os.path.dirname(folder)


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except (OSError, UnicodeDecodeError):
        return ""
