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
import time
from pathlib import Path

from pt2lint.dynamic import VerifyOptions, verify
from pt2lint.finding import Finding

MODELS = Path(__file__).with_name("rebuild_models.py")


def finding(root, path, recorded):
    return Finding(
        "PTB000", "recorded", recorded["what"], str(root / path), recorded["line"], 1, recorded["line"], 2
    )


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
    verify_options = {"python": options.python, "timeout": options.timeout, "jobs": options.jobs}
    start = time.perf_counter()
    rebuilt, best = [], {}
    for name in models:
        own = [(path, each) for path, each in breaks if name in each["by"]]
        result = verify(
            [finding(options.root, path, each) for path, each in own],
            sorted({str(options.root / path) for path in truth["files"]}),
            VerifyOptions(inputs=(f"{MODELS}:{name.replace('.', '__')}",), **verify_options),
        )
        defaults = [run for run in result.events.runs if run.probe == "default"]
        worked = any(run.breaks or run.traced or run.gave_up for run in defaults)
        said = [each for each in result.findings if each.code == "PTB000"]
        confirmed = sum(each.verdict == "confirmed" for each in said)
        note = f"{confirmed} of {len(own)} breaks" if worked else f"not rebuilt: {result.problems[:1]}"
        print(f"{name}: {note}; {time.perf_counter() - start:.0f} s", flush=True)
        if not worked:
            continue
        rebuilt.append(name)
        for each in said:
            place = (os.path.relpath(each.path, options.root), each.line)
            best.setdefault(place, {})[name] = (each.verdict, each.evidence)
    # A break counts as found if one of the models that are recorded for it found it.
    verdicts = {}
    for place, by_model in best.items():
        order = ("confirmed", "refuted", "failed", "unreached")
        verdicts[place] = min((verdict for verdict, _ in by_model.values()), key=order.index)
        if verdicts[place] != "confirmed":
            what = next(each for path, each in breaks if (path, each["line"]) == place)
            print(f"{verdicts[place]} {place[0]}:{place[1]} {what['gb']} {what['what']} {by_model}")
    counts = {verdict: list(verdicts.values()).count(verdict) for verdict in sorted(set(verdicts.values()))}
    print(
        f"models rebuilt {len(rebuilt)} of {len(models)}; recorded breaks of these {len(verdicts)}: {counts}"
    )
    if options.output:
        rows = [[*place, verdict] for place, verdict in sorted(verdicts.items())]
        options.output.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
