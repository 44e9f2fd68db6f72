"""tqdm and rich.progress: bars around a loop, which goes over what they are given."""

from __future__ import annotations

from pt2lint.libraries.call import Call
from pt2lint.libraries.model import Library
from pt2lint.static.values import INT, UNKNOWN, Instance, Seq, Value

BAR = "tqdm.tqdm"  # the name that all kinds of bars go by
KINDS = ("tqdm", "tqdm_notebook", "tqdm_gui")
HOMES = ("tqdm", "tqdm.auto", "tqdm.std", "tqdm.notebook", "tqdm.autonotebook")
COUNTING = ("trange", "tnrange", "tgrange")


def made(call: Call) -> Value:
    """A bar around what it is given: going over it goes over that."""
    last = call.name.rpartition(".")[2]
    if call.receiver is not None or last not in (*KINDS, *COUNTING):
        return UNKNOWN
    bar = Instance(None, BAR)
    first = call.args[0] if call.args else call.kwargs.get("iterable", UNKNOWN)
    bar.gives = INT if last in COUNTING else call.element(first)
    bar.attrs["iterable"] = first
    drawn_from(call, first)
    return bar


def drawn_from(call: Call, first: Value) -> None:
    """Going over the bar goes over a loader, or whatever else from outside of the project it is made around."""
    if isinstance(first, Instance) and first.external:
        call.note(f"iterate {first.external}")


def around(call: Call) -> Value:
    """What gives the items of its first argument, and draws a bar meanwhile."""
    first = call.args[0] if call.args else UNKNOWN
    drawn_from(call, first)
    if isinstance(first, Instance) and first.external:
        return first
    return Seq(None, call.element(first), "generator")


LIBRARIES = (
    Library(
        "tqdm",
        roles={
            "passes items": ("tqdm.tqdm",),
            "shows progress": tuple(f"{home}.{name}" for home in HOMES for name in ("tqdm", "trange")),
        },
        untraced=True,
        otherwise=made,
        measured="matrix/inside.py",
    ),
    Library(
        "rich", roles={"passes items": ("rich.progress.track",)}, handlers={"rich.progress.track": around}
    ),
)
