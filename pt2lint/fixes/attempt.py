"""One attempt of a proof: fixes laid over the files, run, and compared with the code as it was."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pt2lint.dynamic.child.log_listener import under
from pt2lint.dynamic.events import Break, Run
from pt2lint.dynamic.plan import Job
from pt2lint.finding import Finding
from pt2lint.fixes.bench import Bench, Seen
from pt2lint.fixes.edit import EditError

Place = tuple[str, int]


@dataclass(frozen=True)
class Failed:
    """Why fixes that were tried together are not proven; `at` are those whose fault it plainly is, by their place
    among them; `random` where it may be that compiled code merely draws other random numbers, `rounding` where a run in
    a wider dtype may tell that numbers differ no more than they have to."""

    why: str
    at: frozenset[int] = frozenset()
    random: bool = False
    rounding: bool = False


class Attempts:
    """Tries fixes together, and keeps what came of it: `gone` are the lines that the graph no longer breaks in after an
    attempt that held, and whether by repairs alone; `repaired` counts the groups of repairs that held."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.gone: dict[Place, bool] = {}
        self.repaired = 0

    def attempt(
        self,
        findings: Sequence[Finding],
        jobs: Sequence[tuple[Job, Path, Seen]],
        targets: set[str],
        calm: bool,
    ) -> tuple[Failed | None, str]:
        """Why the fixes (one each) are not proven (None: they are), and what was measured."""
        fixes = [finding.fixes[0] for finding in findings]
        doubtful = frozenset(at for at, fix in enumerate(fixes) if fix.may_give_nan)
        if doubtful:
            return Failed("its gradient may be NaN for values that no sample shows", doubtful), ""
        try:
            overlay = self.bench.laid_over(fixes)
        except (EditError, KeyError) as error:
            return Failed(f"it cannot be applied: {error}"), ""
        old_lines = {path: line_map(self.bench.sources[path], text) for path, text in overlay.items()}
        calls, left, numbers = 0, 0, [0, 0, 0, 0]
        judged: list[tuple[Seen, Seen]] = []
        pairs: list[tuple[Run, Run]] = []
        workaround = any(fix.is_workaround for fix in fixes)
        says_so = any(fix.raises_otherwise for fix in fixes)
        for job, file, before in jobs:
            watch = _Watch(self, findings, targets, before.runs, old_lines, workaround)
            after = self.bench.run(
                job, overlay, file, False, targets, says_so, not fixes[0].tells_otherwise, watch.enough, calm=calm,
                more_buffers=findings[0].code.startswith("PTR"), in_tensors=fixes[0].keeps_in_tensor,
            )  # fmt: skip
            if watch.failed is not None:
                return watch.failed, ""
            trouble = after.trouble or (after.ending if after.ending != before.ending else None)
            if trouble:
                return Failed(f"with it the code ends early: {trouble}"), ""
            for key, old in before.runs.items():
                if key[0] not in targets:
                    continue
                new = after.runs.get(key)
                if workaround and old.graphs and (new is None or not new.graphs):
                    # A function that it keeps out of the graph is no target any more.
                    return Failed(f"with it nothing of {key[0]} is compiled any more"), ""
                if new is None:
                    return Failed(f"with it {key[0]} no longer runs"), ""
                pairs.append((old, new))
                for at, count in enumerate((old.graphs, new.graphs, old.breaks, new.breaks)):
                    numbers[at] += len(count)
            calls, left = calls + len(after.compared), left + after.left
            judged.append((before, after))
            if not after.compared:
                return Failed("no call could be compared"), ""
        self.repaired += not workaround
        came_of = {
            path: line_map(self.bench.sources[path], text, changed=True) for path, text in overlay.items()
        }
        for place in mended(pairs, came_of, self.bench.roots):
            self.gone[place] = self.gone.get(place, False) or not workaround
        graphs = f"graphs {numbers[0]} to {numbers[1]}, breaks {numbers[2]} to {numbers[3]}"
        late = f", {left} more left out for want of time" if left else ""
        return None, f"{graphs}; the same on {calls} calls{late}{_grounds(judged)}"

    def still_breaks(
        self,
        findings: Sequence[Finding],
        old: Run,
        new: Run,
        old_lines: Mapping[str, dict[int, int]],
        workaround: bool,
    ) -> Failed | None:
        if new.error is not None and (old.error is None or old.error.type != new.error.type):
            return Failed(f"compiling then fails: {new.error}")
        known = set(places(old.breaks, self.bench.roots))
        stays = self._stay(findings, old)
        guilty: dict[int, str] = {}
        other: str | None = None
        for one in new.breaks:
            for path, line in places([one], self.bench.roots):
                before = old_lines[path].get(line) if path in old_lines else line
                if before is None and one.reason in stays:
                    continue
                if before is None:
                    other = other or f"the graph then breaks in the fix itself (line {line}): {one.reason}"
                    wrote = _written(findings, path, line, old_lines[path])
                    if len(wrote) == 1:
                        guilty.setdefault(wrote.pop(), other)
                    continue
                for at, finding in enumerate(findings):
                    here = os.path.realpath(finding.path) == path
                    if here and finding.line <= before <= finding.end_line:
                        guilty.setdefault(at, f"the graph still breaks there: {one.reason}")
                traced = before in old.traced.get(path, ())
                if (path, before) not in known and traced and not workaround:
                    other = other or f"the graph then breaks in line {before}: {one.reason}"
        if guilty:
            return Failed(next(iter(guilty.values())), frozenset(guilty))
        return Failed(other) if other else None

    def _stay(self, findings: Sequence[Finding], old: Run) -> set[str]:
        """The reasons of the breaks where findings stand that are none themselves: a fix may move such a line."""
        return {
            one.reason
            for one in old.breaks
            for path, line in places([one], self.bench.roots)
            for finding in findings
            if not finding.is_graph_break and os.path.realpath(finding.path) == path
            if finding.line <= line <= finding.end_line
        }


