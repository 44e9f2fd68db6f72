"""From trees to edits: what a rewrite leaves of the lines, comments and blank lines around and in what it replaces."""

from __future__ import annotations

import textwrap

import libcst as cst
import pytest

from pt2lint.fixes.edit import apply_edits
from pt2lint.fixes.file import File, own_line_length
from pt2lint.fixes.loss import what_is_lost
from pt2lint.fixes.repaired import Refusal, fix
from pt2lint.fixes.rewrite import rewrite
from pt2lint.fixes.text import statements
from tests.fixes.lab import function_code, nodes
from tests.linting import findings


def rewritten(source, replace, name="f"):
    """The text after `replace(code, found)` said what becomes of nodes: found("text") is the one of that source."""
    source = textwrap.dedent(source).removeprefix("\n")
    code = function_code(source, name)

    def found(text):
        def bare(node):
            node = node.with_changes(leading_lines=()) if hasattr(node, "leading_lines") else node
            return code.module.code_for_node(node).partition("\n")[0].partition("  #")[0].strip()

        return next(node for node in nodes(code, cst.CSTNode) if bare(node) == text)

    return apply_edits(source, rewrite(code, replace(code, found)))


def test_blank_lines_before_a_replaced_end_of_the_function():
    after = rewritten(
        """
        class M:
            def f(self, x):
                if x.any():
                    return x
                y = x * 2


                return y + 1
            def g(self, x):
                return x
        """,
        lambda code, found: {
            found("if x.any():"): statements(code, ["return where(x.any(), x, x * 2 + 1)"]),
            found("y = x * 2"): None,
            found("return y + 1"): None,
        },
    )
    assert after == textwrap.dedent(
        """\
        class M:
            def f(self, x):
                return where(x.any(), x, x * 2 + 1)
            def g(self, x):
                return x
        """
    )


@pytest.mark.parametrize("after", ["    # then\n    return x\n", "    return x\n", ""])
def test_blank_lines_that_hold_spaces_stay_below_what_is_replaced(after):
    above = "def f(x):\n    if x.any():\n        x = 1\n    else:\n        x = 2\n"
    source = f"{above}        \n\n{after}"
    made = rewritten(source, lambda code, found: {found("if x.any():"): statements(code, ["x = where(x)"])})
    assert made == f"def f(x):\n    x = where(x)\n\n\n{after}"


@pytest.mark.parametrize("tail", ["", "\n", "\n\n", "\n# after\n", "\n    # in it\n\n# after", "\n\n\n"])
def test_what_follows_the_function_stays(tail):
    source = "def f(x):\n    if x:\n        return 1\n\n    return 2" + tail
    after = rewritten(
        source,
        lambda code, found: {found("if x:"): statements(code, ["return 3"]), found("return 2"): None},
    )
    assert after.rstrip("\n") == ("def f(x):\n    return 3" + tail).rstrip("\n")
    assert after.count("\n") in (("def f(x):\n    return 3" + tail).count("\n"), 2)


def test_comments_go_with_the_statement_that_takes_their_place():
    after = rewritten(
        """
        def f(x):
            # above
            if x.sum() > 0:  # on if
                # needed: see issue 12
                y = x * 2  # first
                z = 1  # of z
            else:  # on else
                y = x / 2  # halved
                # at the end
                z = 2
            # below
            return y
        """,
        lambda code, found: {found("if x.sum() > 0:"): statements(code, ["y = a(x)", "z = b(x)"])},
    )
    assert after == textwrap.dedent(
        """\
        def f(x):
            # above
            # on if
            # needed: see issue 12
            # first
            # on else
            # halved
            y = a(x)
            # of z
            # at the end
            z = b(x)
            # below
            return y
        """
    )


def test_one_comment_at_the_end_of_a_statement_stays_there():
    after = rewritten(
        """
        def f(x):
            y = g(x)  # why
            if x:
                h()  # of h
            return y
        """,
        lambda code, found: {
            found("y = g(x)"): statements(code, ["y = k(x)"]),
            found("if x:"): statements(code, ["h2()"]),
        },
    )
    assert "    y = k(x)  # why\n" in after
    assert "    h2()  # of h\n" in after


def test_comments_in_an_expression_go_above_its_statement_and_marks_stay_on_their_line():
    after = rewritten(
        """
        def f(x):
            y = call(
                one(x),  # the first
                # the second
                two(x),  # type: ignore[arg-type]
            )  # close
            return y
        """,
        lambda code, found: {found("call("): cst.parse_expression("call(\n    one(x), two(x)\n)")},
    )
    assert after == textwrap.dedent(
        """\
        def f(x):
            # the first
            # the second
            y = call(
                one(x), two(x)  # type: ignore[arg-type]
            )  # close
            return y
        """
    )


def test_comments_of_what_is_removed_go_above_what_follows():
    after = rewritten(
        """
        def f(x):
            # why it is here
            import math  # of math

            # next
            y = x
            if y:
                z = 1  # of z
            return y
        """,
        lambda code, found: {found("import math"): None, found("if y:"): None},
    )
    assert after == textwrap.dedent(
        """\
        def f(x):

            # why it is here
            # of math
            # next
            y = x
            # of z
            return y
        """
    )


