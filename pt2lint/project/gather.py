"""One finding a cause in one file: what an earlier break of the same function covers, and what says the same again."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from keyword import iskeyword

from pt2lint.finding import ASIDE, BY_ROW, ITERATES, LAST, NESTED, UNDER, Finding
from pt2lint.op import DREW
from pt2lint.project.statements import Arms, Where

BREAKS = "PTB1"  # how the codes of graph breaks begin
# A number that is another one at every call, and a buffer that is longer: compiled until the limit of recompilations.
EACH_CALL = ("PTR202", "PTR204")
# A number of a loop, which is one of the graph's constants unless a break leaves the loop.
UNROLLED_NO_MORE = "PTR207"
SILENT = "PTS"  # how the codes of what compiled code does in another way begin
TESTS = "PTB110"  # a branch that values in a tensor decide
ROWS = ("PTB120", "PTB121")  # the rows that a mask picks
VALUES = ("PTB103", "PTB104", "PTB105", "PTB106", TESTS)  # what needs values in a tensor
COMPILED = "PTB185"  # a call of an extension
SCRIPTED = "calls a module of torch.jit"  # as PTB185 says it
SAYS = ("PTB101", "PTB102")  # prints and logs
ENTERED = "PTB180"  # a context manager
MODELLED, OVER = "PTB187", "goes over an iterator that was made before"
ITERATOR = "PTS326"  # a compiled function is given an iterator
SPARSE = "PTB170"  # a sparse tensor
ANY = re.compile(r"`(?:torch\.any\(([\w.]+)\)|([\w.]+)\.any\(\))`")
PICKED = re.compile(r"^[^`]*`[^`]*\[~?([A-Za-z_]\w*)\]`")  # the mask by which rows are picked: `x[mask]`
INVERTED = re.compile(r"`~([\w.]+)` inverts ")
NOT = r"(?:logical|bitwise)_not"
OF_SPARSE = re.compile(r"`[\w.]+\._?(?:indices|values)\(\)\[")
WITHIN, REQUIRES = "PTB160", "PTB161"  # a gradient that is asked for, and of what: who mends one mends both
DELETED = "PTB196"  # and where that is a `del`, what a context keeps
LINES = re.compile(r" \(line \d+\)")
MADE_AT = re.compile(r" \((?:(.*):|line )(\d+)\)$")
NAMES = re.compile(r"[A-Za-z_][\w.]*\b(?!\()")  # but for those that are called
TEXTS_AND_NUMBERS = re.compile(r"'[^'\\]*'|\"[^\"\\]*\"|(?<![\w.])\d[\w.]*")
AGAIN = re.compile(r"(?<=if )(.+?)(?: (?:and|or) \1)+$")
PLACE = re.compile(r"([\w.]+) (?:==|!=|in|not in) ")  # an option, and what it is compared with
NEAR = 10  # lines
STAY = (ITERATES, ASIDE, NESTED, BY_ROW, LAST)  # the notes of what breaks at every call, and is left as it is


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
    drawn = [f for f in candidates if f.price is not None and f.price.cause.startswith(DREW)]
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
    leaders: list[tuple[Where, Finding]] = []
    under: dict[int, Finding] = {}
    for finding in sorted(candidates, key=lambda f: f.sort_key):
        where = place(finding.line)
        if where is None:
            return None
        leader = next((lead for at, lead in leaders if _covers(at, lead, where, finding, place)), None)
        if leader is not None:
            under[id(finding)] = leader
        leaders.append((where, finding))  # what another one tells may well lead others of its cause
    for at, finding in leaders:  # one of the same cause that comes later and happens more often
        if id(finding) in under:
            continue
        more = (lead for where, lead in leaders if _mends(where, lead, at, finding))
        leader = next(more, None)
        if leader is not None and id(leader) not in under:
            under[id(finding)] = leader
    for finding, leader in [*_steered(leaders, under)]:
        last = leader
        while id(last) in under:
            last = under[id(last)]
        if last is not finding:  # which tells the leader
            under[id(finding)] = leader
    for name, leader in under.items():
        while id(leader) in under:
            leader = under[id(leader)]
        under[name] = leader
    return under


def _steered(
    candidates: Sequence[tuple[Where, Finding]], under: Mapping[int, Finding]
) -> Iterator[tuple[Finding, Finding]]:
    """The breaks in a function that values steer, at three places or more and for which nothing is ready to be written,
    each with one of them that happens wherever it does: it needs another algorithm, or to stay outside of the graph as
    a whole. What others tell makes places, too, and leads what no other one does."""
    steered: dict[tuple[int, int, str], list[Finding]] = {}
    places: dict[tuple[int, int, str], set[int]] = {}
    for at, finding in candidates:
        told = finding.severity != "note" and not is_ready(finding)
        if at.function[2] and finding.code in (*VALUES, *ROWS) and told:
            places.setdefault(at.function, set()).add(at.statement)
            steered.setdefault(at.function, []).append(finding)
    for function, several in steered.items():
        if len(places[function]) < 3:
            continue
        free = sorted((f for f in several if id(f) not in under), key=lambda f: len(f.when))
        for i, other in enumerate(free):  # what happens oftenest comes first
            leads = [f for f in free[:i] if {*f.when} <= {*other.when}]
            leads += [f for f in several if id(f) in under and {*f.when} < {*other.when}]
            first = next((f for f in leads if _costs_no_more(f, other)), None)
            if first is not None:
                yield other, first


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
    others: list[tuple[Where, Finding]] = []
    for finding in findings:
        if finding.code.startswith(BREAKS) or finding.severity == "note" or finding.verdict is not None:
            continue
        here = place(finding.line)
        if finding.code == UNROLLED_NO_MORE:
            by = next((f for at, f in broken if at and here and at.function == here.function), None)
            if by is not None:
                under[id(finding)] = under.get(id(by), by)
                yield finding
        elif here is not None:
            by = next((f for at, f in broken if at and _leaves(at, f, here, finding)), None)
            if by is not None:
                under[id(finding)] = under.get(id(by), by)
                yield finding
                continue
            first = next((lead for at, lead in others if _says_again(at, lead, here, finding)), None)
            others.append((here, finding))
            if first is not None:
                under[id(finding)] = under.get(id(first), first)
                yield finding


def _leaves(at: Where, leader: Finding, where: Where, finding: Finding) -> bool:
    """Whether Python runs the function as a whole by the time that it gets to what only compiled code would do."""
    leaves = leader.price is not None and leader.price.gives_up == "function" and leader.line < finding.line
    in_code = finding.code.startswith(SILENT) and len(finding.flow) > 0
    return leaves and in_code and at.function == where.function and {*leader.when} <= {*finding.when}


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
    over = [f for f in findings if f.code == MODELLED and OVER in f.message and (f.path, f.line) in leads]
    over = [f for f in over if f.verdict is None and id(f) not in under]
    under.update({id(f): leads[f.path, f.line] for f in over})
    moved = [name for name, leader in under.items() if id(leader) in under]
    under.update({name: under[id(under[name])] for name in moved})
    return over


def _says_again(at: Where, leader: Finding, where: Where, finding: Finding) -> bool:
    """Whether one that is no graph break says the same of one function, or of a statement that is alike or pasted."""
    if at.function != where.function:
        return _is_written_again(at, leader, where, finding)
    same = (leader.code, leader.message) == (finding.code, finding.message)
    return same or (_is_alike(at, leader, where, finding) and {*leader.when} <= {*finding.when})


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
            same = [f.when for f in others if _is_same(finding, f)]
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


def _covers(
    at: Where, leader: Finding, where: Where, finding: Finding, place: Callable[[int], Where | None]
) -> bool:
    """Whether the leader happens wherever the finding does, and mending it comes first or mends both."""
    if at.function != where.function:
        return (
            _of_one_origin(leader, finding)
            or _goes_back(leader, finding)
            or _is_written_again(at, leader, where, finding)
            or _is_called_again(leader, finding)
            or _are_scripted(leader, finding)
        )
    if _is_same(leader, finding):
        return True
    alike = _of_one_cause(leader, finding) or _is_alike(at, leader, where, finding)
    if alike and _beside(at.arms, where.arms):
        return True  # the other arms of one choice: who mends one mends them all
    if _picks_tested(at, leader, where, finding, place) or _is_decided(at, leader, where, finding):
        return True
    if not set(leader.when) <= set(finding.when):
        return False
    if at.statement == where.statement:
        return True  # whoever mends the one reads the other
    if alike or _are_checks(at, leader, where, finding) or _is_made_by(at, leader, where, finding):
        return True
    if _picks_again(leader, finding, place) or _are_scripted(leader, finding):
        return True
    if leader.code == SPARSE and finding.code in ROWS and OF_SPARSE.search(finding.message):
        return True  # `x._values()[kept]`: who makes it dense picks no rows of it
    if (leader.code, finding.code) == (WITHIN, DELETED) and where.text.startswith("del "):
        return True  # of a `backward` that is left to Python as a whole
    a = leader.price
    return a is not None and a.gives_up in ("function", "rest") and where.arms[: len(at.arms)] == at.arms


def _picks_tested(
    at: Where, leader: Finding, where: Where, finding: Finding, place: Callable[[int], Where | None]
) -> bool:
    """Whether a branch that asks whether a mask holds anywhere picks the rows where it does: `if mask.any(): x[mask] =
    0`, or where what is made of that mask does, `rows = mask[index]`. Arithmetic needs neither."""
    tested = ANY.search(leader.message) if leader.code == TESTS and finding.code in ROWS else None
    if tested is None or (at.statement, 0) not in where.arms:
        return False
    mask = tested[1] or tested[2]
    picked = finding.message.partition("`")[2].partition("`")[0]
    if re.search(rf"(?<![\w.]){re.escape(mask)}(?![\w.])", picked) is not None:
        return True
    made = _made_in(finding, place)
    return made is not None and made.text.startswith(f"{mask} = ")


def _picks_again(leader: Finding, finding: Finding, place: Callable[[int], Where | None]) -> bool:
    """Whether it picks rows by a view of the mask: `x[mask]`, then `y.masked_select(mask.view(-1, 1))`; or by its
    opposite, `other = mask.logical_not()`, then `y[other]`."""
    picked = PICKED.search(leader.message) if leader.code in ROWS and finding.code in ROWS else None
    if picked is None or not _costs_no_more(leader, finding):
        return False
    viewed = rf"(?<![\w.]){re.escape(picked[1])}\.(?:view|reshape|unsqueeze|expand|expand_as)\("
    if re.search(viewed, finding.message) is not None:
        return True
    made = _made_in(finding, place)
    mask = re.escape(picked[1])
    opposite = rf"\w+ = (?:~{mask}\b|{mask}\.{NOT}\(\)|torch\.{NOT}\({mask}\))"
    return made is not None and re.match(opposite, made.text) is not None


def _made_in(finding: Finding, place: Callable[[int], Where | None]) -> Where | None:
    """Where the value is made that a finding is about, if its own file says so."""
    origin = origin_of(finding)
    return place(int(origin[2])) if origin is not None and origin[1] == finding.path else None


def _is_decided(at: Where, leader: Finding, where: Where, finding: Finding) -> bool:
    """Whether a branch by values, or by a number that its test reads, reads more numbers, or prints: `if x.min() < 0:
    print(x.min())`. What becomes of that is decided by who mends the branch."""
    reads = finding.price is not None and finding.price.waits and finding.code not in ROWS
    return leader.code in VALUES and (reads or finding.code in SAYS) and (at.statement, 0) in where.arms


def _is_alike(at: Where, leader: Finding, where: Where, finding: Finding) -> bool:
    """Whether it stands a few lines away, and is the same but for names: `a = x.item()`, then `b = y.item()`. The
    next statement may keep another number: `a = x.mean().item()`, then `b = x.std().item()`."""
    if leader.code != finding.code or abs(where.statement - at.statement) > NEAR:
        return False
    if shape(at.text) == shape(where.text) != "":
        return _costs_no_more(leader, finding)
    next_one = (at.text, where.text) == (where.beside[0], at.beside[1])
    kept = next_one and _keeps_number(at.text) and _keeps_number(where.text)
    return kept and _costs_no_more(leader, finding)


def _keeps_number(text: str) -> bool:
    """Whether a statement puts a number out of a tensor under a name, and does no more: `a = x.std().item()`."""
    try:
        statement = ast.parse(text).body[0] if text else None
    except SyntaxError:
        return False  # the head of a block, of which `_text` has what stands before the colon
    value = statement.value if isinstance(statement, ast.Assign) else None
    if not isinstance(value, ast.Call):
        return False
    if isinstance(value.func, ast.Attribute):
        return value.func.attr == "item"
    return isinstance(value.func, ast.Name) and value.func.id in ("int", "float", "bool")


def _is_made_by(at: Where, leader: Finding, where: Where, finding: Finding) -> bool:
    """Whether it asks for values of what the leader's statement makes: `rows = x.unique()`, then `rows.tolist()`. What
    a library gives that Dynamo does not trace, the next statement takes numbers of: who moves the one moves both."""
    if leader.code == COMPILED and finding.code in VALUES and at.text == where.beside[0]:
        target, assigns, _ = at.text.partition(" = ")
        return bool(assigns) and re.search(rf"(?<![\w.]){re.escape(target)}(?!\w)", where.text) is not None
    origin = origin_of(finding)
    lines = {str(leader.line), str(at.statement)}
    made = origin is not None and origin[1] == leader.path and origin[2] in lines
    return made and leader.code in ROWS and finding.code in VALUES


def _is_written_again(at: Where, leader: Finding, where: Where, finding: Finding) -> bool:
    """Whether another function of the file holds the same statement, and before or after it one that is alike; or the
    same statement about the same value."""
    if leader.code != finding.code or at.text != where.text or not at.text:
        return False
    pasted = [shape(a) == shape(b) != "" for a, b in zip(at.beside, where.beside, strict=True)]
    held = set(leader.when) <= set(finding.when) or (all(pasted) and _of_one_choice(leader, finding))
    one_value = origin_of(leader) == origin_of(finding) is not None  # given to both: `n = n or x.shape[0]`
    return (any(pasted) or one_value) and held and _costs_no_more(leader, finding)


def _of_one_choice(leader: Finding, finding: Finding) -> bool:
    """Whether each happens with another text or number of one option: `config.kind == 0`, `config.kind in [2, 3]`."""
    asked = [[PLACE.match(text) for text in each.when] for each in (leader, finding)]
    one, other = (matches[0] if len(matches) == 1 else None for matches in asked)
    return one is not None and other is not None and one[1] == other[1]


def _is_called_again(leader: Finding, finding: Finding) -> bool:
    """Whether another function of the file calls what ends the graph whatever it is given: `Variable(x)`. Parts of an
    object may be any."""
    a, b = leader.price, finding.price
    if leader.code != finding.code or a is None or b is None or a.cause or b.cause:
        return False
    (one, said), (other, other_said) = _called(leader), _called(finding)
    again = said == other_said and _is_one_callee(one, other) and not _is_part(one)
    return again and set(leader.when) <= set(finding.when) and _costs_no_more(leader, finding)


def _are_scripted(leader: Finding, finding: Finding) -> bool:
    """Whether both call modules that TorchScript runs, for which no edit is ready: who leaves the classes of a file to
    the compiler leaves them all."""
    both = all(SCRIPTED in each.message and not is_ready(each) for each in (leader, finding))
    return both and set(leader.when) <= set(finding.when) and _costs_no_more(leader, finding)


def shape(text: str) -> str:
    """A statement without names, but for those of what it calls, without texts and numbers, and with what it asks of
    several things once."""
    plain = TEXTS_AND_NUMBERS.sub("_", text)
    return AGAIN.sub(r"\1", NAMES.sub(lambda name: name[0] if iskeyword(name[0]) else "_", plain))


def _costs_no_more(leader: Finding, finding: Finding) -> bool:
    """Whether the finding leaves no more to Python than the leader does."""
    a, b = leader.price, finding.price
    return b is None or (a is not None and b.gives_up in ("", a.gives_up))


def _is_same(leader: Finding, finding: Finding) -> bool:
    """Whether they say the same of one place, which may be one part or another: an LSTM or a GRU."""
    return (leader.line, leader.column, leader.message) == (finding.line, finding.column, finding.message)


def _beside(a: Arms, b: Arms) -> bool:
    """Whether two places stand in different branches of one `if`, `elif`s included, which are its last ones each."""
    for one, other in zip(a, b, strict=False):
        if one != other:
            return one[0] == other[0]
    return False


def _mends(where: Where, later: Finding, at: Where, finding: Finding) -> bool:
    """Whether who mends what comes later, and happens more often or costs more, mends the finding."""
    oftener = set(later.when) < set(finding.when)
    if where.function != at.function:
        return oftener and _is_called_again(later, finding)
    if (finding.code, later.code) == (REQUIRES, WITHIN):
        return set(later.when) <= set(finding.when)
    if oftener and _is_alike(where, later, at, finding):
        return True
    if _calls_alike(later, finding) and set(later.when) == set(finding.when):
        oftener = not _costs_no_more(finding, later)
    return oftener and (_of_one_cause(later, finding) or _are_checks(where, later, at, finding))


def _are_checks(at: Where, leader: Finding, where: Where, finding: Finding) -> bool:
    """Whether both stand in a check: who takes one of several out takes them all."""
    a, b = leader.price, finding.price
    if not (at.asserts and where.asserts) or a is None or b is None:
        return False
    return b.gives_up in ("", a.gives_up)


def _of_one_cause(leader: Finding, finding: Finding) -> bool:
    a, b = leader.price, finding.price
    rows = leader.code in ROWS and finding.code in ROWS  # `mask.nonzero()`, then `x[mask]`
    if a is None or b is None or not (rows or leader.code == finding.code):
        return False
    if leader.code == SPARSE:  # who makes one dense makes them all
        return b.gives_up in ("", a.gives_up)
    if a.cause == b.cause == "":  # but for one that costs more, as the one in a loop does
        return _calls_alike(leader, finding) and b.gives_up in ("", a.gives_up)
    if rows and _inverted(a.cause) == _inverted(b.cause) != "":
        return True  # `x[~mask]`, then `x[mask]`, of which nothing else says what it is
    # The same test again, as `if total != 0:` twice, is of one cause but for the lines that it names.
    return a.cause == b.cause or (
        leader.code == TESTS
        and LINES.search(a.cause) is not None
        and LINES.search(b.cause) is not None
        and _words(leader) == _words(finding)
    )


def _inverted(cause: str) -> str:
    """The name of which a cause says no more than that it is inverted, as masks are."""
    found = INVERTED.match(cause)
    return found[1] if found is not None else ""


def _of_one_origin(leader: Finding, finding: Finding) -> bool:
    """Whether they are of one compiled function, and of one value that it makes: a mask that two functions are given,
    or a number that one reads and another one decides by. Where that is an argument each may be given another one."""
    read = leader.code in VALUES and finding.code in VALUES and _costs_no_more(leader, finding)
    if not (read or leader.code == finding.code) or not (leader.flow and finding.flow):
        return False
    origin = origin_of(leader)
    made = origin is not None and " returns " in origin[0]
    return (
        made
        and origin == origin_of(finding)
        and leader.flow[0] == finding.flow[0]
        and set(leader.when) <= set(finding.when)
    )


def _goes_back(leader: Finding, finding: Finding) -> bool:
    """Whether the finding stands in the backward of what the leader stands in, and both call compiled code, or do the
    like for which no edit is ready: who makes a custom operator of the one registers the other with it."""
    if leader.code != finding.code or not (leader.flow and finding.flow) or is_ready(finding):
        return False
    called = leader.flow[-1].message
    back = called.replace(".forward`", ".backward`")
    return back != called and back == finding.flow[-1].message


def origin_of(finding: Finding) -> tuple[str, str, str] | None:
    """What is said of the value that a finding is about, and the file and the line where it is made."""
    cause = finding.price.cause if finding.price is not None else ""
    match = MADE_AT.search(cause)
    return (cause[: match.start()], match[1] or finding.path, match[2]) if match is not None else None


def _calls_alike(leader: Finding, finding: Finding) -> bool:
    """Whether both call the same, or two functions of one module within others, which come in pairs:
    `torch.cuda.nvtx.range_push` and `range_pop`."""
    (one, said), (other, other_said) = _called(leader), _called(finding)
    module = one.rpartition(".")[0]
    paired = module.count(".") >= 2 and not _is_part(one) and module == other.rpartition(".")[0]
    return said == other_said and one != "" and (_is_one_callee(one, other) or paired)


def _is_one_callee(one: str, other: str) -> bool:
    """Whether the names are of one function, of which one may leave out modules: `Variable`, `autograd.Variable`."""
    short, long = sorted((one, other), key=len)
    return one == other or (short != "" and long.endswith(f".{short}") and not _is_part(long))


def _is_part(called: str) -> bool:
    return called.split(".")[0] in ("", "self", "super")


def _called(finding: Finding) -> tuple[str, str]:
    """What the message says is called, whatever it is given, and what it says of that."""
    before, _, quoted = _words(finding).partition("`")
    code, _, said = quoted.partition("`")
    callee, called, _ = code.partition("(")
    return (callee, said) if called and (not before or finding.code == ENTERED) else ("", "")


def _words(finding: Finding) -> str:
    """What the message says of the code, without lines and what it costs there."""
    return LINES.sub("", finding.message.partition("; ")[0])


def is_ready(finding: Finding) -> bool:
    """Whether an edit is ready that mends it."""
    return any(fix.edits and not fix.is_workaround for fix in finding.fixes)