@dataclass
class _Watch:
    """Hears a child that runs the code with fixes, until something shows that they are not proven."""

    attempts: Attempts
    findings: Sequence[Finding]
    targets: set[str]
    before: Mapping[tuple[str, str], Run]
    old_lines: Mapping[str, dict[int, int]]
    workaround: bool
    failed: Failed | None = None

    def enough(self, seen: Seen, message: Mapping[str, Any]) -> bool:
        if self.failed is None:
            self.failed = self._failure(seen, message)
        return self.failed is not None

    def _failure(self, seen: Seen, message: Mapping[str, Any]) -> Failed | None:
        if message.get("event") == "compared" and message["difference"]:
            said = f"{message['label']}: {message['difference']}"
            return Failed(said, random=message["random"], rounding=message["rounding"])
        key = (message.get("target", ""), message.get("mode", ""))
        if message.get("event") != "run" or message["probe"] != "default" or key[0] not in self.targets:
            return None
        old = self.before.get(key)
        if old is None:
            return None
        return self.attempts.still_breaks(self.findings, old, seen.runs[key], self.old_lines, self.workaround)


def places(breaks: Iterable[Break], roots: Sequence[str]) -> list[Place]:
    """Where breaks are in the user's code: the innermost line there of each."""
    found = []
    for one in breaks:
        frames = [(frame[0], frame[1]) for frame in one.stack] + [(one.path, one.line)]
        inner = [frame for frame in frames if under(frame[0], list(roots))]
        found += inner[-1:]
    return found


def _written(findings: Sequence[Finding], path: str, line: int, old_lines: Mapping[int, int]) -> set[int]:
    """Whose fix wrote a line of the new text: those with an edit between the nearest lines that stayed."""
    first = next((old_lines[n] for n in range(line, 0, -1) if n in old_lines), 0)
    last = min((old for new, old in old_lines.items() if new > line), default=10**9)
    found = set()
    for at, finding in enumerate(findings):
        for edit in finding.fixes[0].edits:
            end = edit.end_line if edit.end_column > 1 else edit.end_line - 1
            within = edit.line < last and end > first if end >= edit.line else first < edit.line <= last
            if os.path.realpath(edit.path) == path and within:
                found.add(at)
    return found


def _grounds(runs: Sequence[tuple[Seen, Seen]]) -> str:
    """On what other ground than equality, up to rounding, calls were held to be the same."""
    said = ""
    if any(before.deterministic for before, _ in runs):
        said += "; with deterministic algorithms, as two runs of the code as it was differ without"
    noise = max((before.noise for before, _ in runs), default=0.0)
    if noise:
        apart = max((one["noise"] for _, after in runs for one in after.compared), default=0.0)
        said += f"; two runs of the code as it was differ by up to {noise:.2g}"
        said += f", with the fix by up to {apart:.2g}" if apart else ", which the comparison did not need"
    half = max((one["half"] for _, after in runs for one in after.compared), default=0.0)
    if half:
        said += f"; in half precision up to {half:.2g} apart, but no further from a run in a wider dtype than before"
    single = max((one["single"] for _, after in runs for one in after.compared), default=0.0)
    if single:
        said += f"; up to {single:.2g} apart, but no further from a run in float64 than before"
    if any(one["drawn_dtype"] for _, after in runs for one in after.compared):
        said += "; whole numbers of one dtype, where the code as it was gives one or another by what it draws"
    return said


def mended(
    runs: Iterable[tuple[Run, Run]], old_lines: Mapping[str, Mapping[int, int]], roots: Sequence[str]
) -> set[Place]:
    """Lines of the old text that broke in a run before the fix, and that the runs with it trace and break nowhere."""

    def old(path: str, line: int) -> Place:
        return (path, old_lines[path].get(line, 0) if path in old_lines else line)

    broken, left, traced = set[Place](), set[Place](), set[Place]()
    for before, after in runs:
        broken |= set(places(before.breaks, roots))
        left |= {old(path, line) for path, line in places(after.breaks, roots)}
        traced |= {old(path, line) for path, lines in after.traced.items() for line in lines}
    return (broken & traced) - left


def line_map(old: str, new: str, changed: bool = False) -> dict[int, int]:
    """{line in the new text: the same line in the old one}; with `changed` also the line that it was made of, where as
    many lines took the place of others."""
    matcher = difflib.SequenceMatcher(None, old.splitlines(), new.splitlines(), autojunk=False)
    return {
        at + offset + 1: first + offset + 1
        for tag, first, last, at, end in matcher.get_opcodes()
        if tag == "equal" or (changed and tag == "replace" and last - first == end - at)
        for offset in range(end - at)
    }
