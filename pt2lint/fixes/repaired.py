"""What a repair gives: a fix, or why it does not fit here."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import wraps
from typing import ParamSpec, TypeAlias, TypeVar

from pt2lint.finding import Applicability, Edit, Fix, Trait

_P = ParamSpec("_P")
_Made = TypeVar("_Made")


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a repair does not fit here, in a reader's words."""

    reason: str

    def __bool__(self) -> bool:
        return False


class Refused(Exception):
    """Raised somewhere inside a repair that does not fit: the reason, in a reader's words."""


def refusing(repair: Callable[_P, _Made]) -> Callable[_P, _Made | Refusal]:
    """The repair, which gives a `Refusal` where it raises `Refused`."""

    @wraps(repair)
    def attempt(*args: _P.args, **kwargs: _P.kwargs) -> _Made | Refusal:
        try:
            return repair(*args, **kwargs)
        except Refused as no:
            return Refusal(str(no))

    return attempt


Repaired: TypeAlias = Fix | Refusal


def accepted(*attempts: Repaired) -> tuple[Fix, ...]:
    """The fixes among the attempts, in order: `report(..., fixes=accepted(to_where(...), to_cond(...)))`."""
    return tuple(attempt for attempt in attempts if isinstance(attempt, Fix))


# In place of the assignment of a name that nothing reads any more, whose value may have an effect.
DEAD_NAME = Edit("", 0, 0, 0, 0, "dead")
# In place of the import of a name that the file must not import: the fix that needs it is none (`fix`).
NO_IMPORT = Edit("", 0, 0, 0, 0, "")
# In place of the import of a name that the oldest torch on which the project says it runs does not have.
TOO_NEW = Edit("", 0, 0, 0, 0, "new")
# In place of what would leave a comment that speaks to a tool about its line without that line.
NO_LINE = Edit("", 0, 0, 0, 0, "line")
# In place of what would leave a comment that speaks of a call which is gone: `.item()` keeps it in float32, say.
SAID = Edit("", 0, 0, 0, 0, "said")
# How the description of a fix begins and ends that has one of these traits.
_BEGINS: dict[str, str] = {
    "setting": "Workaround, a setting for the whole process: ",
    "workaround": "Workaround: ",
}
ENDS: dict[str, str] = {
    "once proven": "Only `--verify --fix` writes it, where it is proven.",
    "whole numbers": "It is tried with other whole numbers, too.",
}


def fix(
    description: str, edits: Iterable[Edit], *traits: Trait, safe: bool = False, by_hand: bool = False
) -> Repaired:
    """The fix; a refusal where its edits hold the import of a name that the file must not import (`torch_name`)."""
    applicability: Applicability = "safe" if safe else "unsafe"
    found = tuple(edits)
    if NO_IMPORT in found:
        return Refusal("the file imports torch under a condition only")
    if TOO_NEW in found:
        return Refusal("the project says that it runs on a torch that does not have it")
    if NO_LINE in found:
        return Refusal("a comment speaks to a tool about a line that would go")
    if SAID in found:
        return Refusal("a comment speaks of what would go")
    if DEAD_NAME in found:
        return Refusal("what made a name that nothing would read any more may have an effect")
    begins = next((text for trait, text in _BEGINS.items() if trait in traits), "")
    # A description that is made of others' has what ends them.
    ends = [text for trait, text in ENDS.items() if trait in traits and text not in description]
    return Fix(begins + " ".join([description, *ends]), applicability, found, by_hand=by_hand, traits=traits)
