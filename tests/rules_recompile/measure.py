"""Run each recompilation and silent-misuse rule's page under several versions of torch, and keep what it showed.

    python -m tests.rules_recompile.measure /path/to/torch-2.9/bin/python ...

Each interpreter needs torch and NumPy only. What was measured goes to matrix/results/rules-VERSION.json, by rule and
section of its page; `python matrix/page.py` makes the table of docs/recompilations.md of it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from pt2lint.rule.loader import load_rules
from tests.rules_recompile.blocks import block

SECTIONS = ("Example", "Use instead")
RESULTS = Path(__file__).parents[2] / "matrix" / "results"
VERSION = """
import importlib.metadata as m, sys
print(m.version("torch").split("+")[0], ".".join(map(str, sys.version_info[:2])))
"""


def measure(python: str, sources: dict[str, str]) -> tuple[str, str, dict[str, Any]]:
    """The versions of torch and Python under that interpreter, and what the blocks did there."""
    found = subprocess.run([python, "-c", VERSION], capture_output=True, text=True, check=True).stdout.split()
    script = str(Path(__file__).with_name("running.py"))
    done = subprocess.run(
        [python, script], input=json.dumps(sources), capture_output=True, text=True, check=True, timeout=1200
    )
    return found[0], found[1], json.loads(done.stdout.splitlines()[-1])


def main(pythons: list[str]) -> None:
    rules = [r for r in load_rules() if r.code.startswith(("PTR", "PTS"))]
    sources = {f"{r.code} {section}": block(r, section) for r in rules for section in SECTIONS}
    for python in pythons:
        torch, version, found = measure(python, sources)
        rows = [
            f"{json.dumps(r.code)}: {json.dumps({s: found[f'{r.code} {s}'] for s in SECTIONS})}"
            for r in rules
        ]
        lines = ",\n".join(rows)
        head = f'"torch": {json.dumps(torch)}, "python": {json.dumps(version)}'
        (RESULTS / f"rules-{torch}.json").write_text(
            f'{{{head},\n"rules": {{\n{lines}\n}}}}\n', encoding="utf-8"
        )


if __name__ == "__main__":
    main(sys.argv[1:] or [sys.executable])
