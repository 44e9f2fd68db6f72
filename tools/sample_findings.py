"""Draw findings at random to be read: python tools/sample_findings.py FINDINGS.json... [--truth TRUTH.json --root DIR]

FINDINGS.json is what `pt2lint --format json` printed. With --truth, only findings on statements that no recorded
run traced are drawn: those that a comparison with the record cannot judge. --failing draws from those that fail a run.
Of several files, named for the libraries in FOLDER (--within), as many are drawn of each. Prints each with its source,
its reason and the way from the compile root. The same seed draws the same findings.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path
from typing import Any


def traced_lines(truth: str | None, root: str) -> dict[Path, set[int]]:
    """The lines that some recorded run traced, or broke at, by file."""
    if truth is None:
        return {}
    files = json.loads(Path(truth).read_text())["files"]
    return {
        (Path(root) / name).resolve(): {*entry["traced"], *(b["line"] for b in entry["breaks"])}
        for name, entry in files.items()
    }


def show(number: int, finding: dict[str, Any], context: int) -> None:
    lines = Path(finding["path"]).read_text(encoding="utf-8").splitlines()
    first = max(0, finding["line"] - 1 - context)
    print(
        f"\n#{number} {finding['path']}:{finding['line']}:{finding['column']} {finding['code']} {finding['message']}"
    )
    for i in range(first, min(len(lines), finding["end_line"] + 1)):
        mark = ">" if finding["line"] <= i + 1 <= finding["end_line"] else " "
        print(f"{mark}{i + 1:5} {lines[i]}")
    for step in finding["flow"]:
        print(f"       {step['path']}:{step['line']} {step['message']}")


def located(file: Path, within: str) -> list[dict[str, Any]]:
    """The findings of a file, with their paths as this process sees them."""
    found: list[dict[str, Any]] = json.loads(file.read_text())
    if within:
        for finding in found:
            finding["path"] = str(Path(within) / file.stem / finding["path"])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("findings", nargs="+")
    parser.add_argument("--within", default="", help="the folder that holds the folder of each library")
    parser.add_argument("--failing", action="store_true")
    parser.add_argument("--truth")
    parser.add_argument("--root", default=".")
    parser.add_argument("--number", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--context", type=int, default=6, help="lines of source before the finding")
    options = parser.parse_args()
    traced = traced_lines(options.truth, options.root)
    random_numbers = random.Random(options.seed)
    unjudged = [
        [
            f
            for f in located(Path(file), options.within)
            if not (options.failing and f["severity"] == "note")
            and not traced.get(Path(f["path"]).resolve(), set()).intersection(
                range(f["line"], f["end_line"] + 1)
            )
        ]
        for file in options.findings
    ]
    for each in unjudged:
        random_numbers.shuffle(each)
    total = sum(map(len, unjudged))
    drawn: list[dict[str, Any]] = []
    while len(drawn) < min(options.number, total):
        drawn += [each.pop() for each in unjudged if each][: options.number - len(drawn)]
    print(f"{len(drawn)} of {total} findings, seed {options.seed}")
    for number, finding in enumerate(drawn, 1):
        show(number, finding, options.context)


if __name__ == "__main__":
    main()
