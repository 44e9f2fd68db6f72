"""Proof, with real children: what is proven, what is disproved, and that the user's files stay as they
were."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from pt2lint.dynamic import VerifyOptions, verify
from pt2lint.dynamic.events import Break, Run
from pt2lint.finding import Edit, Finding, Fix
from pt2lint.fixes.attempt import Failed, line_map, mended
from pt2lint.fixes.edit import apply_edits
from pt2lint.fixes.proof import _Prover, prove
from pt2lint.fixes.repairs.disable import last_resort

MODEL = """import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(4, 4)

    def forward(self, x):
        h = self.fc(x)
        if h.sum() > 0:
            h = h * 2
        if torch.isnan(h).any():
            raise ValueError("nan")
        return h


def example_inputs():
    return Model(), (torch.randn(2, 4),)


class Broken(torch.nn.Module):  # what keeps it from running is told in each child
    example_input_array = None

    def __init__(self):
        raise RuntimeError("no such file")

    def forward(self, x):
        return x
"""
BRANCH = (11, 1, 13, 1)
OPTIONS = VerifyOptions(modes=("train",), further=False, backend="aot_eager")


def line_fix(path, text, description="a fix", traits=()):
    return Fix(description, "unsafe", (Edit(path, *BRANCH, text),), traits=traits)


@pytest.fixture(scope="module")
def proved(tmp_path_factory):
    path = str(tmp_path_factory.mktemp("proof") / "m.py")
    with open(path, "w") as file:
        file.write(MODEL)
    branch = Finding(
        "PTB110", "branch", "m", path, 11, 12, 11, 23,
        fixes=(
            line_fix(path, "        h = torch.where(h.sum() > 0, h * 2.5, h)\n", "wrong value"),
            line_fix(path, "        h = h * 2 if (h > 0).any() else h\n", "breaks itself"),
            replace(line_fix(path, "        h = h + 0\n"), by_hand=True),
            line_fix(
                path, "        h = torch.where(h.sum() > 0, h * 2, h)\n", "right", ("branch", "once proven")
            ),
            line_fix(path, "        h = h\n", "never tried"),
        ),
    )  # fmt: skip
    guard = Finding(
        "PTB110", "guard", "m", path, 13, 12, 13, 32,
        fixes=(
            Fix("an error less", "unsafe", (Edit(path, 13, 1, 15, 1, ""),)),
            Fix(
                "another error", "unsafe",
                (Edit(path, 13, 1, 15, 1, '        torch._assert_async(~torch.isnan(h).any(), "nan")\n'),),
                by_hand=True, traits=("workaround", "other error"),
            ),
        ),
    )  # fmt: skip
    judged = verify([branch, guard], [path], OPTIONS)
    assert [finding.verdict for finding in judged.findings] == ["confirmed"] * 2
    proof = prove(judged.findings, judged.events, [path], OPTIONS, timing="aot_eager")
    with open(path) as file:
        assert file.read() == MODEL
    return proof


def test_the_right_fix_is_proven_and_the_wrong_ones_are_not(proved):
    assert [fix.proven for fix in proved.findings[0].fixes] == [False, False, None, True, None]


def test_an_error_that_goes_missing_disproves_and_a_workaround_that_is_told_is_tried(proved):
    assert [fix.proven for fix in proved.findings[1].fixes] == [False, True]


def test_the_notes_say_why(proved):
    text = "\n".join(proved.notes)
    assert "wrong value: call" in text or "wrong value: seed" in text or "values differ" in text
    assert "breaks itself: the graph then breaks in the fix itself" in text
    assert "it raised ValueError before, nothing after" in text
    assert "both sides were taken" in text
    assert "Model: a call takes " in text
    assert "(median in train mode, backend aot_eager)" in text
    assert "breaks" in text


ENTROPY = """import os

import torch


def f(x):
    if torch.isinf(x).any():
        os._exit(3)
    torch.seed()
    h = x + torch.rand(2, 4)
    if h.sum() > 0:
        h = h * 2
    return h


def example_inputs():
    return f, (torch.ones(2, 4),)
"""


def test_new_seeds_are_the_same_and_deadly_inputs_left_out(tmp_path):
    """`torch.seed()` gives each run another seed; changed inputs with an infinity end the process."""
    path = str(tmp_path / "m.py")
    with open(path, "w") as file:
        file.write(ENTROPY)
    fix = line_fix(path, "    h = torch.where(h.sum() > 0, h * 2, h)\n")
    branch = Finding("PTB110", "branch", "m", path, 11, 8, 11, 19, fixes=(fix,))
    options = replace(OPTIONS, timeout=60)
    judged = verify([branch], [path], options)
    proof = prove(judged.findings, judged.events, [path], options)
    proven = [fix.proven for finding in proof.findings if finding.code == "PTB110" for fix in finding.fixes]
    assert proven == [True], proof.notes
    left = [note for note in proof.notes if "left out" in note]
    assert [note.partition("`")[2].partition("`")[0] for note in left] == ["one infinity", "all infinite"]
    assert "exit status 3" in left[0]


INNER = """import torch


