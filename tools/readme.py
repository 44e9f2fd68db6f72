"""Fill README.md with what the commands in it really print: python tools/readme.py [--check]

A block is written as

    <!-- run: pt2lint examples/model.py -->
    ```
    (the command's output)
    ```

--check changes nothing and exits with 1 if a block differs from a run of its command now. Blocks marked
`<!-- run slow: ... -->` (those that verify) are left as they are unless --all is given.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"(<!-- run( slow)?: pt2lint (.+?) -->\n```[a-z]*\n)(.*?)(```\n)", re.S)


def output_of(arguments: str) -> str:
    """What `pt2lint ARGUMENTS` prints on stdout, run at the repository's root."""
    run = subprocess.run(
        [sys.executable, "-m", "pt2lint", *shlex.split(arguments)],
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "120", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    if run.returncode not in (0, 1):
        raise SystemExit(f"pt2lint {arguments} failed:\n{run.stderr}")
    return "\n".join(line.rstrip() for line in run.stdout.splitlines()) + "\n"


def filled(text: str, everything: bool) -> str:
    """The text with the output of each command in its block."""

    def fill(block: re.Match[str]) -> str:
        head, slow, arguments, _, tail = block.groups()
        return block[0] if slow and not everything else head + output_of(arguments) + tail

    return BLOCK.sub(fill, text)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--all", action="store_true", help="the slow blocks too")
    options = parser.parse_args()
    path = ROOT / "README.md"
    old = path.read_text(encoding="utf-8")
    new = filled(old, options.all)
    if options.check:
        return int(old != new)
    path.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
