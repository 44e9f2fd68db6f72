"""Fixes taken in rounds: what is applied, linted again, left out and written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from pt2lint.finding import COPY, Edit, Finding, Fix, Severity
from pt2lint.fixes.edit import digest, read_source
from pt2lint.fixes.rounds import fix_findings
from tests.fixes.test_edit import edit, finding


def lint_letters(texts, path):
    """A linter for tests: every `a` should be `b`, and every `bb` should be `c`."""
    text = texts.get(str(path)) or read_source(path)[0]
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        for old, new in (("a", "b"), ("bb", "c")):
            start = line.find(old)
            while start >= 0:
                change = edit(number, start + 1, number, start + 1 + len(old), new, str(path))
                found.append(
                    finding(Fix(old, "safe", (change,)), line=number, column=start + 1, path=str(path))
                )
                start = line.find(old, start + len(old))
    return found


def test_fixing_goes_on_until_nothing_changes(tmp_path):
    file = tmp_path / "m.py"
    file.write_bytes(b"aa = 1\r\nab = 2\r\n")

    def relint(texts, only):
        return lint_letters(texts, file)

    fixed = fix_findings(relint({}, None), relint=relint)
    assert fixed.texts[str(file)][1] == "c = 1\r\nc = 2\r\n"
    assert fixed.rounds == 2
    assert file.read_bytes() == b"aa = 1\r\nab = 2\r\n"
    fixed.write()
    assert file.read_bytes() == b"c = 1\r\nc = 2\r\n"
    assert fix_findings(relint({}, None), relint=relint).texts == {}


@pytest.mark.parametrize(("code", "traits", "left"), [
    ("PTR212", ("compiles elsewhere",), False), ("PTR212", (), True), ("PTB103", ("compiles elsewhere",), True),
])  # fmt: skip
def test_what_a_fix_brings(code, traits, left, tmp_path):
    """What is compiled only with it may be compiled again."""
    file = tmp_path / "m.py"
    file.write_text("x = 1\n")
    fix = Fix("f", "safe", (edit(1, 5, 1, 6, "2", str(file)),), traits=traits)

    def relint(texts, only):
        return [replace(finding(path=str(file)), code=code)] if texts else []

    fixed = fix_findings([finding(fix, path=str(file))], relint=relint)
    assert bool(fixed.refused) == left
    assert bool(fixed.texts) != left


def test_a_file_that_would_not_parse_keeps_its_text(tmp_path):
    good, bad = tmp_path / "good.py", tmp_path / "bad.py"
    good.write_text("x = 1\n")
    bad.write_text("x = 1\n")
    fixed = fix_findings(
        [
            finding(Fix("g", "safe", (edit(1, 5, 1, 6, "2", str(good)),)), path=str(good)),
            finding(Fix("b", "safe", (edit(1, 5, 1, 6, "(", str(bad)),)), path=str(bad)),
        ]
    )
    fixed.write()
    assert good.read_text() == "x = 2\n"
    assert bad.read_text() == "x = 1\n"
    assert [fix.description for _, fix in fixed.taken] == ["g"]
    assert len(fixed.refused) == 1
    assert "bad.py" in fixed.refused[0]


def test_fixes_that_undo_each_other_end(tmp_path):
    file = tmp_path / "m.py"
    file.write_text("x = 1\n")

    def relint(texts, only):
        text = texts.get(str(file), "x = 1\n")
        other = "2" if "1" in text else "1"
        return [finding(Fix("f", "safe", (edit(1, 5, 1, 6, other, str(file)),)), path=str(file))]

    assert fix_findings(relint({}, None), relint=relint).rounds == 1


def one_to_two(path):
    return [finding(Fix("f", "safe", (edit(1, 5, 1, 6, "2", str(path)),)), path=str(path))]


def test_a_file_that_changed_since_it_was_linted_is_left_alone(tmp_path):
    file = tmp_path / "m.py"
    file.write_text("y = 3\nx = 1\n")
    fixed = fix_findings(one_to_two(file), digests={str(file): digest(b"x = 1\n")})
    assert fixed.texts == {}
    assert fixed.taken == []
    [line] = fixed.refused
    assert "has changed since it was linted" in line


def test_what_was_saved_meanwhile_is_not_written_over(tmp_path):
    file, other = tmp_path / "m.py", tmp_path / "n.py"
    for each in (file, other):
        each.write_text("x = 1\n")
    fixed = fix_findings([*one_to_two(file), *one_to_two(other)])
    file.write_text("x = 1\nsaved = True\n")
    fixed.write()
    assert file.read_text() == "x = 1\nsaved = True\n"
    assert other.read_text() == "x = 2\n"
    assert [taken.path for taken, _ in fixed.taken] == [str(other)]
    assert "has changed since it was read" in fixed.refused[0]
    assert sorted(each.name for each in tmp_path.iterdir()) == ["m.py", "n.py"]


def test_a_fix_that_loses_something_costs_only_itself(tmp_path):
    file = tmp_path / "m.py"
    file.write_text("x = 1\ny = 1  # why\nz = 1\n")
    path = str(file)
    bad = Fix("bad", "safe", (edit(2, 1, 3, 1, "y = 2\n", path),))
    greedy = Fix("greedy", "safe", (replace(edit(3, 1, 3, 6, "", path), replaces=((3, 5, 3, 6),)),))
    fixed = fix_findings(
        [*one_to_two(file), finding(bad, line=2, path=path), finding(greedy, line=3, path=path)],
    )
    fixed.write()
    assert file.read_text() == "x = 2\ny = 1  # why\nz = 1\n"
    assert [fix.description for _, fix in fixed.taken] == ["f"]
    assert "would lose the comment `# why`" in fixed.refused[0]
    assert len(fixed.refused) == 2


def test_a_fix_that_brings_new_findings_is_left_out(tmp_path: Path) -> None:
    """The others of the file are applied all the same."""
    file = tmp_path / "m.py"
    file.write_text("a = 1\nb = 1\nc = 1\n")

    def relint(texts: Mapping[str, str], only: str | None) -> list[Finding]:
        text = texts.get(str(file)) or file.read_text()
        found = []
        for at, line in enumerate(text.splitlines(), 1):
            if line.endswith("= 1"):
                made = "2" if line[0] != "b" else "bad"
                one = Edit(str(file), at, 5, at, 6, made)
                found.append(finding(Fix("it", "safe", (one,)), line=at, path=str(file)))
            if line.endswith("bad"):
                found.append(replace(finding(line=at, path=str(file)), code="PTB999"))
        return found

    other = tmp_path / "z.py"
    other.write_text("x = 1\n")
    last = Fix("it", "safe", (Edit(str(other), 1, 5, 1, 6, "2"),))
    fixed = fix_findings([*relint({}, None), finding(last, path=str(other))], relint=relint)
    assert fixed.texts[str(file)][1] == "a = 2\nb = 1\nc = 2\n"
    assert sorted(one.line for one, _ in fixed.taken) == [1, 1, 3]
    assert fixed.refused == [f"{file}:2: a fix was left out: pt2lint would find PTB999 in what it writes"]
    file.write_text("b = 1\n")
    assert not fix_findings(relint({}, None), relint=relint).texts


@pytest.mark.parametrize(
    ("severity", "code", "taken"), [("error", "PTR222", 1), ("warning", "PTR222", 0), ("error", "PTB999", 0)]
)
def test_what_an_error_had_given_up_may_be_compiled_again(
    tmp_path: Path, severity: Severity, code: str, taken: int
) -> None:
    file = tmp_path / "m.py"
    file.write_text("a = 1\n")
    one = Fix("it", "safe", (Edit(str(file), 1, 5, 1, 6, "2"),))
    given_up = replace(finding(one, path=str(file)), severity=severity)

    def relint(texts: Mapping[str, str], only: str | None) -> list[Finding]:
        return [replace(finding(path=str(file)), code=code)] if texts else [given_up]

    assert len(fix_findings([given_up], relint=relint).taken) == taken


def test_all_files_are_linted_again_after_each_round(tmp_path: Path) -> None:
    """With all that is changed by then; what a fix in one file shows in another is fixed too."""
    first, second = tmp_path / "a.py", tmp_path / "b.py"
    first.write_text("aa = 1\nab = 2\n")
    second.write_text("a = 1\n")
    asked: list[tuple[list[str], str | None]] = []

    def relint(texts: Mapping[str, str], only: str | None) -> list[Finding]:
        asked.append(([Path(path).name for path in texts], only))
        shown = [first, second] if str(first) in texts else [first]
        return [one for path in shown for one in lint_letters(texts, path)]

    fixed = fix_findings(lint_letters({}, first), relint=relint)
    assert [text for _, text, _ in fixed.texts.values()] == ["c = 1\nc = 2\n", "b = 1\n"]
    assert asked == [(["a.py"], None), (["a.py", "b.py"], None)]


def test_fixes_of_several_files_are_taken_back_together(tmp_path: Path) -> None:
    first, second = tmp_path / "a.py", tmp_path / "b.py"
    first.write_text("x = 1\n")
    second.write_text("y = 1\n")
    paths = [str(first), str(second)]
    both = Fix("both", "safe", tuple(Edit(path, 1, 5, 1, 6, "2") for path in paths))

    def relint(texts: Mapping[str, str], only: str | None) -> list[Finding]:
        if paths[1] in texts:
            return [replace(finding(path=paths[1]), code="PTB999")]
        return [finding(both, path=paths[0])]

    fixed = fix_findings(relint({}, None), relint=relint)
    assert (fixed.texts, fixed.taken) == ({}, [])
    assert fixed.refused == [f"{first}:1: a fix was left out: pt2lint would find PTB999 in what it writes"]


def test_what_is_fixed_is_fixed_in_its_copies_at_once(tmp_path: Path) -> None:
    paths = [str(tmp_path / f"{name}.py") for name in "abc"]
    for path in paths:
        Path(path).write_text("x = 1\n")
    fixes = [Fix("f", "safe", (edit(1, 5, 1, 6, "2", path),)) for path in paths]
    first, copy, other = (finding(fix, path=path) for fix, path in zip(fixes, paths, strict=True))
    copy = replace(copy, severity="note", note=f"{COPY}{first.place}")
    other = replace(other, severity="note", note=f"{COPY}{tmp_path / 'gone.py'}:1")
    fixed = fix_findings([first, copy, other])
    assert [*fixed.texts] == paths[:2]
    assert not fix_findings([replace(first, fixes=()), copy]).texts
