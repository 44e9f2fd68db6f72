"""The rules say of each construct what Dynamo does to it, on every version measured, but for what known.json lists."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from matrix.agreement import ALARM, MISSED, disagreement, findings, known, line_in, short
from matrix.evidence import rules, unmeasured
from matrix.table import Case, cases, on_gpu, results, verdict, versions
from pt2lint.finding import Finding
from pt2lint.rule import GraphBreak, breaks_on, measured
from pt2lint.static.engine import lint
from tests.rules.cases import blocks

ROOT = Path(__file__).parents[2]


def test_each_disagreement_has_its_reason():
    assert set(known()) <= {case.key for case in cases()}
    assert [key for key, entry in known().items() if not entry["why"]] == []
    assert sum(ALARM in entry for entry in known().values()) <= 5


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="what is measured was measured on Python 3.11")
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


# Captured from torch 2.13 on; and what graphs are captured with, which nobody compiles.
GPU_ALONE = {"call torch.cuda.synchronize", "call torch.cuda.CUDAGraph"}


def test_what_needs_a_gpu_is_told_as_measured(monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    from matrix.calls import ON_GPU, function

    head = "import torch\nscaler = torch.cuda.amp.GradScaler()\noptimizer = torch.optim.SGD([], 0.1)\n@torch.compile\n"
    files = {f"{number}.py": head + function(body) for number, body in enumerate(ON_GPU.values())}
    told = {finding.path for finding in lint(list(files), texts=files).findings}
    assert [
        name
        for path, name in zip(files, ON_GPU, strict=True)
        if (path in told) != (name in on_gpu() - GPU_ALONE)
    ] == []


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


# Dynamo resumes after a branch that leaves the function.
RETURNS = {"branches.return_in_loop"}
# torch.compiler.disable is right, and somebody's choice; a module may have the dtype already.
DELIBERATE = {"PTB183", "PTB193"}


WHOLE = "2.13.0"  # the version on which all cases are looked at


def listed(case: Case, version: str) -> str | None:
    """The kind of disagreement that known.json lists."""
    entry = known().get(case.key, {})
    return next((kind for kind in (MISSED, ALARM) if short(version) in entry.get(kind, "").split()), None)


def told(case: Case, version: str) -> object:
    """What the results say that differs from version to version, and what is known to."""
    result = results(version)[case.key]
    lines = [line for _, _, line in result.get("breaks", ())]
    return verdict(result), lines, result.get("skipped"), listed(case, version)


@pytest.mark.parametrize("version", versions())
def test_the_rules_agree_with_dynamo_and_give_up_what_it_gives_up(version):
    """On other versions for the cases that they treat otherwise; `python matrix/agreement.py` looks at all."""
    chosen = [case for case in cases() if version == WHOLE or told(case, version) != told(case, WHOLE)]
    found = findings(chosen, version)
    for case in chosen:
        differs = disagreement(case, version, found[case.key])
        assert (differs and differs[0]) == listed(case, version), (
            f"{case.key}: {differs}; run python matrix/agreement.py --write; say why in known.json"
        )
    claimed = given_up(chosen, version, found)
    assert claimed > 20 or version != WHOLE


def given_up(chosen: list[Case], version: str, found: dict[str, list[Finding]]) -> int:
    """How many findings say that Dynamo gives up the function, each of which is so."""
    claimed = 0
    for case in chosen:
        result = results(version)[case.key]
        lines = {line and line + case.line - 1 for _, _, line in result.get("breaks", ())}
        for finding in found[case.key]:
            if "Dynamo then gives up" in finding.message and line_in(case, finding) in lines:
                # What carries a note is one whatever it costs, once the settings are asked.
                severity = "note" if finding.code in DELIBERATE else "error"
                assert finding.note or finding.severity == severity
                assert result["skipped"] or case.key in RETURNS, case.key
                claimed += 1
    return claimed


BLOCKS = {
    "a loop": "for _ in (1,):",
    "a `try`": "try:",
    "a `with`": "with block():",
    "": "with torch.no_grad():",
}


@pytest.mark.parametrize("words", BLOCKS)
@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.name)
def test_every_rule_says_where_a_break_costs_the_function(rule, words):
    [example] = blocks(rule, "Example")
    code = within(example, BLOCKS[words]) + "\n\ncompiled = torch.compile(f)\n"
    settings = SimpleNamespace(target_torch=(2, 13), roots="modules", pedantic=False)
    found = [f for f in lint(["m.py"], settings, {"m.py": code}).findings if f.code == rule.code]
    assert found, code
    for finding in found:
        if words:
            assert re.search(
                f"; (inside {words} Dynamo then gives up the (whole|rest of the) function"
                f"|called inside {words} of `f`, (which|the rest of which) Dynamo then gives up)",
                finding.message,
            )
            severity = "note" if finding.code in DELIBERATE else "error"
            assert finding.note or finding.severity == severity
        elif rule.code not in NEVER_RESUMED:
            assert "Dynamo then gives up" not in finding.message


# Their examples have a block or a loop of their own.
NEVER_RESUMED = {"PTB180", "PTB105"}


def within(example: str, header: str) -> str:
    """The example with the body of `f`, or of `forward`, put into a block."""
    lines = example.splitlines()
    tree = ast.parse(example)
    bodies = {node.name: node.body for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    body = bodies.get("f") or bodies["forward"]
    first, last = body[0].lineno - 1, body[-1].end_lineno or 0
    indent = " " * body[0].col_offset
    inner = [indent + header, *("    " + line if line else line for line in lines[first:last])]
    if header == "try:":
        inner += [f"{indent}except KeyError:", f"{indent}    pass"]
    block = ["import contextlib", "@contextlib.contextmanager", "def block():", "    yield"]
    return "\n".join([*block, *lines[:first], *inner, *lines[last:]])
