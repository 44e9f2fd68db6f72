"""A part of the search in benchmarks/fix_loss.py: layout in every place of code that has fixes."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.fix_loss import Search, compiles, mutated, seeds_of_rules

SOURCES = [(name, source) for name, source in seeds_of_rules() if compiles(source)]


@settings(max_examples=60)
@given(st.sampled_from(SOURCES), st.integers(0, 10**6))
def test_no_fix_loses_what_was_put_into_the_code(case, seed):
    name, source = case
    found = Search()
    found.look(f"{name} seed {seed}", mutated(source, random.Random(f"{name} {seed}")))
    assert not found.lost
