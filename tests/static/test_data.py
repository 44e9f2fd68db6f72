"""Files that are data: their long literals are not parsed, all else in them is as it was."""

from __future__ import annotations

import ast
import time
from pathlib import Path

import pytest

from pt2lint.project.config import Settings
from pt2lint.static.engine import lint
from pt2lint.static.source.data import SMALL, without_data
from pt2lint.static.source.nodes import parse

CODE = "import torch\n\n\n@torch.compile\ndef f(x):\n    return x.max().item()\n"
ROWS = [
    "    1, -2.5, 3e-4, 0x1F, 1_000,\n",
    "    'a', \"b\\\"c\", b'\\x00',\n",
    "    'key': (1, 'two', None),\n",
    "    [0.25, 1], (True, False),\n",
]


@pytest.mark.parametrize("row", ROWS)
def test_the_tree_is_small_and_lines_stay(row: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opens, closes = "{}" if ":" in row else "[]"
    source = f"X = {opens}\n{row * (SMALL // len(row) + 1)}{closes}\n{CODE}"
    nodes = sum(1 for _ in ast.walk(parse(source, "m.py")))
    assert nodes < 2_000
    assert without_data(source).count("\n") == source.count("\n")
    monkeypatch.chdir(tmp_path)
    Path("m.py").write_text(source)
    [found] = lint(["m.py"], Settings(target_torch=(2, 13))).findings
    assert (found.code, found.line) == ("PTB103", source.count("\n"))


def test_what_is_small_or_no_data_stays() -> None:
    small = "X = [\n" + ROWS[0] * 1000 + "]\n"
    assert without_data(small) == small
    code = "def f(x, y):\n    x, y,\n    return x\n" * 20_000
    assert without_data(code) == code


def test_what_almost_is_data_takes_no_time() -> None:
    row = "    " + "1, " * 5000 + "x,\n"
    source = "X = [\n" + (ROWS[0] * 99 + row) * (SMALL // len(row) + 10) + "]\n"
    started = time.process_time()
    assert without_data(source) == source
    assert time.process_time() - started < 20


def test_a_literal_of_one_line_is_cut_in_its_place() -> None:
    rows = ", ".join(f"[{number}, -1.5]" for number in range(50_000))
    pairs = ", ".join(f'"k, {number}": {number}' for number in range(50_000))
    for literal in (f"[{', '.join(map(str, range(100_000)))}]", f"[{rows}]", f"{{{pairs}}}"):
        source = f"import torch\nx = f({literal}[0], 'a'); y = 1\n"
        cut = without_data(source)
        assert len(cut) == len(source)
        assert cut.count(",") < 2000
        assert cut.endswith("[0], 'a'); y = 1\n")
        ast.parse(cut)
    text = f"x = '{'1, ' * 200_000}'\n"
    assert without_data(text) == text
