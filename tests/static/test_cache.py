"""The kept facts: used while nothing changed, made anew when anything did, never in the way."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from typing import Any

import libcst
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pt2lint.finding import Finding, Stopped
from pt2lint.project.config import Settings
from pt2lint.static import cache as cache_module
from pt2lint.static import engine
from pt2lint.static.analysis import Analysis
from pt2lint.static.cache import Cache, Scratch
from pt2lint.static.engine import lint
from pt2lint.static.memory import Memory
from pt2lint.static.source import project as project_module

MODEL = """\
import torch
from helpers import total


@torch.compile
def step(x: torch.Tensor):
    if total(x):
        return x
    return -x
"""
TENSOR = "def total(x):\n    return x.sum() > 0\n"
PASSED = """\
import torch


@torch.compile
def train(x, limit):
    if limit > 0:
        return x
    return -x
"""
NUMBER = "def total(x):\n    return x.ndim > 0\n"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cache:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "mine"))
    Path("model.py").write_text(MODEL)
    Path("helpers.py").write_text(TENSOR)
    return Cache("kept")


@pytest.fixture
def analysed(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The groups that were looked into, rather than remembered."""
    seen: list[list[str]] = []
    analyse = Analysis._facts

    def watched(self: Analysis, group: list[str]) -> engine.Facts:
        seen.append(list(group))
        return analyse(self, group)

    monkeypatch.setattr(Analysis, "_facts", watched)
    monkeypatch.setattr("pt2lint.static.workers.can_fork", lambda: False)
    return seen


def run(cache: Cache | None, *files: str, **options: object) -> list[Finding]:
    given = Settings(**{"target_torch": (2, 13), **options})  # type: ignore[arg-type]
    return lint(files or ["model.py"], given, cache=cache).findings


def test_a_second_run_remembers(cache: Cache, analysed: list[list[str]]) -> None:
    first = run(cache)
    assert first
    assert run(cache) == first
    assert len(analysed) == 1


def test_an_imported_file_counts(cache: Cache, analysed: list[list[str]]) -> None:
    assert run(cache)
    Path("helpers.py").write_text(NUMBER)
    assert run(cache) == []
    Path("helpers.py").write_text(TENSOR)
    assert run(cache)
    assert len(analysed) == 3


def test_touching_a_file_changes_nothing(cache: Cache, analysed: list[list[str]]) -> None:
    run(cache)
    os.utime("helpers.py", (1, 1))
    os.utime("model.py", (1, 1))
    run(cache)
    assert len(analysed) == 1


def test_a_file_that_comes_into_being_counts(cache: Cache) -> None:
    os.unlink("helpers.py")
    assert run(cache) == []
    Path("helpers.py").write_text(TENSOR)
    assert run(cache)
    os.unlink("helpers.py")
    os.mkdir("helpers")
    Path("helpers/__init__.py").write_text(NUMBER)
    assert run(cache) == []


