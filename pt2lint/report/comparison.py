"""A comparison of two runs as text to read, and as JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from pt2lint.report.models import Model, Place


def text(changes: Sequence[Any], causes: dict[str, tuple[int, int]], heads: Sequence[str]) -> str:
    """What changed, model by model, then by cause, then in all; `heads` say what the two runs are."""
    lines = [f"old: {heads[0]}", f"new: {heads[1]}", ""]
    for change in changes:
        lines += _change(change)
    if causes:
        lines.append("By cause:")
        width = max(map(len, causes))
        lines += [
            f"  {cause:<{width}}  {came} new, {went} vanished" for cause, (came, went) in causes.items()
        ]
        lines.append("")
    words = Counter(change.word for change in changes)
    told = (
        f"{len(changes)} models: {words['worse']} worse, {words['better']} better, {words['same']} the same"
    )
    titles = {"other": "with other breaks", "gone": "only in the old run", "new": "only in the new one"}
    told += "".join(f", {words[word]} {title}" for word, title in titles.items() if words[word])
    return "\n".join([*lines, told]) + "\n"


def _change(change: Any) -> Iterator[str]:
    old, new = change.old, change.new
    if old is None or new is None:
        return
    moved = [*_numbers(old, new)]
    if change.word == "same":
        return
    yield f"{change.name} ({change.word}): " + ("; ".join(moved) or "as many breaks, but others")
    yield from (f"  new: {_place(place)}" for place in change.came)
    yield from (f"  vanished: {_place(place)}" for place in change.went)
    for kind, model in (("fails now", new), ("failed before", old)):
        if model.trouble:
            yield f"  {kind}: {model.trouble}"
    yield ""


def _numbers(old: Model, new: Model) -> Iterator[str]:
    pairs = [
        ("graphs", len(old.graphs), len(new.graphs)),
        ("breaks", len(old.breaks), len(new.breaks)),
        ("recompilations", old.recompilations, new.recompilations),
        ("operators in the largest graph", old.largest, new.largest),
    ]
    if not old.trouble and not new.trouble:
        yield from (f"{name} {a} to {b}" for name, a, b in pairs if a != b)
    for key, name in (
        ("compile", "first call under Dynamo"),
        ("cold", "cold"),
        ("warm", "warm"),
        ("eager", "eager"),
    ):
        if key in old.seconds and key in new.seconds:
            a, b = old.seconds[key], new.seconds[key]
            if abs(b - a) > 0.1 * a:
                yield f"{name} {seconds(a)} to {seconds(b)}"


def seconds(value: float) -> str:
    return f"{value * 1e3:.3g} ms" if value < 1 else f"{value:.3g} s"


def _place(place: Place) -> str:
    id = f"{place.id} " if place.id else ""
    return f"{place.path}:{place.line}: {place.code} `{place.text}`: {id}{place.reason}"


def as_json(changes: Sequence[Any], causes: dict[str, tuple[int, int]], heads: Sequence[str]) -> str:
    """The same as data: `changes` for every model, `causes` with the numbers of what came and went."""
    told = {
        "old": heads[0],
        "new": heads[1],
        "changes": [asdict(change) for change in changes],
        "causes": {cause: {"new": came, "vanished": went} for cause, (came, went) in causes.items()},
    }
    return json.dumps(told, indent=1) + "\n"
