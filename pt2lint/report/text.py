"""The report for people: place, code and message; the source underlined; verdict, flow and fix.

Colours are marked as `style(text, name)` and come from rich; without colour rich is not imported.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from pt2lint.finding import Finding, Fix, Step, Verdict
from pt2lint.report import Report
from pt2lint.report.place import shown, shown_line

Style = Callable[[str, str], str]

MAX_STEPS = 4
MOST = 5  # how many findings the summary names first
VERDICTS: dict[Verdict, str] = {
    "confirmed": "red",
    "refuted": "green",
    "unreached": "yellow",
    "failed": "magenta",
}
MEANING: dict[Verdict, str] = {
    "confirmed": "Dynamo breaks or recompiles here",
    "refuted": "Dynamo ran this and saw nothing; does not count",
    "unreached": "the sample inputs did not get here, or none were found",
    "failed": "could not be tried",
}


def render(report: Report) -> str:
    """A block a finding with an empty line between, then a line that sums up."""
    style = _styled if report.colour else _plain
    notes = (f"note: {shown(note)}" for note in report.notes)
    end = "\n".join([*notes, *dearest(report, style), summary(report, style)])
    return "\n\n".join([*blocks(report), end]) + "\n"


def blocks(report: Report) -> list[str]:
    """One block of lines a finding, those that a comment silenced last.

    Where verdicts were given, what is confirmed comes first, and of that what costs most.
    """
    style = _styled if report.colour else _plain
    explained: dict[tuple[str, str], str] = {}
    shown = [_block(report, finding, style, explained) for finding in costliest_first(report.told)]
    return shown + [
        _block(report, finding, style, explained, suppressed=True) for finding in report.suppressed
    ]


def costliest_first(findings: Sequence[Finding]) -> list[Finding]:
    """Confirmed findings by their cost, the highest first, then the others as they stand."""
    return sorted(
        findings, key=lambda each: (each.verdict != "confirmed", *(-amount for amount in each.cost))
    )


def dearest(report: Report, style: Style) -> Iterator[str]:
    """The findings whose mending would gain most, and why, where there are more than these to choose from."""
    priced = [f for f in report.told if f.price is not None and f.counts and f.price.told]
    if len(priced) <= MOST:
        return
    yield style(f"Where most would be gained, of {len(priced)} graph breaks:", "bold")
    together: dict[
        object, list[Finding]
    ] = {}  # what leaves one function to Python gains once all of it is mended
    for finding in sorted(priced, key=lambda f: f.price.rank if f.price else (), reverse=True):
        together.setdefault(_left_to_python(finding), []).append(finding)
    for first, *more in sorted(together.values(), key=_gain_by_place, reverse=True)[:MOST]:
        why = first.price.told if first.price else ""
        others = f"; more there that cost the same: {len(more)}" if more else ""
        yield f"  {place_of(report, first.path, first.line)}: {first.code} {why}{others}"


def _gain_by_place(together: Sequence[Finding]) -> tuple[int, ...]:
    """What mending all of these gains, for each place there is to mend."""
    price = together[0].price
    if price is None:
        return ()
    layers, whole, parted, *others = price.rank
    return layers, whole, parted // len(together), *others


def _left_to_python(finding: Finding) -> object:
    """The function that the finding leaves to Python, told apart from others of that name by the way there; else the
    finding itself."""
    name = finding.price.left if finding.price else ""
    if not name:
        return id(finding)
    return name, *((step.path, step.line) for step in finding.flow if f"`{name}`" in step.message)


def statistics(report: Report) -> str:
    """How many findings each code has, most first: count, code, name, verdicts."""
    counts = Counter((finding.code, finding.name) for finding in report.findings)
    width = len(str(max(counts.values(), default=0)))
    lines = []
    for (code, name), count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        verdicts = Counter(f.verdict for f in report.findings if f.code == code and f.verdict)
        told = ", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items()))
        lines.append(f"{count:>{width}}  {code}  {name}" + (f"  ({told})" if told else ""))
    return "".join(line + "\n" for line in lines)


def place_of(report: Report, path: str, line: int, column: int | None = None) -> str:
    """`path:line:column`, in a notebook `path:cell N:line:column`."""
    place = report.place(path, line)
    cell = "" if place.cell is None else f"cell {place.cell}:"
    return f"{shown(path)}:{cell}{place.line}" + ("" if column is None else f":{column}")


def _plain(text: str, name: str) -> str:
    return text


def _styled(text: str, name: str) -> str:
    from rich.style import Style

    return Style.parse(name).render(text)


def _block(
    report: Report,
    finding: Finding,
    style: Style,
    explained: dict[tuple[str, str], str],
    suppressed: bool = False,
) -> str:
    """`explained` are the fixes that were told before, by file and words, and where: one that mends many findings is
    explained at the first."""
    place = place_of(report, finding.path, finding.line, finding.column)
    head = f"{style(place, 'bold')}: {style(finding.code, 'bold red')} {shown(finding.message)}"
    if suppressed:
        head += style(" [suppressed]", "dim")
    return "\n".join([head, *_excerpt(report, finding, style), *_told(report, finding, style, explained)])


def _excerpt(report: Report, finding: Finding, style: Style) -> Iterator[str]:
    lines = report.lines(finding.path)
    if finding.path not in report.sources or finding.line > len(lines):
        return
    code = lines[finding.line - 1]
    one_line = finding.end_line == finding.line
    end = finding.end_column if one_line else len(code.rstrip()) + 1
    code = code.rstrip()
    start = min(finding.column, len(code) + 1) - 1
    # Tabs stay tabs in the line of marks, and wide characters take two marks, so that they stand beneath.
    lead = "".join(character if character == "\t" else " " * _width(character) for character in code[:start])
    marks = "^" * max(1, sum(_width(character) for character in code[start : end - 1]))
    number = str(report.place(finding.path, finding.line).line)
    bar = style("|", "blue")
    more = "" if one_line else style(" ...", "blue")
    yield f"{' ' * len(number)} {bar}"
    yield f"{style(number, 'blue')} {bar} {shown_line(code)}"
    yield f"{' ' * len(number)} {bar} {lead}{style(marks, 'red')}{more}"


def _width(character: str) -> int:
    if character.isascii():
        return 1
    from unicodedata import combining, east_asian_width

    return 0 if combining(character) else 2 if east_asian_width(character) in "WF" else 1


def _told(
    report: Report, finding: Finding, style: Style, explained: dict[tuple[str, str], str]
) -> Iterator[str]:
    indent = " " * len(str(report.place(finding.path, finding.line).line))
    equals = indent + " " + style("=", "blue") + " "
    if finding.verdict:
        verdict = style(finding.verdict, f"bold {VERDICTS[finding.verdict]}")
        yield f"{equals}{verdict}: {reason(finding)}"
        cost = ", ".join(costs(finding.evidence or {})) if finding.verdict == "confirmed" else ""
        if cost:
            yield f"{equals}cost: {cost}"
    if finding.confidence == "low":
        yield f"{equals}low confidence: shown because of --pedantic or a verdict"
    if finding.severity == "note" and finding.note:
        yield f"{equals}note: {shown(finding.note)}"
    if finding.when:
        yield f"{equals}{shown(finding.only_where)}"
    if others := also(report, finding):
        yield f"{equals}{others}"
    steps = _shortened(finding.flow)
    if steps:
        yield f"{equals}reached: " + " -> ".join(_step(report, step, finding.path) for step in steps)
    for fix in finding.fixes:
        words = shown(fix.description)
        what, _, caveats = words.partition(". ")
        here = _line(report, finding.path, finding.line)
        first = explained.setdefault((finding.path, words), here)
        if caveats and first != here:
            words = f"{what}: see {first}"
        yield f"{equals}{style('fix', 'bold cyan')} ({standing(fix)}): {words}"


def also(report: Report, finding: Finding) -> str:
    """Which lines break the graph too: "then also: lines 58, 63", and those pasted into other files; ""
    for none."""
    lines = [str(report.place(finding.path, line).line) for line in finding.also]
    told = [f"line{'' if len(lines) == 1 else 's'} {', '.join(lines)}"] if lines else []
    told += [place_of(report, each.path, each.line) for each in report.pasted.get(finding.place, ())]
    return f"then also: {', '.join(told)}" if told else ""


def reason(finding: Finding) -> str:
    """Why a finding has its verdict, in one line: Dynamo's registry id and words where it gave any."""
    evidence = finding.evidence or {}
    reason = " ".join(str(evidence.get("reason") or MEANING[finding.verdict or "failed"]).split())
    break_id = evidence.get("graph_break")
    return (f"{break_id} " if break_id else "") + shown(reason)


