"""The parts of a zoo that need no run: shards, GPUs, comparisons, headers."""

from __future__ import annotations

import threading
from dataclasses import asdict, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pt2lint.finding import Finding, Fix
from pt2lint.report.models import Model, Place, model_from
from pt2lint.zoo import shards
from pt2lint.zoo.compare import compare
from pt2lint.zoo.gpus import one_of
from pt2lint.zoo.results import Header
from pt2lint.zoo.verify import of_all_targets

NAMES = st.lists(st.text("abc", min_size=1, max_size=4), unique=True, max_size=30)


@settings(max_examples=60)
@given(NAMES, st.integers(1, 6), st.dictionaries(st.text("abc", min_size=1, max_size=4), st.floats(0.1, 90)))
def test_shards_hold_each_target_once_and_are_even(
    keys: list[str], of: int, seconds: dict[str, float]
) -> None:
    parts = [shards.part(keys, seconds, number, of) for number in range(1, of + 1)]
    assert sorted(key for part in parts for key in part) == sorted(keys)
    assert parts == [shards.part(keys, seconds, number, of) for number in range(1, of + 1)]
    counts = [len(shards.part(keys, {}, number, of)) for number in range(1, of + 1)]
    assert max(counts) - min(counts) <= 1
    known = {key: seconds.get(key, 1.0) for key in keys}
    loads = [sum(known[key] for key in shards.part(keys, known, number, of)) for number in range(1, of + 1)]
    assert max(loads) - min(loads) <= max(known.values(), default=0) + 1e-6


@pytest.mark.parametrize("text", ["0/2", "3/2", "1", "1/", "a/b", "1/0", "-1/2"])
def test_a_shard_that_is_none(text: str) -> None:
    with pytest.raises(ValueError, match="as in 1/8"):
        shards.parse(text)


def test_a_gpu_is_one_targets_own() -> None:
    stop = threading.Event()
    names = ("test a", "test b")
    with one_of(names) as first, one_of(names) as second:
        assert {first, second} == {*names}
        stop.set()
        with one_of(names, stop) as third:
            assert third is None
    with one_of(names) as again, one_of(()) as none:
        assert (again, none) == ("test a", None)


HEADER = Header("0.1", "2.13.0", "3.11", "abc", {"m.py": "1"}, {"backend": "eager"}, ["a"])


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({}, ""),
        ({"planned": ["b"], "shard": "1/2"}, ""),
        ({"torch": "2.6.0"}, "torch 2.13.0 and torch 2.6.0"),
        ({"version": "0.2"}, "pt2lint 0.1 and pt2lint 0.2"),
        ({"files": {"m.py": "2"}, "commit": "def"}, "other code (commits abc and def): m.py"),
        ({"files": {"m.py": "1", "n.py": "2"}}, "other code: n.py"),
        ({"settings": {"backend": "inductor"}}, "other settings: backend"),
    ],
)
def test_what_belongs_together(changed: dict[str, object], said: str) -> None:
    assert HEADER.misfit(replace(HEADER, **changed)) == said  # type: ignore[arg-type]


def place(text: str, line: int = 1, code: str = "PTB103", id: str = "GB0124") -> Place:
    return Place(code, "m.py", line, text, "why", id)


OLD = Model("a", (3, 2), (place("x.item()", 3),), 1, (), None, 0, {"compile": 1.0, "warm": 0.010})


def test_lines_that_moved_are_the_same_break() -> None:
    [change] = compare([OLD], [replace(OLD, breaks=(place("x.item()", 30),))]).changes
    assert (change.came, change.went, change.worse, change.better) == ((), (), (), ())


def test_what_came_and_what_went() -> None:
    new = replace(OLD, graphs=(5,), breaks=(place("print(x)", 3, "PTB900", "GB0059"),), recompilations=3)
    found = compare([OLD, replace(OLD, name="gone")], [new, replace(OLD, name="added")])
    change, added, gone = found.changes
    assert ([p.text for p in change.came], [p.text for p in change.went]) == (["print(x)"], ["x.item()"])
    assert (change.worse, change.better) == (("breaks", "recompilations"), ("graphs",))
    assert found.causes == {"GB0059": (1, 0), "PTB103": (0, 1)}
    assert (added.old, gone.new) == (None, None)
    assert found.of("graphs") == []
    assert found.of("breaks") == [change]


@pytest.mark.parametrize(
    ("seconds", "worse", "better"),
    [
        ({"compile": 1.1, "warm": 0.0115}, (), ()),
        ({"compile": 2.0, "warm": 0.020}, ("cold", "warm"), ()),
        ({"compile": 0.2, "warm": 0.001}, (), ("cold", "warm")),
        ({"cold": 9.0}, (), ()),
    ],
)
def test_times(seconds: dict[str, float], worse: tuple[str, ...], better: tuple[str, ...]) -> None:
    [change] = compare([OLD], [replace(OLD, seconds=seconds)]).changes
    assert (change.worse, change.better) == (worse, better)


def test_of_what_failed_nothing_is_new_or_gone() -> None:
    [change] = compare([OLD], [Model("a", trouble="TypeError")]).changes
    assert (change.came, change.went, change.worse) == ((), (), ("failures",))
    [back] = compare([Model("a", trouble="TypeError")], [OLD]).changes
    assert (back.came, back.better) == ((), ("failures",))


def test_a_model_as_data() -> None:
    assert model_from({**asdict(OLD), "defined": ["m.py", 3]}) == replace(OLD, defined=("m.py", 3))


FINDING = Finding(
    "PTB103", "tensor-item", "m", "/m.py", 3, 1, 3, 9, fixes=tuple(Fix(x, "unsafe", ()) for x in "abc")
)


@pytest.mark.parametrize(
    ("votes", "proven"),
    [
        ([], [None, None, None]),
        ([[True, None, None]], [True, None, None]),
        ([[True, None, None], [True, None, None]], [True, None, None]),
        ([[True, None, None], [False, True, None]], [False, None, None]),  # the second was tried for one only
        ([[True, True], [True, None, None]], [True, None, None]),  # of other fixes
    ],
)
def test_a_fix_is_proven_by_all_who_tried(votes: list[list[bool | None]], proven: list[bool | None]) -> None:
    found = of_all_targets(FINDING, {("/m.py", 3, 1, "PTB103"): votes})
    assert [fix.proven for fix in found.fixes] == proven
