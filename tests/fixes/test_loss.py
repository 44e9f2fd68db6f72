"""The check before every write: what it lets through and what it does not."""

from __future__ import annotations

import textwrap

import pytest

from pt2lint.fixes.loss import what_is_lost

OLD = textwrap.dedent(
    """\
    import torch


    class M:
        def f(self, x):
            # above
            if x.any():  # noqa: X1
                # inside
                y = x * 2  # two
            else:
                y = x

            return g(y,  # arg
                     2)

        # between
        def g(self, x): return x; pass
    # after
    """
)
IF = (7, 9, 11, 18)


def lost(new, *replaced):
    return what_is_lost(OLD, new, replaced)


GOOD = """        # inside
        # two
        y = w(x)  # noqa: X1
"""
START, REST = OLD.index("        if"), OLD.index("\n        return")


def with_if(text):
    return OLD[:START] + text + OLD[REST:]


def test_what_stays_as_it_is_passes():
    assert lost(OLD) is None
    assert lost(with_if(GOOD), IF) is None
    assert lost(with_if(GOOD.replace("# two\n", "# two\n        # and more\n")), IF) is None
    assert lost("import os\n" + with_if(GOOD), IF, (1, 1, 1, 1)) is None


@pytest.mark.parametrize(
    ("new", "says"),
    [
        (OLD.replace("# above", "# other"), "# above"),
        (OLD.replace("        # above\n", ""), "# above"),
        (OLD.replace("import torch\n", ""), "line 1"),
        (OLD.replace("import torch\n\n\n", "import torch\n\n"), "line 4"),
        (OLD.replace("; pass", ""), "line 17"),
        (OLD.replace("\n        return", "        return"), "line 13"),
        (OLD.replace("# after\n", ""), "# after"),
        (OLD.replace("    def g", "  def g"), "no tokens"),
        (OLD.replace("    def g(self, x)", "    if 1:\n        def g(self, x)"), "line 17"),
        (OLD.replace("def g", "def h"), "`g`"),
        (OLD.replace("\n", "\r\n", 3), "line ends"),
        (with_if(GOOD).replace("  # noqa: X1", ""), "# noqa: X1"),
        (with_if(GOOD).replace("        # two\n", ""), "# two"),
        (with_if(GOOD).replace("\n        return", "        return"), "line 13"),
        (
            with_if(GOOD).replace("        return g(y,  # arg\n                 2)\n", "        # arg\n"),
            "would change",
        ),
        (with_if(GOOD).replace("import torch", "import os, torch"), "line 1"),
        (with_if(GOOD.replace("y = w(x)", "return 1; return g(y, 2); y = 1")), None),
    ],
)
def test_what_goes_missing_is_named(new, says):
    assert new != OLD
    found = lost(new, IF)
    assert (found is None) if says is None else (says in found), found


def test_a_comment_goes_only_where_the_fix_says_that_it_replaces_it():
    without = OLD.replace("  # noqa: X1", "")
    assert "# noqa: X1" in lost(without)
    assert "# noqa: X1" in lost(without, (7, 20, 7, 32))
    assert lost(without, (7, 22, 7, 32)) is None


def test_an_insertion_passes_only_where_the_fix_makes_it():
    new = OLD.replace("        return g", "        print()\n        return g")
    assert lost(new, (13, 1, 13, 1)) is None
    assert lost(new, (13, 9, 13, 9)) is None
    assert lost(new, (1, 1, 1, 1)) is not None
    assert lost(new) is not None


def test_removal_of_a_whole_statement():
    new = OLD.replace("        return g(y,  # arg\n                 2)\n", "        # arg\n")
    assert lost(new, (13, 9, 14, 20)) is None
    assert lost(new, (13, 9, 14, 19)) is not None