def costs(evidence: dict[str, Any]) -> Iterator[str]:
    """What a confirmed break or recompilation costs, in words."""
    if evidence.get("skipped_frame"):
        yield "the whole function runs uncompiled"
    elif evidence.get("skipped_rest"):
        yield "the rest of the function runs uncompiled"
    hits, graphs = evidence.get("hits") or 0, evidence.get("graphs")
    if evidence.get("guards"):
        yield f"compiled again {_times(hits)}"
        if evidence.get("limit"):
            yield "then run uncompiled: the limit was hit"
    elif evidence.get("ranks"):  # from the logs of a job, which do not tell what ran
        ranks = evidence["ranks"]
        yield f"logged {_times(hits)} by rank{'' if len(ranks) == 1 else 's'} {', '.join(map(str, ranks))}"
    elif hits:
        yield f"hit {_times(hits)} a call"
    if graphs and hits:
        yield f"{graphs} graph{'' if graphs == 1 else 's'} in all"
    before, after = evidence.get("operators_before"), evidence.get("operators_after")
    if before is not None or after is not None:
        plural = "" if before == 1 else "s"
        yield f"{before or 'no'} operator{plural} in the graph before it, {after or 'none'} after it"


def _times(number: int) -> str:
    return {1: "once", 2: "twice"}.get(number, f"{number} times")


