"""The page on PyTorch's registry of graph breaks says what was measured, and the registry is that of the torch here."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from matrix.registry import called, entries, ids, reached, unreached, wrong
from matrix.table import results

ROOT = Path(__file__).parents[2]


def test_the_page_is_up_to_date():
    done = subprocess.run(
        [sys.executable, ROOT / "matrix" / "registry.py", "--check"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_entry_is_reached_or_says_why_not():
    assert wrong() == []
    assert set(unreached()) < set(entries()["types"])
    assert all(kind and why for kind, why in unreached().values())


def test_the_entries_are_those_of_the_torch_that_is_installed():
    torch = pytest.importorskip("torch")
    if torch.__version__.split("+")[0] != entries()["torch"]:
        pytest.skip(f"the registry is that of torch {entries()['torch']}")
    path = Path(torch.__file__).parent / "_dynamo" / "graph_break_registry.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    assert {gb: history[0]["Gb_type"] for gb, history in data.items()} == entries()["types"]


def test_an_entry_is_met_where_the_results_name_it():
    case = next(iter(reached()["GB0170"]))
    assert "GB0170" in ids(results("2.13.0")[case.key])
    assert set(called()) & set(reached())
    assert "GB0200" not in reached()  # raised for PyTorch's own tests alone
