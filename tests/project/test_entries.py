"""Entries that are kept: what this user wrote comes back as it was written, and nothing else does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import platformdirs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pt2lint.project import entries

NOT_WINDOWS = pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
DATA = b"what was found out"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for entries, in which one is kept."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "mine"))
    monkeypatch.chdir(tmp_path)
    assert entries.make_folder("kept")
    entries.write("kept/one", DATA)
    assert entries.read("kept/one") == DATA
    return tmp_path


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere it is asked of platformdirs")
@pytest.mark.parametrize("xdg", [None, "", " ", "/somewhere/else", "relative", "/with/end/"])
def test_the_users_folder_is_where_platformdirs_says(
    xdg: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    if xdg is not None:
        monkeypatch.setenv("XDG_CACHE_HOME", xdg)
    assert entries.user_folder() == platformdirs.user_cache_dir("pt2lint")


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
@pytest.mark.parametrize("name", ["kept/one", "mine/pt2lint/key"])
def test_a_flipped_bit_or_a_lost_end_is_noticed(place: Path, name: str, data: st.DataObject) -> None:
    path = Path(name)
    whole = path.read_bytes()
    bit = data.draw(st.integers(0, 8 * len(whole) - 1))
    flipped = bytearray(whole)
    flipped[bit // 8] ^= 1 << bit % 8
    for spoilt in (bytes(flipped), whole[: bit // 8], whole + b"\0", b""):
        path.write_bytes(spoilt)
        assert entries.read("kept/one") is None
    path.write_bytes(whole)
    assert entries.read("kept/one") == DATA


def test_an_entry_does_not_stand_for_another(place: Path) -> None:
    os.rename("kept/one", "kept/two")
    assert entries.read("kept/two") is None


def test_what_somebody_else_wrote_is_not_there(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(place / "theirs"))
    assert entries.read("kept/one") is None
    entries.write("kept/one", b"nothing found")
    assert entries.read("kept/one") == b"nothing found"
    monkeypatch.setenv("XDG_CACHE_HOME", str(place / "mine"))
    assert entries.read("kept/one") is None


@NOT_WINDOWS
@pytest.mark.parametrize(
    ("path", "mode"),
    [
        ("kept/one", 0o620),
        ("kept/one", 0o602),
        ("kept", 0o770),
        ("kept", 0o707),
        ("mine/pt2lint", 0o770),
        ("mine/pt2lint/key", 0o640),
        ("mine/pt2lint/key", 0o604),
    ],
)
def test_what_others_may_write_or_know_is_not_there(place: Path, path: str, mode: int) -> None:
    os.chmod(path, mode)
    assert entries.read("kept/one") is None


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")
@pytest.mark.parametrize("path", ["kept/one", "kept", "mine/pt2lint/key", "mine/pt2lint"])
def test_what_belongs_to_others_is_not_there(place: Path, path: str) -> None:
    os.chown(path, 65_534, 65_534)
    assert entries.read("kept/one") is None
    if "one" not in path and "key" not in path:
        entries.write("kept/two", DATA)
        assert entries.read("kept/two") is None


@NOT_WINDOWS
def test_pipes_links_and_folders_in_its_place_are_neither_waited_for_nor_followed(place: Path) -> None:
    os.rename("kept/one", "one")
    os.symlink(place / "one", "kept/one")
    assert entries.read("kept/one") is None
    os.unlink("kept/one")
    os.mkfifo("kept/one")
    assert entries.read("kept/one") is None
    entries.write("kept/one", DATA)
    assert entries.read("kept/one") == DATA
    os.unlink("kept/one")
    os.mkdir("kept/one")
    entries.write("kept/one", DATA)
    assert entries.read("kept/one") is None
    assert os.listdir("kept/one") == []
    assert sorted(os.listdir("kept")) == [".gitignore", "one"]


def test_a_key_that_was_lost_is_made_anew(place: Path) -> None:
    os.unlink("mine/pt2lint/key")
    assert entries.read("kept/one") is None
    entries.write("kept/one", DATA)
    assert entries.read("kept/one") == DATA


def test_a_place_that_cannot_be_is_no_error(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not entries.make_folder("kept/one/below")
    entries.write("kept/one/below/x", DATA)
    assert entries.read("kept/one/below/x") is None
    assert entries.read("nul\0/x") is None
    monkeypatch.setenv("XDG_CACHE_HOME", str(place / "kept/one"))
    entries.write("kept/two", DATA)
    assert entries.read("kept/two") is None


WRITER = """\
import sys
from pt2lint.project import entries
for i in range(150):
    entries.write("kept/one", sys.argv[1].encode() * 50_000)
"""


def test_several_writers_at_once_never_leave_a_mixture(place: Path) -> None:
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, letter]) for letter in "ab"]
    seen = set()
    while any(writer.poll() is None for writer in writers):
        data = entries.read("kept/one")
        assert data is not None
        assert data == DATA or (len(set(data)) == 1 and len(data) == 50_000)
        seen.add(data[:1])
    assert [writer.returncode for writer in writers] == [0, 0]
    assert seen & {b"a", b"b"}
    assert sorted(os.listdir("kept")) == [".gitignore", "one"]