def test_settings_target_and_version_count(
    cache: Cache, analysed: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    run(cache)
    run(cache, target_torch=(2, 6))
    run(cache, roots="tensors")
    monkeypatch.setattr("pt2lint.__version__", "0.0.0")
    run(cache)
    assert len(analysed) == 4


def test_what_fixes_follow_counts(cache: Cache) -> None:
    """The project's oldest torch, which says what a fix may write, and the files that say so."""
    Path("model.py").write_text(
        "import torch\n\n\n@torch.compile\ndef f(x: torch.Tensor):\n    print(x.sum())\n    return x\n"
    )
    offered = {}
    for torch in ("2.13", "2.6"):
        Path("requirements.txt").write_text(f"torch>={torch}\n")
        result = lint(["model.py"], Settings(target_torch=(2, 13)), cache=cache)
        offered[torch] = any(
            "_higher_order_ops" in e.text for f in result.findings for x in f.fixes for e in x.edits
        )
        assert str(Path("requirements.txt").absolute()) in result.looked_at
    assert offered == {"2.13": True, "2.6": False}


def test_what_only_chooses_among_findings_does_not_count(cache: Cache, analysed: list[list[str]]) -> None:
    run(cache)
    run(cache, select=("PTB103",))
    run(cache, ignore=("PTB",))
    assert len(analysed) == 1
    run(cache, pedantic=True)  # looks for more
    assert len(analysed) == 2


def test_rules_count(cache: Cache, analysed: list[list[str]]) -> None:
    os.mkdir("rules")
    run(cache, rule_paths=("rules",))
    Path("rules/mine.py").write_text("from pt2lint.rule import Rule\n")
    run(cache, rule_paths=("rules",))
    assert len(analysed) == 2


def test_only_the_group_of_a_changed_file_is_looked_into_again(
    cache: Cache, analysed: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "GROUP", 1)
    Path("other.py").write_text(MODEL.replace("helpers", "elsewhere"))
    run(cache, "model.py", "other.py")
    Path("helpers.py").write_text(NUMBER)
    run(cache, "model.py", "other.py")
    assert analysed == [["model.py"], ["other.py"], ["model.py"]]


def test_what_a_run_found_before_it_was_stopped_is_kept(
    cache: Cache, analysed: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "GROUP", 1)
    Path("other.py").write_text(MODEL.replace("helpers", "elsewhere"))
    with pytest.raises(Stopped):
        lint(
            ["model.py", "other.py"],
            Settings(target_torch=(2, 13)),
            cache=cache,
            stop=lambda: any(Path("kept").glob("facts-*")),
        )
    analysed.clear()
    run(cache, "model.py", "other.py")
    assert analysed == [["other.py"]]


def test_a_file_more_or_less_costs_those_that_it_concerns(
    cache: Cache, analysed: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "GROUP", 1)
    Path("pack").mkdir()
    Path("pack/__init__.py").touch()
    Path("pack/model.py").write_text(MODEL.replace("helpers", "pack.helpers"))
    Path("pack/passed.py").write_text(PASSED)
    files = ["pack/__init__.py", "pack/model.py", "pack/passed.py"]
    run(cache, *files)

    def again(more: str, text: str) -> list[list[str]]:
        analysed.clear()
        Path(more).write_text(text)
        both = sorted([*files, more])
        assert run(cache, *both) == run(None, *both)
        found = analysed[: len(analysed) - len(both)]
        os.unlink(more)
        analysed.clear()
        assert run(cache, *files) == run(None, *files)
        return found

    assert again("pack/other.py", "import torch\n") == [["pack/other.py"]]
    assert again("pack/helpers.py", NUMBER) == [["pack/helpers.py"], ["pack/model.py"]]
    # It may tell what the function is given.
    called = "import torch\nfrom pack.passed import train\n\ntrain(torch.ones(2), torch.ones(()))\n"
    assert again("pack/calling.py", called) == [["pack/calling.py"], ["pack/passed.py"]]


@pytest.mark.parametrize("spoilt", [b"", b"{", b"\xff\x00", b"[]", b"null", b'{"key": [], "facts": {}}'])
def test_a_spoilt_entry_is_not_there(cache: Cache, spoilt: bytes) -> None:
    first = run(cache)
    (entry,) = Path("kept").glob("facts-*")
    entry.write_bytes(spoilt)
    assert run(cache) == first
    half = entry.read_bytes()[: entry.stat().st_size // 2]
    entry.write_bytes(half)
    assert run(cache) == first


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_no_flipped_bit_changes_what_is_found(cache: Cache, at: float, bit: int) -> None:
    first = run(cache)
    for entry in [*Path("kept").glob("facts-*"), Path("mine/pt2lint/key")]:
        whole = entry.read_bytes()
        place = int(at * len(whole))
        entry.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << bit]) + whole[place + 1 :])
        assert run(cache) == first
        entry.write_bytes(whole[:place])
        assert run(cache) == first


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_no_flipped_bit_of_what_many_groups_found_changes_it(two: Cache, at: float, bit: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "GROUP", 1)
        files = ["net.py", "lib.py", "model.py", "helpers.py"]
        first = run(two, *files)
        (entry,) = Path("kept").glob("ledger-*")
        whole = entry.read_bytes()
        place = int(at * len(whole))
        for spoilt in (whole[:place] + bytes([whole[place] ^ 1 << bit]) + whole[place + 1 :], whole[:place]):
            entry.write_bytes(spoilt)
            assert run(two, *files) == first