class Inner(torch.nn.Module):
    @torch.no_grad()
    def forward(self, x):
        return x[: int(x.abs().max())]


class Outer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def forward(self, x):
        return self.work(x)

    def work(self, x):
        return self.inner(x * 2).sum() + x[int(x.abs().min())]


def example_inputs():
    return Outer(), (torch.tensor([1.0, 2.0, 3.0]),)
"""


ENDS = """import sys

import torch


@torch.compile(backend="eager")
def f(x):
    if x.sum() > 0:
        x = x * 2
    return x


if __name__ == "__main__":
    f(torch.ones(3))
    f(-torch.ones(3))
    {end}
"""


@pytest.mark.parametrize("end", ["sys.exit(3)", "f(torch.ones(3, 2) @ torch.ones(3, 2))"])
def test_a_program_that_fails_in_the_end_is_no_fault_of_its_fixes(tmp_path, end):
    path = str(tmp_path / "m.py")
    with open(path, "w") as file:
        file.write(ENDS.format(end=end))
    right = Edit(path, 8, 1, 10, 1, "    x = torch.where(x.sum() > 0, x * 2, x)\n")
    wrong = replace(right, text="    x = torch.where(x.sum() > 0, x * 2, x)\n    sys.exit(4)\n")
    fixes = tuple(Fix(text, "unsafe", (edit,)) for text, edit in (("wrong", wrong), ("right", right)))
    branch = Finding("PTB110", "branch", "m", path, 8, 8, 8, 19, fixes=fixes)
    judged = verify([branch], [path], OPTIONS)
    assert [str(problem).count("recording") for problem in judged.problems] == [1]
    proof = prove(judged.findings, judged.events, [path], OPTIONS)
    assert [fix.proven for fix in proof.findings[0].fixes] == [False, True], proof.notes
    assert not any("left out" in note or "no fix was tried" in note for note in proof.notes)


AUTOCAST = """import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(4, 4)

    def forward(self, x):
        x = self.inner(x)
        if x.dtype == torch.bfloat16 and torch.isinf(x).any():
            x = x * 2
        return x


if __name__ == "__main__":
    model = Net()
    compiled = torch.compile(model, backend="eager")
    with torch.autocast("cpu", torch.bfloat16):
        compiled(torch.ones(2, 4)).sum().backward()
    with torch.no_grad():
        compiled(torch.ones(2, 4))
