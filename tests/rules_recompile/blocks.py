"""The code blocks of the rules' pages, and what linting a text reports."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

from pt2lint.project.config import Settings
from pt2lint.rule import Rule
from pt2lint.static.engine import lint
from tests.linting import announced


def block(rule: type[Rule], section: str) -> str:
    """The python block of a section of the rule's page."""
    text = rule.page().help
    match = re.search(rf"^## {re.escape(section)}\n(?:(?!^## ).)*?^```python\n(.*?)^```", text, re.M | re.S)
    assert match, f"{rule.code} has no block under {section!r}"
    return textwrap.dedent(match[1])


def codes(
    source: str, tmp_path: Path, prefix: str = "PT", target: tuple[int, int] | None = None
) -> list[str]:
    """The codes that linting this text reports, by line: "PTR201:5"."""
    path = tmp_path / "m.py"
    path.write_text(source, encoding="utf-8")
    found = lint([str(path)], Settings(pedantic=True, **({"target_torch": target} if target else {})))
    assert not found.problems, found.problems
    return [f"{f.code}:{f.line}" for f in found.findings if f.code.startswith(prefix)]


def marked(source: str) -> list[str]:
    """The findings that comments in the source announce: `x = f()  # PTR201, PTR205`."""
    return sorted(f"{code}:{number}" for number, code in announced(source, "RS"))
