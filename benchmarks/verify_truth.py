#!/usr/bin/env python3
"""Measure --verify against recorded graph breaks, and against itself.

    verify_truth.py TRUTH.json SOURCE_ROOT --python PYTHON [--recipes FILE] [--only NAME...] [--keep FILE] [--runs N]

TRUTH.json: {"files": {path: {"traced": [line], "breaks": [{"line", "gb", "what", "by": [model]}]}}}, paths relative to
SOURCE_ROOT, which PYTHON must import the packages from. Each model that a break names is rebuilt (rebuild_models.py)
and verified, with a finding laid at each recorded break. Printed: how many breaks of the rebuilt models were
confirmed, which were not, and whether any was refuted. With --runs N each model is verified N times, and the verdicts
(of the recorded breaks and of all that was reported beside them) that differ between two runs are printed too.

--keep FILE holds a line a model and run: what stands there is not run again.
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
BEST = ("confirmed", "refuted", "failed", "unreached")


def finding(root, path, recorded):
    line = recorded["line"]
    return Finding("PTB000", "recorded", recorded["what"], str(root / path), line, 1, line, 2)


def measure(name, breaks, truth, options):
    """What one verification of one model said, as a line of --keep."""
    inputs = f"{MODELS}:{name.replace('.', '__')}"
    start = time.perf_counter()
    result = verify(
        [finding(options.root, path, each) for path, each in breaks],
        sorted({str(options.root / path) for path in truth["files"]}),
        VerifyOptions(inputs=(inputs,), python=options.python, timeout=options.timeout, jobs=options.jobs),
    )
    defaults = [run for run in result.events.runs if run.probe == "default"]
    said = [
        [os.path.relpath(each.path, options.root), each.line, each.column, each.code, each.verdict, each.evidence]
        for each in result.findings
    ]  # fmt: skip
    return {
        "rebuilt": any(run.breaks or run.traced or run.gave_up for run in defaults),
        "problems": [str(problem) for problem in result.problems],
        "seconds": round(time.perf_counter() - start, 1),
        "said": said,
    }


def verdicts_of(measured):
    """{(path, line, column, code): verdict} of all that one run said."""
    return {tuple(each[:4]): each[4] for each in measured["said"]}


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
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="JSON lines: resume from what is there, add to it")
    parser.add_argument("--output", type=Path, help="write what was found for each break as JSON")
    options = parser.parse_args()
    truth = json.loads(options.truth.read_text())
    if options.recipes:
        os.environ["RECIPES"] = os.path.abspath(options.recipes)
    breaks = [(path, each) for path, entry in truth["files"].items() for each in entry["breaks"]]
    models = options.only or sorted({name for _, each in breaks for name in each["by"]})
    kept = {}
    if options.keep and options.keep.exists():
        for line in options.keep.read_text().splitlines():
            row = json.loads(line)
            kept[row["model"], row["run"]] = row
    for number in range(options.runs):
        for name in models:
            own = [(path, each) for path, each in breaks if name in each["by"]]
            row = kept.get((name, number))
            if row is None:
                row = {"model": name, "run": number, **measure(name, own, truth, options)}
                kept[name, number] = row
                if options.keep:
                    with options.keep.open("a") as file:
                        file.write(json.dumps(row) + "\n")
            confirmed = sum(each[3:5] == ["PTB000", "confirmed"] for each in row["said"])
            note = (
                f"{confirmed} of {len(own)} breaks"
                if row["rebuilt"]
                else f"not rebuilt: {row['problems'][:1]}"
            )
            print(f"{name}: {note}; {row['seconds']:.0f} s", file=sys.stderr, flush=True)

    rebuilt = [name for name in models if kept[name, 0]["rebuilt"]]
    best = {}
    for name in rebuilt:
        for (path, line, _, code), verdict in verdicts_of(kept[name, 0]).items():
            if code == "PTB000":
                best.setdefault((path, line), {})[name] = verdict
    # A break counts as found if one of the models that are recorded for it found it.
    verdicts = {place: min(by_model.values(), key=BEST.index) for place, by_model in best.items()}
    for (path, line), by_model in sorted(best.items()):
        if set(by_model.values()) != {"confirmed"}:
            what = next(each for other, each in breaks if (other, each["line"]) == (path, line))
            print(f"{verdicts[path, line]} {path}:{line} {what['gb']} {what['what']} {by_model}")
    pairs = [verdict for by_model in best.values() for verdict in by_model.values()]
    places = {(path, each["line"]) for path, each in breaks}
    print(
        f"models rebuilt: {len(rebuilt)} of {len(models)}, {len(best)} of the {len(places)} recorded places"
    )
    for what, found in (("breaks", list(verdicts.values())), ("breaks by model", pairs)):
        share = found.count("confirmed") / max(1, len(found))
        print(
            f"{what}: agreement {share:.3f}, { ({each: found.count(each) for each in BEST if each in found}) }"
        )
    if options.runs > 1:
        changed = compared = 0
        for name in rebuilt:
            runs = [verdicts_of(kept[name, number]) for number in range(options.runs)]
            for place in sorted({place for run in runs for place in run}):
                compared += 1
                seen = [run.get(place) for run in runs]
                if len(set(seen)) > 1:
                    changed += 1
                    print(f"changed: {name} {place[0]}:{place[1]} {place[3]} {seen}")
        print(
            f"verdicts of {len(rebuilt)} models that changed over {options.runs} runs: {changed} of {compared}"
        )
    if options.output:
        rows = [[*place, verdict] for place, verdict in sorted(verdicts.items())]
        options.output.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
