"""Draw docs/architecture.md's picture from the imports: python tools/architecture.py [--check]

--check changes nothing and exits with 1 if the picture is not what the imports say. An arrow A --> B says that a module
of A imports one of B; what is imported for types alone does not count.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "architecture.md"
BLOCK = re.compile(r"(<!-- drawn by tools/architecture.py -->\n```mermaid\n).*?(```\n)", re.S)
# A box of the picture for each folder; what lies at the top of pt2lint is "check" or plain data.
DATA = (
    "pt2lint.finding",
    "pt2lint.op",
    "pt2lint.said",
    "pt2lint.late",
    "pt2lint.machine",
    "pt2lint.room",
    "pt2lint.digests",
    "pt2lint.packages",
)
FRONT = ("pt2lint", "pt2lint.check", "pt2lint.__main__")


def modules() -> Iterator[tuple[str, Path]]:
    """(name, file) of every module of the package."""
    for folder, package in ((ROOT / "pt2lint", "pt2lint"), (ROOT / "rules", "pt2lint.rules")):
        for path in sorted(folder.rglob("*.py")):
            if folder.name == "pt2lint" and path.is_relative_to(folder / "rules"):
                continue
            parts = path.relative_to(folder).with_suffix("").parts
            yield ".".join((package, *(p for p in parts if p != "__init__"))), path


@cache  # to read them all takes seconds, and the tests ask more than once
def imported(path: Path) -> tuple[str, ...]:
    """The modules of the package that a file imports, wherever in it, less those imported for types alone."""
    found: list[str] = []
    rest: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while rest:
        node = rest.pop()
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            rest += node.orelse
            continue
        if isinstance(node, ast.Import):
            found += (alias.name for alias in node.names if alias.name.split(".")[0] == "pt2lint")
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "pt2lint":
            found += (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "import_module" and node.args:
            named = re.match(r"f?'(pt2lint[\w.]*)", ast.unparse(node.args[0]))
            if named:
                found.append(named[1].rstrip("."))
        rest += ast.iter_child_nodes(node)
    return tuple(found)


@cache
def box(module: str) -> str:
    """The box that a module, or a name in one, stands in."""
    if module.startswith(DATA):
        return "data"
    parts = module.split(".")
    if module in FRONT or (
        len(parts) == 2 and not (ROOT / "pt2lint" / parts[1]).is_dir() and parts[1] != "rules"
    ):
        return "check"
    if parts[1] == "static":
        inner = len(parts) > 2 and (ROOT / "pt2lint" / "static" / parts[2]).is_dir()
        return f"static.{parts[2]}" if inner else "static"
    return parts[1]


def arrows() -> set[tuple[str, str]]:
    found = {(box(name), box(other)) for name, path in modules() for other in imported(path)}
    return {(a, b) for a, b in found if a != b}


def picture() -> str:
    """The boxes and arrows, as mermaid. The data that all pass around is left out."""
    lines = ["flowchart TD"]
    for a, b in sorted(arrows()):
        if "data" not in (a, b):
            lines.append(f"    {a} --> {b}")
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    old = PAGE.read_text(encoding="utf-8")
    new = BLOCK.sub(lambda block: block[1] + picture() + block[2], old)
    if check:
        if old != new:
            print("docs/architecture.md is not what the imports say: run `python tools/architecture.py`")
        return int(old != new)
    PAGE.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
