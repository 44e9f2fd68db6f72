"""Releases of torch: that it is none before the oldest which pt2lint speaks of decides many tests."""

from __future__ import annotations

import re

OLDEST = (2, 6)
_NUMBERS = re.compile(r"v?(\d+)(?:\.(\d+))?(?:\.(\d+))?")


def numbers(text: str) -> tuple[int, ...]:
    """`(1, 13)` of "1.13.0+cu117"; nothing of what is no version."""
    match = _NUMBERS.match(text)
    return tuple(int(part) for part in match.groups() if part is not None)[:2] if match is not None else ()


class Release:
    """Some release since the oldest one. Compares with older ones; of the others it raises TypeError, as what cannot
    be compared does."""

    def __ge__(self, other: object) -> bool:
        told = numbers(other) if isinstance(other, str) else other
        if (
            isinstance(told, tuple)
            and all(isinstance(part, int) for part in told[:2])
            and () < told[:2] <= OLDEST
        ):
            return True
        raise TypeError("either is possible")

    __gt__ = __ge__

    def __lt__(self, other: object) -> bool:
        return not self >= other

    __le__ = __lt__


RELEASE = Release()