@pytest.mark.parametrize(
    ("line", "made", "kept"),
    [
        ("y = x[x > 0].sum()  # type: ignore[index]", "y = torch.where(x > 0, x, 0).sum()", True),
        ("y = x.item()  # type: ignore[attr]", "y = x", False),
        ("if x.sum() > 0: y = x  # pragma: no cover", "y = torch.where(x.sum() > 0, x, y)", False),
        ("import math  # noqa: PLC0415", None, False),
        ("import math  # why", None, True),
    ],
)
def test_a_mark_stays_with_the_code_that_it_speaks_of_or_nothing_is_rewritten(line, made, kept):
    source = f"def f(x, y):\n    {line}\n    return y\n"
    code = function_code(source)
    new = None if made is None else statements(code, [made])
    found = fix("It.", rewrite(code, {code.module.body[0].body.body[0]: new}))
    if not kept:
        assert isinstance(found, Refusal)
        return
    assert line[line.index("  #") :] in apply_edits(source, found.edits) or made is None


def test_what_a_comment_says_of_compiling_goes_with_its_statement():
    source = "def f(x):\n    # all of it\n\n    # a graph break\n    # (see below)\n    n = x.tolist()\n"
    source += "    # the sum\n    return x\n"
    code = function_code(source)
    edits = rewrite(code, {code.module.body[0].body.body[0]: None})
    after = apply_edits(source, edits)
    assert after == "def f(x):\n    # all of it\n    # the sum\n    return x\n"
    spans = [span for edit in edits for span in edit.replaces]
    assert what_is_lost(source, after, spans) is None
    other = source.replace("graph break", "list")
    assert "# a list\n    # (see below)\n" in rewritten(
        other, lambda code, found: {found("n = x.tolist()"): None}
    )


def test_comments_of_statements_that_become_functions():
    after = rewritten(
        """
        def f(x):
            if x:  # test
                y = a(x)  # kept

            else:
                # of the other side
                y = b(x)  # gone
            return y
        """,
        lambda code, found: {
            found("if x:"): statements(
                code,
                [
                    "def yes():\n    y = a(x)  # kept\n    return y",
                    "def no():\n    return b(x)",
                    "y = cond(x, yes, no)",
                ],
            )
        },
    )
    assert after == textwrap.dedent(
        """\
        def f(x):
            # test
            def yes():
                y = a(x)  # kept
                return y
            def no():
                return b(x)
            # of the other side
            # gone
            y = cond(x, yes, no)
            return y
        """
    )


def test_form_feeds_and_carriage_returns_stay():
    source = "\x0cdef f(x):\r\n    if x:\r\n        y = 1\r\n\x0c    return y\r\n"
    after = rewritten(source, lambda code, found: {found("if x:"): statements(code, ["y = 1", "z = 2"])})
    assert after == "\x0cdef f(x):\r\n    y = 1\r\n    z = 2\r\n\x0c    return y\r\n"


@pytest.mark.parametrize(
    ("head", "may"),
    [
        ("from torch import nn", True),
        ("import torch_geometric.nn as gnn", True),
        ("from .layers import Block", True),
        ("from .layers import Block\n\nif TYPE_CHECKING:\n    import torch", False),
        ("import logging", False),  # what goes without torch is for those who have none
        ("import logging\nimport numpy as np", False),
        ("from .layers import Block\n\n\ndef f():\n    import torch", False),
    ],
)
def test_where_torch_may_be_imported(head, may):
    assert File("m.py", head + "\n").loads_torch is may


CODE = "value = [1, 2, 3] + [4, 5, 6]" + " + [7, 8, 9]" * 4  # 77 characters


@pytest.mark.parametrize(
    ("long", "length"),
    [
        (f"    raise ValueError('{'x' * 100}')", 88),
        (f"# {'x' * 100}", 88),
        (f"x = 1  # {'x' * 100}", 88),
        (f'"""Text.\n{"x" * 100}\n"""', 88),
        (f"{CODE}{' + [7, 8, 9]' * 2}", 101),
    ],
)
def test_how_long_lines_may_be_code_alone_tells(long: str, length: int) -> None:
    lines = "\n".join([CODE, *[long] * 9]).split("\n")
    assert own_line_length(lines) == length


CALL = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2), 1)

    def forward(self, x):
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1])
        return self.encoder({})
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x, mask=mask", "x, mask=mask, {a}"),
        ("x, mask", "x, mask, {a}"),
        ("x,\n{m}mask=mask", "x,\n{m}mask=mask,\n{m}{a}"),
        ("\n{m}x,\n{m}mask=mask,  # padding\n", "\n{m}x,\n{m}mask=mask,  # padding\n{m}{a},\n"),
        ("\n{m}x,\n{m}mask=mask  # padding\n", "\n{m}x,\n{m}mask=mask,  # padding\n{m}{a}\n"),
        ("\n{m}x, mask=mask\n", "\n{m}x, mask=mask, {a}\n"),
    ],
)
def test_an_argument_more_has_a_line_where_the_others_have(before: str, after: str) -> None:
    source = CALL.format(before.replace("{m}", " " * 12))
    (finding,) = findings(source, target_torch=(2, 13))
    (fix,) = finding.fixes[:1]
    assert apply_edits(source, fix.edits) == CALL.format(
        after.replace("{m}", " " * 12).replace("{a}", "is_causal=False")
    )
