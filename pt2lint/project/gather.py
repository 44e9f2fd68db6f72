"""One finding a cause in one file: what an earlier break of the same function covers, and what says the same again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from pt2lint.finding import ASIDE, BY_ROW, ITERATES, LAST, NESTED, RECORDED, UNDER, Finding
from pt2lint.op import DREW
from pt2lint.project import read_back
from pt2lint.project.one_cause import (
    BREAKS,
    ROWS,
    VALUES,
    Placed,
    costs_no_more,
    covers,
    is_ready,
    mends,
    placed,
    says_again,
    says_same,
)
from pt2lint.project.statements import Where

# A number that is another one at every call, and a buffer that is longer: compiled until the limit of recompilations.
EACH_CALL = ("PTR202", "PTR204")
# A number of a loop, which is one of the graph's constants unless a break leaves the loop.
UNROLLED_NO_MORE = "PTR207"
SILENT = "PTS"  # how the codes of what compiled code does in another way begin
MODELLED = "PTB187"  # what a library's model says
ITERATOR = "PTS326"  # a compiled function is given an iterator
MANY = 3  # places in a function that values steer
STAY = (
    ITERATES,
    ASIDE,
    NESTED,
    BY_ROW,
    RECORDED,
    LAST,
)  # the notes of what breaks at every call, and is left as it is


def gathered(findings: Sequence[Finding], place: Callable[[int], Where | None]) -> list[Finding]:
    """The findings of one file, in which a graph break that another one covers is a note, told under that one: one of
    the same cause in the same function, or one that comes after the function was left to Python. An algorithm's loop is
    a note itself, and leaves it to Python all the same. What its numbers cost from then on is told with it.

    What a run has judged stands for itself. `place` says where a line stands, if that can be told.
    """
    findings = _one_a_place(findings)
    candidates = [
        f
        for f in findings
        if f.code.startswith(BREAKS) and f.verdict is None and (f.severity != "note" or f.note in STAY)
    ]
    codes = [EACH_CALL[0] if f.code in EACH_CALL else f.code for f in findings if f.severity != "note"]
    if len(findings) < 2 or not (candidates or len(set(codes)) < len(codes)):
        return findings
    under = _covered(candidates, place)
    if under is None:
        return findings
    covered = [*candidates, *_repeated(findings, candidates, under, place)]
    covered += _compiled_anew(findings, under)
    covered += _given_from_outside(findings, under)
    drawn = [f for f in candidates if read_back.cause(f).startswith(DREW)]
    none = {id(f) for f in drawn if any(_is_plain_by_then(f, first) for first in drawn)}
    kept = [f for f in findings if id(f) not in none]
    return _told(kept, (f for f in covered if id(f) not in none), under)


def _one_a_place(findings: Sequence[Finding]) -> list[Finding]:
    """The findings, of which two that say the same of one place are one where either is true: of one part under an
    option that few take, which is a note, and of another one otherwise."""
    places: dict[tuple[str, int, int, str], list[Finding]] = {}
    for finding in findings:
        kept = places.setdefault((finding.code, finding.line, finding.column, finding.message), [])
        twin = next((f for f in kept if _is_either(f, finding)), None)
        if twin is None:
            kept.append(finding)
        else:
            told = finding if twin.severity == "note" else twin
            when = tuple(text for text in told.when if text in twin.when and text in finding.when)
            kept[kept.index(twin)] = replace(told, when=when)
    return [finding for kept in places.values() for finding in kept]


def _is_either(one: Finding, other: Finding) -> bool:
    """Whether what the one takes and the other does not is just the opposite of what the other takes."""
    both = [text for text in one.when if text in other.when]
    alone = [text for text in one.when if text not in both]
    return one.verdict == other.verdict and len(alone) == 1 and _is_otherwise(alone[0], other, both)


def _covered(
    candidates: Sequence[Finding], place: Callable[[int], Where | None]
) -> dict[int, Finding] | None:
    """The id of each graph break that another one covers, and that one, which none covers; None where it cannot be
    told where one of them stands."""
    found = [placed(finding, place) for finding in sorted(candidates, key=lambda f: f.sort_key)]
    breaks = [one for one in found if one is not None]
    if len(breaks) < len(found):
        return None
    under: dict[int, Finding] = {}
    for number, one in enumerate(breaks):  # what another one tells may well lead others of its cause
        leader = next((lead for lead in breaks[:number] if covers(lead, one)), None)
        if leader is not None:
            under[id(one.finding)] = leader.finding
    for one in breaks:  # one of the same cause that comes later and happens more often
        if id(one.finding) in under:
            continue
        later = next((lead for lead in breaks if mends(lead, one)), None)
        if later is not None and id(later.finding) not in under:
            under[id(one.finding)] = later.finding
    for finding, leads in [*_steered(breaks, under)]:
        if _last(leads, under) is not finding:  # which tells the leader
            under[id(finding)] = leads
    return {name: _last(leader, under) for name, leader in under.items()}


def _last(leader: Finding, under: Mapping[int, Finding]) -> Finding:
    """The one that tells a finding in the end, where others tell what tells it."""
    while id(leader) in under:
        leader = under[id(leader)]
    return leader


def _steered(candidates: Sequence[Placed], under: Mapping[int, Finding]) -> Iterator[tuple[Finding, Finding]]:
    """The breaks in a function that values steer, at three places or more and for which nothing is ready to be written,
    each with one of them that happens wherever it does: it needs another algorithm, or to stay outside of the graph as
    a whole. What others tell makes places, too, and leads what no other one does."""
    steered: dict[tuple[int, int, str], list[Placed]] = {}
    for one in candidates:
        told = one.finding.severity != "note" and not is_ready(one.finding)
        if one.at.function[2] and one.finding.code in (*VALUES, *ROWS) and told:
            steered.setdefault(one.at.function, []).append(one)
    for several in steered.values():
        if len({one.at.statement for one in several}) < MANY:
            continue
        free = [one for one in several if id(one.finding) not in under]
        free.sort(key=lambda one: len(one.finding.when))
        led = [one for one in several if id(one.finding) in under]
        for i, other in enumerate(free):  # what happens oftenest comes first
            leads = [one for one in free[:i] if {*one.finding.when} <= {*other.finding.when}]
            leads += [one for one in led if {*one.finding.when} < {*other.finding.when}]
            first = next((one for one in leads if costs_no_more(one, other)), None)
            if first is not None:
                yield other.finding, first.finding


def _is_plain_by_then(finding: Finding, first: Finding) -> bool:
    """Whether it is a later use of a random number, which the first break has made a plain one of Python."""
    a, b = finding.price, first.price
    same = a is not None and b is not None and a.cause == b.cause
    return same and first.line < finding.line and set(first.when) <= set(finding.when)


def _repeated(
    findings: Sequence[Finding],
    candidates: Sequence[Finding],
    under: dict[int, Finding],
    place: Callable[[int], Where | None],
) -> Iterator[Finding]:
    """What is no graph break and is told with another finding, which `under` is given: the number of a loop that a
    break leaves to Python, what only compiled code does after such a break, and what a function says twice."""
    broken = [
        (place(line), f)
        for f in candidates
        if f.price is not None and f.price.gives_up in ("function", "caller")
        for line in _left_by(f)
    ]
    others: list[Placed] = []
    for finding in findings:
        if finding.code.startswith(BREAKS) or finding.severity == "note" or finding.verdict is not None:
            continue
        here = placed(finding, place)
        if here is None:
            continue
        if finding.code == UNROLLED_NO_MORE:
            by = next((f for at, f in broken if at and at.function == here.at.function), None)
        else:
            by = next((f for at, f in broken if at and _leaves(at, f, here)), None)
            if by is None:
                first = next((lead for lead in others if says_again(lead, here)), None)
                others.append(here)
                by = None if first is None else first.finding
        if by is not None:
            under[id(finding)] = under.get(id(by), by)
            yield finding


def _leaves(at: Where, leader: Finding, other: Placed) -> bool:
    """Whether Python runs the function as a whole by the time that it gets to what only compiled code would do."""
    finding = other.finding
    leaves = leader.price is not None and leader.price.gives_up == "function" and leader.line < finding.line
    in_code = finding.code.startswith(SILENT) and len(finding.flow) > 0
    return leaves and in_code and at.function == other.at.function and {*leader.when} <= {*finding.when}


def _compiled_anew(findings: Sequence[Finding], under: dict[int, Finding]) -> list[Finding]:
    """What one compiled function is compiled anew for at every call where another finding says that it is already:
    nothing is gained until all of them are mended, as the counters of a cache and the cache that grows. `under` is
    given what tells them."""
    leads: dict[tuple[str, int, str], Finding] = {}
    telling = (f for f in findings if f.code in EACH_CALL and f.severity != "note" and f.verdict is None)
    for finding in sorted(telling, key=lambda f: (len(f.when), f.sort_key)):
        if finding.flow and id(finding) not in under:
            root = finding.flow[0]
            lead = leads.setdefault((root.path, root.line, root.message), finding)
            if lead is not finding and {*lead.when} <= {*finding.when}:
                under[id(finding)] = lead
    moved = [f for f in findings if id(under.get(id(f))) in under]
    under.update({id(f): under[id(under[id(f)])] for f in moved})
    return [f for f in findings if f.code in EACH_CALL and id(f) in under]


def _given_from_outside(findings: Sequence[Finding], under: dict[int, Finding]) -> list[Finding]:
    """The loops over an iterator that compiled code is given, where it is told at the call: who makes a list of it
    there mends both. `under` is given the first of these calls."""
    leads: dict[tuple[str, int], Finding] = {}
    for finding in findings:
        if (
            finding.code == ITERATOR
            and finding.flow
            and finding.severity != "note"
            and finding.verdict is None
        ):
            loop = finding.flow[-1]
            leads.setdefault((loop.path, loop.line), finding)
    over = [
        f
        for f in findings
        if f.code == MODELLED and read_back.goes_over_iterator(f) and (f.path, f.line) in leads
    ]
    over = [f for f in over if f.verdict is None and id(f) not in under]
    under.update({id(f): leads[f.path, f.line] for f in over})
    moved = [name for name, leader in under.items() if id(leader) in under]
    under.update({name: under[id(under[name])] for name in moved})
    return over


def _told(
    findings: Sequence[Finding], covered: Iterable[Finding], under: Mapping[int, Finding]
) -> list[Finding]:
    """The findings, those that others cover as notes, and these with the lines, the severity and the conditions of
    what they cover."""
    told: dict[int, list[Finding]] = {}
    for finding in covered:
        if id(finding) in under:
            told.setdefault(id(under[id(finding)]), []).append(finding)
    result = []
    for finding in findings:
        if id(finding) in under:
            finding = replace(finding, severity="note", note=f"{UNDER}{under[id(finding)].line}")
        elif id(finding) in told:
            others = told[id(finding)]
            worse = finding.severity == "warning" and any(f.severity == "error" for f in others)
            worst = "error" if worse else finding.severity
            lines = sorted({f.line for f in others} - {finding.line})
            same = [f.when for f in others if says_same(finding, f)]
            same += [f.when for f in others if {*f.when} < {*finding.when}]  # as the other arm of a test
            when = tuple(text for text in finding.when if all(text in other for other in same))
            when = tuple(text for text in when if not any(_is_otherwise(text, f, when) for f in others))
            finding = replace(finding, severity=worst, also=tuple(lines), when=when)
        result.append(finding)
    return result


def _is_otherwise(text: str, other: Finding, when: Sequence[str]) -> bool:
    """Whether another one takes just the opposite: `self.is_gru`, and `not self.is_gru`. One of them happens."""
    for yes, no in (("not ", ""), (" is not None", " is None"), (" != ", " == ")):
        for a, b in ((yes, no), (no, yes)):
            is_there = text.startswith(a) if yes == "not " else a in text
            if is_there and {text.replace(a, b, 1) if a else b + text} == {*other.when} - {*when}:
                return True
    return False


def _left_by(finding: Finding) -> Iterator[int]:
    """A line of each function of the file that the finding leaves to Python, or from which it is called in a loop."""
    if finding.price is not None and finding.price.gives_up == "function":
        yield finding.line
    else:
        yield from (step.line for step in finding.flow[1:] if step.path == finding.path)
