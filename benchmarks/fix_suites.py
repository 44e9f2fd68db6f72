"""Do a library's own tests pass after `--fix --unsafe-fixes --notes`?

    python benchmarks/fix_suites.py CHECKOUT SOURCE TESTS... [--python PYTHON] [--path FOLDER] [--cwd FOLDER]
                                    [--seconds N] [--pytest "OPTIONS"]

CHECKOUT is a checkout of a library, which is copied and left as it is; SOURCE, in it, is what gets fixed. TESTS are run
by pytest in --cwd (the checkout itself, where none is named), once fixed and once as they were, with --path (what the
package is imported from) first on PYTHONPATH and by the interpreter that has what they need: its own torch, pytest and
pytest-timeout. Printed are how many tests failed each way, and those that fail after the fixes alone: each of these
shows code that the fixes harmed, or a test that does not always pass. Exit status 1 where there is one.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

# What a project sets for itself may ask for plugins that are not there.
PYTEST = (
    "-m pytest -q -o addopts= -p no:cacheprovider --continue-on-collection-errors -rfE --timeout 60".split()
)
FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)


def failed(checkout: Path, options: argparse.Namespace) -> tuple[set[str], str]:
    """The tests that fail, and pytest's last line."""
    inside = checkout / options.cwd
    command = [options.python, *PYTEST, *shlex.split(options.pytest), *options.tests]
    paths = [str(checkout / options.path), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    try:
        done = subprocess.run(
            command, cwd=inside, env=environment, capture_output=True, text=True, timeout=options.seconds
        )
    except subprocess.TimeoutExpired:
        raise SystemExit(f"the tests took more than {options.seconds} s; name fewer") from None
    said = (done.stdout.splitlines() or [done.stderr])[-1]
    if done.returncode not in (0, 1):
        raise SystemExit(f"pytest did not run the tests: {said}")
    return {*FAILED.findall(done.stdout)}, said


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("checkout", type=Path)
    parser.add_argument("source")
    parser.add_argument("tests", nargs="+")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--path", default=".")
    parser.add_argument("--cwd", default=".")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--pytest", default="", help="further options of pytest: -k 'not gpu'")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / options.checkout.resolve().name
        shutil.copytree(options.checkout, copy, ignore=shutil.ignore_patterns(".git"), symlinks=True)
        before, said = failed(copy, options)
        print(f"as they were: {said}", flush=True)
        fix = [sys.executable, "-m", "pt2lint", "--no-cache", "--fix", "--unsafe-fixes", "--notes"]
        subprocess.run([*fix, "--exit-zero", options.source], cwd=copy, stdout=subprocess.DEVNULL)
        files = [path.relative_to(copy) for path in (copy / options.source).rglob("*.py")]
        changed = [one for one in files if (copy / one).read_bytes() != (options.checkout / one).read_bytes()]
        print(f"{len(changed)} of {len(files)} files changed", flush=True)
        after, said = failed(copy, options)
        print(f"fixed: {said}")
    print("".join(f"{one}\n" for one in sorted(after - before)), end="")
    return int(bool(after - before))


if __name__ == "__main__":
    sys.exit(main())
