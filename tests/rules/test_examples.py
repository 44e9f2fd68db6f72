"""Every rule's documentation and cases, held against the static pass and against the installed Dynamo."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.rules.cases import Case, Row, cases, is_at, statement_at

Dynamo = Callable[[Case], Row]
ALL = list(cases())


def of(*kinds: str) -> Any:
    chosen = [case for case in ALL if case.kind in kinds]
    return pytest.mark.parametrize("case", chosen, ids=[f"{c.id}:{c.rule.name}" for c in chosen])


@of("example", "invalid")
def test_reported(case: Case) -> None:
    found = [f for f in case.findings() if f.code == case.rule.code]
    assert found
    for finding in found:
        assert "`" in finding.message
        assert "\n" not in finding.message


@of("instead", "valid")
def test_not_reported(case: Case) -> None:
    said = [f for f in case.findings() if case.kind == "instead" or f.code == case.rule.code]
    # How often it is compiled, where sizes change, is another question than whether it breaks the graph.
    assert [f for f in said if not (f.code.startswith("PTR") and f.severity == "note")] == []


@of("example", "invalid")
def test_breaks_where_reported(case: Case, dynamo: Dynamo) -> None:
    if not case.runs:
        assert case.kind == "invalid", "an example has to run"
        return
    row = dynamo(case)
    assert row["eager"] is None
    if case.kind == "invalid" and not row["breaks"] and ": " in row["default"]:
        return  # compiling it raises, which leaves no record of a break
    assert row["breaks"], "Dynamo does not break"
    findings = case.findings()
    for finding in findings:
        if finding.code == case.rule.code:
            assert is_at(case.source, finding, (n for b in row["breaks"] for n in b["lines"])), finding
    if case.kind == "invalid":
        return  # one break may bring others with it
    reported = {statement_at(case.source, f.line) for f in findings}
    foreseen = [b for b in row["breaks"] if any(statement_at(case.source, n) in reported for n in b["lines"])]
    for broke in row["breaks"]:
        # A function of torch's that broke is resumed as a frame of its own: there it may break so once more.
        again = not broke["lines"] and broke["gb"] in {b["gb"] for b in foreseen}
        assert broke in foreseen or again, f"not foreseen: {broke}"


@of("instead", "valid")
def test_does_not_break(case: Case, dynamo: Dynamo) -> None:
    if not case.runs:
        assert case.kind == "valid", "what to use instead has to run"
        return
    row = dynamo(case)
    assert row["eager"] is None
    assert row["breaks"] == []
    assert row["default"] == row["fullgraph"] == "equal"
    assert row["graphs"] <= 1 if case.kind == "valid" else row["graphs"] == 1


@of("instead")
def test_instead_does_the_same(case: Case, dynamo: Dynamo) -> None:
    example = next(c for c in ALL if c.rule is case.rule and c.kind == "example")
    after, before = dynamo(case)["output"], dynamo(example)["output"]
    assert len(after) == len(before) > 0
    for new, old in zip(after, before, strict=True):
        assert new == pytest.approx(old)
