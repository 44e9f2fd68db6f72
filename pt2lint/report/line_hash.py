"""GitHub's fingerprint of a line: it follows the text, so an alert survives lines that move above it."""

from __future__ import annotations

from array import array

BLOCK = 100
BASE = 37
MASK = (1 << 64) - 1
END = 65535
SPACE, TAB, LF, CR = 32, 9, 10, 13


def line_hashes(text: str) -> list[str]:
    """`primaryLocationLineHash` of every line, as the upload action computes it where a report has none.

    A rolling hash over the 100 UTF-16 units from the start of the line on, without spaces and tabs, every
    line end as LF, padded with 65535 and zeros; after the colon how often it has occurred in the file so
    far.
    """
    units = array("H")
    units.frombytes(text.encode("utf-16-le", "surrogatepass"))
    stream: list[int] = []
    starts: list[int] = []
    at_start, after_cr = True, False
    for unit in units:
        if unit in (SPACE, TAB) or (after_cr and unit == LF):
            after_cr = False
            continue
        after_cr = unit == CR
        if at_start:
            starts.append(len(stream))
        at_start = unit in (LF, CR)
        stream.append(LF if at_start else unit)
    if at_start:
        starts.append(len(stream))
    stream.append(END)
    stream.extend([0] * BLOCK)

    hashes: list[str] = []
    seen: dict[int, int] = {}
    lines = iter(starts)
    line = next(lines)
    value, leaving = 0, pow(BASE, BLOCK, 1 << 64)
    for end, unit in enumerate(stream, start=1):
        value = value * BASE + unit
        if end > BLOCK:
            value -= leaving * stream[end - BLOCK - 1]
        value &= MASK
        if end - BLOCK == line:
            seen[value] = seen.get(value, 0) + 1
            hashes.append(f"{value:x}:{seen[value]}")
            line = next(lines, -1)
    return hashes