def test_an_edit_reads_the_entries_that_it_changes(
    two: Cache, monkeypatch: pytest.MonkeyPatch, analysed: list[list[str]]
) -> None:
    monkeypatch.setattr(engine, "GROUP", 1)
    files = ["net.py", "lib.py", "model.py", "helpers.py"]
    run(two, *files)
    analysed.clear()
    read: list[list[str]] = []
    kept = Cache._kept

    def watched(self: Cache, key: list[str]) -> engine.Facts | None:
        read.append([*key])
        return kept(self, key)

    monkeypatch.setattr(Cache, "_kept", watched)
    Path("lib.py").write_text("# first\n" + LIB)
    assert run(two, *files) == lint(files, Settings(target_torch=(2, 13))).findings
    assert not read
    Path("helpers.py").write_text(NUMBER)
    assert run(two, *files) == lint(files, Settings(target_torch=(2, 13))).findings
    assert [key[-1] for key in read] == ["model.py"]
    monkeypatch.undo()
    for path in Path("kept").glob("facts-*"):
        path.unlink()  # what the ledger has stands for itself
    monkeypatch.setattr(engine, "GROUP", 1)
    assert run(two, *files) == lint(files, Settings(target_torch=(2, 13))).findings


def test_what_a_few_groups_found_anew_is_kept_beside_the_ledger(
    two: Cache, monkeypatch: pytest.MonkeyPatch, analysed: list[list[str]]
) -> None:
    """The ledger of thousands of files takes longer to write than a few entries take to read."""
    monkeypatch.setattr(engine, "GROUP", 1)
    files = ["net.py", "lib.py", "model.py", "helpers.py"]
    run(two, *files)
    (ledger,) = Path("kept").glob("ledger-*")
    first = ledger.read_bytes()
    Path("helpers.py").write_text(NUMBER)
    cold = lint(files, Settings(target_torch=(2, 13))).findings
    for few, made, written in ((8, True, False), (8, False, False), (0, False, True), (0, False, False)):
        monkeypatch.setattr(Cache, "few_units", few)
        before = ledger.read_bytes()
        analysed.clear()
        assert run(two, *files) == cold
        assert bool(analysed) is made
        assert (ledger.read_bytes() != before) is written
    Path("helpers.py").write_text(TENSOR)
    assert run(two, *files) == lint(files, Settings(target_torch=(2, 13))).findings
    assert first != ledger.read_bytes()


