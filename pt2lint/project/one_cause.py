"""Whether who mends one graph break mends another one of the same file, or has to come to it first.

Each fold is a function of two findings and where they stand: the one that would tell the other, and that one. Tables
at the end say which are asked when.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import NamedTuple

from pt2lint.finding import Finding
from pt2lint.project import read_back
from pt2lint.project.read_back import origin_of, shape
from pt2lint.project.statements import Arms, Where

BREAKS = "PTB1"  # how the codes of graph breaks begin
TESTS = "PTB110"  # a branch that values in a tensor decide
ROWS = ("PTB120", "PTB121")  # the rows that a mask picks
VALUES = ("PTB103", "PTB104", "PTB105", "PTB106", TESTS)  # what needs values in a tensor
COMPILED = "PTB185"  # a call of an extension
SAYS = ("PTB101", "PTB102")  # prints and logs
SPARSE = "PTB170"  # a sparse tensor
WITHIN, REQUIRES = "PTB160", "PTB161"  # a gradient that is asked for, and of what: who mends one mends both
DELETED = "PTB196"  # and where that is a `del`, what a context keeps
NEAR = 10  # lines
LONG = 40  # characters of a statement that nobody writes twice by chance


class Placed(NamedTuple):
    """A finding, where it stands, and where the value that it is about is made, if its own file says so."""

    finding: Finding
    at: Where
    made: Where | None = None


Fold = Callable[[Placed, Placed], bool]


def placed(finding: Finding, place: Callable[[int], Where | None]) -> Placed | None:
    """The finding with its places; None where it cannot be told where it stands."""
    at = place(finding.line)
    if at is None:
        return None
    origin = origin_of(finding) if finding.code in ROWS else None  # nobody asks it of others
    made = place(int(origin[2])) if origin is not None and origin[1] == finding.path else None
    return Placed(finding, at, made)


def covers(leader: Placed, other: Placed) -> bool:
    """Whether the leader happens wherever the other one does, and mending it comes first or mends both."""
    if has_same_edit(leader.finding, other.finding):
        return happens_wherever(leader, other)
    if leader.at.function != other.at.function:
        return any(fold(leader, other) for fold in IN_ANOTHER_FUNCTION)
    if any(fold(leader, other) for fold in WHEREVER):
        return True
    return happens_wherever(leader, other) and any(fold(leader, other) for fold in WHERE_BOTH_HAPPEN)


def mends(later: Placed, earlier: Placed) -> bool:
    """Whether who mends what comes later, and happens more often or costs more, mends what comes earlier."""
    last, first = later.finding, earlier.finding
    oftener = {*last.when} < {*first.when}
    if later.at.function != earlier.at.function:
        return oftener and is_called_again(later, earlier)
    if (first.code, last.code) == (REQUIRES, WITHIN):
        return happens_wherever(later, earlier)
    if oftener and is_alike(later, earlier):
        return True
    if calls_alike(later, earlier) and {*last.when} == {*first.when}:
        oftener = not costs_no_more(earlier, later)
    return oftener and (is_of_one_cause(later, earlier) or are_checks(later, earlier))


def happens_wherever(leader: Placed, other: Placed) -> bool:
    """Whether it has no condition that the other one has not."""
    return {*leader.finding.when} <= {*other.finding.when}


def costs_no_more(leader: Placed, other: Placed) -> bool:
    """Whether the other one leaves no more to Python than the leader does."""
    a, b = leader.finding.price, other.finding.price
    return b is None or (a is not None and b.gives_up in ("", a.gives_up))


def is_ready(finding: Finding) -> bool:
    """Whether an edit is ready that mends it."""
    return any(fix.edits and not fix.is_workaround for fix in finding.fixes)


def has_same_edit(one: Finding, other: Finding) -> bool:
    """Whether the edit that is ready for the one mends the other as well: of a number that both depend on."""
    first, second = (
        next((fix.edits for fix in each.fixes if fix.edits and not fix.is_workaround), ())
        for each in (one, other)
    )
    return bool(first) and first == second


def says_again(leader: Placed, other: Placed) -> bool:
    """Whether one that is no graph break says the same of one function, or of a statement that is alike or pasted."""
    if leader.at.function != other.at.function:
        return is_written_again(leader, other)
    one, two = leader.finding, other.finding
    same = (one.code, one.message) == (two.code, two.message)
    return same or (is_alike(leader, other) and happens_wherever(leader, other))


def is_same(leader: Placed, other: Placed) -> bool:
    """Whether they say the same of one place, which may be one part or another: an LSTM or a GRU."""
    return says_same(leader.finding, other.finding)


def says_same(one: Finding, other: Finding) -> bool:
    return (one.line, one.column, one.message) == (other.line, other.column, other.message)


def is_in_another_arm(leader: Placed, other: Placed) -> bool:
    """Whether it is of one cause, or alike, in another arm of one choice: who mends one mends them all."""
    if not _beside(leader.at.arms, other.at.arms):
        return False
    return is_of_one_cause(leader, other) or is_alike(leader, other)


def picks_tested(leader: Placed, other: Placed) -> bool:
    """Whether a branch that asks whether a mask holds anywhere picks the rows where it does: `if mask.any(): x[mask] =
    0`, or where what is made of that mask does, `rows = mask[index]`. Arithmetic needs neither."""
    mask = read_back.tested_mask(leader.finding) if leader.finding.code == TESTS else ""
    if not mask or other.finding.code not in ROWS or (leader.at.statement, 0) not in other.at.arms:
        return False
    made_of_it = other.made is not None and other.made.text.startswith(f"{mask} = ")
    return made_of_it or read_back.names(mask, read_back.quoted(other.finding))


def is_decided(leader: Placed, other: Placed) -> bool:
    """Whether a branch by values, or by a number that its test reads, reads more numbers, or prints: `if x.min() < 0:
    print(x.min())`. What becomes of that is decided by who mends the branch."""
    price = other.finding.price
    reads = price is not None and price.waits and other.finding.code not in ROWS
    told = reads or other.finding.code in SAYS
    return leader.finding.code in VALUES and told and (leader.at.statement, 0) in other.at.arms


def is_in_one_statement(leader: Placed, other: Placed) -> bool:
    """Whether whoever mends the one reads the other."""
    return leader.at.statement == other.at.statement


def is_of_one_cause(leader: Placed, other: Placed) -> bool:
    """Whether both are about one value, or, about none, call the same."""
    one, two = leader.finding, other.finding
    rows = one.code in ROWS and two.code in ROWS  # `mask.nonzero()`, then `x[mask]`
    if one.price is None or two.price is None or not (rows or one.code == two.code):
        return False
    if one.code == SPARSE:  # who makes one dense makes them all
        return costs_no_more(leader, other)
    if one.price.cause == two.price.cause == "":  # but for one that costs more, as the one in a loop does
        return calls_alike(leader, other) and costs_no_more(leader, other)
    if rows and read_back.inverted(one) == read_back.inverted(two) != "":
        return True  # `x[~mask]`, then `x[mask]`, of which nothing else says what it is
    # The same test again, as `if total != 0:` twice, is of one cause but for the lines that it names.
    again = one.code == TESTS and read_back.names_lines(one) and read_back.names_lines(two)
    return one.price.cause == two.price.cause or (again and read_back.words(one) == read_back.words(two))


def is_of_one_origin(leader: Placed, other: Placed) -> bool:
    """Whether they are of one compiled function, and of one value that it makes: a mask that two functions are given,
    or a number that one reads and another one decides by. Where that is an argument each may be given another one; so
    it may be with what a loop ends by, since nobody mends that."""
    one, two = leader.finding, other.finding
    if one.severity == "note" != two.severity:
        return False
    read = one.code in VALUES and two.code in VALUES and costs_no_more(leader, other)
    if not (read or one.code == two.code) or not (one.flow and two.flow):
        return False
    origin = origin_of(one)
    made = origin is not None and " returns " in origin[0]
    root = one.flow[0] == two.flow[0]
    return made and origin == origin_of(two) and root and happens_wherever(leader, other)


def is_alike(leader: Placed, other: Placed) -> bool:
    """Whether it stands a few lines away, and is the same but for names: `a = x.item()`, then `b = y.item()`. The
    next statement may keep another number: `a = x.mean().item()`, then `b = x.std().item()`."""
    a, b = leader.at, other.at
    if leader.finding.code != other.finding.code or abs(b.statement - a.statement) > NEAR:
        return False
    if shape(a.text) == shape(b.text) != "":
        return costs_no_more(leader, other)
    next_one = (a.text, b.text) == (b.beside[0], a.beside[1])
    kept = next_one and _keeps_number(a.text) and _keeps_number(b.text)
    return kept and costs_no_more(leader, other)


def is_written_again(leader: Placed, other: Placed) -> bool:
    """Whether another function of the file holds the same statement, and before or after it one that is alike; or the
    same statement about the same value; or a method of that name a long one."""
    a, b = leader.at, other.at
    if leader.finding.code != other.finding.code or a.text != b.text or not a.text:
        return False
    pasted = [shape(one) == shape(two) != "" for one, two in zip(a.beside, b.beside, strict=True)]
    held = happens_wherever(leader, other) or (all(pasted) and _is_of_one_choice(leader, other))
    one_value = origin_of(leader.finding) == origin_of(other.finding) is not None  # `n = n or x.shape[0]`
    sibling = len(a.text) >= LONG and a.function[2] == b.function[2]
    return (any(pasted) or one_value or sibling) and held and costs_no_more(leader, other)


def is_called_again(leader: Placed, other: Placed) -> bool:
    """Whether another function of the file calls what ends the graph whatever it is given: `Variable(x)`. Parts of an
    object may be any."""
    one, two = leader.finding, other.finding
    if one.code != two.code or one.price is None or two.price is None or one.price.cause or two.price.cause:
        return False
    (callee, said), (other_callee, other_said) = read_back.called(one), read_back.called(two)
    again = said == other_said and _is_one_callee(callee, other_callee) and not _is_part(callee)
    return again and happens_wherever(leader, other) and costs_no_more(leader, other)


def calls_alike(leader: Placed, other: Placed) -> bool:
    """Whether both call the same, or two functions of one module within others, which come in pairs:
    `torch.cuda.nvtx.range_push` and `range_pop`."""
    (one, said), (two, other_said) = read_back.called(leader.finding), read_back.called(other.finding)
    module = one.rpartition(".")[0]
    paired = module.count(".") >= 2 and not _is_part(one) and module == two.rpartition(".")[0]
    return said == other_said and one != "" and (_is_one_callee(one, two) or paired)


def are_scripted(leader: Placed, other: Placed) -> bool:
    """Whether both call modules that TorchScript runs, for which no edit is ready: who leaves the classes of a file to
    the compiler leaves them all."""
    both = all(read_back.is_scripted(f) and not is_ready(f) for f in (leader.finding, other.finding))
    return both and happens_wherever(leader, other) and costs_no_more(leader, other)


def are_checks(leader: Placed, other: Placed) -> bool:
    """Whether both stand in a check: who takes one of several out takes them all."""
    a, b = leader.finding.price, other.finding.price
    if not (leader.at.asserts and other.at.asserts) or a is None or b is None:
        return False
    return costs_no_more(leader, other)


def is_made_by(leader: Placed, other: Placed) -> bool:
    """Whether it asks for values of what the leader's statement makes: `rows = x.unique()`, then `rows.tolist()`. What
    a library gives that Dynamo does not trace, the next statement takes numbers of: who moves the one moves both."""
    one, two = leader.finding, other.finding
    if one.code == COMPILED and two.code in VALUES and leader.at.text == other.at.beside[0]:
        target, assigns, _ = leader.at.text.partition(" = ")
        return bool(assigns) and read_back.names(target, other.at.text)
    origin = origin_of(two)
    lines = {str(one.line), str(leader.at.statement)}
    made = origin is not None and origin[1] == one.path and origin[2] in lines
    return made and one.code in ROWS and two.code in VALUES


def picks_again(leader: Placed, other: Placed) -> bool:
    """Whether it picks rows by a view of the mask: `x[mask]`, then `y.masked_select(mask.view(-1, 1))`; or by its
    opposite, `other = mask.logical_not()`, then `y[other]`."""
    both = leader.finding.code in ROWS and other.finding.code in ROWS
    mask = read_back.picking_mask(leader.finding) if both else ""
    if not mask or not costs_no_more(leader, other):
        return False
    opposite = other.made is not None and read_back.inverts(mask, other.made.text)
    return opposite or read_back.views(mask, other.finding.message)


def is_of_sparse(leader: Placed, other: Placed) -> bool:
    """Whether it picks rows of a sparse tensor, `x._values()[kept]`: who makes it dense picks no rows of it."""
    rows = other.finding.code in ROWS and read_back.is_part_of_sparse(other.finding)
    return leader.finding.code == SPARSE and rows


def is_deleted_in_backward(leader: Placed, other: Placed) -> bool:
    """Whether it is a `del` in a `backward` that is left to Python as a whole."""
    codes = (leader.finding.code, other.finding.code)
    return codes == (WITHIN, DELETED) and other.at.text.startswith("del ")


def goes_back(leader: Placed, other: Placed) -> bool:
    """Whether it stands in the backward of what the leader stands in, and both call compiled code, or do the like for
    which no edit is ready: who makes a custom operator of the one registers the other with it."""
    one, two = leader.finding, other.finding
    if one.code != two.code or not (one.flow and two.flow) or is_ready(two):
        return False
    forward = one.flow[-1].message
    back = forward.replace(".forward`", ".backward`")
    return back != forward and back == two.flow[-1].message


def is_left_by_then(leader: Placed, other: Placed) -> bool:
    """Whether Python runs the function by the time that it gets there."""
    price, arms = leader.finding.price, leader.at.arms
    leaves = price is not None and price.gives_up in ("function", "rest")
    return leaves and other.at.arms[: len(arms)] == arms


def _beside(a: Arms, b: Arms) -> bool:
    """Whether two places stand in different branches of one `if`, `elif`s included, which are its last ones each."""
    for one, other in zip(a, b, strict=False):
        if one != other:
            return one[0] == other[0]
    return False


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


def _is_of_one_choice(leader: Placed, other: Placed) -> bool:
    """Whether each happens with another text or number of one option: `config.kind == 0`, `config.kind in [2, 3]`."""
    one, two = read_back.options(leader.finding), read_back.options(other.finding)
    return len(one) == len(two) == 1 and one[0] is not None and one == two


def _is_one_callee(one: str, other: str) -> bool:
    """Whether the names are of one function, of which one may leave out modules: `Variable`, `autograd.Variable`."""
    short, long = sorted((one, other), key=len)
    return one == other or (short != "" and long.endswith(f".{short}") and not _is_part(long))


def _is_part(called: str) -> bool:
    return called.split(".")[0] in ("", "self", "super")


IN_ANOTHER_FUNCTION: tuple[Fold, ...] = (
    is_of_one_origin,
    goes_back,
    is_written_again,
    is_called_again,
    are_scripted,
)
# In one function: whatever conditions they have, and where the leader has none that the other one has not.
WHEREVER: tuple[Fold, ...] = (is_same, is_in_another_arm, picks_tested, is_decided)
WHERE_BOTH_HAPPEN: tuple[Fold, ...] = (
    is_in_one_statement,
    is_of_one_cause,
    is_alike,
    are_checks,
    is_made_by,
    picks_again,
    are_scripted,
    is_of_sparse,
    is_deleted_in_backward,
    is_left_by_then,
)
