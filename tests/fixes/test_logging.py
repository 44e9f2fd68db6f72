"""Logging while Dynamo traces, under the real Dynamo."""

import libcst as cst
import pytest
import torch

from pt2lint.finding import Fix
from pt2lint.fixes.printing import log_while_tracing
from pt2lint.fixes.rewrite import Refusal
from tests.fixes.lab import applied, breaks, calls, compiled, function_code, load, nodes

SOURCE = """import logging
import warnings

import torch

logger = logging.getLogger("pt2lint.tests")


def f(x, name="net", n=3):
    size = x.shape[0]
    {}
    return x + 1
"""


def fix_of(statement):
    code = function_code(SOURCE.format(statement))
    code.kinds = lambda: {
        code.range(node): {"name": "str", "x": "tensor", "n": "int", "size": "int"}[node.value]
        for node in names(code)
        if node.value in ("name", "x", "n", "size")
    }
    return log_while_tracing(code, calls(code, statement.removeprefix("y = ").partition("(")[0]))


def logged(caplog):
    """What the code logged since the last time, without what torch does."""
    found = [record.getMessage() for record in caplog.records if record.name == "root"]
    caplog.clear()
    return found


def names(code):
    return nodes(code, cst.Name)


@pytest.mark.parametrize(
    "statement",
    [
        "logging.warning('slow path')",
        "logging.warning('of %s', name)",
        "logging.warning(f'of {name}' ' it is')",
        "logging.log(logging.WARNING, 'text')",
    ],
)
def test_logged_once_for_each_graph(statement, caplog):
    fix = fix_of(statement)
    assert isinstance(fix, Fix), fix
    after = applied(SOURCE.format(statement), fix)
    old, new = load(SOURCE.format(statement)), load(after)
    x = torch.ones(3)
    assert breaks(lambda: old.f, [x])
    assert not breaks(lambda: new.f, [x])
    logged(caplog)
    run = compiled(fullgraph=True)(new.f)
    for _ in range(3):
        run(x)
    assert len(logged(caplog)) == 1
    new.f(x), new.f(x)
    eager = logged(caplog)
    old.f(x), old.f(x)
    assert eager == logged(caplog)
    assert len(eager) == 2


def test_a_warning_keeps_its_category():
    fix = fix_of("warnings.warn('old', FutureWarning)")
    new = load(applied(SOURCE.format("warnings.warn('old', FutureWarning)"), fix))
    with pytest.warns(FutureWarning, match="old"):
        compiled(fullgraph=True)(new.f)(torch.ones(3))


def test_the_helper_is_defined_once():
    statement = "logging.warning('text')"
    code = function_code(SOURCE.format(statement))
    code.functions = ("_logging_warning_while_tracing",)
    fix = log_while_tracing(code, calls(code, "logging.warning"))
    assert [edit.text for edit in fix.edits] == ["_logging_warning_while_tracing"]


@pytest.mark.parametrize(
    "statement",
    [
        "logging.warning('rows %d', n)",  # each number would compile anew
        "logging.warning(f'{size} rows')",
        "logging.warning(f'{x}')",
        "logging.warning('text', *name)",
        "size.warning('text')",
        "y = logging.warning('text')",
        "print('text')",
    ],
)
def test_refused(statement):
    assert isinstance(fix_of(statement), Refusal)
