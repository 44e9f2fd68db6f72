"""README.md shows what the commands really print."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_the_outputs_in_the_readme_are_real() -> None:
    run = subprocess.run([sys.executable, str(ROOT / "tools" / "readme.py"), "--check"], check=False)
    assert run.returncode == 0, "run `python tools/readme.py --all` and read what changed"
