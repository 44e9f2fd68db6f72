"""`pt2lint compare`: what changed from one run to another, as after an upgrade of torch."""

from __future__ import annotations

import argparse
import os

from pt2lint.cli.answer import refused, written
from pt2lint.report import comparison
from pt2lint.zoo.compare import KINDS
from pt2lint.zoo.compare import compare as compared
from pt2lint.zoo.results import Results, read

DEFAULT = "breaks,graphs,recompilations,failures"


def compare(arguments: list[str]) -> int:
    """Run `pt2lint compare`; returns the exit status: 1 where a model got worse in what --fail-on names."""
    from pt2lint.finding import Problem

    parser = argparse.ArgumentParser(
        prog="pt2lint compare",
        description="Say what changed between two runs of `pt2lint --verify --results`: breaks that are new or have "
        "vanished, graphs, recompilations, cold and warm times (with --time), by model and by cause.",
        allow_abbrev=False,
    )
    parser.add_argument("old", metavar="OLD", help="what --results wrote, or `pt2lint merge -o all.jsonl`")
    parser.add_argument("new", metavar="NEW")
    told = f"of {', '.join(KINDS)}, or none: what makes the exit status 1 where it got worse (default: {DEFAULT})"
    parser.add_argument("--fail-on", metavar="WHAT", default=DEFAULT, help=told)
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.add_argument(
        "--report", metavar="FILE", help="write a page (HTML) there, the two runs side by side"
    )
    options = parser.parse_args(arguments)
    kinds = [] if options.fail_on == "none" else [kind.strip() for kind in options.fail_on.split(",")]
    wrong = [kind for kind in kinds if kind not in KINDS]
    if wrong:
        return refused("compare", f"--fail-on {wrong[0]}: should be of {', '.join(KINDS)}, or none")
    try:
        old, new = read(options.old, os.getcwd()), read(options.new, os.getcwd())
    except (OSError, ValueError) as error:
        return refused("compare", error)
    heads = [head(options.old, old), head(options.new, new)]
    before, after = old.models(old.header.planned), new.models(new.header.planned)
    found = compared(before, after)
    if options.report:
        from pt2lint.check import pages
        from pt2lint.project.config import Configs
        from pt2lint.report.html import two_runs

        names = {one.code: one.name for one in pages(Configs().of("."))}
        text = two_runs(after, before, heads, {change.name: change.word for change in found.changes}, names)
        problems: list[Problem] = []
        if not written(options.report, text, problems):
            return refused("compare", f"{problems[0].path}: {problems[0].message}")
    tell = comparison.as_json if options.format == "json" else comparison.text
    print(tell(found.changes, found.causes, heads), end="")
    return int(bool(found.of(*kinds)))


def head(path: str, results: Results) -> str:
    """What a run is of, in words."""
    header = results.header
    code = f"commit {header.commit}" if header.commit else f"{len(header.files)} files"
    backend = header.settings.get("time") or header.settings.get("backend")
    done = sum(event == "target" for event, _ in results.records)
    of = f"{done} of {len(header.planned)}" if done < len(header.planned) else str(done)
    return f"{path}: torch {header.torch}, Python {header.python}, {code}, backend {backend}, {of} targets"
