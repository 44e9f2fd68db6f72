#!/usr/bin/env python3
"""Measure --verify against recorded graph breaks.

    verify_truth.py TRUTH.json SOURCE_ROOT --python PYTHON [--recipes FILE] [--only NAME...] [--jobs N]

TRUTH.json: {"files": {path: {"traced": [line], "breaks": [{"line", "gb", "what", "by": [model]}]}}}, paths relative to
SOURCE_ROOT, which PYTHON must import the packages from. Each model that a break names is rebuilt (rebuild_models.py)
and verified, with a finding laid at each recorded break. Printed: how many breaks of the rebuilt models were
confirmed, which were not, and whether any was refuted.
"""

import argparse
import json
import os
import sys
import time
from pathlib import Path

from pt2lint.dynamic import VerifyOptions, verify
from pt2lint.finding import Finding

MODELS = Path(__file__).with_name("rebuild_models.py")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("truth", type=Path)
    parser.add_argument("root", type=Path)
    parser.add_argument("--python", required=True)
    parser.add_argument("--recipes")
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=300)
    parser.add_argument("--output", type=Path, help="write what was found for each break as JSON")
    options = parser.parse_args()
    truth = json.loads(options.truth.read_text())
    if options.recipes:
        os.environ["RECIPES"] = os.path.abspath(options.recipes)
    breaks = [(path, each) for path, entry in truth["files"].items() for each in entry["breaks"]]
    models = sorted({name for _, each in breaks for name in each["by"]} if not options.only else options.only)
    findings = [
        Finding(
            "PTB000", "recorded", each["what"], str(options.root / path), each["line"], 1, each["line"], 2
        )
        for path, each in breaks
    ]
    start = time.perf_counter()
    result = verify(
        findings,
        [str(options.root)],
        VerifyOptions(
            inputs=tuple(f"{MODELS}:{name.replace('.', '__')}" for name in models),
            python=options.python,
            jobs=options.jobs,
            timeout=options.timeout,
        ),
        on_progress=lambda text: print(f"  {time.perf_counter() - start:6.1f} s  {text}", file=sys.stderr),
    )
    # A model is rebuilt if it ran eagerly and Dynamo took it.
    by_class = {}
    for run in result.events.runs:
        by_class.setdefault(run.target, []).append(run)
    ran = {
        target for target, runs in by_class.items()
        if any(run.probe == "default" and (run.breaks or run.traced or run.gave_up) for run in runs)
    }  # fmt: skip
    classes = {name: name.rpartition(".")[2] for name in models}
    rebuilt = {name for name in models if classes[name] in ran or options.recipes}
    said = {(finding.path, finding.line): finding for finding in result.findings if finding.code == "PTB000"}
    expected = [(path, each) for path, each in breaks if rebuilt & set(each["by"])]
    rows = []
    for path, each in expected:
        finding = said[str(options.root / path), each["line"]]
        rows.append(
            [path, each["line"], each["gb"], finding.verdict, (finding.evidence or {}).get("graph_break")]
        )
        if finding.verdict != "confirmed":
            who = ", ".join(sorted(rebuilt & set(each["by"])))
            print(
                f"{finding.verdict} {path}:{each['line']} {each['gb']} {each['what']} ({who}) {finding.evidence}"
            )
    for problem in result.problems:
        print("problem:", problem)
    more = [f for f in result.findings if f.code == "PTB900"]
    confirmed = sum(row[3] == "confirmed" for row in rows)
    print(f"models named {len(models)}, rebuilt {len(rebuilt)}: {' '.join(sorted(rebuilt))}")
    print(
        f"recorded breaks of these {len(rows)}, confirmed {confirmed} ({confirmed / max(1, len(rows)):.3f}), "
        f"refuted {sum(row[3] == 'refuted' for row in rows)}, "
        f"not reached {sum(row[3] == 'unreached' for row in rows)}; "
        f"further breaks {len(more)}; {time.perf_counter() - start:.0f} s"
    )
    if options.output:
        options.output.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
