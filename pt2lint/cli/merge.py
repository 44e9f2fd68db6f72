"""`pt2lint merge`: one result of what several runs kept."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pt2lint.cli import budget, print_all
from pt2lint.cli.answer import answered, refused
from pt2lint.cli.narrow import narrow
from pt2lint.cli.options import SUFFIXES, command_parser, overrides, settings_of
from pt2lint.cli.page import write_page
from pt2lint.finding import Finding, Problem
from pt2lint.understood import Understood
from pt2lint.zoo import sources
from pt2lint.zoo.results import Keeper, Results, read

if TYPE_CHECKING:
    from pt2lint.dynamic.run import VerifyResult

NAMED = 5  # targets without a result that are named


def merge(arguments: list[str]) -> int:
    """Run `pt2lint merge`; returns the exit status."""

    parser = argparse.ArgumentParser(
        prog="pt2lint merge",
        description="Make one result of the files that `pt2lint --verify --results` wrote, as of the parts of --shard. "
        "They must be of the same code, which lies here, and of the same torch and settings.",
        allow_abbrev=False,
    )
    parser.add_argument("results", nargs="+", metavar="RESULTS", help="files that --results wrote")
    parser.add_argument(
        "-o", "--output", metavar="FILE", action="append", default=[],
        help="write there, by its suffix: .json, .sarif, .txt, .html (or FOLDER/), .jsonl (results again); repeatable",
    )  # fmt: skip
    parser.add_argument("--fail-on", choices=("note", "warning", "error"))
    parser.add_argument("--exit-zero", action="store_true", help="exit status 0 although there are findings")
    options = parser.parse_args(arguments)
    wrong = [path for path in options.output if _suffix(path) not in WRITERS]
    if wrong:
        return refused("merge", f"-o {wrong[0]}: its suffix should be one of {', '.join(WRITERS)}")
    try:
        merged = together(options.results)
    except (OSError, ValueError) as error:
        return refused("merge", error)
    return _tell(merged, options)


WRITERS = (".json", ".sarif", ".txt", ".html", ".jsonl")


def _suffix(path: str) -> str:
    """That of the file; a folder is for pages."""
    return ".html" if path.endswith("/") or os.path.isdir(path) else os.path.splitext(path)[1]


def together(paths: Sequence[str]) -> Results:
    """The results of all files; raises ValueError, worded for the user, where they do not belong together, or not to
    the code that lies here."""
    first, *others = [(path, read(path, os.getcwd())) for path in paths]
    merged = Results(replace(first[1].header, shard=""))
    merged.add(first[1].records.values())
    for path, other in others:
        misfit = first[1].header.misfit(other.header)
        if misfit:
            raise ValueError(f"{first[0]} and {path} do not belong together: {misfit}")
        merged.add(other.records.values())
    files = merged.header.files
    here = sources.digests([path for path in merged.header.arguments["paths"] if os.path.exists(path)], ".")
    here |= sources.digests([path for path in files if path not in here and os.path.exists(path)], ".")
    changed = sources.difference(files, here)
    if changed:
        checkout = f" (commit {merged.header.commit})" if merged.header.commit else ""
        raise ValueError(f"the code here is not what was verified{checkout}: {changed}")
    return merged


def _tell(merged: Results, options: argparse.Namespace) -> int:
    from pt2lint.check import check
    from pt2lint.project.config import Configs

    asked = command_parser().parse_args([])
    for name, value in merged.header.arguments["options"].items():
        setattr(asked, name, value)
    asked.fail_on, asked.exit_zero = options.fail_on, options.exit_zero
    keys = merged.header.planned
    missing = [key for key in keys if ("target", key) not in merged.records]

    def judge(findings: Sequence[Finding], there: Sequence[str], linted: Sequence[str]) -> VerifyResult:
        return judged_again(findings, linted, merged, Understood(configs))

    configs = Configs(overrides(asked), asked.config)
    checked = check(merged.header.arguments["paths"], configs, judge=judge)
    checked.notes.insert(
        0, f"{len(keys) - len(missing)} of {len(keys)} targets, of {len(options.results)} files"
    )
    if merged.twice:
        checked.notes.insert(1, f"{merged.twice} results were there twice; the first of each counts")
    if missing:
        named = ", ".join(missing[:NAMED]) + (
            f" and {len(missing) - NAMED} more" if len(missing) > NAMED else ""
        )
        checked.problems.append(
            Problem(None, f"merge: no result for {len(missing)} of {len(keys)} targets: {named}")
        )
    budget.hold(settings_of(configs, merged.header.arguments["paths"][0]), checked, whole=not missing)
    narrow(asked, checked)
    for path in options.output:
        suffix = _suffix(path)
        if suffix == ".jsonl":
            Keeper(path, os.getcwd(), merged.header).start(merged.records.values())
        elif suffix == ".html":
            asked.report = path
            write_page(asked, configs, checked, merged.header.arguments["paths"])
        else:
            asked.output, asked.format = path, SUFFIXES[suffix]
            answered(asked, checked)
    asked.output, asked.format = None, "text"
    out, err, status = answered(asked, checked)
    return print_all("" if options.output else out, err, status)


def judged_again(
    findings: Sequence[Finding], linted: Sequence[str], merged: Results, understood: Understood
) -> VerifyResult:
    """What the records say of the findings in the code that lies here."""
    from pt2lint.dynamic.files import Files
    from pt2lint.dynamic.plan import find_files
    from pt2lint.dynamic.run import read_sources
    from pt2lint.zoo.verify import result_of

    shown = find_files(linted, (finding.path for finding in findings))
    texts = read_sources(shown)
    files = Files({path: shown[path] for path in texts}, texts)
    return result_of(findings, files, merged, merged.header.planned, os.getcwd(), understood)
