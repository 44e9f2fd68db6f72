"""Room for the frames of calls.

Python 3.11 and later keep the frames of Python's functions in pieces of 16 KiB, each mapped once a call needs it and
unmapped once that call returns. Where a loop stands at the end of a piece, each of its calls maps one and touches its
pages first: for an interpreter that calls itself hundreds of times deep, a tenth of the CPU time.
"""

from __future__ import annotations

from functools import wraps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import ParamSpec, TypeVar

    Given = ParamSpec("Given")
    Result = TypeVar("Result")

# Words of a frame that takes a little more than half of a piece of 2 MiB: what is called from there has the rest of it,
# of which no more takes memory than is reached.
_WORDS = (1 << 17) + (1 << 10)


def with_room(function: Callable[Given, Result]) -> Callable[Given, Result]:
    """The function, with room for 1 MiB of frames of what it calls."""

    def called(*args: Given.args, **kwargs: Given.kwargs) -> Result:
        return function(*args, **kwargs)

    called.__code__ = called.__code__.replace(co_stacksize=_WORDS)
    return wraps(function)(called)
