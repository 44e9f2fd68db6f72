"""A part of the search in benchmarks/fix_loss.py: layout in every place of code that has fixes."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.fix_loss import Search, compiles, mutated, seeds_of_rules
from benchmarks.mutated_sources import search
from pt2lint.fixes.edit import apply_edits
from pt2lint.static.engine import lint

SOURCES = [(name, source) for name, source in seeds_of_rules() if compiles(source)]


@settings(max_examples=60)
@given(st.sampled_from(SOURCES), st.integers(0, 10**6))
def test_no_fix_loses_what_was_put_into_the_code(case, seed):
    name, source = case
    found = Search()
    found.look(f"{name} seed {seed}", mutated(source, random.Random(f"{name} {seed}")))
    assert not found.lost


def test_a_form_feed_before_a_block_is_no_indent(tmp_path):
    path = tmp_path / "m.py"
    source = (
        "import torch\ndef f(x: torch.FloatTensor):\n\x0c    if not torch.isfinite(x).all():\n"
        "\x0c        raise ValueError('a')\n    return x + 1\ncompiled = torch.compile(f)\n"
    )
    path.write_text(source)
    found = lint([str(path)])
    assert not found.problems
    [fix] = [fix for finding in found.findings for fix in finding.fixes if fix.edits]
    after = apply_edits(source, fix.edits)
    compile(after, "m.py", "exec")
    assert "torch._assert_async(torch.isfinite(x).all(), 'a')" in after
    assert "        raise ValueError('a')\n    return x + 1\n" in after


@settings(max_examples=25)
@given(st.integers(0, 10**6))
def test_nothing_fails_on_sources_that_are_changed_at_random(seed):
    """A part of the search in benchmarks/mutated_sources.py."""
    assert not search(SOURCES, 1, seed).lost


@pytest.mark.parametrize(
    ("statement", "after"),
    [
        ("if x.sum() \\\n            > 0:\n        x = x * 2", "x = torch.where(x.sum() > 0, x * 2, x)"),
        ("x[x > 0] -= \\\n        1", "x.copy_(torch.where(x > 0, x - 1, x))"),
    ],
)
def test_a_line_that_ends_after_an_operator(tmp_path, statement, after):
    path = tmp_path / "m.py"
    source = f"import torch\n@torch.compile\ndef f(x: torch.FloatTensor):\n    {statement}\n    return x\n"
    path.write_text(source)
    found = lint([str(path)])
    assert not found.problems
    [finding] = found.findings
    assert "\\" not in finding.message
    assert f"    {after}\n    return x\n" in apply_edits(source, finding.fixes[0].edits)
