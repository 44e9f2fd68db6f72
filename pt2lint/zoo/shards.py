"""The part of the targets that one of several runs takes: the same in each of them, and as long as the others."""

from __future__ import annotations

import re
import statistics
from collections.abc import Mapping, Sequence


def parse(text: str) -> tuple[int, int]:
    """(part, of how many) of a text such as 1/8; raises ValueError, worded for the user."""
    found = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text, re.ASCII)
    if found is None or not 1 <= int(found[1]) <= int(found[2]):
        raise ValueError(f'should be a part and how many there are, as in 1/8, not "{text}"')
    return int(found[1]), int(found[2])


def part(keys: Sequence[str], seconds: Mapping[str, float], number: int, of: int) -> list[str]:
    """The keys of part `number`, in the order given.

    The longest go first, each to the part that has least to do; what has no recorded seconds counts as the median
    of those that do. So parts end together, and without records they hold as many keys each.
    """
    known = [seconds[key] for key in keys if key in seconds]
    usual = statistics.median(known) if known else 1.0
    loads = [(0.0, 0, at) for at in range(of)]
    mine = set()
    for key in sorted(keys, key=lambda key: (-seconds.get(key, usual), key)):
        load, count, at = min(loads)
        loads[at] = (load + seconds.get(key, usual), count + 1, at)
        if at == number - 1:
            mine.add(key)
    return [key for key in keys if key in mine]
