"""The HTML report: well formed, whole in itself, each line with the graph that it landed in."""

from __future__ import annotations

import html
import importlib.util
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest

from pt2lint.cli import main
from pt2lint.finding import Edit, Finding, Fix, Problem, Step
from pt2lint.report import Report, Traced
from pt2lint.report.html import render

SOURCE = """\
import torch


def f(x):
    y = x < 1 and "<&>"
    if x.sum() > 0:
        y = x + 1
    return y * 2
"""
VOID = {"meta", "input", "br"}


class Page(HTMLParser):
    """Checks that tags nest, and keeps the rows of source, the links and the text."""

    def __init__(self, text: str, scripts: bool = False) -> None:
        super().__init__()
        self.scripts = scripts
        self.open: list[str] = []
        self.rows: list[tuple[str, str, str, str]] = []  # class, graphs, number, code
        self.links: list[str] = []
        self.ids: list[str] = []
        self.text = ""
        self._cells: list[str] | None = None
        self._kind = ""
        self.feed(text)
        self.close()
        assert self.open == []
        self.text = " ".join(self.text.split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        assert tag not in ("link", "img", "iframe")
        assert tag != "script" or self.scripts
        assert "src" not in given
        if tag == "a":
            self.links.append(given["href"] or "")
        if given.get("id"):
            assert given["id"] not in self.ids
            self.ids.append(given["id"] or "")
        if tag not in VOID:
            self.open.append(tag)
        if (given.get("class") or "").split(" ")[0] == "row":
            self._cells, self._kind = [], given["class"] or ""
        elif self._cells is not None and tag in ("span", "code"):
            self._cells.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
        if tag == "div" and self._cells is not None:
            graphs, number, code = self._cells
            self.rows.append((self._kind, graphs, number, code))
            self._cells = None

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._cells:
            self._cells[-1] += data


def finding(**fields: object) -> Finding:
    values = {
        "code": "PTB110", "name": "data-dependent-branch", "message": "`x.sum() > 0` makes <this> depend on values",
        "path": "m.py", "line": 6, "column": 8, "end_line": 6, "end_column": 19, "verdict": "confirmed",
        "evidence": {
            "graph_break": "GB0170", "reason": "Data-dependent <branching>", "graphs": 2, "hits": 1,
            "explanation": "Detected.", "hints": ["Use `torch.cond`."],
        },
        "flow": (Step("m.py", 4, "`f` is compiled"),),
        "fixes": (
            Fix("Select `y`.", "unsafe", (Edit("m.py", 6, 5, 7, 18, "y = torch.where(x.sum() > 0, x + 1, y)"),), True),
            Fix("Another.", "unsafe", (Edit("m.py", 6, 5, 6, 6, ""),), False),
        ),
    }  # fmt: skip
    return Finding(**{**values, **fields})  # type: ignore[arg-type]


def report(**fields: object) -> Report:
    fixed = SOURCE.replace("if x.sum() > 0:\n        y = x + 1", "y = torch.where(x.sum() > 0, x + 1, y)")
    values = {
        "findings": [finding()], "sources": {"m.py": SOURCE}, "files": 1,
        "traced": [Traced("f", (2, 2), 1, {"m.py": {4: [1], 5: [1], 6: [1, 2], 8: [2]}}, {"m.py": frozenset({7})})],
        "traced_after": [Traced("f", (4,), 0, {"m.py": {4: [1], 5: [1], 6: [1], 7: [1]}}, {})],
        "fixed": {"m.py": fixed}, "notes": ["made up `x`"], "problems": [Problem(None, "one <went> wrong")],
    }  # fmt: skip
    return Report(**{**values, **fields})  # type: ignore[arg-type]


def test_each_line_stands_in_its_graph() -> None:
    page = Page(render(report()))
    shown = [(kind, graphs, number) for kind, graphs, number, _ in page.rows]
    plain = [("row", "", str(n)) for n in (1, 2, 3)]
    assert shown[:8] == [
        *plain, ("row g", "1", "4"), ("row g", "1", "5"), ("row g", "1,2", "6"), ("row e", "", "7"), ("row g", "2", "8")
    ]  # fmt: skip
    assert shown[8:] == [*plain, *(("row g", "1", str(n)) for n in (4, 5, 6, 7))]
    assert [code for *_, code in page.rows[:8]] == [line or " " for line in SOURCE.splitlines()]
    assert page.rows[13][3] == "    y = torch.where(x.sum() > 0, x + 1, y)"


def test_what_is_said_of_a_finding() -> None:
    page = Page(render(report()))
    assert page.links == ["https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0170.html"]
    for words in (
        "x.sum() > 0 makes <this> depend on values", "confirmed: GB0170 Data-dependent <branching>",
        "Use torch.cond.", "f is compiled (m.py:4)", "proven fix: Select y.", "tried: it does not hold here: Another.",
        "-    if x.sum() > 0:", "+    y = torch.where(x.sum() > 0, x + 1, y)",
        "1 graph, 0 breaks", "graph 2 (2 operators)",
        "made up x", "one <went> wrong", "With the proven fixes: f",
    ):  # fmt: skip
        assert " ".join(words.split()) in page.text, words


def test_graphs_that_the_logs_of_a_job_do_not_tell_apart() -> None:
    lines = {"m.py": {5: [0], 6: [0]}}
    page = Page(render(report(traced=[Traced("rank 0", (2, 2), 1, lines, {})], traced_after=(), fixed={})))
    assert [(kind, graphs) for kind, graphs, number, _ in page.rows if number in "56"] == [("row g", "")] * 2
    assert "in a graph" in page.text


def test_many_findings_have_an_index() -> None:
    found = [finding(line=line, end_line=line, fixes=(), evidence={"hits": line}) for line in (5, 6, 7, 8)]
    page = Page(render(report(findings=found)))
    assert page.links == [f"#f0-PTB110-{line}-8" for line in (8, 7, 6, 5)]  # the costliest first
    assert {link[1:] for link in page.links} < {*page.ids}


def test_without_a_run_and_without_findings() -> None:
    read = Page(
        render(report(traced=(), traced_after=(), fixed={}, findings=[finding(verdict=None, evidence=None)]))
    )
    assert {kind for kind, *_ in read.rows} == {"row"}
    assert "--verify" in read.text
    assert "0 findings in 1 file" in Page(render(Report([], files=1))).text


def test_a_long_file_folds_what_nothing_is_said_of() -> None:
    text = render(report(sources={"m.py": SOURCE + "\n" * 100}, fixed={}))
    assert "lines 12 to 108" in Page(text).text
    assert text.count('<details class="fold">') == 1


MODEL = """\
import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x: torch.Tensor):
        if x.sum() > 0:
            x = x + 1
        return x * 2


def example_inputs():
    return Net(), (torch.ones(3),), {}
"""


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
def test_a_verified_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pyproject.toml").write_text("[tool.pt2lint.verify]\nmodes = ['eval']\n")
    Path("net.py").write_text(MODEL)
    assert main(["--verify", "--report", "out/page.html", "net.py"]) == 1
    assert "PTB110" in capsys.readouterr().out
    text = Path("out/page.html").read_text(encoding="utf-8")
    page = Page(text)
    rows = {int(number): (kind, graphs) for kind, graphs, number, _ in page.rows[: len(MODEL.splitlines())]}
    assert rows[7] in (("row g", "1"), ("row g", "1,2"))  # what follows the break may start on its line
    assert rows[9] == ("row g", "2")
    assert rows[11] == ("row", "")
    assert "Net (eval)" in page.text
    assert "proven fix" in page.text
    assert "1 graph, 0 breaks" in page.text
    after = page.rows[len(MODEL.splitlines()) :]
    assert {graphs for _, graphs, _, code in after if "torch.where" in code or "return x * 2" in code} == {
        "1"
    }


@pytest.mark.skipif(shutil.which("chromium") is None, reason="Chromium is not installed")
@pytest.mark.parametrize("width", [360, 1200])
def test_in_a_browser_nothing_is_wider_than_the_screen(tmp_path: Path, width: int) -> None:
    long = SOURCE.replace(
        "return y * 2", "return " + " + ".join(f"a_rather_long_name_{i}" for i in range(40))
    )
    page = render(report(sources={"m.py": long}, fixed={}))
    (tmp_path / "frame.html").write_text(
        f'<iframe width="{width}" height="600" srcdoc="{html.escape(page)}" '
        "onload=\"let it = contentDocument; document.title = it.documentElement.scrollWidth + ' ' + "
        "it.querySelectorAll('.row.g').length + ' ' + contentWindow.getComputedStyle(it.querySelector('.row.g'))"
        '.backgroundColor"></iframe>'
    )
    command = [
        "chromium",
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        f"--user-data-dir={tmp_path}/profile",
    ]
    url = (tmp_path / "frame.html").as_uri()
    done = subprocess.run(
        [*command, "--dump-dom", url], capture_output=True, text=True, timeout=120, check=True
    )
    title = re.search(r"<title>(\d+) (\d+) (.*?)</title>", done.stdout)
    assert title is not None
    assert int(title[1]) <= width
    assert title[2] == "4"
    assert title[3] not in ("", "rgba(0, 0, 0, 0)")