def test_lines_that_move_leave_what_others_did_as_it_is(two: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a group does in a file of others is the same after an edit above, and told in the lines that it has now."""
    monkeypatch.setattr(engine, "GROUP", 1)
    above = "def above(x):\n    return x\n\n\nclass Net"
    files = ["net.py", "lib.py", "other.py"]
    Path("other.py").write_text(USING.replace("Net", "Other"))
    Path("net.py").write_text(USING.replace("class Net", above))
    run(two, *files)
    read: list[object] = []
    kept, noted = Cache._kept, Cache.noted
    monkeypatch.setattr(Cache, "_kept", lambda self, key: (read.append(key[-1]), kept(self, key))[1])
    monkeypatch.setattr(Cache, "noted", lambda self, *about: (read.append(about), noted(self, *about))[1])
    longer = USING.replace("class Net", above.replace("    return", "    x = x\n    return"))
    Path("net.py").write_text(longer)
    found = run(two, *files)
    assert found == lint(files, Settings(target_torch=(2, 13))).findings
    assert {"net.py"} <= {step.path for f in found if f.path == "lib.py" for step in f.flow}
    assert read == ["net.py"]
    Path("net.py").write_text(longer.replace("if x.sum() > 0:", "if x.size(0) > 1:"))  # on the way to lib.py
    assert run(two, *files) == lint(files, Settings(target_torch=(2, 13))).findings
    assert "other.py" not in read  # of which no more is wanted than what it noted
    assert [about[1] for about in read if isinstance(about, tuple)] == [["lib.py"]]


def test_deleting_it_is_safe(cache: Cache) -> None:
    first = run(cache)
    for path in Path("kept").iterdir():
        path.unlink()
    os.rmdir("kept")
    assert run(cache) == first
    assert Path("kept/.gitignore").read_text() == "*\n"


def test_a_place_that_cannot_be_written_is_no_reason_to_fail(cache: Cache) -> None:
    assert run(Cache("model.py/kept")) == run(cache)


def test_several_at_once(cache: Cache) -> None:
    first = run(cache)
    answers = []

    def again() -> None:
        for _ in range(5):
            answers.append(run(Cache("kept")) == first)
            for entry in Path("kept").glob("facts-*"):
                if len(answers) % 2 and not entry.suffix:  # what is being written has one
                    entry.write_bytes(b"{")

    threads = [threading.Thread(target=again) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [True] * 15
    assert not [path for path in Path("kept").iterdir() if path.suffix]


def test_problems_are_remembered_too(cache: Cache, analysed: list[list[str]]) -> None:
    Path("model.py").write_text("def (")
    first, again = (lint(["model.py"], Settings(), cache=cache).problems for _ in range(2))
    assert first == again
    assert "does not parse" in first[0].message
    assert len(analysed) == 1


def test_texts_in_place_of_files_are_not_kept(cache: Cache, analysed: list[list[str]]) -> None:
    lint(["model.py"], Settings(), {"model.py": MODEL}, cache)
    assert not list(Path("kept").glob("facts-*"))
    run(cache)
    lint(["model.py"], Settings(target_torch=(2, 13)), {"helpers.py": NUMBER}, cache)
    assert len(analysed) == 3


def test_a_cache_for_a_while_keeps_texts_too_and_leaves_the_one_below(
    cache: Cache, analysed: list[list[str]]
) -> None:
    first = run(cache)
    below = sorted(os.listdir("kept"))
    scratch = Scratch("scratch", cache)
    given = Settings(target_torch=(2, 13))

    def after(text: str) -> list[int]:
        return [f.line for f in lint(["model.py"], given, {"model.py": text}, scratch).findings]

    (line,) = after(MODEL)  # as the cache below has it
    assert [line] == [f.line for f in first]
    assert len(analysed) == 1
    assert not after(MODEL.replace("total(x)", "total(x.ndim)"))
    assert len(analysed) == 2
    # Compared with a text that was in no file.
    assert not after("# é\n" + MODEL.replace("total(x)", "total(x.ndim)"))
    assert len(analysed) == 2
    assert sorted(os.listdir("kept")) == below
    assert run(cache) == first
    assert len(analysed) == 2


def test_a_text_lies_in_the_group_that_its_file_will_lie_in(
    cache: Cache, analysed: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "GROUP", 128)
    files = [f"part{number}.py" for number in range(14)]
    for path in files:
        Path(path).write_text(TENSOR)
    text = f"{TENSOR}# {'é' * 16}\n"  # 56 characters, 72 bytes
    scratch = Scratch("scratch", cache)
    lint(files, Settings(), {files[1]: text}, scratch)
    Path(files[1]).write_text(text)
    looked = [*analysed]
    lint(files, Settings(), cache=scratch)
    assert analysed == looked


def test_old_entries_go(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    run(cache)
    (entry,) = Path("kept").glob("facts-*")
    old = ["answer-" + 8 * "01ab", "facts-" + 8 * "01ab" + ".0123456789abcdef", "mine"]
    month = time.time() - 31 * 86_400
    for name in old:
        Path("kept", name).write_text("")
    for name in [*old, "tidied"]:
        os.utime(Path("kept", name), (month, month))
    run(cache)
    texts = [path.name for path in Path("kept").glob("text-*")]
    assert len(texts) == 3  # of both files, and the list of those that are linted
    found = [name for name in os.listdir("kept") if not name.startswith(("listening-", "own-"))]
    assert sorted(found) == [".gitignore", entry.name, "mine", *sorted(texts), "tidied"]
    monkeypatch.setattr(cache_module, "LARGEST", 10)
    os.utime("kept/tidied", (month, month))
    run(cache)
    assert not entry.exists()


# What was read of a file, rather than the file


USING = """\
import torch
from lib import Base, halve, unused


class Net(Base):
    def forward(self, x):
        if x.sum() > 0:
            x = halve(x)
        return self.same(x)
"""
LIB = '''\
"""Said at the top."""

import torch
from torch import nn


class Base(nn.Module):
    """A base."""

    def same(self, x):
        """Nothing."""
        y = x
        return y.item()


def halve(x):
    return x.tolist()


def unused(x):
    return x.sum().item()
'''


@pytest.fixture
def two(cache: Cache) -> Cache:
    Path("net.py").write_text(USING)
    Path("lib.py").write_text(LIB)
    return cache


def looked_into(cache: Cache, analysed: list[list[str]], path: str, text: str) -> list[list[str]]:
    """The groups that are looked into after a file was changed; what is found is what is found from cold."""
    Path(path).write_text(text)
    analysed.clear()
    kept = run(cache, "net.py", "lib.py")
    groups = [*analysed]
    assert kept == lint(["net.py", "lib.py"], Settings(target_torch=(2, 13))).findings
    return groups


@pytest.fixture
def apart(two: Cache, analysed: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> Cache:
    """Each file a group of its own, and all of it found once."""
    monkeypatch.setattr(engine, "GROUP", 1)
    assert run(two, "net.py", "lib.py")
    return two


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("import torch\n", "# first\n\nimport torch\n"),
        ("def halve(x):\n", "# a comment\n\n\ndef halve(x):\n"),
        ("        y = x\n", "        # inside\n\n        y = x\n"),
        ('"""Nothing."""', '"""Nothing,\n        or little."""'),
        ('"""A base."""', '"""A\n\n    base."""'),
        ('"""Said at the top."""', '"""Said\notherwise."""'),
        ("    return x.tolist()\n", "    return x.tolist()  # so\n"),
    ],
)
def test_comments_and_docstrings_of_what_is_imported_only_move_lines(
    apart: Cache, analysed: list[list[str]], old: str, new: str
) -> None:
    assert old in LIB
    # lib.py itself may be, where a rule reads its text.
    assert ["net.py"] not in looked_into(apart, analysed, "lib.py", LIB.replace(old, new))


def test_a_body_counts_where_it_was_read(apart: Cache, analysed: list[list[str]]) -> None:
    changed = LIB.replace("return x.sum().item()", "return x.sum() + 1")
    assert ["net.py"] not in looked_into(apart, analysed, "lib.py", changed)
    changed = changed.replace("x.tolist()", "x + 1")
    assert ["net.py"] in looked_into(apart, analysed, "lib.py", changed)


def test_to_ask_whether_it_is_compiled_compiles_nothing(apart: Cache, analysed: list[list[str]]) -> None:
    changed = LIB.replace("return x.sum()", "return x if torch.compiler.is_compiling() else x.sum()")
    assert ["net.py"] not in looked_into(apart, analysed, "lib.py", changed)
    changed = changed.replace("import nn", "import compile, nn")
    assert ["net.py"] in looked_into(apart, analysed, "lib.py", changed)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("def halve(x):", "def halve(x, y=1):"),
        ("def halve(x):", "@torch.compiler.disable\ndef halve(x):"),
        ("class Base(nn.Module):", "class Base:"),
        ("from torch import nn\n", "from torch import nn\nfrom math import sin as halve\n"),
        ("def halve(x):\n    return x.tolist()", "halve = torch.compile"),
        ("y.item()", "y . item()"),
    ],
)
def test_all_else_counts(apart: Cache, analysed: list[list[str]], old: str, new: str) -> None:
    assert old in LIB
    assert ["net.py"] in looked_into(apart, analysed, "lib.py", LIB.replace(old, new))


HELPER = "def helper(x):\n    return x.sum().item()\n\n\n"
BACKEND_LATER = "def choose(x):\n    global BACKEND\n    BACKEND = Base()\n\n\ndef halve"
HOST = "class Host(Base):\n    def same(self, x):\n        return x\n\n\n"


@pytest.mark.parametrize(
    ("more", "before"),
    [
        *((more, before) for more in (HELPER, HOST, HELPER + HOST) for before in ("def halve", "class Base")),
        ("import math\n", "import torch"),
        ("from torch.fx import wrap\n", "class Base"),
        ("from math import sin as sine\n", "from torch"),
        ("import os.path, math\n" + HELPER, "from torch"),
    ],
)
def test_definitions_that_nobody_asks_for_come_and_go(
    apart: Cache, analysed: list[list[str]], more: str, before: str
) -> None:
    for text in (LIB.replace(before, more + before), LIB):
        assert ["net.py"] not in looked_into(apart, analysed, "lib.py", text)


@pytest.mark.parametrize(
    ("net", "old", "new"),
    [
        ("halve(x)", "def unused", "def halve(x):\n    return x + 1\n\n\ndef unused"),  # the first counts
        ("halve(x)", "def halve", "def halve(x):\n    return x + 1\n\n\ndef halve"),
        ("halve(x)", "def halve(x):\n    return x.tolist()\n", ""),
        ("halve(x)", "def halve", "class halve:\n    pass\n\n\ndef divide"),
        ("unused(x)", "def halve", "def len(x):\n    return x.sum().item()\n\n\ndef halve"),
        ("BACKEND", "def halve", BACKEND_LATER),
        ("halve(x)", "def unused", "from math import ceil as halve\n\n\ndef unused"),
        ("unused(x)", "from torch import nn", "from torch import nn, sin as len"),
        ("halve(x)", "from torch import nn", "from torch import jit as nn"),
        ("halve(x)", "import torch\n", "import torch\nfrom math import *\n"),
        ("self.same(x)", "class Base(nn.Module)", "class Above(nn.Module):\n    pass\n\n\nclass Base(Above)"),
    ],
)
def test_definitions_that_somebody_asks_for_count(
    apart: Cache, analysed: list[list[str]], net: str, old: str, new: str
) -> None:
    lib = LIB.replace("x.sum().item()", "x if len(x.shape) else x.sum()").replace(
        "class Base", "BACKEND = None\n\n\nclass Base"
    )
    using = USING.replace("import Base", "import BACKEND, Base").replace("halve(x)", net)
    looked_into(apart, analysed, "lib.py", lib)
    looked_into(apart, analysed, "net.py", using)
    assert old in lib
    assert ["net.py"] in looked_into(apart, analysed, "lib.py", lib.replace(old, new))


def test_what_an_unread_method_assigns_counts_where_it_was_asked(
    apart: Cache, analysed: list[list[str]]
) -> None:
    more = """
    def reset(self, x):
        self.kept = 1
        self.other = 1


def halve"""
    lib, net = LIB.replace("\n\ndef halve", more), USING.replace("halve(x)", "x * int(self.kept)")
    looked_into(apart, analysed, "lib.py", lib)
    looked_into(apart, analysed, "net.py", net)
    assert ["net.py"] not in looked_into(apart, analysed, "lib.py", lib.replace("other = 1", "other = x"))
    assert ["net.py"] in looked_into(apart, analysed, "lib.py", lib.replace("kept = 1", "kept = x.sum()"))


BACKEND = """
    def __init__(self):
        super().__init__()
        self.cache = None

    def save(self, x):
        x = x + 1
        return x


BACKEND = None


def choose(x):
    global BACKEND
    x = x + 1
    return x


def halve"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("def save(self, x):\n", "def save(self, x):\n        self.same = torch.compile(self.same)\n"),
        ("global BACKEND\n", "global BACKEND\n    BACKEND = Base()\n"),
        ("    return x\n\n\ndef halve", "    return torch.compile(x)\n\n\ndef halve"),
        ("x = x + 2", "x.cache = Base()"),
    ],
)
def test_a_body_that_nobody_runs_counts_by_what_is_asked_of_it(
    apart: Cache, analysed: list[list[str]], old: str, new: str
) -> None:
    lib = LIB.replace("\n\ndef halve", BACKEND)
    net = USING.replace("import Base, halve", "import BACKEND, Base, choose, halve")
    net = net.replace("halve(x)", "BACKEND.same(x) if BACKEND else x + len(self.cache)")
    looked_into(apart, analysed, "lib.py", lib)
    looked_into(apart, analysed, "net.py", net)
    other = lib.replace("x = x + 1", "x = x + 2")
    assert old in other
    assert ["net.py"] not in looked_into(apart, analysed, "lib.py", other)
    assert ["net.py"] in looked_into(apart, analysed, "lib.py", other.replace(old, new))


