#!/usr/bin/env python3
"""Measure fixes against recorded graph breaks: for how many of those that --verify confirms is a fix proven?

    fix_truth.py TRUTH.json SOURCE_ROOT --python PYTHON [--recipes FILE] [--only MODEL...] [--output FILE]

The arguments are those of verify_truth.py. Each model is rebuilt, the files in which it breaks are linted,
the findings verified, and their fixes tried. Printed, by rule: the recorded breaks that were confirmed,
those with a finding that offers a fix, with a proven fix, and with a proven repair (no setting, no
torch.compiler.disable).
"""

import argparse
import json
import os
import sys
import time
from collections import Counter
from pathlib import Path

from pt2lint.config import Settings
from pt2lint.dynamic import VerifyOptions, verify
from pt2lint.finding import Finding
from pt2lint.fixes.edit import WAY_ROUND
from pt2lint.fixes.proof import prove
from pt2lint.static.engine import lint

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
    parser.add_argument("--timeout", type=float, default=300)
    parser.add_argument("--output", type=Path, help="write the rows as JSON")
    given = parser.parse_args()
    truth = json.loads(given.truth.read_text())
    if given.recipes:
        os.environ["RECIPES"] = os.path.abspath(given.recipes)
    breaks = [(path, each) for path, entry in truth["files"].items() for each in entry["breaks"]]
    models = given.only or sorted({name for _, each in breaks for name in each["by"]})
    rows = {}
    for model in models:
        start = time.perf_counter()
        mine = [(path, each) for path, each in breaks if model in each["by"]]
        files = sorted({str(given.root / path) for path, _ in mine})
        found = lint(files, Settings()).findings
        # What no rule found must still be asked about, to know what --verify confirms.
        asked = [
            Finding(
                "PTB000", "recorded", each["what"], str(given.root / path), each["line"], 1, each["line"], 2
            )
            for path, each in mine
        ]
        options = VerifyOptions(
            inputs=(f"{MODELS}:{model.replace('.', '__')}",),
            python=given.python,
            timeout=given.timeout,
            further=False,
        )
        judged = verify([*found, *asked], [str(given.root)], options)
        proof = prove(judged.findings, judged.events, files, options)
        for path, each in mine:
            place = str(given.root / path)
            there = [f for f in proof.findings if f.path == place and f.line <= each["line"] <= f.end_line]
            if not any(f.code == "PTB000" and f.verdict == "confirmed" for f in there):
                continue
            fixes = [fix for f in there for fix in f.fixes]
            proven = [fix for fix in fixes if fix.proven]
            repaired = any(not fix.description.startswith(WAY_ROUND) for fix in proven)
            code = next((f.code for f in there if f.code not in ("PTB000", "PTB900")), "no rule")
            old = rows.get((path, each["line"]), (code, False, False, False))
            rows[path, each["line"]] = (
                code,
                old[1] or bool(fixes),
                old[2] or bool(proven),
                old[3] or repaired,
            )
        print(f"{model}: {time.perf_counter() - start:.0f} s", file=sys.stderr)
        for note in [*(str(problem) for problem in judged.problems), *proof.notes]:
            print(f"  {note}", file=sys.stderr)
    table = Counter()
    for code, *did in rows.values():
        for column, done in enumerate((True, *did)):
            table[code, column] += done
            table["all", column] += done
    print("| rule | breaks confirmed | fix offered | fix proven | repair proven |\n|---|---|---|---|---|")
    for code in sorted({code for code, _ in table}):
        print(f"| {code} | " + " | ".join(str(table[code, column]) for column in range(4)) + " |")
    if given.output:
        given.output.write_text(json.dumps([[*key, *value] for key, value in rows.items()], indent=1))


if __name__ == "__main__":
    main()
