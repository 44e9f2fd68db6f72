"""The code in rule pages and in rules' VALID and INVALID, as files that pt2lint lints and Dynamo runs."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Timer
from typing import Any, Literal

from pt2lint.finding import Finding
from pt2lint.project.config import Settings
from pt2lint.rule import Rule
from pt2lint.rule.loader import load_rules
from pt2lint.static.engine import lint

Kind = Literal["example", "instead", "invalid", "valid"]
Row = dict[str, Any]  # what Dynamo made of a case: tests/rules/dynamo.py
# As a user compiles: what pt2lint takes for the root of a region.
COMPILED = "\n\ncompiled = torch.compile(f)\n"
# What a case's function is called with, unless it says otherwise: floats, a mask, whole numbers.
X = "torch.linspace(-1, 2, 16).view(4, 4)"
ARGS = f"args = ({X}, {X} > 0, torch.arange(4))\n"
PARAMETERS = "x: torch.FloatTensor, m: torch.BoolTensor, i: torch.LongTensor"
HERE = Path(__file__).parent


@dataclass(frozen=True)
class Case:
    """One piece of code of one rule; `runs` says that Dynamo can be given it."""

    rule: type[Rule]
    kind: Kind
    number: int
    text: str

    @property
    def id(self) -> str:
        return f"{self.rule.code}_{self.kind}_{self.number}"

    @property
    def runs(self) -> bool:
        return "args = None" not in self.text

    @property
    def module(self) -> str:
        """The code as a module that defines `f` and `args`."""
        text = self.text
        if self.kind in ("example", "instead"):
            return text
        if not re.search(r"^(def f\(|f = )", text, re.MULTILINE):
            imports = "".join(re.findall(r"^(?:import|from) .*\n", text, re.MULTILINE))
            body = re.sub(r"^(?:import|from) .*\n", "", text, flags=re.MULTILINE)
            text = f"{imports}def f({PARAMETERS}):\n" + textwrap.indent(body, "    ")
        return f"import torch\n{text}\n{'' if 'args = ' in text else ARGS}"

    @property
    def source(self) -> str:
        """The module with `f` compiled, as pt2lint reads it."""
        return self.module.rstrip("\n") + COMPILED

    def findings(self, target: tuple[int, int] | None = None) -> list[Finding]:
        """What pt2lint finds in it, by whatever rule, speaking of that torch, or of the installed one."""
        settings = Settings(target_torch=target) if target else None
        result = lint([f"{self.id}.py"], settings, {f"{self.id}.py": self.source})
        assert not result.problems, result.problems
        return result.findings


def blocks(rule: type[Rule], section: str) -> list[str]:
    """The python blocks under a heading of the rule's page."""
    parts = re.split(r"^## (.+)$", rule.page().help, flags=re.MULTILINE)
    text = dict(zip(parts[1::2], parts[2::2], strict=True)).get(section, "")
    return re.findall(r"^```python\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)


def cases() -> Iterator[Case]:
    for rule in graph_break_rules():
        for kind, section in (("example", "Example"), ("instead", "Use instead")):
            for n, text in enumerate(blocks(rule, section)):
                yield Case(rule, kind, n, text)  # type: ignore[arg-type]
        for kind in ("invalid", "valid"):
            for n, text in enumerate(getattr(rule, kind.upper())):
                yield Case(rule, kind, n, text)  # type: ignore[arg-type]


def graph_break_rules() -> list[type[Rule]]:
    return [rule for rule in load_rules() if rule.code.startswith("PTB")]


@contextmanager
def asked_of_dynamo(folder: Path, python: str = sys.executable) -> Iterator[Callable[[Case], Row]]:
    """What tells what Dynamo makes of a case: one child process for all, which measures each once it is asked."""
    errors = folder / "errors"
    with (
        errors.open("w") as file,
        subprocess.Popen(
            [python, str(HERE / "dynamo.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=file,
            text=True,
        ) as child,
    ):
        assert child.stdin is not None
        assert child.stdout is not None

        @cache
        def row(case: Case) -> Row:
            path = folder / f"{case.id}.py"
            path.write_text(case.module)
            timer = Timer(300, child.kill)
            timer.start()
            try:
                print(path, file=child.stdin, flush=True)
                line = child.stdout.readline()
            finally:
                timer.cancel()
            assert line, errors.read_text()[-4000:]
            found: Row = json.loads(line)
            return found

        yield row


def is_at(source: str, finding: Finding, lines: Iterable[int]) -> bool:
    """Whether one of the lines is of the statement where a finding stands, or says that the graph ends."""
    ends = [step.line for step in finding.flow if step.message == "the graph ends here"]
    first, last = statement_at(source, (ends or [finding.line])[0])
    return any(first <= line <= last for line in lines)


def statement_at(source: str, line: int) -> tuple[int, int]:
    """First and last line of the innermost statement that holds the line; of a compound one, its header."""
    spans = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            last = node.end_lineno or node.lineno
            spans.append((node.lineno, max(node.lineno, body[0].lineno - 1) if body else last))
    return max((span for span in spans if span[0] <= line <= span[1]), default=(line, line))
