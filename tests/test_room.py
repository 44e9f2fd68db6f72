"""Calls at any depth find room for their frames: no page is touched first for each of them."""

import sys

import pytest

from pt2lint.room import with_room

DEPTHS, CALLS = 300, 100


def leaf() -> None:
    return None


def call_at(depth: int) -> None:
    if depth:
        return call_at(depth - 1)
    for _ in range(CALLS):
        leaf()
    return None


def call_at_every_depth() -> int:
    """How many pages were touched first."""
    import resource

    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for depth in range(DEPTHS):
        call_at(depth)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


@pytest.mark.skipif(sys.platform != "linux", reason="counts what Linux counts")
def test_calls_touch_no_new_pages() -> None:
    with_room(call_at_every_depth)()
    assert with_room(call_at_every_depth)() < CALLS


def test_the_function_stays_what_it_was() -> None:
    @with_room
    def divided(a: int, *, by: int = 1) -> float:
        """A quotient."""
        return a / by

    assert divided(6, by=4) == 1.5
    assert divided.__doc__ == "A quotient."
    with pytest.raises(ZeroDivisionError):
        divided(1, by=0)
