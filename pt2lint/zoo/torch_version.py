"""Which torch and which Python an interpreter is, without importing torch."""

from __future__ import annotations

import json
import subprocess

_CODE = """
import importlib.util, json, os, platform, re
spec = importlib.util.find_spec("torch")
with open(os.path.join(os.path.dirname(spec.origin), "version.py")) as file:
    found = re.search(r"^__version__ = '([^']+)'", file.read(), re.M)
print(json.dumps([found[1] if found else "unknown", platform.python_version()]))
"""


def versions(python: str) -> tuple[str, str]:
    """(torch, Python) of an interpreter; "unknown" where it does not say."""
    try:
        done = subprocess.run([python, "-c", _CODE], capture_output=True, text=True, timeout=60, check=True)
        torch, itself = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.SubprocessError):
        return "unknown", "unknown"
    return torch, itself
