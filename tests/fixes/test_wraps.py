"""A part of the search in benchmarks/fix_wraps.py: cases of the rules in other syntax, run before and after fixes."""

from __future__ import annotations

import random

from benchmarks.fix_wraps import Search, chosen


def test_no_fix_is_wrong_in_other_syntax():
    found = Search()
    cases = chosen()
    random.Random(7).shuffle(cases)
    looked = 0
    for case in cases:
        looked += found.look(case, 0)
        if looked == 12:
            break
    assert found.counts["fixes"] >= 12
    assert found.wrong == []
