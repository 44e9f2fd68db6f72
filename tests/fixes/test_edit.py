"""Edits: what they change and, above all, what they leave alone."""

from __future__ import annotations

import os
import stat
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pt2lint.finding import Edit, Finding, Fix
from pt2lint.fixes.edit import (
    EditError,
    apply_edits,
    choose,
    diff,
    read_source,
    write_atomically,
)


def edit(line, column, end_line, end_column, text, path="m.py"):
    return Edit(path, line, column, end_line, end_column, text)


def finding(*fixes, line=1, column=1, path="m.py", verdict=None):
    return Finding("PTB100", "x", "m", path, line, column, line, column + 1, fixes=fixes, verdict=verdict)


lines = st.lists(st.text(st.sampled_from("ab =\x0c\t#é𝔘\u2028\x85"), max_size=8), min_size=1, max_size=8)


@given(st.data())
def test_apply_edits_replaces_these_characters_and_no_others(data):
    ends = data.draw(st.sampled_from(["\n", "\r\n", "\r"]))
    texts = data.draw(lines)
    source = ends.join(texts) + data.draw(st.sampled_from(["", ends]))
    starts = [0]
    for text in texts:
        starts.append(starts[-1] + len(text) + len(ends))
    place = st.integers(0, len(texts) - 1).flatmap(
        lambda n: st.tuples(st.just(n), st.integers(0, len(texts[n])))
    )
    places = sorted(data.draw(st.lists(place, max_size=6).filter(lambda p: len(p) % 2 == 0)))
    edits, expected, done = [], "", 0
    used = set()
    for start, end in zip(places[::2], places[1::2], strict=True):
        if start in used:
            continue  # where two edits meet in one point their order counts; tested below
        used |= {start, end}
        text = data.draw(st.text("xyz\n", max_size=4))
        edits.append(edit(start[0] + 1, start[1] + 1, end[0] + 1, end[1] + 1, text))
        first, last = starts[start[0]] + start[1], starts[end[0]] + end[1]
        newline = ends if ends in source else "\n"
        expected += source[done:first] + text.replace("\n", newline)
        done = last
    expected += source[done:]
    assert apply_edits(source, data.draw(st.permutations(edits))) == expected


@pytest.mark.parametrize(
    "edits",
    [
        [edit(1, 1, 1, 4, "x"), edit(1, 3, 1, 5, "y")],
        [edit(1, 1, 2, 1, "x"), edit(1, 2, 1, 2, "y")],
        [edit(1, 1, 1, 3, "x"), edit(1, 1, 1, 3, "y")],
    ],
)
def test_overlapping_edits_are_refused(edits):
    with pytest.raises(EditError, match="overlap"):
        apply_edits("abcdef\nghi\n", edits)


@pytest.mark.parametrize("place", [(0, 1), (1, 0), (1, 8), (4, 1), (3, 2), (9, 1)])
def test_an_edit_outside_the_file_is_refused(place):
    with pytest.raises(EditError, match="outside the file"):
        apply_edits("abcdef\nghi\n", [edit(*place, *place, "x")])


def test_insertions_meet_replacements_in_order():
    edits = [edit(1, 2, 1, 4, "-"), edit(1, 2, 1, 2, "<"), edit(1, 4, 1, 4, ">"), edit(1, 4, 1, 4, "!")]
    assert apply_edits("abcd", edits) == "a<->!d"


def test_a_line_ends_as_the_one_in_whose_place_it_stands():
    source = "a\r\nb\nc\r\n"
    edits = [edit(1, 2, 1, 2, " \n1"), edit(2, 1, 3, 1, "2\n2\n"), edit(4, 1, 4, 1, "3\n")]
    assert apply_edits(source, edits) == "a \r\n1\r\n2\n2\nc\r\n3\r\n"


def test_a_line_after_a_last_line_without_an_end():
    assert apply_edits("import a", [edit(2, 1, 2, 1, "import b\n")]) == "import a\nimport b\n"


def test_choose_takes_only_what_is_allowed():
    safe = Fix("s", "safe", (edit(1, 1, 1, 2, "s"),))
    unsafe = Fix("u", "unsafe", (edit(1, 1, 1, 2, "u"),))
    proven = Fix("p", "unsafe", (edit(1, 1, 1, 2, "p"),), proven=True)
    wrong = Fix("w", "safe", (edit(1, 1, 1, 2, "w"),), proven=False)

    def texts(*args, **options):
        return [fix.description for _, fix in choose(*args, **options).taken]

    assert texts([finding(unsafe, safe)]) == ["s"]
    assert texts([finding(unsafe, safe)], "unsafe") == ["u"]
    assert texts([finding(unsafe, proven)], "unsafe") == ["p"]
    assert texts([finding(wrong, safe)], "unsafe") == ["s"]
    assert texts([finding(wrong)], "unsafe") == []
    assert texts([finding(safe)], proven_only=True) == []
    assert texts([finding(proven)], proven_only=True) == ["p"]
    assert texts([finding(replace(proven, traits=("workaround",)))], proven_only=True) == []
    assert texts([finding(proven)], "unsafe", proven_only=True) == ["p"]
    assert texts([finding(safe, verdict="refuted")]) == []


