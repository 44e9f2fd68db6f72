"""The table of models: what it shows, with and without JavaScript, and in a browser with 300 of them."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from pt2lint.report import Report, Traced
from pt2lint.report.html import index, render, two_runs
from pt2lint.report.models import Model, Place
from tests.report.test_html import SOURCE, Page, finding

BREAK = Place("PTB110", "m.py", 6, "if x.sum() > 0:", "Data-dependent branching", "GB0170")
ODD = Place("PTB900", "m.py", 8, "return y * 2", "why", "GB0059")
SPLIT = Model("m.split", (3, 2), (BREAK, ODD), 1, (), (5,), 0, {"compile": 1.5}, ("m.py", 4))
WHOLE = Model("m.whole", (7,), (), 0, (), None, 0, {"compile": 0.25})
FAILED = Model("m.<failed>", trouble="TypeError: <no>")


def cells(text: str) -> list[list[str]]:
    rows = re.findall(r"<tr data-t=.*?</tr>", text, re.S)
    return [
        [" ".join(re.sub(r"<[^>]+>", "", cell).split()) for cell in re.findall(r"<td.*?</td>", row, re.S)]
        for row in rows
    ]


def test_what_the_table_says() -> None:
    text = index(
        Report([], models=[WHOLE, SPLIT, FAILED], files=2, notes=["reused `r`"]), {"m.split": "models/s.html"}
    )
    shown = Page(text, scripts=True)
    assert cells(text) == [
        ["m.&lt;failed&gt; TypeError: &lt;no&gt;", "0", "0", "0", "0", "", ""],
        ["m.split", "2", "2", "3", "1", "1", "1.5 s"],
        ["m.whole", "1", "0", "7", "0", "", "250 ms"],
    ]
    assert shown.links == ["models/s.html"]
    for words in (
        "3models",
        "1in one graph",
        "1more with the proven fixes",
        "2breaks",
        "1failed",
        "reused r",
    ):
        assert words in shown.text
    assert re.findall(r'class="what">(\S+)</span><i style="width:([\d.]+)%', text) == [
        ("GB0059", "100.0"),
        ("PTB110", "100.0"),
    ]
    assert text.count('aria-label="operators in each graph: 3, 2"') == 1
    assert text.count('aria-label="operators in each graph: 5"') == 1


def test_two_runs() -> None:
    new = Model("m.split", (5,), (), 1, (), None, 0, {"compile": 0.5})
    text = two_runs(
        [new, WHOLE], [SPLIT, FAILED], ["old", "new"], {"m.split": "better", "m.whole": "new"}, {}
    )
    Page(text, scripts=True)
    assert cells(text) == [
        ["m.whole", "new", "1", "0", "7", "0", "", "250 ms"],
        ["m.split", "better", "2 &rarr; 1", "2 &rarr; 0", "3 &rarr; 5", "1", "", "1.5 s &rarr; 500 ms"],
    ]
    assert "only in the earlier run" in text


def test_rows_lead_to_the_way_in_which_a_file_is_shown() -> None:
    lines = {"m.py": {4: [1]}}
    one, same = Traced("split (eval)", (3,), 0, lines, {}), Traced("other", (3, 4), 0, lines, {})
    third = Traced("whole", (7,), 0, {"m.py": {5: [1]}}, {})
    text = render(
        Report([finding()], sources={"m.py": SOURCE}, traced=[one, same, third], models=[SPLIT, WHOLE],
               models_of={"split": "m.split", "whole": "m.whole"})
    )  # fmt: skip
    shown = Page(text, scripts=True)
    assert shown.links[:2] == ["#f0v0", "#f0v1"]
    assert {"f0v0", "f0v1"} <= {*shown.ids}
    assert "split (eval), other" in shown.text


def many() -> list[Model]:
    draw = random.Random(1)
    models = []
    for number in range(300):
        count = draw.choice([1, 1, 2, 4, 30])
        graphs = tuple(draw.randint(1, 400) for _ in range(count))
        breaks = tuple(Place("PTB103", "m.py", at, "x.item()", "why", "GB0124") for at in range(count - 1))
        models.append(Model(f"package.models.family{number % 20}.Model{number}", graphs, breaks, 0, (), (9,)))
    return models


@pytest.mark.skipif(shutil.which("chromium") is None, reason="Chromium is not installed")
@pytest.mark.parametrize("width", [390, 1280])
def test_in_a_browser_it_is_quick_sorts_and_searches(tmp_path: Path, width: int) -> None:
    text = index(Report([], models=many(), files=20), {})
    assert len(text) < 600_000
    script = """<script>
      document.querySelectorAll('.models th button')[1].click();
      const first = document.querySelector('.models tbody tr').cells[1].textContent;
      const find = document.querySelector('.find');
      find.value = 'family7. ptb103'; find.dispatchEvent(new Event('input'));
      const seen = [...document.querySelectorAll('.models tbody tr')].filter(row => row.getClientRects().length).length;
      new PerformanceObserver(list => console.log(['told', first, seen, document.documentElement.scrollWidth,
        Math.round(list.getEntries().at(-1).startTime)].join(' '))).observe({type: 'paint', buffered: true});
    </script>"""
    (tmp_path / "page.html").write_text(text.replace("</body>", script + "</body>"))
    command = ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr"]
    command += [f"--user-data-dir={tmp_path}/profile", f"--window-size={width},900"]
    command += [f"--screenshot={tmp_path}/page.png"]
    done = subprocess.run(
        [*command, (tmp_path / "page.html").as_uri()], capture_output=True, text=True, timeout=120, check=True
    )
    told = re.search(r"told (\d+) (\d+) (\d+) (\d+)", done.stderr)
    assert told is not None, done.stderr
    graphs, seen, wide, paint = map(int, told.groups())
    wanted = [model for model in many() if ".family7." in model.name and model.breaks]
    assert (graphs, seen) == (30, len(wanted))
    assert wide <= max(width, 500)  # Chromium's windows are no narrower
    assert paint < 5000  # 260 ms on two busy cores
