"""The cases, read from their sources without running them, and the results that are committed.

A family is a file of a table's folder. Each public function in it is a case, and each public class (an nn.Module,
tried by its `forward`); the first line of the docstring is the title; all else in the file is setup. `rules.json`
says which rules have to report a case, null where nobody has said yet.

Parameters of a construct say by their names what it is given: `x` a float tensor (4x4, -1 to 2), `m` the mask
`x > 0`, `i` the int64 tensor [0, 1, 2, 3], `s` the 0-d float 0.5, `sizes` the int64 tensor [[2, 2], [1, 3]].
"""

from __future__ import annotations

import ast
import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent
RESULTS = FOLDER / "results"
INPUTS = {
    "constructs": ("x", "m", "i", "s", "sizes"),
    "recompilations": ("compile",),
    "silent": ("compile",),
}


@dataclass(frozen=True)
class Case:
    """One piece of code. Lines count from 1, from the line of its `def` or `class`."""

    table: str
    family: str
    name: str
    title: str
    code: str
    line: int
    end_line: int
    inputs: tuple[str, ...]
    rules: tuple[str, ...] | None

    @property
    def key(self) -> str:
        return f"{self.family}.{self.name}"

    @property
    def path(self) -> Path:
        return FOLDER / self.table / f"{self.family}.py"


@cache
def cases(table: str = "constructs") -> tuple[Case, ...]:
    """All cases of a table, in the order of their files and places."""
    rules = json.loads((FOLDER / "rules.json").read_text(encoding="utf-8"))[table]
    return tuple(
        case for path in sorted((FOLDER / table).glob("*.py")) for case in _cases_of(table, path, rules)
    )


def _cases_of(table: str, path: Path, rules: dict[str, list[str] | None]) -> list[Case]:
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    found = []
    for node in ast.parse(text).body:
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef)) or node.name.startswith("_"):
            continue
        title = ast.get_docstring(node)
        if title is None:
            raise ValueError(f"{path}:{node.lineno}: a case needs a docstring, its title")
        functions: list[ast.FunctionDef] = [node] if isinstance(node, ast.FunctionDef) else []
        if isinstance(node, ast.ClassDef):
            functions = [n for n in node.body if isinstance(n, ast.FunctionDef) and n.name == "forward"]
        inputs = tuple(a.arg for a in functions[0].args.args if a.arg != "self")
        if not set(inputs) <= set(INPUTS[table]):
            raise ValueError(f"{path}:{node.lineno}: parameters here are {', '.join(INPUTS[table])}")
        codes = rules.get(f"{path.stem}.{node.name}")
        found.append(
            Case(
                table,
                path.stem,
                node.name,
                title.splitlines()[0],
                "\n".join(lines[node.lineno - 1 : node.end_lineno]),
                node.lineno,
                node.end_lineno or node.lineno,
                inputs,
                None if codes is None else tuple(codes),
            )
        )
    return found


def setup(table: str, family: str) -> str:
    """What stands in a family's file besides its cases."""
    lines = (FOLDER / table / f"{family}.py").read_text(encoding="utf-8").splitlines(keepends=True)
    for case in reversed([c for c in cases(table) if c.family == family]):
        del lines[case.line - 1 : case.end_line]
    return "".join(lines)


@cache
def versions(table: str = "constructs") -> tuple[str, ...]:
    """The versions of torch that the table was measured on, oldest first."""
    found = [p.stem.removeprefix(f"{table}-") for p in RESULTS.glob(f"{table}-*.json")]
    return tuple(sorted(found, key=lambda v: tuple(map(int, re.findall(r"\d+", v)))))


def python(version: str, table: str = "constructs") -> str:
    """The version of Python, as "3.11", under which a table was measured: what Dynamo does depends on it too."""
    data = json.loads((RESULTS / f"{table}-{version}.json").read_text(encoding="utf-8"))
    return data["python"]


@cache
def results(version: str, table: str = "constructs") -> dict[str, dict[str, Any]]:
    """Key of the case -> what was measured; measure.py says what a result holds.

    Raises FileNotFoundError if the version was not measured.
    """
    data = json.loads((RESULTS / f"{table}-{version}.json").read_text(encoding="utf-8"))
    return data["cases"]


@cache
def operators(version: str) -> dict[str, str]:
    """Name of a torch function or Tensor method -> its sign, for all that operators.py calls on that version."""
    data = json.loads((RESULTS / f"operators-{version}.json").read_text(encoding="utf-8"))
    return dict.fromkeys(data["fine"], ".") | {n: operator_sign(r) for n, r in data["breaks"].items()}


@cache
def calls(version: str) -> dict[str, str]:
    """Name of an operation (pt2lint/op.py) -> its sign, for all that calls.py tries on that version."""
    return signs_of("calls", version)


@cache
def on_gpu() -> frozenset[str]:
    """The operations that broke the graph on a machine with CUDA, of those that run nowhere else."""
    files = RESULTS.glob("gpu-*.json")
    return frozenset(
        name for file in files for name in json.loads(file.read_text(encoding="utf-8"))["breaks"]
    )


@cache
def inside(version: str) -> dict[str, str]:
    """The same of what inside.py tries: parts of torch itself, the name with a word on the arguments that decide."""
    return signs_of("inside", version)


def signs_of(table: str, version: str) -> dict[str, str]:
    path = RESULTS / f"{table}-{version}.json"
    data = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"fine": [], "breaks": {}}
    return dict.fromkeys(data["fine"], ".") | {n: operator_sign(r) for n, r in data["breaks"].items()}


def operator_sign(result: list[Any] | None) -> str:
    """The sign of what operators.py found of one that breaks, "." of None."""
    if result is None:
        return "."
    fullgraph, skipped = result[2:4]
    return ("S" if skipped else "B") + (" fg" if fullgraph else "")


def breaks(key: str, version: str) -> bool | None:
    """Whether a construct ends the graph in default mode; None if it cannot run there at all."""
    result = results(version).get(key)
    if result is None or "absent" in result:
        return None
    return bool(result["breaks"]) or result["skipped"] or "error" in result


def verdict(result: dict[str, Any] | None) -> str:
    """A construct's result in a sign, as docs/matrix.md explains them."""
    if result is None or "absent" in result:
        return "-"
    if "error" in result:
        return "E"
    if result["breaks"] or result["skipped"]:
        sign = "S" if result["skipped"] else "B"
        return sign if result["fullgraph"] else sign + " fg"
    return "F" if result["fullgraph"] else "."
