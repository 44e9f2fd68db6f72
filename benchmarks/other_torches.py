"""Do the examples of the rules do on other torches what pt2lint says of these?

    python benchmarks/other_torches.py PYTHON...

Each PYTHON is an interpreter with a torch of its own, which need have nothing else. The rules' examples (those in their
pages, and INVALID and VALID) are linted for its torch and run under its Dynamo. Printed are those where one breaks the
graph and the other says nothing of it, which the tests hold for the installed torch alone (tests/rules).
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parent.parent)

from pt2lint.project.config import parse_torch  # noqa: E402
from tests.rules.cases import Case, Row, asked_of_dynamo, cases, is_at  # noqa: E402

MISSED, ALARM = "not told", "told"


def disagreements(case: Case, row: Row, target: tuple[int, int]) -> list[str]:
    """What pt2lint says of the case on that torch that Dynamo does not, and the other way round."""
    found = [f for f in case.findings(target) if f.code.startswith("PTB")]
    raised = not row["breaks"] and row["default"] != "equal"
    lines = [n for broke in row["breaks"] for n in broke["lines"]]
    wrong = [
        f"{ALARM}: {finding.code} line {finding.line}, but nothing breaks"
        for finding in found
        if not raised and not is_at(case.source, finding, lines)
    ]
    if case.kind != "invalid" or not found:  # one break may bring others with it
        wrong += [
            f"{MISSED}: line {broke['lines'][-1]} breaks: {broke['reason']}"
            for broke in row["breaks"]
            if broke["lines"] and not any(is_at(case.source, f, broke["lines"]) for f in found)
        ]
        if raised and not found:
            wrong.append(f"{MISSED}: {row['default']}")
    return wrong


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pythons", nargs="+", metavar="PYTHON")
    for python in parser.parse_args().pythons:
        version = subprocess.run(
            [python, "-c", "import torch; print(torch.__version__)"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        target, counts = parse_torch(version), Counter[str]()
        with tempfile.TemporaryDirectory() as folder, asked_of_dynamo(Path(folder), python) as dynamo:
            for case in cases():
                row = dynamo(case) if case.runs else {"eager": "not run"}
                if row["eager"] is not None:
                    counts["not run"] += 1
                    continue
                counts["run"] += 1
                for said in disagreements(case, row, target):
                    counts[said.partition(":")[0]] += 1
                    print(f"{version} {case.id} {said}", flush=True)
        print(version, dict(counts))


if __name__ == "__main__":
    main()
