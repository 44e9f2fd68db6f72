"""Further runs that the conditions of findings ask for: another dtype, autocast, a mode that was left out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pt2lint.conditions import Held, outcome
from pt2lint.dynamic.events import Events, Run
from pt2lint.dynamic.files import Files
from pt2lint.dynamic.verdict import judge
from pt2lint.finding import Finding

# As most models run, then what else a condition may name, the cheaper before the rarer.
_CASTS: tuple[tuple[str, tuple[Held, ...]], ...] = (
    ("", (("dtype", "float32"), ("autocast", False))),
    ("float16", (("dtype", "float16"), ("autocast", False))),
    ("bfloat16", (("dtype", "bfloat16"), ("autocast", False))),
    ("float64", (("dtype", "float64"), ("autocast", False))),
    ("autocast", (("autocast", True),)),
)


@dataclass(frozen=True)
class Ask:
    """A way to run: `cast` is the dtype that modules and inputs are given, "autocast", or "" for as they are; `modes`
    are those of modules."""

    cast: str
    modes: tuple[str, ...]

    @property
    def words(self) -> str:
        if not self.cast:
            return f"in {self.modes[0]} mode"
        return "under autocast" if self.cast == "autocast" else f"in {self.cast}"


def ask(finding: Finding, modes: Sequence[str]) -> Ask | None:
    """The run that the finding's conditions ask for, where those in `modes`, in the dtypes that the inputs have, do not
    meet them; None where nothing is to be asked for."""
    if not finding.when or not finding.is_graph_break:
        return None

    def may_hold(held: Sequence[Held]) -> bool:
        return all(outcome(text, held) is not False for text in finding.when)

    cast = next((cast for cast, held in _CASTS if may_hold(held)), None)
    able = [mode for mode in ("train", "eval") if may_hold([("training", mode == "train")])]
    if cast is None or not able:
        return None
    wanted = tuple(mode for mode in modes if mode in able)
    if not cast and wanted:
        return None
    return Ask(cast, wanted or (able[0],))


def targets_near(finding: Finding, path: str, runs: Iterable[Run], files: Files) -> set[str]:
    """The names of the targets whose eager runs came to a file on the way to the finding."""
    real = {shown: path for path, shown in files.shown.items()}
    near = {path, *(real.get(step.path, step.path) for step in finding.flow)}
    return {run.target for run in runs if run.probe == "eager" and near & run.ran.keys()}


def answer(
    findings: Sequence[Finding],
    runs: Sequence[Run],
    files: Files,
    modes: Sequence[str],
    run: Callable[[Ask, set[str]], Sequence[Run]],
) -> list[Finding]:
    """The judged findings, of which those that their conditions kept from being confirmed are judged by further runs.

    `run` makes these: of the targets of some names, as asked. A way to run is taken once, for all findings that ask.
    """
    asked: dict[Ask, list[int]] = {}
    for number, finding in enumerate(findings):
        if finding.verdict not in (None, "confirmed"):
            wanted = ask(finding, modes)
            if wanted is not None:
                asked.setdefault(wanted, []).append(number)
    settled = list(findings)
    real = {shown: path for path, shown in files.shown.items()}
    for way, numbers in asked.items():
        paths = {number: real.get(findings[number].path, findings[number].path) for number in numbers}
        names = {number: targets_near(findings[number], paths[number], runs, files) for number in numbers}
        every = set[str]().union(*names.values())
        seen = run(way, every) if every else ()
        for number in numbers:
            near = [one for one in seen if one.target in names[number]]
            settled[number] = _settled(findings[number], way, near, files)
    return settled


def _settled(finding: Finding, way: Ask, seen: Sequence[Run], files: Files) -> Finding:
    """The finding with what the runs that it asked for say of it."""
    plain = replace(finding, verdict=None, evidence=None)
    again = next(
        one
        for one in judge([plain], Events(tuple(seen)), files)
        if replace(one, verdict=None, evidence=None) == plain
    )
    evidence: dict[str, Any] = dict(again.evidence or {})
    if again.verdict == "confirmed":
        reason = str(evidence["reason"]).rstrip(".")
        return replace(again, evidence={**evidence, "reason": f"{reason} ({way.words})", "in": way.words})
    if finding.verdict == "failed":
        return finding
    error = next((one.error for one in seen if one.error), None)
    if again.verdict == "refuted" and error is None:
        return replace(again, evidence={**evidence, "in": way.words})
    if error is not None:
        reason = f"it happens {finding.only_where}, and the code does not run {way.words}: {error}"
    elif seen:
        reason = f"{str(evidence['reason']).rstrip('.')} ({way.words})"
    else:
        reason = f"it happens {finding.only_where}, and no run came near"
    return replace(finding, verdict="unreached", evidence={"reason": reason, "in": way.words})
