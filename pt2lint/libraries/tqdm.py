"""tqdm and rich.progress: bars around a loop, which goes over what they are given."""

from __future__ import annotations

from pt2lint.libraries.call import Call
from pt2lint.libraries.model import Library
from pt2lint.static.values import UNKNOWN, Instance, Seq, Value


def bar(call: Call) -> Value:
    """A bar around what it is given: going over it goes over that."""
    first = call.args[0] if call.args else call.kwargs.get("iterable", UNKNOWN)
    if isinstance(first, Instance) and first.external:
        call.note(f"iterate {first.external}")
        return first
    return Seq(None, call.element(first), "generator") if call.receiver is None else UNKNOWN


LIBRARIES = (
    Library(
        "tqdm",
        roles={"passes items": ("tqdm.tqdm",)},
        handlers=dict.fromkeys(
            ("tqdm.tqdm", "tqdm.auto.tqdm", "tqdm.notebook.tqdm", "tqdm.autonotebook.tqdm"), bar
        ),
        measured="matrix/recompilations/shapes.py",
    ),
    Library("rich", roles={"passes items": ("rich.progress.track",)}, handlers={"rich.progress.track": bar}),
)
