"""Bounds of sequences, as many as a tensor counts: as many as there are rows, those left over empty."""

from __future__ import annotations

import libcst as cst

from pt2lint.finding import Fix
from pt2lint.fixes.purity import callee, effect
from pt2lint.fixes.rewrite import (
    Refusal,
    Repaired,
    accepted,
    ancestors,
    arguments,
    assigned,
    bound_before,
    enclosing_function,
    fix,
    fresh,
    qualified,
    rewrite,
    source,
    statement_of,
    statements,
    torch_name,
    uses,
)
from pt2lint.rule import FunctionCode
from pt2lint.rule.tree import walk


def fixes(function: FunctionCode, node: cst.CSTNode) -> tuple[Fix, ...]:
    """The repair of the call that the node is."""
    return accepted(at_most_rows(function, node)) if isinstance(node, cst.Call) else ()


def at_most_rows(function: FunctionCode, node: cst.Call) -> Repaired:
    """`bounds = torch.repeat_interleave(lengths, times).cumsum(0)`, given to a call together with the rows that the
    sequences are of: as many bounds as rows where it is compiled, since a sequence has one row at least.

    The same for `lengths.repeat_interleave(times)`. Those left over are the last bound once more: empty sequences.
    Eager mode does what it did. Unsafe: what takes the bounds may count them.
    """
    read = _read(function, node)
    if read is None:
        return Refusal("nothing is repeated as often as a tensor says")
    lengths, times = read
    if effect(lengths) or effect(times):
        return Refusal("what is repeated has an effect")
    statement, name = _summed(function, node)
    if statement is None:
        return Refusal("it is not summed up to bounds")
    rows = _rows(function, statement, name)
    if rows is None:
        return Refusal("no call takes the bounds together with the rows that they are of")
    each, often, place, part = (fresh(function, one, node) for one in ("lengths", "times", "place", "part"))
    compiling, imports = torch_name(function, "torch.compiler.is_compiling")
    arange, more = torch_name(function, "torch.arange")
    search, cat, repeat = (
        torch_name(function, f"torch.{one}")[0] for one in ("searchsorted", "cat", "repeat_interleave")
    )
    made = statements(
        function,
        [
            f"{each}, {often} = {source(function, lengths)}, {source(function, times)}",
            f"if {compiling}():",
            "    # A graph has to know how many: one for each row, those left over empty",
            f"    {place} = {arange}({rows}.shape[0], device={often}.device)",
            f"    {part} = {search}({often}.cumsum(0), {place}, right=True)",
            f"    {each} = {cat}([{each}, {each}.new_zeros(1)])[{part}]",
            "else:",
            f"    {each} = {repeat}({each}, {often})",
        ],
    )
    made[0] = made[0].with_changes(leading_lines=statement.leading_lines)
    changed = statement.with_changes(leading_lines=()).deep_replace(node, cst.Name(each))
    return fix(
        f"Repeat to as many bounds as `{rows}` has rows where it is compiled, those left over of empty sequences: the "
        f"size follows from a shape. It assumes that each sequence has a row of `{rows}`, and that what takes "
        f"`{name}` passes over empty ones.",
        (*imports, *more, *rewrite(function, {statement: [*made, changed]})),
        "once proven",
        "whole numbers",
    )


def _read(function: FunctionCode, node: cst.Call) -> tuple[cst.BaseExpression, cst.BaseExpression] | None:
    """What is repeated, and how often, of a `repeat_interleave` that is given nothing else."""
    given, named = arguments(node) or ([], {})
    if callee(node) != "repeat_interleave" or named:
        return None
    if qualified(function, node.func) != "torch.repeat_interleave":
        if not isinstance(node.func, cst.Attribute) or qualified(function, node.func) is not None:
            return None
        given.insert(0, node.func.value)
    return (given[0], given[1]) if len(given) == 2 else None


def _summed(function: FunctionCode, node: cst.Call) -> tuple[cst.SimpleStatementLine | None, str]:
    """The statement that binds a name to `node.cumsum(...)`, or to what is made of it by a call, and the name."""
    method = function.parent(node)
    statement = statement_of(function, node)
    if not isinstance(method, cst.Attribute) or method.attr.value != "cumsum":
        return None, ""
    made = assigned(statement)
    if not isinstance(statement, cst.SimpleStatementLine) or made is None:
        return None, ""
    return statement, made[0]


def _rows(function: FunctionCode, statement: cst.SimpleStatementLine, name: str) -> str | None:
    """The tensor that a later call takes first, beside the bounds; where it is not made by then, what it is made of."""
    owner = enclosing_function(function, statement)
    if owner is None:
        return None
    end = function.range(statement)[2:]
    bounds = {name}
    for call in walk(owner.body):
        if isinstance(call, cst.Assign) and isinstance(call.value, cst.Name) and call.value.value in bounds:
            bounds |= {one.target.value for one in call.targets if isinstance(one.target, cst.Name)}
        if not isinstance(call, cst.Call) or len(call.args) < 2 or function.range(call)[:2] < end:
            continue
        first, *rest = (one.value for one in call.args)
        if not any(isinstance(one, cst.Name) and one.value in bounds for one in rest):
            continue
        if not isinstance(first, cst.Name) or first.value in bounds:
            return None
        if bound_before(function, first.value, statement):
            return first.value
        return _made_of(function, owner, first.value, statement)
    return None


def _made_of(
    function: FunctionCode, owner: cst.FunctionDef, name: str, statement: cst.SimpleStatementLine
) -> str | None:
    """The one name with a value before the statement that a call makes the name of."""
    made = [
        assign.value
        for use in uses(owner.body)
        if use.binds and use.name == name
        for assign in ancestors(function, use.node)
        if isinstance(assign, cst.Assign)
    ]
    if len(made) != 1 or not isinstance(made[0], cst.Call):
        return None
    found = {
        use.name for arg in made[0].args for use in uses(arg) if bound_before(function, use.name, statement)
    } - {"self"}
    return found.pop() if len(found) == 1 else None
