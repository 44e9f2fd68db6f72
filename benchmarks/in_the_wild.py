"""What pt2lint finds in libraries that people use: python benchmarks/in_the_wild.py FOLDER [--kept DIR] [--download]

FOLDER holds each library of in_the_wild.json unpacked in a folder of its own name; --download fetches what is missing,
at the version that stands there, with `pip download --no-deps`. Each library is linted once, as its user would; --kept
keeps what was found as JSON, a file a library, and a later run reads it again. Writes docs/in-the-wild.md.

"read" in in_the_wild.json lists findings that were read in their source, by library, file, line and code, with what is
worth saying of them; one that is not found any more ends the run. "inputs" of one names a function of
in_the_wild_inputs.py that calls the code: then `--verify` has Dynamo run it, in this interpreter, with the folders of
all libraries on its path.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "in-the-wild.md"
TIERS = ("error", "warning", "note")


def folder_of(library: str, root: Path) -> Path:
    """The package's folder in the unpacked wheel."""
    parts = [p for p in sorted((root / library).iterdir()) if p.is_dir() and (p / "__init__.py").exists()]
    return max(parts, key=lambda p: sum(1 for _ in p.rglob("*.py")))


def fetch(library: str, version: str, root: Path) -> None:
    if (root / library).exists():
        return
    wheels = root / ".wheels"
    asked = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--no-deps",
        "-q",
        "-d",
        str(wheels),
        f"{library}=={version}",
    ]
    subprocess.run(asked, check=True)
    [wheel] = wheels.glob(f"{library}-{version}-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(root / library)


def pt2lint(arguments: list[str], folder: Path, path: str = "") -> list[dict[str, Any]]:
    """What a run in the folder finds, as `--format json` tells it."""
    program = [sys.executable, "-m", "pt2lint", "--no-cache", "--format", "json", *arguments]
    places = os.pathsep.join(part for part in (path, os.environ.get("PYTHONPATH", "")) if part)
    done = subprocess.run(
        program, cwd=folder, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": places}
    )
    if not done.stdout:
        raise SystemExit(f"{folder}: {done.stderr.strip()[-400:]}")
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def linted(library: str, root: Path, kept: Path | None) -> list[dict[str, Any]]:
    file = kept / f"{library}.json" if kept is not None else None
    if file is not None and file.exists():
        found: list[dict[str, Any]] = json.loads(file.read_text())
        return found
    package = folder_of(library, root)
    found = [f for f in pt2lint([package.name], package.parent) if not f.get("suppressed")]
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(found))
    return found


def verdict(case: dict[str, Any], root: Path, libraries: list[str]) -> str:
    """What Dynamo says of a finding, run by the inputs that the case names."""
    package = folder_of(case["library"], root)
    path = os.pathsep.join([str(HERE), *(str(root / library) for library in libraries)])
    asked = ["--verify", "--inputs", f"in_the_wild_inputs:{case['inputs']}", case["path"]]
    for finding in pt2lint(asked, package.parent, path):
        if (finding["line"], finding["code"]) == (case["line"], case["code"]):
            return finding["verdict"] or "unreached"
    raise SystemExit(f"--verify does not tell {case}")


def page(found: dict[str, list[dict[str, Any]]], versions: dict[str, str], read: list[str]) -> str:
    rows = []
    for library, findings in found.items():
        tiers = Counter(f["severity"] for f in findings)
        fixed = sum(bool(f["fixes"]) for f in findings if f["severity"] != "note")
        most = Counter(f["name"] for f in findings if f["severity"] != "note").most_common(2)
        rows.append(
            f"| {library} {versions[library]} | {' | '.join(str(tiers[tier]) for tier in TIERS)} | {fixed} | "
            + ", ".join(f"{name} {count}" for name, count in most)
            + " |"
        )
    tiers = Counter(f["severity"] for findings in found.values() for f in findings)
    told = tiers["error"] + tiers["warning"]
    intro = (
        f"What `pt2lint` says of {len(found)} libraries as they are installed, at the versions named, with its default "
        f"settings: {told} findings that fail a run ({tiers['error']} errors, {tiers['warning']} warnings), and "
        f"{tiers['note']} notes, which are true but seldom worth acting on ([how it decides](how-it-decides.md)). "
        "`python benchmarks/in_the_wild.py` makes this page."
    )
    return "\n".join(
        [
            "# In the wild",
            "",
            intro,
            "",
            "A finding is no reproach: most of these libraries were not written to be compiled, and run well without. "
            "It says which line to look at when a model that uses them is.",
            "",
            "| library | errors | warnings | notes | with a fix | most of them |",
            "|---|---|---|---|---|---|",
            *rows,
            "",
            "## Read, one by one",
            "",
            *read,
            "",
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kept", type=Path)
    parser.add_argument("--download", action="store_true")
    options = parser.parse_args()
    data = json.loads((HERE / "in_the_wild.json").read_text())
    versions: dict[str, str] = data["libraries"]
    found = {}
    for library, version in versions.items():
        if options.download:
            fetch(library, version, options.folder)
        found[library] = linted(library, options.folder, options.kept)
        print(library, version, len(found[library]), flush=True)
    read = []
    for case in data["read"]:
        here = [
            f
            for f in found[case["library"]]
            if (f["path"], f["line"], f["code"]) == (case["path"], case["line"], case["code"])
        ]
        if not here:
            raise SystemExit(f"not found any more: {case}")
        judged = (
            f" **{verdict(case, options.folder, list(versions)).capitalize()}** when run."
            if "inputs" in case
            else ""
        )
        fix = next((f" Fix: {one['description']}" for one in here[0]["fixes"]), "")
        read.append(
            f"- {case['library']}, `{case['path']}:{case['line']}`, {case['code']}: {here[0]['message']}. "
            f"{case['said']}{judged}{fix}"
        )
    PAGE.write_text(page(found, versions, read))
    print(f"wrote {PAGE}")


if __name__ == "__main__":
    main()
