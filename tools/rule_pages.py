"""Write docs/rules/: a page for every code, from the rule files: python tools/rule_pages.py [--check]

--check changes nothing and exits with 1, naming them, if pages differ from what the rule files say now.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from pt2lint.check import pages
from pt2lint.project.config import Settings
from pt2lint.report.page import render

FOLDER = Path(__file__).parent.parent / "docs" / "rules"
FAMILIES = {
    "PTB": "Graph breaks",
    "PTR": "Recompilations",
    "PTS": "Code that compiles, but silently does something else",
    "PTX": "pt2lint's own",
}

# What a page ends with: who comes from code scanning or an editor has seen no other.
FOOT = """
---

Silence one line with `# noqa: {code}`. See also: [when it is only a note](../how-it-decides.md#5-what-it-is-worth),
[fixes](../fixes.md), [all rules](README.md).
"""


def files() -> dict[str, str]:
    """The text of each page by its file's name."""
    known = pages(Settings())
    found = {f"{page.code}.md": render("markdown", page) + FOOT.format(code=page.code) for page in known}
    parts = [
        "# Rules\n",
        "`pt2lint rule CODE` prints a page; `--select` and `--ignore` take codes or how they begin. The tests\n"
        "run each page's example under Dynamo. Whether a finding is an error, a warning or a note depends on\n"
        "[the code around it](../how-it-decides.md#5-what-it-is-worth).\n",
        "(Made by `python tools/rule_pages.py` from the rule files.)\n",
    ]
    for family, title in FAMILIES.items():
        rows = [page for page in known if page.code.startswith(family)]
        table = "".join(
            f"| [{page.code}]({page.code}.md) | {page.name} | {page.summary} |\n" for page in rows
        )
        parts.append(f"## {title}\n\n| code | name | what it says |\n|---|---|---|\n{table}")
    found["README.md"] = "\n".join(parts)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    wanted = files()
    there = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")}
    stale = sorted({name for name in {*wanted, *there} if wanted.get(name) != there.get(name)})
    if check:
        for name in stale:
            print(f"docs/rules/{name} is not what the rule files say: run `python tools/rule_pages.py`")
        return int(bool(stale))
    FOLDER.mkdir(exist_ok=True)
    for name in stale:
        if name in wanted:
            (FOLDER / name).write_text(wanted[name], encoding="utf-8")
        else:
            (FOLDER / name).unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
