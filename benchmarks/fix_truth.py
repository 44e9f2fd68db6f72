#!/usr/bin/env python3
"""Measure fixes against recorded graph breaks: for how many of those that --verify confirms is a fix proven?

    fix_truth.py TRUTH.json SOURCE_ROOT --python PYTHON --folder FOLDER [--recipes FILE] [--only MODEL...]
    fix_truth.py --folder FOLDER... [--write FILE]

The first form measures: TRUTH, SOURCE_ROOT, PYTHON and the recipes are those of verify_truth.py. As many models as
it takes to meet every recorded break are rebuilt, those with the most breaks first; the files in which one
breaks are linted, the findings verified, and their fixes tried. FOLDER gets a file for each model, and a model
that has one already is left out: the run can be stopped and taken up again (--only measures anew).

Both forms print a table of what the folders hold. A break counts once, by the rule that reports it: confirmed; with a
finding that offers a fix; with a fix that was proven; with a proven fix that is a repair (no setting, no
torch.compiler.disable). A break that a proven fix of another finding takes away, its line still traced, counts as
that fix does. --missing lists what is not proven, and why; --write puts the table between the marks
in FILE.
"""

import argparse
import json
import os
import re
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

from pt2lint.dynamic import VerifyOptions, nursery, verify
from pt2lint.finding import Finding
from pt2lint.fixes.proof import prove
from pt2lint.project.config import Configs, Settings
from pt2lint.static.engine import lint
from pt2lint.understood import Understood

MODELS = Path(__file__).with_name("rebuild_models.py")
COLUMNS = ("confirmed", "fix offered", "fix proven", "repair proven")
MARKS = ("<!-- fix_truth -->\n", "<!-- /fix_truth -->")
OURS = ("PTB000", "PTB900")  # laid at a recorded break, and reported of a break that no rule foresaw


def cover(breaks):
    """Models that between them meet every break, the one that meets most first."""
    by_model = {}
    for path, each in breaks:
        for model in each["by"]:
            by_model.setdefault(model, set()).add((path, each["line"]))
    left, chosen = set().union(*by_model.values()), []
    while left:
        best = max(sorted(by_model), key=lambda model: len(by_model[model] & left))
        chosen.append(best)
        left -= by_model[best]
    return chosen


@nursery.kept()
def measure(model, breaks, given):
    """What was found of the breaks of one model, as plain data."""
    start = time.perf_counter()
    mine = [(path, each) for path, each in breaks if model in each["by"]]
    files = sorted({str(given.root / path) for path, _ in mine})
    linted = lint(files, Settings())
    found = linted.findings
    # What no rule found must still be asked about, to know what --verify confirms.
    asked = [
        Finding("PTB000", "recorded", each["what"], str(given.root / path), each["line"], 1, each["line"], 2)
        for path, each in mine
    ]
    options = VerifyOptions(
        inputs=(f"{MODELS}:{model.replace('.', '__')}",),
        python=given.python,
        timeout=given.timeout,
        further=False,
    )
    judged = verify([*found, *asked], [str(given.root)], options)
    proof = prove(Understood(Configs())(as_told(judged.findings)), judged.events, files, options)
    rows = []
    for path, each in mine:
        place = str(given.root / path)
        there = [f for f in proof.findings if f.path == place and f.line <= each["line"] <= f.end_line]
        verdicts = [
            f.verdict for f in judged.findings if (f.code, f.path, f.line) == ("PTB000", place, each["line"])
        ]
        rule = next((f"{f.code} {f.name}" for f in there if f.code not in OURS), "none")
        fixes = [[fix.proven, fix.description] for f in there for fix in f.fixes]
        # Mended by the fix of another finding: True where that is a repair.
        gone = proof.gone.get((os.path.realpath(place), each["line"]))
        rows.append(
            {"path": path, "line": each["line"], "what": each["what"], "verdict": verdicts[0], "rule": rule,
             "fixes": fixes, "gone": gone}
        )  # fmt: skip
    notes = [*(str(problem) for problem in (*linted.problems, *judged.problems)), *proof.notes]
    return {"model": model, "seconds": round(time.perf_counter() - start), "rows": rows, "notes": notes}


