"""Interpretation and repairs of one function are bounded, however it is nested: by counts, as machines differ."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pt2lint import rule
from pt2lint.finding import Finding
from pt2lint.rule import tree
from pt2lint.static.engine import lint
from pt2lint.static.interpret import Interpreter
from pt2lint.static.interpreter import expressions
from pt2lint.static.source.project import Project
from tests.files import loaded

HARD = loaded(Path(__file__).parents[2] / "benchmarks" / "hard_functions.py")


def evaluations(source: str, monkeypatch: pytest.MonkeyPatch, most: int) -> tuple[int, Interpreter]:
    """How many expressions are evaluated for the source where `most` is a root's effort; beyond a hundred times the
    effort it counts as endless."""
    count = 0
    evaluate = expressions.Expressions.eval

    def counted(self: Any, *arguments: Any) -> Any:
        nonlocal count
        count += 1
        assert count < 100 * most, "evaluation does not end"
        return evaluate(self, *arguments)

    with monkeypatch.context() as patched:
        patched.setattr(expressions, "EFFORT", most)
        patched.setattr(expressions.Expressions, "eval", counted)
        project = Project({"hard.py": source}, ["hard.py"])
        heard = frozenset(["test tensor", "call torch.Tensor.item"])
        interpreter = Interpreter(project, heard)
        interpreter.run(project.load("hard.py"))
    return count, interpreter


@pytest.mark.parametrize("name", HARD.SHAPES)
def test_evaluations_are_bounded(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    size, make = HARD.SHAPES[name]
    source = HARD.HEAD + make(size)
    nodes = sum(isinstance(node, ast.expr) for node in ast.walk(ast.parse(source)))
    most = 4_000
    count, _ = evaluations(source, monkeypatch, most)
    # The file is a few roots, and what is left when the effort is spent is looked at once on the way out.
    assert count < 5 * most + 6 * nodes


def test_a_budget_that_is_spent_leaves_doubt(monkeypatch: pytest.MonkeyPatch) -> None:
    source = (
        HARD.HEAD + "@torch.compile\ndef f(x, y):\n" + "    x = x + 1\n" * 300 + "    return y.sum().item()\n"
    )
    source += "\n@torch.compile\ndef g(x):\n    return x.sum().item()\n"
    for most, sure in ((10_000, {True}), (200, {False, True})):
        _, interpreter = evaluations(source, monkeypatch, most)
        noted = [op for ops in interpreter.at.notebook.notes["hard.py"].values() for op in ops.values()]
        assert {op.sure for op in noted} == sure, most
        # The next root has an effort of its own.
        assert [op.sure for op in noted if op.line > 308] == [True]


@settings(max_examples=25)
@given(st.recursive(st.sampled_from(["x", "y", "n", "1"]), lambda inner: st.one_of(
    st.tuples(inner, inner).map(lambda p: f"({p[0]} if ({p[1]}) is not None else y)"),
    st.tuples(inner, inner).map(lambda p: f"({p[0]} if ({p[1]}) > 0 else x)"),
    st.tuples(inner, inner).map(lambda p: f"(({p[0]}) or not ({p[1]}))"),
    inner.map(lambda p: f"x[({p}):]"),
    inner.map(lambda p: f"(lambda a: {p})(x)"),
    inner.map(lambda p: f"[{p} for a in {p}]"),
), max_leaves=12), st.integers(1, 12))  # fmt: skip
def test_any_nesting_is_bounded(expression: str, times: int) -> None:
    for _ in range(times):
        if len(expression) > 2000 or expression.count("(") > 60:
            break
        expression = f"(x[{expression}:] if ({expression}) is not None else y)"
    source = f"{HARD.HEAD}{HARD.ROOT}    return {expression}\n"
    nodes = sum(isinstance(node, ast.expr) for node in ast.walk(ast.parse(source)))
    with pytest.MonkeyPatch.context() as monkeypatch:
        count, _ = evaluations(source, monkeypatch, 5_000)
    assert count < 25_000 + 6 * nodes


def found(path: Path, source: str) -> list[Finding]:
    path.write_text(source)
    result = lint([str(path)], SimpleNamespace(pedantic=True))
    assert result.problems == []
    return result.findings


@pytest.mark.parametrize(("name", "size"), [("ternaries", 40), ("ifs", 60), ("not, and, not, and", 8)])
def test_repairs_end_with_their_effort_and_findings_stay(
    name: str, size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = HARD.HEAD + HARD.SHAPES[name][1](size)
    whole = found(tmp_path / "hard.py", source)
    looked = 0
    children = tree.children

    def counted(node: Any) -> Any:
        nonlocal looked
        looked += tree._effort.left < 10**9
        return children(node)

    monkeypatch.setattr(rule.FunctionCode, "effort", 3_000)
    monkeypatch.setattr(rule.FunctionCode.__init__, "__defaults__", tuple(
        3_000 if d == rule.EFFORT else d for d in rule.FunctionCode.__init__.__defaults__ or ()
    ))  # fmt: skip
    monkeypatch.setattr(tree, "children", counted)
    short = found(tmp_path / "hard.py", source)
    assert (
        looked <= 2 * 3_000
    )  # the effort is that of one reading of the function; an earlier test may leave it two
    assert [(f.code, f.line, f.column, f.message) for f in short] == [
        (f.code, f.line, f.column, f.message) for f in whole
    ]
    assert sum(len(f.fixes) for f in short) < sum(len(f.fixes) for f in whole)


def test_long_sequences_are_known_at_their_start() -> None:
    from pt2lint.static.values import MAX_ELEMENTS, NONE, Seq, extend

    long = Seq([NONE] * (MAX_ELEMENTS + 1))
    assert long.elts is None
    assert long.prefix == [NONE] * MAX_ELEMENTS
    assert long.elem is NONE
    grown = Seq([NONE])
    for _ in range(40):
        extend(grown, grown)
    assert grown.elts is None
    assert grown.elem is NONE


# What few write and Python takes: each ended the answer for its file. `{0}` is a parameter more, `{1}` a statement.
EMPTY = {
    "an argument without places": ("", "torch.add(x, x, out=x[()])"),
    "an annotation without parts": (", parts: list[()] = []", "pass"),
    "an isinstance without arguments": ("", "if isinstance():\n            x.item()"),
    "a text in no texts": (", mode='text'", "if mode in ():\n            x.item()"),
    "a loop that binds nothing": (
        ", parts=()",
        "for () in enumerate(parts):\n            x = self.parts[0](x)",
    ),
}
AROUND = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleList()

    def forward(self, x{0}):
        {1}
        return x.max().item()


@torch.compile
def g(x):
    return x.tolist()


if __name__ == "__main__":
    g(torch.ones(2)[()])
"""