def _shortened(flow: tuple[Step, ...]) -> list[Step | None]:
    """The flow in at most MAX_STEPS steps: the root and the last ones, None for what lies between."""
    if len(flow) <= MAX_STEPS:
        return list(flow)
    return [flow[0], None, *flow[len(flow) - MAX_STEPS + 2 :]]


def _step(report: Report, step: Step | None, path: str) -> str:
    if step is None:
        return "..."
    own = step.path == path  # in the finding's own file the line says it
    place = _line(report, path, step.line) if own else place_of(report, step.path, step.line)
    return f"{shown(step.message)} ({place})"


def _line(report: Report, path: str, line: int) -> str:
    """`line 12`, in a notebook `cell 3:12`."""
    place = place_of(report, path, line)[len(shown(path)) + 1 :]
    return place if place.startswith("cell") else f"line {place}"


def standing(fix: Fix) -> str:
    """What is known of a fix: safe or unsafe, or left to the reader, and what came of trying it."""
    kind = "by hand" if fix.by_hand else fix.applicability
    if fix.proven is None:
        return kind
    return f"{kind}, {'proven' if fix.proven else 'tried: it does not hold here'}"


def summary(report: Report, style: Style = lambda text, name: text) -> str:
    """The last line: how many findings, with which verdicts, and what can be fixed how."""
    told = report.told
    counting = [finding for finding in told if finding.counts]
    notes = sum(f.is_note and not f.is_under_another for f in report.findings) if not report.show_notes else 0
    files = f"{report.files} file{'' if report.files == 1 else 's'}"
    verdicts = Counter(finding.verdict for finding in told if finding.verdict)
    judged = ", ".join(f"{verdicts[verdict]} {verdict}" for verdict in VERDICTS if verdicts[verdict])
    judged += ", the costliest first" if verdicts["confirmed"] > 1 else ""
    if not told:
        text = style(f"Nothing found in {files}.", "green")
    else:
        count = len(counting)
        text = f"Found {count} finding{'' if count == 1 else 's'} in {files}" + (
            f" ({judged})" if judged else ""
        )
        text += "."
    # What each way to run it again writes: --verify --fix what was proven, and was no workaround; none of them anything
    # in code that no model calls.
    fixable = {"--verify --fix": 0, "--fix": 0, "--fix --unsafe-fixes": 0}
    for finding in counting:
        usable = [fix for fix in finding.fixes if fix.is_usable and not finding.is_of_uncalled]
        if any(fix.is_proven_repair for fix in usable):
            fixable["--verify --fix"] += 1
        elif any(fix.applicability == "safe" for fix in usable):
            fixable["--fix"] += 1
        elif any(not fix.waits_for_proof for fix in usable):
            fixable["--fix --unsafe-fixes"] += 1
    ways = [f"{count} {{}} with {options}" for options, count in fixable.items() if count]
    if ways:
        text += (
            " " + ", ".join([ways[0].format("can be fixed"), *(way.format("more") for way in ways[1:])]) + "."
        )
    if notes:
        counted, them = ("1 note", "it") if notes == 1 else (f"{notes} notes", "them")
        text += f" {counted}, true but seldom worth acting on: --notes shows {them}."
    if report.suppressed:
        text += f" {len(report.suppressed)} suppressed."
    if report.problems:
        count = len(report.problems)
        text += f" {count} problem{'' if count == 1 else 's'}: see above on stderr."
    return text
