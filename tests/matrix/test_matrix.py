"""The committed results are what the installed torch does, and the pages say what the results say."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from matrix.table import (
    INPUTS,
    calls,
    cases,
    inside,
    operator_sign,
    operators,
    python,
    results,
    setup,
    verdict,
    versions,
)
from tests import forked

ROOT = Path(__file__).parents[2]
TORCH = version("torch").split("+")[0]
TABLES = list(INPUTS)
# One case in so many is measured again.
SHARES = {"constructs": 20, "recompilations": 12, "silent": 12, "calls": 16}


def need_results(table: str) -> None:
    """Skip the test unless the table was measured on this torch under this Python."""
    pytest.importorskip("torch")
    here = f"{sys.version_info[0]}.{sys.version_info[1]}"
    if TORCH not in versions(table) or python(TORCH, table) != here:
        pytest.skip(f"{table} was not measured on torch {TORCH} under Python {here}")


def measured(table: str) -> dict[str, Any]:
    """What measure.py finds now of a share of the cases, in a process of its own; by itself it asks all."""
    need_results(table)
    keys = [case.key for case in cases(table)][:: SHARES[table]]
    return json.loads(run("measure.py", table, *(["--quick"] if table == "constructs" else []), *keys))[
        "cases"
    ]


def run(script: str, *arguments: str) -> str:
    done = forked.run(ROOT / "matrix" / script, "--stdout", *arguments)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.mark.parametrize("table", TABLES)
def test_every_case_is_measured_on_every_version(table):
    keys = {case.key for case in cases(table)}
    for each in versions(table):
        assert set(results(each, table)) == keys, each


@pytest.mark.parametrize("table", TABLES)
def test_rules_are_given_for_cases_that_exist(table):
    rules = json.loads((ROOT / "matrix" / "rules.json").read_text(encoding="utf-8"))[table]
    assert set(rules) == {case.key for case in cases(table)}


# One test a table: the cases are measured together, and a case apiece would have each worker measure all.
def test_dynamo_breaks_where_the_results_say():
    for key, one in measured("constructs").items():
        then = results(TORCH)[key]
        assert verdict(one) == verdict(then), key
        if "absent" not in then:
            found = [(gb, line) for gb, _, line in one["breaks"]]
            assert found == [(gb, line) for gb, _, line in then["breaks"]], key


def test_dynamo_recompiles_as_often_as_the_results_say():
    for key, one in measured("recompilations").items():
        then = results(TORCH, "recompilations")[key]
        for each in ("calls", "recompiles", "limit", "graphs"):
            assert one[each] == then[each], key


def test_what_differs_silently_is_what_the_results_say():
    for key, one in measured("silent").items():
        assert one.get("differs") == results(TORCH, "silent")[key].get("differs"), key


def test_dynamo_breaks_on_the_operators_that_the_results_name():
    need_results("operators")
    known = operators(TORCH)
    names = [n for k, (n, sign) in enumerate(known.items()) if k % (3 if sign != "." else 40) == 0]
    found = json.loads(run("operators.py", *names))
    assert {n: operator_sign(found["breaks"].get(n)) for n in names} == {n: known[n] for n in names}


def test_dynamo_breaks_on_the_calls_that_the_results_name():
    need_results("calls")
    known = calls(TORCH)
    names = list(known)[:: SHARES["calls"]]
    found = json.loads(run("calls.py", *names))
    assert {n: operator_sign(found["breaks"].get(n)) for n in names} == {n: known[n] for n in names}


def test_dynamo_breaks_inside_torch_where_the_results_say():
    need_results("inside")
    known = inside(TORCH)
    found = json.loads(run("inside.py", "optim.AdamW", "lr_scheduler.StepLR", "amp.GradScaler"))
    now = dict.fromkeys(found["fine"], ".") | {n: operator_sign(r) for n, r in found["breaks"].items()}
    assert len(now) > 15
    assert now == {name: known[name] for name in now}


def test_the_pages_are_up_to_date():
    done = subprocess.run(
        [sys.executable, ROOT / "matrix" / "page.py", "--check"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_setup_and_cases_make_the_file():
    family = cases("constructs")[0].family
    text = setup("constructs", family)
    for case in cases("constructs"):
        if case.family == family:
            assert case.code.splitlines()[0] not in text
    compile(text, family, "exec")
