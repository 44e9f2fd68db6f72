"""A fraction of the search for programs that a fix changes (benchmarks/fix_counterexamples.py)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.files import loaded


@pytest.fixture(scope="module")
def search():
    return loaded(Path(__file__).parents[2] / "benchmarks" / "fix_counterexamples.py")


def test_no_fix_changes_a_result(search):
    tally = search.search(12, number=1)
    assert tally.programs >= 12
    assert tally.safe > 0
    assert sum(tally.proven.values()) > 2
    assert tally.wrong == []
    assert not sum(tally.missed.values()), tally.examples
    assert not sum(tally.gradients.values()), tally.examples


def test_the_search_finds_what_is_there(search):
    """A repair that takes the sides in the wrong order, called safe, is caught."""
    source = search.HEAD + "def f(x, y):\n    if x.sum() > 0:\n        x = -x\n    return x\n"
    from pt2lint.finding import Edit, Fix

    wrong = Fix("w", "safe", (Edit("f.py", 7, 1, 9, 1, "    x = torch.where(x.sum() > 0, x, -x)\n"),))
    tally = search.Tally()
    real, search.fixes_of = search.fixes_of, lambda text: iter([("branch", wrong)])
    try:
        search.try_program(source, tally)
    finally:
        search.fixes_of = real
    assert len(tally.wrong) == 1
