"""The check before every write: what it lets through and what it does not."""

from __future__ import annotations

import contextlib
import random
import textwrap

import pytest

from pt2lint.fixes import loss
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


def test_looking_around_the_change_alone_says_what_looking_at_all_says(monkeypatch):
    """Lines are taken out, doubled, changed or moved at random, and what is said to be replaced too."""
    again = OLD.replace("# ", "# 2 ").replace("M:", "O:")
    text = f"import os\n\n{OLD}\n\nX = 1\n# why\nY = [\n    2,\n]; Z = 3\n\n{again}@X\n# c\nclass N: pass\n\n\nY = 2\n"
    lines = text.splitlines(keepends=True)
    draw = random.Random(1)
    cases = []
    for _ in range(400):
        new = list(lines)
        at = draw.randrange(len(lines))
        for _ in range(draw.choice([1, 1, 2])):
            place = min(max(at + draw.randrange(-2, 3), 0), len(new) - 1)
            way = draw.randrange(5)
            if way == 0:
                del new[place]
            elif way == 1:
                new.insert(place, draw.choice(["# new\n", "\n", "        print()\n", "y = 1\n", new[place]]))
            elif way == 2:
                new[place] = new[place].replace("x", "z").replace("2", "3")
            elif way == 3:
                new[place] = new[place].split("#")[0].rstrip() + "\n"
        spans = []
        for _ in range(draw.randrange(3)):
            first = min(max(at + draw.randrange(-2, 2), 0), len(lines) - 1)
            last = min(first + draw.randrange(3), len(lines) - 1)
            column = len(lines[first]) - len(lines[first].lstrip()) + 1
            spans.append((first + 1, column, last + 1, max(column if first == last else 1, len(lines[last]))))
        with contextlib.suppress(SyntaxError):  # which is looked at before
            compile("".join(new), "m.py", "exec", dont_inherit=True)
            cases.append(("".join(new), spans))
    assert len(cases) > 100
    around = [what_is_lost(text, new, spans) for new, spans in cases]
    monkeypatch.setattr(loss, "_around_change", lambda old, new, trees, spans: (1, old, new))
    whole = [what_is_lost(text, new, spans) for new, spans in cases]
    assert [said is None for said in around] == [said is None for said in whole]
    assert {said is None for said in whole} == {True, False}