"""


def test_calls_are_tried_under_the_autocast_that_the_program_makes_them_under(tmp_path):
    path = tmp_path / "m.py"
    path.write_text(AUTOCAST)
    wrong = Edit(str(path), 11, 1, 13, 1, "        x = torch.where(torch.isinf(x).any(), x * 2, x + 1)\n")
    right = replace(wrong, text="        x = torch.where(torch.isinf(x).any(), x * 2, x)\n")
    fixes = tuple(Fix(text, "unsafe", (edit,)) for text, edit in (("wrong", wrong), ("right", right)))
    branch = Finding("PTB110", "branch", "m", str(path), 11, 42, 11, 62, fixes=fixes)
    judged = verify([branch], [str(path)], OPTIONS)
    assert {run.target for run in judged.events.runs if run.probe == "default" and run.breaks} == {"Net"}
    assert {run.target for run in judged.events.runs if run.probe == "default"} == {"Net", "Net (2)"}
    proof = prove(judged.findings, judged.events, [str(path)], OPTIONS)
    found = next(one for one in proof.findings if one.code == "PTB110")
    assert [fix.proven for fix in found.fixes] == [False, True], proof.notes


def test_a_function_that_a_workaround_keeps_out_of_the_graph_is_compiled_no_more(tmp_path):
    path = tmp_path / "m.py"
    path.write_text(
        "import torch\n\n\ndef scaled(x: torch.Tensor):\n    x = x.cos()\n    return x * x.max().item()\n"
    )
    edit = Edit(str(path), 4, 1, 4, 1, "@torch.compiler.disable\n")
    fix = Fix("disable", "unsafe", (edit,), traits=("workaround",))
    found = Finding("PTB103", "item", "m", str(path), 6, 16, 6, 30, fixes=(fix,))
    judged = verify([found], [str(path)], OPTIONS)
    assert judged.findings[0].verdict == "confirmed"
    proof = prove(judged.findings, judged.events, [str(path)], OPTIONS)
    assert not any(fix.proven for fix in proof.findings[0].fixes)
    assert any("nothing of scaled is compiled any more" in note for note in proof.notes), proof.notes


def test_what_nothing_else_mends_is_left_out_unless_that_leaves_nothing(tmp_path):
    path = tmp_path / "m.py"
    path.write_text(INNER)
    found = [Finding("PTB104", "number", "m", str(path), line, 16, line, 20) for line in (7, 19)]
    options = replace(OPTIONS, modes=("eval",))
    judged = verify(found, [str(path)], options)
    proof = prove(judged.findings, judged.events, [str(path)], options)
    inner, outer = proof.findings
    [fix] = inner.fixes
    assert (fix.is_workaround, fix.by_hand, fix.proven) == (True, True, True)
    assert "    @torch.no_grad()\n    @torch.compiler.disable\n    def forward" in apply_edits(
        INNER, fix.edits
    )
    assert not outer.fixes
    assert any("nothing of Outer is compiled any more" in note for note in proof.notes)
    assert last_resort(str(path), INNER, 16) is not None
    assert last_resort(str(path), INNER, 16, {15}) is None  # it is what is compiled
    assert last_resort(str(path), INNER, 1) is None
    careful = "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    import torch\n\n\ndef f(x):\n    return x\n"
    told = last_resort("m.py", careful, 8)
    assert "the file then has to import torch" in told.description
    assert "@torch.compiler.disable\ndef f" in apply_edits(careful, told.edits)


def test_a_repair_that_needs_another_one_is_tried_with_it():
    said = ("proven", "needs it", "wrong", "told")
    findings = [Finding("PTB106", "size", "m", "m.py", line, 1, line, 2) for line in range(1, 5)]
    fixes = {
        at: [Fix(one, "unsafe", (Edit("m.py", at + 1, 1, at + 1, 2, "y"),), proven=at == 0)]
        for at, one in enumerate(said)
    }
    fixes[3] = []

    class Attempts:
        repaired, gone = 1, {}

        def attempt(self, findings, jobs, targets, calm):
            tried = [finding.fixes[0].description for finding in findings]
            assert tried[:2] == ["proven", "needs it"]
            return (Failed("no", frozenset({2})) if "wrong" in tried else None), "measured"

    seen = SimpleNamespace(runs={("t", "eval"): None})
    bench = SimpleNamespace(before={False: [(None, None, seen)]}, notes=[], progress=lambda text: None)
    prover = _Prover(bench)
    prover.attempts = Attempts()
    prover.all_together(findings, fixes)
    assert [[fix.proven for fix in given] for given in fixes.values()] == [[True], [True], [False], []]
    assert bench.notes == [
        "m.py:2: PTB106: proven with the other repairs: needs it",
        "with all 2 repairs together: measured",
    ]


def test_lines_that_no_longer_break():
    """Of lines 3, 5, 7 and 9, which broke: 3 is traced without a break, 5 breaks in the other mode, 7 is no longer
    traced, and 9 was rewritten."""

    def run(breaks, traced):
        found = tuple(Break("/m.py", line, "why") for line in breaks)
        return Run("M", "default", "train", breaks=found, traced={"/m.py": frozenset(traced)})

    same = {line: line for line in range(1, 9)}
    pairs = [(run([3, 5, 7, 9], [3]), run([], [3, 5, 9])), (run([], [3, 5]), run([5], [3, 5]))]
    assert mended(pairs, {"/m.py": same}, ["/m.py"]) == {("/m.py", 3)}


def test_what_is_not_confirmed_is_not_tried(tmp_path):
    path = str(tmp_path / "m.py")
    finding = Finding("PTB110", "b", "m", path, 1, 1, 1, 2, fixes=(line_fix(path, "x"),))
    from pt2lint.dynamic.events import Events

    for verdict in (None, "refuted", "unreached", "failed"):
        given = replace(finding, verdict=verdict)
        assert prove([given], Events(), [str(tmp_path)]).findings == [given]


def test_line_map():
    new = apply_edits(MODEL, [Edit("m.py", *BRANCH, "        h = 1\n        h = 2\n        h = 3\n")])
    lines = line_map(MODEL, new)
    assert lines[10] == 10
    assert lines[14] == 13
    assert not {11, 12, 13} & set(lines)
    other = MODEL.replace("        return", "        give =", 1)
    line = next(n for n, text in enumerate(MODEL.split("\n"), 1) if text.startswith("        return"))
    assert line_map(MODEL, other).get(line) is None
    assert line_map(MODEL, other, changed=True)[line] == line
