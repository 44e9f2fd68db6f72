"""`--report`: the page of a run, with what the proven fixes make of the code; of many models, a folder of pages."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pt2lint.cli.answer import progress_line, report_of, written
from pt2lint.cli.options import verify_options
from pt2lint.dynamic.events import Run
from pt2lint.dynamic.landing import traced
from pt2lint.fixes.edit import EditError, apply_edits, choose, read_source
from pt2lint.report import Report, html
from pt2lint.zoo.summary import models, name_of

if TYPE_CHECKING:
    from pt2lint.check import Checked
    from pt2lint.project.config import Configs


def write_page(options: argparse.Namespace, configs: Configs, checked: Checked, paths: Sequence[str]) -> None:
    """Write the page, or where --report names a folder, an index and a page for each model."""
    shown = _shown(checked)
    report = replace(report_of(options, checked), traced=traced(checked.runs, shown))
    report = replace(report, sources=_sources(report, checked))
    fixed = _fixed(report)
    after: Sequence[Run] = checked.after
    if fixed and options.verify and not after:
        after = _run_fixed(options, configs, checked, paths, fixed)
    if after:
        report = replace(report, fixed=fixed, traced_after=traced(after, shown))
    report = replace(
        report,
        models=checked.models or models(checked.runs, checked.judged, report.sources, after, checked.times),
        models_of={run.target: name_of(run) for run in checked.runs},
    )
    where = str(options.report)
    if where.endswith(("/", os.sep)) or os.path.isdir(where):
        _write_folder(where, report, checked, after)
    else:
        written(where, html.render(report), checked.problems)


def _shown(checked: Checked) -> dict[str, str]:
    files = {*checked.files, *(finding.path for finding in checked.findings)} - checked.texts.keys()
    return {os.path.realpath(path): path for path in files}


def _sources(report: Report, checked: Checked) -> dict[str, str]:
    """The texts of all files that were run, or of which something is said."""
    sources = dict(report.sources)
    named = {path for one in report.traced for path in one.lines} | {f.path for f in checked.judged}
    for path in named - sources.keys():
        try:
            sources[path] = read_source(path)[0].removeprefix("\ufeff")
        except (OSError, EditError):
            continue  # the page then leaves the file out
    return sources


def _fixed(report: Report) -> dict[str, str]:
    """The files with all proven fixes that go together."""
    fixed = {}
    for path, edits in choose(report.findings, "unsafe", proven_only=True).edits.items():
        try:
            fixed[path] = apply_edits(report.sources[path], edits)
        except (EditError, KeyError):
            continue
    return fixed


def _run_fixed(
    options: argparse.Namespace,
    configs: Configs,
    checked: Checked,
    paths: Sequence[str],
    fixed: dict[str, str],
) -> Sequence[Run]:
    from pt2lint.dynamic import verify

    progress = progress_line()
    wanted = replace(verify_options(options, configs, paths), further=False)
    overlay = {os.path.realpath(path): text for path, text in fixed.items()}
    there = [path for path in paths if os.path.exists(path)]
    linted = [path for path in checked.files if path not in checked.texts]
    runs = verify(checked.findings, there, wanted, progress, overlay, linted).events.runs
    if progress:
        progress("")
    return runs


def _write_folder(folder: str, report: Report, checked: Checked, after: Sequence[Run]) -> None:
    """An index with the table, and in `models/` the page of each model: its files, and what is said of them."""
    runs: dict[str, list[Run]] = {}
    then: dict[str, list[Run]] = {}
    for groups, found in ((runs, checked.runs), (then, after)):
        for run in found:
            groups.setdefault(name_of(run), []).append(run)
    shown = _shown(checked)
    names: dict[str, str] = {}
    for model in report.models:
        own = traced(runs.get(model.name, ()), shown)
        if not own:
            continue
        files = {path for one in own for path in (*one.lines, *one.eager)}
        labels = {one.name.partition(" (")[0] for one in own}
        findings = [
            finding
            for finding in report.findings
            if finding.path in files or labels & {*(finding.evidence or {}).get("targets", ())}
        ]
        page = replace(
            report, findings=findings, traced=own, traced_after=traced(then.get(model.name, ()), shown),
            fixed={path: text for path, text in report.fixed.items() if path in files and model.name in then},
            models=(), notes=(), problems=(), files=len(files),
        )  # fmt: skip
        names[model.name] = _file_name(model.name, names.values())
        written(os.path.join(folder, names[model.name]), html.render(page), checked.problems)
    written(os.path.join(folder, "index.html"), html.index(report, names), checked.problems)


def _file_name(name: str, taken: object) -> str:
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip(".-")[:80] or "model"
    found, number = f"models/{plain}.html", 2
    while found in taken:  # type: ignore[operator]
        found, number = f"models/{plain}-{number}.html", number + 1
    return found
