"""The rules say of each construct what Dynamo does to it, on every version measured, but for what known.json lists."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from matrix.agreement import ALARM, as_known, disagreements, known
from matrix.evidence import rules, unmeasured
from matrix.table import cases, versions
from pt2lint.rule import GraphBreak, breaks_on, measured

ROOT = Path(__file__).parents[2]


@cache
def found() -> dict[str, dict[str, str]]:
    return as_known(disagreements(versions()))


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.key)
def test_the_rules_agree_with_dynamo(case):
    listed = known().get(case.key, {})
    kinds = {kind: shown for kind, shown in listed.items() if kind != "why"}
    assert {k: v for k, v in found().get(case.key, {}).items() if k != "why"} == kinds, (
        "run python matrix/agreement.py --write; say why in known.json"
    )


def test_each_disagreement_has_its_reason():
    assert set(known()) <= {case.key for case in cases()}
    assert [key for key, entry in known().items() if not entry["why"]] == []
    assert sum(ALARM in entry for entry in known().values()) <= 5


def test_what_is_measured_is_what_the_package_ships():
    done = subprocess.run(
        [sys.executable, ROOT / "matrix" / "evidence.py", "--check"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_operation_of_a_rule_is_measured():
    assert unmeasured() == {}


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.name)
def test_every_operation_of_a_rule_breaks_somewhere(rule):
    _, operations = measured()
    fine = [op for op in rule.ops if "B" not in operations.get(op, "B")]
    assert [op for op in fine if not any(name.startswith(f"{op} ") for name in operations)] == []


def test_between_measured_versions_the_older_one_counts():
    name = "call torch.cuda.manual_seed"
    assert measured()[1][name] == "..BB"
    assert [breaks_on(name, (2, minor)) for minor in (4, 6, 9, 12, 13, 99)] == [False] * 4 + [True] * 2
    assert breaks_on("call nothing.that.was.measured", (2, 6))


# What a page says of an operation that does not break everywhere.
WORDS = {
    "B...": r"on 2\.6 only|fine from 2\.9 on",
    "BB..": r"on 2\.6 and 2\.9 only|fine from 2\.13 on",
    "BBB.": r"fine on 2\.15|on 2\.6 to 2\.13",
    ".BBB": r"fine on 2\.6\b|from 2\.9 on|on (torch )?2\.9 to 2\.15",
    "B.BB": r"fine on 2\.9\b",
    "BB.B": r"fine on 2\.13\b",
    "..BB": r"fine on 2\.6 and 2\.9|from 2\.13 on|on 2\.13 and 2\.15",
}


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.name)
def test_the_page_says_the_versions_that_were_measured(rule):
    text = " ".join(rule.page().help.split("## Versions", 1)[1].split())
    operations = measured()[1]
    for signs, words in WORDS.items():
        shown = [n for n in operations if operations[n] == signs and reported_as(rule, n)]
        sentences = [s for s in re.split(r"(?<=[.;])\s", text) if re.search(words, s, re.IGNORECASE)]
        for name in shown:
            _, path, *variant = name.split(" ", 2)
            spoken = [path.rpartition(".")[2], *variant]
            assert any(word in s or word.capitalize() in s for s in sentences for word in spoken), (
                name,
                signs,
            )


def reported_as(rule: type[GraphBreak], name: str) -> bool:
    """Whether an operation, or a variant of one, is the rule's."""
    return any(name == op or name.startswith(f"{op} ") for op in rule.ops)
