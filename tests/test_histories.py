"""benchmarks/histories.py: the form of its cases, and what it says of a history that is made here."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path, PurePosixPath
from types import ModuleType
from typing import Any

import pytest

from tests.files import loaded

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
FIELDS = {
    "repository": str,
    "parent": str,
    "fix": str,
    "part": str,
    "file": str,
    "lines": list,
    "roots": list,
    "kind": str,
    "class": str,
    "cause": str,
    "theirs": str,
    "phrase": str,
    "fault_on_213": object,
    "graph_break": object,
}
PARENT = """\
import torch


def step(x: torch.Tensor) -> torch.Tensor:
    return x / x.abs().max().item()


@torch.compile
def train(x: torch.Tensor) -> torch.Tensor:
    print("training")
    return x + 1
"""
FIXED = PARENT.replace(".item()", "").replace('    print("training")\n', "")


@pytest.fixture(scope="module")
def histories() -> ModuleType:
    return loaded(BENCHMARKS / "histories.py")


@pytest.fixture(scope="module")
def cases() -> list[dict[str, Any]]:
    return json.loads((BENCHMARKS / "histories.json").read_text(encoding="utf-8"))


def test_every_case_has_its_form(histories: ModuleType, cases: list[dict[str, Any]]) -> None:
    for case in cases:
        assert list(case) == list(FIELDS), case
        assert all(isinstance(case[name], kind) for name, kind in FIELDS.items()), case
        assert re.fullmatch(r"[\w.-]+/[\w.-]+", case["repository"]), case
        assert all(re.fullmatch("[0-9a-f]{40}", case[name]) for name in ("parent", "fix")), case
        assert case["part"] in (histories.part(case["fix"]), "fresh"), case
        path = PurePosixPath(case["file"])
        assert path.suffix == ".py", case
        assert not path.is_absolute(), case
        assert ".." not in path.parts, case
        first, last = case["lines"]
        assert 1 <= first <= last <= first + 40, case
        assert case["kind"] in ("break", "recompile", "silent"), case
        assert case["theirs"] in histories.RANKS, case
        assert case["fault_on_213"] in (True, False, "unknown"), case
        assert case["graph_break"] is None or re.fullmatch(r"GB\d{4}", case["graph_break"]), case
        assert case["graph_break"] is None or case["fault_on_213"] is True, case
        # Facts in our words, and no line of theirs.
        assert all("\n" not in case[name] and 0 < len(case[name]) < 160 for name in ("cause", "phrase")), case


def test_there_are_enough_cases_and_none_twice(cases: list[dict[str, Any]]) -> None:
    assert len(cases) >= 60
    assert len({case["repository"] for case in cases}) >= 20
    assert len({(case["fix"], case["file"], *case["lines"]) for case in cases}) == len(cases)
    faults = [case["part"] for case in cases if case["fault_on_213"] is True]
    assert min(faults.count(part) for part in ("open", "opened", "fresh")) >= 20


@pytest.mark.parametrize(
    ("end", "part"), [("00", "open"), ("12", "open"), ("01", "opened"), ("13", "opened")]
)
def test_the_hash_says_the_part(histories: ModuleType, end: str, part: str) -> None:
    assert histories.part("c" * 38 + end) == part


@pytest.mark.parametrize(
    ("before", "after", "lines", "moved"),
    [
        ("abcd", "xabcd", (2, 3), (3, 4)),  # pushed down
        ("abcd", "axyzd", (2, 2), (2, 4)),  # replaced, with a neighbour
        ("abcd", "acd", (2, 2), (2, 1)),  # gone
        ("abcd", "ad", (2, 3), (2, 1)),
        ("abcd", "abcd", (4, 4), (4, 4)),
        ("ab", "abc", (1, 1), (1, 1)),  # what is added after the next line is not theirs
    ],
)
def test_lines_are_followed(
    histories: ModuleType, before: str, after: str, lines: tuple[int, int], moved: tuple[int, int]
) -> None:
    assert histories.moved(*lines, list(before), list(after)) == moved


def test_a_history(
    histories: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two culprits: one that is told once its function is named, and one that is compiled in the text."""
    clone = tmp_path / "origin" / "some" / "where"
    clone.mkdir(parents=True)

    def git(*words: str) -> str:
        person = ("-c", "user.name=n", "-c", "user.email=e@example.org")
        return subprocess.run(
            ["git", *person, *words], cwd=clone, check=True, capture_output=True, text=True
        ).stdout.strip()

    git("init", "--quiet")
    commits = []
    for text in (PARENT, FIXED):
        (clone / "train.py").write_text(text, encoding="utf-8")
        git("add", ".")
        git("commit", "--quiet", "--message", "a change")
        commits.append(git("rev-parse", "HEAD"))
    case = {
        "repository": "some/where",
        "parent": commits[0],
        "fix": commits[1],
        "part": histories.part(commits[1]),
        "file": "train.py",
        "kind": "break",
        "cause": "",
        "phrase": "",
        "fault_on_213": True,
        "graph_break": None,
    }
    cases = [
        {**case, "lines": [5, 5], "roots": ["train.step"], "class": "number", "theirs": "tensor"},
        {**case, "lines": [10, 10], "roots": [], "class": "print", "theirs": "disable"},
        {**case, "lines": [11, 11], "roots": [], "class": "none", "theirs": "rewrite"},
    ]
    (tmp_path / "cases.json").write_text(json.dumps(cases), encoding="utf-8")
    monkeypatch.setattr(histories, "CASES", tmp_path / "cases.json")
    written, clones = tmp_path / "rows.json", str(tmp_path / "clones")
    monkeypatch.setattr(
        "sys.argv", ["histories.py", clones, "--part", "all", "--fetch", (tmp_path / "origin").as_uri()]
    )
    assert histories.main() == 0
    monkeypatch.setattr("sys.argv", ["histories.py", clones, "--part", "all", "--write", str(written)])
    assert histories.main() == 0
    rows = json.loads(written.read_text(encoding="utf-8"))
    assert [(row["told"], row["codes"], row["gone"], row["offer"]) for row in rows] == [
        ("named", ["PTB103"], True, "as good"),
        ("alone", ["PTB101"], True, "as good"),
        ("no", [], None, None),
    ]
    assert "| all | 3 | 1 | 0 | 2 | 2 | 2 | 0 | 0 |" in capsys.readouterr().out
