"""Logging while Dynamo traces, under the real Dynamo."""

import logging
from dataclasses import replace

import libcst as cst
import pytest
import torch

from pt2lint.dynamic import VerifyOptions, verify
from pt2lint.finding import Edit, Fix
from pt2lint.fixes.proof import prove
from pt2lint.fixes.repaired import Refusal
from pt2lint.fixes.repairs.log_operator import log_in_graph
from pt2lint.fixes.repairs.printing import log_while_tracing
from pt2lint.fixes.text import source as source_of
from pt2lint.project.config import Settings
from pt2lint.static.engine import lint
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


def logged(log_records):
    """What the code logged since the last time, without what torch does."""
    found = [record.getMessage() for record in log_records if record.name == "root"]
    log_records.clear()
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
def test_logged_once_for_each_graph(statement, log_records):
    fix = fix_of(statement)
    assert isinstance(fix, Fix), fix
    after = applied(SOURCE.format(statement), fix)
    old, new = load(SOURCE.format(statement)), load(after)
    x = torch.ones(3)
    assert breaks(lambda: old.f, [x])
    assert not breaks(lambda: new.f, [x])
    logged(log_records)
    run = compiled(new.f)
    for _ in range(3):
        run(x)
    assert len(logged(log_records)) == 1
    new.f(x), new.f(x)
    eager = logged(log_records)
    old.f(x), old.f(x)
    assert eager == logged(log_records)
    assert len(eager) == 2


def test_a_warning_keeps_its_category():
    fix = fix_of("warnings.warn('old', FutureWarning)")
    new = load(applied(SOURCE.format("warnings.warn('old', FutureWarning)"), fix))
    with pytest.warns(FutureWarning, match="old"):
        compiled(new.f)(torch.ones(3))


def test_the_helper_is_defined_once():
    statement = "logging.warning('text')"
    code = function_code(SOURCE.format(statement))
    code.functions = ("_logging_warning_while_tracing",)
    fix = log_while_tracing(code, calls(code, "logging.warning"))
    assert [edit.text for edit in fix.edits] == ["_logging_warning_while_tracing"]


def test_a_logger_that_has_no_name(tmp_path):
    path = tmp_path / "m.py"
    path.write_text(
        SOURCE.format("logging.getLogger('m').warning('text')") + "torch.compile(f)(torch.ones(3))\n"
    )
    found = lint([str(path)])
    assert not found.problems
    assert {fix.description[:10] for one in found.findings for fix in one.fixes} >= {"Workaround"}


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


MODEL = """import logging

import torch

logger = logging.getLogger(__name__)


class Model(torch.nn.Module):
    def forward(self, x):
        logger.warning("text")
        return x + 1


def example_inputs():
    return Model(), (torch.ones(3),)
"""


def test_proven_although_it_logs_less(tmp_path):
    """What the message's going missing in compiled code does not disprove, a print's does."""
    path = tmp_path / "m.py"
    options = VerifyOptions(modes=("eval",), further=False)
    for text, proven in ((MODEL, True), (MODEL.replace("logger.warning(", "print("), False)):
        path.write_text(text)
        judged = verify(lint([str(path)], Settings()).findings, [str(path)], options)
        [finding] = judged.findings
        line = finding.line
        gone = Fix("Gone", "unsafe", (Edit(str(path), line, 1, line + 1, 1, "        pass\n"),))
        fixes = finding.fixes[:1] if proven else (gone,)
        proof = prove([replace(finding, fixes=fixes)], judged.events, [str(path)], options)
        assert [fix.proven for fix in proof.findings[0].fixes] == [proven], proof.notes


VALUES = [
    ("logger.warning(f'{size} of {n + size}')", "_log_in_f(_LOG_ORDER, size, n)", "{size} of {n + size}"),
    ("logger.info('%s %d', name, size)", "_log_in_f(_LOG_ORDER, name, size)", "'%s %d', name, size"),
    (
        "logger.error(f'{x.max().item():.3f} ' f'and {shape}')",
        "_log_in_f(_LOG_ORDER, x.max(), str(shape))",
        "{value.item():.3f}",
    ),
]


def in_graph(statement):
    source = SOURCE.replace("    {}", "    shape = x.shape[1:]\n    {}").format(statement)
    code = function_code(source)
    told = {"name": "str", "x": "tensor", "n": "int", "size": "int", "x.max()": "tensor", "n + size": "int"}
    return source, log_in_graph(
        code,
        calls(code, statement.partition("(")[0]),
        lambda node: told.get(source_of(code, node), "unknown"),
    )


@pytest.mark.parametrize(("statement", "call", "said"), VALUES)
def test_values_are_logged_at_each_call(log_records, request, statement, call, said):
    """In eager mode and compiled alike, with the values of each call, and compiled no more often than before."""
    source, fix = in_graph(statement)
    space = f"log_test_{len(statement)}"  # an operator is registered once in a process
    after = applied(source, fix).replace('"m::', f'"{space}::')
    assert call in after
    assert said in after
    logger = logging.getLogger("pt2lint.tests")
    logger.setLevel(logging.INFO)
    request.addfinalizer(lambda: logger.setLevel(logging.NOTSET))
    heard = []
    for text, how in ((source, lambda f: f), (after, lambda f: f), (after, compiled)):
        module = load(text.replace(space, space + str(len(heard))))
        run = how(module.f)
        with torch._dynamo.config.patch(error_on_recompile=False):
            for rows in (2, 3, 4, 3):
                run(torch.arange(2.0 * rows).reshape(rows, 2).requires_grad_())
        heard.append([one.getMessage() for one in log_records if one.name == "pt2lint.tests"])
        log_records.clear()
    assert heard[0] == heard[1] == heard[2]
    assert len(heard[0]) == 4


@pytest.mark.parametrize(
    "statement",
    [
        "logger.warning(f'{x.sum()}')",  # its text says how the gradient is computed
        "logger.warning('slow')",
        "logger.warning(f'{size}', exc_info=True)",
        "logger.warning(*[f'{size}'])",
        "logger.warning(f'{size=}')",
        "logger.warning(f'{name.upper():>3}')",
        "logger.log(30, f'{size}')",
        "x.logger.warning(f'{size}')",
        "warnings.warn(f'{size}', UserWarning)",
        "y = logger.warning(f'{size}')",
    ],
)
def test_what_the_operator_cannot_log_is_refused(statement):
    source = SOURCE.format(statement)
    code = function_code(source)
    told = {"name": "str", "x": "tensor", "n": "int", "size": "int", "x.sum()": "tensor"}
    call = calls(code, statement.removeprefix("y = ").partition("(")[0])
    assert isinstance(
        log_in_graph(code, call, lambda node: told.get(source_of(code, node), "unknown")), Refusal
    )


@pytest.mark.parametrize("call", ["setLevel(10)", "addHandler(h)", "removeHandler(h)", "info('slow')"])
def test_what_sets_how_later_records_are_handled_is_not_left_out(call, tmp_path):
    (tmp_path / "m.py").write_text(
        "import logging\n\nimport torch\n\nlogger = logging.getLogger('m')\nh = logging.StreamHandler()\n\n\n"
        f"@torch.compile\ndef f(x):\n    logger.{call}\n    return x + 1\n"
    )
    found = lint([str(tmp_path / "m.py")], Settings(root=str(tmp_path), target_torch=(2, 13))).findings
    left_out = [
        fix for one in found for fix in one.fixes for edit in fix.edits if "is_compiling" in edit.text
    ]
    assert bool(left_out) == call.startswith("info")
