"""Layers left out at random (LayerDrop, stochastic depth): computed, and selected by `torch.where`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import libcst as cst

from pt2lint.finding import Edit, Fix
from pt2lint.fixes.arms import leaves
from pt2lint.fixes.imports import torch_name
from pt2lint.fixes.kinds import Kind, guess
from pt2lint.fixes.names import binds, bound_before, fresh, live_after, reads, uses
from pt2lint.fixes.nodes import (
    ancestors,
    assigned,
    block_of,
    enclosing_function,
    only_of,
    small_of,
    statement_of,
)
from pt2lint.fixes.purity import effect
from pt2lint.fixes.repaired import Refusal, Repaired, accepted, fix
from pt2lint.fixes.repairs.draws import asks_number, below_rate, by_torch, not_above_rate, on_host
from pt2lint.fixes.repairs.rate import drawn_comparison
from pt2lint.fixes.repairs.seeded import Drawn, drawn_by_operator
from pt2lint.fixes.rewrite import New, rewrite
from pt2lint.fixes.text import in_parentheses, source, statements
from pt2lint.rule import FunctionCode
from pt2lint.rule.tree import callee, is_name, says_none, walk


def fixes(function: FunctionCode, node: cst.CSTNode, kind: Kind | None = None) -> tuple[Fix, ...]:
    """The repairs, where the node is (part of) the test that leaves a layer out, without and with the buffers of the
    layer, or the rest of the function."""
    return accepted(
        compute_and_select(function, node, kind),
        compute_and_select(function, node, kind, buffers=True),
        compute_and_return(function, node),
    )


@dataclass
class _Skip:
    """A layer that is left out where `drawn`, the comparison of a random number with a rate, holds.

    It is asked only where the parts of `static`, plain Python, hold. `body` is what is left out. `kept` gives way to
    a copy of what the body changes, `dropped` to nothing, and `around`, the `if` around the body, to the body. What is
    collected after the body under the names of `instead` is these expressions where it is left out, and `seeded` makes
    the number that is compared a tensor. `drawing` is what has torch draw it as a tensor without dimensions, `by_host`
    whether the host drew it.
    """

    drawn: cst.Comparison
    static: list[str]
    body: Sequence[cst.CSTNode]
    kept: cst.CSTNode
    dropped: Sequence[cst.CSTNode] = ()
    around: cst.If | None = None
    instead: Mapping[str, str] = field(default_factory=dict)
    seeded: Drawn | None = None
    drawing: tuple[dict[cst.CSTNode, New], tuple[Edit, ...]] | None = None
    by_host: bool = False


def compute_and_select(
    function: FunctionCode, node: cst.CSTNode, kind: Kind | None = None, buffers: bool = False
) -> Repaired:
    """A layer behind `if torch.rand([]) < rate: continue` as `h = torch.where(drawn, h as it was, layer(h))`.

    A number that Python or NumPy draws is drawn by torch then, in the graph. Read are a `continue`, also under plain
    `if`s; a flag that is the comparison, or that an `if` sets; and the comparison as the test itself. With `buffers`
    what the layer counted is put back too, as a batch norm's means. Refused where the layer changes anything but
    tensors that were there before, or leaves the loop.
    """
    kind = kind or guess(function)
    statement = _asking(function, node)
    if not isinstance(statement, cst.If) or block_of(function, statement) is None:
        return Refusal("no `if` of its own")
    skip = (
        _by_continue(function, statement)
        or _by_run(function, statement)
        or _by_flag(function, statement)
        or _by_set_flag(function, statement)
        or _by_test(function, statement)
        or _by_depth(function, statement, kind)
    )
    if skip is None:
        return Refusal("nothing is left out at random here")
    reason = next((found for one in skip.body if (found := _unfit(one))), None)
    if reason:
        return Refusal(reason)
    changed = [
        name
        for name in binds(*skip.body)
        if live_after(function, name, skip.body)
        and bound_before(function, name, skip.kept)
        and not _collected(name, skip.body)
        and name not in skip.instead
    ]
    if not changed or not set(changed) & reads(*skip.body):
        return Refusal("the layer makes no tensor of itself")
    # In `i > 0 and drawn` the first turn is never left out: what the layer makes is there by then.
    asked = reads(skip.drawn, *(cst.parse_expression(one) for one in skip.static))
    loop = next((one for one in ancestors(function, statement) if isinstance(one, cst.For)), None)
    settled = loop is not None and bool(asked & {use.name for use in uses(loop.target)})
    for use in uses(*skip.body):
        if use.name in changed and not use.binds:
            word = kind(cst.ensure_type(use.node, cst.Name))
            if word == "mixed" and _added_to(function, use.node, skip.body):
                continue
            if not word.startswith("tensor") and ((len(changed) > 1 and not settled) or word != "unknown"):
                return Refusal(f"`{use.name}` is not known to be a tensor")
    if any(name not in reads(*skip.body) for name in changed):
        return Refusal("the layer makes a tensor of nothing that was there")
    if asked & set(binds(*skip.body)):
        return Refusal("the layer changes what the test asks for")
    compared, new, imports = by_torch(function, skip.drawn)
    if compared is not skip.drawn or new:
        host = on_host(function, skip.drawn.left) is not None
        skip = replace(skip, drawn=compared, drawing=(new, imports), by_host=host)
    if not buffers:
        return _rewritten(function, skip, changed)
    layers = _layers(function, skip, loop)
    return (
        _rewritten(function, skip, changed, layers) if layers else Refusal("no layer of the loop is called")
    )


def compute_and_return(function: FunctionCode, node: cst.CSTNode) -> Repaired:
    """`if drawn: return x`, then `return layer(x)`, as `made = layer(x)`, `return torch.where(drawn, x, made)`.

    Refused where what follows returns in its middle, has an effect or gives a container.
    """
    statement = _asking(function, node)
    place = block_of(function, statement) if isinstance(statement, cst.If) else None
    if not isinstance(statement, cst.If) or place is None or statement.orelse is not None:
        return Refusal("no `if` without another side")
    early, found = only_of(statement.body), _parts(function, statement.test)
    if found is None and not_above_rate(function, statement.test) is not None:
        found = cst.ensure_type(statement.test, cst.Comparison), []  # `if p > rate: return x`
    rest, last = place[0][place[1] + 1 : -1], place[0][-1]
    late = small_of(last)
    if found is None or not isinstance(early, cst.Return) or not isinstance(late, cst.Return):
        return Refusal("no result is returned early at random")
    if not isinstance(early.value, cst.Name) or says_none(early.value) or late.value is None:
        return Refusal("what is returned early is no name")
    if isinstance(late.value, cst.Tuple | cst.List | cst.Dict) or effect(late.value):
        return Refusal("what is returned is a container, or has an effect")
    reason = next((reason for one in rest if (reason := "a return" if leaves(one) else effect(one))), None)
    if reason:
        return Refusal(f"what would be computed always holds {reason}")
    drawn, new, imports = by_torch(function, found[0])
    if reads(found[0], *(cst.parse_expression(one) for one in found[1])) & set(binds(*rest)):
        return Refusal("what follows changes what the test asks for")
    where, more = torch_name(function, "torch.where")
    name = kept = early.value.value
    keep: list[Any] = []
    if name in binds(*rest):
        kept = fresh(function, f"{name}_before")
        keep = statements(function, [f"{kept} = {name}"])
        keep[0] = keep[0].with_changes(leading_lines=statement.leading_lines)
    result = late.value.value if isinstance(late.value, cst.Name) else fresh(function, "made")
    select = f"{where}({source(function, drawn.with_changes(lpar=(), rpar=()))}, {kept}, {result})"
    lines = [] if result == source(function, late.value) else [f"{result} = {source(function, late.value)}"]
    if found[1]:
        indent = function.module.default_indent
        lines += [f"if {' and '.join(found[1])}:", f"{indent}{result} = {select}", f"return {result}"]
    else:
        lines.append(f"return {select}")
    made = statements(function, lines)
    made[0] = made[0].with_changes(leading_lines=last.leading_lines)  # type: ignore[attr-defined]
    return fix(
        "Compute always, and return what was before where it is left out. One seed then draws other random numbers; "
        "what is left out still costs its time, changes its buffers, and its parameters get a gradient of zero instead "
        "of none, as long as all values are finite. It assumes that both are tensors of one shape and dtype.",
        (*dict.fromkeys((*imports, *more)), *rewrite(function, {**new, statement: keep or None, last: made})),
        "other draws",
        "once proven",
    )


def _layers(function: FunctionCode, skip: _Skip, loop: cst.For | None) -> list[str]:
    """The layers that the loop goes over and that the body calls, each in a statement that is always run."""
    over = {use.name for use in uses(loop.target)} if loop is not None else set()
    called = [
        (one.func.value, statement_of(function, one) in skip.body)
        for statement in skip.body
        for one in walk(statement)
        if isinstance(one, cst.Call) and isinstance(one.func, cst.Name) and one.func.value in over
    ]
    return list(dict.fromkeys(name for name, _ in called)) if all(always for _, always in called) else []


def _rewritten(
    function: FunctionCode, skip: _Skip, names: Sequence[str], layers: Sequence[str] = ()
) -> Repaired:
    where, imports = torch_name(function, "torch.where")
    drawn = source(function, skip.drawn.with_changes(lpar=(), rpar=()))
    before = {name: fresh(function, f"{name}_before") for name in names}
    lines: list[str] = []
    many = len(names) + len(layers) + len(skip.instead)
    if many > 1 and (skip.seeded is not None or any(isinstance(one, cst.Call) for one in walk(skip.drawn))):
        # One number decides of all.
        once = fresh(function, "left_out")
        lines, drawn = [f"{once} = {drawn}"], once
    lines += [f"{name} = {where}({drawn}, {before[name]}, {name})" for name in names]
    lines += [f"{name} = {where}({drawn}, {other}, {name})" for name, other in skip.instead.items()]
    indent = function.module.default_indent
    kept_buffers: list[str] = []
    for layer in layers:
        several = f"{layer}_buffers_before" if len(layers) > 1 else "buffers_before"
        held, buffer, old = (fresh(function, one) for one in (several, "buffer", "buffer_before"))
        under = isinstance(function.parent(function.parent(skip.kept) or skip.kept), cst.If)
        asked = f" if {' and '.join(skip.static)} else []" if skip.static and not under else ""
        kept_buffers.append(f"{held} = [{buffer}.clone() for {buffer} in {layer}.buffers()]{asked}")
        lines += [
            f"for {buffer}, {old} in zip({layer}.buffers(), {held}):",
            f"{indent}{buffer}.data.copy_({where}({drawn}, {old}, {buffer}))",
        ]
    if skip.static:
        lines = [f"if {' and '.join(skip.static)}:", *(indent + one for one in lines)]
    select = statements(function, lines)
    keep = statements(function, [*(f"{kept} = {name}" for name, kept in before.items()), *kept_buffers])
    above = skip.kept.leading_lines  # type: ignore[attr-defined]
    keep[0] = keep[0].with_changes(leading_lines=above)
    new: dict[cst.CSTNode, New] = dict.fromkeys(skip.dropped)
    if skip.seeded is not None:
        new |= skip.seeded.new
        imports = tuple(dict.fromkeys((*imports, *skip.seeded.edits)))
    if skip.drawing is not None:
        new |= skip.drawing[0]
        imports = tuple(dict.fromkeys((*imports, *skip.drawing[1])))
    if skip.around is None:
        new[skip.kept] = keep
        new[skip.body[-1]] = [skip.body[-1], *select]
    elif skip.around is skip.kept:
        new[skip.kept] = [*keep, *skip.body, *select]
    else:
        first: Any = skip.body[0]
        first = first.with_changes(leading_lines=[*skip.around.leading_lines, *first.leading_lines])
        new[skip.kept] = keep
        new[skip.around] = [first, *skip.body[1:], *select]
    counted = ", and put back what it counted in its buffers" if layers else ""
    changed = "" if layers else ", changes its buffers"
    if any(isinstance(one, cst.If) for one in skip.body):
        changed += ", what an option collects is collected of every layer"
    drawn = ""
    if skip.by_host:
        drawn = " The number is drawn by torch, in the graph."
    if skip.seeded is not None:
        drawn = " The number is drawn by a custom operator, on the host, from the same seed as before."
    return fix(
        f"Compute always, and select what was before where it is left out{counted}. With dropout inside, one seed then "
        f"draws other random numbers; what is left out still costs its time{changed}, and its parameters get a "
        f"gradient of zero instead of none, as long as all values are finite.{drawn}",
        (*imports, *rewrite(function, new)),
        "other draws",
        "once proven",  # it costs the time that leaving layers out saves
    )


# --- the ways to leave a layer out


def _by_continue(function: FunctionCode, statement: cst.If) -> _Skip | None:
    """`if drawn: continue`, also as the last statement of plain `if`s, with the layer behind it in the loop."""
    if not isinstance(only_of(statement.body), cst.Continue) or statement.orelse is not None:
        return None
    found = _parts(function, statement.test)
    if found is None:
        return None
    drawn, static = found
    outer: cst.If = statement
    while True:
        place = block_of(function, outer)
        if place is None:
            return None
        block, index = place
        around = function.parent(function.parent(outer) or outer)
        if isinstance(around, cst.For):
            rest = list(block[index + 1 :])
            return _Skip(drawn, static, rest, statement) if rest else None
        if not isinstance(around, cst.If) or around.orelse is not None or index != len(block) - 1:
            return None
        if not _plain(function, around.test):
            return None
        static = [_text(function, around.test), *static]
        outer = around


def _by_run(function: FunctionCode, statement: cst.If) -> _Skip | None:
    """`if p > rate: layer`, also `if plain or p > rate: layer`, with nothing or what stands in as its `else`."""
    if statement.orelse is not None and not (
        isinstance(statement.orelse, cst.Else) and _stands_in(statement.orelse.body)
    ):
        return None
    others: list[cst.BaseExpression] = []
    last = statement.test
    while isinstance(last, cst.BooleanOperation) and isinstance(last.operator, cst.Or):
        others.append(last.left)
        last = last.right
    drawn = not_above_rate(function, last)
    if drawn is None or not isinstance(statement.body, cst.IndentedBlock):
        return None
    if not all(_plain(function, other) for other in others):
        return None
    static = [_not(function, other) for other in others]
    return _Skip(drawn, static, statement.body.body, statement, around=statement)


def _by_flag(function: FunctionCode, statement: cst.If) -> _Skip | None:
    """`skip = drawn`, then `if not skip: layer`, or `if not skip or other:`, and `if skip:` for what stands in."""
    found = _asked(statement.test)
    if found is None:
        return None
    flag, others = found
    owner = enclosing_function(function, statement)
    if owner is None or not all(_plain(function, other) for other in others):
        return None
    bound = [use.node for use in uses(owner.body) if use.binds and use.name == flag]
    assign = statement_of(function, bound[0]) if len(bound) == 1 else None
    if not isinstance(assign, cst.SimpleStatementLine) or len(assign.body) != 1:
        return None
    only = assign.body[0]
    read = _parts(function, only.value) if isinstance(only, cst.Assign) else None
    return None if read is None else _with_flag(function, statement, flag, others, read, assign, ())


def _by_set_flag(function: FunctionCode, statement: cst.If) -> _Skip | None:
    """`skip = False`, `if drawn: skip = True`, then `if not skip: layer`; the `if` is that of the draw."""
    if statement.orelse is not None or not isinstance(statement.body, cst.IndentedBlock):
        return None
    if len(statement.body.body) != 1:
        return None
    flag = _assigned(statement.body.body[0], "True")
    found = _parts(function, statement.test)
    owner = enclosing_function(function, statement)
    if flag is None or found is None or owner is None:
        return None
    drawn, static = found
    outer: cst.If = statement
    while isinstance(around := function.parent(function.parent(outer) or outer), cst.If):
        if around.orelse is not None or not _plain(function, around.test):
            return None
        static = [_text(function, around.test), *static]
        outer = around
    place = block_of(function, outer)
    bound = [statement_of(function, use.node) for use in uses(owner.body) if use.binds and use.name == flag]
    if place is None or len(bound) != 2 or bound[1] is not statement.body.body[0]:
        return None
    block, index = place
    clear = bound[0]
    if clear is None or clear not in block[:index] or _assigned(clear, "False") != flag:
        return None
    for later in block[index + 1 :]:
        asked = _asked(later.test) if isinstance(later, cst.If) else None
        if asked is None and isinstance(later, cst.If) and _name(later.test) == flag:
            asked = (flag, [])
        if asked is not None and asked[0] == flag and not asked[1]:
            assert isinstance(later, cst.If)
            alone = outer is not statement and len(_siblings(function, statement)) == 1
            kept, dropped = (statement, clear) if alone else (clear, statement)
            return _with_flag(function, later, flag, [], (drawn, static), kept, [dropped])
    return None


def _by_test(function: FunctionCode, statement: cst.If) -> _Skip | None:
    """`if drawn: what stands in` and `else: layer`; `if drawn: continue` too, at the end of the loop."""
    found = _parts(function, statement.test)
    if found is None or not isinstance(statement.orelse, cst.Else):
        return None
    if not _stands_in(statement.body) and not _goes_on(function, statement):
        return None
    body = statement.orelse.body
    if not isinstance(body, cst.IndentedBlock):
        return None
    return _Skip(found[0], found[1], body.body, statement, around=statement)


def _goes_on(function: FunctionCode, statement: cst.If) -> bool:
    """Whether the last statement of a loop does nothing but `continue`."""
    place = block_of(function, statement)
    loop = function.parent(function.parent(statement) or statement)
    last = place is not None and isinstance(loop, cst.For) and place[1] == len(place[0]) - 1
    return last and isinstance(only_of(statement.body), cst.Continue)


def _by_depth(function: FunctionCode, statement: cst.If, kind: Kind) -> _Skip | None:
    """`if i > depth: results.append(nothing); continue` in a loop, where `depth` is a tensor, or Python draws it from
    a seed, and what follows ends in `results.append(result)`."""
    found = _parts(function, statement.test, _ordered_names)
    place = block_of(function, statement)
    if found is None or place is None or statement.orelse is not None:
        return None
    drawn, static = found
    left = statement.body.body
    if not left or not isinstance(function.parent(function.parent(statement) or statement), cst.For):
        return None
    if not isinstance(small_of(left[-1]), cst.Continue):
        return None
    rest = list(place[0][place[1] + 1 :])
    at_end = rest[len(rest) - len(left) + 1 :]
    nothing, results = [_appended(one) for one in left[:-1]], [_appended(one) for one in at_end]
    instead: dict[str, str] = {}
    if len(nothing) != len(results):
        return None
    for one, other in zip(nothing, results, strict=True):
        if one is None or other is None or one[0] != other[0] or not isinstance(other[1], cst.Name):
            return None
        instead[other[1].value] = source(function, one[1])
    if len(rest) == len(at_end):
        return None
    skip = _Skip(drawn, static, rest[: len(rest) - len(at_end)], statement, instead=instead)
    names = [cst.ensure_type(use.node, cst.Name) for use in uses(drawn)]
    if any(kind(one).startswith("tensor") for one in names):
        return skip
    owner = enclosing_function(function, statement)
    for name in names:
        seeded = drawn_by_operator(function, name)
        if not isinstance(seeded, Drawn) or owner is None:
            continue
        known = {id(part) for one in (statement.test, *seeded.region) for part in walk(one)}
        if all(use.name != name.value or id(use.node) in known for use in uses(owner.body)):
            return replace(skip, seeded=seeded)
    return None


def _ordered_names(function: FunctionCode, test: cst.Comparison) -> cst.Comparison | None:
    """`i > depth`: two names, one larger than the other."""
    if len(test.comparisons) != 1:
        return None
    only = test.comparisons[0]
    ordered = isinstance(
        only.operator, cst.GreaterThan | cst.GreaterThanEqual | cst.LessThan | cst.LessThanEqual
    )
    names = isinstance(test.left, cst.Name) and isinstance(only.comparator, cst.Name)
    return test if ordered and names else None


def _appended(statement: cst.CSTNode) -> tuple[str, cst.BaseExpression] | None:
    """The list and the value in `results.append(value)`."""
    only = small_of(statement)
    call = only.value if isinstance(only, cst.Expr) else None
    if not isinstance(call, cst.Call) or callee(call) != "append" or len(call.args) != 1:
        return None
    results = call.func.value if isinstance(call.func, cst.Attribute) else None
    return (results.value, call.args[0].value) if isinstance(results, cst.Name) else None


def _with_flag(
    function: FunctionCode,
    statement: cst.If,
    flag: str,
    others: Sequence[cst.BaseExpression],
    read: tuple[cst.Comparison, list[str]],
    kept: cst.CSTNode,
    dropped: Sequence[cst.CSTNode],
) -> _Skip | None:
    """The layer under `if not flag` or in the `else` of `if flag`; all that asks for the flag has to be read."""
    drawn, static = read
    negated = isinstance(statement.test, cst.UnaryOperation | cst.BooleanOperation)
    layer: cst.BaseSuite = statement.body
    if not negated:
        if not isinstance(statement.orelse, cst.Else) or not _stands_in(statement.body):
            return None
        layer = statement.orelse.body
    elif statement.orelse is not None and not (
        isinstance(statement.orelse, cst.Else) and _stands_in(statement.orelse.body)
    ):
        return None
    if not isinstance(layer, cst.IndentedBlock):
        return None
    place = block_of(function, statement)
    if place is None:
        return None
    known, removed = [statement.test], list(dropped)
    for later in place[0][place[1] + 1 :]:
        if isinstance(later, cst.If) and _name(later.test) == flag and later.orelse is None:
            if not _stands_in(later.body):
                return None
            known.append(later.test)
            removed.append(later)
    owner = enclosing_function(function, statement)
    asked = {id(use.node) for test in known for use in uses(test)}
    if owner is None or any(
        use.name == flag and not use.binds and id(use.node) not in asked for use in uses(owner.body)
    ):
        return None
    static = [*static, *(_not(function, other) for other in others)]
    return _Skip(drawn, static, layer.body, kept, removed, statement)


# --- reading


def _compared(function: FunctionCode, test: cst.Comparison) -> cst.Comparison | None:
    """The comparison, where a number that is drawn lies below a rate in it."""
    return drawn_comparison(function, test) or below_rate(function, test)


def _parts(
    function: FunctionCode,
    test: cst.BaseExpression,
    last: Callable[[FunctionCode, cst.Comparison], cst.Comparison | None] = _compared,
) -> tuple[cst.Comparison, list[str]] | None:
    """The comparison at the end of `plain and plain and drawn`, as `last` reads it, and the plain parts."""
    if isinstance(test, cst.BooleanOperation) and isinstance(test.operator, cst.And):
        right = _parts(function, test.right, last)
        if right is None or not _plain(function, test.left):
            return None
        return right[0], [_text(function, test.left), *right[1]]
    compared = last(function, test) if isinstance(test, cst.Comparison) else None
    return None if compared is None else (compared, [])


def _asking(function: FunctionCode, node: cst.CSTNode) -> cst.CSTNode | None:
    """The statement that the node is in; where it draws the number of a name, the `if` that asks for the name."""
    statement = statement_of(function, node)
    only, place = small_of(statement), block_of(function, statement) if statement is not None else None
    if not isinstance(only, cst.Assign) or place is None:
        return statement
    bound = set(binds(only))
    return next(
        (one for one in place[0][place[1] + 1 :] if isinstance(one, cst.If) and bound & reads(one.test)),
        statement,
    )


def _not(function: FunctionCode, node: cst.BaseExpression) -> str:
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Not):
        return _text(function, node.expression)
    return f"not {in_parentheses(source(function, node))}"


def _asked(test: cst.BaseExpression) -> tuple[str, list[cst.BaseExpression]] | None:
    """The flag in `not flag` or `not flag or other`, and the others."""
    if isinstance(test, cst.BooleanOperation) and isinstance(test.operator, cst.Or):
        left = _asked(test.left)
        return None if left is None else (left[0], [*left[1], test.right])
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        name = _name(test.expression)
        return None if name is None else (name, [])
    return None


def _siblings(function: FunctionCode, statement: cst.CSTNode) -> Sequence[cst.CSTNode]:
    place = block_of(function, statement)
    return place[0] if place is not None else ()


def _name(node: cst.BaseExpression) -> str | None:
    return node.value if isinstance(node, cst.Name) else None


def _text(function: FunctionCode, node: cst.BaseExpression) -> str:
    """A part of an `and` in source."""
    loose = isinstance(node, cst.IfExp | cst.Lambda | cst.NamedExpr) or (
        isinstance(node, cst.BooleanOperation) and isinstance(node.operator, cst.Or)
    )
    text = source(function, node)
    return f"({text})" if loose and not node.lpar else text


def _plain(function: FunctionCode, node: cst.BaseExpression) -> bool:
    """Whether an expression may be asked a second time, and asks no random number."""
    return (
        effect(node) is None and drawn_comparison(function, node) is None and not asks_number(function, node)
    )


def _assigned(statement: cst.CSTNode, value: str) -> str | None:
    """The name in `name = value`."""
    made = assigned(statement)
    return made[0] if made is not None and _name(made[1]) == value else None


def _stands_in(body: cst.BaseSuite) -> bool:
    """Whether all that a block does is to put None in the place of what the layer gives."""

    def none(value: cst.BaseExpression) -> bool:
        if isinstance(value, cst.Tuple):
            return all(none(one.value) for one in value.elements)
        return _name(value) == "None"

    def nothing(statement: cst.CSTNode) -> bool:
        return isinstance(statement, cst.SimpleStatementLine) and all(
            isinstance(one, cst.Pass) or (isinstance(one, cst.Assign) and none(one.value))
            for one in statement.body
        )

    return isinstance(body, cst.IndentedBlock) and all(nothing(one) for one in body.body)


def _added_to(function: FunctionCode, name: cst.CSTNode, body: Sequence[cst.CSTNode]) -> bool:
    """Whether the layer surely computes with a name that may be a tensor or None: `trend = trend + more`. None has no
    sum, and what is made of a tensor, whatever it is added to, is one.
    """
    outer = function.parent(name)
    statement = statement_of(function, name)
    other = outer.right if isinstance(outer, cst.BinaryOperation) and outer.left is name else None
    return other is not None and not isinstance(other, cst.Tuple | cst.List) and statement in body


def _unfit(statement: cst.CSTNode) -> str | None:
    """Why a statement cannot be run where it was left out."""
    if leaves(statement):
        return "a layer that leaves the function or the loop"
    if not isinstance(statement, cst.If):
        return effect(statement)
    arms = [statement.body, *([statement.orelse.body] if isinstance(statement.orelse, cst.Else) else [])]
    inner = [one for arm in arms for one in arm.body]
    if isinstance(statement.orelse, cst.If):
        inner.append(statement.orelse)
    # What a plain `if` collects (`if output_attentions: all += (...)`) is collected for every layer then.
    return next((no for one in inner if not _adds_one(one) and (no := _unfit(one))), None)


def _adds_one(statement: cst.CSTNode) -> bool:
    """Whether it does nothing but to add to a list or a tuple: `results.append(x)`, `all += (x,)`."""
    small = small_of(statement)
    if isinstance(small, cst.AugAssign):
        return isinstance(small.target, cst.Name) and isinstance(small.value, cst.Tuple | cst.List)
    call = small.value if isinstance(small, cst.Expr) else None
    return (
        isinstance(call, cst.Call)
        and callee(call) == "append"
        and isinstance(call.func, cst.Attribute)
        and isinstance(call.func.value, cst.Name)
    )


def _collected(name: str, body: Sequence[cst.CSTNode]) -> bool:
    """Whether all that is done to the name is to add to a tuple or a list."""

    def adds(statement: cst.CSTNode) -> bool:
        found: list[bool] = []
        for node in walk(statement):
            if isinstance(node, cst.AugAssign) and is_name(node.target, name):
                found.append(isinstance(node.value, cst.Tuple | cst.List))
            elif isinstance(node, cst.Assign):
                if any(one.name == name for target in node.targets for one in uses(target.target)):
                    value = node.value
                    found.append(
                        isinstance(value, cst.BinaryOperation)
                        and is_name(value.left, name)
                        and isinstance(value.right, cst.Tuple | cst.List)
                    )
        return bool(found) and all(found)

    bound = [one for one in body if name in binds(one)]
    return bool(bound) and all(adds(one) for one in bound)