ASKING = """

class Base(nn.Module):
    def __init__(self):
        super().__init__()
        first()

    def same(self, x):
        return x

    def listed(self, x):
        if hasattr(self, "table"):
            return x.tolist()
        return x

    def prepare(self, x):
        x = x + 2


def first():
    second()


def second():
    x = torch.zeros(1)
    x = x + 3


def halve"""
MADE = """

class Other(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.base = Base()

    def forward(self, x):
        return self.base.listed(x)
"""


@pytest.mark.parametrize(
    ("more", "body", "telling"),
    [
        (MADE, "x = x + 2", 'self.register_buffer("table", x)'),
        ("", "x = x + 3", "x.backward()"),
    ],
)
def test_texts_and_gradients_count_where_somebody_asks_for_them(
    apart: Cache, analysed: list[list[str]], more: str, body: str, telling: str
) -> None:
    lib = f"{LIB.partition('class Base')[0].rstrip()}\n{ASKING}{LIB.partition('def halve')[2]}"
    looked_into(apart, analysed, "lib.py", lib)
    looked_into(apart, analysed, "net.py", USING + more)
    assert ["net.py"] not in looked_into(apart, analysed, "lib.py", lib.replace(body, "x = x + 4"))
    assert ["net.py"] in looked_into(apart, analysed, "lib.py", lib.replace(body, telling))


