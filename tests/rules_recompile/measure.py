"""A Markdown table of what each recompilation and silent-misuse rule's page does on several versions of torch.

    python -m tests.rules_recompile.measure /path/to/torch-2.9/bin/python ...

Each interpreter needs torch only. A cell: recompilations, frames compiled, graph breaks, and "differs" where
`run()` gives something else than without compiling; first of "Example", then of "Use instead".
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from pt2lint.static.engine import load_rules
from tests.rules_recompile.blocks import block

SECTIONS = ("Example", "Use instead")


def measure(python: str, sources: dict[str, str]) -> tuple[str, dict[str, Any]]:
    """The version of torch under that interpreter, and what the blocks did there."""
    version = "import importlib.metadata as m; print(m.version('torch').split('+')[0])"
    found = subprocess.run([python, "-c", version], capture_output=True, text=True, check=True).stdout.strip()
    script = str(Path(__file__).with_name("running.py"))
    done = subprocess.run(
        [python, script], input=json.dumps(sources), capture_output=True, text=True, check=True, timeout=1200
    )
    return found, json.loads(done.stdout.splitlines()[-1])


def cell(result: dict[str, Any]) -> str:
    if result["error"]:
        return str(result["error"]).split("(")[0]
    words = [f"{result['recompilations']} re", f"{result['frames']} fr", f"{result['breaks']} br"]
    return " ".join(words if result["same"] else [*words, "differs"])


def main(pythons: list[str]) -> None:
    rules = [r for r in load_rules() if r.code.startswith(("PTR", "PTS"))]
    sources = {f"{r.code} {s}": block(r, s) for r in rules for s in SECTIONS}
    columns = [measure(p, sources) for p in pythons]
    print("| rule | " + " | ".join(version for version, _ in columns) + " |")
    print("|---" * (len(columns) + 1) + "|")
    for rule in rules:
        cells = ["; ".join(cell(results[f"{rule.code} {s}"]) for s in SECTIONS) for _, results in columns]
        print(f"| {rule.code} {rule.name} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main(sys.argv[1:] or [sys.executable])