def test_fixes_that_overlap_wait_and_imports_are_added_once():
    add = edit(1, 1, 1, 1, "import torch\n")
    other = edit(1, 1, 1, 1, "import math\n")
    fixes = [
        Fix("a", "safe", (add, edit(2, 1, 2, 5, "a"))),
        Fix("b", "safe", (add, edit(2, 3, 2, 6, "b"))),
        Fix("c", "safe", (add, other, edit(3, 1, 3, 2, "c"))),
        Fix("d", "safe", (edit(3, 1, 3, 1, "d"),)),
    ]
    choice = choose([finding(fix, line=n + 1) for n, fix in enumerate(fixes)])
    assert [fix.description for _, fix in choice.taken] == ["a", "c"]
    assert [fix.description for _, fix in choice.waiting] == ["b", "d"]
    assert choice.edits["m.py"].count(add) == 1
    assert apply_edits("\nxxxxxxx\ny\n", choice.edits["m.py"]) == "import torch\nimport math\n\naxxx\nc\n"


names = st.sampled_from(["m.py", "a dir/m n.py", "é.py", 'q"u.py', "t\tab.py", "back\\slash.py"])


@settings(max_examples=25)
@given(
    names,
    st.lists(st.sampled_from(["a", "b", "", "\x0c", "c\r", "\u2028"]), max_size=12),
    st.data(),
)
def test_git_applies_the_diff(tmp_path_factory, name, old_lines, data):
    new_lines = [line for line in old_lines if data.draw(st.booleans())] + data.draw(st.lists(st.just("n")))
    old = "\n".join(old_lines) + data.draw(st.sampled_from(["", "\n"]))
    new = "\n".join(new_lines) + data.draw(st.sampled_from(["", "\n"]))
    patch = diff(name, old, new)
    if old == new:
        assert patch == ""
        return
    if not old or not new:
        return  # a patch that makes or removes a file says so in headers that a linter has no use for
    folder = tmp_path_factory.mktemp("git")
    file = folder / name
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(old.encode())
    run = subprocess.run(
        ["git", "apply", "--whitespace=nowarn", "-"], cwd=folder, input=patch.encode(), capture_output=True
    )
    assert run.returncode == 0, (patch, run.stderr)
    assert file.read_bytes() == new.encode()


def test_writing_keeps_mode_encoding_and_links(tmp_path):
    file, link = tmp_path / "m.py", tmp_path / "link.py"
    file.write_bytes("# -*- coding: latin-1 -*-\r\nx = 'é'\r\n".encode("latin-1"))
    file.chmod(0o750)
    link.symlink_to(file)
    text, encoding = read_source(link)
    write_atomically(link, text.replace("x", "y"), encoding)
    assert file.read_bytes() == "# -*- coding: latin-1 -*-\r\ny = 'é'\r\n".encode("latin-1")
    assert stat.S_IMODE(file.stat().st_mode) == 0o750
    assert link.is_symlink()
    assert sorted(os.listdir(tmp_path)) == ["link.py", "m.py"]


def test_a_file_with_two_names_stays_as_it_is(tmp_path):
    file, other = tmp_path / "m.py", tmp_path / "n.py"
    file.write_text("x = 1\n")
    os.link(file, other)
    with pytest.raises(EditError, match="has another name too"):
        write_atomically(file, "x = 2\n", read=b"x = 1\n")
    assert os.path.samefile(file, other)
    assert other.read_text() == "x = 1\n"
    assert sorted(os.listdir(tmp_path)) == ["m.py", "n.py"]


def test_writing_keeps_the_byte_order_mark(tmp_path):
    file = tmp_path / "m.py"
    file.write_bytes(b"\xef\xbb\xbfx = 1\n")
    text, encoding = read_source(file)
    assert text == "x = 1\n"
    write_atomically(file, "x = 2\n", encoding)
    assert file.read_bytes() == b"\xef\xbb\xbfx = 2\n"


@pytest.mark.parametrize("text", ["def f(:\n", "return 1\n", "x = '\u20ac'\n", "x = '\0'\n"])
def test_what_does_not_parse_is_not_written(tmp_path, text):
    file = tmp_path / "m.py"
    before = b"# coding: latin-1\nx = 1\n"
    file.write_bytes(before)
    with pytest.raises(EditError):
        write_atomically(file, "# coding: latin-1\n" + text, "latin-1")
    assert file.read_bytes() == before
    assert os.listdir(tmp_path) == ["m.py"]


def test_a_full_disk_leaves_the_file_as_it_was(tmp_path, monkeypatch):
    file = tmp_path / "m.py"
    file.write_text("x = 1\n")

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_atomically(file, "x = 2\n")
    assert file.read_text() == "x = 1\n"
    assert os.listdir(tmp_path) == ["m.py"]


def test_reading_what_is_not_in_its_encoding(tmp_path: Path):
    file = tmp_path / "m.py"
    file.write_bytes(b"x = '\xff'\n")
    with pytest.raises(EditError, match="cannot be decoded"):
        read_source(file)
