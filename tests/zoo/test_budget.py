"""Budgets: read, held to, written with all else in the file as it was."""

from __future__ import annotations

from pathlib import Path

import pytest
import tomlkit

from pt2lint.project.config import read_config
from pt2lint.report.models import Model, Place
from pt2lint.zoo.budget import over, written
from tests.zoo.conftest import Zoo, commands, pt2lint

PLACES = tuple(Place("PTB103", "m.py", line, "x.item()", "why") for line in (3, 7))
NET = Model("models.Net", (3, 2, 1), PLACES, 2)
TEXT = """\
# ours
[tool.other]
x = [1,
     2]   # as it is

[tool.pt2lint.budget]  # what we hold
"models.Net" = {graphs = 9, graph-breaks = 9}  # the old one
"gone" = {graphs=1}

[project]
name = 'it'
"""


@pytest.mark.parametrize(
    ("budget", "said"),
    [
        ({"models.Net": {"graphs": 3, "graph_breaks": 2, "recompilations": 2}}, []),
        ({"other": {"graphs": 0}}, []),
        ({"models.Net": {"graphs": 1}}, [("PTB901", "has 3 graphs, and its budget is 1 (m.py:3, m.py:7)")]),
        (
            {"models.Net": {"graph_breaks": 1}},
            [("PTB901", "has 2 graph breaks, and its budget is 1 (m.py:3, m.py:7)")],
        ),
        (
            {"models.Net": {"recompilations": 0}},
            [("PTR901", "has 2 recompilations, and its budget is 0 (m.py:3, m.py:7)")],
        ),
    ],
)
def test_what_is_over(budget: dict[str, dict[str, int]], said: list[tuple[str, str]]) -> None:
    found = over([NET, Model("failed", trouble="no")], budget, "pyproject.toml", TEXT)
    assert [(one.code, one.message) for one in found] == [
        (code, f"`models.Net` {text}") for code, text in said
    ]
    assert {(one.path, one.line) for one in found} <= {("pyproject.toml", 7)}


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_what_is_written_leaves_all_else(ends: str) -> None:
    before = TEXT.replace("\n", ends)
    after = written(before, [NET, Model("b c", (4,)), Model("failed", trouble="no")])
    wanted = TEXT.replace("graphs = 9, graph-breaks = 9", "graphs = 3, graph-breaks = 2")
    wanted = wanted.replace(
        '"gone" = {graphs=1}\n', '"gone" = {graphs=1}\n"b c" = {graphs = 1, recompilations = 0}\n'
    )
    assert after == wanted.replace("\n", ends)
    assert written(after, [NET, Model("b c", (4,))]) == after


@pytest.mark.parametrize("text", ["", "[tool.pt2lint]\nselect = ['PTB']\n", "[project]\nname = 'x'\n"])
def test_a_file_without_budgets(text: str) -> None:
    new = written(text, [NET])
    assert new.startswith(text)
    assert tomlkit.parse(new)["tool"]["pt2lint"]["budget"] == {
        "models.Net": {"graphs": 3, "recompilations": 2}
    }
    assert (
        tomlkit.parse(written("select = ['PTB']\n", [NET], bare=True))["budget"]["models.Net"]["graphs"] == 3
    )


def test_a_file_that_is_no_toml() -> None:
    with pytest.raises(ValueError, match="cannot be written"):
        written("[tool", [NET])


def test_settings(tmp_path: Path) -> None:
    path = tmp_path / "pyproject.toml"
    path.write_text(
        "[tool.pt2lint.budget]\na = {graph-breaks = 1}\nb = {graph = 1}\nc = 3\nd = {graphs = -1}\n"
    )
    settings, problems = read_config(str(path))
    assert settings.budget == {"a": {"graph_breaks": 1}}
    assert [str(problem).partition('at "')[2][0] for problem in problems] == ["b", "c", "d"]


def test_a_run_is_held_to_its_budget(zoo: Zoo, tmp_path: Path) -> None:
    folder = zoo.copy(tmp_path)
    command = commands()[0][1:]
    wrote = pt2lint(folder, *command, "--write-budget")
    assert "2 budgets written to pyproject.toml" in wrote.out
    assert (
        '"net" = {' in (folder / "pyproject.toml").read_text()
        or "net = {" in (folder / "pyproject.toml").read_text()
    )
    text = (folder / "pyproject.toml").read_text().replace(
        "graphs = 2", "graphs = 1", 1
    ) + "nobody = {graphs = 1}\n"
    (folder / "pyproject.toml").write_text(text)
    held = pt2lint(folder, *command, "--select", "PTB901")
    assert (held.status, held.out.count("PTB901")) == (1, 1)
    assert "models.py:10:1: PTB901 `net` has 2 graphs, and its budget is 1 (models.py:12)" in held.out
    assert "not run, though they have a budget: nobody" in held.out
