"""Tests of the dynamic pass: those that start a child need an interpreter with torch."""

from __future__ import annotations

import importlib.util
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pt2lint.dynamic import VerifyOptions, VerifyResult, verify
from pt2lint.finding import Finding

needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")


def finding(path: str, line: int, column: int = 1, code: str = "PTB100", end: int | None = None) -> Finding:
    return Finding(code, "test", "a test's finding", path, line, column, line, end or column + 1)


class Project:
    """A folder with files of a test's own; findings are laid at lines marked `# HERE` or `# HERE PTR200`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.findings: list[Finding] = []
        self.names: dict[tuple[str, int], str] = {}

    def write(self, name: str, text: str) -> str:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        for number, line in enumerate(textwrap.dedent(text).splitlines(), 1):
            if "# HERE" in line:
                words = line.partition("# HERE")[2].split()
                code = next((word for word in words if word.startswith("PT")), "PTB100")
                start = len(line) - len(line.lstrip()) + 1
                end = len(line.partition("#")[0].rstrip()) + 1
                self.findings.append(finding(str(path), number, start, code, end))
        return str(path)

    def verify(self, *paths: str, **options: Any) -> VerifyResult:
        options.setdefault("timeout", 120)
        return verify(self.findings, list(paths) or [str(self.folder)], VerifyOptions(**options))


def verdicts(result: VerifyResult) -> list[tuple[int, str, str | None]]:
    """(line, code, verdict) of each finding."""
    return [(each.line, each.code, each.verdict) for each in result.findings]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.chdir(tmp_path)
    return Project(tmp_path)


Verify = Callable[..., VerifyResult]