def as_told(findings):
    """What a user is told: a break that was asked about is of no rule where none finds it."""
    told = {}
    for one in findings:
        if one.code != "PTB000" and one.verdict == "confirmed":
            told.setdefault(one.path, []).append((one.line, one.end_line))
    return [
        replace(one, code="PTB900", name="unforeseen-graph-break") if one.code == "PTB000" else one
        for one in findings
        if one.code != "PTB000" or not any(a <= one.line <= b for a, b in told.get(one.path, ()))
    ]


def best(folders):
    """{(path, line): row} of all breaks that were confirmed, each as the model shows it that proves most."""
    rows = {}
    for folder in folders:
        for file in sorted(folder.glob("*.json")):
            for row in json.loads(file.read_text())["rows"]:
                key = (row["path"], row["line"])
                if row["verdict"] == "confirmed" and reached(row) > reached(rows.get(key)):
                    rows[key] = row
    return rows


def reached(row):
    """The column that a break gets to: 1 confirmed ... 4 repair proven."""
    if row is None:
        return 0
    proven = [not description.startswith("Workaround") for done, description in row["fixes"] if done]
    if row["gone"] is not None:
        proven.append(row["gone"])
    if proven:
        return 3 + any(proven)
    return 1 + bool(row["fixes"])


def table(rows):
    counts = Counter()
    for row in rows.values():
        for column in range(reached(row)):
            counts[row["rule"], column] += 1
            counts["all", column] += 1
    lines = ["| rule | " + " | ".join(COLUMNS) + " |", "|---|" + "---|" * len(COLUMNS)]
    for rule in sorted({rule for rule, _ in counts}, key=lambda rule: (rule == "all", rule)):
        lines.append(f"| {rule} | " + " | ".join(str(counts[rule, column]) for column in range(4)) + " |")
    total = counts["all", 0] or 1
    shares = ", ".join(f"{name} {counts['all', at] / total:.2f}" for at, name in enumerate(COLUMNS) if at > 1)
    return "\n".join(lines) + f"\n\nShares of the {counts['all', 0]} confirmed: {shares}.\n"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("truth", type=Path, nargs="?")
    parser.add_argument("root", type=Path, nargs="?")
    parser.add_argument("--folder", type=Path, nargs="+", required=True, help="a file for each model")
    parser.add_argument("--python")
    parser.add_argument("--recipes")
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--timeout", type=float, default=300)
    parser.add_argument("--missing", action="store_true")
    parser.add_argument("--write", type=Path)
    given = parser.parse_args()
    if given.truth:
        if given.recipes:
            os.environ["RECIPES"] = os.path.abspath(given.recipes)
        folder = given.folder[0]
        folder.mkdir(parents=True, exist_ok=True)
        truth = json.loads(given.truth.read_text())
        breaks = [(path, each) for path, entry in truth["files"].items() for each in entry["breaks"]]
        for model in given.only or cover(breaks):
            file = folder / f"{model}.json"
            if file.exists() and not given.only:
                continue
            result = measure(model, breaks, given)
            file.write_text(json.dumps(result, indent=1))
            print(f"{model}: {result['seconds']} s", file=sys.stderr)
            for note in result["notes"]:
                print(f"  {note}", file=sys.stderr)
    rows = best(given.folder)
    if given.missing:
        for (path, line), row in sorted(rows.items()):
            if reached(row) < 4:
                print(f"{path}:{line}: {row['rule']}: {row['what']}")
                for done, description in row["fixes"]:
                    print(f"    {'' if done else 'not '}proven ({done}): {description.partition('. ')[0]}")
    print(table(rows))
    if given.write:
        text = given.write.read_text()
        before, inner = text.split(MARKS[0])
        after = re.split(f"(?={MARKS[1]})", inner, maxsplit=1)[1]
        given.write.write_text(before + MARKS[0] + "\n" + table(rows) + "\n" + after)


if __name__ == "__main__":
    main()