def test_what_was_moved_is_moved_again(apart: Cache, analysed: list[list[str]]) -> None:
    text = LIB
    for _ in range(3):
        text = text.replace("def halve", "# more\ndef halve")
        assert ["net.py"] not in looked_into(apart, analysed, "lib.py", text)
    assert ["net.py"] not in looked_into(apart, analysed, "lib.py", LIB)
    Path("net.py").write_text("\n\n" + USING)
    assert [f.line for f in run(apart, "net.py", "lib.py") if f.path == "net.py"]


def test_without_the_old_text_all_is_read_anew(apart: Cache, analysed: list[list[str]]) -> None:
    for text in Path("kept").glob("text-*"):
        text.unlink()
    assert ["net.py"] in looked_into(apart, analysed, "lib.py", LIB + "# end\n")


def test_functions_that_read_as_they_did_are_not_parsed_by_libcst_again(
    cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[str] = []
    parse = libcst.parse_module
    monkeypatch.setattr(libcst, "parse_module", lambda code: (parsed.append(code), parse(code))[1])
    other = MODEL + MODEL.partition("\n\n")[2].replace("step", "other")
    memory = Memory()

    def after(text: str) -> list[str]:
        given = ["model.py"], Settings(target_torch=(2, 13)), {"model.py": text}
        cold = lint(*given).findings
        assert len(cold) == 2
        parsed.clear()
        assert lint(*given, memory).findings == cold
        return [next(word for word in ("step", "other") if f"def {word}" in code) for code in parsed]

    assert after(other) == ["step", "other"]
    longer = other.replace("step(x: torch.Tensor):", "step(x: torch.Tensor):\n    x = x + 1")
    assert after(longer) == ["step"]  # the other one stands a line below
    assert after(other) == []


def test_what_is_undone_is_not_looked_into_again(cache: Cache, analysed: list[list[str]]) -> None:
    memory = Memory()

    def after(text: str) -> bool:
        given = ["model.py"], Settings(target_torch=(2, 13)), {"model.py": text}
        cold = lint(*given).findings
        analysed.clear()
        assert lint(*given, memory).findings == cold
        return bool(analysed)

    texts = [MODEL, MODEL.replace("return x", "return x + 1"), MODEL.replace("if total(x)", "if x.ndim")]
    assert [after(text) for text in texts] == [True, True, True]
    assert [after(text) for text in texts] == [False, False, False]
    Path("helpers.py").write_text(NUMBER)
    assert [after(text) for text in texts] == [True, True, False]  # the last calls nothing of it


def test_what_an_edit_left_alone_is_not_parsed_again(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    """In an editor, whose text of one file changes all the time: the files that it imports are parsed once, until they
    change themselves, or what they mean by a name does."""
    parsed: list[str] = []

    class Watched(project_module.Module):
        def __init__(self, path: str, *more: Any) -> None:
            parsed.append(path)
            super().__init__(path, *more)

    monkeypatch.setattr(project_module, "Module", Watched)
    Path("pack").mkdir()
    Path("pack/__init__.py").touch()
    for name in ("model.py", "helpers.py"):
        text = Path(name).read_text().replace("from helpers", "from .helpers")
        Path("pack", name).write_text(text)
    memory, edits = Memory(), iter(range(9))

    def parsed_after_an_edit() -> set[str]:
        text = Path("pack/model.py").read_text() + f"\n\ndef more(x):\n    return x + {next(edits)}\n"
        given = ["pack/model.py"], Settings(target_torch=(2, 13)), {"pack/model.py": text}
        cold = lint(*given).findings
        parsed.clear()
        assert lint(*given, memory).findings == cold
        return {Path(path).name for path in parsed}

    everything = {"__init__.py", "helpers.py", "model.py"}
    assert parsed_after_an_edit() == everything
    assert parsed_after_an_edit() == {"model.py"}
    Path("pack/helpers.py").write_text(NUMBER)
    assert parsed_after_an_edit() == {"helpers.py", "model.py"}
    assert parsed_after_an_edit() == {"model.py"}
    Path("__init__.py").touch()  # the package is in another one by now
    assert parsed_after_an_edit() == everything
