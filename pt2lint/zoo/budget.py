"""Budgets: how many graphs and recompilations each model may have, by what the project's settings say."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from pt2lint.finding import Finding
from pt2lint.report.models import Model

# What a budget may limit, as settings and markers have it: the code of what goes beyond it, and its words.
LIMITS = {
    "graphs": ("PTB901", "graph"),
    "graph_breaks": ("PTB901", "graph break"),
    "recompilations": ("PTR901", "recompilation"),
}
WRITTEN = ("graphs", "recompilations")
NAMES = {"PTB901": "graphs-over-budget", "PTR901": "recompilations-over-budget"}


def measured(model: Model) -> dict[str, int]:
    """What a model has of each that a budget may limit."""
    return {
        "graphs": len(model.graphs),
        "graph_breaks": len(model.breaks),
        "recompilations": model.recompilations,
    }


def over(
    models: Sequence[Model], budget: Mapping[str, Mapping[str, int]], source: str, text: str
) -> list[Finding]:
    """A finding for each limit that a model is over; at the model where it is of the project, else at its line of
    `source`, the file with the budgets, whose text is `text`."""
    found = []
    for model in models:
        if model.trouble:
            continue
        has = measured(model)
        for limit, most in budget.get(model.name, {}).items():
            if has[limit] > most:
                found.append(_finding(model, limit, has[limit], most, source, text))
    return found


def _finding(model: Model, limit: str, has: int, most: int, source: str, text: str) -> Finding:
    code, words = LIMITS[limit]
    path, line = (
        source,
        next((number for number, one in enumerate(text.splitlines(), 1) if model.name in one), 1),
    )
    if model.defined is not None:
        here = os.path.relpath(model.defined[0])
        if not here.startswith("..") and os.path.exists(here):
            path, line = here, model.defined[1]
    told = f"`{model.name}` has {_counted(has, words)}, and its budget is {most}"
    causes = (*model.breaks, *model.recompiled)[:3]
    where = ", ".join(f"{place.path}:{place.line}" for place in causes)
    return Finding(
        code, NAMES[code], f"{told} ({where})" if where else told, path, line, 1, line, 2, severity="warning",
        verdict="confirmed", evidence={"graph_break": None, "reason": told, "measured": has, "budget": most},
    )  # fmt: skip


def _counted(count: int, words: str) -> str:
    return f"{count} {words}{'' if count == 1 else 's'}"


def unknown(models: Sequence[Model], budget: Mapping[str, object]) -> list[str]:
    """The names that have a budget, and that no model of this run has."""
    return sorted(budget.keys() - {model.name for model in models})


def written(text: str, models: Sequence[Model], bare: bool = False) -> str:
    """The text of a TOML file with the budgets of these models as they are measured; all else in it is as it was.

    `bare` says that the file's settings stand at its top (`--config pt2lint.toml`). Raises ValueError for what is no
    TOML.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    ends = "\r\n" if "\r\n" in text else "\n"
    try:
        document = tomlkit.parse(text.replace("\r\n", "\n"))
        table = document
        for name in ("budget",) if bare else ("tool", "pt2lint", "budget"):
            if name not in table:
                table[name] = tomlkit.table(is_super_table=name in ("tool", "pt2lint"))
            table = table[name]
        for model in models:
            if model.trouble:
                continue
            has = measured(model)
            if model.name not in table:
                table[model.name] = tomlkit.inline_table()
                table[model.name].update({limit: has[limit] for limit in WRITTEN})
                continue
            for limit in [*table[model.name]]:  # what is limited stays what it was
                table[model.name][limit] = has[limit.replace("-", "_")]
    except (TOMLKitError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"its budgets cannot be written: {error}") from None
    return tomlkit.dumps(document).replace("\n", ends)
