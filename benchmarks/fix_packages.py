"""What `--fix --unsafe-fixes` leaves of third-party packages.

Each folder given is copied, linted with `--fix --unsafe-fixes`, and every file that this changed is looked at:

- it compiles;
- it imports where it did before (in a process of its own, with what is installed beside this Python or on PYTHONPATH;
  where nothing could be imported before either, the table says so);
- pyflakes finds no name in it that is undefined, unused or defined twice and was not so before;
- no rule of pt2lint has more findings in it than before;
- a second run changes nothing.

    python benchmarks/fix_packages.py FOLDER... [--files N] [--show N] [--seed S] [--keep DIR]

A folder holds a package as it lies in site-packages; needs pyflakes. `--files` draws that many files of each package
at random, `--show` prints as many changes drawn from all that were made, to be read. Exit status 1 where anything is
not so.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import importlib.util
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

# Imports every module it is given in a child of its own, since what one leaves behind may help the next.
IMPORTER = """
import importlib, json, os, sys, warnings
warnings.simplefilter("ignore")
import torch
modules, found = json.loads(sys.stdin.read()), {}
sys.path.insert(0, os.getcwd())
for name in modules:
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(1, 2)
        try:
            importlib.import_module(name)
            said = "imported"
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        os.write(write, said.encode()[:4000])
        os._exit(0)
    os.close(write)
    with open(read, "rb") as file:
        found[name] = file.read().decode("utf-8", "replace")
    os.waitpid(child, 0)
print(json.dumps(found))
"""


@dataclass
class Counts:
    """What was seen in one package; `wrong` has one line for each thing that is not as it should be."""

    name: str
    files: int = 0
    findings: int = 0
    fixes: int = 0
    changed: int = 0
    compiled: int = 0
    imported: int = 0
    importable: int = 0
    names: int = 0
    new: int = 0
    again: int = 0
    seconds: float = 0
    hunks: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    @property
    def imports(self) -> str:
        """How many of the changed files that could be imported before still can be, or that none was tested."""
        if self.importable:
            return f"{self.imported} of {self.importable}"
        return "not tested: none imported before" if self.changed else "-"


def lint(folder: Path, paths: list[str], *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pt2lint", "--no-cache", "--exit-zero", *options, *paths]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def findings(folder: Path, paths: list[str]) -> Counter[tuple[str, str]]:
    """How many findings each rule has in each file."""
    done = lint(folder, paths, "--format", "json")
    return Counter((one["path"], one["code"]) for one in json.loads(done.stdout or "[]"))


def flakes(path: Path) -> Counter[str]:
    """What pyflakes says of a file, without the places."""
    done = subprocess.run(
        [sys.executable, "-m", "pyflakes", path], capture_output=True, text=True, check=False
    )
    lines = (re.sub(r"^.*?:\d+:\d+:? ", "", line) for line in done.stdout.splitlines())
    return Counter(re.sub(r"\bline \d+", "a line", line) for line in lines)


def imports(folder: Path, files: list[str]) -> dict[str, str]:
    """By file: "imported", or the error."""
    modules = {module_of(file): file for file in files}
    done = subprocess.run(
        [sys.executable, "-c", IMPORTER],
        cwd=folder,
        input=json.dumps([*modules]),
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1", "CUDA_VISIBLE_DEVICES": ""},
    )
    return {modules[name]: said for name, said in json.loads(done.stdout or "{}").items()}


def module_of(file: str) -> str:
    return file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def hunks(file: str, before: Path, after: Path) -> list[str]:
    """What was changed in a file, in pieces."""
    texts = [path.read_text("utf-8", "replace").splitlines(keepends=True) for path in (before, after)]
    lines = list(difflib.unified_diff(*texts, n=4))[2:]
    starts = [at for at, line in enumerate(lines) if line.startswith("@@")]
    return [
        f"--- {file}\n" + "".join(lines[a:b]) for a, b in zip(starts, [*starts[1:], len(lines)], strict=True)
    ]


def fix_package(source: Path, most: int | None, seed: int, work: Path) -> Counts:
    before, after = work / source.name / "before", work / source.name / "after"
    for folder in (before, after):
        shutil.copytree(source, folder, ignore=shutil.ignore_patterns("*.dist-info", "__pycache__"))
    files = sorted(str(path.relative_to(before)) for path in before.rglob("*.py"))
    if most is not None and most < len(files):
        files = sorted(random.Random(seed).sample(files, most))
    counts = Counts(source.name, files=len(files))
    began = time.monotonic()
    known = findings(before, files)
    counts.findings = known.total()
    told = lint(after, files, "--fix", "--unsafe-fixes")
    counts.fixes = sum(map(int, re.findall(r"(\d+) findings? fixed", told.stdout + told.stderr)))
    if "Traceback" in told.stderr:
        counts.wrong.append(told.stderr[-2000:])
    changed = [file for file in files if (before / file).read_bytes() != (after / file).read_bytes()]
    counts.changed = len(changed)
    for file in changed:
        try:
            ast.parse((after / file).read_bytes())
            counts.compiled += 1
        except SyntaxError as error:
            counts.wrong.append(f"{file}: does not compile: {error}")
        counts.hunks += hunks(f"{source.name}/{file}", before / file, after / file)
        added = flakes(after / file) - flakes(before / file)
        counts.names += added.total()
        counts.wrong += [f"{file}: pyflakes: {said}" for said in added]
    were, are = imports(before, changed), imports(after, changed)
    for file in changed:
        if were.get(file) == "imported":
            counts.importable += 1
            counts.imported += are.get(file) == "imported"
            if are.get(file) != "imported":
                counts.wrong.append(f"{file}: no longer imports: {are.get(file)}")
    more = findings(after, files) - known
    counts.new = more.total()
    counts.wrong += [f"{file}: {count} more of {code}" for (file, code), count in more.items()]
    texts = {file: (after / file).read_bytes() for file in files}
    lint(after, files, "--fix", "--unsafe-fixes")
    again = [file for file, text in texts.items() if text != (after / file).read_bytes()]
    counts.again = len(again)
    counts.wrong += [f"{file}: a second run changes it" for file in again]
    counts.seconds = time.monotonic() - began
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folders", nargs="+", type=Path, help="folders that hold a package each")
    parser.add_argument("--files", type=int, metavar="N", help="draw this many files of each package")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="print this many changes")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, metavar="DIR", help="leave the copies, before and after, in DIR")
    options = parser.parse_args()
    if importlib.util.find_spec("pyflakes") is None:
        parser.error("it needs pyflakes: pip install pyflakes")
    changes: list[str] = []
    work = Path(tempfile.mkdtemp(prefix="pt2lint-packages-"))
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
        work = options.keep
    bad = 0
    print(
        "| package | files | findings | fixed | files changed | compile | import | names | new findings | second run |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    for folder in options.folders:
        one = fix_package(folder.absolute(), options.files, options.seed, work)
        print(
            f"| {one.name} | {one.files} | {one.findings} | {one.fixes} | {one.changed} | {one.compiled} "
            f"| {one.imports} | {one.names} | {one.new} | {one.again} |",
            flush=True,
        )
        for line in one.wrong:
            print(f"{one.name}/{line}", file=sys.stderr, flush=True)
        bad += len(one.wrong)
        changes += one.hunks
    random.Random(options.seed).shuffle(changes)
    for change in changes[: options.show]:
        print(change)
    if not options.keep:
        shutil.rmtree(work, ignore_errors=True)
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main())
