"""What an error says of the shape that was wanted in place of the one that was given."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

from .trouble import Trouble

LENGTH, EDGE, MANY = 5, 16, 64
_CHANNELS, _NEAR = 8, 3  # that two sizes have in common; how far a size that is computed may be off
MOST = 1 << 20  # elements of a shape
# The number that was there, and the one that was wanted.
_SIZES = [
    re.compile(pattern)
    for pattern in (
        r"got \[\d+, (?P<had>\d+)\] X \[(?P<wanted>\d+), \d+\]",
        r"\(\d+x(?P<had>\d+) and (?P<wanted>\d+)x\d+\)",
        r"batch2 tensor to be: \[\d+, (?P<had>\d+)\] but got: \[\d+, (?P<wanted>\d+)\]",
        r"to have (?P<wanted>\d+) channels, but got (?P<had>\d+) channels",
        r"normalized_shape=\[(?P<wanted>\d+)\].*got input of size\s*(?:torch\.Size\()?\[[\d, ]*?(?P<had>\d+)\]",
        r"Expected (?P<wanted>\d+), got (?P<had>\d+)$",
        r"\bto be (?P<wanted>\d+),? but got (?P<had>\d+)",
        r"embedding dimension of (?P<wanted>\d+), but got (?P<had>\d+)",
        r"size of tensor a \((?P<had>\d+)\) must match the size of tensor b \((?P<wanted>\d+)\)",
        r"running_mean should contain (?P<had>\d+) elements not (?P<wanted>\d+)",
    )
]
_ADDED = re.compile(
    r"dimension of length (\d+) at (-\d+)!.*Size\(\[([\d, ]+)\]\);.*broadcastable to \[([\d, ]+)\]"
)
# Of sizes that do not go together the last ones are told first.
_PLACE = re.compile(r"dimension of length \d+ at -(\d+)!")
_BESIDE = re.compile(r"Sizes of tensors must match.*?Expected (?:size )?(\d+) .*?got (?:size )?(\d+) for")
# A batch is put together with what has one row: a token, a state that is kept. (The size that the batch had.)
_ONE_ROW = re.compile(
    r"Sizes of tensors must match.*?Expected (?:size )?1 in dimension 0 but got (?:size )?(\d+)"
    r"|Expected hidden\S* size \(\d+, (\d+), \d+\), got \[\d+, 1, "
)
_INTEGERS = re.compile(
    r"index out of range in self"  # negative ones, of a float
    r"|scalar types?: Long|must be long|Expected dtype int64|dtype to be Long|expected to be (?:of type )?(?:long|int)"
)
_FLOATS = re.compile(
    r"expected scalar type Float but found Long|not implemented for 'Long'|got (?:Long|long) and Float|"
    r"but got Long and Float|got: Long|must be floating"
)
# A user's own words about values, which are those between zero and one mostly.
_VALUES = re.compile(
    r"(?i)domain|outside|(?<!index )out of range|\bbetween\b|(?:lower|less|smaller|greater|larger) (?:than )?or equal"
    r"|negative|positive|probabilit|\[0, ?1\]|normali[sz]ed\b"
)
_SUM = re.compile(r"sum exactly to (\d+) .*split_sizes=\[([\d, ]+)\]")
# How many dimensions there were, and how many were wanted.
_RANKS = [
    re.compile(pattern)
    for pattern in (
        r"or (?P<wanted>\d)D \(batched\) input to \w+, but got input of size: \[(?P<shape>[\d, ]+)\]",
        r"expected (?P<wanted>\d)D(?: or \dD)? input \(got (?P<had>\d)D input\)",
        r"not enough values to unpack \(expected (?P<wanted>\d), got (?P<had>\d)\)",
        r"subscripts in the equation \((?P<wanted>\d)\) does not match the number of dimensions \((?P<had>\d)\)",
        r"input\.dim\(\) = (?P<had>\d) is not equal to len\(dims\) = (?P<wanted>\d)",
    )
]
_UNPACKED = re.compile(r"(?:too many|not enough) values to unpack \(expected (\d+)")
_BEHIND_LAST = re.compile("(?:list|tuple) index out of range")
_ZIPPED = re.compile(r"zip\(\) argument 2 is (shorter|longer) than argument 1")
_VIEWED = re.compile(r"shape '\[[\d, ]*-1, ([\d, ]+)\]' is invalid for input of size")
_REPEATED = re.compile(r"argument '(\w+)'.* must be (?:tuple|list) of \w+, (?:not|but got) int\b")
# A user's own words; the shape that was wanted, and the one that there was.
_SHAPES = re.compile(r"(?i)\bexpected\b.*?[(\[]([\d, ]+)[)\]].*?\bgot\b.*?[(\[]([\d, ]+)[)\]]")
_TOO_SMALL = re.compile(
    r"input size per channel: \((?P<had>[\dx ]+)\)\. Kernel size: \((?P<wanted>[\dx ]+)\)|Output size is too small"
)
_RANK = re.compile(
    r"too many indices|tuple index out of range|Dimension out of range"
    r"|list index out of range|number of dimensions in the tensor input does not match|Wrong shape: expected \d+ dims"
)


def dtype_in(error: str) -> str | None:
    """The dtype that an error asks for in place of another one."""
    return "int64" if _INTEGERS.search(error) else "float32" if _FLOATS.search(error) else None


def asks_for_values(error: str) -> bool:
    """Whether an error is about the values of a tensor: numbers between zero and one may do."""
    return _VALUES.search(error) is not None


def sizes_in(trouble: Trouble) -> tuple[int, int] | None:
    """(the size that was there, the size that was wanted), where an error names both."""
    error = trouble.text
    if found := _SUM.search(error):
        return int(found[1]), sum(map(int, found[2].split(",")))
    if found := _ADDED.search(error):
        place = len(found[3].split(",")) + int(found[2])
        wanted = found[4].split(",")
        return int(found[1]), int(wanted[place] if place < len(wanted) else found[1])
    if trouble.sizes:
        return trouble.sizes[0]
    found = next(filter(None, (pattern.search(error) for pattern in _SIZES)), None)
    return (int(found["had"]), int(found["wanted"])) if found else None


def repeated_in(trouble: Trouble) -> str:
    """The argument of a function of torch that got a number where it wants several; "" where it is about something
    else."""
    found = _REPEATED.search(trouble.text)
    return found[1] if found else ""


def many_in(trouble: Trouble, had: int) -> int:
    """How many an error asks for in place of so many in a list; 0 where it is about something else."""
    if found := _UNPACKED.search(trouble.text):
        return int(found[1]) if int(found[1]) != had else 0
    if found := _ZIPPED.search(trouble.text):
        return had + 1 if found[1] == "shorter" else max(had - 1, 0)
    return had + 1 if _BEHIND_LAST.search(trouble.text) else 0


def nearness(trouble: Trouble) -> tuple[int, int]:
    """How near to what was wanted a size was: how many of the last dimensions are right, and less the distance."""
    had, wanted = sizes_in(trouble) or (0, 0)
    place = _PLACE.search(trouble.text)
    return int(place[1]) if place else 0, -abs(had - wanted)


def mended(shape: tuple[int, ...], trouble: Trouble) -> Iterator[tuple[int, ...]]:
    """Shapes in place of one with which an error came, the likeliest first."""
    yield from (each for each in _mended(shape, trouble) if each != shape and math.prod(each) <= MOST)


def _mended(shape: tuple[int, ...], trouble: Trouble) -> Iterator[tuple[int, ...]]:
    found, error = sizes_in(trouble), trouble.text
    if pairs := trouble.sizes:
        yield from _with_either(shape, pairs)
        yield from _with_either(shape, [(b, a) for a, b in pairs])
        return
    if (said := _SHAPES.search(error)) and _numbers(said[2]) == shape:
        yield _numbers(said[1])
    if small := _TOO_SMALL.search(error):
        yield from _of_more_pixels(shape, _numbers(small["had"] or ""), _numbers(small["wanted"] or ""))
        return
    if one := _ONE_ROW.search(error):
        had = int(one[1] or one[2])
        yield from ((*shape[:n], 1, *shape[n + 1 :]) for n, size in enumerate(shape[:2]) if size == had)
    if found and shape:
        had, wanted = found
        places = (len(shape) - 1, min(1, len(shape) - 1), *([0] if len(shape) == 2 else []))
        for place in dict.fromkeys(places):
            for size, other in ((had, wanted), (wanted, had)):
                if shape[place] == size:
                    yield (*shape[:place], other, *shape[place + 1 :])
        times = had // shape[-1] if shape[-1] else 0  # of which several are put beside one another
        if times > 1 and had == times * shape[-1] and wanted % times == 0:
            yield (*shape[:-1], wanted // times)
        if len(shape) > 2:
            yield from _of_other_area(shape, had, wanted)
            yield from _of_other_area(shape, wanted, had)
            yield from _in_proportion(shape, had, wanted)
        row = math.prod(shape[1:])
        if row == had or (len(shape) > 2 and row > wanted):  # all of a row is taken together
            yield from (
                (shape[0], channels, edge, edge)
                for channels in (1, 3)
                if (edge := math.isqrt(wanted // channels)) ** 2 * channels == wanted
            )
            yield from ((shape[0], wanted), (shape[0], wanted, 1, 1))
        for place in (1, -1) if len(shape) > 3 else (-1,):  # what is put together with others
            added = list(shape)
            added[place] += wanted - had
            if added[place] > 0:
                yield tuple(added)
    elif len(shape) > 2 and (beside := _BESIDE.search(error)):  # with what else is made of this and others
        wanted, had = int(beside[1]), int(beside[2])
        for ratio, more in ((wanted / had, 0), (had / wanted, 0), (1, wanted - had), (1, had - wanted)):
            spread = [int(size * ratio) + more for size in shape[2:]]
            if min(spread) > 0:
                yield (*shape[:2], *spread)
    elif re.search(r"selected index k out of range|k not in range", error) and len(shape) > 1:  # topk
        yield (shape[0], MANY, *shape[2:])
    elif more := _more_dimensions(error):
        yield from _of_other_rank(shape, more)
    elif unpacked := _UNPACKED.search(error):
        yield (*shape[:-1], int(unpacked[1]))
        yield from _of_other_rank(shape, 1)
    elif (viewed := _VIEWED.search(error)) and shape:
        row = math.prod(map(int, viewed[1].split(",")))
        yield (*shape[:-1], row)
        if len(shape) > 2:
            yield (shape[0], row, *shape[2:])
    elif _RANK.search(error):
        yield from _of_other_rank(shape, 1)


def _of_other_area(shape: tuple[int, ...], had: int, wanted: int) -> Iterator[tuple[int, ...]]:
    """For pixels, perhaps with one token more, that are too many or too few: a mask of them, a grid of positions."""
    more = had - shape[-2] * shape[-1]
    if more in (0, 1) and wanted > more:
        edge = math.isqrt(wanted - more)
        square = edge * edge == wanted - more
        yield (*shape[:-2], *((edge, edge) if square else (1, wanted - more)))


def _in_proportion(shape: tuple[int, ...], had: int, wanted: int) -> Iterator[tuple[int, ...]]:
    """For what is made of a size by layers that divide it, as strides do, and taken together with its channels."""
    if math.gcd(had, wanted) < _CHANNELS or min(had, wanted) <= shape[-1]:
        return
    ratio = wanted / had
    size = round(shape[-1] * (ratio if len(shape) == 3 else math.sqrt(ratio)))
    for other in sorted(range(max(size - _NEAR, 1), size + _NEAR + 1), key=lambda each: abs(each - size)):
        yield (*shape[:-1], other) if len(shape) == 3 else (*shape[:2], *[other] * (len(shape) - 2))


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", text)))


def _of_more_pixels(
    shape: tuple[int, ...], had: tuple[int, ...], wanted: tuple[int, ...]
) -> Iterator[tuple[int, ...]]:
    """As many times larger as a kernel is than what comes to it, else two times, behind the channels."""
    many = len(had) or len(shape) - 2
    if 0 < many < len(shape):
        times = [-(-new // max(old, 1)) for old, new in zip(had, wanted)] or [2] * many  # noqa: B905
        yield (*shape[:-many], *(size * by for size, by in zip(shape[-many:], times)))  # noqa: B905
        yield (*shape[:-many], *(size * max(times) for size in shape[-many:]))


def _with_either(shape: tuple[int, ...], pairs: Sequence[tuple[int, int]]) -> Iterator[tuple[int, ...]]:
    """Shapes in which the first size of a pair is the second: for each pair in one place, or in all of them, or in the
    last one that has it."""
    changed = dict(enumerate(shape))
    left = [*range(len(shape))]
    for had, wanted in pairs:
        place = next((each for each in left if shape[each] == had), None)
        if place is not None:
            changed[place] = wanted
            left.remove(place)
    yield tuple(changed.values())
    for had, wanted in pairs:
        yield tuple(wanted if size == had else size for size in shape)
        for place in reversed(range(len(shape))):
            if shape[place] == had:
                yield (*shape[:place], wanted, *shape[place + 1 :])


def _more_dimensions(error: str) -> int:
    """How many dimensions more an error asks for, of one tensor or another; 0 where it is about something else."""
    found = next(filter(None, (pattern.search(error) for pattern in _RANKS)), None)
    if found is None:
        return 0
    said = found.groupdict()
    return int(said["wanted"]) - (len(said["shape"].split(",")) if "shape" in said else int(said["had"]))


def _of_other_rank(shape: tuple[int, ...], more: int) -> Iterator[tuple[int, ...]]:
    if more > 0:
        yield (*shape[:1], *(LENGTH,) * more, *shape[1:])
        yield (*shape, *(2,) * more)
        yield (*shape, *(EDGE,) * more)
    elif len(shape) + more > 0:
        yield (*shape[:1], *shape[1 - more :])
        yield shape[:more]
        yield shape[-more:]