@pytest.mark.parametrize(("parameter", "statement"), EMPTY.values(), ids=[*EMPTY])
def test_what_is_empty_is_followed(parameter: str, statement: str, tmp_path: Path) -> None:
    source = AROUND.format(parameter, statement)
    assert any(finding.code == "PTB103" for finding in found(tmp_path / "m.py", source))


NET = """
class Net(nn.Module):
    def __init__(self, options):
        super().__init__()
        self.options = options

    def forward(self, x):
        return x * 2 if self.options.epoch > 3 else x

model = torch.compile(Net(options))
"""
METHOD = """
    def run{i}(self, model):
        self.model.load_state_dict(self.state{i})
        if self.model{i}:
            torch.save(model.state_dict(), "a{i}")
"""
# What stands before, what is repeated, and how much more work twice as many may be. A repair of each break of a
# function looks at all of it.
REPEATED = {
    "options of a compiled module": (NET, "options.epoch = {i}\nprint(options.rate)\n", 2.5),
    "inputs of a compiled module": (NET, "a{i} = cut(x, {i})\nmodel(a{i})\n", 2.4),
    "methods that ask whether there is a module": ("class Trainer:\n", METHOD, 2.7),
    "numbers in branches": (
        HARD.ROOT + "    if n:\n        pass\n",
        "    elif n == {i}:\n        y = x[{i}].item() + 1\n",
        2.7,
    ),
    "losses": (HARD.ROOT, "    y = (x * {i}).sum()\n    y.backward()\n", 4.5),
}


@pytest.mark.skipif(
    not expressions.__file__.endswith(".py"), reason="calls of what is compiled cannot be counted"
)
@pytest.mark.parametrize("name", REPEATED)
def test_work_grows_with_the_file(name: str, tmp_path: Path) -> None:
    """Counted in calls: what looks through a whole file for each of its statements takes four times as much for twice
    as many, and what looks through a function in a function that does, eight times."""
    start, text, most = REPEATED[name]

    def calls(repeated: int) -> int:
        file = tmp_path / f"hard{repeated}.py"
        file.write_text(HARD.HEAD + start + "".join(text.replace("{i}", str(i)) for i in range(repeated)))
        count = 0

        def counted(frame: object, event: str, argument: object) -> None:
            nonlocal count
            count += event in ("call", "c_call")

        sys.setprofile(counted)
        try:
            lint([str(file)])
        finally:
            sys.setprofile(None)
        return count

    calls(1)  # loads the rules and LibCST
    one, some, more = calls(1), calls(20), calls(40)
    assert more - one < most * (some - one)
